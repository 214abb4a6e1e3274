//! No read-ahead: each page is read when the scan reaches it, as a server reads a table whose
//! leaves are not in file order.

use innoscan_format::PageNo;

use super::{PolicyTraits, ReadAhead};

/// The policy that reads nothing ahead.
#[derive(Clone, Copy, Debug, Default)]
pub struct None;

impl None {
    /// The traits of a server's scan, except that used pages are released: the policy does not use
    /// them.
    pub const TRAITS: PolicyTraits = PolicyTraits {
        keeps_used: false,
        evicts_unused: false,
        descends_singly: true,
        in_file_order: false,
    };
}

impl ReadAhead for None {
    fn next_run(&mut self, _most_pages: u32, run: &mut Vec<PageNo>) {
        run.clear();
    }

    fn will_read(&self, _page: PageNo) -> bool {
        false
    }
}
