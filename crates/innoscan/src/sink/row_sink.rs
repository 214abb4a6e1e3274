//! The interface between a scan and its output.

use crate::Result;

/// The receiver of a scan's rows. One sink serves all decode workers at once; each worker fills batches
/// of its own, and batches are delivered in key order.
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
    /// The result for the rows of several consecutive leaves.
    type Batch: Send;

    /// An empty batch; sinks may return a used one. Called on decode workers.
    fn new_batch(&self) -> Self::Batch;

    /// Adds a row. `row` has the stored columns in the order of the definition, without virtual generated
    /// ones ([`RowColumn::position`](crate::RowColumn::position)). Each is the bytes stored in the record,
    /// with off-page parts and the defaults of instant columns, or `None` for NULL. Called on decode
    /// workers.
    ///
    /// After an error the batch is the same as before the call, so a scan that skips damage can
    /// continue with the next row.
    ///
    /// # Errors
    /// The row is damaged. The error may name the column; the caller adds the place.
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Self::Batch) -> Result<()>;

    /// Whether [`RowSink::row`] uses the column at a position of its rows; by default it uses all. The
    /// value of an unused column has no meaning: if it is off-page, it is not read.
    fn reads_column(&self, position: usize) -> bool {
        let _ = position;
        true
    }

    /// Whether the batch is so large that it should be delivered before more rows are added. Called after
    /// each row: off-page values can make a batch of few leaves large.
    fn is_full(&self, batch: &Self::Batch) -> bool {
        let _ = batch;
        false
    }

    /// Completes a batch after its last row, for example by compressing it. Called on the decode worker.
    ///
    /// # Errors
    /// The batch cannot be completed.
    fn finish(&self, batch: &mut Self::Batch) -> Result<()> {
        let _ = batch;
        Ok(())
    }
}
