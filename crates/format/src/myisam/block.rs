//! Blocks of DYNAMIC rows: a packed record is in one block, or in several linked ones.
//!
//! ```text
//! 0       deleted: block (3), next deleted (8), previous (8); the lengths hold the header
//! 1, 2    a whole record: record (2, 3)
//! 3, 4    a whole record and unused bytes: record (2, 3), unused (1)
//! 5, 6    a record's first block: record (2, 3), block (2, 3), next (8)
//! 13      a record's first block: record (4), block (3), next (8)
//! 7, 8    a record's last block: block (2, 3)
//! 9, 10   a record's last block and unused bytes: block (2, 3), unused (1)
//! 11, 12  a middle block: block (2, 3), next (8)
//! ```
//!
//! Numbers are big-endian; "next" is an offset in the file. Aria's DYNAMIC rows have the same
//! blocks.
//!
//! Source: `_mi_get_block_info` (mi_dynrec.c, MariaDB 10.11).

use crate::{Error, Result, bytes};

/// The maximum size of a block's header, and the minimum size of a block, in bytes.
pub const BLOCK_HEADER_BYTES: usize = 20;

/// A block of a `.MYD` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Content of the block.
    pub kind: BlockKind,
    /// Offset in the file of the block's data.
    pub data_at: u64,
    /// Bytes of data.
    pub data_bytes: u64,
    /// Offset in the file of the following block.
    pub end: u64,
    /// Offset in the file of the block with the record's next part.
    pub next: Option<u64>,
}

/// The content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// No data: the block was deleted.
    Deleted,
    /// The first part of a record, or all of it.
    First {
        /// Bytes of the whole packed record.
        record_bytes: u64,
    },
    /// A further part of a record.
    Continued,
}

impl Block {
    /// Parses the header of the block at `at`. In the last block of a file, bytes missing from
    /// `header` are treated as zeros.
    pub fn parse(header: &[u8], at: u64) -> Result<Block> {
        let mut padded = [0; BLOCK_HEADER_BYTES];
        for (byte, from) in padded.iter_mut().zip(header) {
            *byte = *from;
        }
        Block::parse_whole(&padded, at)
            .ok_or_else(|| Error::corrupt(format!("there is no block of rows at byte {at}")))
    }

    fn parse_whole(header: &[u8; BLOCK_HEADER_BYTES], at: u64) -> Option<Block> {
        let two = |from| bytes::u16_at(header, from).ok().map(u64::from);
        let three = |from| bytes::u24_at(header, from).ok().map(u64::from);
        let four = |from| bytes::u32_at(header, from).ok().map(u64::from);
        let one = |from| bytes::u8_at(header, from).ok().map(u64::from);
        let next = |from| bytes::u64_at(header, from).ok();
        let first = |record_bytes| BlockKind::First { record_bytes };
        let more = BlockKind::Continued;
        // kind; bytes of the header, of the data, unused; offset of the next part
        let (kind, head, data, spare, next) = match header.first()? {
            0 => {
                let len = three(1)?;
                let is_sound = len >= BLOCK_HEADER_BYTES as u64 && len.is_multiple_of(4);
                (BlockKind::Deleted, 0, is_sound.then_some(len)?, 0, None)
            }
            1 => (first(two(1)?), 3, two(1)?, 0, None),
            2 => (first(three(1)?), 4, three(1)?, 0, None),
            3 => (first(two(1)?), 4, two(1)?, one(3)?, None),
            4 => (first(three(1)?), 5, three(1)?, one(4)?, None),
            5 => (first(two(1)?), 13, two(3)?, 0, next(5)),
            6 => (first(three(1)?), 15, three(4)?, 0, next(7)),
            13 => (first(four(1)?), 16, three(5)?, 0, next(8)),
            7 => (more, 3, two(1)?, 0, None),
            8 => (more, 4, three(1)?, 0, None),
            9 => (more, 4, two(1)?, one(3)?, None),
            10 => (more, 5, three(1)?, one(4)?, None),
            11 => (more, 11, two(1)?, 0, next(3)),
            12 => (more, 12, three(1)?, 0, next(4)),
            _ => return None,
        };
        let data_at = at.checked_add(head)?;
        let end = data_at.checked_add(data + spare)?;
        Some(Block { kind, data_at, data_bytes: data, end, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_after_they_begin() {
        let mut header = [0; BLOCK_HEADER_BYTES];
        for kind in 0..=255_u8 {
            header[0] = kind;
            match Block::parse(&header, 100) {
                Ok(block) => assert!((1..14).contains(&kind) && block.end > 100, "{block:?}"),
                Err(_) => assert!(kind == 0 || kind > 13),
            }
        }
        // a block at the end of the range of numbers
        assert!(Block::parse(&[1, 0xff, 0xff], u64::MAX - 10).is_err());
    }

    #[test]
    fn a_block_with_bytes_to_spare() {
        let block = Block::parse(&[3, 0, 5, 7], 40).unwrap();
        assert_eq!(block.kind, BlockKind::First { record_bytes: 5 });
        assert_eq!((block.data_at, block.data_bytes, block.end, block.next), (44, 5, 56, None));
    }
}
