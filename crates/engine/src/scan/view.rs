//! The policy's view of the pool.

use innoscan_format::PageNo;

use crate::ahead::{PageStatus, PoolView};
use crate::pool::{FileSlot, PageKey, Pool};

/// The pages of one file in the pool.
pub(super) struct FileInPool<'p> {
    pub pool: &'p Pool,
    pub file: FileSlot,
    pub file_pages: u32,
}

impl PoolView for FileInPool<'_> {
    fn status(&self, page: PageNo) -> Option<PageStatus> {
        self.pool.status(PageKey { file: self.file, page })
    }

    fn file_pages(&self) -> u32 {
        self.file_pages
    }

    fn page_bytes(&self) -> usize {
        self.pool.page_bytes()
    }

    fn pool_pages(&self) -> usize {
        self.pool.frames()
    }

    fn pending_pages(&self) -> usize {
        self.pool.pending_pages()
    }
}
