//! The full scan of a table: every row, in key order or any order, into a sink.
//!
//! ```text
//!                        tasks (some leaves each)          outputs (batches)
//! scan thread  -------------------------> decode workers ------------------> caller's thread
//! walk, policy, pool, engine  <-- LOB pages wanted --+                        puts in order
//! ```
//!
//! **Memory.** Pages live only in the slab. Read-ahead never uses the last `Budget::reserve`
//! frames; a leaf or branch page that is needed next may use all of these but one per worker, and a
//! worker's next LOB page may use those too. So a page that is needed next always gets a frame in the
//! end: a worker that has its LOB page returns it without needing another, a worker without LOB pages
//! to fetch returns its leaves, and if pages read ahead hold all other frames, one of them is evicted.
//! Tasks in progress are limited by `Budget::tasks`; a batch is delivered when its turn has come, and
//! one that grows too large is delivered in parts, by the one worker whose turn it is, while the
//! others wait.

pub mod alone;
pub mod cost;
mod decode;
mod driver;
pub mod foreground;
mod key_columns;
mod keys;
mod leaf_sorter;
mod lob;
mod options;
mod order;
mod outcome;
pub mod plan;
mod pooled_undo;
pub mod read_plan;
mod requests;
mod small;
mod task;
mod tree;
mod undo;
mod view;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use innoscan_format::page::PageFormat;
use innoscan_io::{self as io, Device, Engine};

pub use self::foreground::Foreground;
use self::foreground::Pages;
pub use self::options::{
    Hooks, LeafId, OnCorrupt, PlanOptions, ProgressFn, RowOptions, RowOrder, SMALL_TABLE_BYTES,
    ScanOptions,
};
pub use self::outcome::{DAMAGE_MAX, Damage, Lost, OpeningTimes, Progress, ScanOutcome};
use self::plan::Planner;
use self::pooled_undo::PooledUndo;
use self::read_plan::ReadPlan;
use self::requests::page_requests;
pub use self::small::scan_sized;
use crate::RowSink;
pub use crate::ahead::ReadAheadPolicy;
use crate::ahead::Sizes;
use crate::cores::threads_or_cores;
use crate::io_options::{IoOptions, pages_of};
use crate::pool::{Evictable, FileSlot, Pool, PoolOptions};
use crate::space::Space;
pub use crate::spill::Spill;
use crate::{Error, Remedy, Result, Table, TableFile};

/// Reads every row of a table into `sink`, and passes the sink's batches to `deliver` on this thread, in
/// the order that the options set.
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
    mut deliver: impl FnMut(S::Batch) -> Result<()>,
) -> Result<ScanOutcome> {
    scan_with_engine(table, options, options.open_engine()?, sink, |batch, _| deliver(batch))
}

/// The options for the memory that the index of a redo log leaves, which is at least half of it.
fn beside_index<'o>(options: &'o ScanOptions, spaces: &[Space]) -> Cow<'o, ScanOptions> {
    let redo = spaces.iter().find_map(Space::redo);
    let index_bytes = redo.map_or(0, |redo| redo.recovery().memory_bytes() as u64);
    if index_bytes == 0 {
        return Cow::Borrowed(options);
    }
    let mut options = options.clone();
    let memory_bytes = &mut options.plan.memory_bytes;
    *memory_bytes -= index_bytes.min(*memory_bytes / 2);
    Cow::Owned(options)
}

