//! The log of MariaDB 10.5 to 10.7: one file, from offset 2048 on a ring of blocks, with records as those of 10.8
//! (`log0log.h`, `log0recv.cc`, MariaDB 10.5).
//!
//! ```text
//! file            0 format `PHYS`   8 LSN of the first log   16 creator   508 CRC-32C
//! checkpoint      at 512 and 1536: 0 number   8 LSN   16 the LSN's offset in the file   508 CRC-32C
//! mini-transaction    records, a byte 0
//! ```
//!
//! Nothing but the blocks seals a mini-transaction: the log ends at the first that is not whole, or before the first block
//! that is not.

use super::block::{BLOCK_BYTES, BLOCKS_START};
use super::circular::{MiniTransaction, end_of_records};
use crate::bytes::{slice, u8_at};
use crate::{Error, Lsn, Result};

/// The log of MariaDB 10.5 to 10.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRing {
    /// The newest checkpoint: every change before it is in the data files.
    pub checkpoint: Lsn,
    /// The offset of the checkpoint's block in the ring.
    in_ring: u64,
    capacity_bytes: u64,
}

impl BlockRing {
    /// The log whose checkpoint is at `offset` of a file of `file_bytes`; `None` if that cannot be.
    pub(super) fn new(checkpoint: Lsn, offset: u64, file_bytes: u64) -> Option<BlockRing> {
        let capacity_bytes = file_bytes.checked_sub(BLOCKS_START)? / BLOCK_BYTES * BLOCK_BYTES;
        let in_ring = offset.checked_sub(BLOCKS_START)? / BLOCK_BYTES * BLOCK_BYTES;
        let is_there =
            in_ring < capacity_bytes && offset % BLOCK_BYTES == checkpoint.0 % BLOCK_BYTES;
        is_there.then_some(BlockRing { checkpoint, in_ring, capacity_bytes })
    }

    /// Returns the bytes of the ring: no log is longer.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Returns the file offset of the block that has an LSN behind the checkpoint, and the bytes from there to the end
    /// of the ring, behind which the log continues at its start.
    pub fn place_of(&self, lsn: Lsn) -> (u64, u64) {
        let blocks =
            lsn.0 / BLOCK_BYTES - (self.checkpoint.0 / BLOCK_BYTES).min(lsn.0 / BLOCK_BYTES);
        let in_ring = (self.in_ring + blocks % (self.capacity_bytes / BLOCK_BYTES) * BLOCK_BYTES)
            % self.capacity_bytes;
        (BLOCKS_START + in_ring, self.capacity_bytes - in_ring)
    }

    /// Returns the mini-transaction at the start of the blocks' data; `None` if it ends behind them.
    ///
    /// # Errors
    /// Its end is none.
    pub fn mini_transaction(data: &[u8]) -> Result<Option<MiniTransaction<'_>>> {
        let Some(end) = end_of_records(data, 0).filter(|&end| end < data.len()) else {
            return Ok(None);
        };
        match u8_at(data, end)? {
            0 => Ok(Some(MiniTransaction {
                records: slice(data, 0, end)?,
                nonce: Default::default(),
                len: end + 1,
            })),
            _ => Err(Error::corrupt("a mini-transaction has no end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_continues_behind_the_heads() {
        let ring = BlockRing::new(Lsn(45079), 38423, 2048 + 80 * 512).unwrap();
        assert_eq!(ring.place_of(Lsn(45079)), (38400, 80 * 512 - 36352));
        assert_eq!(ring.place_of(Lsn(45056 + 9 * 512 + 20)), (2048, 80 * 512));
        assert_eq!(ring.place_of(Lsn(45056 + 89 * 512 + 20)), (2048, 80 * 512));
        assert_eq!(BlockRing::new(Lsn(45080), 38423, 1 << 20), None);
        assert_eq!(BlockRing::new(Lsn(45079), 38423, 2048 + 512), None);
    }

    #[test]
    fn a_mini_transaction_ends_with_a_zero() {
        // The first bytes behind the checkpoint of a log of MariaDB 10.5.23.
        let log = [
            0xfa, 0, 0, 0, 0, 0, 0, 0, 0, 0xb0, 0x17, 0, 0x34, 0, 7, 0x35, 0x14, 0, 0x34, 0, 7,
            0x41,
        ];
        let first = BlockRing::mini_transaction(&log).unwrap().unwrap();
        assert_eq!((first.records, first.len), (&log[..11], 12));
        let second = BlockRing::mini_transaction(&log[12..]).unwrap().unwrap();
        assert_eq!((second.records, second.len), (&log[12..17], 6));
        assert_eq!(BlockRing::mini_transaction(&log[18..]), Ok(None));
        assert_eq!(BlockRing::mini_transaction(&log[..11]), Ok(None));
        assert!(BlockRing::mini_transaction(&[1, 2]).is_err());
        // Zeroes that fill up the log are mini-transactions without records.
        assert_eq!(BlockRing::mini_transaction(&[0, 0]).unwrap().unwrap().len, 1);
    }
}
