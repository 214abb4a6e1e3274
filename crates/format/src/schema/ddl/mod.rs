//! Table definitions from SQL text: from `SHOW CREATE TABLE`, from the schema files of mysqldump
//! and mydumper, or written by hand.
//!
//! The text is split into tokens ([`lex`]) and the tokens of the first `CREATE TABLE` are parsed
//! from left to right ([`cursor`]): columns ([`columns`], [`types`]), then keys and constraints
//! ([`keys`]), options and partitions. The text after the columns affects them (the table's
//! charset, its primary key), so they stay incomplete until [`finish`] creates the [`TableDef`].
//!
//! Expressions are not interpreted, only cut out between balanced parentheses. No function here is
//! recursive, so no nesting is too deep.

mod columns;
mod cursor;
mod finish;
mod keys;
mod lex;
mod literal;
mod options;
mod partitions;
mod server;
#[cfg(test)]
mod tests;
mod types;

use std::borrow::Cow;

use super::{ServerVersion, TableDef};
use crate::Error;
use cursor::Cursor;
use lex::{Kind, Lexer, Token};

pub use server::server_of_text;

/// Parses the first `CREATE TABLE` of SQL text like `server`.
///
/// Other statements and comments before it are skipped; the content of versioned comments is read.
/// The database is the one in the table's name, empty when it has none. [`server_of_text`] guesses
/// a server that the caller does not know.
///
/// # Errors
/// [`Error::Schema`] with line and column, the text found there and the text expected.
pub fn from_create_table(sql: &str, server: ServerVersion) -> crate::Result<TableDef> {
    let report = |trouble: SyntaxError| trouble.report(sql);
    let tokens = first_create_table(sql).map_err(report)?;
    let mut cursor = Cursor::new(sql, &tokens);
    let draft = read_table(&mut cursor, server).map_err(report)?;
    finish::finish(draft, server).map_err(report)
}

/// A table that is not yet complete.
pub(super) struct Draft {
    schema: String,
    name: String,
    columns: Vec<columns::DraftColumn>,
    keys: keys::Keys,
    options: options::DraftOptions,
    partitioning: Option<super::Partitioning>,
}

/// Parses `CREATE TABLE name (...) options PARTITION BY ...`.
fn read_table(cursor: &mut Cursor<'_>, server: ServerVersion) -> Result<Draft> {
    while !cursor.eat_word("TABLE") {
        cursor.advance();
    }
    if cursor.eat_word("IF") {
        cursor.expect_word("NOT")?;
        cursor.expect_word("EXISTS")?;
    }
    let (schema, name) = cursor.qualified_name()?;
    cursor.expect_symbol('(')?;
    if cursor.is_word("LIKE") || cursor.is_word("SELECT") {
        return Err(cursor.unexpected("a list of columns"));
    }
    let mut columns = Vec::new();
    let mut keys = keys::Keys::default();
    loop {
        if !keys.read(cursor)? {
            columns.push(columns::read(cursor, server, &mut keys)?);
        }
        if !cursor.eat_symbol(',') {
            break;
        }
    }
    cursor.expect_symbol(')')?;
    let options = options::read(cursor)?;
    let partitioning = partitions::read(cursor)?;
    if !cursor.is_word("AS") && !cursor.is_word("SELECT") && !cursor.is_end() {
        return Err(cursor.unexpected("a table option, PARTITION BY or the end"));
    }
    Ok(Draft { schema, name, columns, keys, options, partitioning })
}

/// Returns the tokens of the first statement that creates a table, without its `;`.
fn first_create_table(sql: &str) -> Result<Vec<Token>> {
    let mut lexer = Lexer::new(sql);
    let mut statement: Vec<Token> = Vec::new();
    let mut wanted = CreatesTable::Undecided;
    while let Some(token) = lexer.next()? {
        let text = sql.get(token.start..token.end).unwrap_or("");
        if token.kind == Kind::Symbol(';') {
            if wanted == CreatesTable::Yes {
                return Ok(statement);
            }
            statement.clear();
            wanted = CreatesTable::Undecided;
            continue;
        }
        if statement.is_empty() && wanted == CreatesTable::Undecided && is_client_command(text) {
            lexer.skip_line();
            continue;
        }
        if wanted == CreatesTable::Undecided {
            wanted = creates_table_after(statement.len(), &token, text);
        }
        if wanted != CreatesTable::No {
            statement.push(token);
        }
    }
    if wanted == CreatesTable::Yes {
        return Ok(statement);
    }
    Err(SyntaxError::at(sql.len(), "the end of the text", "CREATE TABLE"))
}

/// Whether a statement creates a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CreatesTable {
    Yes,
    No,
    /// Undecided after the tokens read so far.
    Undecided,
}

/// Decides by a statement's token number `place`, after those before were undecided: `CREATE [OR
/// REPLACE] [TEMPORARY | EXTERNAL] TABLE`.
fn creates_table_after(place: usize, token: &Token, text: &str) -> CreatesTable {
    const BETWEEN: [&str; 4] = ["OR", "REPLACE", "TEMPORARY", "EXTERNAL"];
    let is = |word: &str| token.kind == Kind::Word && text.eq_ignore_ascii_case(word);
    match place {
        0 if is("CREATE") => CreatesTable::Undecided,
        1.. if is("TABLE") => CreatesTable::Yes,
        1..4 if BETWEEN.iter().any(|word| is(word)) => CreatesTable::Undecided,
        _ => CreatesTable::No,
    }
}

/// Returns whether a command ends with its line, not with `;`.
fn is_client_command(word: &str) -> bool {
    word.eq_ignore_ascii_case("DELIMITER")
}

/// A syntax error, with its position in the text.
#[derive(Debug)]
pub(super) struct SyntaxError {
    at: usize,
    found: Cow<'static, str>,
    expected: Cow<'static, str>,
}

/// The result of parsing; [`SyntaxError`] becomes an [`Error`] where the text is available.
type Result<T> = std::result::Result<T, SyntaxError>;

impl SyntaxError {
    #[cold]
    pub fn at(
        at: usize,
        found: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) -> SyntaxError {
        SyntaxError { at, found: found.into(), expected: expected.into() }
    }

    fn report(&self, sql: &str) -> Error {
        let before = sql.get(..self.at).unwrap_or(sql);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let (found, expected) = (&self.found, &self.expected);
        Error::schema(format!("line {line}, column {column}: found {found}, expected {expected}"))
    }
}
