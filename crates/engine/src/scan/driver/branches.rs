//! Branch pages: they are read in batches and fed to the walk; the leaves that they name are passed on
//! to the policy.

use std::sync::atomic::Ordering;
use std::time::Duration;

use innoscan_format::PageNo;
use innoscan_format::page;
use innoscan_io::Kind;

use super::Driver;
use super::current::{Current, Leaves};
use crate::{Error, Result};

/// The most branch pages requested at once.
const BRANCHES_AT_ONCE: usize = 256;

/// The least number of leaves known ahead of the scan: all those of a table of 16 GiB, whose count is
/// thereby exact from the start. Four bytes each.
const LEAVES_AHEAD: usize = 1 << 20;

impl Driver<'_> {
    /// Feeds branch pages that are present to the walk, unless it is far ahead already.
    pub(super) fn feed_walk(&mut self, current: &mut Current, is_last: bool) -> Result<bool> {
        let mut progress = false;
        while current.walk.leaves_ahead() < self.leaves_ahead_max(current) {
            let fronts: Vec<PageNo> = current.walk.fronts().collect();
            let ready = fronts
                .into_iter()
                .find_map(|page| self.hand_out(current, page).map(|handed| (page, handed)));
            let Some((page_no, taken)) = ready else { break };
            let Current { context, walk, .. } = current;
            match taken {
                Ok(bytes) => {
                    let pages = &context.page_context;
                    let opened = page::open(&bytes, pages, page_no, &mut self.scratch);
                    walk.feed(page_no, opened.map_err(Error::from), &context.layout);
                }
                Err(error) => walk.feed(page_no, Err(error), &context.layout),
            }
            progress = true;
        }
        self.pass_on_leaves(current, is_last)?;
        Ok(progress)
    }

    /// Passes the leaves that the walk has found to the policy.
    fn pass_on_leaves(&mut self, current: &mut Current, is_last: bool) -> Result<()> {
        current.walk.take_found_leaves(&mut current.pages);
        if matches!(current.leaves, Leaves::Awaited) && !self.choose_plan(current)? {
            return Ok(());
        }
        let delivered = self.delivered();
        self.slow_start.pass(&mut current.pages, delivered);
        if current.pages.is_empty() {
            return Ok(());
        }
        let (total, is_exact) = current.walk.total_leaves();
        self.shared.total_leaves.store(self.past_leaves + total, Ordering::Relaxed);
        self.shared.is_total_exact.store(is_exact && is_last, Ordering::Relaxed);
        self.pass_to_policy(current);
        Ok(())
    }

    /// The total wait so far, and the number of requests.
    pub(super) fn waited(&self) -> (Duration, u64) {
        (self.pool.stats().wait, self.pool.counters().requests())
    }

    /// The cost of a request: from the device's model, or from the wait for the requests for branch
    /// pages.
    pub(super) fn request_cost(&self, (wait_before, requests_before): (Duration, u64)) -> Duration {
        if let Some(device) = self.learnt.device() {
            return device.request_cost(self.pool.page_bytes() as u64);
        }
        let (wait, requests) = self.waited();
        (wait - wait_before).div_f64((requests - requests_before).max(1) as f64)
    }

    fn leaves_ahead_max(&self, current: &Current) -> usize {
        if matches!(current.leaves, Leaves::Awaited) || current.is_plan_due {
            return usize::MAX;
        }
        if self.traits.descends_singly {
            // The next leaf, and the one after it to know that it exists.
            return 2;
        }
        let most = LEAVES_AHEAD.max(2 * self.budget.window_pages);
        self.slow_start.leaves_ahead(most, self.delivered())
    }

    /// Requests the branch pages that the walk can use next, many at once.
    pub(super) fn read_branches(&mut self, current: &mut Current) -> bool {
        if current.walk.has_found_all()
            || current.walk.leaves_ahead() >= self.leaves_ahead_max(current)
            || !self.may_read_on_demand()
        {
            return false;
        }
        let spare = self.spare_frames();
        let at_once = if self.traits.descends_singly { 1 } else { BRANCHES_AT_ONCE };
        let at_once = self.slow_start.branches_at_once(at_once, self.delivered());
        let most = (spare / 2).clamp(1, at_once);
        let file = current.slot;
        current.walk.wanted(most, &mut current.pages);
        let run_pages = self.run_pages() as u32;
        let mut progress = false;
        for pages in self.pool.absent_runs(file, &current.pages, run_pages) {
            if !self.may_read_on_demand() {
                break;
            }
            progress |= self.pool.read(file, &pages, Kind::Demand) > 0;
        }
        progress
    }
}
