//! The full scan of a table: every row, in key order or any, into a sink.
//!
//! ```text
//!                        tasks (some leaves each)          outputs (batches)
//! scan thread  -------------------------> decode workers ------------------> caller's thread
//! walk, policy, pool, engine  <-- LOB pages wanted --+                        puts in order
//! ```
//!
//! **Memory.** Pages live in the slab, and nowhere else. Reading ahead leaves [`Budget::reserve`]
//! frames alone; a leaf or branch page that is needed next may use all of these but one a worker,
//! and a worker's next LOB page may use those too. So what is needed next is always admitted in
//! the end: a worker that has its LOB page gives it back without needing anything more, a worker
//! with none to fetch gives back its leaves, and if pages read ahead hold all the rest, one of
//! them is let go. Tasks under way are bounded by [`Budget::tasks`]; a batch is delivered when its
//! turn has come, and one that grows too large is delivered in parts, by the one worker whose turn
//! it is, while the others wait.

pub(crate) mod cost;
mod decode;
mod driver;
mod keys;
mod leaf_sort;
mod lob;
mod lob_service;
mod order;
mod view;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use innoscan_format::PageNo;
use innoscan_format::page::PageFormat;
use innoscan_io::{self as io, Direct, Engine, EngineKind};

use crate::ahead::{Logical, Manners, Sizes};
use crate::pool::{Expendable, Pool, PoolOptions};
use crate::sink::RowSink;
use crate::space::Space;
use crate::stats::PoolStats;
use crate::{Error, Result, Table};

pub use crate::ahead::ReadAheadPolicy;

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
    /// Reads are spread so that no limit of this is exceeded.
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
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions {
            read_ahead: ReadAheadPolicy::Logical,
            picks_read_ahead: false,
            order: RowOrder::Key,
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
            limits: io::Device::default(),
            lra_sleep: Duration::ZERO,
            on_corrupt: OnCorrupt::Fail,
            lob_bytes_most: 1 << 30,
            progress: None,
            cancel: None,
        }
    }
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
            Lost::RowsOfPage(rows) => format!("{rows} rows of the page lost"),
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
    pub set_aside_bytes: u64,
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

/// Reads every row of a table into `sink`, and hands its batches to `deliver` on this thread, in the
/// order the options say.
///
/// A batch holds the rows of some consecutive leaves. Several tablespaces (partitions) are read one
/// after the other as one table.
///
/// # Errors
/// The first error in the rows' order, after the batches before it were delivered.
pub fn scan<S: RowSink>(
    table: &Table,
    options: &ScanOptions,
    sink: &S,
    deliver: impl FnMut(S::Batch) -> Result<()>,
) -> Result<ScanOutcome> {
    scan_with_engine(table, options, options.open_engine()?, sink, deliver)
}

impl ScanOptions {
    /// The engine that reads as they say.
    pub(crate) fn open_engine(&self) -> Result<Box<dyn Engine>> {
        let engine = io::engine::open(self.engine, self.depth)?;
        let rest = io::Rest { after_bytes: self.lra_size_bytes, pause: self.lra_sleep };
        if self.limits.is_unlimited() && rest.is_none() {
            return Ok(engine);
        }
        Ok(Box::new(io::engine::paced::Paced::new(engine, self.limits, rest)))
    }

    /// How the scan and its pool go about things.
    fn manners(&self) -> Manners {
        // The policies that are picked from differ only in the order of the leaves.
        if self.picks_read_ahead { Logical::MANNERS } else { self.read_ahead.manners() }
    }

    /// Unwanted pages that are read rather than skipped.
    fn gap_pages(&self, page_bytes: usize) -> u32 {
        let gap_bytes = self.device.and_then(|device| device.gap_bytes());
        pages_of(gap_bytes.unwrap_or(self.gap_bytes), page_bytes)
    }

    /// The most pages of a read; at least 1.
    pub(crate) fn run_pages(&self, page_bytes: usize) -> u32 {
        pages_of(self.read_bytes_most, page_bytes).max(1)
    }
}

fn pages_of(bytes: u64, page_bytes: usize) -> u32 {
    u32::try_from(bytes / page_bytes as u64).unwrap_or(u32::MAX)
}

