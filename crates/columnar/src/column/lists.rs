//! Columns of lists of any length: the members of a SET, the floats of a VECTOR.

use std::sync::Arc;

use arrow_array::types::Utf8Type;
use arrow_array::{ArrayRef, Float32Array};
use arrow_schema::{ArrowError, DataType};
use innoscan_engine::Losses;
use innoscan_format as format;
use innoscan_format::types::Codec;
use innoscan_format::value::Value;

use super::dictionary::Members;
use super::ends::{Ends, Strings};
use super::{ColumnBuilder, not_of_form};

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
        let items = self.items.take::<Utf8Type>()?;
        self.lists.take_lists(DataType::Utf8, Arc::new(items))
    }
}

/// Appends the floats of a VECTOR.
pub(super) fn append_floats(stored: &[u8], out: &mut Vec<f32>) -> format::Result<()> {
    let (floats, rest) = stored.as_chunks::<4>();
    if !rest.is_empty() {
        let bytes = stored.len();
        return Err(format::Error::corrupt(format!(
            "a VECTOR of {bytes} bytes is no list of floats"
        )));
    }
    out.extend(floats.iter().map(|float| f32::from_le_bytes(*float)));
    Ok(())
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
        self.lists.take_lists(DataType::Float32, Arc::new(items))
    }
}
