//! The rows of a batch as columns.

use arrow_array::RecordBatch;
use innoscan_columnar::BatchBuilder;

/// The rows of a batch as columns, in formats that have columns.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub builder: BatchBuilder,
    /// All rows, once the batch is finished.
    pub finished: Option<RecordBatch>,
    /// The size of the rows in bytes, as stored.
    pub stored_bytes: usize,
}

impl Columns {
    /// Removes the rows. The builder is kept: batches are used again for rows of the same table.
    pub fn clear(&mut self) {
        self.finished = None;
        self.stored_bytes = 0;
    }
}
