//! Undo pages in a worker: it requests them from the scan thread, like those of off-page columns
//! ([`lob`](super::lob)), and keeps the last few, since the rows of a leaf were mostly changed one
//! after the other.

use std::collections::VecDeque;

use innoscan_format::locate::Fields;
use innoscan_format::page::OwnedPage;
use innoscan_format::record::Record;
use innoscan_format::undo::{SystemColumns, UndoPage, Version};

use super::pooled_undo::PooledUndo;
use super::requests::PageRequests;
use super::task::{PageSource, SpaceContext};
use crate::undo_logs::{UndoReader, Versions};
use crate::{Error, Result};

/// The undo pages that a worker keeps.
const PAGES_KEPT: usize = 16;

/// A worker's access to undo pages.
pub(super) struct UndoFetcher<'s> {
    /// The channel for requests; `None` where the caller's thread reads.
    requests: Option<PageRequests<'s>>,
    /// The reader of the caller's thread, once it is needed.
    reader: Option<UndoReader>,
    /// The pages kept, the newest first.
    kept: VecDeque<(UndoPage, OwnedPage)>,
    fields: Fields,
}

impl<'s> UndoFetcher<'s> {
    pub fn new(requests: Option<PageRequests<'s>>) -> UndoFetcher<'s> {
        UndoFetcher { requests, reader: None, kept: VecDeque::new(), fields: Fields::default() }
    }

    /// The row that a record was before all unfinished transactions; `None` where there was none, or where its key is
    /// not wanted.
    pub fn version(
        &mut self,
        space: &SpaceContext,
        versions: &Versions,
        record: &Record<'_>,
        system: SystemColumns,
        key: &mut Vec<u8>,
    ) -> Result<Option<Version>> {
        if let Some(wanted) = &space.wanted {
            let row = space.layout.locate(record, &mut self.fields)?;
            if !wanted.have(record, &row, key)? {
                return Ok(None);
            }
        }
        let found = versions.before(record, system, |wanted, reader| match &space.source {
            PageSource::Pool(_, undo) => {
                let place = versions.logs().place_of(wanted.number)?;
                let undo = undo.get(place).ok_or_else(Error::interrupted)?;
                let page = self.page(undo, wanted);
                page.and_then(|page| Ok(reader.feed(page.as_page())?))
                    .map_err(|error| error.in_file(undo.path()))
            }
            PageSource::Memory(_) => {
                let logs = versions.logs();
                let pages = self.reader.get_or_insert_with(|| UndoReader::new(logs.clone()));
                pages.with_page(wanted, |page| reader.feed(page))
            }
        });
        found.map_err(|error| error.map_format(|error| error.with_prefix("a row's older version")))
    }

    /// A page from among those kept, or read now.
    fn page(&mut self, undo: &PooledUndo, wanted: UndoPage) -> Result<&OwnedPage> {
        match self.kept.iter().position(|(page, _)| *page == wanted) {
            Some(0) => {}
            Some(place) => {
                let page = self.kept.remove(place);
                self.kept.extend(page);
                self.kept.rotate_right(1);
            }
            None => {
                let requests = self.requests.as_ref().ok_or_else(Error::interrupted)?;
                let page = undo.read(requests, wanted.page_no)?;
                self.kept.truncate(PAGES_KEPT - 1);
                self.kept.push_front((wanted, page));
            }
        }
        self.kept.front().map(|(_, page)| page).ok_or_else(Error::interrupted)
    }
}
