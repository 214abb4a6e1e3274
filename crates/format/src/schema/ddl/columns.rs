//! Parsing of column definitions: name, type, and attributes in any order.

use super::cursor::Cursor;
use super::keys::{DraftKey, DraftPart, Keys};
use super::lex::Kind;
use super::types::{self, CharsetWords, DraftType};
use super::{Result, SyntaxError};
use crate::schema::{
    ColumnDefault, Family, Generated, IndexKind, RowPeriod, ServerVersion, quoted_name,
};
use crate::types::ColumnType;

/// A column that is not yet complete.
#[derive(Debug)]
pub(super) struct DraftColumn {
    pub name: String,
    /// Start of the definition, for errors found later.
    pub at: usize,
    pub ty: DraftType,
    pub charset: CharsetWords,
    /// The explicit `NULL` or `NOT NULL`, if any.
    pub nullable: Option<bool>,
    pub default: ColumnDefault,
    pub on_update: Option<String>,
    pub auto_increment: bool,
    pub generated: Option<Generated>,
    pub invisible: bool,
    pub comment: String,
    pub srid: Option<u32>,
    pub check: Option<String>,
    pub attributes: Vec<String>,
    pub row_period: Option<RowPeriod>,
    pub without_versioning: bool,
    pub with_versioning: bool,
    pub compressed: bool,
}

/// Parses a column; its keys and constraints are added to `keys`.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    server: ServerVersion,
    keys: &mut Keys,
) -> Result<DraftColumn> {
    let at = cursor.position();
    let name = cursor.identifier()?;
    let (ty, charset) = types::read(cursor, server)?;
    let serial = matches!(ty, DraftType::Serial);
    let mut column = DraftColumn {
        name,
        at,
        ty,
        charset,
        nullable: serial.then_some(false),
        default: ColumnDefault::None,
        on_update: None,
        auto_increment: serial,
        generated: None,
        invisible: false,
        comment: String::new(),
        srid: None,
        check: None,
        attributes: Vec::new(),
        row_period: None,
        without_versioning: false,
        with_versioning: false,
        compressed: false,
    };
    if serial {
        keys.list.push(own_key(&column, IndexKind::Unique));
    }
    while !cursor.is_symbol(',') && !cursor.is_symbol(')') {
        attribute(cursor, server, &mut column, keys)?;
    }
    Ok(column)
}

/// Creates an index of this column only.
fn own_key(column: &DraftColumn, kind: IndexKind) -> DraftKey {
    DraftKey::new(column.at, kind, vec![DraftPart::whole(&column.name)])
}

fn attribute(
    cursor: &mut Cursor<'_>,
    server: ServerVersion,
    column: &mut DraftColumn,
    keys: &mut Keys,
) -> Result<()> {
    if is_engine_option(cursor) {
        let option = engine_option(cursor)?;
        column.attributes.push(option);
        return Ok(());
    }
    if let Some(options) = cursor.eat_options_comment() {
        column.attributes.push(options.to_owned());
        return Ok(());
    }
    let Some(word) = cursor.word() else {
        return Err(cursor.unexpected("a column attribute, `,` or `)`"));
    };
    let place = cursor.position();
    cursor.advance();
    match word.as_str() {
        "NOT" => not(cursor, column)?,
        "NULL" => column.nullable = Some(true),
        "DEFAULT" => column.default = default(cursor, server, &column.ty)?,
        "ON" => {
            cursor.expect_word("UPDATE")?;
            column.on_update = Some(now(cursor, server)?);
        }
        "AUTO_INCREMENT" => column.auto_increment = true,
        "PRIMARY" => {
            cursor.eat_word("KEY");
            keys.list.push(own_key(column, IndexKind::Primary));
        }
        "KEY" => keys.list.push(own_key(column, IndexKind::Primary)),
        "UNIQUE" => {
            cursor.eat_word("KEY");
            keys.list.push(own_key(column, IndexKind::Unique));
        }
        "COMMENT" => column.comment = cursor.string()?,
        "COLLATE" => column.charset.collation = Some(types::charset_name(cursor)?),
        "CHARACTER" | "CHARSET" => {
            if word == "CHARACTER" {
                cursor.expect_word("SET")?;
            }
            column.charset.charset = Some(types::charset_name(cursor)?);
        }
        "BINARY" => column.charset.bin = true,
        "GENERATED" | "AS" => generated(cursor, &word, column)?,
        "CONSTRAINT" | "CHECK" => check(cursor, &word, server, column, keys)?,
        _ => attribute_of_some(cursor, &word, place, server, column, keys)?,
    }
    Ok(())
}

