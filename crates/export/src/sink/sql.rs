//! Extended `INSERT` statements, and the other statements of SQL dumps.
//!
//! Values are the columns' own bytes: the file has `SET NAMES binary`, so loading transcodes nothing, and
//! bytes that are not valid in their charset survive. The notation of values is chosen so that a restored
//! table has the same `CHECKSUM TABLE`:
//!
//! ```text
//! numbers                    unquoted; FLOAT and DOUBLE with the fewest digits that give the same
//!                            float again (the server's own text of a FLOAT has 6 and loses bits)
//! dates and times            '2024-01-31 12:00:00.5', TIMESTAMP in UTC
//! CHAR, VARCHAR, TEXT        'raw bytes, escaped'
//! ENUM, SET                  index and mask: exact even for the error value '' and equal members
//! BINARY, BLOB               0xC0FFEE, or _binary 'raw bytes, escaped'
//! BIT, GEOMETRY, VECTOR      0xC0FFEE: the stored bytes
//! UUID, INET4, INET6         0xC0FFEE: bytes in text order (servers refuse text in charset binary)
//! JSON (MySQL's)             CONVERT('...' USING utf8mb4) (servers refuse a binary string)
//! ```
//!
//! MySQL's JSON loses two things, as in any dump. Values that only SQL can put into a document
//! (dates, DECIMAL, BLOB, BIT) are restored as strings and doubles, because that is their text. And
//! MySQL reads a double in JSON less exactly than it prints it: the last bit may differ.
//!
//! Old versions of rows in MariaDB's system-versioned tables are not written, and the `row_start` of
//! the current ones becomes the time of the restore, as with any dump.
//!
//! A statement ends with `;` at the end of a line, and no value holds a raw newline.

use std::borrow::Cow;

use innoscan_engine::Result;
use innoscan_engine::row_shape::{Purpose, RowColumn, RowShape};
use innoscan_format as format;
use innoscan_format::schema::{ColumnDef, Family, TableDef, quoted_name};
use innoscan_format::types::{Class, ColumnType};
use innoscan_format::value::Value;

use super::batch::{Compression, Encoded};
use super::encoder::RowEncoder;
use super::escape::{Escapes, Finder, append_hex, escape_json_newlines};
use super::layout::Layout;
use super::real::real_text;
use super::selected::{SelectedColumn, SelectedEncoder};

/// The verb of `INSERT` statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// `INSERT INTO`.
    #[default]
    Insert,
    /// `INSERT IGNORE INTO`: existing rows with the same key are kept.
    InsertIgnore,
    /// `REPLACE INTO`: existing rows with the same key are replaced.
    Replace,
}

/// The options of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlOptions {
    /// The maximum size of a statement in bytes, unless a single row is longer.
    pub statement_size_bytes: usize,
    /// The verb of the statements.
    pub verb: Verb,
    /// Write `BINARY` and `BLOB` as hexadecimal digits; otherwise as `_binary '...'`, which is half the
    /// size but not text.
    pub hex_blob: bool,
    /// Begin lines with the comma between rows, as mydumper does: myloader splits statements there.
    pub comma_first: bool,
}

impl Default for SqlOptions {
    fn default() -> SqlOptions {
        SqlOptions {
            statement_size_bytes: 1_000_000,
            verb: Verb::Insert,
            hex_blob: true,
            comma_first: false,
        }
    }
}

/// The escape sequences of bytes that string literals must not contain, or that clients may misread.
const PAIRS: &[(u8, [u8; 2])] = &[
    (b'\'', *b"\\'"),
    (b'\\', *b"\\\\"),
    (b'\n', *b"\\n"),
    (b'\r', *b"\\r"),
    (0, *b"\\0"),
    (0x1a, *b"\\Z"),
];

/// The encoder of `INSERT` statements.
#[derive(Debug)]
pub struct SqlEncoder {
    shape: RowShape,
    notations: Vec<Notation>,
    syntax: InsertSyntax,
    escapes: Box<Escapes<3>>,
    /// The charset introducer of text literals.
    introducer: &'static [u8],
    /// The beginning of every file of rows.
    head: String,
    statement_size_bytes: usize,
}

