//! Page types: the content of a page by its `FIL_PAGE_TYPE`.

use std::fmt;

/// The types of pages (`fil0fil.h`, MySQL 9 and MariaDB 10.11), and the page of zeroes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "InnoDB's own names")]
pub enum PageKind {
    /// A page of zeroes, which was never written.
    Zeroes,
    /// Allocated but unused; in MySQL also freed.
    Allocated,
    UndoLog,
    /// File segments (`INODE`).
    Inode,
    IbufFreeList,
    IbufBitmap,
    Sys,
    TrxSys,
    /// Page 0: the file's header and the first extent descriptors.
    FspHeader,
    /// Extent descriptors of the following pages.
    Xdes,
    /// Off-page columns before MySQL 8, and in MariaDB.
    Blob,
    ZBlob,
    ZBlob2,
    Unknown,
    /// Page compression (MySQL's, or MariaDB's without `full_crc32`).
    PageCompressed,
    Encrypted,
    CompressedAndEncrypted,
    EncryptedRTree,
    /// MariaDB: the root of a clustered index after instant `ALTER TABLE`.
    Instant,
    SdiBlob,
    SdiZBlob,
    RsegArray,
    LobIndex,
    LobData,
    LobFirst,
    ZLobFirst,
    ZLobData,
    ZLobIndex,
    ZLobFragment,
    ZLobFragmentEntry,
    /// The B-tree of serialized dictionary information.
    Sdi,
    RTree,
    Index,
    /// A number that no server writes.
    Other(u16),
}

impl PageKind {
    /// Derives the kind from the number on the page. `sdi`: the file carries SDI, so it is MySQL's
    /// and 18 is an SDI BLOB; in MariaDB 18 is an instant root.
    pub fn new(number: u16, sdi: bool) -> PageKind {
        match number {
            0 => PageKind::Allocated,
            2 => PageKind::UndoLog,
            3 => PageKind::Inode,
            4 => PageKind::IbufFreeList,
            5 => PageKind::IbufBitmap,
            6 => PageKind::Sys,
            7 => PageKind::TrxSys,
            8 => PageKind::FspHeader,
            9 => PageKind::Xdes,
            10 => PageKind::Blob,
            11 => PageKind::ZBlob,
            12 => PageKind::ZBlob2,
            13 => PageKind::Unknown,
            14 | 34354 => PageKind::PageCompressed,
            15 => PageKind::Encrypted,
            16 | 37401 => PageKind::CompressedAndEncrypted,
            17 => PageKind::EncryptedRTree,
            18 if sdi => PageKind::SdiBlob,
            18 => PageKind::Instant,
            19 => PageKind::SdiZBlob,
            21 => PageKind::RsegArray,
            22 => PageKind::LobIndex,
            23 => PageKind::LobData,
            24 => PageKind::LobFirst,
            25 => PageKind::ZLobFirst,
            26 => PageKind::ZLobData,
            27 => PageKind::ZLobIndex,
            28 => PageKind::ZLobFragment,
            29 => PageKind::ZLobFragmentEntry,
            17853 => PageKind::Sdi,
            17854 => PageKind::RTree,
            17855 => PageKind::Index,
            other => PageKind::Other(other),
        }
    }

    /// Returns whether the page is a B-tree page with records.
    pub fn is_index(self) -> bool {
        matches!(self, PageKind::Index | PageKind::Instant | PageKind::Sdi)
    }
}

impl fmt::Display for PageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            PageKind::Zeroes => "zeroes",
            PageKind::Allocated => "ALLOCATED",
            PageKind::UndoLog => "UNDO_LOG",
            PageKind::Inode => "INODE",
            PageKind::IbufFreeList => "IBUF_FREE_LIST",
            PageKind::IbufBitmap => "IBUF_BITMAP",
            PageKind::Sys => "SYS",
            PageKind::TrxSys => "TRX_SYS",
            PageKind::FspHeader => "FSP_HDR",
            PageKind::Xdes => "XDES",
            PageKind::Blob => "BLOB",
            PageKind::ZBlob => "ZBLOB",
            PageKind::ZBlob2 => "ZBLOB2",
            PageKind::Unknown => "UNKNOWN",
            PageKind::PageCompressed => "COMPRESSED",
            PageKind::Encrypted => "ENCRYPTED",
            PageKind::CompressedAndEncrypted => "COMPRESSED_AND_ENCRYPTED",
            PageKind::EncryptedRTree => "ENCRYPTED_RTREE",
            PageKind::Instant => "INSTANT",
            PageKind::SdiBlob => "SDI_BLOB",
            PageKind::SdiZBlob => "SDI_ZBLOB",
            PageKind::RsegArray => "RSEG_ARRAY",
            PageKind::LobIndex => "LOB_INDEX",
            PageKind::LobData => "LOB_DATA",
            PageKind::LobFirst => "LOB_FIRST",
            PageKind::ZLobFirst => "ZLOB_FIRST",
            PageKind::ZLobData => "ZLOB_DATA",
            PageKind::ZLobIndex => "ZLOB_INDEX",
            PageKind::ZLobFragment => "ZLOB_FRAG",
            PageKind::ZLobFragmentEntry => "ZLOB_FRAG_ENTRY",
            PageKind::Sdi => "SDI",
            PageKind::RTree => "RTREE",
            PageKind::Index => "INDEX",
            PageKind::Other(number) => return write!(f, "type {number}"),
        };
        f.write_str(name)
    }
}
