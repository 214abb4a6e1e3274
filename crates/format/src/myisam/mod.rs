//! MyISAM: `.MYI` headers and the rows of `.MYD` files.
//!
//! The server's records ([`crate::server_record`]) stand in the `.MYD` file one after the other,
//! either as they are (FIXED: the first byte of a deleted one is 0) or packed (DYNAMIC), in blocks
//! that can be linked. Numbers of the `.MYI` file and of block headers are big-endian, those in
//! records little-endian.

mod block;
mod header;
mod packed;
mod sum;

pub use block::{BLOCK_HEADER_BYTES, Block, BlockKind};
pub use header::{Field, FieldKind, Header, RowFormat, SumOf};
pub use packed::unpack;
pub use sum::row_sum;
