//! InnoDB's linear read-ahead (`buf_read_ahead_linear`): when an extent was read in order, the extent
//! in which the tree continues is read.
//!
//! The check happens at the first access of an extent's first or last page. All but a few pages of the
//! extent must have been accessed before: in ascending order when the last page is accessed, in
//! descending order when the first is. The page's own link names the next extent, and must lead to a
//! border of that extent. A table whose leaves are not in file order never triggers this policy.
//!
//! The server compares times of access in milliseconds, and neighbours may share one; here each access
//! is later than the one before.

use innoscan_format::PageNo;

use super::area::{Queue, area_of, is_flooded, is_ibuf_bitmap};
use super::{Links, PolicyTraits, PoolView, ReadAhead};

/// The policy of linear read-ahead; see the module's text.
#[derive(Clone, Debug)]
pub struct Linear {
    threshold: u32,
    queue: Queue,
}

impl Linear {
    /// The traits of linear read-ahead: a server's.
    pub const TRAITS: PolicyTraits = PolicyTraits::SERVER;

    /// The server's default of `innodb_read_ahead_threshold`.
    pub const THRESHOLD_DEFAULT: u32 = 56;

    /// The policy for a threshold: the pages of an extent that must have been accessed in order, 1 to
    /// 64; 0 reads nothing ahead.
    pub fn new(threshold: u32) -> Linear {
        Linear { threshold, queue: Queue::default() }
    }

    /// Whether the pages of an area were accessed one after the other.
    fn is_sequential(
        &self,
        area: std::ops::Range<u32>,
        ascends: bool,
        pool: &dyn PoolView,
    ) -> bool {
        let pages = area.len() as u32;
        // The server's threshold is for 64 pages, whatever the area's size: `ut_min(64 - threshold,
        // area)`.
        let failures_max = (64 - self.threshold.min(64)).min(pages);
        let mut failures = 0;
        let mut before = None;
        for page in area {
            let access = pool.status(PageNo(page)).and_then(|resident| resident.first_access);
            let is_in_order = match (before, access) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(before), Some(access)) => (before < access) == ascends,
            };
            failures += u32::from(!is_in_order);
            before = access.or(before);
        }
        failures <= failures_max
    }
}

impl ReadAhead for Linear {
    fn on_access(&mut self, page: PageNo, links: Links, pool: &dyn PoolView) {
        let area = area_of(page, pool);
        let ascends = page.0 == area.end - 1;
        let is_border = ascends || page.0 == area.start;
        if self.threshold == 0 || !is_border || is_ibuf_bitmap(page, pool) {
            return;
        }
        if area.end > pool.file_pages() || is_flooded(pool) {
            return;
        }
        if !self.is_sequential(area, ascends, pool) {
            return;
        }
        // Only a tree that has led to an adjacent page so far is expected to continue like this.
        let (came_from, goes_to, neighbour) = match ascends {
            true => (links.prev, links.next, page.0.checked_sub(1)),
            false => (links.next, links.prev, page.0.checked_add(1)),
        };
        if came_from.map(|page| page.0) != neighbour {
            return;
        }
        let Some(target) = goes_to else { return };
        let area = area_of(target, pool);
        let is_border = target.0 == area.start || target.0 == area.end - 1;
        if is_border && area.end <= pool.file_pages() {
            self.queue.add(area, pool);
        }
    }

    fn next_run(&mut self, pages_max: u32, run: &mut Vec<PageNo>) {
        self.queue.next_run(pages_max, run);
    }

    fn will_read(&self, page: PageNo) -> bool {
        self.queue.contains(page)
    }
}

#[cfg(test)]
mod tests {
    use super::super::area::tests::{Pages, runs};
    use super::*;

    fn links(prev: u32, next: u32) -> Links {
        Links { prev: Some(PageNo(prev)), next: Some(PageNo(next)) }
    }

    /// The runs read ahead when `last` is accessed after `before`.
    fn after(threshold: u32, before: &[u32], last: u32, links: Links) -> Vec<(u32, u32)> {
        let mut pool = Pages::default();
        pool.access(before.iter().copied().chain([last]));
        let mut policy = Linear::new(threshold);
        policy.on_access(PageNo(last), links, &pool);
        runs(&mut policy)
    }

    #[test]
    fn an_extent_gone_through_brings_the_next() {
        let up: Vec<u32> = (64..127).collect();
        assert_eq!(after(56, &up, 127, links(126, 128)), [(128, 192)]);
        // Only at the extent's end, and only where the tree continues at a border.
        assert_eq!(after(56, &up[..30], 94, links(93, 95)), []);
        assert_eq!(after(56, &up, 127, links(126, 130)), []);
        assert_eq!(after(56, &up, 127, links(126, 640)), [(640, 704)]);
        assert_eq!(after(56, &up, 127, links(300, 128)), []);
        // The file has 1000 pages: its last extent is not whole.
        assert_eq!(after(56, &up, 127, links(126, 960)), []);
        let down: Vec<u32> = (65..128).rev().collect();
        // The change buffer's bitmap is page 1.
        assert_eq!(after(56, &down, 64, links(63, 65)), [(0, 1), (2, 64)]);
        assert_eq!(after(56, &up, 64, links(63, 65)), []);
        assert_eq!(after(0, &up, 127, links(126, 128)), []);
    }

    #[test]
    fn the_threshold_says_how_many_may_be_missing_or_out_of_order() {
        let without = |missing: u32| (64 + missing..127).collect::<Vec<u32>>();
        assert_eq!(after(56, &without(8), 127, links(126, 128)), [(128, 192)]);
        assert_eq!(after(56, &without(9), 127, links(126, 128)), []);
        assert_eq!(after(64, &without(0), 127, links(126, 128)), [(128, 192)]);
        assert_eq!(after(64, &without(1), 127, links(126, 128)), []);
        assert_eq!(after(1, &[], 127, links(126, 128)), [(128, 192)]);
        let mut swapped = without(0);
        swapped.swap(10, 11);
        assert_eq!(after(64, &swapped, 127, links(126, 128)), []);
        assert_eq!(after(63, &swapped, 127, links(126, 128)), [(128, 192)]);
    }

    #[test]
    fn a_pool_that_reads_much_already_reads_nothing_ahead() {
        let mut pool = Pages { pending: 5000, ..Pages::default() };
        pool.access(64..128);
        let mut policy = Linear::new(56);
        policy.on_access(PageNo(127), links(126, 128), &pool);
        assert_eq!(runs(&mut policy), []);
    }
}
