//! Read-ahead policies: which pages to read before they are asked for.
//!
//! A policy is a value. It is told the leaf numbers of the tree as the walk learns them, each leaf
//! the scan takes, both in key order, and each page that is accessed or missed; asked, it answers
//! with the next run of pages to read. It does no I/O, holds no lock and knows no clock, so the
//! same story always gives the same runs, and policies can be compared fairly.
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

pub use linear::Linear;
pub use logical::{Logical, LogicalOptions};
pub use none::None;
pub use physical::Physical;
pub use policy::ReadAheadPolicy;
pub(crate) use policy::Sizes;
pub use random::Random;
pub use segment::Segment;

use std::time::Duration;

use innoscan_format::PageNo;

/// Decides what to read before it is asked for.
pub trait ReadAhead: Send {
    /// What a request costs, before the first leaf is learnt.
    fn told_cost(&mut self, _request: Duration) {}

    /// Leaf numbers the walk has learnt, continuing in key order.
    fn learn(&mut self, _leaves: &[PageNo]) {}

    /// The scan takes `leaf`, the next in key order; `waited`: it stood still until it was there.
    fn take(&mut self, _leaf: PageNo, _waited: bool) {}

    /// A page is not in the pool, and is going to be read on demand.
    fn missed(&mut self, _page: PageNo, _pool: &dyn Residents) {}

    /// A page was accessed for the first time since it was read.
    fn accessed(&mut self, _page: PageNo, _links: Links, _pool: &dyn Residents) {}

    /// Puts the pages of the next run to read into `run`, ascending: the first and last page and
    /// all between them are to be read at once, at most `most_pages` of them; those not named are
    /// read only because they lie between. Leaves `run` empty when there is nothing to read now.
    fn next_run(&mut self, most_pages: u32, run: &mut Vec<PageNo>);

    /// Whether `page` is still to come in a run. What is not will be read on demand.
    fn will_read(&self, page: PageNo) -> bool;
}

/// What a policy presupposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// Pages that were used stay in the pool until their frames are needed, as in a server: the
    /// policy judges by them. Else a page is let go of as soon as the scan has used it.
    pub keeps_used: bool,
    /// Pages read ahead that nobody has used may have to make room for those that come.
    pub evicts_unused: bool,
    /// Branch pages are read one by one, when the scan has come to them, as a server does.
    pub descends_singly: bool,
    /// Leaves are learnt all at once, and taken, in file order instead of key order.
    pub in_file_order: bool,
}

impl Manners {
    /// A server's.
    pub const SERVER: Manners = Manners {
        keeps_used: true,
        evicts_unused: true,
        descends_singly: true,
        in_file_order: false,
    };
}

/// A page's neighbours on its level, as its header names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// The page before it.
    pub prev: Option<PageNo>,
    /// The page after it.
    pub next: Option<PageNo>,
}

/// What a policy may know of the pool.
pub trait Residents {
    /// A page that is in the pool.
    fn resident(&self, page: PageNo) -> Option<Resident>;

    /// Pages of the file.
    fn file_pages(&self) -> u32;

    /// Bytes of a page.
    fn page_bytes(&self) -> usize;

    /// Pages the pool has frames for.
    fn pool_pages(&self) -> usize;

    /// Pages being read now.
    fn pending_pages(&self) -> usize;
}

/// A page in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// When it was first accessed, as a number that grows with each access of any page; `None` when
    /// nobody has.
    pub first_access: Option<u64>,
    /// Whether it is far from being evicted (`buf_page_peek_if_young`).
    pub is_young: bool,
}
