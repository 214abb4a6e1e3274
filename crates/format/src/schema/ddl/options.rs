//! Parsing of table options: the text after the closing parenthesis, in any order.

use super::cursor::Cursor;
use super::types::{self, CharsetWords};
use super::{Result, columns};

/// Options that are not yet complete.
#[derive(Debug, Default)]
pub(super) struct DraftOptions {
    pub engine: Option<String>,
    pub charset: CharsetWords,
    pub auto_increment: Option<u64>,
    pub row_format: Option<String>,
    pub comment: String,
    pub others: Vec<(String, String)>,
    pub tail: String,
    pub versioned: bool,
}

/// Parses options up to `PARTITION BY`, a `SELECT` or the end.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<DraftOptions> {
    let mut options = DraftOptions::default();
    loop {
        cursor.eat_symbol(',');
        if cursor.is_quoted() {
            options.tail.push(' ');
            options.tail.push_str(&columns::engine_option(cursor)?);
            continue;
        }
        if let Some(comment) = cursor.eat_options_comment() {
            options.tail.push(' ');
            options.tail.push_str(comment);
            continue;
        }
        let Some(word) = cursor.word() else { return Ok(options) };
        if matches!(word.as_str(), "PARTITION" | "AS" | "SELECT" | "IGNORE" | "REPLACE") {
            return Ok(options);
        }
        option(cursor, word, &mut options)?;
    }
}

fn option(cursor: &mut Cursor<'_>, word: String, options: &mut DraftOptions) -> Result<()> {
    if is_charset(cursor) {
        cursor.eat_symbol('=');
        options.charset.charset = Some(types::charset_name(cursor)?);
        return Ok(());
    }
    if cursor.eat_words(&["DEFAULT", "COLLATE"]) || cursor.eat_word("COLLATE") {
        cursor.eat_symbol('=');
        options.charset.collation = Some(types::charset_name(cursor)?);
        return Ok(());
    }
    if cursor.eat_words(&["WITH", "SYSTEM", "VERSIONING"]) {
        options.versioned = true;
        return Ok(());
    }
    cursor.advance();
    let name = match word.as_str() {
        "DATA" | "INDEX" => {
            cursor.expect_word("DIRECTORY")?;
            format!("{word} DIRECTORY")
        }
        "START" => {
            cursor.expect_word("TRANSACTION")?;
            return Ok(());
        }
        "TYPE" => "ENGINE".into(),
        _ => word,
    };
    cursor.eat_symbol('=');
    match name.as_str() {
        "ENGINE" => {
            let engine = if cursor.is_text() { cursor.string()? } else { cursor.identifier()? };
            options.engine = Some(engine);
        }
        "AUTO_INCREMENT" => options.auto_increment = Some(cursor.number()?),
        "ROW_FORMAT" => {
            let format = cursor.identifier()?.to_ascii_uppercase();
            options.row_format = (format != "DEFAULT").then_some(format);
        }
        "COMMENT" => options.comment = cursor.string()?,
        "UNION" => {
            let tables = format!("({})", cursor.parenthesized()?);
            options.others.push((name, tables));
        }
        _ => {
            if cursor.is_end() {
                return Err(cursor.unexpected("a value"));
            }
            let value = cursor.any()?.to_owned();
            options.others.push((name, value));
        }
    }
    Ok(())
}

/// Consumes `[DEFAULT] CHARACTER SET` or a synonym; returns whether one was there.
fn is_charset(cursor: &mut Cursor<'_>) -> bool {
    cursor.eat_words(&["DEFAULT", "CHARACTER", "SET"])
        || cursor.eat_words(&["DEFAULT", "CHAR", "SET"])
        || cursor.eat_words(&["DEFAULT", "CHARSET"])
        || cursor.eat_words(&["CHARACTER", "SET"])
        || cursor.eat_words(&["CHAR", "SET"])
        || cursor.eat_word("CHARSET")
}
