//! What a policy may know of the pool.

use innoscan_format::PageNo;

use crate::ahead::{Resident, Residents};
use crate::pool::{FileSlot, PageKey, Pool};

/// A file's pages in the pool.
pub(super) struct FileInPool<'p> {
    pub pool: &'p Pool,
    pub file: FileSlot,
    pub file_pages: u32,
}

impl Residents for FileInPool<'_> {
    fn resident(&self, page: PageNo) -> Option<Resident> {
        let residence = self.pool.status(PageKey { file: self.file, page })?;
        let (first_access, is_young) = (residence.first_access, residence.is_young);
        Some(Resident { first_access, is_young })
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
