//! The log of MariaDB 10.8 and later: one file, from offset 12288 on a ring of mini-transactions
//! (`log0log.h`, `mtr0mtr.cc`, MariaDB 10.11).
//!
//! ```text
//! file            0 format   8 LSN of offset 12288   16 creator   4096, 8192 checkpoints
//! checkpoint      0 LSN      8 LSN of its FILE_CHECKPOINT         60 CRC-32C
//! mini-transaction    records, end marker (1 byte), in an encrypted log a nonce (8), CRC-32C (4)
//! ```
//!
//! The end marker is 1 in the first lap of the ring, 0 in the second, and so on, by the LSN of the
//! marker itself; so what an earlier lap left behind does not pass for the present one. The log ends
//! at the first mini-transaction that is not whole.

use super::encryption::{LogEncryption, NONCE_BYTES, Unit};
use super::varint::varint;
use crate::bytes::{array, slice, u8_at, u32_at, u64_at};
use crate::{Error, Lsn, Result};

/// `log_t::START_OFFSET`: offset of the mini-transactions in a 10.8 log.
pub const CIRCULAR_START: u64 = 12288;
/// More bytes than any mini-transaction takes; the most that
/// [`Circular::end_if_empty`] needs.
pub const TAIL_BYTES: usize = 8 << 20;
/// `recv_sys_t::MTR_SIZE_MAX`: the bytes of the longest mini-transaction.
pub const MTR_BYTES_MAX: usize = 2 << 20;
/// A log of MariaDB 10.8+.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circular {
    /// The newest checkpoint: every change before it is in the data files.
    pub checkpoint: Lsn,
    first: Lsn,
    capacity_bytes: u64,
    encryption: Option<LogEncryption>,
}

/// A whole mini-transaction: the changes of some pages that take effect together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiniTransaction<'a> {
    /// The records, without the end marker.
    pub records: &'a [u8],
    /// The bytes in the log, with end marker and checksum.
    pub len: usize,
    /// The nonce by which the records of an encrypted log are encrypted; else zeroes.
    pub nonce: [u8; NONCE_BYTES],
}

impl Circular {
    pub(super) fn parse(head: &[u8], file_bytes: u64, encrypted: Option<Unit>) -> Result<Circular> {
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
        let encryption = encrypted.map(|unit| LogEncryption::read(head, unit)).transpose()?;
        Ok(Circular { checkpoint, first, capacity_bytes, encryption })
    }

    /// Returns whether the log is encrypted: only types and lengths of its records are readable.
    pub fn is_encrypted(&self) -> bool {
        self.encryption.is_some()
    }

    /// Returns what the header says of an encrypted log's encryption.
    pub fn encryption(&self) -> Option<&LogEncryption> {
        self.encryption.as_ref()
    }

    fn nonce_bytes(&self) -> usize {
        if self.is_encrypted() { NONCE_BYTES } else { 0 }
    }

    /// Returns the bytes of the ring: no log is longer.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Returns the file offset of the bytes after the checkpoint.
    pub fn checkpoint_offset(&self) -> u64 {
        self.place_of(self.checkpoint).0
    }

    /// Returns the file offset of an LSN, and the bytes from there to the end of the file, behind
    /// which the log continues at [`CIRCULAR_START`].
    pub fn place_of(&self, lsn: Lsn) -> (u64, u64) {
        let in_ring = lsn.0.saturating_sub(self.first.0) % self.capacity_bytes;
        (CIRCULAR_START + in_ring, self.capacity_bytes - in_ring)
    }

    /// Returns the end marker of a mini-transaction whose marker has this LSN.
    fn sequence_bit(&self, lsn: u64) -> u8 {
        u8::from((lsn.saturating_sub(self.first.0) / self.capacity_bytes) & 1 == 0)
    }

    /// Returns the end of a log that holds nothing to apply: after the checkpoint come only
    /// mini-transactions that repeat it. `None` for other logs. `tail` is the log from
    /// [`checkpoint_offset`](Circular::checkpoint_offset) on, up to [`TAIL_BYTES`].
    ///
    /// At least one must follow, which proves that the log is whole, and that this version understands
    /// it. Of an encrypted log only types and lengths of records are readable.
    pub fn end_if_empty(&self, tail: &[u8]) -> Option<Lsn> {
        let mut at = 0usize;
        while let Some(mtr) = self.mini_transaction(tail, at, self.lsn_after_checkpoint(at)) {
            if !self.repeats_checkpoint(&mtr) {
                return None;
            }
            at += mtr.len;
        }
        (at > 0).then(|| self.lsn_after_checkpoint(at))
    }

