//! NDJSON: one JSON object per line, in UTF-8.
//!
//! ```text
//! NULL                          null
//! integers, YEAR, BIT           a number with all digits, up to 64 bits (readers that only have
//!                               doubles round numbers beyond 2^53)
//! FLOAT, DOUBLE                 a number with the fewest digits that give the same float again
//! DECIMAL                       a string: most readers would round a number to a double
//! text, ENUM, SET               a string
//! dates and times               a string as the server prints it, TIMESTAMP in UTC, or as
//!                               2024-01-01T12:00:00Z
//! JSON                          the document itself (MariaDB's JSON is text: a string)
//! BINARY, BLOB, GEOMETRY        a string in base64
//! VECTOR                        an array of numbers
//! ```

use innoscan_engine::row_shape::{Purpose, RowColumn, RowShape};
use innoscan_format as format;
use innoscan_format::base64;
use innoscan_format::schema::TableDef;
use innoscan_format::types::{Class, ColumnType};
use innoscan_format::value::Value;

use super::batch::Encoded;
use super::csv::TimestampForm;
use super::encoder::RowEncoder;
use super::escape::{Finder, escape_json_newlines};
use super::real::{append_real, append_vector};
use super::selected::NotSelectable;

/// The options of NDJSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NdjsonOptions {
    /// Write invisible columns too.
    pub include_invisible: bool,
    /// The text of `TIMESTAMP` values.
    pub timestamps: TimestampForm,
}

/// The encoder of NDJSON.
#[derive(Debug)]
pub struct NdjsonEncoder {
    shape: RowShape,
    notations: Vec<Notation>,
    /// The text before each value: `"a":`, `,"b":`.
    keys: Vec<Vec<u8>>,
    timestamps: TimestampForm,
}

/// The notation of a column's values.
#[derive(Clone, Copy, Debug)]
enum Notation {
    /// The value's text, which is a JSON number.
    Unquoted,
    /// A number without the leading zeros of its text, which JSON does not allow.
    WithoutZeros,
    Real,
    /// In quotes, without anything to escape.
    Quoted,
    Timestamp,
    Text,
    Json,
    Bytes,
    Vector,
}

impl Notation {
    fn of(column: &RowColumn) -> Notation {
        match (column.codec().class(), column.ty()) {
            (_, ColumnType::Float(_) | ColumnType::Double(_)) => Notation::Real,
            (_, ColumnType::Decimal { .. }) => Notation::Quoted,
            (_, ColumnType::Int { zerofill: true, .. } | ColumnType::Year { .. }) => {
                Notation::WithoutZeros
            }
            (Class::Number | Class::Bit, _) => Notation::Unquoted,
            (Class::Json, _) => Notation::Json,
            (_, ColumnType::Timestamp(_)) => Notation::Timestamp,
            (Class::Temporal | Class::Uuid | Class::Inet, _) => Notation::Quoted,
            (Class::Text | Class::Enum | Class::Set, _) => Notation::Text,
            (Class::Binary | Class::Geometry, _) => Notation::Bytes,
            (Class::Vector, _) => Notation::Vector,
        }
    }
}

impl RowEncoder for NdjsonEncoder {
    type Options = NdjsonOptions;
    type Selected = NotSelectable;

    const NAME: Option<&'static str> = Some("ndjson");
    const EXTENSION: &'static str = "ndjson";

    fn include_invisible(options: &mut NdjsonOptions) {
        options.include_invisible = true;
    }

    fn fingerprint(options: &NdjsonOptions) -> String {
        format!("Ndjson({options:?})")
    }

    fn new(
        def: &TableDef,
        stored: &[usize],
        options: &NdjsonOptions,
    ) -> format::Result<NdjsonEncoder> {
        let NdjsonOptions { include_invisible, timestamps } = *options;
        let shape = RowShape::new(def, stored, Purpose::Select { include_invisible })?;
        let notations = shape.columns().iter().map(Notation::of).collect();
        let mut keys = Vec::new();
        for (index, column) in shape.columns().iter().enumerate() {
            let mut key = if index > 0 { b",".to_vec() } else { Vec::new() };
            append_string(column.name().as_bytes(), &mut key);
            key.push(b':');
            keys.push(key);
        }
        Ok(NdjsonEncoder { shape, notations, keys, timestamps })
    }

    fn shape(&self) -> &RowShape {
        &self.shape
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        batch.bytes.push(b'{');
        let columns = self.shape.columns().iter().zip(&self.notations).zip(&self.keys);
        for ((column, notation), key) in columns {
            batch.bytes.extend_from_slice(key);
            match row[column.position()] {
                None => batch.bytes.extend_from_slice(b"null"),
                Some(stored) => write_value(column, *notation, self.timestamps, stored, batch)
                    .map_err(|error| error.at_column(column.name()))?,
            }
        }
        batch.bytes.extend_from_slice(b"}\n");
        Ok(())
    }
}

fn write_value(
    column: &RowColumn,
    notation: Notation,
    timestamps: TimestampForm,
    stored: &[u8],
    batch: &mut Encoded,
) -> format::Result<()> {
    let Encoded { bytes: out, scratch, losses, .. } = batch;
    let replaced_characters = &mut losses.replaced_characters;
    match notation {
        Notation::Unquoted => *replaced_characters += column.codec().write_utf8(stored, out)?,
        Notation::WithoutZeros => {
            let number = match column.codec().value(stored)? {
                Value::UInt(number) => number,
                Value::Year(year) => u64::from(year),
                _ => return Err(format::Error::corrupt("a ZEROFILL number below zero")),
            };
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        Notation::Real => append_real(&column.codec().value(stored)?, b"null", out),
        Notation::Quoted => {
            out.push(b'"');
            column.codec().write_text(stored, out)?;
            out.push(b'"');
        }
        Notation::Timestamp => {
            out.push(b'"');
            timestamps.append(column, stored, out)?;
            out.push(b'"');
        }
        Notation::Text => {
            let (text, replaced) = column.codec().utf8(stored, scratch)?;
            *replaced_characters += replaced;
            append_string(text, out);
        }
        Notation::Json => {
            let start = out.len();
            *replaced_characters += column.codec().write_utf8(stored, out)?;
            escape_json_newlines(out, start);
        }
        Notation::Bytes => {
            scratch.clear();
            column.codec().write_text(stored, scratch)?;
            out.push(b'"');
            base64::append(scratch, out);
            out.push(b'"');
        }
        Notation::Vector => append_vector(stored, out),
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
