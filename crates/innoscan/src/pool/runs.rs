//! Runs of pages read one after the other, as many requests at once as there is room for.

use std::collections::VecDeque;
use std::iter::Peekable;

use innoscan_format::PageNo;
use innoscan_io::Kind;

use super::{FileSlot, PageKey, PageRef, Pool, Retention};
use crate::Result;

/// Reads runs of a file's pages, and gives the pages in the order of the runs.
pub struct RunReader<I: Iterator<Item = Vec<PageNo>>> {
    file: FileSlot,
    kind: Kind,
    runs: Peekable<I>,
    /// Requested and not given yet.
    under_way: VecDeque<PageNo>,
}

impl<I: Iterator<Item = Vec<PageNo>>> RunReader<I> {
    /// Of runs whose pages ascend.
    pub fn new(file: FileSlot, kind: Kind, runs: I) -> RunReader<I> {
        RunReader { file, kind, runs: runs.peekable(), under_way: VecDeque::new() }
    }

    /// The next page, or why it could not be read; `None` at the end.
    pub fn next(&mut self, pool: &mut Pool) -> Option<(PageNo, Result<PageRef>)> {
        self.read_ahead(pool);
        let page = match self.under_way.pop_front() {
            Some(page) => page,
            // A run that has no room however few pages are held: page by page.
            None => {
                self.under_way = VecDeque::from(self.runs.next()?);
                self.under_way.pop_front()?
            }
        };
        // A page that was read with others and failed is read alone: it may be another that is bad.
        Some((page, pool.wait_for(PageKey { file: self.file, page }, Retention::Release)))
    }

    /// Keeps as many requests going as there is room for.
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

/// The pages of a file from its first to its last, as runs of `run_pages`.
pub fn runs_in_file_order(pages: u32, run_pages: u32) -> impl Iterator<Item = Vec<PageNo>> {
    let end_of = move |first: u32| first.saturating_add(run_pages).min(pages);
    let starts = (0..pages).step_by(run_pages.max(1) as usize);
    starts.map(move |first| (first..end_of(first)).map(PageNo).collect())
}
