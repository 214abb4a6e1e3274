//! What a scan tells: how far it is, what it passed over, what it did.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use innoscan_format::PageNo;
use innoscan_io as io;

use crate::ahead::ReadAheadPolicy;
use crate::counted;
use crate::stats::PoolStats;

/// How far a scan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Leaves whose rows were delivered.
    pub done_leaves: u64,
    /// Leaves read in file order and set aside until their rows are next in key order.
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

/// Something that could not be read and was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// The page.
    pub page: PageNo,
    /// What was lost.
    pub lost: Lost,
    /// What was lost comes after this key, the nearest known; `None` where none is near, or the
    /// table has no primary key.
    pub after_key: Option<String>,
    /// What was lost comes before this key.
    pub before_key: Option<String>,
    /// What is wrong, with its place.
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
    /// Share of the scan that is done, 0 to 1; a leaf that was set aside is half done.
    pub fn share(&self) -> f64 {
        let steps = if self.sorted_leaves > 0 { 2 } else { 1 };
        let done = self.done_leaves + self.sorted_leaves;
        done as f64 / (steps * self.total_leaves).max(1) as f64
    }
}

/// How much was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// A row.
    Row,
    /// The rest of a page's rows, after those delivered from it; so many, if its header is right.
    RowsOfPage(u64),
    /// A page, or if it is a branch page all pages below it.
    Page,
    /// Nothing: a link or number is wrong that no row depends on.
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

/// What a scan did.
#[derive(Clone, Debug, Default)]
pub struct ScanOutcome {
    /// Rows delivered.
    pub rows: u64,
    /// The policy that read ahead; where it was picked, that of the last tablespace.
    pub read_ahead: ReadAheadPolicy,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Leaves they were on.
    pub leaf_pages: u64,
    /// Branch pages read, roots among them.
    pub branch_pages: u64,
    /// Pages of off-page columns read.
    pub lob_pages: u64,
    /// Requests to the system.
    pub requests: u64,
    /// Bytes they brought.
    pub read_bytes: u64,
    /// From start to end.
    pub elapsed: Duration,
    /// Bytes of leaves written to a temporary file and read back, to put them in key order.
    pub spilled_bytes: u64,
    /// Requests by kind, with times.
    pub reads: io::Counters,
    /// What became of the pages.
    pub pool: PoolStats,
    /// The engine that read.
    pub engine: &'static str,
    /// Whether it read around the page cache.
    pub is_direct: bool,
    /// What was passed over, in key order; the first [`DAMAGE_MOST`] of it.
    pub damage: Vec<Damage>,
    /// All that was passed over.
    pub damaged: u64,
}

/// The most [`Damage`] an outcome lists.
pub const DAMAGE_MOST: usize = 10_000;
