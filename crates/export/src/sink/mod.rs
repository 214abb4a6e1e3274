//! What rows become. A [`RowSink`] turns located bytes into output bytes on the decode workers.
//!
//! [`Text`], [`Sql`], [`Csv`] and [`Ndjson`] write a row each in their own form; [`Encoder`] is the
//! sink around one of them, with the batches and their compression.

mod batch;
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

pub use innoscan_engine::row_shape::{LeftOut, LeftOutReason};
use innoscan_engine::{Result, RowSink};

use self::batch::BatchPool;
pub use self::batch::{Compression, Encoded};
use self::csv::Csv;
use self::load::Load;
use self::ndjson::Ndjson;
use self::sql::Sql;
use self::text::Text;

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