/// Scans like [`scan`], with the caller's own engine. With each batch `deliver` receives the leaf after
/// which a scan may resume ([`RowOptions::after`]): the last one whose rows are all delivered with
/// the batch; none when the batch ends within a leaf, rows are in any order, or something was lost.
pub fn scan_with_engine<S: RowSink>(
    table: &Table,
    options: &ScanOptions,
    engine: Box<dyn Engine>,
    sink: &S,
    mut deliver: impl FnMut(S::Batch, Option<LeafId>) -> Result<()>,
) -> Result<ScanOutcome> {
    let started = Instant::now();
    let spaces = open_spaces(table, options)?;
    let Some(page_bytes) = spaces.first().map(Space::page_bytes) else {
        return Ok(ScanOutcome::default());
    };
    let options = &*beside_index(options, &spaces);
    let plan = ReadPlan::of(options);
    let budget = Budget::new(&plan, options.plan.threads, page_bytes)?;
    let engine_name = engine.name();
    let mut pool = pool_for(options, options.hooks.foreground.is_some(), &budget, engine)?;
    let slots: Vec<FileSlot> = spaces
        .iter()
        .map(|space| pool.add_file(Arc::clone(space.file()), space.redo().cloned()))
        .collect();
    let undo = pooled_undo(table, options, &mut pool)?;
    let shared = Shared::new(pool.waker());
    let is_direct = spaces.iter().all(|space| space.file().is_direct());
    let mut outcome = std::thread::scope(|scope| {
        let (task_sender, tasks) = crossbeam_channel::unbounded();
        let (requests, service) = page_requests(&shared);
        let (output_sender, outputs) = crossbeam_channel::bounded(2 * budget.threads);
        for number in 0..budget.threads {
            let worker = decode::Worker::new(
                sink,
                options,
                &shared,
                (tasks.clone(), output_sender.clone(), requests.clone()),
            );
            spawn(scope, format!("decode-{number}"), move || worker.run())?;
        }
        drop((tasks, output_sender));
        let (shared, budget, spaces, slots) = (&shared, &budget, &*spaces, &*slots);
        if let Some(foreground) = &options.hooks.foreground {
            let pages = Pages::new(&requests, shared, spaces, slots);
            pages.spawn_readers(scope, &**foreground)?;
        }
        drop(requests);
        let driver = spawn(scope, "scan".to_owned(), move || {
            let _stop = StopOnPanic(shared);
            let channels = (task_sender, service);
            let driver =
                driver::Driver::new(table, options, budget, shared, (pool, undo), channels);
            driver.run(spaces.iter().zip(slots.iter().copied()).collect())
        });
        let driver = driver?;
        let delivered = order::deliver(&outputs, options, shared, &mut deliver);
        if delivered.is_err() {
            shared.stop();
        }
        // Workers that wait to send an output notice that the receiver is gone.
        drop(outputs);
        let driven = driver.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Errors of delivered tasks are in key order; the driver's own error comes after them.
        let mut outcome = delivered?;
        driven?.add_to(&mut outcome);
        Ok::<ScanOutcome, Error>(outcome)
    })?;
    outcome.page_bytes = page_bytes as u64;
    outcome.engine = engine_name;
    outcome.is_direct = is_direct;
    outcome.elapsed = started.elapsed();
    Ok(outcome)
}

/// Adds the tablespaces of a table's undo logs to the scan's pool.
fn pooled_undo(table: &Table, options: &ScanOptions, pool: &mut Pool) -> Result<Arc<[PooledUndo]>> {
    let logs = table.undo_logs.as_ref();
    let tablespaces = logs.map(|logs| logs.tablespaces()).unwrap_or_default();
    let pooled = tablespaces.iter().map(|file| {
        let space = file.open(options.io.direct)?;
        // Of a page that consists of frames, none can be settled.
        let redo = space.redo().filter(|_| space.page_bytes() == pool.page_bytes());
        let slot = pool.add_file(Arc::clone(space.file()), redo.cloned());
        PooledUndo::new(&space, slot, pool.page_bytes())
    });
    pooled.collect()
}

/// A pool for a scan and its foreground readers.
fn pool_for(
    options: &ScanOptions,
    is_shared: bool,
    budget: &Budget,
    engine: Box<dyn Engine>,
) -> Result<Pool> {
    let traits = Planner::new(options).traits();
    let pool_options = PoolOptions {
        keeps_used: traits.keeps_used,
        is_shared,
        evictable: if traits.evicts_unused { Evictable::ReadAhead } else { Evictable::Used },
        ..PoolOptions::default()
    };
    Pool::new(budget.frames, budget.page_bytes, engine, pool_options)
}

/// Starts a named thread, or returns the error.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    name: String,
    body: impl FnOnce() -> T + Send + 'scope,
) -> Result<std::thread::ScopedJoinHandle<'scope, T>> {
    std::thread::Builder::new().name(name).spawn_scoped(scope, body).map_err(Error::no_thread)
}

/// Opens a table's tablespaces, which must have one page size.
pub fn open_spaces(table: &Table, options: &ScanOptions) -> Result<Vec<Space>> {
    let mut spaces: Vec<Space> = Vec::with_capacity(table.files.len());
    for file in &table.files {
        let space = file.open(options.io.direct)?;
        one_page_size(&spaces, &space, file)?;
        spaces.push(space);
    }
    Ok(spaces)
}

