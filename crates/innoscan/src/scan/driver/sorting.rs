//! Leaves read in file order and delivered in key order.

use std::sync::atomic::Ordering;

use super::current::{Current, Leaves};
use super::{Driver, Next, Presence};
use crate::Result;
use crate::scan::decode::Item;
use crate::scan::leaf_sort::LeafSort;
use crate::walk::Step;

impl Driver<'_> {
    /// For so many leaves, with the frames that reading them leaves free.
    pub(super) fn leaf_sort(&self, leaves: usize, window_pages: usize) -> LeafSort {
        let dir = self.options.temporary_dir.clone().unwrap_or_else(std::env::temp_dir);
        LeafSort::new(leaves, self.budget.hold_most(window_pages), self.pool.page_bytes(), dir)
    }

    /// Goes on with sorting, if leaves are sorted: takes those that are here, or when all were
    /// taken reads some back. Whether anything was done.
    pub(super) fn sort_leaves(&mut self, current: &mut Current) -> Result<bool> {
        let mut progress = false;
        while let Leaves::Sorted(file_order, sort) = &mut current.leaves {
            let Some((leaf, _)) = file_order.next_leaf() else {
                return Ok(sort.read_back(&self.pool, self.budget.reserve)? || progress);
            };
            match self.presence(current, leaf) {
                Presence::Here => {}
                Presence::Asked => return Ok(true),
                Presence::NotYet => return Ok(progress),
            }
            current.policy.take(leaf, std::mem::take(&mut current.has_waited));
            current.is_due = false;
            let Some(handed) = self.hand_out(current, leaf) else { return Ok(progress) };
            let Leaves::Sorted(file_order, sort) = &mut current.leaves else { break };
            if let Some(place) = file_order.next_place() {
                sort.put(place, handed)?;
            }
            if file_order.next_leaf().is_none() {
                sort.all_put()?;
            }
            self.shared.sorted_leaves.fetch_add(1, Ordering::Relaxed);
            progress = true;
        }
        Ok(progress)
    }

    /// The next of sorted leaves, once all were put.
    pub(super) fn next_sorted(
        file_order: &mut crate::file_order::FileOrder,
        sort: &mut LeafSort,
    ) -> Next {
        if file_order.next_leaf().is_some() {
            return Next::NotYet;
        }
        let place = sort.next_place();
        if file_order.is_damaged(place) {
            sort.pass();
            return match file_order.step_at(place) {
                Some(Step::Damaged { page, error }) => {
                    Next::Item(Item::Damaged { page_no: page, error })
                }
                _ => Next::NotYet,
            };
        }
        let Some(taken) = sort.take() else { return Next::NotYet };
        match (file_order.step_at(place), taken) {
            (Some(Step::Leaf { page, prev, next }), Ok(bytes)) => {
                Next::Item(Item::Leaf { page_no: page, page: bytes, prev, next })
            }
            (Some(Step::Leaf { page, .. }), Err(error)) => {
                Next::Item(Item::Damaged { page_no: page, error })
            }
            _ => Next::NotYet,
        }
    }
}
