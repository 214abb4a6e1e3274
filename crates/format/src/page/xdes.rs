//! Extent descriptors: who owns each run of pages, and which of them are free.
//!
//! Page 0 and every `page_size`-th page after it describe the extents of the `page_size` pages
//! from themselves on:
//!
//! ```text
//! 150 + n * len   0 segment id   8 list node (12 bytes)   20 state   24 two bits a page: free, clean
//! ```
//!
//! `fsp0fsp.h`, MySQL 8.0.

use super::fsp::{EXTENTS, extent_len};
use super::{FileAddr, ListNode, Page, PageKind};
use crate::{PageNo, PageSize, Result, bytes};

/// A page of extent descriptors.
#[derive(Clone, Copy, Debug)]
pub struct ExtentsPage<'a> {
    page: Page<'a>,
}

/// Who owns an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentState {
    /// Never initialised.
    NotInited,
    /// All pages free.
    Free,
    /// Single pages, some free.
    FreeFrag,
    /// Single pages, none free.
    FullFrag,
    /// Of a file segment.
    Segment,
    /// A fragment extent leased to a segment (MySQL 8).
    SegmentFrag,
}

/// One extent's descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'a> {
    /// Its first page.
    pub first: PageNo,
    /// Pages in it.
    pub pages: u32,
    /// Who owns it.
    pub state: ExtentState,
    /// The owner, when it is a segment.
    pub segment: u64,
    /// Where its list node is.
    pub addr: FileAddr,
    /// Its neighbours in the list it is in.
    pub node: ListNode,
    bitmap: &'a [u8],
}

impl<'a> ExtentsPage<'a> {
    /// Takes an `FSP_HDR` or `XDES` page.
    pub fn parse(page: Page<'a>) -> Result<ExtentsPage<'a>> {
        match page.kind() {
            PageKind::FspHeader | PageKind::Xdes => Ok(ExtentsPage { page }),
            kind => Err(page.corrupt(format!("{kind} where extent descriptors should be"))),
        }
    }

    /// Whether page `page_no` is one of extent descriptors.
    pub fn is_place(page_no: PageNo, page_size: PageSize) -> bool {
        page_no.0.is_multiple_of(page_size.bytes())
    }

    /// The descriptors in file order. An unknown state is damage.
    pub fn extents(&self) -> impl Iterator<Item = Result<Extent<'a>>> + use<'a> {
        let page = self.page;
        let page_size = page.format().page_size;
        let count = page_size.bytes() / page_size.extent_pages();
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
    /// Whether the extent's `nth` page is free.
    pub fn is_free(&self, nth: u32) -> bool {
        let bit = nth as usize * 2;
        bytes::u8_at(self.bitmap, bit / 8).is_ok_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// Pages of the extent that are free.
    pub fn n_free(&self) -> u32 {
        (0..self.pages).filter(|&nth| self.is_free(nth)).count() as u32
    }
}
