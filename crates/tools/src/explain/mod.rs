//! The estimated cost of a scan under each policy, from the branch pages, before a leaf is read.
//!
//! The branch pages list all leaves in key order; a policy needs no more.

mod json;
pub(crate) mod leaves;
mod segments;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use innoscan_engine::scan::cost::Cost;
use innoscan_engine::scan::cost::unzip_time;
pub use innoscan_engine::scan::plan::choose;
use innoscan_engine::scan::plan::{candidates, is_fast, plans, windows_bytes};
pub use innoscan_engine::scan::read_plan::ReadPlan;
use innoscan_engine::scan::{ScanOptions, open_spaces};
pub use innoscan_engine::simulate::Reads;
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::{Result, Table};
use innoscan_format::PageNo;
use innoscan_format::page::PageFormat;
use innoscan_io::{self as io, Device};

pub use self::segments::Owners;

/// The places of a table's leaves, from which costs are estimated.
pub struct Explanation {
    /// The size of a page in bytes.
    pub page_bytes: u64,
    /// Pages of the table's files.
    pub file_pages: u64,
    /// Pages above the leaves of the clustered index.
    pub branch_pages: u64,
    /// The counters of the reads of branch pages, which were really made.
    pub branch_reads: io::Counters,
    /// The device as these reads show it; nothing is known of it where they went through the page cache.
    pub device: Option<Device>,
    /// Pages in extents without an owner.
    pub free_pages: u64,
    /// Owners of the other pages.
    pub owners: Owners,
    trees: Vec<Tree>,
    options: ScanOptions,
}

#[derive(Debug)]
struct Tree {
    leaves: Vec<PageNo>,
    format: PageFormat,
}

/// Reads a table's branch pages, from all its tablespaces.
///
/// # Errors
/// A branch page is damaged: the leaves below it are not known.
pub fn explain(table: &Table, options: &ScanOptions) -> Result<Explanation> {
    let mut explanation = Explanation {
        page_bytes: 0,
        file_pages: 0,
        branch_pages: 0,
        branch_reads: io::Counters::default(),
        device: None,
        free_pages: 0,
        owners: Owners::default(),
        trees: Vec::new(),
        options: options.clone(),
    };
    let mut branch_wait = Duration::ZERO;
    let mut is_direct = true;
    for (space, file) in open_spaces(table, options)?.iter().zip(&table.files) {
        let mut reader = SpaceReader::new(space.clone())?;
        let leaves = leaves::leaves(table, file, &mut reader, options)
            .map_err(|error| error.in_file(&file.path))?;
        require_in_file(&leaves.pages, space).map_err(|error| error.in_file(&file.path))?;
        explanation.page_bytes = space.page_bytes() as u64;
        explanation.file_pages += u64::from(space.file_pages());
        explanation.free_pages += free_pages(space);
        let root = file.clustered_root.unwrap_or(space.first_root());
        explanation.owners.add(segments::owners(&mut reader, root)?);
        explanation.branch_pages += leaves.branch_pages;
        explanation.branch_reads.merge(&leaves.reads);
        branch_wait += leaves.wait;
        is_direct &= space.file().is_direct();
        explanation.trees.push(Tree { leaves: leaves.pages, format: space.format() });
    }
    let reads = io::Observed {
        requests: explanation.branch_reads.requests(),
        read_bytes: explanation.branch_reads.read_bytes(),
        elapsed: branch_wait,
    };
    explanation.device = (is_direct && reads.requests > 0).then(|| reads.device(None));
    Ok(explanation)
}

/// Refuses a file that ends before its last leaf.
fn require_in_file(leaves: &[PageNo], space: &Space) -> Result<()> {
    let file_pages = space.file_pages();
    match leaves.iter().max() {
        Some(last) if last.0 >= file_pages => Err(innoscan_format::Error::corrupt(format!(
            "it has {file_pages} pages, its header says {}, and there are leaves up to page {last}",
            space.header().size_pages
        ))
        .into()),
        _ => Ok(()),
    }
}

