//! The properties that all pages of a file have once they are opened.

use crate::{Error, PageNo, PageSize, Result, SpaceId};

/// Properties that every page of a file has once it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFormat {
    /// Tablespace id that each page must carry.
    pub space: SpaceId,
    /// Bytes of a page in memory (the logical page size, `UNIV_PAGE_SIZE`).
    pub page_size: PageSize,
    /// Bytes of a page in the file (the physical page size), by which pages are addressed: less than the logical
    /// size only with ROW_FORMAT=COMPRESSED (`FSP_FLAGS_GET_ZIP_SSIZE`, `fsp0types.h`, MySQL 8.0).
    pub physical_bytes: u32,
    /// Whether the file is of ROW_FORMAT=COMPRESSED: B-tree pages are stored compressed, the others as in memory,
    /// with the physical size.
    pub is_zip: bool,
    /// Whether the file is MariaDB's `full_crc32`, with other places for checksum and LSN.
    pub full_crc32: bool,
    /// Whether the file is MySQL 8's with SDI; decides the meaning of page type 18.
    pub sdi: bool,
    /// Pages in the file: a pointer beyond is damage.
    pub size_pages: u32,
}

impl PageFormat {
    /// Returns the bytes of a page in the file, for indexing memory.
    pub fn physical_len(&self) -> usize {
        self.physical_bytes as usize
    }

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