/// The notation of a column's values.
#[derive(Clone, Copy, Debug)]
enum Notation {
    Unquoted,
    Real,
    /// In quotes, without anything to escape.
    Quoted,
    /// In quotes; `stored`: the text is the stored bytes.
    Escaped {
        stored: bool,
    },
    BinaryText,
    Hex,
    /// The number of an ENUM's member, or the mask of a SET.
    Index,
    Address,
    Json,
}

impl Notation {
    fn of(column: &RowColumn, hex_blob: bool) -> Notation {
        match column.codec().class() {
            Class::Number => match column.ty() {
                ColumnType::Float(_) | ColumnType::Double(_) => Notation::Real,
                _ => Notation::Unquoted,
            },
            Class::Temporal => Notation::Quoted,
            Class::Text => {
                Notation::Escaped { stored: !matches!(column.ty(), ColumnType::Char { .. }) }
            }
            Class::Binary if !hex_blob => Notation::BinaryText,
            Class::Binary | Class::Bit | Class::Geometry | Class::Vector => Notation::Hex,
            Class::Enum | Class::Set => Notation::Index,
            Class::Json => Notation::Json,
            Class::Uuid | Class::Inet => Notation::Address,
        }
    }
}

impl RowEncoder for SqlEncoder {
    type Options = SqlOptions;
    type Selected = SqlSelected;

    const NAME: Option<&'static str> = Some("sql");
    const EXTENSION: &'static str = "sql";
    const IS_SQL: bool = true;

    fn for_layout(options: &SqlOptions, layout: Layout) -> Option<SqlOptions> {
        match layout {
            Layout::Files => Some(options.clone()),
            Layout::MyDumper => Some(SqlOptions { comma_first: true, ..options.clone() }),
            Layout::MySqlShell => None,
        }
    }

    fn fingerprint(options: &SqlOptions) -> String {
        format!("Sql({options:?})")
    }

    fn selected(
        options: &SqlOptions,
        table: &str,
        columns: &[SelectedColumn],
    ) -> Option<SqlSelected> {
        let names = columns.iter().filter(|column| !column.is_generated);
        let syntax = InsertSyntax::new(table, names.map(|column| &*column.name), options);
        let statement_size_bytes = options.statement_size_bytes;
        Some(SqlSelected { syntax, escapes: Box::new(literal_escapes()), statement_size_bytes })
    }

    fn new(def: &TableDef, stored: &[usize], options: &SqlOptions) -> format::Result<SqlEncoder> {
        let shape = RowShape::new(def, stored, Purpose::Insert)?;
        let notations =
            shape.columns().iter().map(|column| Notation::of(column, options.hex_blob)).collect();
        let names = shape.columns().iter().map(|column| column.name());
        let syntax = InsertSyntax::new(&def.name, names, options);
        Ok(SqlEncoder {
            shape,
            notations,
            syntax,
            escapes: Box::new(literal_escapes()),
            introducer: if parses_expressions_on_insert(def) { b"_binary " } else { b"" },
            head: if parses_expressions_on_insert(def) {
                format!("{DATA_SESSION}{TEXT_EXPRESSIONS}")
            } else {
                DATA_SESSION.to_owned()
            },
            statement_size_bytes: options.statement_size_bytes,
        })
    }

    fn shape(&self) -> &RowShape {
        &self.shape
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        let start = self.syntax.begin_row(batch);
        self.values(row, batch)?;
        self.syntax.end_row(start, self.statement_size_bytes, batch);
        Ok(())
    }

    fn finish(&self, batch: &mut Encoded, compression: Compression) -> Result<()> {
        self.syntax.end_statement(batch);
        batch.compress(compression)
    }

    fn head(&self) -> &[u8] {
        self.head.as_bytes()
    }
}

impl SqlEncoder {
    fn values(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        let Encoded { bytes: out, scratch, .. } = batch;
        out.push(b'(');
        for (index, (column, notation)) in
            self.shape.columns().iter().zip(&self.notations).enumerate()
        {
            if index > 0 {
                out.push(b',');
            }
            match row[column.position()] {
                None => out.extend_from_slice(b"NULL"),
                Some(stored) => self
                    .value(column, *notation, stored, out, scratch)
                    .map_err(|error| error.at_column(column.name()))?,
            }
        }
        out.push(b')');
        Ok(())
    }

