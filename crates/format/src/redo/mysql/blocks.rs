//! Files of the log of MySQL 8.0.30 and later (`log0constants.h`, `log0recv.cc`, MySQL 9.7).
//!
//! ```text
//! 0 format 6   4 log's id   8 LSN of offset 2048   16 creator (32)   48 flags   508 CRC-32C
//! 512, 1536 checkpoints: 8 LSN   508 CRC-32C       1024 encryption (`encryption.rs`)   2048 blocks
//! ```

use super::super::block::{BLOCK_BYTES, BLOCKS_START, is_sealed};
use super::encryption;
use crate::bytes::{slice, u32_at, u64_at};
use crate::page::encryption::MySqlEncryption;
use crate::{Error, Lsn, Result};

/// `Log_format::CURRENT` of MySQL 8.0.30 to 9.7.
const FORMAT: u32 = 6;
/// `LOG_HEADER_FLAG_NO_LOGGING`, counted from 1.
const NO_LOGGING: u32 = 1 << 0;
/// `LOG_HEADER_FLAG_CRASH_UNSAFE`.
const CRASH_UNSAFE: u32 = 1 << 1;
/// `LOG_HEADER_FLAG_FILE_FULL`.
const FULL: u32 = 1 << 3;

/// The head of a file of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// `log_uuid`: the files of one log have the same.
    pub id: u32,
    /// The LSN of the first block.
    pub start: Lsn,
    /// The LSN behind the last block that the file has room for.
    pub end: Lsn,
    /// The newest checkpoint that lies in this file.
    pub checkpoint: Option<Lsn>,
    /// Whether the log continues in another file.
    pub is_full: bool,
}

/// A reason why a log cannot be used, by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFlaw {
    /// `ALTER INSTANCE DISABLE INNODB REDO_LOG` was in force: there is no recovery.
    NoLogging,
}

impl LogFile {
    /// Parses the head of a file that is `file_bytes` long; `None`: the log is of an older server.
    ///
    /// # Errors
    /// The header fails its checksum, or contradicts the size of the file.
    pub fn parse(
        head: &[u8],
        file_bytes: u64,
    ) -> Result<Option<std::result::Result<LogFile, LogFlaw>>> {
        if u32_at(head, 0)? != FORMAT {
            return Ok(None);
        }
        if !is_sealed(slice(head, 0, BLOCK_BYTES as usize)?)? {
            return Err(Error::corrupt("the header of the redo log's file fails its checksum"));
        }
        let flags = u32_at(head, 48)?;
        if flags & (NO_LOGGING | CRASH_UNSAFE) != 0 {
            return Ok(Some(Err(LogFlaw::NoLogging)));
        }
        let start = u64_at(head, 8)?;
        let blocks_bytes = file_bytes.saturating_sub(BLOCKS_START) / BLOCK_BYTES * BLOCK_BYTES;
        let end = start.checked_add(blocks_bytes).filter(|_| start % BLOCK_BYTES == 0);
        let end =
            end.ok_or_else(|| Error::corrupt(format!("its first LSN, {start}, cannot be")))?;
        let mut checkpoint = None;
        for at in [BLOCK_BYTES as usize, 3 * BLOCK_BYTES as usize] {
            let block = slice(head, at, BLOCK_BYTES as usize)?;
            let lsn = u64_at(block, 8)?;
            if is_sealed(block)? && (start..end).contains(&lsn) {
                checkpoint = checkpoint.max(Some(Lsn(lsn)));
            }
        }
        let is_full = flags & FULL != 0;
        let (start, end) = (Lsn(start), Lsn(end));
        Ok(Some(Ok(LogFile { id: u32_at(head, 4)?, start, end, checkpoint, is_full })))
    }

    /// Reads how encrypted blocks of the log are decrypted, from the head of the file that has the newest checkpoint;
    /// `None`: no block behind the checkpoint is encrypted.
    ///
    /// # Errors
    /// The header is damaged.
    pub fn encryption(head: &[u8]) -> Result<Option<MySqlEncryption>> {
        encryption::info(head)
    }

    /// The file offset of the block that has an LSN, if the file has it.
    pub fn offset_of(&self, lsn: Lsn) -> Option<u64> {
        let lsn = lsn.0 / BLOCK_BYTES * BLOCK_BYTES;
        (self.start.0..self.end.0).contains(&lsn).then(|| BLOCKS_START + (lsn - self.start.0))
    }
}
