//! The iterator over rows: a scanning thread, and the receiving end of the channel for its batches.

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

/// The most batches that wait in the channel.
const BATCHES_MAX: usize = 4;

/// A table's rows, read while they are iterated over.
///
/// An error ends the rows; all rows before it, in the order of the rows, were yielded before. Dropping
/// the iterator ends the scan and waits for its threads: no longer than the reads in flight take.
#[derive(Debug)]
pub struct Rows {
    shape: Arc<RowShape>,
    batch: Option<Arc<RowBatch>>,
    /// The number of the next row in the batch.
    next: usize,
    /// Rows that the limit still allows.
    left: u64,
    scan: Option<Scan>,
    outcome: Option<ScanOutcome>,
}

/// The scan's thread; dropping it stops the thread and waits for it.
#[derive(Debug)]
struct Scan {
    batches: Option<Receiver<RowBatch>>,
    thread: Option<JoinHandle<Result<ScanOutcome>>>,
    cancel: Arc<AtomicBool>,
}

impl Scan {
    fn start(table: Table, mut options: ScanOptions, shape: Arc<RowShape>) -> Result<Scan> {
        let cancel = Arc::new(AtomicBool::new(false));
        options.hooks.cancel = Some(Arc::clone(&cancel));
        let (sender, batches) = bounded(BATCHES_MAX);
        let sink = BatchSink(shape);
        let thread = std::thread::Builder::new()
            .name("rows".to_owned())
            .spawn(move || run(&table, &options, &sink, &sender))
            .map_err(Error::no_thread)?;
        Ok(Scan { batches: Some(batches), thread: Some(thread), cancel })
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        // A thread that waits to send notices that the receiver is gone.
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // The result of a scan that was stopped is not needed.
            _ = thread.join();
        }
    }
}

impl Rows {
    pub(super) fn start(
        table: Table,
        options: ScanOptions,
        shape: Arc<RowShape>,
        limit: Option<u64>,
    ) -> Result<Rows> {
        let left = limit.unwrap_or(u64::MAX);
        let scan = match left {
            0 => None,
            _ => Some(Scan::start(table, options, Arc::clone(&shape))?),
        };
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

    /// The outcome of the scan, with the damage it skipped; `None` before the last row was yielded,
    /// after an error, and where a limit ended the rows before the end of the table.
    pub fn outcome(&self) -> Option<&ScanOutcome> {
        self.outcome.as_ref()
    }

    /// The next batch that has rows, waiting for it; `None` at the end.
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
