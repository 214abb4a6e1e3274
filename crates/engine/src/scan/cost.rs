//! The cost of reading known leaves under a plan.
//!
//! The plan's policy is simulated on exactly these leaves (`simulate`), and a device's model gives the
//! time. Where processors are slower than the device, their time counts.

use std::time::Duration;

use innoscan_format::PageNo;
use innoscan_format::page::PageFormat;
use innoscan_io::Device;

use super::leaf_sorter::LeafSorter;
use super::read_plan::ReadPlan;
use super::{Budget, ScanOptions};
use crate::Result;
use crate::simulate::{Reads, simulate};

/// The estimated cost of a scan.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The plan whose cost this is.
    pub plan: ReadPlan,
    /// Bytes of all leaves.
    pub leaf_bytes: u64,
    /// Bytes of leaves that are likely to be spilled to a temporary file and read back, to put them
    /// in key order; their compression ratio is known only when they are read.
    pub spilled_bytes: u64,
    /// Whether leaves may be spilled.
    pub may_spill: bool,
    /// Requests for the branch pages.
    pub branch_requests: u64,
    /// The number of branch pages.
    pub branch_pages: u64,
    /// Reads of leaves, including the gaps between them.
    pub reads: Reads,
    /// The time for which the device is busy.
    pub device_time: Duration,
    /// The time of the scan: that of the device or of the processors, whichever is greater; their sum
    /// for leaves that are sorted.
    pub scan_time: Duration,
}

/// A safe estimate of the bytes of leaves that a core decodes per second.
const DECODED_BYTES: f64 = 500e6;

/// A safe estimate of the bytes of pages in memory that a core unzips per second
/// (ROW_FORMAT=COMPRESSED).
const UNZIPPED_BYTES: f64 = 600e6;

/// A safe estimate of the bytes of leaves that a core compresses per second.
const PACKED_BYTES: f64 = 500e6;

impl Cost {
    /// The number of all requests.
    pub fn requests(&self) -> u64 {
        self.branch_requests + self.reads.requests()
    }

    /// The number of all pages read.
    pub fn pages(&self) -> u64 {
        self.branch_pages + self.reads.pages()
    }

    /// The cost of a plan without any leaves.
    pub fn new(plan: ReadPlan) -> Cost {
        Cost {
            plan,
            leaf_bytes: 0,
            spilled_bytes: 0,
            may_spill: false,
            branch_requests: 0,
            branch_pages: 0,
            reads: Reads::default(),
            device_time: Duration::ZERO,
            scan_time: Duration::ZERO,
        }
    }

    /// Adds the leaves of a tablespace, in key order.
    pub fn add_leaves(
        &mut self,
        leaves: &[PageNo],
        format: PageFormat,
        options: &ScanOptions,
        device: &Device,
    ) -> Result<()> {
        let page_bytes = format.physical_len();
        let budget = Budget::new(&self.plan, options.plan.threads, page_bytes)?;
        let sizes = budget.sizes(&options.io, Some(*device), format);
        let pool_pages = budget.frames - budget.reserve;
        let policy = self.plan.policy;
        let reads = simulate(policy, leaves, &sizes, pool_pages, options.io.depth, device);
        self.reads.add(&reads);
        let mut device_time = reads.device_time(device, page_bytes as u64);
        let leaf_bytes = (leaves.len() * page_bytes) as f64;
        self.leaf_bytes += (leaves.len() * page_bytes) as u64;
        let decode_time = Duration::from_secs_f64(leaf_bytes / DECODED_BYTES)
            + unzip_time(leaves.len() as u64, format);
        let decode_time = decode_time.div_f64(budget.threads as f64);
        self.scan_time += match self.plan.sorts_leaves() {
            true => {
                let memory_bytes = budget.hold_pages(sizes.segment_pages()) * page_bytes;
                let leaves = leaves.len();
                let bytes = LeafSorter::likely_written_bytes(leaves, memory_bytes, page_bytes);
                self.spilled_bytes += bytes;
                self.may_spill |= !LeafSorter::is_sure_to_hold(leaves, memory_bytes, page_bytes);
                device_time += spill_time(bytes, device);
                device_time.max(Duration::from_secs_f64(leaf_bytes / PACKED_BYTES)) + decode_time
            }
            false => device_time.max(decode_time),
        };
        self.device_time += device_time;
        Ok(())
    }
}

/// The time that one core needs to unzip leaves; zero for those that are stored as they are in memory.
pub fn unzip_time(leaves: u64, format: PageFormat) -> Duration {
    let bytes = if format.is_zip { leaves * u64::from(format.page_size.bytes()) } else { 0 };
    Duration::from_secs_f64(bytes as f64 / UNZIPPED_BYTES)
}

/// The time for which the device is busy with spilled leaves: none where the page cache has room
/// for them, else that of writing and reading them.
fn spill_time(bytes: u64, device: &Device) -> Duration {
    let Some(rate) = device.bytes_per_second else { return Duration::ZERO };
    if free_memory_bytes().is_some_and(|free| bytes <= free / 2) {
        return Duration::ZERO;
    }
    Duration::from_secs_f64(2.0 * bytes as f64 / rate)
}

/// The memory available without swapping, according to the kernel (`MemAvailable`).
fn free_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
