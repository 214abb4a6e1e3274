//! The text of `SELECT * INTO OUTFILE`, byte for byte.
//!
//! Without `CHARACTER SET`, the server transcodes nothing: values are the columns' own bytes. The
//! separators alone decide what it escapes, and how
//! (`Query_result_export::send_data` in sql/query_result.cc, MySQL 9.7; `select_export::send_data`
//! in sql/sql_class.cc, MariaDB 10.11):
//!
//! ```text
//! escaped in strings     the escape character, NUL (as escape and "0"), the first byte of a line's
//!                        end, and the enclosing character of an enclosed field, otherwise the
//!                        first byte of a field's end
//! escaped in numbers     the same, but only if that last byte is one of ".0123456789e+-"
//! never escaped          bytes inside a multi-byte character of the column's charset
//! doubled, not escaped   an enclosing (or, if there is none, ending) character that is one of
//!                        "ntrb0ZN": after an escape it would have another meaning
//! NULL                   the escape character and "N"; without one, NULL
//! ```

use innoscan_engine::row_shape::{Purpose, RowColumn, RowShape};
use innoscan_format as format;
use innoscan_format::charset::Charset;
use innoscan_format::schema::{Family, ServerVersion, TableDef};
use innoscan_format::types::{Class, ColumnType};

use super::batch::Encoded;
use super::encoder::RowEncoder;
use super::escape::Escapes;
use super::selected::NotSelectable;

/// Characters that have another meaning after an escape character (`ESCAPE_CHARS`).
const MEANS_MORE_ESCAPED: &[u8] = b"ntrb0ZN\0";
/// The characters of numbers (`NUMERIC_CHARS`).
const NUMERIC: &[u8] = b".0123456789e+-\0";
/// The characters of dates and times.
const TEMPORAL: &[u8] = b"0123456789-:. ";

/// The `FIELDS` and `LINES` clauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutfileOptions {
    /// `FIELDS TERMINATED BY`.
    pub fields_terminated_by: Vec<u8>,
    /// `FIELDS ENCLOSED BY`.
    pub enclosed_by: Option<u8>,
    /// `FIELDS OPTIONALLY ENCLOSED BY`: only strings are enclosed.
    pub optionally_enclosed: bool,
    /// `FIELDS ESCAPED BY`; `None` is the empty string.
    pub escaped_by: Option<u8>,
    /// `LINES STARTING BY`.
    pub lines_starting_by: Vec<u8>,
    /// `LINES TERMINATED BY`.
    pub lines_terminated_by: Vec<u8>,
    /// Write invisible columns too.
    pub include_invisible: bool,
}

impl Default for OutfileOptions {
    fn default() -> OutfileOptions {
        OutfileOptions {
            fields_terminated_by: b"\t".to_vec(),
            enclosed_by: None,
            optionally_enclosed: false,
            escaped_by: Some(b'\\'),
            lines_starting_by: Vec::new(),
            lines_terminated_by: b"\n".to_vec(),
            include_invisible: false,
        }
    }
}

/// The encoder of `INTO OUTFILE` text.
#[derive(Debug)]
pub struct OutfileEncoder {
    shape: RowShape,
    fields: Vec<Field>,
    null: Vec<u8>,
    line_start: Vec<u8>,
    field_end: Vec<u8>,
    line_end: Vec<u8>,
}

/// The rules for writing a column.
#[derive(Debug)]
struct Field {
    enclosed_by: Option<u8>,
    /// The bytes that are escaped; `None` if the column's text cannot contain any.
    escapes: Option<Escapes<4>>,
    /// The charset, if its multi-byte characters may contain bytes that are escaped elsewhere.
    characters: Option<Charset>,
    /// Whether the text is the stored bytes.
    verbatim: bool,
}

impl RowEncoder for OutfileEncoder {
    type Options = OutfileOptions;
    type Selected = NotSelectable;

    const NAME: Option<&'static str> = Some("text");
    const EXTENSION: &'static str = "txt";

    fn include_invisible(options: &mut OutfileOptions) {
        options.include_invisible = true;
    }

