//! Parsing of column types, with the synonyms of the servers' grammars (sql_yacc.yy).
//!
//! A type's charset is not known until the table's is, so text types stay incomplete.

use super::cursor::Cursor;
use super::lex::Kind;
use super::literal;
use super::{Result, SyntaxError};
use crate::schema::{Family, ServerVersion};
use crate::types::{ColumnType, GeometryKind, IntWidth, RealFormat, Temporal, TemporalFormat};

/// A type whose collation may still be open.
#[derive(Debug)]
pub(super) enum DraftType {
    /// A complete type.
    Plain(ColumnType),
    Char {
        chars: u32,
    },
    VarChar {
        chars: u32,
    },
    Text {
        length_bytes: u8,
    },
    Enum(Vec<Member>),
    Set(Vec<Member>),
    /// MariaDB's `JSON`: text with a check.
    JsonText,
    /// `SERIAL`: the type, and the attributes it implies.
    Serial,
}

/// A member of an `ENUM` or `SET`.
#[derive(Debug)]
pub(super) enum Member {
    Text(String),
    /// Bytes already in the column's charset.
    Bytes(Vec<u8>),
}

/// The charset words of a column or table.
#[derive(Debug, Default)]
pub(super) struct CharsetWords {
    pub charset: Option<String>,
    pub collation: Option<String>,
    /// Whether the `BINARY` attribute selects the charset's `_bin` collation.
    pub bin: bool,
}

/// Parses a type and the charset words after it.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    server: ServerVersion,
) -> Result<(DraftType, CharsetWords)> {
    let mut words = CharsetWords::default();
    let Some(name) = cursor.word() else {
        return Err(cursor.unexpected("a type"));
    };
    let place = cursor.position();
    cursor.advance();
    let ty = match numeric(&name, cursor, server)? {
        Some(ty) => ty,
        None => match temporal(&name, cursor, server)? {
            Some(ty) => ty,
            None => match text(&name, cursor, &mut words)? {
                Some(ty) => ty,
                None => other(&name, cursor, server)?
                    .ok_or_else(|| SyntaxError::at(place, format!("`{name}`"), "a type"))?,
            },
        },
    };
    if matches!(
        ty,
        DraftType::Char { .. }
            | DraftType::VarChar { .. }
            | DraftType::Text { .. }
            | DraftType::Enum(_)
            | DraftType::Set(_)
            | DraftType::JsonText
    ) {
        charset_words(cursor, &mut words)?;
    }
    Ok((ty, words))
}

/// Parses `CHARACTER SET x`, `ASCII`, `BINARY`, ... in any order; `COLLATE` is a column attribute.
fn charset_words(cursor: &mut Cursor<'_>, words: &mut CharsetWords) -> Result<()> {
    loop {
        if cursor.eat_words(&["CHARACTER", "SET"])
            || cursor.eat_words(&["CHAR", "SET"])
            || cursor.eat_word("CHARSET")
        {
            words.charset = Some(charset_name(cursor)?);
        } else if cursor.eat_word("ASCII") {
            words.charset = Some("latin1".into());
        } else if cursor.eat_word("UNICODE") {
            words.charset = Some("ucs2".into());
        } else if cursor.eat_word("BYTE") {
            words.charset = Some("binary".into());
        } else if cursor.eat_word("BINARY") {
            words.bin = true;
        } else if cursor.eat_word("COLLATE") {
            words.collation = Some(charset_name(cursor)?);
        } else {
            return Ok(());
        }
    }
}

/// Parses the name of a charset or collation: a word, or text in quotes.
pub(super) fn charset_name(cursor: &mut Cursor<'_>) -> Result<String> {
    if cursor.is_text() { cursor.string() } else { cursor.identifier() }
}

/// Parses an optional `(n)`.
fn length<T: TryFrom<u64>>(cursor: &mut Cursor<'_>) -> Result<Option<T>> {
    if !cursor.eat_symbol('(') {
        return Ok(None);
    }
    let length = cursor.small_number()?;
    cursor.expect_symbol(')')?;
    Ok(Some(length))
}

