//! Columns of lists: the members of a SET, the floats of a VECTOR.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, ListArray, StringArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use innoscan_engine::Losses;
use innoscan_format as format;
use innoscan_format::types::Codec;
use innoscan_format::value::Value;

use super::bytes::Strings;
use super::dictionary::Members;
use super::nulls::Nulls;
use super::{ColumnBuilder, does_not_fit, not_of_form};
use crate::types::form::item;

/// The ends of lists among their items.
#[derive(Debug)]
struct Ends {
    ends: Vec<i32>,
    nulls: Nulls,
}

impl Default for Ends {
    fn default() -> Ends {
        Ends { ends: vec![0], nulls: Nulls::default() }
    }
}

impl Ends {
    fn end(&mut self, items: usize) -> format::Result<()> {
        let end = i32::try_from(items).map_err(|_| {
            does_not_fit(
                format!("that ends at item {items} of its batch"),
                "List (2^31 items at most)",
            )
        })?;
        self.ends.push(end);
        self.nulls.value();
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.null(self.ends.len() - 1);
        self.ends.push(self.ends.last().copied().unwrap_or_default());
    }

    /// Cuts off lists; returns the items of those left.
    fn truncate(&mut self, rows: usize) -> usize {
        self.ends.truncate(rows + 1);
        self.nulls.truncate(rows);
        self.ends.last().copied().unwrap_or_default() as usize
    }

    fn finish(&mut self, ty: DataType, items: ArrayRef) -> Result<ArrayRef, ArrowError> {
        let Ends { ends, mut nulls } = std::mem::take(self);
        let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
        Ok(Arc::new(ListArray::try_new(item(ty), ends, items, nulls.finish())?))
    }
}

/// The builder of a column of a SET's members.
pub(super) struct TextLists {
    codec: Codec,
    members: Members,
    items: Strings,
    lists: Ends,
}

impl TextLists {
    pub fn new(codec: Codec, members: Members) -> TextLists {
        TextLists { codec, members, items: Strings::default(), lists: Ends::default() }
    }
}

impl ColumnBuilder for TextLists {
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        let value = self.codec.value(stored)?;
        let Value::Set(mask) = value else { return Err(not_of_form(&value)) };
        for (bit, member) in self.members.iter().enumerate() {
            if mask >> bit & 1 == 1 {
                self.items.bytes.extend_from_slice(member.unwrap_or_default().as_bytes());
                self.items.end()?;
            }
        }
        self.lists.end(self.items.len())
    }

    fn append_null(&mut self) {
        self.lists.append_null();
    }

    fn truncate(&mut self, rows: usize) {
        let items = self.lists.truncate(rows);
        self.items.truncate(items);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let (ends, bytes, nulls) = self.items.take();
        let items = StringArray::try_new(ends, bytes, nulls)?;
        self.lists.finish(DataType::Utf8, Arc::new(items))
    }
}

/// Appends the floats of a VECTOR.
fn append_floats(stored: &[u8], out: &mut Vec<f32>) -> format::Result<usize> {
    let (floats, rest) = stored.as_chunks::<4>();
    if !rest.is_empty() {
        let bytes = stored.len();
        return Err(format::Error::corrupt(format!(
            "a VECTOR of {bytes} bytes is no list of floats"
        )));
    }
    out.extend(floats.iter().map(|float| f32::from_le_bytes(*float)));
    Ok(floats.len())
}

/// The builder of a column of vectors of any number of floats.
#[derive(Debug, Default)]
pub(super) struct FloatLists {
    items: Vec<f32>,
    lists: Ends,
}

impl ColumnBuilder for FloatLists {
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        append_floats(stored, &mut self.items)?;
        self.lists.end(self.items.len())
    }

    fn append_null(&mut self) {
        self.lists.append_null();
    }

    fn truncate(&mut self, rows: usize) {
        let items = self.lists.truncate(rows);
        self.items.truncate(items);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let items = Float32Array::from(std::mem::take(&mut self.items));
        self.lists.finish(DataType::Float32, Arc::new(items))
    }
}

/// The builder of a column of vectors of one number of floats.
#[derive(Debug)]
pub(super) struct FixedFloatLists {
    floats: i32,
    items: Vec<f32>,
    rows: usize,
    nulls: Nulls,
}

impl FixedFloatLists {
    pub fn new(floats: i32) -> FixedFloatLists {
        FixedFloatLists { floats, items: Vec::new(), rows: 0, nulls: Nulls::default() }
    }
}

impl ColumnBuilder for FixedFloatLists {
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        let found = append_floats(stored, &mut self.items)?;
        if found != self.floats as usize {
            let wanted = self.floats;
            return Err(format::Error::corrupt(format!(
                "a VECTOR has {found} floats in the place of {wanted}"
            )));
        }
        self.rows += 1;
        self.nulls.value();
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.null(self.rows);
        self.rows += 1;
        self.items.resize(self.rows * self.floats as usize, 0.0);
    }

    fn truncate(&mut self, rows: usize) {
        self.rows = rows;
        self.items.truncate(rows * self.floats as usize);
        self.nulls.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        self.rows = 0;
        let items = Arc::new(Float32Array::from(std::mem::take(&mut self.items)));
        let nulls = self.nulls.finish();
        let item = item(DataType::Float32);
        Ok(Arc::new(FixedSizeListArray::try_new(item, self.floats, items, nulls)?))
    }
}
