//! Blocks of 512 bytes, of which the logs of MySQL and of MariaDB before 10.8 consist (`log0log.h`, MariaDB 10.5;
//! `log0constants.h`, MySQL 9.7).
//!
//! ```text
//! 0 number (bit 31: a write began here)   4 bytes with data, with this header (bit 15: encrypted, MySQL)
//! 6 offset of the first group that begins here
//! 8 epoch (MySQL 8.0.30), or number of the newest checkpoint   12 data   508 CRC-32C
//! ```
//!
//! An LSN counts all bytes of the blocks, and names bytes of data only.

use crate::bytes::{slice, u16_at, u32_at};
use crate::{Lsn, Result};

/// `OS_FILE_LOG_BLOCK_SIZE`.
pub const BLOCK_BYTES: u64 = 512;
/// `LOG_FILE_HDR_SIZE`: offset of the blocks in each file.
pub const BLOCKS_START: u64 = 4 * BLOCK_BYTES;
/// `LOG_BLOCK_HDR_SIZE`.
pub(super) const HEADER_BYTES: u64 = 12;
/// Bytes of data in a block: without header and checksum.
const DATA_BYTES: u64 = BLOCK_BYTES - HEADER_BYTES - 4;

/// Whether a block has the number of the one of an LSN.
pub(super) fn has_number(block: &[u8], lsn: Lsn) -> bool {
    let number = ((lsn.0 / BLOCK_BYTES) & 0x3fff_ffff) as u32 + 1;
    u32_at(block, 0).is_ok_and(|found| found & 0x7fff_ffff == number)
}

/// Whether a block of MySQL 8.0.30 or later has the epoch of the one of an LSN.
pub(super) fn has_epoch(block: &[u8], lsn: Lsn) -> bool {
    let epoch = ((lsn.0 / BLOCK_BYTES) >> 30) as u32 + 1;
    u32_at(block, 8) == Ok(epoch)
}

/// Whether a block has its checksum.
pub(super) fn is_sealed(block: &[u8]) -> Result<bool> {
    Ok(u32_at(block, 508)? == crc_fast::crc32_iscsi(slice(block, 0, 508)?))
}

/// A block of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The data, which is shorter than a whole block's only in the last one.
    pub data: &'a [u8],
    /// The offset in the data of the first group that begins here.
    pub first_group: Option<usize>,
    /// Whether another block follows.
    pub is_whole: bool,
}

impl<'a> Block<'a> {
    /// Parses the block of an LSN of MySQL 8.0.30 or later, which is not encrypted any more; `None` if these bytes are
    /// none, or of another lap: the log ends before.
    pub fn parse(bytes: &'a [u8], lsn: Lsn) -> Option<Block<'a>> {
        Block::parse_without_epoch(bytes, lsn).filter(|_| has_epoch(bytes, lsn))
    }

    /// Parses the block of an LSN of MariaDB 10.5 to 10.7.
    pub fn parse_without_epoch(bytes: &'a [u8], lsn: Lsn) -> Option<Block<'a>> {
        if !has_number(bytes, lsn) || !is_sealed(bytes).ok()? {
            return None;
        }
        let end = usize::from(u16_at(bytes, 4).ok()?);
        let is_whole = end == BLOCK_BYTES as usize;
        let end = end.min((HEADER_BYTES + DATA_BYTES) as usize);
        let data =
            slice(bytes, HEADER_BYTES as usize, end.checked_sub(HEADER_BYTES as usize)?).ok()?;
        let first_group = usize::from(u16_at(bytes, 6).ok()?).checked_sub(HEADER_BYTES as usize);
        Some(Block { data, first_group: first_group.filter(|&at| at < data.len()), is_whole })
    }

    /// The LSN behind the data of the block that begins at an LSN: of a whole one, where the next begins.
    pub fn end(&self, lsn: Lsn) -> Lsn {
        match self.is_whole {
            true => Lsn(lsn.0.saturating_add(BLOCK_BYTES)),
            false => Lsn(lsn.0.saturating_add(HEADER_BYTES + self.data.len() as u64)),
        }
    }

    /// The offset of an LSN in the data of its block.
    pub fn data_offset(lsn: Lsn) -> usize {
        (lsn.0 % BLOCK_BYTES).saturating_sub(HEADER_BYTES).min(DATA_BYTES) as usize
    }
}

/// The LSN that lies `data_bytes` of data behind another one.
pub fn advance(lsn: Lsn, data_bytes: usize) -> Lsn {
    let data = Block::data_offset(lsn) as u64 + data_bytes as u64;
    let block = lsn.0 / BLOCK_BYTES + data / DATA_BYTES;
    Lsn(block.saturating_mul(BLOCK_BYTES).saturating_add(HEADER_BYTES + data % DATA_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsns_count_headers_and_name_data() {
        assert_eq!(advance(Lsn(8192 + 12), 0), Lsn(8192 + 12));
        assert_eq!(advance(Lsn(8192), 1), Lsn(8192 + 13));
        assert_eq!(advance(Lsn(8192 + 12), 495), Lsn(8192 + 507));
        assert_eq!(advance(Lsn(8192 + 12), 496), Lsn(8704 + 12));
        assert_eq!(advance(Lsn(8192 + 500), 8 + 496 + 3), Lsn(9216 + 15));
    }
}