/// Parses an attribute that only some servers have.
fn attribute_of_some(
    cursor: &mut Cursor<'_>,
    word: &str,
    place: usize,
    server: ServerVersion,
    column: &mut DraftColumn,
    keys: &mut Keys,
) -> Result<()> {
    match word {
        "INVISIBLE" => column.invisible = true,
        "VISIBLE" => column.invisible = false,
        "SRID" => column.srid = Some(cursor.small_number()?),
        "REFERENCES" => {
            let honoured = match server.family {
                Family::MySql => server.number >= 90000,
                Family::MariaDb => server.number >= 100_500,
            };
            let own = vec![column.name.clone()];
            let foreign = super::keys::references(cursor, String::new(), own)?;
            if honoured {
                keys.foreign.push(foreign);
            }
        }
        "WITH" | "WITHOUT" => {
            cursor.expect_word("SYSTEM")?;
            cursor.expect_word("VERSIONING")?;
            column.with_versioning = word == "WITH";
            column.without_versioning = word == "WITHOUT";
        }
        "COMPRESSED" => {
            if cursor.eat_symbol('=') {
                cursor.any()?;
            }
            column.compressed = true;
        }
        "SERIAL" => {
            cursor.expect_word("DEFAULT")?;
            cursor.expect_word("VALUE")?;
            column.nullable = Some(false);
            column.auto_increment = true;
            keys.list.push(own_key(column, IndexKind::Unique));
        }
        _ => match attribute_as_text(cursor, word)? {
            Some(text) if text.is_empty() => {}
            Some(text) => column.attributes.push(text),
            None => {
                let found = format!("`{word}`");
                return Err(SyntaxError::at(place, found, "a column attribute, `,` or `)`"));
            }
        },
    }
    Ok(())
}

fn not(cursor: &mut Cursor<'_>, column: &mut DraftColumn) -> Result<()> {
    if cursor.eat_word("SECONDARY") {
        column.attributes.push("NOT SECONDARY".into());
        return Ok(());
    }
    cursor.expect_word("NULL")?;
    column.nullable = Some(false);
    Ok(())
}

/// Parses an attribute that is kept as `SHOW CREATE TABLE` prints it; empty when it is not printed.
fn attribute_as_text(cursor: &mut Cursor<'_>, word: &str) -> Result<Option<String>> {
    Ok(Some(match word {
        "STORAGE" | "COLUMN_FORMAT" => {
            let value = cursor.identifier()?.to_ascii_uppercase();
            if value == "DEFAULT" {
                return Ok(Some(String::new()));
            }
            format!("/*!50606 {word} {value} */")
        }
        "ENGINE_ATTRIBUTE" | "SECONDARY_ENGINE_ATTRIBUTE" => {
            cursor.eat_symbol('=');
            format!("/*!80021 {word} {} */", cursor.any()?)
        }
        "EXTERNAL_FORMAT" => format!("/*!90300 EXTERNAL_FORMAT {} */", cursor.any()?),
        "MASKING" => {
            cursor.expect_word("POLICY")?;
            format!("MASKING POLICY {}", cursor.any()?)
        }
        _ => return Ok(None),
    }))
}

/// Returns whether the next tokens are a MariaDB engine option: `` `name`=value `` or `name=value`.
pub(super) fn is_engine_option(cursor: &Cursor<'_>) -> bool {
    const OTHERS: [&str; 3] = ["ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE", "COMPRESSED"];
    cursor.is_identifier()
        && cursor.is_symbol_ahead(1, '=')
        && !OTHERS.iter().any(|word| cursor.is_word(word))
}

/// Parses a MariaDB engine option to its printed form: `` `name`=value ``.
pub(super) fn engine_option(cursor: &mut Cursor<'_>) -> Result<String> {
    let name = cursor.identifier()?;
    cursor.expect_symbol('=')?;
    Ok(format!("{}={}", quoted_name(&name), cursor.any()?))
}

/// Parses the rest of a column after `GENERATED` or `AS`.
fn generated(cursor: &mut Cursor<'_>, word: &str, column: &mut DraftColumn) -> Result<()> {
    if word == "GENERATED" {
        cursor.expect_word("ALWAYS")?;
        cursor.expect_word("AS")?;
    }
    if cursor.eat_word("ROW") {
        let end = cursor.eat_any(&["START", "END"]);
        let end = end.ok_or_else(|| cursor.unexpected("START or END"))?;
        column.row_period = Some(if end == "START" { RowPeriod::Start } else { RowPeriod::End });
        return Ok(());
    }
    let expression = cursor.parenthesized()?.to_owned();
    let stored = matches!(
        cursor.eat_any(&["STORED", "PERSISTENT", "VIRTUAL"]),
        Some("STORED" | "PERSISTENT")
    );
    column.generated = Some(Generated { expression, stored });
    Ok(())
}

