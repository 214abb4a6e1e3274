//! How to scan.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use innoscan_format::PageNo;
use innoscan_io::engine::paced::Paced;
use innoscan_io::{self as io, Direct, Engine, EngineKind};

use super::foreground::Foreground;
use super::outcome::Progress;
use crate::Result;
use crate::ahead::{Logical, Manners, ReadAheadPolicy};
use crate::condition::RowCondition;

/// Is told how far a scan is.
pub type ProgressFn = dyn Fn(&Progress) + Send + Sync;

/// How to scan.
#[derive(Clone)]
pub struct ScanOptions {
    /// What to read before it is asked for.
    pub read_ahead: ReadAheadPolicy,
    /// Instead of `read_ahead`, the policy and window that cost the least on `device`, as
    /// `explain` tells; `read_ahead` itself where the device is not known.
    pub picks_read_ahead: bool,
    /// The order of the rows.
    pub order: RowOrder,
    /// The rows that are wanted; `None`: all.
    pub condition: Option<Arc<RowCondition>>,
    /// The scan goes on after this leaf, which another one of the same options ended with; `None`:
    /// it begins at the first. Only in key order.
    pub after: Option<LeafPlace>,
    /// Where leaves are set aside that were read in file order, do not fit in memory, and are
    /// wanted in key order; `None`: where the system has its temporary files.
    pub temporary_dir: Option<PathBuf>,
    /// The window of logical read-ahead.
    pub lra_size_bytes: u64,
    /// Memory for pages, all told.
    pub memory_bytes: u64,
    /// Threads that decode; 0: one a core.
    pub threads: usize,
    /// Whether to read around the page cache.
    pub direct: Direct,
    /// How to ask the kernel.
    pub engine: EngineKind,
    /// The most reads in flight. No more than a block device's queue holds (128 or 256 mostly):
    /// beyond that the kernel makes submissions wait.
    pub depth: usize,
    /// The device the files are on, where that is known.
    pub device: Option<io::Device>,
    /// Bytes between two wanted pages that are read rather than skipped, unless the device says.
    pub gap_bytes: u64,
    /// The most bytes of a read.
    pub read_bytes_most: u64,
    /// All reads are as slow as on this device.
    pub imposed: io::Device,
    /// The scan's reads are spread so that no limit of this is exceeded.
    pub limits: io::Device,
    /// Reading rests so long after each `lra_size_bytes`.
    pub lra_sleep: Duration,
    /// What damage does.
    pub on_corrupt: OnCorrupt,
    /// Off-page values larger than this are refused.
    pub lob_bytes_most: u64,
    /// Told now and then how far the scan is, on the caller's thread.
    pub progress: Option<Arc<ProgressFn>>,
    /// Set from anywhere, ends the scan as interrupted.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Who reads beside the scan, on the same pool.
    pub foreground: Option<Arc<dyn Foreground>>,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions {
            read_ahead: ReadAheadPolicy::Logical,
            picks_read_ahead: false,
            order: RowOrder::Key,
            condition: None,
            after: None,
            temporary_dir: None,
            lra_size_bytes: 512 << 20,
            memory_bytes: 768 << 20,
            threads: 0,
            direct: Direct::Optional,
            engine: EngineKind::Auto,
            depth: 128,
            device: None,
            gap_bytes: 16 << 10,
            read_bytes_most: 1 << 20,
            imposed: io::Device::default(),
            limits: io::Device::default(),
            lra_sleep: Duration::ZERO,
            on_corrupt: OnCorrupt::Fail,
            lob_bytes_most: 1 << 30,
            progress: None,
            cancel: None,
            foreground: None,
        }
    }
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
    /// The same for a table whose files have so many bytes together. A small one is read by one thread
    /// through the page cache, with no more memory than it needs: setting up more would take longer
    /// than reading it.
    #[must_use]
    pub fn sized_for(&self, table_bytes: u64) -> ScanOptions {
        let mut options = self.clone();
        if table_bytes > SMALL_TABLE_BYTES || self.foreground.is_some() {
            return options;
        }
        options.threads = 1;
        options.memory_bytes = self.memory_bytes.min(2 * SMALL_TABLE_BYTES);
        options.picks_read_ahead = false;
        if self.engine == EngineKind::Auto {
            options.engine = EngineKind::Inline;
            options.depth = self.depth.min(8);
        }
        if self.direct == Direct::Optional {
            options.direct = Direct::Off;
        }
        options
    }

    /// The engine that reads as they say.
    pub(crate) fn open_engine(&self) -> Result<Box<dyn Engine>> {
        let mut engine = io::engine::open(self.engine, self.depth)?;
        let rest = io::Rest { after_bytes: self.lra_size_bytes, pause: self.lra_sleep };
        if !self.imposed.is_unlimited() {
            let none = io::Rest::default();
            engine = Box::new(Paced::new(engine, io::Paces::All, self.imposed, none));
        }
        if !self.limits.is_unlimited() || !rest.is_none() {
            let paces = io::Paces::AllButForeground;
            engine = Box::new(Paced::new(engine, paces, self.limits, rest));
        }
        Ok(engine)
    }

    /// Whether somebody wants the scan to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// How the scan and its pool go about things.
    pub(super) fn manners(&self) -> Manners {
        // The policies that are picked from differ only in the order of the leaves.
        if self.picks_read_ahead { Logical::MANNERS } else { self.read_ahead.manners() }
    }

    /// Unwanted pages that are read rather than skipped.
    pub(super) fn gap_pages(&self, page_bytes: usize) -> u32 {
        let gap_bytes = self.device.and_then(|device| device.gap_bytes());
        pages_of(gap_bytes.unwrap_or(self.gap_bytes), page_bytes)
    }

    /// The most pages of a read; at least 1.
    pub(crate) fn run_pages(&self, page_bytes: usize) -> u32 {
        pages_of(self.read_bytes_most, page_bytes).max(1)
    }
}

/// Whole pages; at most `u32::MAX`.
pub(super) fn pages_of(bytes: u64, page_bytes: usize) -> u32 {
    u32::try_from(bytes / page_bytes as u64).unwrap_or(u32::MAX)
}
