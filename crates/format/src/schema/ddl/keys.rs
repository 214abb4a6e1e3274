//! Parsing of keys, constraints and periods: the table elements other than columns.

use super::cursor::Cursor;
use super::{Result, columns};
use crate::schema::{CheckDef, ForeignKeyDef, ForeignKeyRule, IndexKind, PeriodDef};

/// The parsed keys and constraints.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Keys in the order of the text, including those of columns.
    pub list: Vec<DraftKey>,
    pub foreign: Vec<ForeignKeyDef>,
    pub checks: Vec<CheckDef>,
    pub application_period: Option<PeriodDef>,
}

/// An index that is not yet complete.
#[derive(Debug)]
pub(super) struct DraftKey {
    /// Start of the definition, for errors found later.
    pub at: usize,
    pub kind: IndexKind,
    pub name: Option<String>,
    pub parts: Vec<DraftPart>,
    pub using: Option<String>,
    pub key_block_size: u32,
    pub parser: Option<String>,
    pub comment: String,
    pub invisible: bool,
    pub attributes: Vec<String>,
    pub without_overlaps: bool,
}

/// A part of an index that is not yet complete.
#[derive(Debug)]
pub(super) struct DraftPart {
    pub source: DraftSource,
    pub prefix_chars: Option<u32>,
    pub descending: bool,
}

#[derive(Debug)]
pub(super) enum DraftSource {
    Column(String),
    Expression(String),
}

impl DraftPart {
    pub fn whole(column: &str) -> DraftPart {
        let source = DraftSource::Column(column.to_owned());
        DraftPart { source, prefix_chars: None, descending: false }
    }
}

impl DraftKey {
    pub fn new(at: usize, kind: IndexKind, parts: Vec<DraftPart>) -> DraftKey {
        DraftKey {
            at,
            kind,
            name: None,
            parts,
            using: None,
            key_block_size: 0,
            parser: None,
            comment: String::new(),
            invisible: false,
            attributes: Vec::new(),
            without_overlaps: false,
        }
    }
}

