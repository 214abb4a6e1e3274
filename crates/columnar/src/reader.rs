//! Record batches of a table, read while they are asked for.

use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use innoscan_engine::scan::ScanOutcome;
use innoscan_engine::{Losses, Result, ScanThread, Selection};

use crate::batch::ColumnEncoder;
use crate::sink::{ArrowBatch, ArrowSink};
use crate::types::TypeOptions;

/// The record batches of a table's rows.
///
/// Nothing is read before the first batch is asked for. Dropping the reader stops the scan, and waits for
/// its threads: no longer than the reads in flight take.
pub struct BatchReader {
    schema: SchemaRef,
    /// What to read, until it is begun.
    next: Option<(Selection, ArrowSink)>,
    scan: Option<ScanThread<ArrowBatch>>,
    /// The rows that the limit still allows.
    left: u64,
    losses: Losses,
    outcome: Option<ScanOutcome>,
}

impl BatchReader {
    /// A reader of the rows and columns that were selected
    /// ([`RowsBuilder::selection`](innoscan_engine::RowsBuilder::selection)).
    ///
    /// # Errors
    /// A column cannot have the type that the options choose for it.
    pub fn new(selection: Selection, types: &TypeOptions) -> Result<BatchReader> {
        let shape = selection.shape.clone();
        let sink = ArrowSink::new(ColumnEncoder::new(&selection.table.def, shape, types)?);
        Ok(BatchReader {
            schema: sink.schema().clone(),
            left: selection.limit.unwrap_or(u64::MAX),
            next: Some((selection, sink)),
            scan: None,
            losses: Losses::default(),
            outcome: None,
        })
    }

    /// What the batches so far do not hold of the values.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// The outcome of the scan, with the damage it skipped; `None` before the last batch was read, after an
    /// error, and where a limit ended the rows before the end of the table.
    pub fn outcome(&self) -> Option<&ScanOutcome> {
        self.outcome.as_ref()
    }

    /// Waits, at most so long, until a batch or the end is present; whether it is. Whoever must look after
    /// something else meanwhile calls this before [`next`](Iterator::next).
    ///
    /// # Errors
    /// The scan cannot begin.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        self.begin()?;
        Ok(self.scan.as_ref().is_none_or(|scan| scan.wait(timeout)))
    }

    fn begin(&mut self) -> Result<()> {
        if let Some((Selection { table, options, .. }, sink)) = self.next.take()
            && self.left > 0
        {
            self.scan = Some(ScanThread::start(table, options, sink)?);
        }
        Ok(())
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.begin()?;
        let Some(scan) = &mut self.scan else { return Ok(None) };
        while let Some(batch) = scan.next_batch()? {
            let (rows, losses) = batch.into_parts();
            self.losses += losses;
            let Some(rows) = rows else { continue };
            let taken = (rows.num_rows() as u64).min(self.left);
            self.left -= taken;
            if self.left == 0 {
                self.scan = None;
            }
            return Ok(Some(rows.slice(0, taken as usize)));
        }
        self.outcome = scan.outcome().cloned();
        self.scan = None;
        Ok(None)
    }
}

impl Iterator for BatchReader {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.next_batch();
        if batch.is_err() {
            self.scan = None;
        }
        batch.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for BatchReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
