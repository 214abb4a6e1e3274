//! Read-ahead policies: which pages to read before they are asked for.
//!
//! A policy is a value. It is told the leaf numbers of the tree as the walk learns them, and of
//! each leaf the scan takes, both in key order; asked, it answers with the next run of pages to
//! read. It does no I/O, holds no lock and knows no clock, so the same story always gives the
//! same runs, and policies can be compared fairly.

mod logical;
mod none;

pub use logical::{Logical, LogicalOptions};
pub use none::None;

use innoscan_format::PageNo;

/// Decides what to read before it is asked for.
pub trait ReadAhead: Send {
    /// Leaf numbers the walk has learnt, continuing in key order.
    fn learn(&mut self, leaves: &[PageNo]);

    /// The scan takes `leaf`, the next in key order; `waited`: it stood still until it was there.
    fn take(&mut self, leaf: PageNo, waited: bool);

    /// Puts the pages of the next run to read into `run`, ascending: the first and last page and
    /// all between them are to be read at once, at most `most_pages` of them; those not named are
    /// read only because they lie between. Leaves `run` empty when there is nothing to read now.
    fn next_run(&mut self, most_pages: u32, run: &mut Vec<PageNo>);

    /// Whether `page` is still to come in a run. What is not will be read on demand.
    fn will_read(&self, page: PageNo) -> bool;
}
