//! InnoDB's lists within a file: a base node, and nodes linked by page and offset.
//!
//! ```text
//! address  0 page number   4 byte offset                        (6 bytes)
//! base     0 length        4 first address    10 last address   (16 bytes)
//! node     0 previous      6 next                               (12 bytes)
//! ```
//!
//! `fut0lst.h`, MySQL 8.0.

use crate::{PageNo, Result, bytes};

/// An address in a file (`fil_addr_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileAddr {
    /// Page number.
    pub page_no: PageNo,
    /// Byte offset in the page.
    pub offset: u16,
}

impl FileAddr {
    /// Bytes of an address.
    pub const LEN: usize = 6;

    /// Reads the address at `at`; `None` when it is null.
    pub fn read(page: &[u8], at: usize) -> Result<Option<FileAddr>> {
        let page_no = PageNo(bytes::u32_at(page, at)?);
        let offset = bytes::u16_at(page, at.saturating_add(4))?;
        Ok(page_no.non_null().map(|page_no| FileAddr { page_no, offset }))
    }
}

/// The base node of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListBase {
    /// Nodes in the list.
    pub len: u32,
    /// The first node.
    pub first: Option<FileAddr>,
    /// The last node.
    pub last: Option<FileAddr>,
}

impl ListBase {
    /// Bytes of a base node.
    pub const LEN: usize = 16;

    /// Reads the base node at `at`.
    pub fn read(page: &[u8], at: usize) -> Result<ListBase> {
        Ok(ListBase {
            len: bytes::u32_at(page, at)?,
            first: FileAddr::read(page, at.saturating_add(4))?,
            last: FileAddr::read(page, at.saturating_add(10))?,
        })
    }
}

/// A node of a list, with its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListNode {
    /// The previous node.
    pub prev: Option<FileAddr>,
    /// The next node.
    pub next: Option<FileAddr>,
}

impl ListNode {
    /// Reads the node at `at`.
    pub fn read(page: &[u8], at: usize) -> Result<ListNode> {
        Ok(ListNode {
            prev: FileAddr::read(page, at)?,
            next: FileAddr::read(page, at.saturating_add(FileAddr::LEN))?,
        })
    }
}
