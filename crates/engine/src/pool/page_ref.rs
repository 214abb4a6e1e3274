//! Pages in memory, and the blocks in which they were read.

use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use innoscan_format::PageNo;
use innoscan_io::{ALIGNMENT, Frame};

/// The division of pages into blocks: one page, or as many neighbours as fill [`ALIGNMENT`] bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    page_bytes: usize,
    pages: u32,
}

impl Blocks {
    /// The division for a page size that is a power of two.
    pub fn new(page_bytes: usize) -> Blocks {
        Blocks { page_bytes, pages: (ALIGNMENT / page_bytes.max(1)).max(1) as u32 }
    }

    pub fn page_bytes(self) -> usize {
        self.page_bytes
    }

    pub fn block_bytes(self) -> usize {
        self.page_bytes * self.pages as usize
    }

    /// The number of pages in a block.
    pub fn pages(self) -> u32 {
        self.pages
    }

    /// The number of the block that contains a page.
    pub fn block_of(self, page: PageNo) -> u32 {
        page.0 / self.pages
    }

    /// The byte range of a page in its block.
    pub fn place_of(self, page: PageNo) -> Range<usize> {
        let start = (page.0 % self.pages) as usize * self.page_bytes;
        start..start + self.page_bytes
    }
}

/// A block in memory.
#[derive(Debug)]
pub(super) struct Block {
    frame: Frame,
    /// The number of its pages that the pool keeps.
    kept: AtomicU32,
}

impl Block {
    pub fn new(frame: Frame) -> Block {
        Block { frame, kept: AtomicU32::new(0) }
    }
}

/// A page in memory, in the form that the file stores; the frame stays as long as any clone of this.
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

    /// The same page after the pool released it.
    pub(super) fn released(self) -> PageRef {
        self.block.kept.fetch_sub(1, Ordering::Relaxed);
        self
    }

    /// Whether a page of the block is in use outside of the pool.
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
