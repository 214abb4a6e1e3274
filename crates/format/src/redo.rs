//! The redo log's head and the log after its checkpoint: whether the data files hold every change,
//! or some are only in the log.
//!
//! The log has two formats. MySQL and MariaDB before 10.8 write 512-byte blocks; two checkpoint
//! blocks are in the first file of the group, or from MySQL 8.0.30 in the files of `#innodb_redo`
//! (`log0log.h, log0constants.h`). MariaDB 10.8 and later write one circular file of bare
//! mini-transactions (`log0log.h, log_t`). In both, a log with nothing after its checkpoint belongs
//! to a server that was shut down cleanly. The LSN in the system tablespace's first page is not
//! enough: a server killed before its first checkpoint leaves it unchanged since the last shutdown.

use crate::bytes::{slice, u8_at, u16_at, u32_at, u64_at};
use crate::{Error, Lsn, Result};

/// `log_t::FORMAT_10_8`: the four bytes `Phys`.
const FORMAT_10_8: u32 = 0x5068_7973;
/// `FORMAT_10_8` with the top bit set, for an encrypted log.
const FORMAT_ENC_10_8: u32 = FORMAT_10_8 | 0x8000_0000;
/// `log_t::FORMAT_ENC_11`: an encrypted log of later servers, and of MariaDB 10.11.19.
const FORMAT_ENC_11: u32 = 0xF09F_979D;
/// Bytes of the nonce behind the end marker of an encrypted mini-transaction.
const NONCE_BYTES: usize = 8;
/// MySQL 8.0.30+: checkpoints hold no offset; each file contains its start LSN.
const FORMAT_8_0_30: u32 = 6;
/// `log_t::START_OFFSET`: offset of the mini-transactions in a 10.8 log.
pub const CIRCULAR_START: u64 = 12288;
/// Bytes of a log's first file that [`RedoHead::parse`] needs.
pub const HEAD_BYTES: usize = 12288;
/// More bytes than any mini-transaction takes; the most that
/// [`Circular::is_empty_after_checkpoint`] needs.
pub const TAIL_BYTES: usize = 8 << 20;
/// `OS_FILE_LOG_BLOCK_SIZE`.
pub const BLOCK_BYTES: u64 = 512;
/// `LOG_FILE_HDR_SIZE`: offset of the blocks in each file.
pub const BLOCKS_START: u64 = 4 * BLOCK_BYTES;

/// The head of a redo log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedoHead {
    /// A log of 512-byte blocks.
    Blocks(Blocks),
    /// A circular log (MariaDB 10.8+).
    Circular(Circular),
}

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
}

/// A log of MariaDB 10.8+.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circular {
    /// The newest checkpoint.
    pub checkpoint: Lsn,
    first: Lsn,
    capacity_bytes: u64,
    is_encrypted: bool,
}

impl RedoHead {
    /// Parses the first [`HEAD_BYTES`] of a log file that is `file_bytes` long.
    pub fn parse(head: &[u8], file_bytes: u64) -> Result<RedoHead> {
        match u32_at(head, 0)? {
            FORMAT_10_8 => Circular::parse(head, file_bytes).map(RedoHead::Circular),
            FORMAT_ENC_10_8 | FORMAT_ENC_11 => Circular::parse(head, file_bytes)
                .map(|log| RedoHead::Circular(Circular { is_encrypted: true, ..log })),
            _ => Blocks::parse(head).map(RedoHead::Blocks),
        }
    }
}

