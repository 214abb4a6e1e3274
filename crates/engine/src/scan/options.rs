//! Options of a scan: how files are read, the plan, the rows, and the hooks.

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
use crate::spill::Spill;

/// A callback that receives the progress of a scan from time to time.
pub type ProgressFn = dyn Fn(&Progress) + Send + Sync;

/// Options of a scan.
#[derive(Clone, Default)]
pub struct ScanOptions {
    /// How files are read.
    pub io: IoOptions,
    /// The plan: read-ahead, window, memory, threads.
    pub plan: PlanOptions,
    /// The rows, their order, and the reaction to damage.
    pub rows: RowOptions,
    /// Callbacks, cancellation, and concurrent readers.
    pub hooks: Hooks,
}

/// Options from which a [`ReadPlan`](super::ReadPlan) is made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanOptions {
    /// The read-ahead policy: which pages are read before they are needed. `None`: the policy and window
    /// with the least cost on the device. A device that is not known is learnt from the reads of branch
    /// pages, and another plan is chosen when it turns out to be slower.
    pub policy: Option<ReadAheadPolicy>,
    /// The window of logical read-ahead, in bytes.
    pub window_bytes: u64,
    /// Total memory for pages, in bytes.
    pub memory_bytes: u64,
    /// Decode threads; 0: one per core.
    pub threads: usize,
    /// Where leaves are spilled: those read in file order that do not fit in memory while they wait for
    /// key order.
    pub spill: Spill,
    /// Whether read-ahead starts with 1 MiB, and is then at most twice what was delivered: for a scan that may
    /// end early. It needs a policy that is named and reads in key order.
    pub slow_start: bool,
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
            policy: None,
            window_bytes: PlanOptions::WINDOW_BYTES,
            memory_bytes: PlanOptions::MEMORY_BYTES,
            threads: 0,
            spill: Spill::default(),
            slow_start: false,
        }
    }
}

/// Options that select the rows of a scan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RowOptions {
    /// The order of the rows.
    pub order: RowOrder,
    /// The condition that the rows satisfy; `None`: all rows.
    pub condition: Option<Arc<RowCondition>>,
    /// The leaf after which the scan resumes, as another scan with the same options reported it;
    /// `None`: the scan starts at the first leaf. Only in key order.
    pub after: Option<LeafId>,
    /// The reaction to damage.
    pub on_corrupt: OnCorrupt,
    /// The most bytes of an off-page value; larger ones are refused.
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

/// Callbacks of a scan, its cancellation, and readers that use its pool.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Hooks {
    /// The callback for progress, on the caller's thread.
    pub progress: Option<Arc<ProgressFn>>,
    /// A flag that ends the scan as interrupted when any thread sets it.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Readers that use the pool during the scan.
    #[doc(hidden)]
    pub foreground: Option<Arc<dyn Foreground>>,
}

/// The identity of a leaf of a table: its file and its page number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafId {
    /// The tablespace's index among the table's files.
    pub file: usize,
    /// The leaf's page number.
    pub page: PageNo,
}

/// The order in which rows are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// The order of the clustered index.
    #[default]
    Key,
    /// The order in which the policy reads them.
    Any,
}

impl RowOrder {
    /// The name of the order.
    pub fn name(self) -> &'static str {
        match self {
            RowOrder::Key => "key",
            RowOrder::Any => "any",
        }
    }

    /// The policy to start with where the options name none.
    pub(crate) fn first_policy(self) -> ReadAheadPolicy {
        match self {
            RowOrder::Any => ReadAheadPolicy::Segment,
            RowOrder::Key => ReadAheadPolicy::Logical,
        }
    }
}

/// The reaction to a page or row that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCorrupt {
    /// End the scan with the error, after the rows before the damage.
    #[default]
    Fail,
    /// Count and report the damage, and continue the scan.
    Skip,
}

/// The most bytes of all files of a table that is scanned as a small one.
pub const SMALL_TABLE_BYTES: u64 = 1 << 20;

impl ScanOptions {
    /// The same options with a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut ScanOptions)) -> ScanOptions {
        change(&mut self);
        self
    }

    /// The same options for a table whose files have `table_bytes` in all. A small table is read by one
    /// thread through the page cache, with no more memory than needed: setting up more would take longer
    /// than reading the table.
    #[must_use]
    pub fn sized_for(&self, table_bytes: u64) -> ScanOptions {
        let mut options = self.clone();
        if table_bytes > SMALL_TABLE_BYTES || self.hooks.foreground.is_some() {
            return options;
        }
        options.plan.threads = 1;
        options.plan.memory_bytes = self.plan.memory_bytes.min(2 * SMALL_TABLE_BYTES);
        options.plan.policy.get_or_insert(self.rows.order.first_policy());
        if self.io.engine == EngineKind::Auto {
            options.io.engine = EngineKind::Inline;
            options.io.depth = self.io.depth.min(8);
        }
        if self.io.direct == Direct::Optional {
            options.io.direct = Direct::Off;
        }
        options
    }

    /// Opens the engine that these options describe.
    #[doc(hidden)]
    pub fn open_engine(&self) -> Result<Box<dyn Engine>> {
        self.io.open_engine(self.plan.window_bytes)
    }

    /// Whether the scan was cancelled.
    #[doc(hidden)]
    pub fn is_cancelled(&self) -> bool {
        self.hooks.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}