impl Keys {
    /// Parses a key, constraint or period; `false` when the element is a column.
    pub fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<bool> {
        let at = cursor.position();
        if cursor.is_word("PERIOD") && cursor.is_word_ahead(1, "FOR") {
            self.period(cursor)?;
            return Ok(true);
        }
        let mut constraint = String::new();
        let is_constraint = cursor.eat_word("CONSTRAINT");
        if is_constraint && !is_constraint_kind(cursor) {
            constraint = cursor.identifier()?;
        }
        if cursor.eat_words(&["FOREIGN", "KEY"]) {
            self.foreign_key(cursor, constraint)?;
        } else if cursor.eat_word("CHECK") {
            self.check(cursor, constraint)?;
        } else if let Some(kind) = key_kind(cursor) {
            let key = key(cursor, at, kind, constraint)?;
            self.list.push(key);
        } else if is_constraint {
            return Err(cursor.unexpected("PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK"));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Parses a constraint after `CHECK`.
    pub fn check(&mut self, cursor: &mut Cursor<'_>, name: String) -> Result<()> {
        let expression = cursor.parenthesized()?.to_owned();
        let enforced = !cursor.eat_words(&["NOT", "ENFORCED"]);
        cursor.eat_word("ENFORCED");
        self.checks.push(CheckDef { name, expression, enforced });
        Ok(())
    }

    fn foreign_key(&mut self, cursor: &mut Cursor<'_>, mut name: String) -> Result<()> {
        if cursor.eat_words(&["IF", "NOT", "EXISTS"]) || !cursor.is_symbol('(') {
            let index = cursor.identifier()?;
            if name.is_empty() {
                name = index;
            }
        }
        let columns = column_names(cursor)?;
        cursor.expect_word("REFERENCES")?;
        self.foreign.push(references(cursor, name, columns)?);
        Ok(())
    }

    /// Parses `PERIOD FOR SYSTEM_TIME (a, b)`, which only repeats the columns' attributes, or an
    /// application period.
    fn period(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.expect_word("PERIOD")?;
        cursor.expect_word("FOR")?;
        let is_system = cursor.is_word("SYSTEM_TIME");
        let name = cursor.identifier()?;
        cursor.expect_symbol('(')?;
        let start = cursor.identifier()?;
        cursor.expect_symbol(',')?;
        let end = cursor.identifier()?;
        cursor.expect_symbol(')')?;
        if !is_system {
            self.application_period = Some(PeriodDef { name, start, end });
        }
        Ok(())
    }
}

/// Returns whether the word after `CONSTRAINT` is already its kind, so that it has no name.
fn is_constraint_kind(cursor: &Cursor<'_>) -> bool {
    ["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"].iter().any(|word| cursor.is_word(word))
}

/// Consumes the words that start a key. A non-reserved one may also be a column's name, so the
/// reserved ones decide.
fn key_kind(cursor: &mut Cursor<'_>) -> Option<IndexKind> {
    let kind = match cursor.word()?.as_str() {
        "PRIMARY" => IndexKind::Primary,
        "UNIQUE" => IndexKind::Unique,
        "FULLTEXT" => IndexKind::FullText,
        "SPATIAL" => IndexKind::Spatial,
        "KEY" | "INDEX" => IndexKind::Key,
        "VECTOR" if ["KEY", "INDEX"].iter().any(|word| cursor.is_word_ahead(1, word)) => {
            IndexKind::Vector
        }
        _ => return None,
    };
    cursor.advance();
    if kind != IndexKind::Key {
        cursor.eat_any(&["KEY", "INDEX"]);
    }
    Some(kind)
}

/// Parses the rest of a key after `PRIMARY KEY`, `KEY`, ...
fn key(
    cursor: &mut Cursor<'_>,
    at: usize,
    kind: IndexKind,
    constraint: String,
) -> Result<DraftKey> {
    cursor.eat_words(&["IF", "NOT", "EXISTS"]);
    let mut key = DraftKey::new(at, kind, Vec::new());
    key.name = (!constraint.is_empty()).then_some(constraint);
    let is_using = |cursor: &Cursor<'_>| {
        cursor.is_word("USING") || (cursor.is_word("TYPE") && !cursor.is_symbol_ahead(1, '('))
    };
    if cursor.is_identifier() && !is_using(cursor) {
        key.name = Some(cursor.identifier()?);
    }
    if is_using(cursor) {
        cursor.advance();
        key.using = Some(cursor.identifier()?.to_ascii_uppercase());
    }
    cursor.expect_symbol('(')?;
    loop {
        part(cursor, &mut key)?;
        if !cursor.eat_symbol(',') {
            break;
        }
    }
    cursor.expect_symbol(')')?;
    while !cursor.is_symbol(',') && !cursor.is_symbol(')') {
        option(cursor, &mut key)?;
    }
    Ok(key)
}

fn part(cursor: &mut Cursor<'_>, key: &mut DraftKey) -> Result<()> {
    let source = if cursor.is_symbol('(') {
        DraftSource::Expression(cursor.parenthesized()?.to_owned())
    } else {
        DraftSource::Column(cursor.identifier()?)
    };
    if cursor.eat_words(&["WITHOUT", "OVERLAPS"]) {
        key.without_overlaps = true;
        return Ok(());
    }
    let mut part = DraftPart { source, prefix_chars: None, descending: false };
    if cursor.eat_symbol('(') {
        part.prefix_chars = Some(cursor.small_number()?);
        cursor.expect_symbol(')')?;
    }
    part.descending = cursor.eat_any(&["ASC", "DESC"]) == Some("DESC");
    key.parts.push(part);
    Ok(())
}

fn option(cursor: &mut Cursor<'_>, key: &mut DraftKey) -> Result<()> {
    let is = |cursor: &Cursor<'_>, word| cursor.is_word(word);
    if is(cursor, "KEY_BLOCK_SIZE") {
        cursor.advance();
        cursor.eat_symbol('=');
        key.key_block_size = cursor.small_number()?;
        return Ok(());
    }
    for word in ["ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"] {
        if cursor.eat_word(word) {
            cursor.eat_symbol('=');
            key.attributes.push(format!("/*!80021 {word} {} */", cursor.any()?));
            return Ok(());
        }
    }
    if columns::is_engine_option(cursor) {
        key.attributes.push(columns::engine_option(cursor)?);
        return Ok(());
    }
    if let Some(options) = cursor.eat_options_comment() {
        key.attributes.push(options.to_owned());
        return Ok(());
    }
    let words = [
        "USING",
        "TYPE",
        "COMMENT",
        "WITH",
        "INVISIBLE",
        "VISIBLE",
        "IGNORED",
        "NOT",
        "CLUSTERING",
    ];
    match cursor.eat_any(&words) {
        Some("USING" | "TYPE") => key.using = Some(cursor.identifier()?.to_ascii_uppercase()),
        Some("COMMENT") => key.comment = cursor.string()?,
        Some("WITH") => {
            cursor.expect_word("PARSER")?;
            key.parser = Some(cursor.identifier()?);
        }
        Some("INVISIBLE" | "IGNORED") => key.invisible = true,
        Some("VISIBLE") => key.invisible = false,
        Some("NOT") => {
            cursor.expect_word("IGNORED")?;
            key.invisible = false;
        }
        Some(_) => {}
        None => return Err(cursor.unexpected("an index option, `,` or `)`")),
    }
    Ok(())
}

fn column_names(cursor: &mut Cursor<'_>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    cursor.expect_symbol('(')?;
    loop {
        names.push(cursor.identifier()?);
        if cursor.eat_symbol('(') {
            cursor.number()?;
            cursor.expect_symbol(')')?;
        }
        cursor.eat_any(&["ASC", "DESC"]);
        if !cursor.eat_symbol(',') {
            break;
        }
    }
    cursor.expect_symbol(')')?;
    Ok(names)
}

/// Parses a foreign key after `REFERENCES`.
pub(super) fn references(
    cursor: &mut Cursor<'_>,
    name: String,
    columns: Vec<String>,
) -> Result<ForeignKeyDef> {
    let (parent_schema, parent_table) = cursor.qualified_name()?;
    let parent_columns = if cursor.is_symbol('(') { column_names(cursor)? } else { Vec::new() };
    let mut foreign = ForeignKeyDef {
        name,
        columns,
        parent_schema,
        parent_table,
        parent_columns,
        on_delete: ForeignKeyRule::Default,
        on_update: ForeignKeyRule::Default,
        parent_not_unique: false,
    };
    loop {
        if cursor.eat_word("MATCH") {
            cursor.identifier()?;
        } else if cursor.eat_words(&["ON", "DELETE"]) {
            foreign.on_delete = rule(cursor)?;
        } else if cursor.eat_words(&["ON", "UPDATE"]) {
            foreign.on_update = rule(cursor)?;
        } else {
            return Ok(foreign);
        }
    }
}

fn rule(cursor: &mut Cursor<'_>) -> Result<ForeignKeyRule> {
    if cursor.eat_words(&["SET", "NULL"]) {
        Ok(ForeignKeyRule::SetNull)
    } else if cursor.eat_words(&["SET", "DEFAULT"]) {
        Ok(ForeignKeyRule::SetDefault)
    } else if cursor.eat_words(&["NO", "ACTION"]) {
        Ok(ForeignKeyRule::NoAction)
    } else if cursor.eat_word("RESTRICT") {
        Ok(ForeignKeyRule::Restrict)
    } else if cursor.eat_word("CASCADE") {
        Ok(ForeignKeyRule::Cascade)
    } else {
        Err(cursor.unexpected("RESTRICT, CASCADE, SET NULL, SET DEFAULT or NO ACTION"))
    }
}