    /// The text is that of earlier versions, which called the format `Text`.
    fn fingerprint(options: &OutfileOptions) -> String {
        let OutfileOptions { fields_terminated_by, enclosed_by, optionally_enclosed, .. } = options;
        let OutfileOptions { escaped_by, lines_starting_by, lines_terminated_by, .. } = options;
        let OutfileOptions { include_invisible, .. } = options;
        format!(
            "Text(TextOptions {{ fields_terminated_by: {fields_terminated_by:?}, \
             enclosed_by: {enclosed_by:?}, optionally_enclosed: {optionally_enclosed:?}, \
             escaped_by: {escaped_by:?}, lines_starting_by: {lines_starting_by:?}, \
             lines_terminated_by: {lines_terminated_by:?}, include_invisible: {include_invisible:?} }})"
        )
    }

    /// Refuses the server's fixed-row format, which has no separators.
    fn new(
        def: &TableDef,
        stored: &[usize],
        options: &OutfileOptions,
    ) -> format::Result<OutfileEncoder> {
        if options.fields_terminated_by.is_empty() && options.enclosed_by.is_none() {
            return Err(format::Error::unsupported(
                "INTO OUTFILE's fixed-row format (FIELDS TERMINATED BY '' ENCLOSED BY '')",
                "give the fields a separator",
            ));
        }
        let purpose = Purpose::Select { include_invisible: options.include_invisible };
        let shape = RowShape::new(def, stored, purpose)?;
        let rules = Rules::new(options, shape.columns(), def.server);
        let fields = shape.columns().iter().map(|column| rules.field(column)).collect();
        Ok(OutfileEncoder {
            fields,
            null: rules.escape.map_or(b"NULL".to_vec(), |escape| vec![escape, b'N']),
            line_start: options.lines_starting_by.clone(),
            field_end: options.fields_terminated_by.clone(),
            line_end: rules.line_end,
            shape,
        })
    }

    fn shape(&self) -> &RowShape {
        &self.shape
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        let Encoded { bytes: out, scratch, .. } = batch;
        out.extend_from_slice(&self.line_start);
        for (index, (column, field)) in self.shape.columns().iter().zip(&self.fields).enumerate() {
            if index > 0 {
                append_separator(&self.field_end, out);
            }
            match row[column.position()] {
                None => out.extend_from_slice(&self.null),
                Some(stored) => field
                    .write(column, stored, out, scratch)
                    .map_err(|error| error.at_column(column.name()))?,
            }
        }
        append_separator(&self.line_end, out);
        Ok(())
    }
}

/// Appends a separator, which nearly always is one character: that is not worth a call to copy it.
#[inline]
fn append_separator(separator: &[u8], out: &mut Vec<u8>) {
    match separator {
        [byte] => out.push(*byte),
        _ => out.extend_from_slice(separator),
    }
}

impl Field {
    #[inline]
    fn write(
        &self,
        column: &RowColumn,
        stored: &[u8],
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> format::Result<()> {
        if let Some(enclosing) = self.enclosed_by {
            out.push(enclosing);
        }
        match &self.escapes {
            None => column.codec().write_text(stored, out)?,
            Some(escapes) => {
                let text = if self.verbatim {
                    stored
                } else {
                    scratch.clear();
                    column.codec().write_text(stored, scratch)?;
                    scratch
                };
                match self.characters {
                    None => escapes.append(text, out),
                    Some(charset) => escapes.append_characters(text, charset, out),
                }
            }
        }
        if let Some(enclosing) = self.enclosed_by {
            out.push(enclosing);
        }
        Ok(())
    }
}

/// The rules that the server derives from the clauses before the first row (`prepare` in the sources
/// above).
struct Rules {
    escape: Option<u8>,
    enclosed_by: Option<u8>,
    optionally: bool,
    line_end: Vec<u8>,
    /// `field_term_char`.
    field_end: Option<u8>,
    /// `field_sep_char`: the enclosing character, otherwise `field_end`.
    separator: u8,
    /// `is_ambiguous_field_sep`.
    doubled: bool,
    /// `is_ambiguous_field_term`.
    ambiguous_end: bool,
    /// `is_unsafe_field_sep`.
    numbers_escaped: bool,
    bit_is_string: bool,
}

impl Rules {
    fn new(options: &OutfileOptions, columns: &[RowColumn], server: ServerVersion) -> Rules {
        let field_end = options.fields_terminated_by.first().copied();
        let separator = options.enclosed_by.or(field_end).unwrap_or_default();
        let doubled = MEANS_MORE_ESCAPED.contains(&separator);
        let numbers_escaped = NUMERIC.contains(&separator);
        let optionally = match options.enclosed_by {
            None => true,
            Some(_) => options.optionally_enclosed && field_end.is_some(),
        };
        let (strings, numbers) = result_types(columns);
        let numeric_end = field_end.is_some_and(|byte| NUMERIC.contains(&byte));
        let ambiguous_end =
            (doubled && options.enclosed_by.is_none() && (strings || numbers_escaped))
                || (optionally && numbers && numeric_end);
        let line_end = if options.lines_terminated_by.is_empty() {
            options.fields_terminated_by.clone()
        } else {
            options.lines_terminated_by.clone()
        };
        Rules {
            escape: options.escaped_by,
            enclosed_by: options.enclosed_by,
            optionally,
            line_end,
            field_end,
            separator,
            doubled,
            ambiguous_end,
            numbers_escaped,
            bit_is_string: bit_is_string(server),
        }
    }

