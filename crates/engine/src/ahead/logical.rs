//! Logical read-ahead: the next leaves in key order are read in file order.
//!
//! Up to `window_pages` leaves ahead of the scan are wanted. Reading sweeps over them in file
//! order, from the front of the file to its end and again from the front, joining neighbours into
//! runs. Each leaf that the scan takes brings the next one into the window at once, ahead of the sweep
//! or behind it, so the device is busy as long as some of the window is unread. The window is never
//! filled and emptied alternately, unlike batches, each of which is read whole and used up before the
//! next is read (Facebook's `innodb_lra_size` of 2013, which holds two batches).
//!
//! Where requests are cheap, the window starts small. When the scan had to wait for a leaf, the window
//! grows with each leaf taken, until it has doubled: the first rows come after a short sweep, a scan
//! that stops early has read few pages in vain, and one that never waits, on a file in the page cache,
//! needs little memory. Where requests are expensive, the window starts whole: a sweep over a small
//! window of a shuffled table would read through nearly as many gaps as one over all of it.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use innoscan_format::PageNo;

use super::{PolicyTraits, ReadAhead};

/// Sizes for logical read-ahead, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicalOptions {
    /// The most leaves ahead of the scan that are wanted; at least 1.
    pub window_pages: usize,
    /// The window's leaves at the start.
    pub first_pages: usize,
    /// The most unwanted pages between two wanted ones that are read rather than skipped.
    pub gap_pages: u32,
    /// The most pages of a run; at least 1.
    pub run_pages: u32,
}

/// The time from which a request counts as expensive: that of a disk, or of a volume with few requests
/// per second.
const EXPENSIVE: Duration = Duration::from_micros(200);

/// The policy of logical read-ahead; see the module's text.
#[derive(Clone, Debug)]
pub struct Logical {
    options: LogicalOptions,
    /// Leaves in the window now, in any state: wanted, in flight, or read and not yet taken.
    window: usize,
    window_max: usize,
    /// The leaves by which the window still grows.
    growth: usize,
    /// Leaves found by the walk, after the window.
    beyond: VecDeque<PageNo>,
    /// Leaves in the window that are in no run yet.
    wanted: BTreeSet<u32>,
    /// The sweep's position: the next page number.
    head: u32,
}

impl Logical {
    /// The traits of logical read-ahead: the window fits into the pool, so no unused page is evicted.
    pub const TRAITS: PolicyTraits = PolicyTraits {
        keeps_used: false,
        evicts_unused: false,
        descends_singly: false,
        in_file_order: false,
    };

    /// A policy without any leaves.
    pub fn new(options: LogicalOptions) -> Logical {
        assert!(options.window_pages > 0 && options.run_pages > 0, "sizes are at least 1");
        Logical {
            options,
            window: 0,
            window_max: options.first_pages.clamp(1, options.window_pages),
            growth: 0,
            beyond: VecDeque::new(),
            wanted: BTreeSet::new(),
            head: 0,
        }
    }

    fn fill_window(&mut self) {
        while self.window < self.window_max {
            let Some(leaf) = self.beyond.pop_front() else { return };
            self.wanted.insert(leaf.0);
            self.window += 1;
        }
    }
}

impl ReadAhead for Logical {
    fn set_request_cost(&mut self, request: Duration) {
        if request >= EXPENSIVE {
            self.window_max = self.options.window_pages;
        }
    }

    fn on_leaves(&mut self, leaves: &[PageNo]) {
        self.beyond.extend(leaves);
        self.fill_window();
    }

    fn on_consumed(&mut self, leaf: PageNo, waited: bool) {
        // A leaf that is still wanted was read on demand.
        self.wanted.remove(&leaf.0);
        self.window = self.window.saturating_sub(1);
        if waited {
            self.growth = self.window_max;
        }
        if self.growth > 0 && self.window_max < self.options.window_pages {
            self.growth -= 1;
            self.window_max += 1;
        }
        self.fill_window();
    }

