//! The scan of a small table: each file is read by one read, and walked and decoded on the caller's
//! thread. Threads, a pool and channels would take longer than the rows.

use std::sync::Arc;
use std::time::Instant;

use innoscan_format::page::{self, Scratch};
use innoscan_io::engine::inline::Inline;
use innoscan_io::{self as io, Direct, Engine, EngineKind, File};

use super::decode::Decoder;
use super::order::{report_progress, take};
use super::read_plan::ReadPlan;
use super::task::{Item, PageSource, SpaceContext, Task, page_in_memory};
use super::tree::{Tree, require_met};
use super::{
    LeafId, SMALL_TABLE_BYTES, ScanOptions, ScanOutcome, Shared, TASK_BYTES, one_page_size,
    scan_with_engine,
};
use crate::RowSink;
use crate::ahead::ReadAheadPolicy;
use crate::space::Space;
use crate::walk::{Step, Walk};
use crate::{Error, Result, Table};

/// The engine name of this method in statistics.
const NAME: &str = "whole files";

/// Scans like [`scan_with_engine`] by the fastest method for a table whose files have `table_bytes` in
/// all: a small one is read by one read per file, or, if the options choose a method, by
/// [`ScanOptions::sized_for`].
pub fn scan_sized<S: RowSink>(
    table: &Table,
    table_bytes: u64,
    options: &ScanOptions,
    sink: &S,
    mut deliver: impl FnMut(S::Batch, Option<LeafId>) -> Result<()>,
) -> Result<ScanOutcome> {
    if table_bytes <= SMALL_TABLE_BYTES
        && leaves_way_open(options)
        && let Some(scanned) = scan_whole(table, options, sink, &mut deliver)?
    {
        return Ok(scanned);
    }
    let sized = options.sized_for(table_bytes);
    scan_with_engine(table, &sized, sized.open_engine()?, sink, deliver)
}

/// Whether the options leave the choice of how files are read.
fn leaves_way_open(options: &ScanOptions) -> bool {
    options.plan.policy.is_none_or(|policy| policy == ReadAheadPolicy::Logical)
        && options.io.engine == EngineKind::Auto
        && options.io.direct != Direct::Required
        && options.plan.memory_bytes >= 2 * SMALL_TABLE_BYTES
        && options.io.emulated.is_unlimited()
        && options.io.limits.is_unlimited()
        && options.io.pause.is_zero()
        && !options.io.yields
        && options.hooks.foreground.is_none()
}

/// Scans files that are read whole; `None` when one turns out to be larger, or cannot be read
/// completely.
fn scan_whole<S: RowSink>(
    table: &Table,
    options: &ScanOptions,
    sink: &S,
    deliver: &mut impl FnMut(S::Batch, Option<LeafId>) -> Result<()>,
) -> Result<Option<ScanOutcome>> {
    let started = Instant::now();
    let mut spaces: Vec<Space> = Vec::with_capacity(table.files.len());
    let mut reads = io::Counters::default();
    for file in &table.files {
        let begun = Instant::now();
        let Some(space) = file.open_whole(SMALL_TABLE_BYTES as usize)? else { return Ok(None) };
        one_page_size(&spaces, &space, file)?;
        reads.demand.add_read(space.file().size_bytes(), begun.elapsed());
        spaces.push(space);
    }
    let Some(page_bytes) = spaces.first().map(Space::page_bytes) else {
        return Ok(Some(ScanOutcome::default()));
    };
    let shared = Shared::new(Inline::new(1).waker());
    let mut scan = Scan {
        table,
        options,
        decoder: Decoder::new(sink, options, None),
        outcome: ScanOutcome::default(),
        tasks: 0,
        task_leaves: (TASK_BYTES / page_bytes).max(1),
        deliver,
    };
    let first = options.rows.after.map_or(0, |after| after.file);
    for (number, space) in spaces.iter().enumerate().skip(first) {
        scan.space(space, number)?;
    }
    let Scan { mut outcome, decoder, .. } = scan;
    outcome.lob_pages = decoder.lob_pages();
    outcome.read_ahead = ReadPlan::of(options).policy;
    outcome.reads = reads;
    outcome.requests = reads.requests();
    outcome.read_bytes = reads.read_bytes();
    outcome.page_bytes = page_bytes as u64;
    outcome.engine = NAME;
    outcome.elapsed = started.elapsed();
    shared.set_totals(outcome.leaf_pages, outcome.read_bytes);
    report_progress(options, &shared, &outcome);
    Ok(Some(outcome))
}

