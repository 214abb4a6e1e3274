//! What a scan would cost under each policy, told from the branch pages before a leaf is read.
//!
//! The branch pages name all leaves in key order: that is all a policy goes by, so each is asked
//! what it would read (`simulate`), and a device's model says how long that takes. What the
//! processors need comes on top where the device is faster than they.

pub(crate) mod leaves;
mod simulate;
#[cfg(test)]
mod tests;

use std::time::Duration;

use innoscan_format::PageNo;
use innoscan_format::page::PageFormat;
use innoscan_io::{self as io, Device};

pub use simulate::Reads;

use crate::ahead::{Linear, ReadAheadPolicy};
use crate::scan::{Budget, ScanOptions, open_spaces};
use crate::space::Space;
use crate::{Result, Table};

/// Windows of logical read-ahead that are tried, in bytes.
const WINDOWS_BYTES: [u64; 5] = [16 << 20, 64 << 20, 256 << 20, 1 << 30, 4 << 30];

/// Memory for pages that a scan in file order makes use of.
const SEGMENT_BYTES: u64 = 48 << 20;

/// Where a table's leaves are.
pub struct Explanation {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages of its files.
    pub file_pages: u64,
    /// Pages above the leaves of the clustered index.
    pub branch_pages: u64,
    /// Reading these took: counted, not estimated.
    pub branch_reads: io::Counters,
    /// Pages in extents that belong to nothing.
    pub free_pages: u64,
    trees: Vec<Tree>,
    options: ScanOptions,
}

#[derive(Debug)]
struct Tree {
    leaves: Vec<PageNo>,
    format: PageFormat,
}

/// What a scan would need under a policy.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The policy.
    pub policy: ReadAheadPolicy,
    /// The window of logical read-ahead, in bytes.
    pub window_bytes: Option<u64>,
    /// Memory for pages.
    pub memory_bytes: u64,
    /// Requests for the branch pages, and how many these are.
    pub branch_requests: u64,
    /// Their pages.
    pub branch_pages: u64,
    /// Reads of leaves, and of what is read beside them.
    pub reads: Reads,
    /// How long the device is busy with them.
    pub device_time: Duration,
}

/// Reads a table's branch pages, of all its tablespaces.
///
/// # Errors
/// Where a branch page is damaged: the leaves below it are not known.
pub fn explain(table: &Table, options: &ScanOptions) -> Result<Explanation> {
    let mut explanation = Explanation {
        page_bytes: 0,
        file_pages: 0,
        branch_pages: 0,
        branch_reads: io::Counters::default(),
        free_pages: 0,
        trees: Vec::new(),
        options: options.clone(),
    };
    for (space, file) in open_spaces(table, options)?.iter().zip(&table.files) {
        let leaves = leaves::leaves(table, file, space, options)
            .map_err(|error| error.in_file(&file.path))?;
        explanation.page_bytes = u64::from(space.page_size().bytes());
        explanation.file_pages += u64::from(space.file_pages());
        explanation.free_pages += free_pages(space);
        explanation.branch_pages += leaves.branch_pages;
        explanation.branch_reads.merge(&leaves.reads);
        explanation.trees.push(Tree { leaves: leaves.pages, format: space.format() });
    }
    Ok(explanation)
}

/// Pages in free extents, and those the server has not begun to use.
fn free_pages(space: &Space) -> u64 {
    let header = space.header();
    let extent_pages = u64::from(space.page_size().extent_pages());
    let beyond = u64::from(header.size_pages.saturating_sub(header.free_limit.0));
    u64::from(header.free.len) * extent_pages + beyond
}

impl Explanation {
    /// Leaves of the clustered index.
    pub fn leaves(&self) -> u64 {
        self.trees.iter().map(|tree| tree.leaves.len() as u64).sum()
    }

    /// Share of the leaves whose next in key order is also next in the file.
    pub fn adjacent_share(&self) -> f64 {
        let is_next = |two: &[PageNo]| two[0].0.checked_add(1) == Some(two[1].0);
        let adjacent = |tree: &Tree| tree.leaves.windows(2).filter(|two| is_next(two)).count();
        let pairs: usize = self.trees.iter().map(|tree| tree.leaves.len().saturating_sub(1)).sum();
        self.trees.iter().map(adjacent).sum::<usize>() as f64 / pairs.max(1) as f64
    }

