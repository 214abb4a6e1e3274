//! What reading was worth, in the field's words.

use std::time::Duration;

/// What became of the pages a pool read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Pages read ahead.
    pub ahead_pages: u64,
    /// Of these, used.
    pub ahead_used: u64,
    /// Of these, let go of unused.
    pub ahead_evicted: u64,
    /// Pages read only because they lay between two that were wanted.
    pub gap_pages: u64,
    /// Pages of failed reads, to be asked for again one by one.
    pub dropped_pages: u64,
    /// Times the scan stood still until something came: a page, or a worker's word.
    pub waits: u64,
    /// How long it stood still.
    pub wait: Duration,
    /// The longest of these times.
    pub wait_most: Duration,
}
