//! Rows as NDJSON: one JSON object a line, in UTF-8.
//!
//! ```text
//! NULL                          null
//! integers, YEAR, BIT           a number, all digits (up to 64 bits: readers that know only
//!                               doubles round what is beyond 2^53)
//! FLOAT, DOUBLE                 a number, the fewest digits that give the same float again
//! DECIMAL                       a string: most readers would make a double of a number
//! text, ENUM, SET               a string
//! dates and times               a string as the server prints it, TIMESTAMP in UTC, or as
//!                               2024-01-01T12:00:00Z
//! JSON                          the document itself (MariaDB's JSON is text, and stays a string)
//! BINARY, BLOB, GEOMETRY        a string of base64
//! VECTOR                        an array of numbers
//! ```

use innoscan_engine::row_shape::{LeftOut, Purpose, RowColumn, RowShape};
use innoscan_format as format;
use innoscan_format::schema::TableDef;
use innoscan_format::types::{Class, ColumnType};
use innoscan_format::value::Value;

use super::batch::Encoded;
use super::csv::TimestampForm;
use super::escape::{Finder, append_base64, escape_json_newlines};
use super::real::{append_real, append_vector};

/// The shape of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NdjsonOptions {
    /// Write invisible columns too.
    pub include_invisible: bool,
    /// How `TIMESTAMP` is written.
    pub timestamps: TimestampForm,
}

/// A table's rows as NDJSON.
#[derive(Debug)]
pub struct Ndjson {
    selection: RowShape,
    forms: Vec<Form>,
    /// What stands before each value: `{"a":`, `,"b":`.
    keys: Vec<Vec<u8>>,
    timestamps: TimestampForm,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// JSON as it stands.
    Bare,
    /// Printed with leading zeros, which JSON does not allow.
    Number,
    Real,
    /// In quotes, nothing to escape.
    Quoted,
    Timestamp,
    Text,
    Json,
    Bytes,
    Vector,
}

impl Form {
    fn of(column: &RowColumn) -> Form {
        match (column.codec.class(), &column.ty) {
            (_, ColumnType::Float(_) | ColumnType::Double(_)) => Form::Real,
            (_, ColumnType::Decimal { .. }) => Form::Quoted,
            (_, ColumnType::Int { zerofill: true, .. } | ColumnType::Year { .. }) => Form::Number,
            (Class::Number | Class::Bit, _) => Form::Bare,
            (Class::Json, _) => Form::Json,
            (_, ColumnType::Timestamp(_)) => Form::Timestamp,
            (Class::Temporal | Class::Uuid | Class::Inet, _) => Form::Quoted,
            (Class::Text | Class::Enum | Class::Set, _) => Form::Text,
            (Class::Binary | Class::Geometry, _) => Form::Bytes,
            (Class::Vector, _) => Form::Vector,
        }
    }
}

impl Ndjson {
    /// For a table whose rows hold the columns `stored` (places in `def.columns`).
    pub fn new(def: &TableDef, stored: &[usize], options: NdjsonOptions) -> format::Result<Ndjson> {
        let NdjsonOptions { include_invisible, timestamps } = options;
        let selection = RowShape::new(def, stored, Purpose::Select { include_invisible })?;
        let forms = selection.columns.iter().map(Form::of).collect();
        let mut keys = Vec::new();
        for (index, column) in selection.columns.iter().enumerate() {
            let mut key = if index > 0 { b",".to_vec() } else { Vec::new() };
            append_string(column.name.as_bytes(), &mut key);
            key.push(b':');
            keys.push(key);
        }
        Ok(Ndjson { selection, forms, keys, timestamps })
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
        batch.bytes.push(b'{');
        let columns = self.selection.columns.iter().zip(&self.forms).zip(&self.keys);
        for ((column, form), key) in columns {
            batch.bytes.extend_from_slice(key);
            match row[column.position] {
                None => batch.bytes.extend_from_slice(b"null"),
                Some(stored) => write_value(column, *form, self.timestamps, stored, batch)
                    .map_err(|error| error.at_column(&column.name))?,
            }
        }
        batch.bytes.extend_from_slice(b"}\n");
        batch.rows += 1;
        Ok(())
    }
}

fn write_value(
    column: &RowColumn,
    form: Form,
    timestamps: TimestampForm,
    stored: &[u8],
    batch: &mut Encoded,
) -> format::Result<()> {
    let Encoded { bytes: out, scratch, unmapped, .. } = batch;
    match form {
        Form::Bare => *unmapped += column.codec.write_utf8(stored, out)?,
        Form::Number => {
            let number = match column.codec.value(stored)? {
                Value::UInt(number) => number,
                Value::Year(year) => u64::from(year),
                _ => return Err(format::Error::corrupt("a ZEROFILL number below zero")),
            };
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        Form::Real => append_real(&column.codec.value(stored)?, b"null", out),
        Form::Quoted => {
            out.push(b'"');
            column.codec.write_text(stored, out)?;
            out.push(b'"');
        }
        Form::Timestamp => {
            out.push(b'"');
            timestamps.append(column, stored, out)?;
            out.push(b'"');
        }
        Form::Text => {
            scratch.clear();
            *unmapped += column.codec.write_utf8(stored, scratch)?;
            append_string(scratch, out);
        }
        Form::Json => {
            let start = out.len();
            *unmapped += column.codec.write_utf8(stored, out)?;
            escape_json_newlines(out, start);
        }
        Form::Bytes => {
            scratch.clear();
            column.codec.write_text(stored, scratch)?;
            out.push(b'"');
            append_base64(scratch, out);
            out.push(b'"');
        }
        Form::Vector => append_vector(stored, out),
    }
    Ok(())
}

/// Appends UTF-8 as a JSON string.
fn append_string(text: &[u8], out: &mut Vec<u8>) {
    const SPECIAL: Finder<3> = Finder::of_controls(b'"');
    out.push(b'"');
    if SPECIAL.is_clean(text) {
        out.extend_from_slice(text);
    } else {
        append_escaped(text, out);
    }
    out.push(b'"');
}

fn append_escaped(text: &[u8], out: &mut Vec<u8>) {
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let mut rest = text;
    while let Some(place) = rest.iter().position(|&byte| special(byte)) {
        let (plain, after) = rest.split_at(place);
        out.extend_from_slice(plain);
        append_escape(after[0], out);
        rest = &after[1..];
    }
    out.extend_from_slice(rest);
}

fn append_escape(byte: u8, out: &mut Vec<u8>) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let digit = |nibble: u8| b"0123456789abcdef"[nibble as usize];
            return out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                digit(byte >> 4),
                digit(byte & 15),
            ]);
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}