/// Requires that a table's tablespace can be read, and has the page size of those opened before.
fn one_page_size(before: &[Space], space: &Space, file: &TableFile) -> Result<()> {
    space.require_readable(file.clustered_root)?;
    let page_bytes = space.page_bytes();
    let first_bytes = before.first().map_or(page_bytes, Space::page_bytes);
    if first_bytes != page_bytes {
        let what = format!(
            "its pages have {page_bytes} bytes, those of the table's first file {first_bytes}"
        );
        return Err(Error::from(innoscan_format::Error::schema(what)).in_file(&file.path));
    }
    Ok(())
}

/// The division of memory and work; see the module's text.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    threads: usize,
    page_bytes: usize,
    /// Frames of the slab.
    pub(crate) frames: usize,
    /// Frames that read-ahead must leave free.
    pub(crate) reserve: usize,
    /// The most tasks in progress: sent to workers and not yet delivered.
    tasks: u64,
    /// The most leaves of a task.
    task_leaves: usize,
    /// Leaves ahead of the scan that may be read.
    window_pages: usize,
}

/// Bytes of leaves in a task, where memory allows: enough to make the cost of sending it negligible.
const TASK_BYTES: usize = 512 << 10;

impl Budget {
    /// The budget of a plan. `threads`: decode threads; 0: one per core.
    pub fn new(plan: &ReadPlan, threads: usize, page_bytes: usize) -> Result<Budget> {
        let threads = threads_or_cores(threads);
        let pages_of = |bytes: u64| pages_of(bytes, page_bytes) as usize;
        let reserve = threads + 2;
        let least = reserve + 2;
        let frames = pages_of(plan.memory_bytes);
        if frames < least {
            let bytes = plan.memory_bytes;
            return Err(Error::resources(format!(
                "{bytes} bytes of memory hold {frames} pages, and {threads} threads need at \
                 least {least}"
            ))
            .with_remedy(Remedy::RaiseMemory { bytes: (least * page_bytes) as u64 })
            .with_remedy(Remedy::LowerThreads));
        }
        let tasks = 2 * threads + 2;
        let spare = frames - reserve;
        let task_leaves = (spare / (4 * tasks)).clamp(1, (TASK_BYTES / page_bytes).max(1));
        let window_max = spare.saturating_sub(tasks * task_leaves).max(1);
        let window_pages = pages_of(plan.window_bytes).clamp(1, window_max);
        Ok(Budget {
            threads,
            page_bytes,
            frames,
            reserve,
            tasks: tasks as u64,
            task_leaves,
            window_pages,
        })
    }

    /// Memory, in pages, for leaves that wait for others: all except the window and the tasks in
    /// progress.
    pub(crate) fn hold_pages(&self, window_pages: usize) -> usize {
        let tasks = self.task_leaves * usize::try_from(self.tasks).unwrap_or(usize::MAX);
        (self.frames - self.reserve).saturating_sub(window_pages + tasks)
    }

    /// The sizes for a policy on one file, of a device that may be known.
    pub fn sizes(&self, io: &IoOptions, device: Option<Device>, format: PageFormat) -> Sizes {
        Sizes {
            page_bytes: format.physical_len(),
            file_pages: format.size_pages,
            window_pages: self.window_pages,
            gap_pages: io.gap_pages(device, format.physical_len()),
            run_pages: io.run_pages(device, format.physical_len()),
        }
    }
}

/// State shared by the threads of a scan.
struct Shared {
    stopped: AtomicBool,
    /// Whether the scan has finished.
    is_over: AtomicBool,
    /// Whether the scan thread waits, or is about to.
    is_driver_waiting: AtomicBool,
    waker: Arc<dyn io::Wake>,
    /// The number of tasks delivered completely.
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
            is_over: AtomicBool::new(false),
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

    /// Records the totals, once everything is read.
    fn set_totals(&self, leaves: u64, read_bytes: u64) {
        self.total_leaves.store(leaves, Ordering::Relaxed);
        self.is_total_exact.store(true, Ordering::Relaxed);
        self.read_bytes.store(read_bytes, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.turn.wake_all();
        self.waker.wake();
    }

    /// Wakes the scan thread for a new free frame, request or delivered task, which must be visible
    /// before the call.
    fn wake_driver(&self) {
        std::sync::atomic::fence(Ordering::SeqCst);
        if self.is_driver_waiting.swap(false, Ordering::SeqCst) {
            self.waker.wake();
        }
    }
}

/// Stops the scan when its thread panics, so that no other thread waits for it.
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
mod traces;