    #[inline]
    fn value(
        &self,
        column: &RowColumn,
        notation: Notation,
        stored: &[u8],
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> format::Result<()> {
        let codec = column.codec();
        match notation {
            Notation::Unquoted => codec.write_text(stored, out)?,
            Notation::Real => append_real(&codec.value(stored)?, out),
            Notation::Quoted => {
                out.push(b'\'');
                codec.write_text(stored, out)?;
                out.push(b'\'');
            }
            Notation::Escaped { stored: true } => {
                out.extend_from_slice(self.introducer);
                self.quoted(stored, out);
            }
            Notation::Escaped { stored: false } => {
                scratch.clear();
                codec.write_text(stored, scratch)?;
                out.extend_from_slice(self.introducer);
                self.quoted(scratch, out);
            }
            Notation::BinaryText => {
                out.extend_from_slice(b"_binary ");
                self.quoted(stored, out);
            }
            Notation::Hex => {
                scratch.clear();
                codec.write_text(stored, scratch)?;
                append_hex_literal(scratch, out);
            }
            Notation::Index => append_index(&codec.value(stored)?, out),
            Notation::Address => match codec.value(stored)? {
                Value::Uuid(bytes) | Value::Inet6(bytes) => append_hex_literal(&bytes, out),
                Value::Inet4(bytes) => append_hex_literal(&bytes, out),
                _ => return Err(format::Error::corrupt("an address that is none")),
            },
            Notation::Json => {
                scratch.clear();
                codec.write_text(stored, scratch)?;
                escape_json_newlines(scratch, 0);
                out.extend_from_slice(b"CONVERT(");
                self.quoted(scratch, out);
                out.extend_from_slice(b" USING utf8mb4)");
            }
        }
        Ok(())
    }

    #[inline]
    fn quoted(&self, text: &[u8], out: &mut Vec<u8>) {
        out.push(b'\'');
        self.escapes.append(text, out);
        out.push(b'\'');
    }
}

/// The text around the rows of `INSERT` statements.
#[derive(Debug)]
struct InsertSyntax {
    /// ``INSERT INTO `t` (`a`,`b`) VALUES`` and, unless lines begin with commas, a newline.
    opening: Vec<u8>,
    /// The text between rows.
    separator: &'static [u8],
    /// The end of a statement.
    ending: &'static [u8],
}

impl InsertSyntax {
    fn new<'n>(
        table: &str,
        columns: impl Iterator<Item = &'n str>,
        options: &SqlOptions,
    ) -> InsertSyntax {
        let verb = match options.verb {
            Verb::Insert => "INSERT",
            Verb::InsertIgnore => "INSERT IGNORE",
            Verb::Replace => "REPLACE",
        };
        let names: Vec<String> = columns.map(quoted_name).collect();
        let (line_end, separator, ending) = match options.comma_first {
            true => ("", &b"\n,"[..], &b"\n;\n"[..]),
            false => ("\n", &b",\n"[..], &b";\n"[..]),
        };
        let opening =
            format!("{verb} INTO {} ({}) VALUES{line_end}", quoted_name(table), names.join(","));
        InsertSyntax { opening: opening.into_bytes(), separator, ending }
    }

    /// Begins a row with the opening of a statement, or a separator. Returns the offset of that text in
    /// the batch.
    #[inline]
    fn begin_row(&self, batch: &mut Encoded) -> usize {
        let start = batch.bytes.len();
        batch.bytes.extend_from_slice(match batch.statement {
            None => &self.opening,
            Some(_) => self.separator,
        });
        start
    }

    /// Ends the batch's last statement.
    fn end_statement(&self, batch: &mut Encoded) {
        if batch.statement.take().is_some() {
            batch.bytes.extend_from_slice(self.ending);
        }
    }

