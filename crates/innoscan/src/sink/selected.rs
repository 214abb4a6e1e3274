//! The interface of an output format to rows that a server's `SELECT` returned.
//!
//! The tables of such rows are not InnoDB's. In the text protocol after `SET NAMES binary`, a value is the
//! bytes of its column's own charset, dates and numbers are text, and NULL is distinct from them.

use innoscan_format::types::Class;

use super::batch::Encoded;

/// A column of a table whose rows are fetched by `SELECT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedColumn {
    /// The column's name.
    pub name: String,
    /// The class of its type, which decides how its values are quoted.
    pub class: Class,
    /// Whether the server computes the column when rows are inserted. The rows have it, outputs do not.
    pub is_generated: bool,
}

/// The encoder of rows that a server's `SELECT` returned, in one output format.
pub trait SelectedEncoder {
    /// Adds a row, given as each written column with its value, to a batch.
    fn row<'r>(
        &self,
        values: impl Iterator<Item = (&'r SelectedColumn, Option<&'r [u8]>)>,
        batch: &mut Encoded,
    );

    /// Completes a batch after its last row.
    fn finish(&self, batch: &mut Encoded) {
        let _ = batch;
    }

    /// The bytes that precede the rows in every file.
    fn head(&self) -> &[u8] {
        b""
    }

    /// Whether the values of a column are written in base64.
    fn is_base64(&self, column: &SelectedColumn) -> bool {
        let _ = column;
        false
    }
}

/// The encoder of a format that refuses rows of a `SELECT`: no value of this type exists.
#[derive(Clone, Copy, Debug)]
pub enum NotSelectable {}

impl SelectedEncoder for NotSelectable {
    fn row<'r>(
        &self,
        _values: impl Iterator<Item = (&'r SelectedColumn, Option<&'r [u8]>)>,
        _batch: &mut Encoded,
    ) {
        match *self {}
    }
}
