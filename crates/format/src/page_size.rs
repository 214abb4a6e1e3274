//! The page sizes InnoDB can have.

use std::fmt;

use crate::{Error, Result};

/// A page size InnoDB can have: 4, 8, 16, 32 or 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageSize(u32);

impl PageSize {
    /// The size every server has unless told otherwise.
    pub const DEFAULT: PageSize = PageSize(16 * 1024);
    /// The smallest; a file's first pages can be looked at with it before the true size is known.
    pub const MIN: PageSize = PageSize(4 * 1024);
    /// The largest.
    pub const MAX: PageSize = PageSize(64 * 1024);

    /// The size in bytes, when InnoDB can have it.
    pub fn new(size_bytes: u32) -> Result<PageSize> {
        match size_bytes {
            4096 | 8192 | 16384 | 32768 | 65536 => Ok(PageSize(size_bytes)),
            _ => Err(Error::corrupt(format!("a page size of {size_bytes} bytes does not exist"))),
        }
    }

    /// In bytes.
    pub const fn bytes(self) -> u32 {
        self.0
    }

    /// In bytes, to index memory with.
    #[expect(clippy::len_without_is_empty, reason = "no page is empty")]
    pub fn len(self) -> usize {
        self.0 as usize
    }

    /// Pages in an extent: 1 MiB's worth up to 16 KiB pages, 64 above (`fsp0types.h`).
    pub fn extent_pages(self) -> u32 {
        if self.0 <= 16384 { (1 << 20) / self.0 } else { 64 }
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
