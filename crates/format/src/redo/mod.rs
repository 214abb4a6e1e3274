//! The redo log: its head, the log after its checkpoint, and its records.
//!
//! The log has two formats. MySQL and MariaDB before 10.8 write 512-byte blocks; two checkpoint
//! blocks are in the first file of the group, or from MySQL 8.0.30 in the files of `#innodb_redo`
//! (`log0log.h, log0constants.h`). MariaDB 10.8 and later write one circular file of bare
//! mini-transactions (`log0log.h, log_t`). In both, a log with nothing after its checkpoint belongs
//! to a server that was shut down cleanly. The LSN in the system tablespace's first page is not
//! enough: a server killed before its first checkpoint leaves it unchanged since the last shutdown.
//!
//! Of a circular log, and of the blocks of MariaDB 10.5 to 10.7 ([`BlockRing`]), the records can be read ([`Records`])
//! and applied to the bytes of a page ([`PageRedo`]); of a log of MySQL 8.0.30 and later: [`mysql`].

mod apply;
mod block;
mod block_ring;
mod blocks;
mod circular;
mod encryption;
pub mod mysql;
mod record;
mod varint;

pub use apply::PageRedo;
pub use block::{BLOCK_BYTES, BLOCKS_START, Block, advance};
pub use block_ring::BlockRing;
pub use blocks::{Blocks, is_empty_after_checkpoint};
pub use circular::{CIRCULAR_START, Circular, MTR_BYTES_MAX, MiniTransaction, TAIL_BYTES};
pub use encryption::{LogCipher, LogEncryption};
pub use record::{FileOperation, FileRecord, PageRecord, Record, RecordKind, Records, run_len};

use self::encryption::Unit;
use crate::Result;
use crate::bytes::u32_at;

/// `log_t::FORMAT_10_8`: the four bytes `Phys`.
const FORMAT_10_8: u32 = 0x5068_7973;
/// `FORMAT_10_8` with the top bit set, for an encrypted log.
const FORMAT_ENC_10_8: u32 = FORMAT_10_8 | 0x8000_0000;
/// `log_t::FORMAT_ENC_11`: an encrypted log of later servers, and of MariaDB 10.11.19.
const FORMAT_ENC_11: u32 = 0xF09F_979D;
/// Bytes of a log's first file that [`RedoHead::parse`] needs.
pub const HEAD_BYTES: usize = 12288;

/// The head of a redo log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedoHead {
    /// A log of 512-byte blocks.
    Blocks(Blocks),
    /// A circular log (MariaDB 10.8+).
    Circular(Circular),
}

impl RedoHead {
    /// Parses the first [`HEAD_BYTES`] of a log file that is `file_bytes` long.
    pub fn parse(head: &[u8], file_bytes: u64) -> Result<RedoHead> {
        match u32_at(head, 0)? {
            format @ (FORMAT_10_8 | FORMAT_ENC_10_8 | FORMAT_ENC_11) => {
                let encrypted = match format {
                    FORMAT_ENC_11 => Some(Unit::MiniTransaction),
                    // MariaDB 11.4.5 does not set the top bit.
                    FORMAT_10_8 if u32_at(head, encryption::INFO_AT)? == 0 => None,
                    _ => Some(Unit::Record),
                };
                Circular::parse(head, file_bytes, encrypted).map(RedoHead::Circular)
            }
            _ => Blocks::parse(head).map(RedoHead::Blocks),
        }
    }
}
