//! Rows as CSV (RFC 4180): for other programs, so UTF-8 and lossless rather than the server's
//! form.
//!
//! ```text
//! NULL                          nothing between the commas; an empty string is ""
//! numbers                       bare; FLOAT and DOUBLE with the fewest digits that give the same
//!                               float again; BIT as the decimal number of its bits
//! text, ENUM, SET, JSON         in UTF-8; quoted where it holds a comma, a quote or a line end,
//!                               begins or ends with a blank, or is empty
//! dates and times               as the server prints them, TIMESTAMP in UTC
//! BINARY, BLOB, GEOMETRY        hexadecimal digits, or base64
//! VECTOR                        [1.5,-2]
//! ```

use innoscan_format as format;
use innoscan_format::schema::TableDef;
use innoscan_format::types::{Class, ColumnType};

use super::batch::Encoded;
use super::columns::{LeftOut, OutputColumn, Purpose, Selection};
use super::escape::{Finder, append_base64, append_hex};
use super::real::{append_real, append_vector};

/// How bytes without a charset are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BinaryForm {
    /// Upper-case hexadecimal digits.
    #[default]
    Hex,
    /// base64 with padding.
    Base64,
}

/// The shape of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// A first line with the columns' names.
    pub header: bool,
    /// What ends a line.
    pub line_end: &'static str,
    /// How bytes are written.
    pub binary: BinaryForm,
    /// Write invisible columns too.
    pub include_invisible: bool,
}

impl Default for CsvOptions {
    fn default() -> CsvOptions {
        CsvOptions {
            header: true,
            line_end: "\r\n",
            binary: BinaryForm::Hex,
            include_invisible: false,
        }
    }
}

/// A table's rows as CSV.
#[derive(Debug)]
pub struct Csv {
    selection: Selection,
    forms: Vec<Form>,
    head: Vec<u8>,
    line_end: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// Never needs quotes.
    Bare,
    Real,
    Text,
    Bytes(BinaryForm),
    Vector,
}

impl Form {
    fn of(column: &OutputColumn, binary: BinaryForm) -> Form {
        match column.codec.class() {
            Class::Number if matches!(column.ty, ColumnType::Float(_) | ColumnType::Double(_)) => {
                Form::Real
            }
            Class::Number | Class::Temporal | Class::Bit | Class::Uuid | Class::Inet => Form::Bare,
            Class::Text | Class::Enum | Class::Set | Class::Json => Form::Text,
            Class::Binary | Class::Geometry => Form::Bytes(binary),
            Class::Vector => Form::Vector,
        }
    }
}

impl Csv {
    /// For a table whose rows hold the columns `stored` (places in `def.columns`).
    pub fn new(def: &TableDef, stored: &[usize], options: &CsvOptions) -> format::Result<Csv> {
        let purpose = Purpose::Select { include_invisible: options.include_invisible };
        let selection = Selection::new(def, stored, purpose)?;
        let forms =
            selection.columns.iter().map(|column| Form::of(column, options.binary)).collect();
        let mut head = Vec::new();
        if options.header {
            for (index, column) in selection.columns.iter().enumerate() {
                head.extend_from_slice(if index > 0 { b"," } else { b"" });
                append_quoted_if_needed(column.name.as_bytes(), &mut head);
            }
            head.extend_from_slice(options.line_end.as_bytes());
        }
        Ok(Csv { selection, forms, head, line_end: options.line_end })
    }

    /// The first line of every file.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The columns it does not write.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.selection.left_out
    }

    /// Adds a row to a batch; on an error the batch may hold a part of it.
    pub(super) fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        if self.selection.is_history(row) {
            return Ok(());
        }
        for (index, (column, form)) in self.selection.columns.iter().zip(&self.forms).enumerate() {
            if index > 0 {
                batch.bytes.push(b',');
            }
            if let Some(stored) = row[column.position] {
                write_value(column, *form, stored, batch)
                    .map_err(|error| error.at_column(&column.name))?;
            }
        }
        batch.bytes.extend_from_slice(self.line_end.as_bytes());
        batch.rows += 1;
        Ok(())
    }
}

fn write_value(
    column: &OutputColumn,
    form: Form,
    stored: &[u8],
    batch: &mut Encoded,
) -> format::Result<()> {
    let Encoded { bytes: out, scratch, unmapped, .. } = batch;
    match form {
        Form::Bare => *unmapped += column.codec.write_utf8(stored, out)?,
        Form::Real => append_real(&column.codec.value(stored)?, b"", out),
        Form::Text => {
            scratch.clear();
            *unmapped += column.codec.write_utf8(stored, scratch)?;
            append_quoted_if_needed(scratch, out);
        }
        Form::Bytes(_) if stored.is_empty() => out.extend_from_slice(b"\"\""),
        Form::Bytes(binary) => {
            scratch.clear();
            column.codec.write_text(stored, scratch)?;
            match binary {
                BinaryForm::Hex => append_hex(scratch, out),
                BinaryForm::Base64 => append_base64(scratch, out),
            }
        }
        Form::Vector => {
            out.push(b'"');
            append_vector(stored, out);
            out.push(b'"');
        }
    }
    Ok(())
}

fn append_quoted_if_needed(text: &[u8], out: &mut Vec<u8>) {
    const SPECIAL: Finder<4> = Finder::new(*b",\"\r\n");
    let blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    if !blank(text.first()) && !blank(text.last()) && SPECIAL.is_clean(text) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for (index, part) in text.split(|&byte| byte == b'"').enumerate() {
        out.extend_from_slice(if index > 0 { b"\"\"" } else { b"" });
        out.extend_from_slice(part);
    }
    out.push(b'"');
}