    fn next_run(&mut self, pages_max: u32, run: &mut Vec<PageNo>) {
        run.clear();
        let pages_max = pages_max.min(self.options.run_pages);
        let ahead = self.wanted.range(self.head..).next().copied();
        let Some(first) = ahead.or_else(|| self.wanted.first().copied()) else { return };
        if pages_max == 0 {
            return;
        }
        let end = first.saturating_add(pages_max);
        let mut last = first;
        for &page in self.wanted.range(first..end) {
            if page - last > self.options.gap_pages.saturating_add(1) {
                break;
            }
            run.push(PageNo(page));
            last = page;
        }
        for page in &*run {
            self.wanted.remove(&page.0);
        }
        self.head = last.saturating_add(1);
    }

    fn will_read(&self, page: PageNo) -> bool {
        self.wanted.contains(&page.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logical(window: usize, first: usize, gap: u32, run: u32) -> Logical {
        Logical::new(LogicalOptions {
            window_pages: window,
            first_pages: first,
            gap_pages: gap,
            run_pages: run,
        })
    }

    fn next(policy: &mut Logical, most: u32) -> Vec<u32> {
        let mut run = Vec::new();
        policy.next_run(most, &mut run);
        run.iter().map(|page| page.0).collect()
    }

    fn learn(policy: &mut Logical, leaves: &[u32]) {
        policy.on_leaves(&leaves.iter().copied().map(PageNo).collect::<Vec<_>>());
    }

    #[test]
    fn sweeps_the_window_in_file_order() {
        let mut policy = logical(6, 6, 0, 64);
        learn(&mut policy, &[90, 10, 11, 50, 12, 51, 7]);
        assert_eq!(next(&mut policy, 64), [10, 11, 12]);
        assert_eq!(next(&mut policy, 64), [50, 51]);
        // Leaf 7 enters the window when 90, read or not, is taken; the sweep has passed it.
        policy.on_consumed(PageNo(90), false);
        assert!(policy.will_read(PageNo(7)) && !policy.will_read(PageNo(90)));
        learn(&mut policy, &[60]);
        policy.on_consumed(PageNo(10), false);
        assert_eq!(next(&mut policy, 64), [60]);
        assert_eq!(next(&mut policy, 64), [7]);
        assert!(next(&mut policy, 64).is_empty());
    }

    #[test]
    fn joins_over_gaps_and_ends_runs_at_the_most() {
        let mut policy = logical(16, 16, 2, 4);
        learn(&mut policy, &[1, 4, 5, 9, 20, 21, 22, 23, 24]);
        assert_eq!(next(&mut policy, 64), [1, 4]);
        assert_eq!(next(&mut policy, 64), [5]);
        assert_eq!(next(&mut policy, 64), [9]);
        assert_eq!(next(&mut policy, 3), [20, 21, 22]);
        assert!(next(&mut policy, 0).is_empty());
        assert_eq!(next(&mut policy, 64), [23, 24]);
    }

    #[test]
    fn it_starts_whole_where_requests_are_dear() {
        let leaves: Vec<PageNo> = (0..100).map(PageNo).collect();
        for (cost_us, first_run) in [(100, 4), (6667, 50)] {
            let mut policy = logical(50, 4, 0, 64);
            policy.set_request_cost(Duration::from_micros(cost_us));
            policy.on_leaves(&leaves);
            let mut run = Vec::new();
            policy.next_run(64, &mut run);
            assert_eq!(run.len(), first_run);
        }
    }

    #[test]
    fn the_window_stays_full_and_grows_when_the_scan_had_to_wait() {
        let leaves: Vec<u32> = (0..1000u32).map(|n| n * 611 % 1000).collect();
        let mut policy = logical(100, 4, 0, 64);
        learn(&mut policy, &leaves);
        let mut read = BTreeSet::new();
        for (taken, leaf) in leaves.iter().enumerate() {
            loop {
                let run = next(&mut policy, 64);
                if run.is_empty() {
                    break;
                }
                read.extend(run);
            }
            // It waits for the 10th leaf, and from the 100th on for each.
            let grown = match taken {
                0..=10 => 4,
                11..=100 => (4 + taken - 10).min(8),
                _ => (8 + taken - 100).min(100),
            };
            let window = grown.min(leaves.len() - taken);
            assert_eq!(read.len(), taken + window, "{taken}");
            assert!(read.contains(leaf));
            policy.on_consumed(PageNo(*leaf), taken == 10 || taken >= 100);
        }
    }
}
