//! The tab-separated text of a MySQL Shell dump, which `LOAD DATA ... CHARACTER SET utf8mb4` reads.
//!
//! ```text
//! numbers                      as the server prints them; FLOAT and DOUBLE with the fewest digits
//!                              that give the same float again, \N for a NaN
//! dates and times              as the server prints them, TIMESTAMP in UTC
//! text, ENUM, SET, in UTF-8    escaped: \0 \b \n \r \t \Z \\
//! the same in other charsets   base64 of the column's own bytes, so nothing is transcoded
//! BINARY, BLOB, BIT,           base64
//! GEOMETRY, VECTOR
//! JSON, UUID, INET4, INET6     text
//! NULL                         \N
//! ```
//!
//! The columns in base64 are loaded by `(..., @c) SET c = FROM_BASE64(@c)`, which gives bytes without a
//! charset. Generated columns are left out.

use innoscan_engine::row_shape::{Purpose, RowColumn, RowShape};
use innoscan_format as format;
use innoscan_format::base64;
use innoscan_format::charset::Charset;
use innoscan_format::schema::TableDef;
use innoscan_format::types::{Class, ColumnType};

use super::batch::Encoded;
use super::encoder::RowEncoder;
use super::escape::{Escapes, Finder, escape_json_newlines};
use super::layout::Layout;
use super::real::append_real;
use super::selected::{SelectedColumn, SelectedEncoder};

/// The escape sequences that `LOAD DATA` reads as one byte.
const PAIRS: &[(u8, [u8; 2])] = &[
    (b'\\', *b"\\\\"),
    (b'\n', *b"\\n"),
    (b'\t', *b"\\t"),
    (b'\r', *b"\\r"),
    (8, *b"\\b"),
    (0, *b"\\0"),
    (0x1a, *b"\\Z"),
];

/// The escapes of a field.
fn field_escapes() -> Escapes<3> {
    Escapes::with_finder(Finder::of_controls(b'\\'), PAIRS)
}

/// The options of the format: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShellTsvOptions;

/// The encoder of a table's rows for `LOAD DATA`.
#[derive(Debug)]
pub struct ShellTsvEncoder {
    shape: RowShape,
    notations: Vec<Notation>,
    escapes: Box<Escapes<3>>,
}

/// The notation of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    Unescaped,
    Real,
    Escaped,
    Json,
    Base64,
}

impl Notation {
    fn of(column: &RowColumn) -> Notation {
        let utf8 = [Charset::Utf8Mb4, Charset::Utf8Mb3, Charset::Ascii];
        match column.codec().class() {
            Class::Number => match column.ty() {
                ColumnType::Float(_) | ColumnType::Double(_) => Notation::Real,
                _ => Notation::Unescaped,
            },
            Class::Temporal | Class::Uuid | Class::Inet => Notation::Unescaped,
            Class::Json => Notation::Json,
            Class::Text | Class::Enum | Class::Set if utf8.contains(&column.codec().charset()) => {
                Notation::Escaped
            }
            Class::Text | Class::Enum | Class::Set => Notation::Base64,
            Class::Binary | Class::Bit | Class::Geometry | Class::Vector => Notation::Base64,
        }
    }
}

impl RowEncoder for ShellTsvEncoder {
    type Options = ShellTsvOptions;
    type Selected = ShellTsvSelected;

    const NAME: Option<&'static str> = None;
    const EXTENSION: &'static str = "tsv";

    fn for_layout(options: &ShellTsvOptions, layout: Layout) -> Option<ShellTsvOptions> {
        (layout == Layout::MySqlShell).then_some(*options)
    }

    /// The text is that of earlier versions, which called the format `Load`.
    fn fingerprint(_options: &ShellTsvOptions) -> String {
        "Load".to_owned()
    }

    fn selected(
        _options: &ShellTsvOptions,
        _table: &str,
        _columns: &[SelectedColumn],
    ) -> Option<ShellTsvSelected> {
        Some(ShellTsvSelected { escapes: Box::new(field_escapes()) })
    }

    fn new(
        def: &TableDef,
        stored: &[usize],
        _options: &ShellTsvOptions,
    ) -> format::Result<ShellTsvEncoder> {
        let shape = RowShape::new(def, stored, Purpose::Insert)?;
        let notations = shape.columns().iter().map(Notation::of).collect();
        Ok(ShellTsvEncoder { shape, notations, escapes: Box::new(field_escapes()) })
    }

    fn shape(&self) -> &RowShape {
        &self.shape
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        for (index, (column, notation)) in
            self.shape.columns().iter().zip(&self.notations).enumerate()
        {
            if index > 0 {
                batch.bytes.push(b'\t');
            }
            match row[column.position()] {
                None => batch.bytes.extend_from_slice(b"\\N"),
                Some(stored) => self
                    .value(column, *notation, stored, batch)
                    .map_err(|error| error.at_column(column.name()))?,
            }
        }
        batch.bytes.push(b'\n');
        Ok(())
    }

    fn loaded_columns(&self) -> Vec<(String, bool)> {
        let both = self.shape.columns().iter().zip(&self.notations);
        both.map(|(column, notation)| (column.name().to_owned(), *notation == Notation::Base64))
            .collect()
    }
}

impl ShellTsvEncoder {
    #[inline]
    fn value(
        &self,
        column: &RowColumn,
        notation: Notation,
        stored: &[u8],
        batch: &mut Encoded,
    ) -> format::Result<()> {
        let Encoded { bytes: out, scratch, .. } = batch;
        match notation {
            Notation::Unescaped => column.codec().write_text(stored, out)?,
            Notation::Real => append_real(&column.codec().value(stored)?, b"\\N", out),
            Notation::Escaped | Notation::Json | Notation::Base64 => {
                scratch.clear();
                column.codec().write_text(stored, scratch)?;
                match notation {
                    Notation::Base64 => base64::append(scratch, out),
                    Notation::Json => {
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

/// The encoder of rows that a server's `SELECT` returned.
#[derive(Debug)]
pub struct ShellTsvSelected {
    escapes: Box<Escapes<3>>,
}

impl SelectedEncoder for ShellTsvSelected {
    fn row<'r>(
        &self,
        values: impl Iterator<Item = (&'r SelectedColumn, Option<&'r [u8]>)>,
        batch: &mut Encoded,
    ) {
        for (index, (column, value)) in values.enumerate() {
            batch.bytes.extend_from_slice(if index == 0 { b"" } else { b"\t" });
            match value {
                None => batch.bytes.extend_from_slice(b"\\N"),
                Some(value) if self.is_base64(column) => base64::append(value, &mut batch.bytes),
                Some(value) => self.escapes.append(value, &mut batch.bytes),
            }
        }
        batch.bytes.push(b'\n');
    }

    /// Binary values are in base64, and also text: its charset is not known.
    fn is_base64(&self, column: &SelectedColumn) -> bool {
        column.class.is_binary() || matches!(column.class, Class::Text | Class::Enum | Class::Set)
    }
}
