//! Logs of 512-byte blocks: MySQL, and MariaDB before 10.8 (`log0log.h`, `log0constants.h`).

use super::block::BLOCK_BYTES;
use super::block_ring::BlockRing;
use crate::bytes::{slice, u16_at, u32_at, u64_at};
use crate::{Lsn, Result};

/// MySQL 8.0.30+: checkpoints hold no offset; each file contains its start LSN.
const FORMAT_8_0_30: u32 = 6;
/// `log_t::FORMAT_10_5`: the four bytes `PHYS`.
const FORMAT_10_5: u32 = 0x5048_5953;

/// A file of a log of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The newest checkpoint in this file, if any.
    pub checkpoint: Option<Lsn>,
    /// Offset of the checkpoint's LSN in the concatenated files of the group; `None` from MySQL
    /// 8.0.30, where [`Blocks::start`] determines it.
    pub group_offset: Option<u64>,
    /// The LSN of the file's first block (MySQL 8.0.30+).
    pub start: Lsn,
    format: u32,
}

impl Blocks {
    pub(super) fn parse(head: &[u8]) -> Result<Blocks> {
        let format = u32_at(head, 0)?;
        let start = Lsn(u64_at(head, 8)?);
        let mut newest = Blocks { checkpoint: None, group_offset: None, start, format };
        for at in [BLOCK_BYTES as usize, 3 * BLOCK_BYTES as usize] {
            let block = slice(head, at, BLOCK_BYTES as usize)?;
            let lsn = Lsn(u64_at(block, 8)?);
            // Format 0 (before MySQL 5.7.9, MariaDB 10.2.2) has other checksums on its checkpoints.
            let sealed =
                format == 0 || u32_at(block, 508)? == crc_fast::crc32_iscsi(slice(block, 0, 508)?);
            if lsn.0 == 0 || !sealed || newest.checkpoint >= Some(lsn) {
                continue;
            }
            newest.checkpoint = Some(lsn);
            newest.group_offset = match format {
                0 => Some(u64::from(u32_at(block, 16)?) | u64::from(u32_at(block, 304)?) << 32),
                FORMAT_8_0_30.. if format < 0x100 => None,
                _ => Some(u64_at(block, 16)?),
            };
        }
        Ok(newest)
    }

    /// Returns the log, if its records can be read: that of MariaDB 10.5 to 10.7 in a file of `file_bytes`, not
    /// encrypted.
    pub fn ring(&self, file_bytes: u64) -> Option<BlockRing> {
        match self.format {
            FORMAT_10_5 => BlockRing::new(self.checkpoint?, self.group_offset?, file_bytes),
            _ => None,
        }
    }
}

/// Returns whether a log of blocks holds nothing to apply. `blocks` begins with the block that
/// holds the checkpoint's LSN; two blocks are enough.
pub fn is_empty_after_checkpoint(checkpoint: Lsn, blocks: &[u8]) -> Result<bool> {
    let first_block_lsn = checkpoint.0 / BLOCK_BYTES * BLOCK_BYTES;
    let mut after = Vec::new();
    let mut from = (checkpoint.0 - first_block_lsn) as usize;
    for (lsn, block) in (first_block_lsn..).step_by(512).zip(blocks.chunks_exact(512)) {
        let number = ((lsn / BLOCK_BYTES) & 0x3fff_ffff) as u32 + 1;
        if u32_at(block, 0)? & 0x7fff_ffff != number {
            break; // of an earlier lap, or never written
        }
        let data_len = usize::from(u16_at(block, 4)? & 0x7fff);
        let data_end = data_len.min(508);
        after.extend(slice(block, from.min(data_end), data_end.saturating_sub(from))?);
        if data_len < 512 {
            break;
        }
        from = 12;
    }
    let lsn = checkpoint.0.to_be_bytes();
    // MLOG_CHECKPOINT (MySQL 5.7, MariaDB 10.2-10.4) and FILE_CHECKPOINT (MariaDB 10.5-10.7).
    let repeats = [[&[0x38][..], &lsn].concat(), [&[0xfa, 0, 0][..], &lsn, &[0]].concat()];
    let mut rest = &after[..];
    while let Some(shorter) = repeats.iter().find_map(|record| rest.strip_prefix(&record[..])) {
        rest = shorter;
    }
    Ok(rest.is_empty())
}
