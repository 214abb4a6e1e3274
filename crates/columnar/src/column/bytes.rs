//! Columns of texts and bytes.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use innoscan_engine::Losses;
use innoscan_format as format;
use innoscan_format::types::Codec;
use innoscan_format::value::Value;

use super::nulls::Nulls;
use super::{ColumnBuilder, does_not_fit, not_of_form, taken};

/// Values of any length, one after the other.
#[derive(Debug)]
pub(super) struct Strings {
    pub bytes: Vec<u8>,
    /// The end of each value, after a first 0.
    ends: Vec<i32>,
    nulls: Nulls,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings { bytes: Vec::new(), ends: vec![0], nulls: Nulls::default() }
    }
}

impl Strings {
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Ends a value whose bytes were appended.
    #[inline]
    pub fn end(&mut self) -> format::Result<()> {
        let end = i32::try_from(self.bytes.len()).map_err(|_| too_long(self.bytes.len()))?;
        self.ends.push(end);
        self.nulls.value();
        Ok(())
    }

    pub fn append_null(&mut self) {
        self.nulls.null(self.len());
        // Always the end of a row, which fits.
        self.ends.push(self.ends.last().copied().unwrap_or_default());
    }

    pub fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows + 1);
        let end = self.ends.last().copied().unwrap_or_default();
        self.bytes.truncate(end as usize);
        self.nulls.truncate(rows);
    }

    /// The parts of an array; the values are empty then.
    pub fn take(&mut self) -> (OffsetBuffer<i32>, Buffer, Option<arrow_buffer::NullBuffer>) {
        let (bytes, ends) = (taken(&mut self.bytes), taken(&mut self.ends));
        self.ends.push(0);
        let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
        (ends, Buffer::from_vec(bytes), self.nulls.finish())
    }
}

#[cold]
fn too_long(bytes: usize) -> format::Error {
    does_not_fit(
        format!("that ends at byte {bytes} of its batch"),
        "Utf8 or Binary (2 GiB at most)",
    )
}

/// The builder of a column of texts in UTF-8.
pub(super) struct Texts {
    codec: Codec,
    strings: Strings,
    refuses_invalid: bool,
    scratch: Vec<u8>,
}

impl Texts {
    pub fn new(codec: Codec, refuses_invalid: bool) -> Texts {
        Texts { codec, strings: Strings::default(), refuses_invalid, scratch: Vec::new() }
    }
}

impl ColumnBuilder for Texts {
    #[inline]
    fn append(&mut self, stored: &[u8], losses: &mut Losses) -> format::Result<()> {
        let (text, replaced) = self.codec.utf8(stored, &mut self.scratch)?;
        if replaced > 0 {
            if self.refuses_invalid {
                let text = String::from_utf8_lossy(text).into_owned();
                return Err(does_not_fit(format!("'{text}', not valid in its charset,"), "Utf8"));
            }
            losses.replaced_characters += replaced;
        }
        self.strings.bytes.extend_from_slice(text);
        self.strings.end()
    }

    fn append_null(&mut self) {
        self.strings.append_null();
    }

    fn truncate(&mut self, rows: usize) {
        self.strings.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let (ends, bytes, nulls) = self.strings.take();
        Ok(Arc::new(StringArray::try_new(ends, bytes, nulls)?))
    }
}

/// Appends the bytes of a stored value.
pub(super) trait Copy:
    FnMut(&[u8], &mut Vec<u8>, &mut Losses) -> format::Result<()> + Send
{
}

impl<F: FnMut(&[u8], &mut Vec<u8>, &mut Losses) -> format::Result<()> + Send> Copy for F {}

/// The builder of a column of bytes.
pub(super) struct Binaries<C> {
    strings: Strings,
    copy: C,
}

impl<C: Copy> Binaries<C> {
    pub fn new(copy: C) -> Binaries<C> {
        Binaries { strings: Strings::default(), copy }
    }
}

impl<C: Copy> ColumnBuilder for Binaries<C> {
    fn append(&mut self, stored: &[u8], losses: &mut Losses) -> format::Result<()> {
        (self.copy)(stored, &mut self.strings.bytes, losses)?;
        self.strings.end()
    }

    fn append_null(&mut self) {
        self.strings.append_null();
    }

    fn truncate(&mut self, rows: usize) {
        self.strings.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let (ends, bytes, nulls) = self.strings.take();
        Ok(Arc::new(BinaryArray::try_new(ends, bytes, nulls)?))
    }
}

/// The builder of a column of values of one length.
pub(super) struct FixedBinaries {
    codec: Codec,
    value_bytes: i32,
    bytes: Vec<u8>,
    rows: usize,
    nulls: Nulls,
}

impl FixedBinaries {
    pub fn new(codec: Codec, value_bytes: i32) -> FixedBinaries {
        FixedBinaries { codec, value_bytes, bytes: Vec::new(), rows: 0, nulls: Nulls::default() }
    }
}

impl ColumnBuilder for FixedBinaries {
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        let before = self.bytes.len();
        match self.codec.value(stored)? {
            Value::Bytes(bytes) => self.bytes.extend_from_slice(bytes),
            Value::Uuid(bytes) | Value::Inet6(bytes) => self.bytes.extend_from_slice(&bytes),
            Value::Inet4(bytes) => self.bytes.extend_from_slice(&bytes),
            value => return Err(not_of_form(&value)),
        }
        let found = self.bytes.len() - before;
        if found != self.value_bytes as usize {
            return Err(does_not_fit(
                format!("of {found} bytes"),
                &format!("FixedSizeBinary({})", self.value_bytes),
            ));
        }
        self.rows += 1;
        self.nulls.value();
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.null(self.rows);
        self.rows += 1;
        self.bytes.resize(self.rows * self.value_bytes as usize, 0);
    }

    fn truncate(&mut self, rows: usize) {
        self.rows = rows;
        self.bytes.truncate(rows * self.value_bytes as usize);
        self.nulls.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        self.rows = 0;
        let bytes = Buffer::from_vec(std::mem::take(&mut self.bytes));
        let nulls = self.nulls.finish();
        Ok(Arc::new(FixedSizeBinaryArray::try_new(self.value_bytes, bytes, nulls)?))
    }
}
