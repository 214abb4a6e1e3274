//! References to off-page columns, stored at the end of the column's bytes in its record.
//!
//! ```text
//! 0 tablespace   4 page   8 offset of the header, 38 (BLOB), or version (MySQL 8 LOB)
//! 12 flags: 0x80 not owner, 0x40 inherited, 0x20 being written   16 length
//! ```
//!
//! `lob0lob.h`, MySQL 9.7; `btr0cur.h`, MariaDB 10.11.

use crate::{Error, PageNo, Result, SpaceId, bytes};

/// A reference to an off-page column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LobRef {
    /// Tablespace id as stored; servers ignore it when they read their own files.
    pub space: SpaceId,
    /// Number of the first page.
    pub page_no: PageNo,
    /// BLOB: offset of the header on the first page. LOB: version of the LOB that belongs to the
    /// row.
    pub version: u32,
    /// Bytes stored off-page, without those in the record itself.
    pub len: u32,
}

impl LobRef {
    /// Bytes of a reference (`FIELD_REF_SIZE`).
    pub const LEN: usize = 20;

    /// Parses the reference at the end of a column's bytes.
    pub fn parse(reference: &[u8; LobRef::LEN]) -> Result<LobRef> {
        if reference == &[0; LobRef::LEN] {
            return Err(Error::corrupt(
                "the off-page column was never written: its row's insert did not finish",
            ));
        }
        let flags = bytes::u8_at(reference, 12)?;
        if flags & 0x20 != 0 {
            return Err(Error::corrupt(
                "the off-page column was being written when the server stopped",
            ));
        }
        let (high, len) =
            (bytes::u32_at(reference, 12)? & 0x1FFF_FFFF, bytes::u32_at(reference, 16)?);
        if high != 0 || len == 0 {
            return Err(Error::corrupt(format!(
                "the off-page column's reference gives it {high:#x}{len:08x} bytes"
            )));
        }
        Ok(LobRef {
            space: SpaceId(bytes::u32_at(reference, 0)?),
            page_no: PageNo(bytes::u32_at(reference, 4)?),
            version: bytes::u32_at(reference, 8)?,
            len,
        })
    }
}