    /// Ends a row, which began at `start` with an opening or a separator: if the row makes the statement
    /// too long, the row begins a new one.
    #[inline]
    fn end_row(&self, start: usize, statement_size_bytes: usize, batch: &mut Encoded) {
        let Some(statement_start) = batch.statement else {
            batch.statement = Some(start);
            return;
        };
        if batch.bytes.len() - statement_start + self.ending.len() > statement_size_bytes {
            let between = self.ending.iter().chain(&self.opening).copied();
            batch.bytes.splice(start..start + self.separator.len(), between);
            batch.statement = Some(start + self.ending.len());
        }
    }
}

/// The encoder of rows that a server's `SELECT` returned, for a session in charset `binary`.
#[derive(Debug)]
pub struct SqlSelected {
    syntax: InsertSyntax,
    escapes: Box<Escapes<3>>,
    statement_size_bytes: usize,
}

impl SelectedEncoder for SqlSelected {
    fn row<'r>(
        &self,
        values: impl Iterator<Item = (&'r SelectedColumn, Option<&'r [u8]>)>,
        batch: &mut Encoded,
    ) {
        let start = self.syntax.begin_row(batch);
        for (index, (column, value)) in values.enumerate() {
            batch.bytes.push(if index == 0 { b'(' } else { b',' });
            selected_value(column.class, value, &self.escapes, &mut batch.bytes);
        }
        batch.bytes.push(b')');
        self.syntax.end_row(start, self.statement_size_bytes, batch);
    }

    fn finish(&self, batch: &mut Encoded) {
        self.syntax.end_statement(batch);
    }

    fn head(&self) -> &[u8] {
        DATA_SESSION.as_bytes()
    }
}

fn selected_value(class: Class, value: Option<&[u8]>, escapes: &Escapes<3>, out: &mut Vec<u8>) {
    let Some(value) = value else {
        out.extend_from_slice(b"NULL");
        return;
    };
    let (before, after): (&[u8], &[u8]) = match class {
        Class::Number => return out.extend_from_slice(value),
        Class::Binary | Class::Bit | Class::Geometry | Class::Vector => {
            return append_hex_literal(value, out);
        }
        Class::Temporal | Class::Text | Class::Enum | Class::Set => (b"'", b"'"),
        Class::Json => (b"CONVERT('", b"' USING utf8mb4)"),
        // a text in charset binary would be taken for the address's bytes
        Class::Uuid | Class::Inet => (b"_utf8mb4'", b"'"),
    };
    out.extend_from_slice(before);
    escapes.append(value, out);
    out.extend_from_slice(after);
}

/// The escapes of string literals.
fn literal_escapes() -> Escapes<3> {
    Escapes::with_finder(Finder::of_controls(b'\''), PAIRS)
}

/// Appends `0x` and digits; of no bytes an empty string.
fn append_hex_literal(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_empty() {
        out.extend_from_slice(b"''");
    } else {
        out.extend_from_slice(b"0x");
        append_hex(bytes, out);
    }
}

fn append_index(value: &Value<'_>, out: &mut Vec<u8>) {
    let number = match *value {
        Value::Enum(index) => u64::from(index),
        Value::Set(mask) => mask,
        _ => 0,
    };
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a `FLOAT` or `DOUBLE`. A negative zero keeps its sign only as a float literal, with an
/// exponent. (MariaDB stores no negative zero.)
fn append_real(value: &Value<'_>, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    out.extend_from_slice(match real_text(value, &mut buffer) {
        None => b"NULL",
        Some("-0") => b"-0e0",
        Some(text) => text.as_bytes(),
    });
}

/// The beginning of a file of `INSERT` statements: the session settings that the values rely on.
pub const DATA_SESSION: &str = "\
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40014 SET UNIQUE_CHECKS=0*/;
/*!40101 SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'*/;
/*!40103 SET TIME_ZONE='+00:00' */;
";

/// The setting after [`DATA_SESSION`] for tables of [`parses_expressions_on_insert`].
const TEXT_EXPRESSIONS: &str = "/*!50503 SET COLLATION_CONNECTION=utf8mb4_general_ci */;\n";

