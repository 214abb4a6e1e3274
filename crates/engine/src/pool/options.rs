//! Options of a pool: which pages stay, and for how long.

use std::time::Duration;

/// Options of a pool: which pages stay, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    /// Whether pages stay after they were taken, until their frames are needed.
    pub keeps_used: bool,
    /// Whether the pool has users other than the scan: pages that [`super::Pool::get`] returned stay
    /// until their frames are needed, even when the scan takes them.
    pub is_shared: bool,
    /// The pages that may be evicted when frames are needed.
    pub evictable: Evictable,
    /// The share of the LRU list that new pages pass through, in percent: `innodb_old_blocks_pct`.
    pub old_blocks_pct: usize,
    /// The time after a page's first access from which another access promotes the page:
    /// `innodb_old_blocks_time`.
    pub old_blocks_time: Duration,
}

impl Default for PoolOptions {
    fn default() -> PoolOptions {
        PoolOptions {
            keeps_used: false,
            is_shared: false,
            evictable: Evictable::Used,
            old_blocks_pct: 37,
            old_blocks_time: Duration::from_secs(1),
        }
    }
}

/// The pages that may be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evictable {
    /// Pages that were used.
    Used,
    /// Pages that were used or read ahead, but not those that a caller waits for.
    ReadAhead,
    /// All pages.
    Any,
}
