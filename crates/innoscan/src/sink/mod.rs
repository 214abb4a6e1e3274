//! What rows become. A [`RowSink`] turns located bytes into output bytes on the decode workers.

use innoscan_format as format;

use crate::Result;

/// Takes the rows of a scan. One sink serves all decode workers at once; what a worker writes
/// goes into a batch that is its own, and batches are delivered in key order.
pub trait RowSink: Sync {
    /// What several consecutive leaves' rows become.
    type Batch: Send;

    /// An empty batch. Called on decode workers; sinks hand out used batches again.
    fn new_batch(&self) -> Self::Batch;

    /// Adds a row: its stored columns in the order of `Layout::columns()`, each as the bytes
    /// stored in the record (off-page parts fetched, defaults of instant columns filled in), or
    /// `None` for NULL. Called on decode workers.
    ///
    /// On an error the batch is as it was before the call, so that a scan which skips damage can
    /// go on with the next row. The error names the column at most; the caller knows the place.
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Self::Batch) -> format::Result<()>;

    /// The batch's last row was added. Called on the decode worker, before the batch leaves it:
    /// the place for work on whole batches, such as compression.
    fn finish(&self, batch: &mut Self::Batch) -> Result<()> {
        let _ = batch;
        Ok(())
    }
}
