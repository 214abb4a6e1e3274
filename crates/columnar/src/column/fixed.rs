//! Columns of values of one length: bytes, and vectors of a number of floats.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, FixedSizeListArray, Float32Array};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{ArrowError, DataType};
use innoscan_engine::Losses;
use innoscan_format as format;
use innoscan_format::types::Codec;
use innoscan_format::value::Value;

use super::lists::append_floats;
use super::nulls::Nulls;
use super::{ColumnBuilder, does_not_fit, not_of_form};
use crate::types::form::item;

/// The items of rows that have one number of them each.
#[derive(Debug)]
struct FixedRows<T> {
    items_of_row: i32,
    items: Vec<T>,
    rows: usize,
    nulls: Nulls,
}

impl<T: Clone + Default> FixedRows<T> {
    fn new(items_of_row: i32) -> FixedRows<T> {
        FixedRows { items_of_row, items: Vec::new(), rows: 0, nulls: Nulls::default() }
    }

    /// The items of a number of rows.
    fn of_rows(&self, rows: usize) -> usize {
        rows * self.items_of_row as usize
    }

    /// Ends a row whose items were appended. The error is their number, if it is another one.
    fn end(&mut self) -> Result<(), usize> {
        let found = self.items.len() - self.of_rows(self.rows);
        if found != self.items_of_row as usize {
            return Err(found);
        }
        self.rows += 1;
        self.nulls.value();
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.null(self.rows);
        self.rows += 1;
        self.items.resize(self.of_rows(self.rows), T::default());
    }

    fn truncate(&mut self, rows: usize) {
        self.rows = rows;
        self.items.truncate(self.of_rows(rows));
        self.nulls.truncate(rows);
    }

    /// The items of all rows, and which rows are NULL; there are no rows then.
    fn take(&mut self) -> (Vec<T>, Option<NullBuffer>) {
        self.rows = 0;
        (std::mem::take(&mut self.items), self.nulls.finish())
    }
}

/// The builder of a column of bytes of one length.
pub(super) struct FixedBinaries {
    codec: Codec,
    rows: FixedRows<u8>,
}

impl FixedBinaries {
    pub fn new(codec: Codec, value_bytes: i32) -> FixedBinaries {
        FixedBinaries { codec, rows: FixedRows::new(value_bytes) }
    }
}

impl ColumnBuilder for FixedBinaries {
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        let bytes = &mut self.rows.items;
        match self.codec.value(stored)? {
            Value::Bytes(value) => bytes.extend_from_slice(value),
            Value::Uuid(value) | Value::Inet6(value) => bytes.extend_from_slice(&value),
            Value::Inet4(value) => bytes.extend_from_slice(&value),
            value => return Err(not_of_form(&value)),
        }
        self.rows.end().map_err(|found| {
            let wanted = self.rows.items_of_row;
            does_not_fit(format!("of {found} bytes"), &format!("FixedSizeBinary({wanted})"))
        })
    }

    fn append_null(&mut self) {
        self.rows.append_null();
    }

    fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let (bytes, nulls) = self.rows.take();
        let bytes = Buffer::from_vec(bytes);
        Ok(Arc::new(FixedSizeBinaryArray::try_new(self.rows.items_of_row, bytes, nulls)?))
    }
}

/// The builder of a column of vectors of one number of floats.
#[derive(Debug)]
pub(super) struct FixedFloatLists {
    rows: FixedRows<f32>,
}

impl FixedFloatLists {
    pub fn new(floats: i32) -> FixedFloatLists {
        FixedFloatLists { rows: FixedRows::new(floats) }
    }
}

impl ColumnBuilder for FixedFloatLists {
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        append_floats(stored, &mut self.rows.items)?;
        self.rows.end().map_err(|found| {
            let wanted = self.rows.items_of_row;
            format::Error::corrupt(format!("a VECTOR has {found} floats in the place of {wanted}"))
        })
    }

    fn append_null(&mut self) {
        self.rows.append_null();
    }

    fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let (floats, nulls) = self.rows.take();
        let (item, floats) = (item(DataType::Float32), Arc::new(Float32Array::from(floats)));
        Ok(Arc::new(FixedSizeListArray::try_new(item, self.rows.items_of_row, floats, nulls)?))
    }
}
