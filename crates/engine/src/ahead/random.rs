//! InnoDB's random read-ahead (`buf_read_ahead_random`, `innodb_random_read_ahead`): when a page
//! must be read and enough of its extent is in use already, the rest of the extent is read too.

use innoscan_format::PageNo;

use super::area::{Queue, area_of, is_flooded, is_ibuf_bitmap};
use super::{PolicyTraits, PoolView, ReadAhead};

/// The policy of random read-ahead; see the module's text.
#[derive(Clone, Debug, Default)]
pub struct Random {
    queue: Queue,
}

impl Random {
    /// The traits of random read-ahead: a server's.
    pub const TRAITS: PolicyTraits = PolicyTraits::SERVER;

    /// A policy with nothing queued.
    pub fn new() -> Random {
        Random::default()
    }
}

impl ReadAhead for Random {
    fn on_miss(&mut self, page: PageNo, pool: &dyn PoolView) {
        if is_ibuf_bitmap(page, pool) {
            return;
        }
        let mut area = area_of(page, pool);
        // `BUF_READ_AHEAD_RANDOM_THRESHOLD`: 13 of 64.
        let threshold = 5 + area.len() / 8;
        area.end = area.end.min(pool.file_pages());
        let is_in_use = |page: &u32| {
            let resident = pool.status(PageNo(*page));
            resident.is_some_and(|resident| resident.first_access.is_some() && resident.is_young)
        };
        if area.clone().filter(is_in_use).count() >= threshold && !is_flooded(pool) {
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
    use super::super::PageStatus;
    use super::super::area::tests::{Pages, runs};
    use super::*;

    #[test]
    fn thirteen_pages_in_use_bring_the_rest() {
        let mut pool = Pages::default();
        pool.access((64..128).step_by(5).take(12));
        let mut policy = Random::new();
        policy.on_miss(PageNo(127), &pool);
        assert_eq!(runs(&mut policy), []);
        pool.read([70, 71]);
        policy.on_miss(PageNo(127), &pool);
        assert_eq!(runs(&mut policy), []);
        pool.access([126]);
        policy.on_miss(PageNo(127), &pool);
        let read: u32 = runs(&mut policy).iter().map(|(first, end)| end - first).sum();
        assert_eq!(read, 64 - 15);
        // Pages that will soon be evicted do not count.
        let old = PageStatus { first_access: Some(1), is_young: false };
        pool.resident.insert(126, old);
        policy.on_miss(PageNo(127), &pool);
        assert_eq!(runs(&mut policy), []);
    }

    #[test]
    fn the_last_extent_ends_with_the_file() {
        let mut pool = Pages::default();
        pool.access(960..980);
        let mut policy = Random::new();
        policy.on_miss(PageNo(985), &pool);
        assert_eq!(runs(&mut policy), [(980, 1000)]);
    }
}
