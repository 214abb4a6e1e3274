//! The interface between a scan and what is made of its rows.

use crate::Result;

/// Takes the rows of a scan. One sink serves all decode workers at once; what a worker writes
/// goes into a batch that is its own, and batches are delivered in key order.
///
/// ```
/// use innoscan::{Result, RowShape, RowSink, ScanOptions, Value, scan};
///
/// /// Sums a column of unsigned integers.
/// struct Total(RowShape);
///
/// impl RowSink for Total {
///     type Batch = u64;
///
///     fn new_batch(&self) -> u64 {
///         0
///     }
///
///     fn row(&self, row: &[Option<&[u8]>], batch: &mut u64) -> Result<()> {
///         let column = &self.0.columns()[0];
///         if !self.0.is_history(row)
///             && let Some(stored) = row[column.position()]
///             && let Value::UInt(number) = column.codec().value(stored)?
///         {
///             *batch += number;
///         }
///         Ok(())
///     }
///
///     fn reads_column(&self, position: usize) -> bool {
///         self.0.reads_column(position)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/orders/orders.ibd");
/// let table = innoscan::open(path)?;
/// let sink = Total(RowShape::named(&table.def, ["id"])?);
/// let mut total = 0;
/// scan(&table, &ScanOptions::default(), &sink, |batch| {
///     total += batch;
///     Ok(())
/// })?;
/// assert_eq!(total, 400 * 401 / 2);
/// # Ok(())
/// # }
/// ```
pub trait RowSink: Sync {
    /// What several consecutive leaves' rows become.
    type Batch: Send;

    /// An empty batch. Called on decode workers; sinks hand out used batches again.
    fn new_batch(&self) -> Self::Batch;

    /// Adds a row: its stored columns in the order of the definition, virtual generated ones left
    /// out ([`RowColumn::position`](crate::RowColumn::position)), each as the bytes stored in the record (off-page parts fetched, defaults of instant columns filled in), or
    /// `None` for NULL. Called on decode workers.
    ///
    /// On an error the batch is as it was before the call, so that a scan which skips damage can
    /// go on with the next row. The error names the column at most; the caller knows the place.
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Self::Batch) -> Result<()>;

    /// Whether [`RowSink::row`] looks at the column at a place of its rows; by default at all. What
    /// stands at the place of a column that it does not look at has no meaning: an off-page value is
    /// not read then.
    fn reads_column(&self, position: usize) -> bool {
        let _ = position;
        true
    }

    /// Whether the batch has grown so large that it should be delivered before more is added.
    /// Asked after each row; a batch of few leaves grows large by off-page values alone.
    fn is_full(&self, batch: &Self::Batch) -> bool {
        let _ = batch;
        false
    }

    /// The batch's last row was added. Called on the decode worker, before the batch leaves it:
    /// the place for work on whole batches, such as compression.
    fn finish(&self, batch: &mut Self::Batch) -> Result<()> {
        let _ = batch;
        Ok(())
    }
}
