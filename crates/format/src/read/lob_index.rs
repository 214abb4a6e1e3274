//! The index of a MySQL 8 LOB: a list of entries that lead to the data pages of the row's version.
//!
//! ```text
//! LOB
//! first page   38 format   39 flags   40 version   44 last trx   50 its undo number
//!              54 data length   58 trx   64 list of entries   80 list of free entries
//!              96 ten entries   696 data
//! index page   38 format   39 entries
//! data page    38 format   39 data length   43 trx   49 data
//! entry        0 previous   6 next   12 list of older versions   28 trx   34 trx that changed it
//!              40 undo numbers   48 data page   52 data length (2)   56 version  (60 bytes)
//!
//! ZLOB, with ROW_FORMAT=COMPRESSED
//! first page   the same to 63   88 list of entries   136 entries, then those of fragments, then data
//! entry        the same to 47   48 first page of the stream   52 fragment (2)   54 data length
//!              58 length of the stream   62 version  (66 bytes)
//! ```
//!
//! A partial update adds a version: the new entry takes the place of the old one, which moves to
//! the new one's list of older versions. A row sees the newest entry that is not newer than the
//! version in its reference (`lob::read`, `lob0impl.cc`; `z_read`, `zlob0read.cc`, MySQL 9.7).

use crate::lob_ref::LobRef;
use crate::page::{FileAddr, ListBase, Page, PageKind};
use crate::{Error, PageNo, Result, bytes};

/// Offset of the first page's data, behind ten entries of 60 bytes.
const FIRST_DATA: usize = 696;
const DATA_PAGE_DATA: usize = 49;
/// The most bytes of a ZLOB's part (`Z_CHUNK_SIZE`, `lob0lob.h`, MySQL 8.0); parts of a LOB are shorter.
const ZLOB_PART_BYTES: u32 = 128 << 10;
/// Bytes of a page's trailer.
pub(super) const TRAILER: usize = 8;
/// The maximum number of index pages kept; most are visited once, in order.
const MAX_KEPT: usize = 64;

/// The form of a LOB, which its first page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Lob,
    ZLob,
}

impl Form {
    /// The offset of the list of entries on the first page.
    fn list_at(self) -> usize {
        match self {
            Form::Lob => 64,
            Form::ZLob => 88,
        }
    }

    fn index_kind(self) -> PageKind {
        match self {
            Form::Lob => PageKind::LobIndex,
            Form::ZLob => PageKind::ZLobIndex,
        }
    }
}

/// A part of the LOB. In a ZLOB it is a zlib stream of its own, on a chain of pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The first page of the part, which in a LOB is the only one.
    pub page_no: PageNo,
    /// Bytes of the part.
    pub len: u32,
    /// ZLOB: bytes of the stream.
    pub stream_bytes: u32,
    /// ZLOB: the number of the fragment at the stream's end, if it ends in one.
    pub fragment: u16,
}

impl Part {
    /// Requires lengths that a server can write: a page of a damaged ZLOB can be its own successor, and would be read
    /// until its part is whole.
    fn require_possible(&self) -> Result<()> {
        // More than zlib's `deflateBound` of the part.
        let stream_most = u64::from(self.len) + u64::from(self.len) / 4 + 64;
        if self.len > ZLOB_PART_BYTES || u64::from(self.stream_bytes) > stream_most {
            return Err(Error::corrupt(format!(
                "a LOB's part has {} bytes, and its stream {}: a part has at most {ZLOB_PART_BYTES}",
                self.len, self.stream_bytes
            )));
        }
        Ok(())
    }
}

/// A walk through the index; it ends when all parts are found.
#[derive(Clone, Debug)]
pub(super) struct IndexWalk {
    lob: LobRef,
    form: Form,
    at: Option<FileAddr>,
    parts: Vec<Part>,
    next: usize,
    /// Total bytes of the parts found.
    found: u64,
    /// The first page, kept when it is needed again after it was passed; empty before.
    first: Box<[u8]>,
    kept: Vec<(PageNo, Box<[u8]>)>,
    /// Entries that may still be visited: more means a cycle.
    budget: u64,
}

