//! How long a pool keeps its pages.

use std::time::Duration;

/// Which pages a pool keeps, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    /// Pages that were taken stay until their frames are needed.
    pub keeps_used: bool,
    /// The scan is not the only user of the pool: pages that [`super::Pool::get`] returned stay until
    /// their frames are needed, even when the scan takes them.
    pub is_shared: bool,
    /// Which pages may be evicted when frames are needed.
    pub evictable: Evictable,
    /// Share of the LRU list that new pages pass through, in percent: `innodb_old_blocks_pct`.
    pub old_blocks_pct: usize,
    /// A page is promoted when it is accessed again this long after its first access:
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

/// Which pages may be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evictable {
    /// Pages that were used.
    Used,
    /// Pages that were used or read ahead; not those that somebody waits for.
    ReadAhead,
    /// All pages.
    Any,
}
