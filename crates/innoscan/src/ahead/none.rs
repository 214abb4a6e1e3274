//! No read-ahead: each leaf is read when the scan has come to it, as a server reads a table whose
//! leaves are not in file order.

use innoscan_format::PageNo;

use super::ReadAhead;

/// Reads nothing ahead.
#[derive(Clone, Copy, Debug, Default)]
pub struct None;

impl ReadAhead for None {
    fn learn(&mut self, _leaves: &[PageNo]) {}

    fn take(&mut self, _leaf: PageNo, _waited: bool) {}

    fn next_run(&mut self, _most_pages: u32, run: &mut Vec<PageNo>) {
        run.clear();
    }

    fn will_read(&self, _page: PageNo) -> bool {
        false
    }
}