/// Parses an optional `(m)` or `(m, d)`.
fn precision(cursor: &mut Cursor<'_>) -> Result<Option<(u8, Option<u8>)>> {
    if !cursor.eat_symbol('(') {
        return Ok(None);
    }
    let digits = cursor.small_number()?;
    let decimals = if cursor.eat_symbol(',') { Some(cursor.small_number()?) } else { None };
    cursor.expect_symbol(')')?;
    Ok(Some((digits, decimals)))
}

/// Parses `UNSIGNED`, `SIGNED` and `ZEROFILL`, which makes a number unsigned.
fn number_words(cursor: &mut Cursor<'_>) -> (bool, bool) {
    let (mut unsigned, mut zerofill) = (false, false);
    while let Some(word) = cursor.eat_any(&["UNSIGNED", "SIGNED", "ZEROFILL"]) {
        unsigned |= word == "UNSIGNED";
        zerofill |= word == "ZEROFILL";
    }
    (unsigned || zerofill, zerofill)
}

fn numeric(
    name: &str,
    cursor: &mut Cursor<'_>,
    server: ServerVersion,
) -> Result<Option<DraftType>> {
    let ty = match name {
        "BOOL" | "BOOLEAN" => ColumnType::Int {
            width: IntWidth::One,
            unsigned: false,
            zerofill: false,
            display_width: Some(1),
        },
        "TINYINT" | "INT1" => integer(cursor, server, IntWidth::One)?,
        "SMALLINT" | "INT2" => integer(cursor, server, IntWidth::Two)?,
        "MEDIUMINT" | "INT3" | "MIDDLEINT" => integer(cursor, server, IntWidth::Three)?,
        "INT" | "INT4" | "INTEGER" => integer(cursor, server, IntWidth::Four)?,
        "BIGINT" | "INT8" => integer(cursor, server, IntWidth::Eight)?,
        "DECIMAL" | "DEC" | "NUMERIC" | "FIXED" | "NUMBER" => {
            let (precision, scale) = precision(cursor)?.unwrap_or((10, None));
            let (unsigned, zerofill) = number_words(cursor);
            let precision = if precision == 0 { 10 } else { precision };
            ColumnType::Decimal { precision, scale: scale.unwrap_or(0), unsigned, zerofill }
        }
        "FLOAT" | "FLOAT4" => {
            let digits = precision(cursor)?;
            let single = !matches!(digits, Some((25.., None)));
            let digits = digits.and_then(|(digits, decimals)| Some((digits, decimals?)));
            let (unsigned, zerofill) = number_words(cursor);
            let format = RealFormat { digits, unsigned, zerofill };
            if single { ColumnType::Float(format) } else { ColumnType::Double(format) }
        }
        "DOUBLE" | "REAL" | "FLOAT8" => {
            cursor.eat_word("PRECISION");
            let digits = precision(cursor)?;
            let digits = digits.and_then(|(digits, decimals)| Some((digits, decimals?)));
            let (unsigned, zerofill) = number_words(cursor);
            ColumnType::Double(RealFormat { digits, unsigned, zerofill })
        }
        "BIT" => ColumnType::Bit { bits: length(cursor)?.unwrap_or(1) },
        "SERIAL" => return Ok(Some(DraftType::Serial)),
        _ => return Ok(None),
    };
    Ok(Some(DraftType::Plain(ty)))
}

/// Returns an integer type. MySQL 8.0.19 and later keep a display width only with `ZEROFILL` and
/// for `TINYINT(1)`; all other servers always have one.
fn integer(cursor: &mut Cursor<'_>, server: ServerVersion, width: IntWidth) -> Result<ColumnType> {
    let written: Option<u8> = length(cursor)?;
    let (unsigned, zerofill) = number_words(cursor);
    let usual = usual_display_width(width, unsigned);
    let keeps_all = server.family == Family::MariaDb || server.number < 80019;
    let display_width = if keeps_all || zerofill {
        Some(written.unwrap_or(usual))
    } else {
        written.filter(|&digits| digits == 1 && width == IntWidth::One && !unsigned)
    };
    Ok(ColumnType::Int { width, unsigned, zerofill, display_width })
}

