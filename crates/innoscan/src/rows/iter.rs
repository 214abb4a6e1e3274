//! The iterator: a thread that scans, and the end of the channel over which its batches come.

use std::iter::FusedIterator;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::batch::{BatchSink, RowBatch};
use super::row::Row;
use crate::row_shape::{RowColumn, RowShape};
use crate::scan::{ScanOptions, ScanOutcome, scan_sized};
use crate::{Error, Result, Table};

/// Batches that wait to be taken.
const BATCHES_MAX: usize = 4;

/// A table's rows, read while they are iterated over.
///
/// After an error there are no more rows; those before it, in the order of the rows, came before it.
/// Dropped, it ends the scan and waits until its threads are gone: no longer than the reads that are
/// under way take.
#[derive(Debug)]
pub struct Rows {
    shape: Arc<RowShape>,
    batch: Option<Arc<RowBatch>>,
    /// The next row of the batch.
    next: usize,
    /// Rows that may still be given out.
    left: u64,
    scan: Option<Scan>,
    outcome: Option<ScanOutcome>,
}

/// The scan's thread; dropped, it is stopped and waited for.
#[derive(Debug)]
struct Scan {
    batches: Option<Receiver<RowBatch>>,
    thread: Option<JoinHandle<Result<ScanOutcome>>>,
    cancel: Arc<AtomicBool>,
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        // A thread that waits to send sees that nobody takes it.
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // What it has to say nobody asked for.
            _ = thread.join();
        }
    }
}

impl Rows {
    pub(super) fn start(
        table: Table,
        mut options: ScanOptions,
        shape: Arc<RowShape>,
        limit: Option<u64>,
    ) -> Result<Rows> {
        let left = limit.unwrap_or(u64::MAX);
        let cancel = Arc::new(AtomicBool::new(false));
        options.hooks.cancel = Some(Arc::clone(&cancel));
        let (sender, batches) = bounded(BATCHES_MAX);
        let sink = BatchSink(Arc::clone(&shape));
        let thread = std::thread::Builder::new()
            .name("rows".to_owned())
            .spawn(move || run(&table, &options, &sink, &sender))
            .map_err(|error| Error::resources(format!("cannot start a thread: {error}")))?;
        let scan = Scan { batches: Some(batches), thread: Some(thread), cancel };
        let scan = Some(scan).filter(|_| left > 0);
        Ok(Rows { shape, batch: None, next: 0, left, scan, outcome: None })
    }

    /// The columns of the rows.
    pub fn columns(&self) -> &[RowColumn] {
        self.shape.columns()
    }

    /// The columns and rows that are read.
    pub fn shape(&self) -> &RowShape {
        &self.shape
    }

    /// What the scan did and what it passed over; `None` before the last row was given out, after an
    /// error, and where a limit ended the rows before the table did.
    pub fn outcome(&self) -> Option<&ScanOutcome> {
        self.outcome.as_ref()
    }

    /// Waits for the next batch with rows; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<Arc<RowBatch>>> {
        let Some(scan) = &self.scan else { return Ok(None) };
        for batch in scan.batches.iter().flatten() {
            if batch.rows() > 0 {
                return Ok(Some(Arc::new(batch)));
            }
        }
        let thread = self.scan.take().and_then(|mut scan| scan.thread.take());
        if let Some(thread) = thread {
            let ended = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.outcome = Some(ended?);
        }
        Ok(None)
    }
}

fn run(
    table: &Table,
    options: &ScanOptions,
    sink: &BatchSink,
    batches: &Sender<RowBatch>,
) -> Result<ScanOutcome> {
    scan_sized(table, table.size_bytes(), options, sink, |batch, _| {
        batches.send(batch).map_err(|_| Error::interrupted())
    })
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        loop {
            if let Some(batch) = &self.batch
                && self.next < batch.rows()
            {
                let row = Row::new(Arc::clone(batch), self.next);
                self.next += 1;
                self.left -= 1;
                if self.left == 0 {
                    (self.batch, self.scan) = (None, None);
                }
                return Some(Ok(row));
            }
            self.next = 0;
            self.batch = None;
            match self.next_batch() {
                Ok(Some(batch)) => self.batch = Some(batch),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl FusedIterator for Rows {}
