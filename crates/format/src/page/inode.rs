//! File segments: the pages that belong to a B-tree's leaves, its branch pages, or another owner.
//!
//! ```text
//! 38 list node (12 bytes)
//! 50 + n * len   0 segment id   8 used pages in NOT_FULL   12 FREE   28 NOT_FULL   44 FULL
//!               60 magic 97937874   64 single pages, 4 bytes each, half an extent of them
//! ```
//!
//! `fsp0fsp.h`, MySQL 8.0.

use super::list::{ListBase, ListNode};
use super::{DATA, FileAddr, Page, PageKind};
use crate::{Error, PageNo, PageSize, Result, bytes};

/// `FSEG_MAGIC_N_VALUE`.
const MAGIC: u32 = 97_937_874;
/// `FSEG_ARR_OFFSET`.
const SEGMENTS: usize = DATA + 12;

/// A page of file segments.
#[derive(Clone, Copy, Debug)]
pub struct InodePage<'a> {
    page: Page<'a>,
}

/// A file segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address of the segment's entry, to which a segment header points.
    pub addr: FileAddr,
    /// Segment id; 0 for an unused entry.
    pub id: u64,
    /// Used pages in the extents of `not_full`.
    pub not_full_n_used: u32,
    /// Extents with no used page.
    pub free: ListBase,
    /// Extents with some used pages.
    pub not_full: ListBase,
    /// Extents without a free page.
    pub full: ListBase,
    /// Single pages of the segment.
    pub fragments: Vec<PageNo>,
}

impl Segment {
    /// Returns the pages that the segment reserves, used or not (`fseg_n_reserved_pages_low`, `fsp0fsp.cc`).
    pub fn reserved_pages(&self, page_size: PageSize) -> u64 {
        let lists = [&self.free, &self.not_full, &self.full];
        let extents: u64 = lists.iter().map(|list| u64::from(list.len)).sum();
        self.fragments.len() as u64 + extents * u64::from(page_size.extent_pages())
    }
}

fn fragment_slots(page_size: PageSize) -> usize {
    page_size.extent_pages() as usize / 2
}

impl<'a> InodePage<'a> {
    /// Parses an `INODE` page.
    pub fn parse(page: Page<'a>) -> Result<InodePage<'a>> {
        match page.kind() {
            PageKind::Inode => Ok(InodePage { page }),
            kind => Err(page.corrupt(format!("{kind} where file segments should be"))),
        }
    }

    /// Returns the address of the page's list node, and its neighbours in the list of `INODE`
    /// pages.
    pub fn list_node(&self) -> Result<(FileAddr, ListNode)> {
        let addr = FileAddr { page_no: self.page.page_no(), offset: DATA as u16 };
        Ok((addr, ListNode::read(self.page.bytes(), DATA)?))
    }

    /// Returns the number of entries on the page.
    pub fn places(&self) -> usize {
        let page_size = self.page.format().page_size;
        (self.page.bytes().len() - SEGMENTS - 10) / (64 + 4 * fragment_slots(page_size))
    }

    /// Returns the segment whose entry is at byte `offset`, which a segment header contains.
    pub fn segment_at(&self, offset: u16) -> Result<Segment> {
        let page_size = self.page.format().page_size;
        self.read(offset as usize, page_size).map_err(|error| self.page.locate_error(error))
    }

    /// Returns all segments in use.
    pub fn segments(&self) -> Result<Vec<Segment>> {
        let len = 64 + 4 * fragment_slots(self.page.format().page_size);
        let mut segments = Vec::new();
        for number in 0..self.places() {
            let at = SEGMENTS + number * len;
            if bytes::u64_at(self.page.bytes(), at)? != 0 {
                segments.push(self.segment_at(at as u16)?);
            }
        }
        Ok(segments)
    }

    fn read(&self, at: usize, page_size: PageSize) -> Result<Segment> {
        let page = self.page.bytes();
        let magic = bytes::u32_at(page, at + 60)?;
        if magic != MAGIC {
            return Err(Error::corrupt(format!("no file segment here (magic {magic})"))
                .at_offset(at as u32));
        }
        let mut fragments = Vec::new();
        for slot in 0..fragment_slots(page_size) {
            fragments.extend(PageNo(bytes::u32_at(page, at + 64 + 4 * slot)?).non_null());
        }
        Ok(Segment {
            addr: FileAddr { page_no: self.page.page_no(), offset: at as u16 },
            id: bytes::u64_at(page, at)?,
            not_full_n_used: bytes::u32_at(page, at + 8)?,
            free: ListBase::read(page, at + 12)?,
            not_full: ListBase::read(page, at + 28)?,
            full: ListBase::read(page, at + 44)?,
            fragments,
        })
    }
}

/// Reads a segment header (`fseg_header_t`): 4 bytes tablespace, 4 page, 2 offset.
pub(super) fn segment_header(page: &[u8], at: usize) -> Result<Option<FileAddr>> {
    FileAddr::read(page, at + 4)
}
