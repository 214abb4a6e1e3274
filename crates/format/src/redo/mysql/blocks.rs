//! Files and blocks of the log of MySQL 8.0.30 and later (`log0constants.h`, `log0recv.cc`, MySQL 9.7).
//!
//! ```text
//! file     0 format 6   4 log's id   8 LSN of offset 2048   16 creator (32)   48 flags   508 CRC-32C
//!          512, 1536 checkpoints: 8 LSN   508 CRC-32C       1024 encryption   2048 blocks
//! block    0 number   4 bytes with data, with this header (bit 15: encrypted)
//!          6 offset of the first group that begins here     8 epoch   12 data   508 CRC-32C
//! ```
//!
//! An LSN counts all bytes of the blocks, and names bytes of data only.

use crate::bytes::{slice, u16_at, u32_at, u64_at};
use crate::{Error, Lsn, Result};

use super::super::{BLOCK_BYTES, BLOCKS_START};

/// `Log_format::CURRENT` of MySQL 8.0.30 to 9.7.
const FORMAT: u32 = 6;
/// `LOG_BLOCK_HDR_SIZE`.
const HEADER_BYTES: u64 = 12;
/// Bytes of data in a block: without header and checksum.
const DATA_BYTES: u64 = BLOCK_BYTES - HEADER_BYTES - 4;
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

    /// The file offset of the block that has an LSN, if the file has it.
    pub fn offset_of(&self, lsn: Lsn) -> Option<u64> {
        let lsn = lsn.0 / BLOCK_BYTES * BLOCK_BYTES;
        (self.start.0..self.end.0).contains(&lsn).then(|| BLOCKS_START + (lsn - self.start.0))
    }
}

fn is_sealed(block: &[u8]) -> Result<bool> {
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
    /// Whether the data is encrypted.
    pub is_encrypted: bool,
}

impl<'a> Block<'a> {
    /// Parses the block of an LSN; `None` if these bytes are none, or of another lap: the log ends before.
    pub fn parse(bytes: &'a [u8], lsn: Lsn) -> Option<Block<'a>> {
        let nth = lsn.0 / BLOCK_BYTES;
        let number = (nth & 0x3fff_ffff) as u32 + 1;
        let epoch = (nth >> 30) as u32 + 1;
        let is_its =
            u32_at(bytes, 0).ok()? & 0x7fff_ffff == number && u32_at(bytes, 8).ok()? == epoch;
        if !is_its || !is_sealed(bytes).ok()? {
            return None;
        }
        let len = u16_at(bytes, 4).ok()?;
        let end = usize::from(len & 0x7fff);
        let is_whole = end == BLOCK_BYTES as usize;
        let end = end.min((HEADER_BYTES + DATA_BYTES) as usize);
        let data =
            slice(bytes, HEADER_BYTES as usize, end.checked_sub(HEADER_BYTES as usize)?).ok()?;
        let first_group = usize::from(u16_at(bytes, 6).ok()?).checked_sub(HEADER_BYTES as usize);
        Some(Block {
            data,
            first_group: first_group.filter(|&at| at < data.len()),
            is_whole,
            is_encrypted: len & 0x8000 != 0,
        })
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