/// Parses a column's `CHECK`: MariaDB stores it with the column, MySQL with the table.
fn check(
    cursor: &mut Cursor<'_>,
    word: &str,
    server: ServerVersion,
    column: &mut DraftColumn,
    keys: &mut Keys,
) -> Result<()> {
    let mut name = String::new();
    if word == "CONSTRAINT" {
        if !cursor.is_word("CHECK") {
            name = cursor.identifier()?;
        }
        cursor.expect_word("CHECK")?;
    }
    if server.family == Family::MariaDb && name.is_empty() {
        column.check = Some(cursor.parenthesized()?.to_owned());
        return Ok(());
    }
    keys.check(cursor, name)
}

/// Parses the value after `DEFAULT`.
fn default(
    cursor: &mut Cursor<'_>,
    server: ServerVersion,
    ty: &DraftType,
) -> Result<ColumnDefault> {
    if cursor.eat_word("NULL") {
        return Ok(ColumnDefault::Null);
    }
    if cursor.is_text() {
        return Ok(ColumnDefault::Quoted(cursor.string()?));
    }
    if is_now(cursor) {
        return Ok(ColumnDefault::Verbatim(now(cursor, server)?));
    }
    if cursor.eat_words(&["NEXT", "VALUE", "FOR"]) {
        let (schema, name) = cursor.qualified_name()?;
        let schema = if schema.is_empty() { schema } else { format!("`{schema}`.") };
        return Ok(ColumnDefault::Verbatim(format!("nextval({schema}`{name}`)")));
    }
    let text = verbatim(cursor)?;
    // MySQL, and MariaDB before 10.2, print numbers in quotes, except those of BIT.
    let quotes = server.family == Family::MySql || server.number < 100_200;
    let is_bit = matches!(ty, DraftType::Plain(ColumnType::Bit { .. }));
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
    if quotes && is_number && !is_bit && !text.starts_with("0x") && !text.starts_with("0b") {
        return Ok(ColumnDefault::Quoted(text));
    }
    Ok(ColumnDefault::Verbatim(text))
}

/// Returns the text of one value: a signed literal, one with an introducer, `( ... )`, `word`,
/// `name( ... )` or `db.name( ... )`.
fn verbatim(cursor: &mut Cursor<'_>) -> Result<String> {
    let start = cursor.position();
    if cursor.is_symbol('(') {
        cursor.parenthesized()?;
        return Ok(cursor.slice(start, cursor.previous_end()).to_owned());
    }
    if !cursor.eat_symbol('-') {
        cursor.eat_symbol('+');
    }
    if cursor.is_symbol(',') || cursor.is_symbol(')') {
        return Err(cursor.unexpected("a default value"));
    }
    let first = cursor.peek().map(|token| token.kind);
    cursor.any()?;
    while first == Some(Kind::Word) || first == Some(Kind::Quoted) {
        if cursor.is_symbol('(') {
            cursor.parenthesized()?;
            break;
        }
        let introduced = cursor
            .peek()
            .is_some_and(|token| matches!(token.kind, Kind::Text | Kind::Hex | Kind::Bits));
        if introduced {
            cursor.any()?;
            break;
        }
        if !cursor.eat_symbol('.') {
            break;
        }
        cursor.any()?;
    }
    Ok(cursor.slice(start, cursor.previous_end()).to_owned())
}

const NOW: [&str; 4] = ["CURRENT_TIMESTAMP", "NOW", "LOCALTIMESTAMP", "LOCALTIME"];

fn is_now(cursor: &Cursor<'_>) -> bool {
    NOW.iter().any(|word| cursor.is_word(word))
}

/// Parses `CURRENT_TIMESTAMP` or one of its synonyms to the server's spelling.
fn now(cursor: &mut Cursor<'_>, server: ServerVersion) -> Result<String> {
    if cursor.eat_any(&NOW).is_none() {
        return Err(cursor.unexpected("CURRENT_TIMESTAMP"));
    }
    let mut fsp: u8 = 0;
    if cursor.eat_symbol('(') {
        if !cursor.is_symbol(')') {
            fsp = cursor.small_number()?;
        }
        cursor.expect_symbol(')')?;
    }
    let small = server.family == Family::MariaDb && server.number >= 100_200;
    Ok(match (small, fsp) {
        (true, 0) => "current_timestamp()".into(),
        (true, fsp) => format!("current_timestamp({fsp})"),
        (false, 0) => "CURRENT_TIMESTAMP".into(),
        (false, fsp) => format!("CURRENT_TIMESTAMP({fsp})"),
    })
}
