//! The iterator over rows.

use std::iter::FusedIterator;
use std::sync::Arc;

use super::Selection;
use super::batch::{BatchSink, RowBatch};
use super::row::Row;
use super::scan_thread::ScanThread;
use crate::Result;
use crate::row_shape::{RowColumn, RowShape};
use crate::scan::ScanOutcome;

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
    scan: Option<ScanThread<RowBatch>>,
}

impl Rows {
    pub(super) fn start(selection: Selection) -> Result<Rows> {
        let Selection { table, shape, options, limit } = selection;
        let left = limit.unwrap_or(u64::MAX);
        let shape = Arc::new(shape);
        let scan = match left {
            0 => None,
            _ => Some(ScanThread::start(table, options, BatchSink(Arc::clone(&shape)))?),
        };
        Ok(Rows { shape, batch: None, next: 0, left, scan })
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
        self.scan.as_ref()?.outcome()
    }

    /// The next batch that has rows, waiting for it; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<Arc<RowBatch>>> {
        let Some(scan) = &mut self.scan else { return Ok(None) };
        while let Some(batch) = scan.next_batch()? {
            if batch.rows() > 0 {
                return Ok(Some(Arc::new(batch)));
            }
        }
        Ok(None)
    }
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
