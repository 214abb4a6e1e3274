//! InnoDB's read-ahead areas: aligned pieces of a file that are read whole (`buf0rea.cc`, MySQL
//! 5.7 to 9).

use std::collections::VecDeque;
use std::ops::Range;

use innoscan_format::PageNo;

use super::PoolView;

/// The most pages of an area: `BUF_READ_AHEAD_PAGES`, for a pool of more than some 1,000 pages.
const AREA_PAGES_MAX: usize = 64;

/// The area that contains a page.
pub(super) fn area_of(page: PageNo, pool: &dyn PoolView) -> Range<u32> {
    let pages = AREA_PAGES_MAX.min((pool.pool_pages() / 32).next_power_of_two()) as u32;
    let low = page.0 - page.0 % pages;
    low..low.saturating_add(pages)
}

/// Whether a page is one of the change buffer's bitmaps: page 1 of every range of pages as long as a
/// page has bytes. These are not read ahead and do not trigger read-ahead.
pub(super) fn is_ibuf_bitmap(page: PageNo, pool: &dyn PoolView) -> bool {
    page.0 as usize % pool.page_bytes() == 1
}

/// Whether too much is being read for read-ahead to start: more than half of the pool.
pub(super) fn is_flooded(pool: &dyn PoolView) -> bool {
    pool.pending_pages() > pool.pool_pages() / 2
}

/// Areas still to be read, without the pages already in the pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    runs: VecDeque<Range<u32>>,
}

impl Queue {
    /// Adds the pages of an area that are not in the pool.
    pub fn add(&mut self, area: Range<u32>, pool: &dyn PoolView) {
        let mut at = area.start;
        while at < area.end {
            let is_absent = |page: &u32| {
                let page = PageNo(*page);
                pool.status(page).is_none() && !is_ibuf_bitmap(page, pool)
            };
            let run = (at..area.end).take_while(is_absent).count() as u32;
            if run > 0 {
                self.runs.push_back(at..at + run);
            }
            at += run + 1;
        }
    }

    /// Puts the next run, of at most `pages_max`, into `run`.
    pub fn next_run(&mut self, pages_max: u32, run: &mut Vec<PageNo>) {
        run.clear();
        let Some(first) = self.runs.front_mut() else { return };
        let end = first.end.min(first.start.saturating_add(pages_max));
        run.extend((first.start..end).map(PageNo));
        first.start = end;
        if first.start == first.end {
            self.runs.pop_front();
        }
    }

    /// Whether a page is in a run that is still to be read.
    pub fn contains(&self, page: PageNo) -> bool {
        self.runs.iter().any(|run| run.contains(&page.0))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashMap;

    use super::super::PageStatus;
    use super::*;

    /// A pool by the pages that are in it.
    #[derive(Default)]
    pub struct Pages {
        pub resident: HashMap<u32, PageStatus>,
        pub pending: usize,
        pub accesses: u64,
    }

    impl Pages {
        /// Pages read in and accessed, in this order.
        pub fn access(&mut self, pages: impl IntoIterator<Item = u32>) {
            for page in pages {
                self.accesses += 1;
                let first_access = Some(self.accesses);
                self.resident.insert(page, PageStatus { first_access, is_young: true });
            }
        }

        /// Pages read in only.
        pub fn read(&mut self, pages: impl IntoIterator<Item = u32>) {
            let unused = PageStatus { first_access: None, is_young: true };
            self.resident.extend(pages.into_iter().map(|page| (page, unused)));
        }
    }

    impl PoolView for Pages {
        fn status(&self, page: PageNo) -> Option<PageStatus> {
            self.resident.get(&page.0).copied()
        }

        fn file_pages(&self) -> u32 {
            1000
        }

        fn page_bytes(&self) -> usize {
            16384
        }

        fn pool_pages(&self) -> usize {
            8192
        }

        fn pending_pages(&self) -> usize {
            self.pending
        }
    }

    /// All runs of a policy, each as its first page and the one after its last.
    pub fn runs(policy: &mut dyn super::super::ReadAhead) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        let mut run = Vec::new();
        loop {
            policy.next_run(64, &mut run);
            let (Some(first), Some(last)) = (run.first(), run.last()) else { return all };
            assert_eq!((last.0 - first.0) as usize + 1, run.len());
            all.push((first.0, last.0 + 1));
        }
    }

    #[test]
    fn what_is_there_splits_an_area() {
        let mut pool = Pages::default();
        pool.read([65, 66, 127]);
        let mut queue = Queue::default();
        queue.add(area_of(PageNo(100), &pool), &pool);
        assert!(queue.contains(PageNo(64)) && !queue.contains(PageNo(65)));
        let mut run = Vec::new();
        let mut next = |most| {
            queue.next_run(most, &mut run);
            run.iter().map(|page| page.0).collect::<Vec<_>>()
        };
        assert_eq!(next(8), [64]);
        assert_eq!(next(3), [67, 68, 69]);
        assert_eq!(next(99), (70..127).collect::<Vec<_>>());
        assert!(next(99).is_empty());
    }
}