/// [`scan`] with an engine of the caller's own.
pub fn scan_with_engine<S: RowSink>(
    table: &Table,
    options: &ScanOptions,
    engine: Box<dyn Engine>,
    sink: &S,
    mut deliver: impl FnMut(S::Batch) -> Result<()>,
) -> Result<ScanOutcome> {
    let started = Instant::now();
    let spaces = open_spaces(table, options)?;
    let Some(page_size) = spaces.first().map(Space::page_size) else {
        return Ok(ScanOutcome::default());
    };
    let budget = Budget::new(options, page_size.len())?;
    let slab = io::Slab::new(budget.frames, page_size.len())?;
    let engine_name = engine.name();
    let manners = options.manners();
    let pool_options = PoolOptions {
        keeps_used: manners.keeps_used,
        expendable: if manners.evicts_unused { Expendable::ReadAhead } else { Expendable::Used },
        ..PoolOptions::default()
    };
    let pool = Pool::with_options(slab, engine, pool_options);
    let shared = Shared::new(pool.waker());
    let is_direct = spaces.iter().all(|space| space.file().is_direct());
    let mut outcome = std::thread::scope(|scope| {
        let (task_sender, tasks) = crossbeam_channel::unbounded();
        let (lob_sender, lob_requests) = crossbeam_channel::unbounded();
        let (output_sender, outputs) = crossbeam_channel::bounded(2 * budget.threads);
        for number in 0..budget.threads {
            let worker = decode::Worker::new(
                sink,
                options,
                &shared,
                (tasks.clone(), output_sender.clone(), lob_sender.clone()),
            );
            spawn(scope, format!("decode-{number}"), move || worker.run())?;
        }
        drop((tasks, output_sender, lob_sender));
        let (shared, budget) = (&shared, &budget);
        let driver = spawn(scope, "scan".to_owned(), move || {
            let _stop = StopOnPanic(shared);
            let channels = (task_sender, lob_requests);
            driver::Driver::new(table, options, budget, shared, pool, channels).run(&spaces)
        });
        let driver = driver?;
        let delivered = order::deliver(&outputs, options, shared, &mut deliver);
        if delivered.is_err() {
            shared.stop();
        }
        // Workers that wait to hand something over see that nobody takes it.
        drop(outputs);
        let driven = driver.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // What was delivered tells of errors in key order; the driver's own come after.
        let mut outcome = delivered?;
        let driven = driven?;
        outcome.branch_pages = driven.branch_pages;
        outcome.read_ahead = driven.policy;
        outcome.lob_pages = driven.lob_pages;
        outcome.set_aside_bytes = driven.set_aside_bytes;
        outcome.reads = driven.reads;
        outcome.pool = driven.pool;
        Ok::<ScanOutcome, Error>(outcome)
    })?;
    outcome.requests = outcome.reads.requests();
    outcome.read_bytes = outcome.reads.read_bytes();
    outcome.page_bytes = u64::from(page_size.bytes());
    outcome.engine = engine_name;
    outcome.is_direct = is_direct;
    outcome.elapsed = started.elapsed();
    Ok(outcome)
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    name: String,
    body: impl FnOnce() -> T + Send + 'scope,
) -> Result<std::thread::ScopedJoinHandle<'scope, T>> {
    std::thread::Builder::new()
        .name(name)
        .spawn_scoped(scope, body)
        .map_err(|error| Error::resources(format!("cannot start a thread: {error}")))
}

/// Opens a table's tablespaces, all of one page size.
pub(crate) fn open_spaces(table: &Table, options: &ScanOptions) -> Result<Vec<Space>> {
    let mut spaces: Vec<Space> = Vec::with_capacity(table.files.len());
    for file in &table.files {
        let space = Space::open(&file.path, options.direct)?;
        space
            .header()
            .require_readable()
            .map_err(|error| Error::from(error).in_file(&file.path))?;
        let first_size = spaces.first().map_or(space.page_size(), Space::page_size);
        if first_size != space.page_size() {
            let what = format!(
                "its pages have {} bytes, those of the table's first file {first_size}",
                space.page_size()
            );
            let error = innoscan_format::Error::schema(what);
            return Err(Error::from(error).in_file(&file.path));
        }
        spaces.push(space);
    }
    Ok(spaces)
}

