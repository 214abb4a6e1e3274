//! A page in memory, and the block it was read with.

use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use innoscan_format::PageNo;
use innoscan_io::{ALIGNMENT, Frame};

/// Pages that are read as one: a page, or as many neighbours as fill [`ALIGNMENT`] bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    page_bytes: usize,
    pages: u32,
}

impl Blocks {
    /// Of pages of a size that is a power of two.
    pub fn new(page_bytes: usize) -> Blocks {
        Blocks { page_bytes, pages: (ALIGNMENT / page_bytes.max(1)).max(1) as u32 }
    }

    pub fn page_bytes(self) -> usize {
        self.page_bytes
    }

    pub fn block_bytes(self) -> usize {
        self.page_bytes * self.pages as usize
    }

    /// Pages of a block.
    pub fn pages(self) -> u32 {
        self.pages
    }

    /// The number of the block that a page is in.
    pub fn block_of(self, page: PageNo) -> u32 {
        page.0 / self.pages
    }

    /// Where a page is in its block.
    pub fn place_of(self, page: PageNo) -> Range<usize> {
        let start = (page.0 % self.pages) as usize * self.page_bytes;
        start..start + self.page_bytes
    }
}

/// A block in memory.
#[derive(Debug)]
pub(super) struct Block {
    frame: Frame,
    /// Pages of it that the pool keeps.
    kept: AtomicU32,
}

impl Block {
    pub fn new(frame: Frame) -> Block {
        Block { frame, kept: AtomicU32::new(0) }
    }
}

/// A page in memory, as the file stores it; its frame stays as long as a clone of this does.
#[derive(Clone, Debug)]
pub struct PageRef {
    block: Arc<Block>,
    start: u32,
    page_bytes: u32,
}

impl PageRef {
    /// A page that the pool keeps.
    pub(super) fn kept(block: &Arc<Block>, place: Range<usize>) -> PageRef {
        block.kept.fetch_add(1, Ordering::Relaxed);
        PageRef {
            block: Arc::clone(block),
            start: place.start as u32,
            page_bytes: place.len() as u32,
        }
    }

    /// The same page, no longer kept by the pool.
    pub(super) fn released(self) -> PageRef {
        self.block.kept.fetch_sub(1, Ordering::Relaxed);
        self
    }

    /// Whether somebody beside the pool holds a page of its block.
    pub(super) fn is_pinned(&self) -> bool {
        Arc::strong_count(&self.block) > self.block.kept.load(Ordering::Relaxed) as usize
    }
}

impl Deref for PageRef {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let start = self.start as usize;
        &self.block.frame[start..start + self.page_bytes as usize]
    }
}

#[cfg(test)]
impl From<Frame> for PageRef {
    fn from(frame: Frame) -> PageRef {
        let page_bytes = frame.len() as u32;
        PageRef { block: Arc::new(Block::new(frame)), start: 0, page_bytes }
    }
}