    fn lsn_after_checkpoint(&self, bytes: usize) -> Lsn {
        Lsn(self.checkpoint.0.saturating_add(bytes as u64))
    }

    /// Whether a mini-transaction only says FILE_CHECKPOINT: type and page id (3 bytes), LSN (8).
    fn repeats_checkpoint(&self, mtr: &MiniTransaction<'_>) -> bool {
        if mtr.records.len() != 11 {
            return false;
        }
        match self.is_encrypted() {
            true => u8_at(mtr.records, 0) == Ok(0xfa),
            false => {
                mtr.records.starts_with(&[0xfa, 0, 0])
                    && u64_at(mtr.records, 3) == Ok(self.checkpoint.0)
            }
        }
    }

    /// Returns the mini-transaction at `begin`, whose LSN is `lsn`, if a whole one of its lap is
    /// there.
    pub fn mini_transaction<'a>(
        &self,
        bytes: &'a [u8],
        begin: usize,
        lsn: Lsn,
    ) -> Option<MiniTransaction<'a>> {
        let end = end_of_records(bytes, begin)?;
        let len = end.checked_sub(begin)?;
        let marker = u8_at(bytes, end).ok()?;
        if len == 0 || marker != self.sequence_bit(lsn.0.checked_add(len as u64)?) {
            return None;
        }
        let records = slice(bytes, begin, len).ok()?;
        let mut sum = crc_fast::crc32_iscsi(records);
        let nonce_bytes = self.nonce_bytes();
        let mut nonce = [0; NONCE_BYTES];
        if self.is_encrypted() {
            nonce = array(bytes, end + 1).ok()?;
            sum = crc_fast::crc32_iscsi(&[records, &nonce].concat());
        }
        let sealed = u32_at(bytes, end + 1 + nonce_bytes).ok()? == sum;
        sealed.then_some(MiniTransaction { records, len: len + 5 + nonce_bytes, nonce })
    }

    /// Returns the bytes from `begin`, where a record begins, to the end of its mini-transaction; `None` if `bytes` end
    /// before.
    pub fn len_to_end(&self, bytes: &[u8], begin: usize) -> Option<usize> {
        let len = end_of_records(bytes, begin)?.checked_sub(begin)? + 5 + self.nonce_bytes();
        (begin + len <= bytes.len()).then_some(len)
    }
}

/// Returns the offset of the end marker of the mini-transaction that has a record at `at`, if that is
/// within the bytes.
pub(super) fn end_of_records(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let first = u8_at(bytes, at).ok()?;
        if first <= 1 {
            return Some(at);
        }
        at += 1;
        // A long record's number of bytes counts from 15, with the number's own bytes.
        at += match usize::from(first & 0x0f) {
            0 => varint(bytes, at)?.0 as usize + 15,
            len => len,
        };
    }
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
        let mut head = [0; 128];
        head[51] = 1;
        let log = Circular {
            checkpoint: Lsn(51064),
            first: Lsn(12288),
            capacity_bytes: 96 << 20,
            encryption: LogEncryption::read(&head, Unit::MiniTransaction).ok(),
        };
        let with_zeroes = |parts: &[&[u8]]| [&parts.concat()[..], &[0; 64]].concat();
        assert!(log.end_if_empty(&with_zeroes(&[&CLEAN])).is_some());
        // A log that is not understood is not empty.
        assert_eq!(log.end_if_empty(&[0; 64]), None);
        let mut damaged = CLEAN;
        damaged[5] ^= 1;
        assert_eq!(log.end_if_empty(&with_zeroes(&[&damaged])), None);
        // Another record after the checkpoint: a mini-transaction of 4 bytes of changes.
        let mut change = vec![0x33, 1, 2, 3, 1, 0, 0, 0, 0, 0, 0, 0xc7, 0x90];
        let sum = crc_fast::crc32_iscsi(&[&change[..4], &change[5..]].concat());
        change.extend(sum.to_be_bytes());
        assert_eq!(log.end_if_empty(&with_zeroes(&[&CLEAN, &change])), None);
    }
}
