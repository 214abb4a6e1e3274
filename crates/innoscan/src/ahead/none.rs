//! No read-ahead: each page is read when the scan has come to it, as a server reads a table whose
//! leaves are not in file order.

use innoscan_format::PageNo;

use super::{PolicyTraits, ReadAhead};

/// Reads nothing ahead.
#[derive(Clone, Copy, Debug, Default)]
pub struct None;

impl None {
    /// A server's; what was used is of no use to it, so it may go.
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
