//! The writer of rows that a server's `SELECT` returned.

use innoscan_format as format;

use super::batch::{Compression, Encoded};
use super::chunk_writer::{ChunkWriter, Concatenated};
use super::formats::{Format, SelectedTableEncoder};
use super::selected::SelectedColumn;
use crate::{Error, Remedy, Result};

/// The size at which a batch is full, unless files are smaller.
const FULL_BYTES: usize = 1 << 20;

/// Encodes the rows of one table, which a server's `SELECT` returned, into batches.
#[derive(Debug)]
pub struct SelectedRows {
    columns: Vec<SelectedColumn>,
    encoder: SelectedTableEncoder,
    compression: Compression,
    full_bytes: usize,
}

impl SelectedRows {
    /// The rows of a table in a format, in batches of at most about `batch_bytes`.
    ///
    /// # Errors
    /// The format refuses such rows: only formats that can be loaded as they are take them.
    pub fn new(
        format: &Format,
        table: &str,
        columns: &[SelectedColumn],
        compression: Compression,
        batch_bytes: u64,
    ) -> Result<SelectedRows> {
        let encoder = format.selected(table, columns).ok_or_else(|| {
            Error::refused(
                "rows fetched by SELECT are not written in this format",
                [Remedy::ChooseFormat("sql"), Remedy::LeaveOutTable],
            )
        })?;
        let batch_bytes = usize::try_from(batch_bytes).unwrap_or(usize::MAX);
        let full_bytes = FULL_BYTES.min(batch_bytes);
        Ok(SelectedRows { columns: columns.to_vec(), encoder, compression, full_bytes })
    }

    /// The columns that a loader is given by name, and whether their values are in base64.
    pub fn loaded_columns(&self) -> Vec<(String, bool)> {
        let written = self.columns.iter().filter(|column| !column.is_generated);
        written.map(|column| (column.name.clone(), self.encoder.is_base64(column))).collect()
    }

    /// The writer of the table's files.
    pub fn chunk_writer(&self) -> Box<dyn ChunkWriter> {
        Box::new(Concatenated::new(self.encoder.head(), self.compression))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The row does not have a value for each column.
    pub fn row(&self, row: &[Option<Vec<u8>>], batch: &mut Encoded) -> Result<()> {
        if row.len() != self.columns.len() {
            return Err(format::Error::schema(format!(
                "the server gave a row of {} values for {} columns",
                row.len(),
                self.columns.len()
            ))
            .into());
        }
        let both = self.columns.iter().zip(row.iter().map(|value| value.as_deref()));
        self.encoder.row(both.filter(|(column, _)| !column.is_generated), batch);
        batch.rows += 1;
        Ok(())
    }

    /// Whether the batch should be delivered before more is added.
    pub fn is_full(&self, batch: &Encoded) -> bool {
        batch.bytes.len() >= self.full_bytes
    }

    /// Completes a batch after its last row.
    ///
    /// # Errors
    /// The compression failed.
    pub fn finish(&self, batch: &mut Encoded) -> Result<()> {
        self.encoder.finish(batch);
        batch.compress(self.compression)
    }
}
