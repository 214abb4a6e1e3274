//! The numbers InnoDB names its things by, each its own type.

use std::fmt;

use crate::{Error, Result};

/// A tablespace's number: bytes 34-37 of each of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// That of `mysql.ibd`, the data dictionary of MySQL 8 and later (`s_dict_space_id, dict0dict.h,
    /// MySQL 9.7`).
    pub const DICTIONARY: SpaceId = SpaceId(0xFFFF_FFFE);
}

/// A page's place in its tablespace: byte offset divided by the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNo(pub u32);

impl PageNo {
    /// `FIL_NULL`: no page (`fil0types.h`).
    pub const NULL: PageNo = PageNo(u32::MAX);

    /// `None` for `FIL_NULL`.
    pub fn non_null(self) -> Option<PageNo> {
        (self != PageNo::NULL).then_some(self)
    }
}

/// An index's number, unique in a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(pub u64);

/// A log sequence number: bytes of redo log written since the server was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

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

macro_rules! display_as_number {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

display_as_number!(SpaceId, PageNo, IndexId, Lsn, PageSize);