    fn field(&self, column: &RowColumn) -> Field {
        let class = column.codec().class();
        let string = class.is_string() || (class == Class::Bit && self.bit_is_string);
        let enclosed_by = self.enclosed_by.filter(|_| !self.optionally || string);
        let escapes = self
            .escape
            .filter(|_| string || self.numbers_escaped)
            .map(|escape| self.escapes(escape, enclosed_by.is_some()))
            .filter(|escapes| match class {
                Class::Number => NUMERIC.iter().any(|&byte| byte != 0 && escapes.is_special(byte)),
                Class::Temporal => TEMPORAL.iter().any(|&byte| escapes.is_special(byte)),
                _ => true,
            });
        let characters = escapes.as_ref().and_then(|escapes| {
            let charset = column.codec().charset();
            let high_bytes_only = matches!(
                charset,
                Charset::Utf8Mb3
                    | Charset::Utf8Mb4
                    | Charset::Ujis
                    | Charset::EucJpMs
                    | Charset::Gb2312
            );
            let low_specials = !(0x80..=0xff).any(|byte| escapes.is_special(byte));
            let plain = charset.max_len() == 1 || (high_bytes_only && low_specials);
            (!plain).then_some(charset)
        });
        let verbatim = matches!(
            column.ty(),
            ColumnType::VarChar { .. }
                | ColumnType::Text { .. }
                | ColumnType::VarBinary { .. }
                | ColumnType::Blob { .. }
        );
        Field { enclosed_by, escapes, characters, verbatim }
    }

    /// The bytes of `NEED_ESCAPING`, and their replacements.
    fn escapes(&self, escape: u8, enclosed: bool) -> Escapes<4> {
        let field = if enclosed { Some(self.separator) } else { self.field_end };
        let pair = |byte: u8| {
            let first = if byte == self.separator && self.doubled { byte } else { escape };
            (byte, [first, if byte == 0 { b'0' } else { byte }])
        };
        let mut escapes = Escapes::new([
            pair(0),
            pair(escape),
            pair(field.unwrap_or(escape)),
            pair(self.line_end.first().copied().unwrap_or(escape)),
        ]);
        if let Some(byte) = self.field_end.filter(|_| !enclosed && self.ambiguous_end) {
            escapes.remove(byte);
        }
        escapes
    }
}

/// Whether the server sees columns of strings, and of numbers. It ignores the first column that can be
/// 16 MiB long, and the columns after it.
fn result_types(columns: &[RowColumn]) -> (bool, bool) {
    let (mut strings, mut numbers) = (false, false);
    for column in columns {
        match column.ty() {
            ColumnType::Json | ColumnType::Geometry(_) => break,
            ColumnType::Text { length_bytes: 4, .. } | ColumnType::Blob { length_bytes: 4 } => {
                break;
            }
            ColumnType::Text { length_bytes: 3, .. } if column.codec().charset().max_len() > 1 => {
                break;
            }
            _ => {}
        }
        match column.codec().class().is_string() {
            true => strings = true,
            false => numbers = true,
        }
    }
    (strings, numbers)
}

/// Whether `BIT` counts as a string: in newer MySQL ("BIT is output as binary string",
/// sql/query_result.cc, 9.7), not in 8.0.33 and before, nor in MariaDB.
fn bit_is_string(server: ServerVersion) -> bool {
    server.family == Family::MySql && server.number >= 90_000
}