/// Pages in free extents, and those above the server's free limit.
fn free_pages(space: &Space) -> u64 {
    let header = space.header();
    let extent_pages = u64::from(space.page_size().extent_pages());
    let beyond = u64::from(header.size_pages.saturating_sub(header.free_limit.0));
    u64::from(header.free.len) * extent_pages + beyond
}

impl Explanation {
    /// The number of leaves of the clustered index.
    pub fn leaves(&self) -> u64 {
        self.trees.iter().map(|tree| tree.leaves.len() as u64).sum()
    }

    /// The time that one core needs to unzip all leaves; zero unless the table is of ROW_FORMAT=COMPRESSED.
    pub fn unzip_time(&self) -> Duration {
        self.trees.iter().map(|tree| unzip_time(tree.leaves.len() as u64, tree.format)).sum()
    }

    /// The number of pages of off-page columns, which lie in the segment of the leaves.
    pub fn lob_pages(&self) -> u64 {
        self.owners.clustered_pages.saturating_sub(self.leaves() + self.branch_pages)
    }

    /// The share of leaves whose successor in key order is also the next page in the file.
    pub fn adjacent_share(&self) -> f64 {
        let is_next = |two: &[PageNo]| two[0].0.checked_add(1) == Some(two[1].0);
        let adjacent = |tree: &Tree| tree.leaves.windows(2).filter(|two| is_next(two)).count();
        let pairs: usize = self.trees.iter().map(|tree| tree.leaves.len().saturating_sub(1)).sum();
        self.trees.iter().map(adjacent).sum::<usize>() as f64 / pairs.max(1) as f64
    }

    /// The mean number of adjacent leaves when windows of `window_bytes` are sorted.
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

    /// The windows to report: the one that is set, and others up to one that holds all leaves.
    pub fn windows_bytes(&self) -> Vec<u64> {
        windows_bytes(self.leaves() * self.page_bytes, &self.options)
    }

    /// The cost of each policy on a device.
    pub fn costs(&self, device: &Device) -> Result<Vec<Cost>> {
        let plans = plans(self.leaves(), self.page_bytes, &self.options);
        plans.into_iter().map(|plan| self.cost(plan, device)).collect()
    }

    /// The cost of a scan with these options; for `auto`, that of the plan chosen for all
    /// tablespaces together. A scan that learns the device keeps its first plan on a fast one.
    pub fn cost_of(&self, options: &ScanOptions, device: &Device) -> Result<Cost> {
        let keeps_first = options.io.device.is_none() && is_fast(device);
        if options.plan.policy.is_none() && !keeps_first {
            let plans = candidates(self.leaves(), self.page_bytes, options);
            let costs: Result<Vec<Cost>> =
                plans.into_iter().map(|plan| self.cost(plan, device)).collect();
            let costs = costs?;
            if let Some(chosen) = choose(&costs, options) {
                return Ok(chosen.clone());
            }
        }
        self.cost(ReadPlan::of(options), device)
    }

    /// The cost of one plan.
    pub fn cost(&self, plan: ReadPlan, device: &Device) -> Result<Cost> {
        let mut cost = Cost::new(plan);
        for tree in &self.trees {
            cost.add_leaves(&tree.leaves, tree.format, &self.options, device)?;
        }
        cost.branch_pages = self.branch_pages;
        cost.branch_requests = match plan.policy.traits().descends_singly {
            true => self.branch_pages,
            false => self.branch_reads.requests(),
        };
        let request_bytes = self.page_bytes * cost.branch_pages / cost.branch_requests.max(1);
        let request = device.occupied(request_bytes) + device.latency;
        let branch_time = request.mul_f64(cost.branch_requests as f64);
        cost.device_time += branch_time;
        cost.scan_time += branch_time;
        Ok(cost)
    }
}
