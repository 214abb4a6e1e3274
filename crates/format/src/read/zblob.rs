//! ZBLOB: a compressed off-page column as one zlib stream over a chain of pages.
//!
//! ```text
//! reference's offset 12: next page at 12 (`FIL_PAGE_NEXT`), data from 38; another: next page there, data 4 on
//! the pages behind the first: next page at 12, data from 38; data reaches to the end of the page
//! ```
//!
//! `zReader`, `lob0lob.cc`, MySQL 8.0; `btr_copy_zblob_prefix`, `btr0cur.cc`, MariaDB 10.11.

use crate::inflate::Inflater;
use crate::lob_ref::LobRef;
use crate::page::{DATA, Page};
use crate::{Error, PageNo, Result, bytes};

/// `FIL_PAGE_NEXT`.
const NEXT: usize = 12;

/// The reading of a ZBLOB.
#[derive(Debug)]
pub(super) struct ZBlob {
    /// The offset of the next page's number on the page to come.
    next_at: usize,
    inflater: Inflater,
}

impl ZBlob {
    pub fn new(lob: LobRef) -> ZBlob {
        ZBlob { next_at: lob.version as usize, inflater: Inflater::new() }
    }

    /// Takes the next page and appends what it completes, of the `left` bytes that are left; returns the number
    /// of the page after it.
    pub fn take(&mut self, page: Page<'_>, left: usize, out: &mut Vec<u8>) -> Result<PageNo> {
        let next = PageNo(bytes::u32_at(page.bytes(), self.next_at)?);
        let data_at = if self.next_at == NEXT { DATA } else { self.next_at + 4 };
        self.next_at = NEXT;
        let data = bytes::slice(page.bytes(), data_at, page.bytes().len().saturating_sub(data_at))?;
        let start = out.len();
        let has_ended = self.inflater.feed(data, left, out)?;
        let given = out.len() - start;
        if has_ended && given < left {
            return Err(Error::corrupt(format!(
                "a compressed off-page column ends {} bytes before the length in its reference",
                left - given
            )));
        }
        Ok(next)
    }
}
