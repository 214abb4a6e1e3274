//! Batches of rows: they carry rows from the decode workers to the iterator.

use std::sync::Arc;

use crate::Result;
use crate::RowSink;
use crate::row_shape::RowShape;

/// The bytes of values at which a batch is sent before its leaves are finished.
pub(super) const FULL_BYTES: usize = 1 << 20;

/// The bit of an end that marks the value as NULL.
const NULL: u64 = 1 << 63;

/// The shown values of some rows, in stored form.
#[derive(Debug)]
pub(super) struct RowBatch {
    pub shape: Arc<RowShape>,
    bytes: Vec<u8>,
    /// The end of each value in `bytes`, row by row; the [`NULL`] bit marks NULL.
    ends: Vec<u64>,
    rows: usize,
    scratch: Vec<u8>,
}

impl RowBatch {
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A value in stored form; `None` for NULL and for a place that does not exist.
    pub fn stored(&self, row: usize, column: usize) -> Option<&[u8]> {
        let place = row.checked_mul(self.shape.columns().len())?.checked_add(column)?;
        let end = *self.ends.get(place)?;
        let start =
            place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        if end & NULL != 0 {
            return None;
        }
        let place = |end: u64| usize::try_from(end & !NULL).ok();
        self.bytes.get(place(start)?..place(end)?)
    }
}

/// A sink that copies the shown values of rows into batches, and checks that each can be read.
pub(super) struct BatchSink(pub Arc<RowShape>);

impl BatchSink {
    /// Requires that a value can be read, in the decode worker, which can name its place.
    fn check(&self, column: usize, stored: &[u8], scratch: &mut Vec<u8>) -> Result<()> {
        let column = &self.0.columns()[column];
        let codec = column.codec();
        let checked = codec.value(stored).and_then(|value| match value {
            innoscan_format::value::Value::Json(_) => {
                scratch.clear();
                codec.write_text(stored, scratch)
            }
            _ => Ok(()),
        });
        checked.map_err(|error| error.at_column(column.name()).into())
    }

    fn append(&self, row: &[Option<&[u8]>], batch: &mut RowBatch) -> Result<()> {
        for (nth, column) in self.0.columns().iter().enumerate() {
            let stored = row.get(column.position()).copied().flatten();
            if let Some(stored) = stored {
                self.check(nth, stored, &mut batch.scratch)?;
                batch.bytes.extend_from_slice(stored);
            }
            let end = batch.bytes.len() as u64;
            batch.ends.push(if stored.is_none() { end | NULL } else { end });
        }
        Ok(())
    }
}

impl RowSink for BatchSink {
    type Batch = RowBatch;

    fn new_batch(&self) -> RowBatch {
        RowBatch {
            shape: Arc::clone(&self.0),
            bytes: Vec::new(),
            ends: Vec::new(),
            rows: 0,
            scratch: Vec::new(),
        }
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut RowBatch) -> Result<()> {
        if self.0.is_history(row) {
            return Ok(());
        }
        let (bytes, ends) = (batch.bytes.len(), batch.ends.len());
        self.append(row, batch).inspect_err(|_| {
            batch.bytes.truncate(bytes);
            batch.ends.truncate(ends);
        })?;
        batch.rows += 1;
        Ok(())
    }

    fn reads_column(&self, position: usize) -> bool {
        self.0.reads_column(position)
    }

    fn is_full(&self, batch: &RowBatch) -> bool {
        batch.bytes.len() + 8 * batch.ends.len() >= FULL_BYTES
    }
}