/// The fields of an index entry that reading needs.
struct Entry {
    next: Option<FileAddr>,
    versions: ListBase,
    part: Part,
    version: u32,
}

impl Entry {
    fn read(page: &[u8], at: usize, form: Form) -> Result<Entry> {
        let page_no = PageNo(bytes::u32_at(page, at + 48)?);
        let (part, version_at) = match form {
            Form::Lob => {
                // Two bytes; the next two are not used.
                let len = u32::from(bytes::u16_at(page, at + 52)?);
                (Part { page_no, len, stream_bytes: 0, fragment: 0 }, 56)
            }
            Form::ZLob => {
                let part = Part {
                    page_no,
                    len: bytes::u32_at(page, at + 54)?,
                    stream_bytes: bytes::u32_at(page, at + 58)?,
                    fragment: bytes::u16_at(page, at + 52)?,
                };
                (part, 62)
            }
        };
        Ok(Entry {
            next: FileAddr::read(page, at + 6)?,
            versions: ListBase::read(page, at + 12)?,
            part,
            version: bytes::u32_at(page, at + version_at)?,
        })
    }
}

impl IndexWalk {
    /// Starts the walk at the first page.
    pub(super) fn start(page: Page<'_>, lob: LobRef, form: Form) -> Result<IndexWalk> {
        let list = ListBase::read(page.bytes(), form.list_at())?;
        Ok(IndexWalk {
            lob,
            form,
            at: list.first,
            parts: Vec::new(),
            next: 0,
            found: 0,
            first: Box::default(),
            kept: Vec::new(),
            budget: u64::from(page.format().size_pages) * 4 + 1024,
        })
    }

    /// Continues with `page`; returns the next needed index page, or `None` at the end.
    pub(super) fn advance(&mut self, page: Page<'_>) -> Result<Option<PageNo>> {
        let is_first = page.page_no() == self.lob.page_no;
        if !is_first && page.kind() != self.form.index_kind() {
            return Err(wrong_kind(page.kind()));
        }
        while let Some(at) = self.at {
            if self.found >= u64::from(self.lob.len) {
                break;
            }
            let entry = match self.entry(at, page)? {
                Ok(entry) => entry,
                Err(missing) => return Ok(Some(self.suspend(page, missing))),
            };
            let seen = match self.version_seen(&entry, page)? {
                Ok(seen) => seen,
                Err(missing) => return Ok(Some(self.suspend(page, missing))),
            };
            if seen.page_no != PageNo::NULL {
                seen.require_possible()?;
                self.found += u64::from(seen.len);
                self.parts.push(seen);
            }
            self.at = entry.next;
        }
        if self.found < u64::from(self.lob.len) {
            return Err(Error::corrupt(format!(
                "the LOB's reference gives it {} bytes, its index {}",
                self.lob.len, self.found
            )));
        }
        // The first page nearly always holds the first part alone, which is taken at once.
        let lob_page = self.lob.page_no;
        let is_needed = self.form == Form::ZLob
            || self.parts.iter().skip(1).any(|part| part.page_no == lob_page);
        if is_first && is_needed {
            self.first = page.bytes().into();
        }
        Ok(None)
    }

    /// Keeps `page` while `missing` is fetched.
    fn suspend(&mut self, page: Page<'_>, missing: PageNo) -> PageNo {
        if page.page_no() == self.lob.page_no {
            self.first = page.bytes().into();
        } else {
            if self.kept.len() >= MAX_KEPT {
                self.kept.remove(0);
            }
            self.kept.push((page.page_no(), page.bytes().into()));
        }
        missing
    }

