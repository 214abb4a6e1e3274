//! ZLOB: a compressed off-page column of MySQL 8 as parts of up to 128 KiB, each a zlib stream of its own.
//!
//! A stream lies on a chain of pages by `FIL_PAGE_NEXT`, which may end in a fragment of a page that several
//! streams share:
//!
//! ```text
//! first page      54 data length   data at an offset by the page's size
//! data page       39 data length   49 data
//! fragment page   backwards from the end: 10 slots   12 + 2n the place of fragment n
//!                 there: 0 previous   2 next   4 length, with these 8 bytes   6 number   8 data
//! ```
//!
//! `z_read_strm`, `zlob0read.cc`; `zlob0first.cc`, `lob0impl.h`, MySQL 9.7.

use super::lob_index::{IndexWalk, Part, wrong_kind};
use crate::inflate::inflate;
use crate::page::{Page, PageKind};
use crate::{Error, PageNo, Result, bytes};

/// The reading of a ZLOB whose parts are known.
#[derive(Debug)]
pub(super) struct ZLob {
    walk: IndexWalk,
    part: Option<Part>,
    /// The next page of the part's stream.
    next: PageNo,
    stream: Vec<u8>,
}

impl ZLob {
    pub fn new(walk: IndexWalk) -> ZLob {
        ZLob { walk, part: None, next: PageNo::NULL, stream: Vec::new() }
    }

    /// Appends the parts whose streams are complete, of the `left` bytes that are left; returns the page that is
    /// needed next.
    pub fn advance(&mut self, left: &mut u32, out: &mut Vec<u8>) -> Result<Option<PageNo>> {
        while *left > 0 {
            let Some(part) = self.part.or_else(|| self.begin_part()) else {
                return Err(Error::corrupt("a LOB ends before the length in its reference"));
            };
            if self.stream.len() >= part.stream_bytes as usize {
                self.end_part(part, left, out)?;
            } else if self.next == self.walk.first_page_no() {
                self.take_first_page(part)?;
            } else {
                return Ok(Some(self.next));
            }
        }
        Ok(None)
    }

    fn begin_part(&mut self) -> Option<Part> {
        self.part = self.walk.next_part();
        self.next = self.part?.page_no;
        self.stream.clear();
        self.part
    }

    fn end_part(&mut self, part: Part, left: &mut u32, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let stream = bytes::slice(&self.stream, 0, part.stream_bytes as usize)?;
        inflate(stream, part.len as usize, out)?;
        out.truncate(start + part.len.min(*left) as usize);
        *left -= part.len.min(*left);
        self.part = None;
        Ok(())
    }

    fn take_first_page(&mut self, part: Part) -> Result<()> {
        let page = self.walk.first_page();
        let len = bytes::u32_at(page, 54)? as usize;
        let data = bytes::slice(page, first_data_at(page.len())?, len)?;
        let next = PageNo(bytes::u32_at(page, 12)?);
        append(&mut self.stream, data, part)?;
        self.next = next;
        Ok(())
    }

    /// Takes the page that was needed.
    pub fn take(&mut self, page: Page<'_>) -> Result<()> {
        let Some(part) = self.part else { return Ok(()) };
        let data = match page.kind() {
            PageKind::ZLobData => {
                bytes::slice(page.bytes(), 49, bytes::u32_at(page.bytes(), 39)? as usize)?
            }
            PageKind::ZLobFragment => fragment(page.bytes(), part.fragment)?,
            kind => return Err(wrong_kind(kind)),
        };
        append(&mut self.stream, data, part)?;
        self.next = match page.kind() {
            PageKind::ZLobData => PageNo(bytes::u32_at(page.bytes(), 12)?),
            _ => PageNo::NULL,
        };
        Ok(())
    }
}

/// Appends a page's data to a part's stream, which must be incomplete and grow: a chain of empty pages could
/// be a cycle.
fn append(stream: &mut Vec<u8>, data: &[u8], part: Part) -> Result<()> {
    if data.is_empty() || stream.len() + data.len() > part.stream_bytes as usize {
        return Err(Error::corrupt(format!(
            "a page has {} bytes of a LOB's part, whose stream has {} and of which {} were read",
            data.len(),
            part.stream_bytes,
            stream.len()
        )));
    }
    stream.extend_from_slice(data);
    Ok(())
}

fn fragment(page: &[u8], number: u16) -> Result<&[u8]> {
    let slot = page.len().checked_sub(12 + 2 * usize::from(number));
    let slot =
        slot.ok_or_else(|| Error::corrupt(format!("a LOB's fragment {number} has no slot")))?;
    let at = usize::from(bytes::u16_at(page, slot)?);
    let stored = bytes::u16_at(page, at + 6)?;
    if stored != number {
        return Err(Error::corrupt(format!("a LOB's fragment {number} says it is {stored}")));
    }
    let len = usize::from(bytes::u16_at(page, at + 4)?).saturating_sub(8);
    bytes::slice(page, at + 8, len)
}

/// The offset of the first page's data, behind the entries of the index and of the fragments, whose numbers go
/// by the physical size of a page (`z_first_page_t`, `zlob0first.cc`, MySQL 9.7).
fn first_data_at(page_bytes: usize) -> Result<usize> {
    let (index_entries, fragment_entries) = match page_bytes {
        16384 => (100, 200),
        8192 => (80, 100),
        4096 => (40, 40),
        2048 => (20, 20),
        1024 => (5, 5),
        _ => return Err(Error::corrupt(format!("a ZLOB on a page of {page_bytes} bytes"))),
    };
    Ok(136 + 66 * index_entries + 24 * fragment_entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pages_data_begins_where_servers_put_it() {
        let places = [16384, 8192, 4096, 2048, 1024].map(|size| first_data_at(size).unwrap());
        assert_eq!(places, [11536, 7816, 3736, 1936, 586]);
        assert!(first_data_at(32768).is_err());
    }
}
