//! The common properties of a file's pages, and the form in which the file stores them.

use crate::{Error, PageNo, PageSize, Result, SpaceId};

/// Properties that every page of a file has once it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFormat {
    /// Tablespace id that each page must carry.
    pub space: SpaceId,
    /// Bytes of a page in memory (the logical page size, `UNIV_PAGE_SIZE`).
    pub page_size: PageSize,
    /// Whether the file is MariaDB's `full_crc32`, with other places for checksum and LSN.
    pub full_crc32: bool,
    /// Whether the file is MySQL 8's with SDI; decides the meaning of page type 18.
    pub sdi: bool,
    /// Pages in the file: a pointer beyond is damage.
    pub size_pages: u32,
}

impl PageFormat {
    /// Refuses a null pointer, and a pointer to the file's first page or past its end.
    pub fn require_inside(&self, page_no: PageNo, what: &str) -> Result<()> {
        if page_no.0 == 0 || page_no.0 >= self.size_pages {
            let number = page_no.non_null().map_or("FIL_NULL".into(), |page| page.to_string());
            return Err(Error::corrupt(format!(
                "{what} points to page {number} of {} pages",
                self.size_pages
            )));
        }
        Ok(())
    }
}

/// The properties of a file's pages, in the file and in memory: the input of [`super::open`].
///
/// A page has two sizes. The *physical* size is its size in the file, by which pages are addressed:
/// 1 to 16 KiB with ROW_FORMAT=COMPRESSED, else the logical size. The *logical* size
/// ([`PageFormat::page_size`]) is its size in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageContext {
    format: PageFormat,
    physical_bytes: u32,
}

impl PageContext {
    /// Creates the context of a file whose pages are stored as they are in memory.
    pub fn plain(format: PageFormat) -> PageContext {
        PageContext { format, physical_bytes: format.page_size.bytes() }
    }

    /// Creates the context of a file whose pages take `physical_bytes` each
    /// (`FSP_FLAGS_GET_ZIP_SSIZE`, `fsp0types.h`, MySQL 8.0).
    pub(super) fn compressed(format: PageFormat, physical_bytes: u32) -> PageContext {
        PageContext { format, physical_bytes }
    }

    /// Returns the properties of an opened page.
    pub fn format(&self) -> PageFormat {
        self.format
    }

    /// Returns the bytes of a page in the file.
    pub fn physical_bytes(&self) -> usize {
        self.physical_bytes as usize
    }

    /// Returns whether pages are stored as they are in memory.
    pub(super) fn is_plain(&self) -> bool {
        self.physical_bytes == self.format.page_size.bytes()
    }
}
