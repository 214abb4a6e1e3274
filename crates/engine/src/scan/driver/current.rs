//! The tablespace that is being scanned.

use std::sync::Arc;
use std::time::Duration;

use innoscan_format::PageNo;

use crate::ahead::ReadAhead;
use crate::file_order::FileOrder;
use crate::pool::{FileSlot, Pool};
use crate::scan::leaf_sorter::LeafSorter;
use crate::scan::task::SpaceContext;
use crate::scan::view::FileInPool;
use crate::walk::{Step, Walk};

pub(super) struct Current {
    pub context: Arc<SpaceContext>,
    pub slot: FileSlot,
    pub walk: Walk,
    pub leaves: Leaves,
    pub policy: Box<dyn ReadAhead>,
    /// The total wait, and the number of requests, before the tablespace was opened.
    pub waited_before: (Duration, u64),
    /// Whether another plan is chosen as soon as all leaves are found.
    pub is_plan_due: bool,
    pub is_cost_set: bool,
    /// Whether the next leaf is being read.
    pub is_due: bool,
    /// Whether the scan was blocked until the next leaf was present.
    pub has_waited: bool,
    /// The rest of a run for which the engine had no room.
    pub run: Vec<PageNo>,
    pub pages: Vec<PageNo>,
}

/// The source of the next leaf.
pub(super) enum Leaves {
    /// The walk, in key order.
    OfWalk,
    /// None until all leaves are found; then in file order.
    Awaited,
    /// All leaves, in file order.
    InFileOrder(FileOrder),
    /// All leaves: read in file order, delivered in key order.
    Sorted(FileOrder, LeafSorter),
}

impl Current {
    /// The leaf that must be read next, if known.
    pub fn peek(&self) -> Option<PageNo> {
        match &self.leaves {
            Leaves::OfWalk => self.walk.peek(),
            Leaves::Awaited => None,
            Leaves::InFileOrder(file_order) => file_order.peek(),
            Leaves::Sorted(file_order, _) => file_order.next_leaf().map(|(leaf, _)| leaf),
        }
    }

    /// The next step where leaves are delivered in the order they are read.
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

    /// The policy's view of the pool.
    pub fn view<'p>(&self, pool: &'p Pool) -> FileInPool<'p> {
        FileInPool { pool, file: self.slot, file_pages: self.context.format().size_pages }
    }
}
