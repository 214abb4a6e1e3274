//! The sink of a scan that makes record batches.

use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use innoscan_engine::{Losses, Result, RowSink};

use crate::batch::{BatchBuilder, ColumnEncoder};

/// The rows at which a batch is full.
const FULL_ROWS: usize = 64 << 10;
/// The stored bytes at which a batch is full.
const FULL_BYTES: usize = 8 << 20;

/// The sink of a scan that makes record batches.
#[derive(Debug)]
pub struct ArrowSink {
    encoder: ColumnEncoder,
    /// Used builders, which have room for the next batch.
    builders: Mutex<Vec<BatchBuilder>>,
}

/// A batch while it is built, and when it is finished.
#[derive(Debug, Default)]
pub struct ArrowBatch {
    builder: BatchBuilder,
    finished: Option<RecordBatch>,
    losses: Losses,
}

impl ArrowBatch {
    /// The rows, and what was lost of them.
    pub fn into_parts(self) -> (Option<RecordBatch>, Losses) {
        (self.finished, self.losses)
    }
}

impl ArrowSink {
    /// A sink of the rows that an encoder takes.
    pub fn new(encoder: ColumnEncoder) -> ArrowSink {
        ArrowSink { encoder, builders: Mutex::default() }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> &SchemaRef {
        self.encoder.schema()
    }
}

impl RowSink for ArrowSink {
    type Batch = ArrowBatch;

    fn new_batch(&self) -> ArrowBatch {
        let used = self.builders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        ArrowBatch { builder: used.unwrap_or_default(), ..ArrowBatch::default() }
    }

    #[inline]
    fn row(&self, row: &[Option<&[u8]>], batch: &mut ArrowBatch) -> Result<()> {
        if self.encoder.shape().is_history(row) {
            return Ok(());
        }
        Ok(self.encoder.row(row, &mut batch.builder)?)
    }

    fn reads_column(&self, position: usize) -> bool {
        self.encoder.shape().reads_column(position)
    }

    fn is_full(&self, batch: &ArrowBatch) -> bool {
        batch.builder.rows() >= FULL_ROWS || batch.builder.stored_bytes() >= FULL_BYTES
    }

    fn finish(&self, batch: &mut ArrowBatch) -> Result<()> {
        let mut builder = std::mem::take(&mut batch.builder);
        batch.losses = builder.take_losses();
        if builder.rows() > 0 {
            batch.finished = Some(self.encoder.finish(&mut builder)?);
        }
        self.builders.lock().unwrap_or_else(PoisonError::into_inner).push(builder);
        Ok(())
    }
}
