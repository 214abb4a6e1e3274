//! Pages: the unit in which InnoDB reads, writes and checks.
//!
//! ```text
//!  0 checksum (full_crc32: encryption key version)     4 page number
//!  8 previous page on the level                       12 next page on the level
//! 16 LSN of the newest change                         24 type
//! 26 flush LSN (page 0 of the system tablespace), or MariaDB's encryption key version
//! 34 tablespace                                       38 content, by type ...
//! size-8 checksum, low half of the LSN (full_crc32: the other way round)
//! ```
//!
//! `fil0fil.h` of MySQL 8.0 and MariaDB 10.11. Only [`open`] creates a [`Page`]: the bytes of a
//! `Page` have the right checksum, page number and tablespace.

mod compression;
mod context;
pub mod encryption;
mod fsp;
mod heap;
mod index;
mod inode;
mod kind;
mod list;
mod open;
mod page_format;
mod seal;
mod space_head;
pub mod system;
pub mod undo;
mod verified;
mod xdes;
mod zip;

pub use compression::PageCompression;
pub use context::{PageContext, UNRECOVERED};
pub use encryption::Encryption;
pub use fsp::{Dialect, FspFlags, SpaceHeader};
pub use index::IndexPage;
pub use inode::{InodePage, Segment};
pub use kind::PageKind;
pub use list::{FileAddr, ListBase, ListNode};
pub use open::{
    OwnedPage, Page, Scratch, StoredAs, checksum_algorithm, decrypted_zip, open, unverified_links,
};
pub use page_format::PageFormat;
pub use seal::seal;
pub use space_head::SpaceHead;
pub use xdes::{Extent, ExtentState, ExtentsPage};
pub(crate) use zip::BothForms;

/// `FIL_PAGE_DATA`: offset of the content that depends on the page's type.
pub const DATA: usize = 38;