/// Whether the server parses a table's expressions in the charset of the session that inserts. MySQL 5.7
/// stores the literals of a generated column without their charset, and JSON paths, for example, must not
/// be binary. For such tables the session's charset is a text charset, and values have an introducer.
fn parses_expressions_on_insert(def: &TableDef) -> bool {
    def.server.family == Family::MySql
        && def.server.number < 80_000
        && def.columns.iter().any(|column| column.generated.is_some())
}

/// The beginning of a file of definitions.
pub const SCHEMA_SESSION: &str = "\
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40101 SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'*/;
/*!40103 SET TIME_ZONE='+00:00' */;
";

/// The beginning of a whole script: the settings of [`DATA_SESSION`] except the charset. The previous
/// settings are saved.
pub const SCRIPT_HEAD: &str = "\
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES' */;
";

/// The end of a whole script: restores the settings that [`SCRIPT_HEAD`] saved.
pub const SCRIPT_TAIL: &str = "\
/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
";

/// The session setting that creating a table again needs; empty for most tables.
pub fn lenient(def: &TableDef) -> &'static str {
    match def.server.family {
        // MariaDB keeps options that it would not accept again. (In MySQL 8 the setting needs a
        // privilege.)
        Family::MariaDb => "/*M!100100 SET INNODB_STRICT_MODE=0 */;\n",
        // MySQL 8.4 and later refuse foreign keys that older versions, or this setting, allow.
        Family::MySql if def.foreign_keys.iter().any(|key| key.parent_not_unique) => {
            "/*!80400 SET RESTRICT_FK_ON_NON_STANDARD_KEY=0 */;\n"
        }
        Family::MySql => "",
    }
}

/// The `CREATE TABLE` of a table, without a delimiter; `create_sql` is the running server's own
/// `SHOW CREATE TABLE`.
pub fn definition(def: &TableDef, create_sql: Option<&str>) -> String {
    match (parsable_order(def), create_sql) {
        (Cow::Borrowed(_), Some(create_sql)) => create_sql.to_owned(),
        (def, _) => def.to_create_table(),
    }
}

/// `DROP TABLE IF EXISTS`.
pub fn drop_table(name: &str) -> String {
    format!("DROP TABLE IF EXISTS {};\n", quoted_name(name))
}

/// The statements that create a table, with a charset setting for them; `create_sql` is the running
/// server's own `SHOW CREATE TABLE`.
pub fn create_table(def: &TableDef, create_sql: Option<&str>, drop_first: bool) -> String {
    let drop = if drop_first { drop_table(&def.name) } else { String::new() };
    let (lenient, create) = (lenient(def), definition(def, create_sql));
    format!("{SET_UTF8}{lenient}{drop}{create};\n")
}

/// The setting before statements in UTF-8.
pub const SET_UTF8: &str = "/*!50503 SET NAMES utf8mb4 */;\n";

/// The definition in an order that its server can parse. MariaDB 10.2 prints a column's `CHECK` before
/// its `COMMENT`, but parses only the opposite order.
fn parsable_order(def: &TableDef) -> Cow<'_, TableDef> {
    let unreadable = |column: &ColumnDef| column.check.is_some() && !column.comment.is_empty();
    let server = def.server;
    if server.family != Family::MariaDb
        || server.number >= 100_300
        || !def.columns.iter().any(unreadable)
    {
        return Cow::Borrowed(def);
    }
    let mut def = def.clone();
    for column in def.columns.iter_mut().filter(|column| unreadable(column)) {
        let check = column.check.take().map(|check| format!("CHECK ({check})"));
        column.attributes.extend(check);
    }
    Cow::Owned(def)
}

/// The statement that creates a database unless it exists.
pub fn create_database(name: &str) -> String {
    format!("CREATE DATABASE /*!32312 IF NOT EXISTS*/ {};\n", quoted_name(name))
}

/// The statements that create a database unless it exists, and select it.
pub fn use_database(name: &str) -> String {
    let create = create_database(name);
    format!("/*!50503 SET NAMES utf8mb4 */;\n{create}USE {};\n", quoted_name(name))
}

/// A comment line, without control characters: no name can end the line.
pub fn comment(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("-- {line}\n")
}
