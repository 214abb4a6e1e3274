//! Simulation of a policy: the real policy runs on the tree's real leaf numbers, on a device that
//! is slower than the scan.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use foldhash::{HashMap, HashMapExt};
use innoscan_format::PageNo;
use innoscan_io::Device;

use crate::ahead::{Links, PageStatus, PolicyTraits, PoolView, ReadAhead, ReadAheadPolicy, Sizes};

/// Reads of leaves, including the gaps between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Pages that the scan waited for, each read by one request.
    pub demand_pages: u64,
    /// Requests made ahead of the scan: the number of requests for each number of pages, including
    /// those of gaps.
    pub ahead: BTreeMap<u64, u64>,
    /// The time of seeks, on a disk.
    pub positioning: Duration,
    /// Pages read ahead that were still in the pool when the scan reached them.
    pub ahead_used: u64,
}

impl Reads {
    /// The number of requests of both kinds.
    pub fn requests(&self) -> u64 {
        self.demand_pages + self.ahead.values().sum::<u64>()
    }

    /// The number of pages of both kinds.
    pub fn pages(&self) -> u64 {
        let ahead = self.ahead.iter().map(|(pages, requests)| pages * requests);
        self.demand_pages + ahead.sum::<u64>()
    }

    /// The time a device needs: reads that the scan waits for run one after the other, each with
    /// the device's latency; the others without a pause.
    pub fn device_time(&self, device: &Device, page_bytes: u64) -> Duration {
        let demand = device.occupied(page_bytes) + device.latency;
        let ahead = self.ahead.iter().map(|(pages, requests)| {
            device.occupied(pages * page_bytes).as_secs_f64() * *requests as f64
        });
        let moving = Duration::from_secs_f64(ahead.sum()) + self.positioning;
        demand.mul_f64(self.demand_pages as f64) + moving
    }

    /// Adds the reads of another tablespace.
    pub(crate) fn add(&mut self, other: &Reads) {
        self.demand_pages += other.demand_pages;
        self.ahead_used += other.ahead_used;
        self.positioning += other.positioning;
        for (pages, requests) in &other.ahead {
            *self.ahead.entry(*pages).or_default() += requests;
        }
    }
}

/// A scan that only counts reads.
struct Scan<'a> {
    sizes: &'a Sizes,
    traits: PolicyTraits,
    policy: Box<dyn ReadAhead>,
    pool: SimulatedPool,
    depth: usize,
    /// The pages of the requests in flight.
    in_flight: VecDeque<Vec<PageNo>>,
    run: Vec<PageNo>,
    reads: Reads,
    device: Device,
    /// The place after the last read, in bytes from the start of the file.
    head: u64,
}

/// Page numbers without data, evicted in the order in which they were read.
struct SimulatedPool {
    page_bytes: usize,
    file_pages: u32,
    pages_max: usize,
    pages: HashMap<PageNo, SimulatedPage>,
    pending_pages: usize,
    arrived: VecDeque<PageNo>,
    accesses: u64,
    evicted: u64,
}

#[derive(Clone, Copy)]
struct SimulatedPage {
    first_access: Option<u64>,
    is_ahead: bool,
    is_pending: bool,
}

impl PoolView for SimulatedPool {
    fn status(&self, page: PageNo) -> Option<PageStatus> {
        // InnoDB's rule for a page that was not promoted, and a scan promotes none.
        let is_young = self.evicted < (self.resident_pages() * 63 / 400) as u64;
        let first_access = self.pages.get(&page)?.first_access;
        Some(PageStatus { first_access, is_young })
    }

    fn file_pages(&self) -> u32 {
        self.file_pages
    }

    fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    fn pool_pages(&self) -> usize {
        self.pages_max
    }

    fn pending_pages(&self) -> usize {
        self.pending_pages
    }
}

impl SimulatedPool {
    fn resident_pages(&self) -> usize {
        self.pages.len() - self.pending_pages
    }

    fn is_resident(&self, page: PageNo) -> bool {
        self.pages.get(&page).is_some_and(|page| !page.is_pending)
    }

    fn is_here_or_coming(&self, page: PageNo) -> bool {
        self.pages.contains_key(&page)
    }

    fn begin_read(&mut self, pages: &[PageNo], is_ahead: bool) {
        let pending = SimulatedPage { first_access: None, is_ahead, is_pending: true };
        self.pages.extend(pages.iter().map(|page| (*page, pending)));
        self.pending_pages += pages.len();
    }

    fn take_in(&mut self, pages: Vec<PageNo>) {
        for page_no in pages {
            let Some(page) = self.pages.get_mut(&page_no) else { continue };
            page.is_pending = false;
            self.pending_pages -= 1;
            self.arrived.push_back(page_no);
        }
        while self.pages.len() > self.pages_max {
            let Some(page) = self.arrived.pop_front() else { return };
            // A page that was used is gone already, or being read again.
            if self.is_resident(page) {
                self.pages.remove(&page);
                self.evicted += 1;
            }
        }
    }
}

