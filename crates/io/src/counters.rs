//! Counters of reads, for `--stats`.

use std::time::Duration;

use crate::{Completion, Kind};

/// Counters of reads, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads that a caller waited for: "sync" reads.
    pub demand: KindCounters,
    /// Reads before the data was requested: "async" reads.
    pub ahead: KindCounters,
    /// Reads of other jobs on the same engine.
    pub foreground: KindCounters,
}

/// Upper bounds of the service times by which reads are counted, in microseconds.
pub const SERVICE_BOUNDS_US: [u64; 12] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000];

/// Reads of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounters {
    /// Completed reads, successful or not; one read may have taken several attempts.
    pub requests: u64,
    /// Bytes read successfully.
    pub read_bytes: u64,
    /// Attempts beyond the first: resumed short reads and interruptions.
    pub resumed: u64,
    /// Reads that failed.
    pub failed: u64,
    /// Time between push and completion, summed over the reads.
    pub service: Duration,
    /// The longest time between push and completion.
    pub service_max: Duration,
    /// Reads by their service time: within each of [`SERVICE_BOUNDS_US`] but not the one before, and slower ones.
    pub service_counts: [u64; SERVICE_BOUNDS_US.len() + 1],
}

impl KindCounters {
    /// Adds a read that gave so many bytes.
    pub fn add_read(&mut self, bytes: u64, service: Duration) {
        self.requests += 1;
        self.read_bytes += bytes;
        self.service += service;
        self.service_max = self.service_max.max(service);
        let service_us = service.as_micros();
        let nth = SERVICE_BOUNDS_US.partition_point(|bound| u128::from(*bound) < service_us);
        self.service_counts[nth] += 1;
    }

    fn merge(&mut self, from: &KindCounters) {
        self.requests += from.requests;
        self.read_bytes += from.read_bytes;
        self.resumed += from.resumed;
        self.failed += from.failed;
        self.service += from.service;
        self.service_max = self.service_max.max(from.service_max);
        for (count, from) in self.service_counts.iter_mut().zip(from.service_counts) {
            *count += from;
        }
    }
}

impl Counters {
    /// Adds a completed read.
    pub fn add(&mut self, done: &Completion) {
        let counters = match done.kind {
            Kind::Demand => &mut self.demand,
            Kind::Ahead => &mut self.ahead,
            Kind::Foreground => &mut self.foreground,
        };
        counters.add_read(done.good_bytes as u64, done.service);
        counters.resumed += u64::from(done.resumed);
        counters.failed += u64::from(done.error.is_some());
    }

    /// Adds other counters.
    pub fn merge(&mut self, other: &Counters) {
        self.demand.merge(&other.demand);
        self.ahead.merge(&other.ahead);
        self.foreground.merge(&other.foreground);
    }

    /// Returns the counters of reads of all kinds together.
    pub fn total(&self) -> KindCounters {
        let mut total = self.demand;
        total.merge(&self.ahead);
        total.merge(&self.foreground);
        total
    }

    /// Returns the number of completed reads, on demand and ahead.
    pub fn requests(&self) -> u64 {
        self.demand.requests + self.ahead.requests
    }

    /// Returns the bytes read successfully, on demand and ahead.
    pub fn read_bytes(&self) -> u64 {
        self.demand.read_bytes + self.ahead.read_bytes
    }
}
