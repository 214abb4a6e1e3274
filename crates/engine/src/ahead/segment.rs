//! Segment read-ahead: the leaf segment is read once in file order. It runs at sequential speed,
//! whatever the table's fragmentation, with little memory, and reads no page of another index. Rows
//! come in the file order of their leaves.
//!
//! The branch pages name all leaves, so no extent descriptor is needed to know which pages of the
//! segment are in use.

use std::collections::VecDeque;

use innoscan_format::PageNo;

use super::{PolicyTraits, ReadAhead};

/// The policy of segment read-ahead; see the module's text.
#[derive(Clone, Debug)]
pub struct Segment {
    window_pages: usize,
    gap_pages: u32,
    run_pages: u32,
    /// Leaves put into runs and not yet consumed.
    ahead_pages: usize,
    /// Leaves in no run yet, ascending.
    to_read: VecDeque<PageNo>,
}

impl Segment {
    /// The traits of segment read-ahead: leaves are found and consumed in file order.
    pub const TRAITS: PolicyTraits = PolicyTraits {
        keeps_used: false,
        evicts_unused: false,
        descends_singly: false,
        in_file_order: true,
    };

    /// A policy that keeps up to `window_pages` leaves ahead of the scan, reads through up to
    /// `gap_pages` unwanted pages, in runs of at most `run_pages`, which is at least 1.
    pub fn new(window_pages: usize, gap_pages: u32, run_pages: u32) -> Segment {
        assert!(run_pages > 0, "sizes are at least 1");
        Segment { window_pages, gap_pages, run_pages, ahead_pages: 0, to_read: VecDeque::new() }
    }
}

impl ReadAhead for Segment {
    fn on_leaves(&mut self, leaves: &[PageNo]) {
        self.to_read.extend(leaves);
    }

    fn on_consumed(&mut self, leaf: PageNo, _waited: bool) {
        // A leaf that is still to come was read on demand.
        if self.to_read.front() == Some(&leaf) {
            self.to_read.pop_front();
        } else {
            self.ahead_pages = self.ahead_pages.saturating_sub(1);
        }
    }

    fn next_run(&mut self, pages_max: u32, run: &mut Vec<PageNo>) {
        run.clear();
        // Runs are never cut short by the window.
        let is_full = self.ahead_pages + self.run_pages as usize > self.window_pages;
        if is_full && self.ahead_pages > 0 {
            return;
        }
        let pages_max = pages_max.min(self.run_pages);
        let Some(&first) = self.to_read.front() else { return };
        let mut last = first;
        while let Some(&page) = self.to_read.front() {
            let is_near = page.0 - last.0 <= self.gap_pages.saturating_add(1);
            if !is_near || page.0 - first.0 >= pages_max {
                return;
            }
            run.push(page);
            self.ahead_pages += 1;
            last = page;
            self.to_read.pop_front();
        }
    }

    fn will_read(&self, page: PageNo) -> bool {
        self.to_read.front().is_some_and(|next| *next <= page)
    }
}

#[cfg(test)]
mod tests {
    use super::super::area::tests::runs;
    use super::*;

    #[test]
    fn it_goes_once_through_the_leaves_in_file_order() {
        let mut policy = Segment::new(100, 2, 8);
        policy.on_leaves(&[3, 4, 7, 11, 30, 31, 32, 33, 34, 35, 36, 37, 38].map(PageNo));
        assert!(policy.will_read(PageNo(3)) && policy.will_read(PageNo(38)));
        let mut run = Vec::new();
        policy.next_run(8, &mut run);
        assert_eq!(run, [3, 4, 7].map(PageNo));
        assert!(!policy.will_read(PageNo(7)));
        policy.on_consumed(PageNo(11), true);
        policy.next_run(3, &mut run);
        assert_eq!(run, [30, 31, 32].map(PageNo));
        assert_eq!(runs(&mut policy), [(33, 39)]);
    }

    #[test]
    fn it_stays_within_its_window() {
        let mut policy = Segment::new(20, 0, 8);
        policy.on_leaves(&(0..100).map(PageNo).collect::<Vec<_>>());
        assert_eq!(runs(&mut policy), [(0, 8), (8, 16)]);
        for page in 0..4 {
            policy.on_consumed(PageNo(page), false);
        }
        assert_eq!(runs(&mut policy), [(16, 24)]);
        // A window smaller than a run has one run at a time.
        let mut policy = Segment::new(1, 0, 8);
        policy.on_leaves(&(0..100).map(PageNo).collect::<Vec<_>>());
        assert_eq!(runs(&mut policy), [(0, 8)]);
        assert_eq!(runs(&mut policy), []);
    }
}
