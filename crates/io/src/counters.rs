//! What reading took, for `--stats`.

use std::time::Duration;

use crate::{Completion, Kind};

/// Reads done, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads somebody waited for: the field's "sync" reads.
    pub demand: KindCounters,
    /// Reads before they were asked for: the field's "async" reads.
    pub ahead: KindCounters,
    /// Reads of others, on the same engine.
    pub foreground: KindCounters,
}

/// Reads of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounters {
    /// Reads completed, good or not; one read may have taken several attempts.
    pub requests: u64,
    /// Good bytes they brought.
    pub read_bytes: u64,
    /// Attempts beyond the first: short reads and interruptions taken up again.
    pub resumed: u64,
    /// Reads that failed.
    pub failed: u64,
    /// Time between push and completion, summed over the reads.
    pub service: Duration,
    /// The longest of these times.
    pub service_most: Duration,
}

impl Counters {
    /// Adds a completed read.
    pub fn add(&mut self, done: &Completion) {
        let counters = match done.kind {
            Kind::Demand => &mut self.demand,
            Kind::Ahead => &mut self.ahead,
            Kind::Foreground => &mut self.foreground,
        };
        counters.requests += 1;
        counters.read_bytes += done.good_bytes as u64;
        counters.resumed += u64::from(done.resumed);
        counters.failed += u64::from(done.error.is_some());
        counters.service += done.service;
        counters.service_most = counters.service_most.max(done.service);
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Counters) {
        for (into, from) in [
            (&mut self.demand, &other.demand),
            (&mut self.ahead, &other.ahead),
            (&mut self.foreground, &other.foreground),
        ] {
            into.requests += from.requests;
            into.read_bytes += from.read_bytes;
            into.resumed += from.resumed;
            into.failed += from.failed;
            into.service += from.service;
            into.service_most = into.service_most.max(from.service_most);
        }
    }

    /// Reads completed, on demand and ahead.
    pub fn requests(&self) -> u64 {
        self.demand.requests + self.ahead.requests
    }

    /// Good bytes, on demand and ahead.
    pub fn read_bytes(&self) -> u64 {
        self.demand.read_bytes + self.ahead.read_bytes
    }
}
