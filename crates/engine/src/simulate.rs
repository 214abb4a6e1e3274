//! Simulation of a policy: the real policy runs on the tree's real leaf numbers, on a device that
//! is slower than the scan.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

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
    /// Requests in flight, each with its pages and whether it was made ahead.
    in_flight: VecDeque<(Vec<PageNo>, bool)>,
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
    arrived: VecDeque<PageNo>,
    pending: HashSet<PageNo>,
    accesses: u64,
    evicted: u64,
}

#[derive(Clone, Copy)]
struct SimulatedPage {
    first_access: Option<u64>,
    is_ahead: bool,
}

impl PoolView for SimulatedPool {
    fn status(&self, page: PageNo) -> Option<PageStatus> {
        // InnoDB's rule for a page that was not promoted, and a scan promotes none.
        let is_young = self.evicted < (self.pages.len() * 63 / 400) as u64;
        if self.pending.contains(&page) {
            return Some(PageStatus { first_access: None, is_young });
        }
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
        self.pending.len()
    }
}

impl SimulatedPool {
    fn is_here_or_coming(&self, page: PageNo) -> bool {
        self.pages.contains_key(&page) || self.pending.contains(&page)
    }

    fn take_in(&mut self, pages: Vec<PageNo>, is_ahead: bool) {
        for page in pages {
            self.pending.remove(&page);
            self.pages.insert(page, SimulatedPage { first_access: None, is_ahead });
            self.arrived.push_back(page);
        }
        while self.pages.len() + self.pending.len() > self.pages_max {
            let Some(page) = self.arrived.pop_front() else { return };
            self.evicted += u64::from(self.pages.remove(&page).is_some());
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
        arrived: VecDeque::new(),
        pending: HashSet::new(),
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
        while !self.pool.pages.contains_key(&leaf) {
            waited = true;
            self.read_ahead();
            // A page that the policy wants to read but has no room for is read nevertheless.
            let will_come = self.policy.will_read(leaf) && !self.in_flight.is_empty();
            if !self.pool.is_here_or_coming(leaf) && !will_come {
                self.reads.demand_pages += 1;
                self.move_head(leaf, leaf);
                self.pool.pending.insert(leaf);
                self.in_flight.push_back((vec![leaf], false));
                self.policy.on_miss(leaf, &self.pool);
                self.read_ahead();
            }
            if let Some((pages, is_ahead)) = self.in_flight.pop_front() {
                self.pool.take_in(pages, is_ahead);
            }
        }
        waited
    }

    /// Moves a disk's head to a read, and to its end.
    fn move_head(&mut self, first: PageNo, last: PageNo) {
        let page_bytes = self.sizes.page_bytes as u64;
        let start = u64::from(first.0) * page_bytes;
        self.reads.positioning += self.device.positioning(self.head, start);
        self.head = (u64::from(last.0) + 1) * page_bytes;
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
                false => self
                    .pool
                    .pages_max
                    .saturating_sub(self.pool.pages.len() + self.pool.pending.len()),
            };
            let most = u32::try_from(room).unwrap_or(u32::MAX).min(self.sizes.run_pages);
            self.policy.next_run(most, &mut self.run);
            if self.run.is_empty() {
                return;
            }
            let run = std::mem::take(&mut self.run);
            // Pages that are present split a run.
            let is_there: HashSet<PageNo> =
                run.iter().copied().filter(|page| self.pool.is_here_or_coming(*page)).collect();
            for part in run.split(|page| is_there.contains(page)) {
                let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
                let pages = u64::from(last.0 - first.0) + 1;
                *self.reads.ahead.entry(pages).or_default() += 1;
                self.move_head(*first, *last);
                self.pool.pending.extend(part);
                self.in_flight.push_back((part.to_vec(), true));
            }
        }
    }
}
