//! Reports of a scan: progress, damage, outcome.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use innoscan_format::PageNo;
use innoscan_io as io;

use crate::ahead::ReadAheadPolicy;
use crate::counted;
use crate::stats::PoolStats;

/// The progress of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Leaves whose rows were delivered.
    pub done_leaves: u64,
    /// Leaves read in file order and kept or spilled until their rows are next in key order.
    pub sorted_leaves: u64,
    /// Leaves of the table, as far as known.
    pub total_leaves: u64,
    /// Whether `total_leaves` is exact: the branch pages of all its tablespaces were read.
    pub is_exact: bool,
    /// Rows delivered.
    pub rows: u64,
    /// Bytes read from the files.
    pub read_bytes: u64,
}

/// A page or row that could not be read and was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The damaged file.
    pub path: PathBuf,
    /// The damaged page.
    pub page: PageNo,
    /// The rows that were lost.
    pub lost: Lost,
    /// The nearest known key before the lost rows; `None` where none is near, or the table has no
    /// primary key.
    pub after_key: Option<String>,
    /// The nearest known key after the lost rows.
    pub before_key: Option<String>,
    /// The error, with its place.
    pub error: String,
}

impl Damage {
    /// The range of keys that was lost, as far as known.
    pub fn lost_range(&self) -> Option<String> {
        match (&self.after_key, &self.before_key) {
            (Some(after), Some(before)) => Some(format!("between ({after}) and ({before})")),
            (Some(after), None) => Some(format!("after ({after})")),
            (None, Some(before)) => Some(format!("before ({before})")),
            (None, None) => None,
        }
    }
}

impl Progress {
    /// The finished share of the scan, 0 to 1; a leaf that was kept or spilled for sorting counts half.
    pub fn share(&self) -> f64 {
        let steps = if self.sorted_leaves > 0 { 2 } else { 1 };
        let done = self.done_leaves + self.sorted_leaves;
        done as f64 / (steps * self.total_leaves).max(1) as f64
    }
}

/// The rows lost by damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// One row.
    Row,
    /// The rest of a page's rows, after those delivered from the page; their number, if its header is
    /// right.
    RowsOfPage(u64),
    /// All rows of a page, or of all pages below a branch page.
    Page,
    /// No row: the wrong link or number has no effect on rows.
    Nothing,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lost = match self.lost {
            Lost::Row => "one row lost".to_owned(),
            Lost::RowsOfPage(rows) => format!("{} of the page lost", counted(rows, "row")),
            Lost::Page => "the page's rows lost, or all below it".to_owned(),
            Lost::Nothing => "no row lost".to_owned(),
        };
        write!(f, "{}: page {}: {} ({lost}", self.path.display(), self.page, self.error)?;
        match self.lost_range() {
            Some(range) => write!(f, ", {range})"),
            None => f.write_str(")"),
        }
    }
}

/// The outcome of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanOutcome {
    /// Rows delivered.
    pub rows: u64,
    /// The policy that read ahead; if chosen automatically, that of the last tablespace.
    pub read_ahead: ReadAheadPolicy,
    /// Bytes per page.
    pub page_bytes: u64,
    /// Leaves that the delivered rows were on.
    pub leaf_pages: u64,
    /// The processor time of all decode threads for leaves that are stored encrypted or compressed.
    pub opening: OpeningTimes,
    /// Branch pages read, including roots.
    pub branch_pages: u64,
    /// Pages of off-page columns read.
    pub lob_pages: u64,
    /// Read requests to the system.
    pub requests: u64,
    /// Bytes read by these requests.
    pub read_bytes: u64,
    /// Time from start to end.
    pub elapsed: Duration,
    /// Bytes of leaves spilled to a temporary file and read back, to put them in key order.
    pub spilled_bytes: u64,
    /// Requests by kind, with times.
    pub reads: io::Counters,
    /// Statistics of the pool.
    pub pool: PoolStats,
    /// The name of the engine that read.
    pub engine: &'static str,
    /// Whether the engine bypassed the page cache.
    pub is_direct: bool,
    /// The skipped damage in key order; at most the first [`DAMAGE_MAX`].
    pub damage: Vec<Damage>,
    /// The number of all skipped damage.
    pub damaged: u64,
}

/// The most [`Damage`] that an outcome lists.
pub const DAMAGE_MAX: usize = 10_000;

/// The processor time for leaves that are not stored as they are in memory, with verifying them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpeningTimes {
    /// For those that are encrypted, and not compressed.
    pub decrypt: Duration,
    /// For those that are compressed, and maybe encrypted.
    pub decompress: Duration,
}
