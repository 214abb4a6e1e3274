//! Statistics of a buffer pool.

use std::time::Duration;

/// Statistics of the pages that a pool read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Pages read ahead.
    pub ahead_pages: u64,
    /// Pages read ahead and used.
    pub ahead_used: u64,
    /// Pages read ahead and evicted without being used.
    pub ahead_evicted: u64,
    /// Pages read only because they lay between two that were wanted.
    pub gap_pages: u64,
    /// Pages of failed reads, which are then requested one by one.
    pub dropped_pages: u64,
    /// The number of times the scan was blocked, waiting for a page or a worker.
    pub waits: u64,
    /// The total time for which the scan was blocked.
    pub wait: Duration,
    /// The longest time for which the scan was blocked.
    pub wait_max: Duration,
}
