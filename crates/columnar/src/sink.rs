//! The sink of a scan that makes record batches.

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
}

/// A batch while it is built, and when it is finished.
#[derive(Debug, Default)]
pub struct ArrowBatch {
    builder: BatchBuilder,
    finished: Option<RecordBatch>,
}

impl ArrowBatch {
    /// The rows, and what was lost of them.
    pub fn into_parts(mut self) -> (Option<RecordBatch>, Losses) {
        (self.finished, self.builder.take_losses())
    }
}

impl ArrowSink {
    /// A sink of the rows that an encoder takes.
    pub fn new(encoder: ColumnEncoder) -> ArrowSink {
        ArrowSink { encoder }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> &SchemaRef {
        self.encoder.schema()
    }
}

impl RowSink for ArrowSink {
    type Batch = ArrowBatch;

    fn new_batch(&self) -> ArrowBatch {
        ArrowBatch::default()
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
        if batch.builder.rows() > 0 {
            batch.finished = Some(self.encoder.finish(&mut batch.builder)?);
        }
        Ok(())
    }
}
