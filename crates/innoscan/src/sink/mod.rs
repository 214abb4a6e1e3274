//! What rows become. A [`RowSink`] turns located bytes into output bytes on the decode workers.
//!
//! [`Text`], [`Sql`], [`Csv`] and [`Ndjson`] write a row each in their own form; [`Encoder`] is the
//! sink around one of them, with the batches and their compression.

mod batch;
pub mod checksum;
mod columns;
pub mod csv;
mod escape;
pub mod load;
pub mod ndjson;
mod real;
pub mod selected;
pub mod sql;
pub mod summed;
#[cfg(test)]
mod tests;
pub mod text;

use self::batch::BatchPool;
pub use self::batch::{Compression, Encoded};
use self::csv::Csv;
use self::load::Load;
use self::ndjson::Ndjson;
use self::sql::Sql;
use self::text::Text;
use crate::Result;
pub use crate::row_shape::{LeftOut, LeftOutReason};

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

/// A table's rows in one of the outputs' forms.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is the form of its name")]
pub enum Form {
    Text(Text),
    Load(Load),
    Sql(Sql),
    Csv(Csv),
    Ndjson(Ndjson),
}

impl Form {
    /// The table's columns that the output does not have.
    pub fn left_out(&self) -> &[LeftOut] {
        match self {
            Form::Text(text) => text.left_out(),
            Form::Load(load) => load.left_out(),
            Form::Sql(sql) => sql.left_out(),
            Form::Csv(csv) => csv.left_out(),
            Form::Ndjson(ndjson) => ndjson.left_out(),
        }
    }

    /// What every file of rows begins with.
    pub fn head(&self) -> &[u8] {
        match self {
            Form::Sql(sql) => sql.head().as_bytes(),
            Form::Csv(csv) => csv.head(),
            Form::Text(_) | Form::Load(_) | Form::Ndjson(_) => b"",
        }
    }

    /// What the names of its files end in.
    pub fn extension(&self) -> &'static str {
        match self {
            Form::Text(_) => "txt",
            Form::Load(_) => "tsv",
            Form::Sql(_) => "sql",
            Form::Csv(_) => "csv",
            Form::Ndjson(_) => "ndjson",
        }
    }
}

/// A batch of so many bytes is delivered before its leaves are done.
const FULL_BYTES: usize = 8 << 20;
/// The least that can be asked for instead.
const FULL_BYTES_MIN: usize = 64 << 10;

/// The sink of the outputs that are bytes.
#[derive(Debug)]
pub struct Encoder {
    form: Form,
    compression: Compression,
    full_bytes: usize,
    pool: BatchPool,
}

impl Encoder {
    /// Rows in a form, compressed by the batch.
    pub fn new(form: Form, compression: Compression) -> Encoder {
        Encoder { form, compression, full_bytes: FULL_BYTES, pool: BatchPool::default() }
    }

    /// Batches that are not much larger than this, for outputs that are cut into small pieces.
    #[must_use]
    pub fn with_batch_bytes(mut self, batch_bytes: u64) -> Encoder {
        let batch_bytes = usize::try_from(batch_bytes).unwrap_or(usize::MAX);
        self.full_bytes = batch_bytes.clamp(FULL_BYTES_MIN, FULL_BYTES);
        self
    }

    /// The form.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// How batches are compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Takes back a batch that was written, to be filled again.
    pub fn recycle(&self, batch: Encoded) {
        self.pool.put(batch);
    }
}

impl RowSink for Encoder {
    type Batch = Encoded;

    fn new_batch(&self) -> Encoded {
        self.pool.take()
    }

    #[inline]
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> Result<()> {
        let len = batch.bytes.len();
        let encoded = match &self.form {
            Form::Text(text) => text.row(row, batch),
            Form::Load(load) => load.row(row, batch),
            Form::Sql(sql) => sql.row(row, batch),
            Form::Csv(csv) => csv.row(row, batch),
            Form::Ndjson(ndjson) => ndjson.row(row, batch),
        };
        encoded.map_err(|error| {
            batch.bytes.truncate(len);
            error.into()
        })
    }

    fn is_full(&self, batch: &Encoded) -> bool {
        batch.bytes.len() >= self.full_bytes
    }

    fn finish(&self, batch: &mut Encoded) -> Result<()> {
        if let Form::Sql(sql) = &self.form {
            sql.finish(batch);
        }
        batch.compress(self.compression)
    }
}