/// How memory and work are divided; see the module's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    threads: usize,
    /// Frames of the slab.
    pub(crate) frames: usize,
    /// Frames that reading ahead leaves alone.
    pub(crate) reserve: usize,
    /// The most tasks handed out and not yet delivered.
    tasks: u64,
    /// The most leaves of a task.
    task_leaves: usize,
    /// Leaves ahead of the scan that are read.
    window_pages: usize,
}

/// Bytes of leaves a task has, where memory allows: enough that handing it over costs nothing.
const TASK_BYTES: usize = 512 << 10;

impl Budget {
    pub(crate) fn new(options: &ScanOptions, page_bytes: usize) -> Result<Budget> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if options.threads == 0 { cores() } else { options.threads };
        let pages_of = |bytes: u64| pages_of(bytes, page_bytes) as usize;
        let reserve = threads + 2;
        let least = reserve + 2;
        let frames = pages_of(options.memory_bytes);
        if frames < least {
            return Err(Error::resources(format!(
                "{} bytes of memory hold {frames} pages, and {threads} threads want {least} at \
                 least; raise --memory to {} or lower --threads",
                options.memory_bytes,
                least * page_bytes
            )));
        }
        let tasks = 2 * threads + 2;
        let spare = frames - reserve;
        let task_leaves = (spare / (4 * tasks)).clamp(1, (TASK_BYTES / page_bytes).max(1));
        let window_most = spare.saturating_sub(tasks * task_leaves).max(1);
        let window_pages = pages_of(options.lra_size_bytes).clamp(1, window_most);
        Ok(Budget { threads, frames, reserve, tasks: tasks as u64, task_leaves, window_pages })
    }

    /// Memory, in pages, that is left for leaves held until others come: beside a window and the
    /// tasks under way.
    pub(crate) fn hold_pages(&self, window_pages: usize) -> usize {
        let tasks = self.task_leaves * usize::try_from(self.tasks).unwrap_or(usize::MAX);
        (self.frames - self.reserve).saturating_sub(window_pages + tasks)
    }

    /// What a policy has to do with in a file.
    pub(crate) fn sizes(&self, options: &ScanOptions, format: PageFormat) -> Sizes {
        Sizes {
            page_bytes: format.page_size.len(),
            file_pages: format.size_pages,
            window_pages: self.window_pages,
            gap_pages: options.gap_pages(format.page_size.len()),
            run_pages: options.run_pages(format.page_size.len()),
        }
    }
}

/// What the threads of a scan share.
struct Shared {
    stopped: AtomicBool,
    /// The scan thread waits, or is about to.
    is_driver_waiting: AtomicBool,
    waker: Arc<dyn io::Wake>,
    /// Tasks delivered whole.
    delivered: AtomicU64,
    turn: order::Turn,
    total_leaves: AtomicU64,
    sorted_leaves: AtomicU64,
    is_total_exact: AtomicBool,
    read_bytes: AtomicU64,
}

impl Shared {
    fn new(waker: Arc<dyn io::Wake>) -> Shared {
        Shared {
            stopped: AtomicBool::new(false),
            is_driver_waiting: AtomicBool::new(false),
            waker,
            delivered: AtomicU64::new(0),
            turn: order::Turn::default(),
            total_leaves: AtomicU64::new(0),
            sorted_leaves: AtomicU64::new(0),
            is_total_exact: AtomicBool::new(false),
            read_bytes: AtomicU64::new(0),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.turn.wake_all();
        self.waker.wake();
    }

    /// Tells the scan thread that a frame, a request or a delivered task is new. Whatever is new
    /// must be there before the call.
    fn wake_driver(&self) {
        std::sync::atomic::fence(Ordering::SeqCst);
        if self.is_driver_waiting.swap(false, Ordering::SeqCst) {
            self.waker.wake();
        }
    }
}

/// Lets no thread wait for one that panicked.
struct StopOnPanic<'s>(&'s Shared);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod traces;
