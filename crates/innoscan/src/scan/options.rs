//! How to scan: how files are read, which plan, which rows, and who hears of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use innoscan_format::PageNo;
use innoscan_io::{Direct, Engine, EngineKind};

use super::foreground::Foreground;
use super::outcome::Progress;
use crate::Result;
use crate::ahead::ReadAheadPolicy;
use crate::condition::RowCondition;
use crate::io_options::IoOptions;

/// Called now and then with the progress of a scan.
pub type ProgressFn = dyn Fn(&Progress) + Send + Sync;

/// How to scan.
#[derive(Clone, Default)]
pub struct ScanOptions {
    /// How files are read.
    pub io: IoOptions,
    /// What a plan is made of: read-ahead, window, memory, threads.
    pub plan: PlanOptions,
    /// Which rows, in which order, and what damage does.
    pub rows: RowOptions,
    /// Who hears of the scan, may end it, or reads beside it.
    pub hooks: Hooks,
}

/// What a [`ReadPlan`](super::ReadPlan) is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanOptions {
    /// Which pages are read before they are needed.
    pub policy: ReadAheadPolicy,
    /// Instead of `policy`, the policy and window that cost the least on the device, by the cost model
    /// of `explain`; `policy` itself where the device is not known.
    pub is_auto: bool,
    /// The window of logical read-ahead.
    pub window_bytes: u64,
    /// Total memory for pages.
    pub memory_bytes: u64,
    /// Threads that decode; 0: one a core.
    pub threads: usize,
    /// Where leaves are spilled that were read in file order, do not fit in memory, and are wanted in
    /// key order; `None`: where the system has its temporary files.
    pub spill_dir: Option<PathBuf>,
}

impl PlanOptions {
    /// The default of [`PlanOptions::window_bytes`].
    pub const WINDOW_BYTES: u64 = 512 << 20;
    /// The default of [`PlanOptions::memory_bytes`].
    pub const MEMORY_BYTES: u64 = 768 << 20;
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            policy: ReadAheadPolicy::Logical,
            is_auto: false,
            window_bytes: PlanOptions::WINDOW_BYTES,
            memory_bytes: PlanOptions::MEMORY_BYTES,
            threads: 0,
            spill_dir: None,
        }
    }
}

/// Which rows a scan gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RowOptions {
    /// The order of the rows.
    pub order: RowOrder,
    /// The rows that are wanted; `None`: all.
    pub condition: Option<Arc<RowCondition>>,
    /// The leaf after which the scan resumes, as another scan with the same options reported it;
    /// `None`: it starts at the first. Only in key order.
    pub after: Option<LeafPlace>,
    /// What damage does.
    pub on_corrupt: OnCorrupt,
    /// Off-page values larger than this are refused.
    pub lob_bytes_max: u64,
}

impl Default for RowOptions {
    fn default() -> RowOptions {
        RowOptions {
            order: RowOrder::Key,
            condition: None,
            after: None,
            on_corrupt: OnCorrupt::Fail,
            lob_bytes_max: 1 << 30,
        }
    }
}

/// Who hears of a scan, may end it, or reads beside it.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Hooks {
    /// Called now and then with the progress, on the caller's thread.
    pub progress: Option<Arc<ProgressFn>>,
    /// Set from any thread, it ends the scan as interrupted.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Readers beside the scan, on the same pool.
    pub foreground: Option<Arc<dyn Foreground>>,
}

/// Where a leaf of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafPlace {
    /// Its tablespace, by its number among the table's.
    pub file: usize,
    /// Its page.
    pub page: PageNo,
}

/// The order in which rows are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// That of the clustered index.
    #[default]
    Key,
    /// Whichever the policy reads them in.
    Any,
}

/// What a page or row that cannot be read does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCorrupt {
    /// Ends the scan with its error, after the rows before it.
    #[default]
    Fail,
    /// Is counted and reported; the scan goes on.
    Skip,
}

/// A table whose files have no more bytes together is small.
pub const SMALL_TABLE_BYTES: u64 = 1 << 20;

impl ScanOptions {
    /// The same options with a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut ScanOptions)) -> ScanOptions {
        change(&mut self);
        self
    }

    /// The same for a table whose files have `table_bytes` together. A small one is read by one thread
    /// through the page cache, with no more memory than it needs: setting up more would take longer
    /// than reading it.
    #[must_use]
    pub fn sized_for(&self, table_bytes: u64) -> ScanOptions {
        let mut options = self.clone();
        if table_bytes > SMALL_TABLE_BYTES || self.hooks.foreground.is_some() {
            return options;
        }
        options.plan.threads = 1;
        options.plan.memory_bytes = self.plan.memory_bytes.min(2 * SMALL_TABLE_BYTES);
        options.plan.is_auto = false;
        if self.io.engine == EngineKind::Auto {
            options.io.engine = EngineKind::Inline;
            options.io.depth = self.io.depth.min(8);
        }
        if self.io.direct == Direct::Optional {
            options.io.direct = Direct::Off;
        }
        options
    }

    /// The engine that reads as they say.
    pub(crate) fn open_engine(&self) -> Result<Box<dyn Engine>> {
        self.io.open_engine(self.plan.window_bytes)
    }

    /// Whether somebody wants the scan to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.hooks.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}