    /// How many leaves lie side by side, on average, when so many bytes of them are sorted.
    pub fn mean_run(&self, window_bytes: u64) -> f64 {
        let window = usize::try_from(window_bytes / self.page_bytes.max(1)).unwrap_or(usize::MAX);
        let runs = |window: &[PageNo]| {
            let mut pages: Vec<u32> = window.iter().map(|page| page.0).collect();
            pages.sort_unstable();
            io::coalesce(&pages, 0, u32::MAX).count()
        };
        let windows = self.trees.iter().flat_map(|tree| tree.leaves.chunks(window.max(1)));
        self.leaves() as f64 / windows.map(runs).sum::<usize>().max(1) as f64
    }

    /// The windows worth a word: the one that is set, and others up to one that holds all leaves.
    pub fn windows_bytes(&self) -> Vec<u64> {
        let leaf_bytes = self.leaves() * self.page_bytes;
        let holding = WINDOWS_BYTES.iter().position(|window| *window >= leaf_bytes);
        let mut windows =
            WINDOWS_BYTES[..holding.map_or(WINDOWS_BYTES.len(), |last| last + 1)].to_vec();
        windows.push(self.options.lra_size_bytes);
        windows.sort_unstable();
        windows.dedup();
        windows
    }

    /// What each policy would need on a device.
    pub fn costs(&self, device: &Device) -> Result<Vec<Cost>> {
        let mut costs = Vec::new();
        let linear = ReadAheadPolicy::Linear { threshold: Linear::THRESHOLD_DEFAULT };
        let random = ReadAheadPolicy::Random;
        for policy in [ReadAheadPolicy::None, linear, random, ReadAheadPolicy::Physical] {
            costs.push(self.cost(policy, None, device)?);
        }
        costs.push(self.cost(ReadAheadPolicy::Segment, None, device)?);
        for window_bytes in self.windows_bytes() {
            costs.push(self.cost(ReadAheadPolicy::Logical, Some(window_bytes), device)?);
        }
        Ok(costs)
    }

    /// What a policy would need: with a window of its own, or else as the options say.
    pub fn cost(
        &self,
        policy: ReadAheadPolicy,
        window_bytes: Option<u64>,
        device: &Device,
    ) -> Result<Cost> {
        let mut options = self.options.clone();
        options.device = Some(*device);
        options.read_ahead = policy;
        if let Some(window_bytes) = window_bytes {
            options.lra_size_bytes = window_bytes;
            // As much more as the defaults have.
            options.memory_bytes = window_bytes / 2 * 3;
        }
        if policy.manners().in_file_order {
            // What is read is used at once; eight bytes a leaf come on top.
            options.memory_bytes = SEGMENT_BYTES + 8 * self.leaves();
        }
        let mut reads = Reads::default();
        for tree in &self.trees {
            let budget = Budget::new(&options, tree.format.page_size.len())?;
            let sizes = budget.sizes(&options, tree.format);
            let pool_pages = budget.frames - budget.reserve;
            let of_tree =
                simulate::simulate(policy, &tree.leaves, &sizes, pool_pages, options.depth, device);
            reads.add(&of_tree);
        }
        let branch_pages = self.branch_pages;
        let branch_requests = match policy.manners().descends_singly {
            true => branch_pages,
            false => self.branch_reads.requests(),
        };
        let branches = device.occupied(self.page_bytes * branch_pages / branch_requests.max(1));
        let branches = (branches + device.latency).mul_f64(branch_requests as f64);
        let device_time = branches + reads.device_time(device, self.page_bytes);
        let memory_bytes = options.memory_bytes;
        Ok(Cost {
            policy,
            window_bytes,
            memory_bytes,
            branch_requests,
            branch_pages,
            reads,
            device_time,
        })
    }
}

impl Cost {
    /// All requests.
    pub fn requests(&self) -> u64 {
        self.branch_requests + self.reads.requests()
    }

    /// All pages they bring.
    pub fn pages(&self) -> u64 {
        self.branch_pages + self.reads.pages()
    }
}

/// The cost to choose where rows must come in key order: the least time within the memory; of those
/// within a twentieth of it the one with the least memory.
pub fn choose(costs: &[Cost], memory_bytes: u64) -> Option<&Cost> {
    let may_be_chosen =
        |cost: &&Cost| cost.memory_bytes <= memory_bytes && !cost.policy.manners().in_file_order;
    let within = || costs.iter().filter(may_be_chosen);
    let least = within().map(|cost| cost.device_time).min()?;
    within()
        .filter(|cost| cost.device_time <= least.mul_f64(1.05))
        .min_by_key(|cost| cost.memory_bytes)
}
