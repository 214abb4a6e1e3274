//! What reading known leaves costs under each policy, and which costs the least.
//!
//! Each policy is asked what it would read of these very leaves ([`simulate`]), and a device's model
//! says how long that takes. Where processors are slower than the device, a scan takes their time.

use std::time::Duration;

use innoscan_format::PageNo;
use innoscan_format::page::PageFormat;
use innoscan_io::Device;

use super::leaf_sort::LeafSort;
use super::{Budget, ReadAheadPolicy, RowOrder, ScanOptions};
use crate::Result;
use crate::ahead::{Linear, Sizes};
use crate::simulate::{Reads, simulate};

/// Windows of logical read-ahead that are tried, in bytes.
const WINDOWS_BYTES: [u64; 5] = [16 << 20, 64 << 20, 256 << 20, 1 << 30, 4 << 30];

/// Memory for pages that a scan in file order makes use of, unless it sorts them.
const SEGMENT_BYTES: u64 = 48 << 20;

/// A way to scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The policy.
    pub policy: ReadAheadPolicy,
    /// The order the rows come in.
    pub order: RowOrder,
    /// The window of logical read-ahead, in bytes; `None`: as the options say.
    pub window_bytes: Option<u64>,
}

impl Way {
    /// The one that options name.
    pub fn of(options: &ScanOptions) -> Way {
        Way { policy: options.read_ahead, order: options.order, window_bytes: None }
    }
}

/// What a scan would need.
#[derive(Clone, Debug)]
pub struct Cost {
    /// How it is done.
    pub way: Way,
    /// Memory for pages.
    pub memory_bytes: u64,
    /// Bytes of leaves that are likely to be written to a temporary file and read back, to put them
    /// in key order: how well they compress is seen only when they are read.
    pub set_aside_bytes: u64,
    /// Whether it may come to that.
    pub may_set_aside: bool,
    /// Requests for the branch pages, and how many these are.
    pub branch_requests: u64,
    /// Their pages.
    pub branch_pages: u64,
    /// Reads of leaves, and of what is read beside them.
    pub reads: Reads,
    /// How long the device is busy.
    pub device_time: Duration,
    /// How long the scan takes: the device or the processors, whichever is slower, and for leaves
    /// that are sorted one after the other.
    pub scan_time: Duration,
}

/// What a core is sure to decode in a second, in bytes of leaves.
const DECODED_BYTES: f64 = 500e6;

/// What a core is sure to compress in a second, in bytes of leaves.
const PACKED_BYTES: f64 = 500e6;

impl Cost {
    /// All requests.
    pub fn requests(&self) -> u64 {
        self.branch_requests + self.reads.requests()
    }

    /// All pages they bring.
    pub fn pages(&self) -> u64 {
        self.branch_pages + self.reads.pages()
    }

    /// Of nothing, yet. `leaves`: how many there are.
    pub(crate) fn begin(way: Way, leaves: u64, options: &ScanOptions) -> Cost {
        Cost {
            way,
            memory_bytes: options_of(way, leaves, options).memory_bytes,
            set_aside_bytes: 0,
            may_set_aside: false,
            branch_requests: 0,
            branch_pages: 0,
            reads: Reads::default(),
            device_time: Duration::ZERO,
            scan_time: Duration::ZERO,
        }
    }

    /// Adds the leaves of a tablespace, in key order.
    pub(crate) fn add_leaves(
        &mut self,
        leaves: &[PageNo],
        format: PageFormat,
        options: &ScanOptions,
        device: &Device,
    ) -> Result<()> {
        let mut options = options_of(self.way, leaves.len() as u64, options);
        options.device = Some(*device);
        let page_bytes = format.page_size.len();
        let budget = Budget::new(&options, page_bytes)?;
        let sizes = budget.sizes(&options, format);
        let pool_pages = budget.frames - budget.reserve;
        let policy = self.way.policy;
        let reads = simulate(policy, leaves, &sizes, pool_pages, options.depth, device);
        self.reads.add(&reads);
        let mut device_time = reads.device_time(device, page_bytes as u64);
        let leaf_bytes = (leaves.len() * page_bytes) as f64;
        let decode_time =
            Duration::from_secs_f64(leaf_bytes / DECODED_BYTES / budget.threads as f64);
        self.scan_time += match policy.manners().in_file_order && self.way.order == RowOrder::Key {
            true => {
                let memory_bytes = budget.hold_pages(sizes.segment_pages()) * page_bytes;
                let leaves = leaves.len();
                let bytes = LeafSort::likely_written_bytes(leaves, memory_bytes, page_bytes);
                self.set_aside_bytes += bytes;
                self.may_set_aside |= !LeafSort::is_sure_to_hold(leaves, memory_bytes, page_bytes);
                device_time += set_aside_time(bytes, device);
                device_time.max(Duration::from_secs_f64(leaf_bytes / PACKED_BYTES)) + decode_time
            }
            false => device_time.max(decode_time),
        };
        self.device_time += device_time;
        Ok(())
    }
}

/// The options a way asks for, where these do not bind it.
fn options_of(way: Way, leaves: u64, options: &ScanOptions) -> ScanOptions {
    let mut options = options.clone();
    options.read_ahead = way.policy;
    options.order = way.order;
    if let Some(window_bytes) = way.window_bytes {
        options.lra_size_bytes = window_bytes;
        options.memory_bytes = memory_of(window_bytes);
    }
    if way.policy.manners().in_file_order && way.order == RowOrder::Any {
        // What is read is used at once; eight bytes a leaf come on top.
        options.memory_bytes = SEGMENT_BYTES + 8 * leaves;
    }
    options
}

