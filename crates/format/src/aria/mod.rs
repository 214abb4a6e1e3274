//! Aria: `.MAI` headers and the rows of `.MAD` files.
//!
//! Rows are stored in pages (`ROW_FORMAT=PAGE`, the default), or like MyISAM's (FIXED, DYNAMIC:
//! [`crate::myisam`]). Numbers of the `.MAI` file are big-endian, those in pages little-endian.
//!
//! The pages of a `.MAD` file:
//!
//! ```text
//! bitmap page | pages it covers | bitmap page | ...
//!
//! bitmap page  three bits for each page it covers: 0 empty, 1..4 a head page, 5..7 others; checksum
//! head page    LSN (7), type (1), entries (1), first free entry (1), free bytes (2), rows ...,
//! tail page      directory from the end on: for each entry offset (2) and length (2); checksum
//! blob page    LSN (7), type (1), data, checksum
//! ```
//!
//! A row begins in an entry of a head page. If it does not end there, extents give the blob pages,
//! and the entries of tail pages, in which it continues.

mod header;
mod log;
mod page;
mod row;

pub use header::{Column, Header, PageRows, Storage};
pub use log::{LOG_PAGE_BYTES, LogControl, ends_with_checkpoint};
pub use page::{Bitmap, PageType, entries, entry, page_type, require_checksum};
pub use row::{RowReader, Step};
