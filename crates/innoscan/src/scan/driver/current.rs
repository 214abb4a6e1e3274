//! One tablespace being scanned.

use std::sync::Arc;
use std::time::Duration;

use innoscan_format::PageNo;

use crate::ahead::ReadAhead;
use crate::file_order::FileOrder;
use crate::pool::{FileSlot, Pool};
use crate::scan::leaf_sort::LeafSort;
use crate::scan::task::SpaceContext;
use crate::scan::view::FileInPool;
use crate::walk::{Step, Walk};

pub(super) struct Current {
    pub context: Arc<SpaceContext>,
    pub slot: FileSlot,
    pub walk: Walk,
    pub leaves: Leaves,
    pub policy: Box<dyn ReadAhead>,
    /// How long was waited for how many requests, before it was opened.
    pub waited_before: (Duration, u64),
    pub is_cost_told: bool,
    /// The next leaf is on its way.
    pub is_due: bool,
    /// The scan stood still until the next leaf was there.
    pub has_waited: bool,
    /// What is left of a run the engine had no room for.
    pub run: Vec<PageNo>,
    pub pages: Vec<PageNo>,
}

/// Where the next leaf comes from.
pub(super) enum Leaves {
    /// The walk, which knows them in key order.
    OfWalk,
    /// None before all are learnt, in file order.
    Awaited,
    /// All of them, in file order.
    InFileOrder(FileOrder),
    /// All of them: read in file order, delivered in key order.
    Sorted(FileOrder, LeafSort),
}

impl Current {
    /// The leaf that has to be read next, if it is known.
    pub fn peek(&self) -> Option<PageNo> {
        match &self.leaves {
            Leaves::OfWalk => self.walk.peek(),
            Leaves::Awaited => None,
            Leaves::InFileOrder(file_order) => file_order.peek(),
            Leaves::Sorted(file_order, _) => file_order.next_leaf().map(|(leaf, _)| leaf),
        }
    }

    /// The next step of leaves that are delivered as they are read.
    pub fn next_step(&mut self) -> Option<Step> {
        match &mut self.leaves {
            Leaves::OfWalk => self.walk.next_step(),
            Leaves::InFileOrder(file_order) => file_order.next_step(),
            Leaves::Awaited | Leaves::Sorted(..) => None,
        }
    }

    pub fn is_done(&self) -> bool {
        self.walk.is_done()
            && match &self.leaves {
                Leaves::OfWalk => true,
                Leaves::Awaited => false,
                Leaves::InFileOrder(file_order) => file_order.is_done(),
                Leaves::Sorted(file_order, sort) => sort.next_place() == file_order.places(),
            }
    }

    /// What the policy may know of the pool.
    pub fn view<'p>(&self, pool: &'p Pool) -> FileInPool<'p> {
        FileInPool { pool, file: self.slot, file_pages: self.context.format().size_pages }
    }
}
