//! The choice of a scan's plan: the one with the least cost.

use innoscan_format::PageNo;
use innoscan_format::page::PageFormat;
use innoscan_io::Device;

use super::cost::Cost;
use super::read_plan::ReadPlan;
use super::{ReadAheadPolicy, RowOrder, ScanOptions};
use crate::Result;
use crate::ahead::{Linear, Logical, PolicyTraits};
use crate::cores::cores;
use crate::side_by_side::side_by_side;

/// The windows of logical read-ahead that are compared, in bytes.
const WINDOWS_BYTES: [u64; 5] = [16 << 20, 64 << 20, 256 << 20, 1 << 30, 4 << 30];

/// Memory for pages that is useful to a scan in file order, unless it sorts leaves.
const SEGMENT_BYTES: u64 = 48 << 20;

/// The memory of a simulation for each leaf: its number in file order, and in the policy.
const SIMULATED_LEAF_BYTES: u64 = 8;

/// From so many requests per second on a device counts as fast: on it, leaves are read page by page in hardly
/// more time than they are decoded.
const FAST_IOPS: f64 = 20_000.0;

/// Whether a device that a scan has learnt is so fast that the first plan is kept: rows come before all leaves
/// are known.
pub fn is_fast(device: &Device) -> bool {
    device.iops.is_none_or(|iops| iops >= FAST_IOPS)
}

/// The choice of a plan: at first the one that the options set; for `auto`, the cheapest one as soon as
/// all leaves are known.
#[derive(Clone, Copy)]
pub(super) struct Planner<'o> {
    options: &'o ScanOptions,
}

impl<'o> Planner<'o> {
    pub fn new(options: &'o ScanOptions) -> Planner<'o> {
        Planner { options }
    }

    /// The plan to start with.
    pub fn first(&self) -> ReadPlan {
        ReadPlan::of(self.options)
    }

    /// Whether the plan is chosen by its cost.
    pub fn is_auto(&self) -> bool {
        self.options.plan.policy.is_none()
    }

    /// Whether the scan starts slowly: only where the plan is known, and reads in key order.
    pub fn starts_slowly(&self) -> bool {
        self.options.plan.slow_start && !self.is_auto() && !self.traits().in_file_order
    }

    /// The demands of the policy on pool and walk.
    pub fn traits(&self) -> PolicyTraits {
        // The policies to choose from differ only in the order of the leaves.
        self.options.plan.policy.map_or(Logical::TRAITS, ReadAheadPolicy::traits)
    }

    /// The plan for known leaves, on a device that may be known.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn settle(
        &self,
        leaves: &[PageNo],
        format: PageFormat,
        device: Option<Device>,
    ) -> Result<ReadPlan> {
        let first = self.first();
        let Some(device) = device.filter(|_| self.is_auto()) else {
            return Ok(first);
        };
        let page_bytes = u64::from(format.physical_bytes);
        let plans = candidates(leaves.len() as u64, page_bytes, self.options);
        let plans: Vec<(usize, ReadPlan)> = plans.into_iter().enumerate().collect();
        let cost_of = |(place, plan): &(usize, ReadPlan)| {
            let mut cost = Cost::new(*plan);
            cost.add_leaves(leaves, format, self.options, &device).map(|()| (*place, cost))
        };
        let mut costs = Vec::new();
        side_by_side(&plans, self.simulations(leaves.len()), cost_of, |_, cost| {
            // Plans for which memory is not enough are not chosen.
            costs.extend(cost.ok());
            Ok(())
        })?;
        costs.sort_unstable_by_key(|(place, _)| *place);
        let costs: Vec<Cost> = costs.into_iter().map(|(_, cost)| cost).collect();
        Ok(choose(&costs, self.options).map_or(first, |chosen| chosen.plan))
    }

    /// The simulations that may run at once: one for each core, as far as the scan's memory has room for
    /// their copies of the leaves.
    fn simulations(&self, leaves: usize) -> usize {
        let room = self.options.plan.memory_bytes / (SIMULATED_LEAF_BYTES * leaves.max(1) as u64);
        cores().min(usize::try_from(room).unwrap_or(usize::MAX)).max(1)
    }
}

/// The windows to compare: the one that is set, the largest that the memory allows, and others up to
/// one that holds all leaves.
pub fn windows_bytes(leaf_bytes: u64, options: &ScanOptions) -> Vec<u64> {
    let holding = WINDOWS_BYTES.iter().position(|window| *window >= leaf_bytes);
    let mut windows =
        WINDOWS_BYTES[..holding.map_or(WINDOWS_BYTES.len(), |last| last + 1)].to_vec();
    let largest = (options.plan.memory_bytes / 3 * 2) >> 20 << 20;
    windows.extend([options.plan.window_bytes, largest].into_iter().filter(|bytes| *bytes > 0));
    windows.sort_unstable();
    windows.dedup();
    windows
}

/// All plans for a table with this many leaves.
pub fn plans(leaves: u64, page_bytes: u64, options: &ScanOptions) -> Vec<ReadPlan> {
    let named = ReadPlan { order: RowOrder::Key, ..ReadPlan::of(options) };
    let in_key_order = |policy| ReadPlan { policy, ..named };
    let mut plans = vec![
        in_key_order(ReadAheadPolicy::None),
        in_key_order(ReadAheadPolicy::Linear { threshold: Linear::THRESHOLD_DEFAULT }),
        in_key_order(ReadAheadPolicy::Random),
        in_key_order(ReadAheadPolicy::Physical),
        ReadPlan {
            order: RowOrder::Any,
            // Pages are used as soon as they are read; eight bytes per leaf are added.
            memory_bytes: SEGMENT_BYTES + 8 * leaves,
            ..in_key_order(ReadAheadPolicy::Segment)
        },
        in_key_order(ReadAheadPolicy::Segment),
    ];
    let windows = windows_bytes(leaves * page_bytes, options).into_iter();
    plans.extend(windows.map(|window_bytes| named.with_window(window_bytes)));
    plans
}

/// Whether `auto` may choose a plan, which must give the requested order of rows within the memory. A
/// server's own policies and `physical` are not candidates: with some window `logical` is never
/// slower.
fn is_candidate(plan: &ReadPlan, options: &ScanOptions) -> bool {
    matches!(plan.policy, ReadAheadPolicy::Logical | ReadAheadPolicy::Segment)
        && (plan.order == RowOrder::Key || options.rows.order == RowOrder::Any)
        && plan.memory_bytes <= options.plan.memory_bytes
}

/// The plans that `auto` chooses from, for a table with this many leaves. (Each estimate takes time.)
pub fn candidates(leaves: u64, page_bytes: u64, options: &ScanOptions) -> Vec<ReadPlan> {
    let mut plans = plans(leaves, page_bytes, options);
    plans.retain(|plan| is_candidate(plan, options));
    plans
}

/// The cost to choose among the candidates, without a temporary file where none is allowed: the least
/// time; among those within a twentieth of it the one that spills the least, then the one with the
/// least memory.
pub fn choose<'c>(costs: &'c [Cost], options: &ScanOptions) -> Option<&'c Cost> {
    let may_be_chosen = |cost: &&Cost| {
        let may_spill = || options.plan.spill.directory(cost.leaf_bytes).is_some();
        is_candidate(&cost.plan, options) && (!cost.may_spill || may_spill())
    };
    let within = || costs.iter().filter(may_be_chosen);
    let least = within().map(|cost| cost.scan_time).min()?;
    within()
        .filter(|cost| cost.scan_time <= least.mul_f64(1.05))
        .min_by_key(|cost| (cost.spilled_bytes, cost.plan.memory_bytes))
}
