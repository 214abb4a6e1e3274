//! Reading of single pages of a tablespace, for lookups rather than scans.

use std::sync::Arc;

use innoscan_format::PageNo;
use innoscan_format::page::{self, Page, Scratch};
use innoscan_format::schema::TableDef;
use innoscan_io::{Engine, EngineKind, engine};

use crate::clustered_index::ClusteredIndex;
use crate::pool::{FileSlot, PageKey, PageRef, Pool, PoolOptions, Retention};
use crate::space::Space;
use crate::{Error, Result};

/// A reader of single pages of one tablespace, on demand, with a pool of its own.
pub struct SpaceReader {
    space: Space,
    pool: Pool,
    slot: FileSlot,
    scratch: Scratch,
}

/// Pages that a [`SpaceReader`] keeps.
const READER_PAGES: usize = 64;

impl SpaceReader {
    /// A reader of a tablespace, on the caller's thread.
    pub fn new(space: Space) -> Result<SpaceReader> {
        SpaceReader::with_engine(space, engine::open(EngineKind::Inline, 1)?)
    }

    /// A reader of a tablespace with the caller's own engine.
    pub fn with_engine(space: Space, engine: Box<dyn Engine>) -> Result<SpaceReader> {
        let page_bytes = space.page_bytes();
        let mut pool = Pool::new(READER_PAGES, page_bytes, engine, PoolOptions::default())?;
        let slot = pool.add_file(Arc::clone(space.file()), space.redo().cloned());
        Ok(SpaceReader { space, pool, slot, scratch: Scratch::default() })
    }

    /// The tablespace.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// A page's bytes as they are in the file, not verified.
    pub fn read_page(&mut self, page: PageNo) -> Result<PageRef> {
        self.pool.wait_for(PageKey { file: self.slot, page }, Retention::Keep)
    }

    /// Reads and verifies a page, and passes it to `look`.
    pub fn with_page<T>(
        &mut self,
        page_no: PageNo,
        look: impl FnOnce(Page<'_>) -> innoscan_format::Result<T>,
    ) -> Result<T> {
        let bytes = self.read_page(page_no)?;
        page::open(&bytes, self.space.page_context(), page_no, &mut self.scratch)
            .and_then(look)
            .map_err(|error| Error::from(error).in_file(self.space.file().path()))
    }

    /// The clustered index of `def` that has this root.
    pub fn clustered(&mut self, def: &TableDef, root: PageNo) -> Result<ClusteredIndex> {
        let SpaceReader { space, pool, slot, .. } = self;
        let fetch = |page| pool.wait_for(PageKey { file: *slot, page }, Retention::Keep).map(Some);
        ClusteredIndex::open(space, def, root, None, fetch)
            .and_then(|opened| opened.ok_or_else(Error::interrupted))
            .map_err(|error| error.in_file(space.file().path()))
    }
}
