//! The plan of a scan on a device that is not what it seems.

use std::sync::Arc;

use innoscan_catalog::catalog::Catalog;
use innoscan_engine::Table;
use innoscan_engine::scan::{ReadAheadPolicy, ScanOptions, ScanOutcome, Spill, scan_with_engine};
use innoscan_io::engine::throttled::{Pauses, Throttled, ThrottledReads};
use innoscan_io::{self as io, Completion, Direct, Engine, EngineKind, Read, Wait, Wake};

use crate::damage::Hashes;
use crate::usage::demo;

/// Reads in flight.
const DEPTH: usize = 32;

/// A device that serves its first reads at once, and the later ones slowly, as volumes with burst
/// credits do.
struct Bursting {
    first_reads: u64,
    fast: Box<dyn Engine>,
    slow: Throttled,
}

struct Both(Arc<dyn Wake>, Arc<dyn Wake>);

impl Wake for Both {
    fn wake(&self) {
        self.0.wake();
        self.1.wake();
    }
}

impl Bursting {
    fn new(first_reads: u64, then: &str) -> Bursting {
        let open = || io::engine::open(EngineKind::Pread, DEPTH).unwrap();
        let (device, all) = (then.parse().unwrap(), ThrottledReads::All);
        let slow = Throttled::new(open(), all, device, Pauses::default());
        Bursting { first_reads, fast: open(), slow }
    }
}

impl Engine for Bursting {
    fn name(&self) -> &'static str {
        "bursting"
    }

    fn depth(&self) -> usize {
        DEPTH
    }

    fn in_flight(&self) -> usize {
        self.fast.in_flight() + self.slow.in_flight()
    }

    fn push(&mut self, read: Read) {
        let is_fast = self.first_reads > 0 && self.fast.in_flight() < self.fast.depth();
        if is_fast {
            self.first_reads -= 1;
            self.fast.push(read);
        } else {
            self.slow.push(read);
        }
    }

    fn submit(&mut self) -> io::Result<()> {
        self.fast.submit()?;
        self.slow.submit()
    }

    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> io::Result<()> {
        self.slow.poll(Wait::No, done)?;
        let waits_for_fast = self.fast.in_flight() > 0 && done.is_empty();
        self.fast.poll(if waits_for_fast { wait } else { Wait::No }, done)?;
        if done.is_empty() && !waits_for_fast {
            self.slow.poll(wait, done)?;
        }
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::new(Both(self.fast.waker(), self.slow.waker()))
    }
}

fn cities() -> Table {
    Catalog::new(None).table(demo().join("cities.ibd").to_str().unwrap()).unwrap()
}

/// Short reads with little memory, so that the order in which leaves are read matters.
fn options() -> ScanOptions {
    ScanOptions::default().with(|scan| {
        scan.plan.memory_bytes = 4 << 20;
        scan.plan.threads = 2;
        scan.io.direct = Direct::Off;
        scan.io.depth = DEPTH;
        scan.io.request_bytes_max = 128 << 10;
        scan.plan.spill = Spill::In(std::env::temp_dir());
    })
}

fn run(options: &ScanOptions, engine: Box<dyn Engine>) -> (Vec<u64>, ScanOutcome) {
    let mut rows = Vec::new();
    let outcome = scan_with_engine(&cities(), options, engine, &Hashes, |batch, _| {
        rows.extend(batch);
        Ok(())
    });
    (rows, outcome.unwrap())
}

fn page_by_page() -> Vec<u64> {
    let options = options().with(|scan| scan.plan.policy = Some(ReadAheadPolicy::None));
    run(&options, io::engine::open(EngineKind::Pread, DEPTH).unwrap()).0
}

#[test]
fn a_device_that_serves_bursts_gets_another_plan_and_the_same_rows() {
    let options = options();
    let (rows, outcome) = run(&options, Box::new(Bursting::new(100, "iops=300,bw=1G")));
    assert_eq!(outcome.read_ahead, ReadAheadPolicy::Segment, "{outcome:?}");
    assert!(rows == page_by_page());
}