/// Simulates a policy on these leaves, and counts the reads.
///
/// `pool_pages`: frames for pages read and not used; `depth`: the most requests in flight.
pub(crate) fn simulate(
    policy: ReadAheadPolicy,
    leaves: &[PageNo],
    sizes: &Sizes,
    pool_pages: usize,
    depth: usize,
    device: &Device,
) -> Reads {
    let pool = SimulatedPool {
        page_bytes: sizes.page_bytes,
        file_pages: sizes.file_pages,
        pages_max: pool_pages,
        pages: HashMap::new(),
        pending_pages: 0,
        arrived: VecDeque::new(),
        accesses: 0,
        evicted: 0,
    };
    let mut scan = Scan {
        sizes,
        traits: policy.traits(),
        policy: policy.begin(sizes),
        pool,
        depth,
        in_flight: VecDeque::new(),
        run: Vec::new(),
        reads: Reads::default(),
        device: *device,
        head: 0,
    };
    let mut in_file_order = Vec::new();
    let leaves = match policy.traits().in_file_order {
        true => {
            in_file_order.extend_from_slice(leaves);
            in_file_order.sort_unstable();
            &in_file_order
        }
        false => leaves,
    };
    scan.policy.set_request_cost(device.request_cost(sizes.page_bytes as u64));
    scan.policy.on_leaves(leaves);
    for (number, &leaf) in leaves.iter().enumerate() {
        let links = Links {
            prev: number.checked_sub(1).and_then(|before| leaves.get(before)).copied(),
            next: leaves.get(number + 1).copied(),
        };
        let waited = scan.wait_for(leaf);
        scan.use_page(leaf, links);
        scan.policy.on_consumed(leaf, waited);
    }
    scan.reads
}

impl Scan<'_> {
    /// Reads until a leaf is present; returns whether it was absent.
    fn wait_for(&mut self, leaf: PageNo) -> bool {
        let mut waited = false;
        while !self.pool.is_resident(leaf) {
            waited = true;
            self.read_ahead();
            // A page that the policy wants to read but has no room for is read nevertheless.
            let will_come = self.policy.will_read(leaf) && !self.in_flight.is_empty();
            if !self.pool.is_here_or_coming(leaf) && !will_come {
                self.read(&[leaf], false);
                self.policy.on_miss(leaf, &self.pool);
                self.read_ahead();
            }
            if let Some(pages) = self.in_flight.pop_front() {
                self.pool.take_in(pages);
            }
        }
        waited
    }

    /// Starts and counts a request from the first of these pages to the last, and moves a disk's head to its
    /// end.
    fn read(&mut self, pages: &[PageNo], is_ahead: bool) {
        let (Some(first), Some(last)) = (pages.first(), pages.last()) else { return };
        match is_ahead {
            true => *self.reads.ahead.entry(u64::from(last.0 - first.0) + 1).or_default() += 1,
            false => self.reads.demand_pages += 1,
        }
        let page_bytes = self.sizes.page_bytes as u64;
        let start = u64::from(first.0) * page_bytes;
        self.reads.positioning += self.device.positioning(self.head, start);
        self.head = (u64::from(last.0) + 1) * page_bytes;
        self.pool.begin_read(pages, is_ahead);
        self.in_flight.push_back(pages.to_vec());
    }

    fn use_page(&mut self, leaf: PageNo, links: Links) {
        let Some(page) = self.pool.pages.get_mut(&leaf) else { return };
        let is_first = page.first_access.is_none();
        self.reads.ahead_used += u64::from(is_first && page.is_ahead);
        if !self.traits.keeps_used {
            self.pool.pages.remove(&leaf);
            return;
        }
        if is_first {
            self.pool.accesses += 1;
            page.first_access = Some(self.pool.accesses);
            self.policy.on_access(leaf, links, &self.pool);
            self.read_ahead();
        }
    }

    /// Makes the policy's requests, up to the depth.
    fn read_ahead(&mut self) {
        while self.in_flight.len() < self.depth {
            let room = match self.traits.evicts_unused {
                true => self.pool.pages_max,
                false => self.pool.pages_max.saturating_sub(self.pool.pages.len()),
            };
            let most = u32::try_from(room).unwrap_or(u32::MAX).min(self.sizes.run_pages);
            self.policy.next_run(most, &mut self.run);
            if self.run.is_empty() {
                return;
            }
            let run = std::mem::take(&mut self.run);
            self.read_absent(&run);
            self.run = run;
        }
    }

    /// Requests a run's pages; those that are present split it.
    fn read_absent(&mut self, run: &[PageNo]) {
        let mut rest = run;
        while let Some(start) = rest.iter().position(|page| !self.pool.is_here_or_coming(*page)) {
            let absent = &rest[start..];
            let present = absent.iter().position(|page| self.pool.is_here_or_coming(*page));
            let (part, after) = absent.split_at(present.unwrap_or(absent.len()));
            self.read(part, true);
            rest = after;
        }
    }
}
