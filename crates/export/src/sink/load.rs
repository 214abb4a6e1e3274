//! Rows as `LOAD DATA ... CHARACTER SET utf8mb4` reads them: what a dump for the MySQL Shell holds.
//!
//! ```text
//! numbers                      as they are; FLOAT and DOUBLE with the fewest digits that give the
//!                              same float again, \N where one is no number
//! dates and times              as the server prints them, TIMESTAMP in UTC
//! text, ENUM, SET, in UTF-8    escaped: \0 \b \n \r \t \Z \\
//! the same in other charsets   base64 of the column's own bytes, so that nothing is transcoded
//! BINARY, BLOB, BIT,           base64
//! GEOMETRY, VECTOR
//! JSON, UUID, INET4, INET6     text
//! NULL                         \N
//! ```
//!
//! [`Load::columns`] says which columns are in base64: whoever loads them says
//! `(..., @c) SET c = FROM_BASE64(@c)`, which gives bytes of no charset. Generated columns are left
//! out.

use innoscan_engine::row_shape::{LeftOut, Purpose, RowColumn, RowShape};
use innoscan_format as format;
use innoscan_format::charset::Charset;
use innoscan_format::schema::TableDef;
use innoscan_format::types::{Class, ColumnType};

use super::batch::Encoded;
use super::escape::{Escapes, Finder, append_base64, escape_json_newlines};
use super::real::append_real;

/// What `LOAD DATA` reads as one byte.
const PAIRS: &[(u8, [u8; 2])] = &[
    (b'\\', *b"\\\\"),
    (b'\n', *b"\\n"),
    (b'\t', *b"\\t"),
    (b'\r', *b"\\r"),
    (8, *b"\\b"),
    (0, *b"\\0"),
    (0x1a, *b"\\Z"),
];

/// What a field replaces.
pub(super) fn load_escapes() -> Escapes<3> {
    Escapes::with_finder(Finder::of_controls(b'\\'), PAIRS)
}

/// A table's rows for `LOAD DATA`.
#[derive(Debug)]
pub struct Load {
    selection: RowShape,
    forms: Vec<Form>,
    escapes: Box<Escapes<3>>,
}

/// How a column's values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Bare,
    Real,
    Escaped,
    Json,
    Base64,
}

impl Form {
    fn of(column: &RowColumn) -> Form {
        let utf8 = [Charset::Utf8Mb4, Charset::Utf8Mb3, Charset::Ascii];
        match column.codec.class() {
            Class::Number => match column.ty {
                ColumnType::Float(_) | ColumnType::Double(_) => Form::Real,
                _ => Form::Bare,
            },
            Class::Temporal | Class::Uuid | Class::Inet => Form::Bare,
            Class::Json => Form::Json,
            Class::Text | Class::Enum | Class::Set if utf8.contains(&column.codec.charset()) => {
                Form::Escaped
            }
            Class::Text | Class::Enum | Class::Set => Form::Base64,
            Class::Binary | Class::Bit | Class::Geometry | Class::Vector => Form::Base64,
        }
    }
}

impl Load {
    /// For a table whose rows hold the columns `stored` (places in `def.columns`).
    pub fn new(def: &TableDef, stored: &[usize]) -> format::Result<Load> {
        let selection = RowShape::new(def, stored, Purpose::Insert)?;
        let forms = selection.columns.iter().map(Form::of).collect();
        Ok(Load { selection, forms, escapes: Box::new(load_escapes()) })
    }

    /// The columns it does not write.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.selection.left_out
    }

    /// The names of the columns it writes, and whether a column is in base64.
    pub fn columns(&self) -> impl Iterator<Item = (&str, bool)> {
        let both = self.selection.columns.iter().zip(&self.forms);
        both.map(|(column, form)| (&*column.name, *form == Form::Base64))
    }

    /// Adds a row to a batch; on an error the batch may hold a part of it.
    pub(super) fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        if self.selection.is_history(row) {
            return Ok(());
        }
        for (index, (column, form)) in self.selection.columns.iter().zip(&self.forms).enumerate() {
            if index > 0 {
                batch.bytes.push(b'\t');
            }
            match row[column.position] {
                None => batch.bytes.extend_from_slice(b"\\N"),
                Some(stored) => self
                    .value(column, *form, stored, batch)
                    .map_err(|error| error.at_column(&column.name))?,
            }
        }
        batch.bytes.push(b'\n');
        batch.rows += 1;
        Ok(())
    }

    #[inline]
    fn value(
        &self,
        column: &RowColumn,
        form: Form,
        stored: &[u8],
        batch: &mut Encoded,
    ) -> format::Result<()> {
        let Encoded { bytes: out, scratch, .. } = batch;
        match form {
            Form::Bare => column.codec.write_text(stored, out)?,
            Form::Real => append_real(&column.codec.value(stored)?, b"\\N", out),
            Form::Escaped | Form::Json | Form::Base64 => {
                scratch.clear();
                column.codec.write_text(stored, scratch)?;
                match form {
                    Form::Base64 => append_base64(scratch, out),
                    Form::Json => {
                        escape_json_newlines(scratch, 0);
                        self.escapes.append(scratch, out);
                    }
                    _ => self.escapes.append(scratch, out),
                }
            }
        }
        Ok(())
    }
}