/// Returns the default display width of an integer.
fn usual_display_width(width: IntWidth, unsigned: bool) -> u8 {
    match (width, unsigned) {
        (IntWidth::One, false) => 4,
        (IntWidth::One, true) => 3,
        (IntWidth::Two, false) => 6,
        (IntWidth::Two, true) => 5,
        (IntWidth::Three, false) => 9,
        (IntWidth::Three, true) => 8,
        (IntWidth::Four, false) => 11,
        (IntWidth::Four, true) => 10,
        (IntWidth::Eight, _) => 20,
    }
}

fn temporal(
    name: &str,
    cursor: &mut Cursor<'_>,
    server: ServerVersion,
) -> Result<Option<DraftType>> {
    let ty = match name {
        "DATE" => ColumnType::Date,
        "TIME" => ColumnType::Time(fraction(cursor, server)?),
        "DATETIME" => ColumnType::DateTime(fraction(cursor, server)?),
        "TIMESTAMP" => ColumnType::Timestamp(fraction(cursor, server)?),
        "YEAR" => {
            let digits: Option<u8> = length(cursor)?;
            number_words(cursor);
            ColumnType::Year { digits: if digits == Some(2) { 2 } else { 4 } }
        }
        _ => return Ok(None),
    };
    Ok(Some(DraftType::Plain(ty)))
}

/// Parses `(fsp)`, and determines the storage form: servers before MySQL 5.6 and MariaDB 10.0 wrote
/// the old ones; later ones print a comment when a column still has one (with `show_old_temporals`
/// in MySQL).
fn fraction(cursor: &mut Cursor<'_>, server: ServerVersion) -> Result<Temporal> {
    let fsp: u8 = length(cursor)?.unwrap_or(0);
    let new_from = match server.family {
        Family::MySql => 50600,
        Family::MariaDb => 100_100,
    };
    let old = cursor.eat_old_temporal() || server.number < new_from;
    let format = match (old, fsp) {
        (false, _) => TemporalFormat::New,
        (true, 0) => TemporalFormat::Old,
        (true, _) => TemporalFormat::OldHires,
    };
    Ok(Temporal { fsp, format })
}

fn text(
    name: &str,
    cursor: &mut Cursor<'_>,
    words: &mut CharsetWords,
) -> Result<Option<DraftType>> {
    let ty = match name {
        "CHAR" | "CHARACTER" => char_or_varchar(cursor)?,
        "NCHAR" | "NATIONAL" => {
            words.charset = Some("utf8mb3".into());
            if name == "NCHAR" || cursor.eat_any(&["CHAR", "CHARACTER"]).is_some() {
                char_or_varchar(cursor)?
            } else if cursor.eat_any(&["VARCHAR", "VARCHARACTER"]).is_some() {
                DraftType::VarChar { chars: needed_length(cursor)? }
            } else {
                return Err(cursor.unexpected("CHAR or VARCHAR"));
            }
        }
        "NVARCHAR" => {
            words.charset = Some("utf8mb3".into());
            DraftType::VarChar { chars: needed_length(cursor)? }
        }
        "VARCHAR" | "VARCHARACTER" | "VARCHAR2" => {
            DraftType::VarChar { chars: needed_length(cursor)? }
        }
        "TINYTEXT" => DraftType::Text { length_bytes: 1 },
        "TEXT" | "CLOB" => DraftType::Text { length_bytes: blob_length(cursor)? },
        "MEDIUMTEXT" => DraftType::Text { length_bytes: 3 },
        "LONGTEXT" => DraftType::Text { length_bytes: 4 },
        "LONG" => {
            if cursor.eat_word("VARBINARY") {
                return Ok(Some(DraftType::Plain(ColumnType::Blob { length_bytes: 3 })));
            }
            if cursor.eat_any(&["CHAR", "CHARACTER"]).is_some() {
                cursor.expect_word("VARYING")?;
            } else {
                cursor.eat_any(&["VARCHAR", "VARCHARACTER"]);
            }
            DraftType::Text { length_bytes: 3 }
        }
        "ENUM" => DraftType::Enum(members(cursor)?),
        "SET" => DraftType::Set(members(cursor)?),
        _ => return Ok(None),
    };
    Ok(Some(ty))
}

