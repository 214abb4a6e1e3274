//! Values of any length, one after the other.

use std::sync::Arc;

use arrow_array::types::ByteArrayType;
use arrow_array::{ArrayRef, GenericByteArray, ListArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use innoscan_format as format;

use super::nulls::Nulls;
use super::{does_not_fit, taken};
use crate::types::form::item;

/// The ends of values, among bytes or the items of lists, and which values are NULL.
#[derive(Debug)]
pub(super) struct Ends {
    /// After a first 0.
    ends: Vec<i32>,
    nulls: Nulls,
}

impl Default for Ends {
    fn default() -> Ends {
        Ends { ends: vec![0], nulls: Nulls::default() }
    }
}

impl Ends {
    /// The number of values.
    fn len(&self) -> usize {
        self.ends.len() - 1
    }

    fn last(&self) -> i32 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Ends a value after `items` bytes or items of all values.
    #[inline]
    pub fn end(&mut self, items: usize) -> format::Result<()> {
        let end = i32::try_from(items).map_err(|_| too_long(items))?;
        self.ends.push(end);
        self.nulls.value();
        Ok(())
    }

    pub fn append_null(&mut self) {
        self.nulls.null(self.len());
        self.ends.push(self.last());
    }

    /// Cuts off values; returns the bytes or items of those left.
    pub fn truncate(&mut self, rows: usize) -> usize {
        self.ends.truncate(rows + 1);
        self.nulls.truncate(rows);
        self.last() as usize
    }

    /// The parts of an array; there are no values then.
    fn take(&mut self) -> (OffsetBuffer<i32>, Option<NullBuffer>) {
        let ends = taken(&mut self.ends);
        self.ends.push(0);
        (OffsetBuffer::new(ScalarBuffer::from(ends)), self.nulls.finish())
    }

    /// The array of lists of these items.
    pub fn take_lists(&mut self, ty: DataType, items: ArrayRef) -> Result<ArrayRef, ArrowError> {
        let (ends, nulls) = self.take();
        Ok(Arc::new(ListArray::try_new(item(ty), ends, items, nulls)?))
    }
}

#[cold]
fn too_long(items: usize) -> format::Error {
    does_not_fit(
        format!("that ends at byte or item {items} of its batch"),
        "Utf8, Binary or List (2^31 bytes or items at most)",
    )
}

/// Texts or bytes, one after the other.
#[derive(Debug, Default)]
pub(super) struct Strings {
    /// Those of all values, and of one that has no end yet.
    pub bytes: Vec<u8>,
    ends: Ends,
}

impl Strings {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Ends a value whose bytes were appended.
    #[inline]
    pub fn end(&mut self) -> format::Result<()> {
        self.ends.end(self.bytes.len())
    }

    pub fn append_null(&mut self) {
        self.ends.append_null();
    }

    pub fn truncate(&mut self, rows: usize) {
        let bytes = self.ends.truncate(rows);
        self.bytes.truncate(bytes);
    }

    /// The array of all values; there are none then.
    pub fn take<T: ByteArrayType<Offset = i32>>(
        &mut self,
    ) -> Result<GenericByteArray<T>, ArrowError> {
        let bytes = Buffer::from_vec(taken(&mut self.bytes));
        let (ends, nulls) = self.ends.take();
        GenericByteArray::try_new(ends, bytes, nulls)
    }
}
