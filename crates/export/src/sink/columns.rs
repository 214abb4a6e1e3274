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