fn char_or_varchar(cursor: &mut Cursor<'_>) -> Result<DraftType> {
    if cursor.eat_any(&["VARYING", "VARCHAR", "VARCHARACTER"]).is_some() {
        return Ok(DraftType::VarChar { chars: needed_length(cursor)? });
    }
    Ok(DraftType::Char { chars: length(cursor)?.unwrap_or(1) })
}

fn needed_length(cursor: &mut Cursor<'_>) -> Result<u32> {
    match length(cursor)? {
        Some(length) => Ok(length),
        None => Err(cursor.unexpected("`(` and a length")),
    }
}

/// Returns the length prefix of `TEXT(n)` or `BLOB(n)`: that of the smallest type that holds `n`
/// bytes. (For text the server counts `n` characters of the maximum width; `TEXT(n)` never prints,
/// so this is a guess for text written by hand, and length prefixes are not in InnoDB's records.)
fn blob_length(cursor: &mut Cursor<'_>) -> Result<u8> {
    Ok(match length::<u32>(cursor)? {
        None | Some(0) => 2,
        Some(..=0xff) => 1,
        Some(..=0xffff) => 2,
        Some(..=0xff_ffff) => 3,
        Some(_) => 4,
    })
}

/// Parses `('a','b',...)`.
fn members(cursor: &mut Cursor<'_>) -> Result<Vec<Member>> {
    cursor.expect_symbol('(')?;
    let mut members = Vec::new();
    loop {
        if matches!(cursor.peek(), Some(token) if token.kind == Kind::Hex) {
            let bytes = literal::hex_bytes(cursor.text());
            members.push(Member::Bytes(bytes.ok_or_else(|| cursor.unexpected("pairs of digits"))?));
            cursor.advance();
        } else {
            let introduced = cursor.is_word("N") || cursor.text().starts_with('_');
            if introduced && cursor.is_identifier() && !cursor.is_text() {
                cursor.advance();
            }
            members.push(Member::Text(cursor.string()?));
        }
        if !cursor.eat_symbol(',') {
            break;
        }
    }
    cursor.expect_symbol(')')?;
    Ok(members)
}

fn other(name: &str, cursor: &mut Cursor<'_>, server: ServerVersion) -> Result<Option<DraftType>> {
    let ty = match name {
        "BINARY" => ColumnType::Binary { bytes: length(cursor)?.unwrap_or(1) },
        "VARBINARY" | "RAW" => ColumnType::VarBinary { bytes: needed_length(cursor)? },
        "TINYBLOB" => ColumnType::Blob { length_bytes: 1 },
        "BLOB" => ColumnType::Blob { length_bytes: blob_length(cursor)? },
        "MEDIUMBLOB" => ColumnType::Blob { length_bytes: 3 },
        "LONGBLOB" => ColumnType::Blob { length_bytes: 4 },
        "JSON" if server.family == Family::MariaDb => return Ok(Some(DraftType::JsonText)),
        "JSON" => ColumnType::Json,
        "VECTOR" => ColumnType::Vector { dimensions: length(cursor)?.unwrap_or(2048) },
        "UUID" => ColumnType::Uuid,
        "INET4" => ColumnType::Inet4,
        "INET6" => ColumnType::Inet6,
        _ => match geometry(name) {
            Some(kind) => ColumnType::Geometry(kind),
            None => return Ok(None),
        },
    };
    Ok(Some(DraftType::Plain(ty)))
}

fn geometry(name: &str) -> Option<GeometryKind> {
    Some(match name {
        "GEOMETRY" => GeometryKind::Geometry,
        "POINT" => GeometryKind::Point,
        "LINESTRING" => GeometryKind::LineString,
        "POLYGON" => GeometryKind::Polygon,
        "MULTIPOINT" => GeometryKind::MultiPoint,
        "MULTILINESTRING" => GeometryKind::MultiLineString,
        "MULTIPOLYGON" => GeometryKind::MultiPolygon,
        "GEOMETRYCOLLECTION" | "GEOMCOLLECTION" => GeometryKind::GeometryCollection,
        _ => return None,
    })
}
