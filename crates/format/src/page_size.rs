//! InnoDB's page sizes.

use std::fmt;

use crate::{Error, Result};

/// A page size that InnoDB supports: 4, 8, 16, 32 or 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageSize(u32);

impl PageSize {
    /// The default page size of every server.
    pub const DEFAULT: PageSize = PageSize(16 * 1024);
    /// The smallest page size; the first pages of a file can be examined with it before the true
    /// size is known.
    pub const MIN: PageSize = PageSize(4 * 1024);
    /// The largest page size.
    pub const MAX: PageSize = PageSize(64 * 1024);

    /// Creates a page size from bytes.
    ///
    /// # Errors
    /// When InnoDB does not support the size.
    pub fn new(size_bytes: u32) -> Result<PageSize> {
        match size_bytes {
            4096 | 8192 | 16384 | 32768 | 65536 => Ok(PageSize(size_bytes)),
            _ => Err(Error::corrupt(format!("a page size of {size_bytes} bytes does not exist"))),
        }
    }

    /// Returns the size in bytes.
    pub const fn bytes(self) -> u32 {
        self.0
    }

    /// Returns the size in bytes, for indexing memory.
    #[expect(clippy::len_without_is_empty, reason = "no page is empty")]
    pub fn len(self) -> usize {
        self.0 as usize
    }

    /// Returns the pages of an extent: 1 MiB of pages up to 16 KiB each, 64 of larger ones
    /// (`fsp0types.h`).
    pub fn extent_pages(self) -> u32 {
        if self.0 <= 16384 { (1 << 20) / self.0 } else { 64 }
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
