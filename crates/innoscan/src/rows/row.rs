//! One row of an iterator.

use std::borrow::Cow;
use std::sync::Arc;

use innoscan_format::charset::Charset;
use innoscan_format::types::Class;
use innoscan_format::value::Value;

use super::batch::RowBatch;
use crate::row_shape::RowColumn;
use crate::{Error, Result};

/// A row: the values of the columns that were asked for, in that order, counted from 0.
///
/// It is cheap to clone and to keep, but keeps the batch that it came with (about 1 MiB).
#[derive(Clone, Debug)]
pub struct Row {
    batch: Arc<RowBatch>,
    row: usize,
}

impl Row {
    pub(super) fn new(batch: Arc<RowBatch>, row: usize) -> Row {
        Row { batch, row }
    }

    /// The columns.
    pub fn columns(&self) -> &[RowColumn] {
        self.batch.shape.columns()
    }

    /// How many columns it has.
    pub fn len(&self) -> usize {
        self.columns().len()
    }

    /// Whether it has no columns.
    pub fn is_empty(&self) -> bool {
        self.columns().is_empty()
    }

    /// The value of a column, without loss; `None` for NULL.
    ///
    /// # Errors
    /// There is no such column. (Values that cannot be read end the iterator instead.)
    pub fn get(&self, column: usize) -> Result<Option<Value<'_>>> {
        let codec = self.column(column)?.codec();
        let value = self.batch.stored(self.row, column).map(|stored| codec.value(stored));
        Ok(value.transpose()?)
    }

    /// The value of a column as text in UTF-8; `None` for NULL.
    ///
    /// Text as it is, members of `ENUM` and `SET`, numbers, dates and JSON as the server prints them,
    /// `TIMESTAMP` in UTC, bytes as upper-case hexadecimal digits, `BIT` as a decimal number. Bytes of
    /// a text that are no character of the column's charset become U+FFFD.
    ///
    /// # Errors
    /// As [`Row::get`].
    pub fn utf8(&self, column: usize) -> Result<Option<Cow<'_, str>>> {
        let codec = self.column(column)?.codec();
        let Some(stored) = self.batch.stored(self.row, column) else { return Ok(None) };
        if codec.class() == Class::Text
            && matches!(codec.charset(), Charset::Utf8Mb4 | Charset::Utf8Mb3)
            && let Value::Text(text, _) = codec.value(stored)?
            && let Ok(text) = str::from_utf8(text)
        {
            return Ok(Some(Cow::Borrowed(text)));
        }
        let mut text = Vec::new();
        codec.write_utf8(stored, &mut text)?;
        // The codec writes UTF-8 alone.
        Ok(Some(Cow::Owned(String::from_utf8_lossy(&text).into_owned())))
    }

    /// The bytes that the server itself sends for the value where nothing is transcoded: text in the
    /// column's own charset, `TIMESTAMP` in UTC; `None` for NULL.
    ///
    /// # Errors
    /// As [`Row::get`].
    pub fn text(&self, column: usize) -> Result<Option<Vec<u8>>> {
        let codec = self.column(column)?.codec();
        let Some(stored) = self.batch.stored(self.row, column) else { return Ok(None) };
        let mut text = Vec::new();
        codec.write_text(stored, &mut text)?;
        Ok(Some(text))
    }

    /// The value's bytes as the record stores them, for [`Codec`](crate::Codec); `None` for NULL and
    /// where there is no such column.
    pub fn stored(&self, column: usize) -> Option<&[u8]> {
        self.columns().get(column)?;
        self.batch.stored(self.row, column)
    }

    fn column(&self, column: usize) -> Result<&RowColumn> {
        self.columns().get(column).ok_or_else(|| {
            let why = format!("column {column} of a row of {}", self.len());
            Error::usage(why, "columns are counted from 0, in the order they were asked for")
        })
    }
}