/// Memory for a window: as much more as the defaults have.
fn memory_of(window_bytes: u64) -> u64 {
    window_bytes / 2 * 3
}

/// How long the device is busy with leaves set aside on it: not at all where the page cache has room
/// for them, else with writing and reading them.
fn set_aside_time(bytes: u64, device: &Device) -> Duration {
    let Some(rate) = device.bytes_per_second else { return Duration::ZERO };
    if free_memory_bytes().is_some_and(|free| bytes <= free / 2) {
        return Duration::ZERO;
    }
    Duration::from_secs_f64(2.0 * bytes as f64 / rate)
}

/// What the kernel says could be had without swapping (`MemAvailable`).
fn free_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// The windows worth a word: the one that is set, the largest that memory is set for, and others up
/// to one that holds all leaves.
pub(crate) fn windows_bytes(leaf_bytes: u64, options: &ScanOptions) -> Vec<u64> {
    let holding = WINDOWS_BYTES.iter().position(|window| *window >= leaf_bytes);
    let mut windows =
        WINDOWS_BYTES[..holding.map_or(WINDOWS_BYTES.len(), |last| last + 1)].to_vec();
    let largest = (options.memory_bytes / 3 * 2) >> 20 << 20;
    windows.extend([options.lra_size_bytes, largest].into_iter().filter(|bytes| *bytes > 0));
    windows.sort_unstable();
    windows.dedup();
    windows
}

/// All ways there are, of a table with so many bytes of leaves.
pub(crate) fn ways(leaf_bytes: u64, options: &ScanOptions) -> Vec<Way> {
    let in_key_order = |policy| Way { policy, order: RowOrder::Key, window_bytes: None };
    let mut ways = vec![
        in_key_order(ReadAheadPolicy::None),
        in_key_order(ReadAheadPolicy::Linear { threshold: Linear::THRESHOLD_DEFAULT }),
        in_key_order(ReadAheadPolicy::Random),
        in_key_order(ReadAheadPolicy::Physical),
        Way { order: RowOrder::Any, ..in_key_order(ReadAheadPolicy::Segment) },
        in_key_order(ReadAheadPolicy::Segment),
    ];
    ways.extend(windows_bytes(leaf_bytes, options).into_iter().map(|window_bytes| Way {
        window_bytes: Some(window_bytes),
        ..in_key_order(ReadAheadPolicy::Logical)
    }));
    ways
}

/// Whether a way is weighed where one is to be picked: it gives the rows in the order asked for,
/// within the memory. A server's own policies and `physical` are not: with one window or another
/// `logical` takes no longer.
fn is_weighed(way: Way, memory_bytes: u64, options: &ScanOptions) -> bool {
    matches!(way.policy, ReadAheadPolicy::Logical | ReadAheadPolicy::Segment)
        && (way.order == RowOrder::Key || options.order == RowOrder::Any)
        && memory_bytes <= options.memory_bytes
}

/// The ways among which one is picked, of a table with so many leaves: reckoning one takes a while.
pub(crate) fn weighed_ways(leaves: u64, page_bytes: u64, options: &ScanOptions) -> Vec<Way> {
    let mut ways = ways(leaves * page_bytes, options);
    ways.retain(|way| {
        let memory_bytes = options_of(*way, leaves, options).memory_bytes;
        is_weighed(*way, memory_bytes, options)
    });
    ways
}

/// The cost to choose, of the ways that are weighed, and without a temporary file where none is
/// allowed: the least time; of those within a twentieth of
/// it the one that sets the least aside, then the one with the least memory.
pub fn choose<'c>(costs: &'c [Cost], options: &ScanOptions) -> Option<&'c Cost> {
    let may_be_chosen = |cost: &&Cost| {
        let has_room = options.temporary_dir.is_some() || !cost.may_set_aside;
        is_weighed(cost.way, cost.memory_bytes, options) && has_room
    };
    let within = || costs.iter().filter(may_be_chosen);
    let least = within().map(|cost| cost.scan_time).min()?;
    within()
        .filter(|cost| cost.scan_time <= least.mul_f64(1.05))
        .min_by_key(|cost| (cost.set_aside_bytes, cost.memory_bytes))
}

/// Picks the policy for known leaves, and sets its window; the options' own where the device is not
/// known.
pub(super) fn pick(
    leaves: &[PageNo],
    format: PageFormat,
    options: &ScanOptions,
    sizes: &mut Sizes,
) -> ReadAheadPolicy {
    let Some(device) = options.device else { return options.read_ahead };
    let page_bytes = format.page_size.len() as u64;
    let mut costs = Vec::new();
    for way in weighed_ways(leaves.len() as u64, page_bytes, options) {
        let mut cost = Cost::begin(way, leaves.len() as u64, options);
        // What memory does not suffice for is not chosen.
        if cost.add_leaves(leaves, format, options, &device).is_ok() {
            costs.push(cost);
        }
    }
    let Some(chosen) = choose(&costs, options) else { return options.read_ahead };
    if let Some(window_bytes) = chosen.way.window_bytes {
        let window_pages = usize::try_from(window_bytes / page_bytes).unwrap_or(usize::MAX);
        sizes.window_pages = sizes.window_pages.min(window_pages).max(1);
    }
    chosen.way.policy
}
