//! What pages at fixed places of the system tablespace say about its other pages.
//!
//! ```text
//! page 3    94        header of the change buffer's segment
//! page 4    74        base of the list of free pages of the change buffer, whose nodes are at 74 too
//! page 5    size-200  header of the doublewrite buffer's segment     size-190  536853855
//!           size-186, size-182  first pages of its blocks
//! ```
//!
//! `ibuf0ibuf.h`, `trx0sys.h` of MySQL 8.0 and MariaDB 10.11.

use super::inode::segment_header;
use super::{DATA, FileAddr, Page};
use crate::{PageNo, Result, bytes};

/// The page that names the segment of the change buffer (`FSP_IBUF_HEADER_PAGE_NO`).
pub const IBUF_HEADER_PAGE: PageNo = PageNo(3);

/// The root of the change buffer (`FSP_IBUF_TREE_ROOT_PAGE_NO`).
pub const IBUF_TREE_ROOT_PAGE: PageNo = PageNo(4);

/// `PAGE_HEADER + PAGE_BTR_IBUF_FREE_LIST`, and `PAGE_BTR_IBUF_FREE_LIST_NODE`: where other trees have the header of their
/// leaves' segment.
pub const IBUF_FREE_LIST_AT: usize = DATA + 36;

/// `IBUF_HEADER`: behind the room for the header of a B-tree's page.
const IBUF_HEADER_AT: usize = 94;

/// `TRX_SYS_DOUBLEWRITE_MAGIC_N`.
const DOUBLEWRITE_MAGIC: u32 = 536_853_855;

/// `TRX_SYS_DOUBLEWRITE`, from the end of the page.
const DOUBLEWRITE_FROM_END: usize = 200;

/// Returns the segment of all pages of the change buffer, from [`IBUF_HEADER_PAGE`].
pub fn change_buffer_segment(page: &Page<'_>) -> Result<Option<FileAddr>> {
    segment_header(page.bytes(), IBUF_HEADER_AT)
}

/// The place of the doublewrite buffer, whose pages contain copies of any pages of any tablespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doublewrite {
    /// The segment, which has single pages besides the blocks.
    pub segment: Option<FileAddr>,
    /// The first pages of the two blocks. Each block is one extent.
    pub blocks: [PageNo; 2],
}

impl Doublewrite {
    /// Reads [`super::undo::TRX_SYS_PAGE`]; `None` if the server has the doublewrite buffer in other files (MySQL 8.0.20
    /// and later), or did not create it.
    pub fn read(page: &Page<'_>) -> Result<Option<Doublewrite>> {
        Doublewrite::parse(page.bytes())
    }

    /// Reads the bytes of that page, which is never encrypted.
    pub fn parse(page: &[u8]) -> Result<Option<Doublewrite>> {
        let at = page.len().saturating_sub(DOUBLEWRITE_FROM_END);
        let Some(blocks) = Doublewrite::blocks_of(page)? else { return Ok(None) };
        Ok(Some(Doublewrite { segment: segment_header(page, at)?, blocks }))
    }

    /// Reads the blocks alone, of the bytes of a page that was not verified: a server looks for a copy of a torn
    /// [`super::undo::TRX_SYS_PAGE`] there, too.
    pub fn blocks_of(page: &[u8]) -> Result<Option<[PageNo; 2]>> {
        let at = page.len().saturating_sub(DOUBLEWRITE_FROM_END);
        if bytes::u32_at(page, at + 10)? != DOUBLEWRITE_MAGIC {
            return Ok(None);
        }
        let block = |at| bytes::u32_at(page, at).map(PageNo);
        Ok(Some([block(at + 14)?, block(at + 18)?]))
    }
}