impl Blocks {
    fn parse(head: &[u8]) -> Result<Blocks> {
        let format = u32_at(head, 0)?;
        let mut newest =
            Blocks { checkpoint: None, group_offset: None, start: Lsn(u64_at(head, 8)?) };
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

impl Circular {
    fn parse(head: &[u8], file_bytes: u64) -> Result<Circular> {
        let mut newest: Option<Lsn> = None;
        for at in [4096, 8192] {
            let block = slice(head, at, 64)?;
            if u32_at(block, 60)? == crc_fast::crc32_iscsi(slice(block, 0, 60)?) {
                newest = newest.max(Some(Lsn(u64_at(block, 0)?)));
            }
        }
        let checkpoint = newest.ok_or_else(|| {
            Error::corrupt("both checkpoints of the redo log fail their checksum")
        })?;
        let first = Lsn(u64_at(head, 8)?);
        let capacity_bytes = file_bytes
            .checked_sub(CIRCULAR_START)
            .filter(|&capacity| capacity > 0 && first <= checkpoint)
            .ok_or_else(|| Error::corrupt("the redo log's header contradicts its size"))?;
        Ok(Circular { checkpoint, first, capacity_bytes, is_encrypted: false })
    }

    /// Returns the file offset of the bytes after the checkpoint.
    pub fn checkpoint_offset(&self) -> u64 {
        CIRCULAR_START + (self.checkpoint.0 - self.first.0) % self.capacity_bytes
    }

    /// Returns the final byte of every mini-transaction written in the present lap.
    fn sequence_bit(&self, lsn: u64) -> u8 {
        u8::from(((lsn - self.first.0) / self.capacity_bytes) & 1 == 0)
    }

    /// Returns whether the log holds nothing to apply: after the checkpoint come no
    /// mini-transactions, or only those that repeat the checkpoint. `tail` is the log from
    /// [`checkpoint_offset`](Circular::checkpoint_offset) on, up to [`TAIL_BYTES`].
    ///
    /// Of an encrypted log only types and lengths of records are readable. It is empty if nothing but
    /// checkpoints follow, at least one, which proves that this version understands the log.
    pub fn is_empty_after_checkpoint(&self, tail: &[u8]) -> bool {
        let mut at = 0usize;
        while let Some(mtr_len) = self.mini_transaction(tail, at) {
            if !self.repeats_checkpoint(tail, at, mtr_len) {
                return false;
            }
            at += mtr_len;
        }
        at > 0 || !self.is_encrypted
    }

    /// Whether a mini-transaction only says FILE_CHECKPOINT: type and page id (3 bytes), LSN (8), end marker,
    /// nonce in an encrypted log, crc32c.
    fn repeats_checkpoint(&self, tail: &[u8], at: usize, mtr_len: usize) -> bool {
        if self.is_encrypted {
            return mtr_len == 16 + NONCE_BYTES && u8_at(tail, at) == Ok(0xfa);
        }
        mtr_len == 16
            && slice(tail, at, 3).is_ok_and(|start| start == [0xfa, 0, 0])
            && u64_at(tail, at + 3) == Ok(self.checkpoint.0)
    }

    /// Returns the length of the mini-transaction at `at`, if a complete valid one of this lap is
    /// there.
    fn mini_transaction(&self, tail: &[u8], begin: usize) -> Option<usize> {
        let mut at = begin;
        loop {
            let first = u8_at(tail, at).ok()?;
            if first <= 1 {
                break;
            }
            at += 1;
            at += match usize::from(first & 0x0f) {
                // The varint counts from 15 and includes its own bytes.
                0 => varint(tail, at)? + 15,
                len => len,
            };
        }
        let marker = u8_at(tail, at).ok()?;
        let len = at.checked_sub(begin)?;
        let in_lap = marker == self.sequence_bit(self.checkpoint.0 + begin as u64);
        let nonce = slice(tail, at + 1, if self.is_encrypted { NONCE_BYTES } else { 0 }).ok()?;
        let sum = crc_fast::crc32_iscsi(&[slice(tail, begin, len).ok()?, nonce].concat());
        let sealed = u32_at(tail, at + 1 + nonce.len()).ok()? == sum;
        (len > 0 && in_lap && sealed).then_some(len + 5 + nonce.len())
    }
}

/// Decodes a varint (`mlog_decode_varint`, `log0recv.cc, MariaDB 10.11`), up to 2 MiB: no record is
/// longer.
fn varint(bytes: &[u8], at: usize) -> Option<usize> {
    let first = usize::from(u8_at(bytes, at).ok()?);
    let byte = |i: usize| u8_at(bytes, at + i).ok().map(usize::from);
    Some(match first {
        0..0x80 => first,
        0x80..0xc0 => 0x80 + ((first & 0x3f) << 8 | byte(1)?),
        0xc0..0xe0 => 0x4080 + ((first & 0x1f) << 16 | byte(1)? << 8 | byte(2)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes at the checkpoint of an encrypted log of MariaDB 10.11.19 after a clean shutdown.
    const CLEAN: [u8; 24] = [
        0xfa, 0xe4, 0x8f, 0x93, 0xd7, 0x89, 0x62, 0x4c, 0x75, 0x8a, 0x81, 0x01, 0, 0, 0, 0, 0, 0,
        0xc7, 0x78, 0x66, 0xcc, 0xbf, 0xac,
    ];

    #[test]
    fn an_encrypted_log_is_judged_without_its_key() {
        let log = Circular {
            checkpoint: Lsn(51064),
            first: Lsn(12288),
            capacity_bytes: 96 << 20,
            is_encrypted: true,
        };
        let with_zeroes = |parts: &[&[u8]]| [&parts.concat()[..], &[0; 64]].concat();
        assert!(log.is_empty_after_checkpoint(&with_zeroes(&[&CLEAN])));
        // A log that is not understood is not empty.
        assert!(!log.is_empty_after_checkpoint(&[0; 64]));
        let mut damaged = CLEAN;
        damaged[5] ^= 1;
        assert!(!log.is_empty_after_checkpoint(&with_zeroes(&[&damaged])));
        // Another record after the checkpoint: a mini-transaction of 4 bytes of changes.
        let mut change = vec![0x33, 1, 2, 3, 1, 0, 0, 0, 0, 0, 0, 0xc7, 0x90];
        let sum = crc_fast::crc32_iscsi(&[&change[..4], &change[5..]].concat());
        change.extend(sum.to_be_bytes());
        assert!(!log.is_empty_after_checkpoint(&with_zeroes(&[&CLEAN, &change])));
    }
}
