//! Leaves read in file order and delivered in key order.

use std::sync::atomic::Ordering;

use super::current::{Current, Leaves};
use super::{Driver, Next, Presence};
use crate::Result;
use crate::scan::leaf_sorter::LeafSorter;
use crate::scan::task::Item;
use crate::walk::Step;

/// The most leaves compressed before other work gets a turn: some hundred microseconds of work.
const LEAVES_AT_ONCE: usize = 16;

impl Driver<'_> {
    /// A sort for a number of leaves, with the memory that reading and decoding leave.
    pub(super) fn leaf_sorter(&self, leaves: usize, window_pages: usize) -> Result<LeafSorter> {
        let page_bytes = self.pool.page_bytes();
        // Frames that an earlier plan used still take memory.
        let touched_pages = self.pool.touched_pages();
        let memory_bytes = self.budget.hold_pages(window_pages.max(touched_pages)) * page_bytes;
        let leaf_bytes = leaves as u64 * page_bytes as u64;
        let dir = self.options.plan.spill.directory(leaf_bytes).map(ToOwned::to_owned);
        LeafSorter::new(leaves, memory_bytes, page_bytes, dir)
    }

    /// Puts the leaves that are present into the sort; whether there were any.
    pub(super) fn sort_leaves(&mut self, current: &mut Current) -> Result<bool> {
        let mut progress = false;
        for _ in 0..LEAVES_AT_ONCE {
            let Leaves::Sorted(file_order, _) = &current.leaves else { break };
            let Some((leaf, place)) = file_order.next_leaf() else { break };
            match self.presence(current, leaf) {
                Presence::Here => {}
                Presence::Started => return Ok(true),
                Presence::Pending | Presence::NoRoom => break,
            }
            current.policy.on_consumed(leaf, std::mem::take(&mut current.has_waited));
            current.is_due = false;
            let Some(handed) = self.hand_out(current, leaf) else { break };
            let Leaves::Sorted(file_order, sort) = &mut current.leaves else { break };
            sort.put(place, handed)?;
            file_order.next_place();
            let is_last = file_order.next_leaf().is_none();
            if is_last {
                sort.all_put()?;
                self.remember_device(current);
            }
            self.shared.sorted_leaves.fetch_add(1, Ordering::Relaxed);
            progress = true;
        }
        Ok(progress)
    }

    /// The next of the sorted leaves, once all are in the sort.
    pub(super) fn next_sorted(current: &mut Current) -> Result<Next> {
        let Leaves::Sorted(file_order, sort) = &mut current.leaves else { return Ok(Next::NotYet) };
        let place = sort.next_place();
        if file_order.next_leaf().is_some() || place == file_order.places() {
            return Ok(Next::NotYet);
        }
        if file_order.is_damaged(place) {
            sort.pass()?;
            return Ok(match file_order.step_at(place) {
                Some(Step::Damaged { page, error }) => {
                    Next::Item(Item::Damaged { page_no: page, error })
                }
                _ => Next::NotYet,
            });
        }
        let taken = sort.take()?;
        Ok(match (file_order.step_at(place), taken) {
            (Some(Step::Leaf { page, prev, next }), Ok(packed)) => {
                Next::Item(Item::Packed { page_no: page, packed, prev, next })
            }
            (Some(Step::Leaf { page, .. }), Err(error)) => {
                Next::Item(Item::Damaged { page_no: page, error })
            }
            _ => Next::NotYet,
        })
    }
}
