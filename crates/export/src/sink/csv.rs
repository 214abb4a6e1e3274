//! CSV (RFC 4180). It is for other programs, so its text is UTF-8 and lossless, not the server's own.
//!
//! ```text
//! NULL                          an empty field, or the text that is set for NULL; an equal value that
//!                               is not NULL is quoted: an empty string is ""
//! numbers                       unquoted; FLOAT and DOUBLE with the fewest digits that give the same
//!                               float again; BIT as the decimal number of its bits
//! text, ENUM, SET, JSON         in UTF-8; quoted where it holds a comma, a quote or a line end,
//!                               begins or ends with a blank, or is empty
//! dates and times               as the server prints them, TIMESTAMP in UTC, or as
//!                               2024-01-01T12:00:00Z
//! BINARY, BLOB, GEOMETRY        hexadecimal digits, or base64
//! VECTOR                        [1.5,-2]
//! ```

use innoscan_engine::row_shape::{Purpose, RowColumn, RowShape};
use innoscan_format as format;
use innoscan_format::base64;
use innoscan_format::schema::TableDef;
use innoscan_format::types::{Class, ColumnType};

use super::batch::Encoded;
use super::encoder::RowEncoder;
use super::escape::{Finder, append_hex};
use super::real::{append_real, append_vector};
use super::selected::NotSelectable;

/// The text of binary values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BinaryForm {
    /// Upper-case hexadecimal digits: `CAFE`.
    #[default]
    Hex,
    /// base64 with padding: `yv4=`.
    Base64,
    /// `0x` and upper-case hexadecimal digits: `0xCAFE`.
    Prefixed,
}

/// The options of CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// The character between fields.
    pub separator: Separator,
    /// The text of NULL.
    pub null: NullText,
    /// Write a first line with the columns' names.
    pub header: bool,
    /// The end of a line.
    pub line_end: &'static str,
    /// The text of binary values.
    pub binary: BinaryForm,
    /// Write invisible columns too.
    pub include_invisible: bool,
    /// The text of `TIMESTAMP` values.
    pub timestamps: TimestampForm,
}

/// The text of `TIMESTAMP` values, which are in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimestampForm {
    /// `2024-01-01 12:00:00`, as the server prints them.
    #[default]
    Server,
    /// `2024-01-01T12:00:00Z` (ISO 8601); the zero date as the server prints it.
    Iso,
}

impl TimestampForm {
    /// Appends a `TIMESTAMP` value.
    pub(super) fn append(
        self,
        column: &RowColumn,
        stored: &[u8],
        out: &mut Vec<u8>,
    ) -> format::Result<()> {
        let start = out.len();
        column.codec().write_text(stored, out)?;
        let written = &mut out[start..];
        if self == TimestampForm::Iso
            && !written.starts_with(b"0000-00-00")
            && let Some(blank) = written.iter_mut().find(|byte| **byte == b' ')
        {
            *blank = b'T';
            out.push(b'Z');
        }
        Ok(())
    }
}

/// A character between fields, which is never part of an unquoted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator(u8);

impl Separator {
    /// The comma.
    pub const COMMA: Separator = Separator(b',');

    /// A separator of one ASCII character. `None` for a quote, a line end, and characters that can be
    /// part of a number, a time, an address or base64.
    pub fn new(typed: &[u8]) -> Option<Separator> {
        let &[byte] = typed else { return None };
        let is_of_values = byte.is_ascii_alphanumeric() || b"+-./:= \"\r\n".contains(&byte);
        (byte.is_ascii() && !is_of_values).then_some(Separator(byte))
    }
}

/// The text of NULL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NullText(String);

impl NullText {
    /// The text of NULL. `None` for a text that would have to be quoted: it contains the separator, a
    /// quote or a line end, or begins or ends with a blank.
    pub fn new(text: &str, separator: Separator) -> Option<NullText> {
        let special = [separator.0, b'"', b'\r', b'\n'];
        let is_plain = !text.bytes().any(|byte| special.contains(&byte)) && text.trim() == text;
        is_plain.then(|| NullText(text.to_owned()))
    }
}

impl Default for CsvOptions {
    fn default() -> CsvOptions {
        CsvOptions {
            separator: Separator::COMMA,
            null: NullText::default(),
            header: true,
            line_end: "\r\n",
            binary: BinaryForm::Hex,
            include_invisible: false,
            timestamps: TimestampForm::Server,
        }
    }
}

/// The encoder of CSV.
#[derive(Debug)]
pub struct CsvEncoder {
    shape: RowShape,
    notations: Vec<Notation>,
    head: Vec<u8>,
    line_end: &'static str,
    quoting: Quoting,
    timestamps: TimestampForm,
}

/// The rules by which texts are quoted.
#[derive(Clone, Debug)]
struct Quoting {
    separator: u8,
    null: Vec<u8>,
    special: Finder<4>,
}

/// The notation of a column's values.
#[derive(Clone, Copy, Debug)]
enum Notation {
    /// Text that never needs quotes.
    Unquoted,
    Real,
    Timestamp,
    Text,
    Bytes(BinaryForm),
    Vector,
}

