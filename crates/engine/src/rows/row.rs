//! One row of an iterator.

use std::borrow::Cow;
use std::sync::Arc;

use innoscan_format::charset::Charset;
use innoscan_format::types::Class;
use innoscan_format::value::Value;

use super::batch::RowBatch;
use crate::row_shape::RowColumn;
use crate::{Error, Result};

/// One row: the values of the selected columns, in the selected order, counted from 0.
///
/// A row is cheap to clone and to keep, but keeps its whole batch (about 1 MiB) in memory.
#[derive(Clone, Debug)]
pub struct Row {
    batch: Arc<RowBatch>,
    row: usize,
}

impl Row {
    pub(super) fn new(batch: Arc<RowBatch>, row: usize) -> Row {
        Row { batch, row }
    }

    /// The row's columns.
    pub fn columns(&self) -> &[RowColumn] {
        self.batch.shape.columns()
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns().len()
    }

    /// Whether the row has no columns.
    pub fn is_empty(&self) -> bool {
        self.columns().is_empty()
    }

    /// The value of a column, without loss; `None` for NULL.
    ///
    /// # Errors
    /// The column does not exist. (Values that cannot be read end the iterator instead.)
    pub fn get(&self, column: usize) -> Result<Option<Value<'_>>> {
        let codec = self.column(column)?.codec();
        let value = self.batch.stored(self.row, column).map(|stored| codec.value(stored));
        Ok(value.transpose()?)
    }

    /// The value of a column as text in UTF-8; `None` for NULL.
    ///
    /// Text is unchanged; members of `ENUM` and `SET`, numbers, dates and JSON are printed as the server
    /// prints them, `TIMESTAMP` in UTC; bytes are upper-case hexadecimal digits, `BIT` a decimal number.
    /// Bytes of a text that are no character of the column's charset become U+FFFD.
    ///
    /// # Errors
    /// Those of [`Row::get`].
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

    /// The value as the bytes that the server itself sends without transcoding: text in the column's own
    /// charset, `TIMESTAMP` in UTC; `None` for NULL.
    ///
    /// # Errors
    /// Those of [`Row::get`].
    pub fn text(&self, column: usize) -> Result<Option<Vec<u8>>> {
        let codec = self.column(column)?.codec();
        let Some(stored) = self.batch.stored(self.row, column) else { return Ok(None) };
        let mut text = Vec::new();
        codec.write_text(stored, &mut text)?;
        Ok(Some(text))
    }

    /// The value's bytes as stored in the record, to be read by a
    /// [`Codec`](innoscan_format::types::Codec); `None` for NULL and for a column that does not exist.
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