    /// Returns the entry at `at`, or the page to fetch first.
    fn entry(
        &mut self,
        at: FileAddr,
        current: Page<'_>,
    ) -> Result<std::result::Result<Entry, PageNo>> {
        self.budget = self.budget.checked_sub(1).ok_or_else(|| {
            Error::corrupt("the LOB's index has more entries than its file has pages: a cycle")
        })?;
        let page = if at.page_no == current.page_no() {
            current.bytes()
        } else if at.page_no == self.lob.page_no {
            &self.first
        } else {
            match self.kept.iter().find(|kept| kept.0 == at.page_no) {
                Some(kept) => &kept.1,
                None => return Ok(Err(at.page_no)),
            }
        };
        Entry::read(page, at.offset as usize, self.form).map(Ok)
    }

    /// Returns the part that the row's version of the LOB has in place of `entry`.
    fn version_seen(
        &mut self,
        entry: &Entry,
        current: Page<'_>,
    ) -> Result<std::result::Result<Part, PageNo>> {
        let newest = entry.part;
        if entry.version <= self.lob.version {
            return Ok(Ok(newest));
        }
        let mut older = entry.versions.first;
        while let Some(at) = older {
            let entry = match self.entry(at, current)? {
                Ok(entry) => entry,
                Err(missing) => return Ok(Err(missing)),
            };
            if entry.version <= self.lob.version {
                return Ok(Ok(entry.part));
            }
            older = entry.next;
        }
        // The server does the same.
        Ok(Ok(newest))
    }

    /// Returns all parts, in order.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the next part and advances past it.
    pub(super) fn next_part(&mut self) -> Option<Part> {
        let part = self.parts.get(self.next).copied();
        self.next += 1;
        part
    }

    /// Returns the form of the LOB.
    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Returns the number of the first page.
    pub(super) fn first_page_no(&self) -> PageNo {
        self.lob.page_no
    }

    /// Returns the first page, which a ZLOB's walk keeps.
    pub(super) fn first_page(&self) -> &[u8] {
        &self.first
    }

    /// Returns the next part's data when it is on the first page and that page is given, and
    /// advances past it.
    pub(super) fn first_page_part<'p>(
        &'p mut self,
        first_page: Option<&'p [u8]>,
    ) -> Result<Option<&'p [u8]>> {
        match self.parts.get(self.next) {
            Some(part) if part.page_no == self.lob.page_no => {
                self.next += 1;
                let page = first_page.unwrap_or(&self.first);
                part_of(page, 54, FIRST_DATA, part.len).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Returns the data of a LOB data page, which must be as long as its index entry says.
pub(super) fn data_of(page: &[u8], len: u32) -> Result<&[u8]> {
    part_of(page, 39, DATA_PAGE_DATA, len)
}

fn part_of(page: &[u8], len_at: usize, data_at: usize, expected: u32) -> Result<&[u8]> {
    let len = bytes::u32_at(page, len_at)?;
    let room = page.len().saturating_sub(data_at + TRAILER);
    if len != expected || len as usize > room {
        return Err(Error::corrupt(format!(
            "a LOB's page holds {len} bytes, its index says {expected}, it has room for {room}"
        )));
    }
    bytes::slice(page, data_at, len as usize)
}

pub(super) fn wrong_kind(kind: PageKind) -> Error {
    Error::corrupt(format!("a page of kind {kind} where an off-page column's should be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_lengths_that_servers_write() {
        let part = |len, stream_bytes| Part { page_no: PageNo(5), len, stream_bytes, fragment: 0 };
        // Bytes that do not compress make a stream that is a little longer.
        for (len, stream_bytes) in [(131_072, 131_117), (1, 9), (131_072, 140)] {
            assert_eq!(part(len, stream_bytes).require_possible(), Ok(()));
        }
        // What a fuzzer made: 4 GB of a page that is its own successor.
        for (len, stream_bytes) in [(131_072, 0xFFFF_FFFF), (131_073, 140), (100, 200)] {
            assert!(part(len, stream_bytes).require_possible().is_err(), "{len}, {stream_bytes}");
        }
    }
}
