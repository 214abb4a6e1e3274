//! The redo log's head: up to which LSN the data files hold every change, and whether changes
//! after it are still in the log alone.
//!
//! Two shapes. MySQL and MariaDB before 10.8 write 512-byte blocks, with two checkpoint blocks in
//! the first file (from MySQL 8.0.30 in any file of `#innodb_redo`); the system tablespace's first
//! page repeats the LSN of a clean shutdown (`log0recv.cc, recv_recovery_from_checkpoint_start`).
//! MariaDB 10.8 and later write one circular file of bare mini-transactions, and a clean log is one
//! with nothing after its checkpoint (`log0log.h, log_t`; `log0recv.cc, recv_scan_log`).

use crate::bytes::{slice, u8_at, u32_at, u64_at};
use crate::{Error, Lsn, Result};

/// `log_t::FORMAT_10_8`: the four bytes `Phys`.
const FORMAT_10_8: u32 = 0x5068_7973;
/// The same, with the top bit for an encrypted log.
const FORMAT_ENC_10_8: u32 = FORMAT_10_8 | 0x8000_0000;
/// `log_t::START_OFFSET`: where mini-transactions begin in a 10.8 log.
pub const CIRCULAR_START: u64 = 12288;
/// Bytes of a log's first file that [`RedoHead::parse`] wants to see.
pub const HEAD_BYTES: usize = 12288;
/// More bytes than a mini-transaction takes; what [`Circular::is_empty_after_checkpoint`] wants to
/// see.
pub const TAIL_BYTES: usize = 8 << 20;

/// What the head of a redo log file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedoHead {
    /// 512-byte blocks; the newest checkpoint, when this file holds one.
    Blocks {
        /// The checkpoint.
        checkpoint: Option<Lsn>,
    },
    /// MariaDB 10.8+.
    Circular(Circular),
}

/// A MariaDB 10.8+ log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circular {
    /// The newest checkpoint.
    pub checkpoint: Lsn,
    first: Lsn,
    capacity_bytes: u64,
}

impl RedoHead {
    /// Reads the first [`HEAD_BYTES`] of a log file that is `file_bytes` long.
    pub fn parse(head: &[u8], file_bytes: u64) -> Result<RedoHead> {
        match u32_at(head, 0)? {
            FORMAT_10_8 => Circular::parse(head, file_bytes).map(RedoHead::Circular),
            FORMAT_ENC_10_8 => Err(Error::unsupported(
                "an encrypted redo log",
                "shut the server down cleanly and pass --force, or restore from a logical dump",
            )),
            _ => Ok(RedoHead::Blocks { checkpoint: block_checkpoint(head)? }),
        }
    }
}

/// The newer of the two checkpoints at offsets 512 and 1536; a block never written is all zeros.
fn block_checkpoint(head: &[u8]) -> Result<Option<Lsn>> {
    let mut newest = None;
    for at in [512, 1536] {
        let block = slice(head, at, 512)?;
        let lsn = u64_at(block, 8)?;
        let sealed = u32_at(block, 508)? == crc32c::crc32c(slice(block, 0, 508)?);
        if lsn != 0 && (sealed || is_old_format(head)?) {
            newest = newest.max(Some(Lsn(lsn)));
        }
    }
    Ok(newest)
}

/// Before MySQL 5.7.9 and MariaDB 10.2.2 the header had no format number and the checkpoint blocks
/// other checksums (`log0log.h, LOG_HEADER_FORMAT`).
fn is_old_format(head: &[u8]) -> Result<bool> {
    Ok(u32_at(head, 0)? == 0)
}

impl Circular {
    fn parse(head: &[u8], file_bytes: u64) -> Result<Circular> {
        let mut newest: Option<Lsn> = None;
        for at in [4096, 8192] {
            let block = slice(head, at, 64)?;
            if u32_at(block, 60)? == crc32c::crc32c(slice(block, 0, 60)?) {
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
        Ok(Circular { checkpoint, first, capacity_bytes })
    }

    /// Where in the file the bytes after the checkpoint begin.
    pub fn checkpoint_offset(&self) -> u64 {
        CIRCULAR_START + (self.checkpoint.0 - self.first.0) % self.capacity_bytes
    }

    /// The byte every mini-transaction written in the present lap ends with.
    fn sequence_bit(&self, lsn: u64) -> u8 {
        u8::from(((lsn - self.first.0) / self.capacity_bytes) & 1 == 0)
    }

    /// Whether the log holds nothing to apply: after the checkpoint come no mini-transactions, or
    /// only those that repeat the checkpoint. `tail` is what stands at
    /// [`checkpoint_offset`](Circular::checkpoint_offset), up to [`TAIL_BYTES`] of it.
    pub fn is_empty_after_checkpoint(&self, tail: &[u8]) -> bool {
        let mut at = 0usize;
        while let Some(mtr_len) = self.mini_transaction(tail, at) {
            // FILE_CHECKPOINT: type and page id (3 bytes), LSN (8), end marker, crc32c.
            let repeats_checkpoint = mtr_len == 16
                && slice(tail, at, 3).is_ok_and(|start| start == [0xfa, 0, 0])
                && u64_at(tail, at + 3) == Ok(self.checkpoint.0);
            if !repeats_checkpoint {
                return false;
            }
            at += mtr_len;
        }
        true
    }

    /// The length of the mini-transaction at `at`, when a whole valid one of this lap is there.
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
        let sum = crc32c::crc32c(slice(tail, begin, len).ok()?);
        let sealed = u32_at(tail, at + 1).ok()? == sum;
        (len > 0 && in_lap && sealed).then_some(len + 5)
    }
}

/// `mlog_decode_varint` (`log0recv.cc, MariaDB 10.11`), up to 2 MiB: no record is longer.
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

/// The LSN a clean shutdown wrote into page 0 of the system tablespace
/// (`FIL_PAGE_FILE_FLUSH_LSN`); 0 where the server no longer writes it (MariaDB 10.8+).
pub fn shutdown_lsn(system_page_0: &[u8]) -> Result<Lsn> {
    u64_at(system_page_0, 26).map(Lsn)
}
