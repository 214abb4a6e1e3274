//! MyISAM: `.MYI` headers and the rows of `.MYD` files.
//!
//! Records of the server ([`crate::server_record`]) follow each other in the `.MYD` file, either
//! unchanged (FIXED: the first byte of a deleted one is 0) or packed (DYNAMIC), in blocks that can
//! be linked. Numbers of the `.MYI` file and of block headers are big-endian, those in records
//! little-endian.

mod block;
mod header;
mod packed;
mod sum;

pub use block::{BLOCK_HEADER_BYTES, Block, BlockKind};
pub use header::{Field, FieldKind, Header, RowFormat, SumOf};
pub use packed::unpack;
pub use sum::row_sum;
