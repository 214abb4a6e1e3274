//! Runs of pages read one after the other, with as many concurrent requests as there is room for.

use std::collections::VecDeque;
use std::iter::Peekable;

use innoscan_format::PageNo;
use innoscan_io::Kind;

use super::{FileSlot, PageKey, PageRef, Pool, Retention};
use crate::Result;

/// A reader of runs of a file's pages, which returns the pages in the order of the runs.
pub struct RunReader<I: Iterator<Item = Vec<PageNo>>> {
    file: FileSlot,
    kind: Kind,
    runs: Peekable<I>,
    /// Pages that were requested and not yet returned.
    under_way: VecDeque<PageNo>,
}

impl<I: Iterator<Item = Vec<PageNo>>> RunReader<I> {
    /// A reader of runs whose pages ascend.
    pub fn new(file: FileSlot, kind: Kind, runs: I) -> RunReader<I> {
        RunReader { file, kind, runs: runs.peekable(), under_way: VecDeque::new() }
    }

    /// The next page, or its read error; `None` at the end.
    pub fn next(&mut self, pool: &mut Pool) -> Option<(PageNo, Result<PageRef>)> {
        self.read_ahead(pool);
        let page = match self.under_way.pop_front() {
            Some(page) => page,
            // A run that never finds room, with whatever few pages held, is read page by page.
            None => {
                self.under_way = VecDeque::from(self.runs.next()?);
                self.under_way.pop_front()?
            }
        };
        // A page whose read with others failed is read alone: another page of the run may be the bad
        // one.
        Some((page, pool.wait_for(PageKey { file: self.file, page }, Retention::Release)))
    }

    /// Keeps as many requests in flight as there is room for.
    fn read_ahead(&mut self, pool: &mut Pool) {
        let has_room = |pool: &Pool, run: &[PageNo]| {
            pool.engine_room() > 0 && pool.frames_for(run) <= pool.free_frames()
        };
        while let Some(run) = self.runs.next_if(|run| has_room(pool, run)) {
            pool.read(self.file, &run, self.kind);
            self.under_way.extend(run);
        }
    }
}

/// The pages of a file from first to last, as runs of `run_pages`.
pub fn runs_in_file_order(pages: u32, run_pages: u32) -> impl Iterator<Item = Vec<PageNo>> {
    let end_of = move |first: u32| first.saturating_add(run_pages).min(pages);
    let starts = (0..pages).step_by(run_pages.max(1) as usize);
    starts.map(move |first| (first..end_of(first)).map(PageNo).collect())
}
