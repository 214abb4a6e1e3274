//! Read-ahead policies: they decide which pages are read before they are requested.
//!
//! A policy is a value. Its inputs are the leaf numbers of the tree, as the walk finds them, each leaf
//! that the scan consumes, both in key order, and each page that is accessed or missed; its output is
//! the next run of pages to read. It does no I/O, takes no lock and reads no clock, so the same inputs
//! always give the same runs, and policies can be compared fairly.
//!
//! | policy | reads ahead | whose |
//! |---|---|---|
//! | [`None`] | nothing | InnoDB, of a table whose leaves are not in file order |
//! | [`Linear`] | the next extent, when one was gone through in order | InnoDB, by default |
//! | [`Random`] | the rest of an extent, when much of it is in use | InnoDB, when asked to |
//! | [`Physical`] | the whole file in order, at the start | `buf_warmup` |
//! | [`Logical`] | a window of leaves in key order, sorted | `innodb_lra_size`, and ours |
//! | [`Segment`] | all leaves, in file order | ours |

mod area;
mod linear;
mod logical;
mod none;
mod physical;
mod policy;
mod random;
mod segment;

use std::time::Duration;

use innoscan_format::PageNo;

pub use crate::page_status::PageStatus;
pub use linear::Linear;
pub use logical::{Logical, LogicalOptions};
pub use none::None;
pub use physical::Physical;
pub use policy::ReadAheadPolicy;
pub use policy::Sizes;
pub use random::Random;
pub use segment::Segment;

/// A read-ahead policy: decides which pages are read before they are requested.
pub trait ReadAhead: Send {
    /// Receives the cost of a request, before the first leaf is known.
    fn set_request_cost(&mut self, _request: Duration) {}

    /// Receives the leaf numbers that the walk has found, continuing in key order.
    fn on_leaves(&mut self, _leaves: &[PageNo]) {}

    /// Notes that the scan consumed `leaf`, the next in key order; `waited`: the scan had to wait for
    /// it.
    fn on_consumed(&mut self, _leaf: PageNo, _waited: bool) {}

    /// Notes that a page is not in the pool and will be read on demand.
    fn on_miss(&mut self, _page: PageNo, _pool: &dyn PoolView) {}

    /// Notes that a page was accessed for the first time since it was read.
    fn on_access(&mut self, _page: PageNo, _links: Links, _pool: &dyn PoolView) {}

    /// Puts the pages of the next run to read into `run`, ascending. All pages from the first to the
    /// last are read by one request, at most `pages_max`; those not named are read only because they
    /// lie between. An empty `run` means that nothing is to be read now.
    fn next_run(&mut self, pages_max: u32, run: &mut Vec<PageNo>);

    /// Whether `page` is still to come in a run. Other pages will be read on demand.
    fn will_read(&self, page: PageNo) -> bool;
}

/// The demands of a policy on the pool and the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyTraits {
    /// Used pages stay in the pool until their frames are needed, as in a server; the policy decides by
    /// them. Otherwise a page is released as soon as the scan has used it.
    pub keeps_used: bool,
    /// Pages read ahead and never used may be evicted for new ones.
    pub evicts_unused: bool,
    /// Branch pages are read one by one, when the scan reaches them, as in a server.
    pub descends_singly: bool,
    /// All leaves are found before the first is read, and consumed in file order instead of key order.
    pub in_file_order: bool,
}

impl PolicyTraits {
    /// The traits of a server's scan.
    pub const SERVER: PolicyTraits = PolicyTraits {
        keeps_used: true,
        evicts_unused: true,
        descends_singly: true,
        in_file_order: false,
    };
}

/// The neighbours of a page on its level, from its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// The page before, in key order.
    pub prev: Option<PageNo>,
    /// The page after, in key order.
    pub next: Option<PageNo>,
}

/// The view of the pool that a policy has.
pub trait PoolView {
    /// The state of a page; `None` if it is not in the pool.
    fn status(&self, page: PageNo) -> Option<PageStatus>;

    /// The file's size in pages.
    fn file_pages(&self) -> u32;

    /// The size of a page in bytes.
    fn page_bytes(&self) -> usize;

    /// The pages for which the pool has frames.
    fn pool_pages(&self) -> usize;

    /// The pages being read now.
    fn pending_pages(&self) -> usize;
}
