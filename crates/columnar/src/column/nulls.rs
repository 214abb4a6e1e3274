//! The bits that say which rows are NULL.

use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

/// The rows that are NULL. Nothing is kept until the first one.
#[derive(Debug, Default)]
pub(super) struct Nulls {
    /// One bit per row, set for values.
    valid: Option<BooleanBufferBuilder>,
}

impl Nulls {
    /// Notes a value.
    #[inline]
    pub fn value(&mut self) {
        if let Some(valid) = &mut self.valid {
            valid.append(true);
        }
    }

    /// Notes a NULL after `rows` rows.
    pub fn null(&mut self, rows: usize) {
        let valid = self.valid.get_or_insert_with(|| {
            let mut valid = BooleanBufferBuilder::new((rows + 1).max(1024));
            valid.append_n(rows, true);
            valid
        });
        valid.append(false);
    }

    pub fn truncate(&mut self, rows: usize) {
        if let Some(valid) = &mut self.valid {
            valid.truncate(rows);
        }
    }

    /// The bits of all rows; none are kept.
    pub fn finish(&mut self) -> Option<NullBuffer> {
        self.valid.take().map(|mut valid| NullBuffer::new(valid.finish()))
    }
}
