//! The choice of the plan: before the first leaf is read, and again when the device turns out to be another
//! than it seemed.

use std::sync::mpsc::{self, TryRecvError};
use std::thread;

use innoscan_format::PageNo;
use innoscan_format::page::PageFormat;
use innoscan_io::Wait;

use super::Driver;
use super::current::{Current, Leaves};
use super::learnt::Reading;
use crate::Result;
use crate::ahead::Sizes;
use crate::io_options::pages_of;
use crate::scan::read_plan::ReadPlan;
use crate::scan::{RowOrder, StopOnPanic, spawn};

impl Driver<'_> {
    /// The sizes for a policy on a file of this format.
    pub(super) fn sizes(&self, format: PageFormat) -> Sizes {
        let sizes = self.budget.sizes(&self.options.io, self.learnt.device(), format);
        // The driver limits the runs of the policy.
        let run_bytes = self.options.io.run_bytes_max();
        Sizes { run_pages: pages_of(run_bytes, sizes.page_bytes).max(1), ..sizes }
    }

    /// Begins with reads as long and as many as the device needs, by what is known of it.
    pub(super) fn begin_reads(&mut self) {
        let run_bytes = self.options.io.run_bytes(self.learnt.device());
        self.run_length.begin(run_bytes);
        if let Some(device) = self.learnt.device() {
            self.in_flight.begin(&device, run_bytes);
        }
    }

    /// Chooses the plan, and passes on the leaves found so far, in its order; `false` when more branch
    /// pages must be read first: all of them, unless the device is fast.
    pub(super) fn choose_plan(&mut self, current: &mut Current) -> Result<bool> {
        let has_found_all = current.walk.has_found_all();
        let first = self.planner.first();
        if self.planner.is_auto() {
            self.learnt.note_branches(&self.reading(), has_found_all);
        }
        let keeps_first = !self.planner.is_auto() || self.learnt.is_fast();
        if !has_found_all && (!keeps_first || first.policy.traits().in_file_order) {
            return Ok(false);
        }
        let plan = if keeps_first { first } else { self.settle(current)? };
        self.follow(plan, current)?;
        Ok(true)
    }

    /// The plan with the least cost for the leaves that are left. It is computed on other threads: this one
    /// serves page requests meanwhile.
    fn settle(&mut self, current: &Current) -> Result<ReadPlan> {
        let leaves: Vec<PageNo> = current.walk.leaves().collect();
        let (format, device) = (current.context.format(), self.learnt.device());
        let (planner, shared) = (self.planner, self.shared);
        thread::scope(|scope| {
            let (sender, planned) = mpsc::sync_channel(1);
            spawn(scope, "plan".to_string(), move || {
                let _stop = StopOnPanic(shared);
                // The receiver is gone only when the scan has failed.
                let _ = sender.send(planner.settle(&leaves, format, device));
                shared.wake_driver();
            })?;
            loop {
                match planned.try_recv() {
                    Ok(plan) => return plan,
                    // The thread panicked, and so does the scope.
                    Err(TryRecvError::Disconnected) => return Ok(planner.first()),
                    Err(TryRecvError::Empty) => {}
                }
                let progress = self.serve() | (self.pool.poll(Wait::No)? > 0);
                self.wait_unless(progress)?;
            }
        })
    }

    /// Reads the leaves that are left by a plan.
    fn follow(&mut self, plan: ReadPlan, current: &mut Current) -> Result<()> {
        let format = current.context.format();
        let mut sizes = self.sizes(format);
        self.begin_reads();
        let window_pages = pages_of(plan.window_bytes, format.physical_len()) as usize;
        sizes.window_pages = sizes.window_pages.min(window_pages).max(1);
        self.driven.policy = plan.policy;
        current.policy = plan.policy.begin(&sizes);
        current.is_cost_set = false;
        current.run.clear();
        if !plan.policy.traits().in_file_order {
            current.pages = current.walk.leaves().collect();
            current.leaves = Leaves::OfWalk;
            return Ok(());
        }
        let file_order = current.walk.take_file_order();
        current.pages = file_order.pages();
        current.leaves = match self.options.rows.order {
            RowOrder::Any => Leaves::InFileOrder(file_order),
            RowOrder::Key => {
                let sort = self.leaf_sorter(file_order.places(), sizes.segment_pages())?;
                Leaves::Sorted(file_order, sort)
            }
        };
        Ok(())
    }

    /// Chooses another plan for the leaves that are left when reads have become slow and show the device to
    /// be another than it was taken for.
    pub(super) fn reconsider(&mut self, current: &mut Current) -> Result<()> {
        let may_change = self.planner.is_auto() && matches!(current.leaves, Leaves::OfWalk);
        if !may_change || !self.in_flight.is_slow() {
            return Ok(());
        }
        current.is_plan_due |= self.learnt.reconsider(&self.reading());
        if !current.is_plan_due || !current.walk.has_found_all() {
            return Ok(());
        }
        current.is_plan_due = false;
        let plan = self.settle(current)?;
        self.follow(plan, current)?;
        self.pass_to_policy(current);
        Ok(())
    }

    /// Passes leaves to the policy, which learns the cost of a request before the first.
    pub(super) fn pass_to_policy(&mut self, current: &mut Current) {
        if !current.is_cost_set {
            current.policy.set_request_cost(self.request_cost(current.waited_before));
            current.is_cost_set = true;
        }
        current.policy.on_leaves(&current.pages);
    }

    /// Remembers the device, when the last leaf of a tablespace was read.
    pub(super) fn remember_device(&mut self, current: &Current) {
        let now = self.reading();
        self.learnt.remember(self.pool.file(current.slot), &now);
    }

    /// The reads so far.
    pub(super) fn reading(&self) -> Reading {
        Reading { progress: self.pool.progress(), wait: self.pool.waited() }
    }
}