struct Scan<'s, S: RowSink, F> {
    table: &'s Table,
    options: &'s ScanOptions,
    decoder: Decoder<'s, S>,
    outcome: ScanOutcome,
    /// The number of tasks decoded so far.
    tasks: u64,
    /// The most leaves of a task.
    task_leaves: usize,
    deliver: &'s mut F,
}

impl<S: RowSink, F: FnMut(S::Batch, Option<LeafId>) -> Result<()>> Scan<'_, S, F> {
    fn space(&mut self, space: &Space, number: usize) -> Result<()> {
        let file = space.file();
        let in_file = |error: Error| error.in_file(file.path());
        let source = PageSource::Memory(Arc::clone(file));
        let opened = Tree::open(self.table, self.options, space, (number, source), |page| {
            page_in_memory(file, space.page_context(), page).map(Some)
        });
        let Some(Tree { context, mut walk, .. }) = opened.map_err(in_file)? else { return Ok(()) };
        let context = Arc::new(context);
        let mut items = Vec::new();
        while let Some(item) = next_item(&mut walk, &context, file) {
            items.push(item);
            if items.len() >= self.task_leaves {
                self.decode(&context, std::mem::take(&mut items))?;
            }
        }
        if !items.is_empty() {
            self.decode(&context, items)?;
        }
        self.outcome.branch_pages += walk.branch_pages();
        require_met(&walk).map_err(in_file)
    }

    fn decode(&mut self, space: &Arc<SpaceContext>, items: Vec<Item>) -> Result<()> {
        if self.options.is_cancelled() {
            return Err(Error::interrupted());
        }
        let task = Task { number: self.tasks, space: Arc::clone(space), items };
        self.tasks += 1;
        let (outcome, deliver) = (&mut self.outcome, &mut *self.deliver);
        // A refused part is not an error of the page from which it was decoded.
        let mut refused = None;
        let output = self.decoder.decode(task, &mut |part| {
            take(part, outcome, deliver).map_err(|error| {
                refused = Some(error);
                Error::interrupted()
            })
        });
        match refused {
            Some(error) => Err(error),
            None => take(output, outcome, deliver),
        }
    }
}

/// The next leaf in key order, or the damage in its place; `None` at the end.
fn next_item(walk: &mut Walk, context: &SpaceContext, file: &Arc<File>) -> Option<Item> {
    let page = |page_no| page_in_memory(file, &context.page_context, page_no);
    let mut scratch = Scratch::default();
    let step = loop {
        if let Some(step) = walk.next_step() {
            break step;
        }
        // Each turn feeds one branch page, so the loop ends: the walk then has one less to read.
        let branch = walk.fronts().next()?;
        match page(branch) {
            Ok(bytes) => {
                let opened = page::open(&bytes, &context.page_context, branch, &mut scratch);
                walk.feed(branch, opened.map_err(Error::from), &context.layout);
            }
            Err(error) => walk.feed(branch, Err(error), &context.layout),
        }
    };
    Some(match step {
        Step::Leaf { page: page_no, prev, next } => match page(page_no) {
            Ok(page) => Item::Leaf { page_no, page, prev, next },
            Err(error) => Item::Damaged { page_no, error },
        },
        Step::Damaged { page: page_no, error } => Item::Damaged { page_no, error },
    })
}
