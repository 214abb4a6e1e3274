//! Extent descriptors: the owner of each extent, and which of its pages are free.
//!
//! Page 0 and every page after it whose number is a multiple of the physical page size in bytes describe the
//! extents of as many pages, from themselves on:
//!
//! ```text
//! 150 + n * len   0 segment id   8 list node (12 bytes)   20 state   24 two bits a page: free, clean
//! ```
//!
//! `fsp0fsp.h`, MySQL 8.0.

use super::fsp::{EXTENTS, extent_len};
use super::{FileAddr, ListNode, Page, PageFormat, PageKind};
use crate::{PageNo, Result, bytes};

/// A page of extent descriptors.
#[derive(Clone, Copy, Debug)]
pub struct ExtentsPage<'a> {
    page: Page<'a>,
}

/// The state of an extent, which names its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentState {
    /// Never initialised.
    NotInited,
    /// Wholly free.
    Free,
    /// Used for single pages, some free.
    FreeFrag,
    /// Used for single pages, none free.
    FullFrag,
    /// Owned by a file segment.
    Segment,
    /// A fragment extent leased to a segment (MySQL 8).
    SegmentFrag,
}

/// One extent's descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'a> {
    /// The first page of the extent.
    pub first: PageNo,
    /// Pages in the extent.
    pub pages: u32,
    /// The state of the extent.
    pub state: ExtentState,
    /// Id of the owning segment, if any.
    pub segment: u64,
    /// Address of the extent's list node.
    pub addr: FileAddr,
    /// The neighbours in the list that holds the extent.
    pub node: ListNode,
    bitmap: &'a [u8],
}

impl<'a> ExtentsPage<'a> {
    /// Parses an `FSP_HDR` or `XDES` page.
    pub fn parse(page: Page<'a>) -> Result<ExtentsPage<'a>> {
        match page.kind() {
            PageKind::FspHeader | PageKind::Xdes => Ok(ExtentsPage { page }),
            kind => Err(page.corrupt(format!("{kind} where extent descriptors should be"))),
        }
    }

    /// Returns whether page `page_no` is a page of extent descriptors.
    pub fn is_place(page_no: PageNo, format: PageFormat) -> bool {
        page_no.0.is_multiple_of(format.physical_bytes)
    }

    /// Returns the descriptors in file order. An unknown state is damage.
    pub fn extents(&self) -> impl Iterator<Item = Result<Extent<'a>>> + use<'a> {
        let page = self.page;
        let format = page.format();
        let count = format.physical_bytes / format.page_size.extent_pages();
        (0..count).map(move |number| extent(page, number).map_err(|error| page.locate_error(error)))
    }
}

fn extent<'a>(page: Page<'a>, number: u32) -> Result<Extent<'a>> {
    let page_size = page.format().page_size;
    let len = extent_len(page_size);
    let bytes = bytes::slice(page.bytes(), EXTENTS + len * number as usize, len)?;
    let first = PageNo(page.page_no().0.saturating_add(number * page_size.extent_pages()));
    let state = match bytes::u32_at(bytes, 20)? {
        0 => ExtentState::NotInited,
        1 => ExtentState::Free,
        2 => ExtentState::FreeFrag,
        3 => ExtentState::FullFrag,
        4 => ExtentState::Segment,
        5 => ExtentState::SegmentFrag,
        state => {
            return Err(page.corrupt(format!(
                "the extent at page {first} has state {state}, which does not exist"
            )));
        }
    };
    let node_at = EXTENTS + len * number as usize + 8;
    Ok(Extent {
        first,
        addr: FileAddr { page_no: page.page_no(), offset: node_at as u16 },
        node: ListNode::read(page.bytes(), node_at)?,
        pages: page_size.extent_pages(),
        state,
        segment: bytes::u64_at(bytes, 0)?,
        bitmap: bytes::slice(bytes, 24, len - 24)?,
    })
}

impl Extent<'_> {
    /// Returns whether the `nth` page of the extent is free.
    pub fn is_free(&self, nth: u32) -> bool {
        let bit = nth as usize * 2;
        bytes::u8_at(self.bitmap, bit / 8).is_ok_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// Returns the number of free pages in the extent.
    pub fn n_free(&self) -> u32 {
        (0..self.pages).filter(|&nth| self.is_free(nth)).count() as u32
    }
}