impl Notation {
    fn of(column: &RowColumn, binary: BinaryForm) -> Notation {
        match column.codec().class() {
            Class::Number
                if matches!(column.ty(), ColumnType::Float(_) | ColumnType::Double(_)) =>
            {
                Notation::Real
            }
            Class::Temporal if matches!(column.ty(), ColumnType::Timestamp(_)) => {
                Notation::Timestamp
            }
            Class::Number | Class::Temporal | Class::Bit | Class::Uuid | Class::Inet => {
                Notation::Unquoted
            }
            Class::Text | Class::Enum | Class::Set | Class::Json => Notation::Text,
            Class::Binary | Class::Geometry => Notation::Bytes(binary),
            Class::Vector => Notation::Vector,
        }
    }
}

impl RowEncoder for CsvEncoder {
    type Options = CsvOptions;
    type Selected = NotSelectable;

    const NAME: Option<&'static str> = Some("csv");
    const EXTENSION: &'static str = "csv";

    fn include_invisible(options: &mut CsvOptions) {
        options.include_invisible = true;
    }

    fn fingerprint(options: &CsvOptions) -> String {
        format!("Csv({options:?})")
    }

    fn new(def: &TableDef, stored: &[usize], options: &CsvOptions) -> format::Result<CsvEncoder> {
        let purpose = Purpose::Select { include_invisible: options.include_invisible };
        let shape = RowShape::new(def, stored, purpose)?;
        let notations =
            shape.columns().iter().map(|column| Notation::of(column, options.binary)).collect();
        let separator = options.separator.0;
        let quoting = Quoting {
            separator,
            null: options.null.0.clone().into_bytes(),
            special: Finder::new([separator, b'"', b'\r', b'\n']),
        };
        let mut head = Vec::new();
        if options.header {
            for (index, column) in shape.columns().iter().enumerate() {
                if index > 0 {
                    head.push(separator);
                }
                quoting.append(column.name().as_bytes(), &mut head);
            }
            head.extend_from_slice(options.line_end.as_bytes());
        }
        let &CsvOptions { line_end, timestamps, .. } = options;
        Ok(CsvEncoder { shape, notations, head, line_end, quoting, timestamps })
    }

    fn shape(&self) -> &RowShape {
        &self.shape
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        for (index, (column, notation)) in
            self.shape.columns().iter().zip(&self.notations).enumerate()
        {
            if index > 0 {
                batch.bytes.push(self.quoting.separator);
            }
            let Some(stored) = row[column.position()] else {
                batch.bytes.extend_from_slice(&self.quoting.null);
                continue;
            };
            let start = batch.bytes.len();
            self.write_value(column, *notation, stored, batch)
                .map_err(|error| error.at_column(column.name()))?;
            self.quoting.quote_if_null(start, &mut batch.bytes);
        }
        batch.bytes.extend_from_slice(self.line_end.as_bytes());
        Ok(())
    }

    fn head(&self) -> &[u8] {
        &self.head
    }
}

impl CsvEncoder {
    fn write_value(
        &self,
        column: &RowColumn,
        notation: Notation,
        stored: &[u8],
        batch: &mut Encoded,
    ) -> format::Result<()> {
        let Encoded { bytes: out, scratch, losses, .. } = batch;
        let replaced_characters = &mut losses.replaced_characters;
        match notation {
            Notation::Unquoted => *replaced_characters += column.codec().write_utf8(stored, out)?,
            Notation::Real => append_real(&column.codec().value(stored)?, b"", out),
            Notation::Timestamp => self.timestamps.append(column, stored, out)?,
            Notation::Text => {
                let (text, replaced) = column.codec().utf8(stored, scratch)?;
                *replaced_characters += replaced;
                self.quoting.append(text, out);
            }
            Notation::Bytes(_) if stored.is_empty() => out.extend_from_slice(b"\"\""),
            Notation::Bytes(binary) => {
                scratch.clear();
                column.codec().write_text(stored, scratch)?;
                match binary {
                    BinaryForm::Hex => append_hex(scratch, out),
                    BinaryForm::Base64 => base64::append(scratch, out),
                    BinaryForm::Prefixed => {
                        out.extend_from_slice(b"0x");
                        append_hex(scratch, out);
                    }
                }
            }
            Notation::Vector => {
                out.push(b'"');
                append_vector(stored, out);
                out.push(b'"');
            }
        }
        Ok(())
    }
}

impl Quoting {
    /// Appends a text, in quotes if it needs them.
    fn append(&self, text: &[u8], out: &mut Vec<u8>) {
        let blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
        if !blank(text.first()) && !blank(text.last()) && self.special.is_clean(text) {
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

    /// Quotes the value from `start` on if it equals the text of NULL. (The empty string is quoted
    /// already.)
    #[inline]
    fn quote_if_null(&self, start: usize, out: &mut Vec<u8>) {
        if !self.null.is_empty() && out[start..] == self.null {
            out.insert(start, b'"');
            out.push(b'"');
        }
    }
}
