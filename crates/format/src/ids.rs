//! InnoDB's identifiers, each as its own type.

use std::fmt;

/// A tablespace id: bytes 34-37 of each page of the tablespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The system tablespace (`TRX_SYS_SPACE`, `trx0sys.h`).
    pub const SYSTEM: SpaceId = SpaceId(0);
}

/// A page number: the byte offset in the tablespace divided by the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNo(pub u32);

impl PageNo {
    /// `FIL_NULL`: no page (`fil0types.h`).
    pub const NULL: PageNo = PageNo(u32::MAX);

    /// Returns the page number, or `None` for `FIL_NULL`.
    pub fn non_null(self) -> Option<PageNo> {
        (self != PageNo::NULL).then_some(self)
    }
}

/// An index id, unique in a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(pub u64);

impl IndexId {
    /// The change buffer (`DICT_IBUF_ID_MIN` and the number of the system tablespace, `dict0mem.h`).
    pub const CHANGE_BUFFER: IndexId = IndexId(0xFFFF_FFFF_0000_0000);
}

/// A log sequence number: bytes of redo log written since the server was installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

macro_rules! display_as_number {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

display_as_number!(SpaceId, PageNo, IndexId, Lsn);
