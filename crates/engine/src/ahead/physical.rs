//! Physical read-ahead: the whole file is read in order into the pool, before the scan needs it, like
//! `buf_warmup` of the 2012 blog. Pages of other indexes are read too, and a pool smaller than the
//! file has evicted the first pages before it reaches the last.

use innoscan_format::PageNo;

use super::{PolicyTraits, ReadAhead};

/// The policy of physical read-ahead; see the module's text.
#[derive(Clone, Debug)]
pub struct Physical {
    /// The next page to read.
    next: u32,
    file_pages: u32,
    run_pages: u32,
}

impl Physical {
    /// The traits of physical read-ahead: pages may be evicted before the scan reaches them.
    pub const TRAITS: PolicyTraits = PolicyTraits {
        keeps_used: false,
        evicts_unused: true,
        descends_singly: false,
        in_file_order: false,
    };

    /// A policy for a file of `file_pages` pages, in runs of at most `run_pages`, which is at least 1.
    pub fn new(file_pages: u32, run_pages: u32) -> Physical {
        assert!(run_pages > 0, "sizes are at least 1");
        Physical { next: 0, file_pages, run_pages }
    }
}

impl ReadAhead for Physical {
    fn next_run(&mut self, pages_max: u32, run: &mut Vec<PageNo>) {
        run.clear();
        let pages = pages_max.min(self.run_pages).min(self.file_pages - self.next);
        run.extend((self.next..self.next + pages).map(PageNo));
        self.next += pages;
    }

    fn will_read(&self, page: PageNo) -> bool {
        (self.next..self.file_pages).contains(&page.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::area::tests::runs;
    use super::*;

    #[test]
    fn it_reads_each_page_once_from_the_first_to_the_last() {
        let mut policy = Physical::new(150, 100);
        assert!(policy.will_read(PageNo(149)) && !policy.will_read(PageNo(150)));
        assert_eq!(runs(&mut policy), [(0, 64), (64, 128), (128, 150)]);
        assert!(!policy.will_read(PageNo(149)));
        assert_eq!(runs(&mut Physical::new(0, 8)), []);
    }
}
