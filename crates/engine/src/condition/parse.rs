//! The parser of conditions.

use super::literal::{Literal, Scanner};
use super::{Comparison, Operator, Test};
use crate::{Error, Result};

const CONDITIONS: &str = "compare columns with values by =, <>, <, <=, >, >=, <=>, BETWEEN, IN or \
                          IS NULL, joined by AND; text and dates in quotes";

/// Unsupported syntax, by the word or sign with which it begins.
const UNREAD: [(&str, &str); 9] = [
    ("or", "OR is not supported"),
    ("||", "OR is not supported"),
    ("xor", "XOR is not supported"),
    ("&&", "&& is not supported: write AND"),
    ("like", "LIKE is not supported"),
    ("regexp", "REGEXP is not supported"),
    ("rlike", "RLIKE is not supported"),
    ("collate", "COLLATE is not supported: text compares in the column's own collation"),
    ("(", "parentheses and functions are not supported"),
];

/// Parses a condition into comparisons, which must all hold.
pub(super) fn comparisons(typed: &str) -> Result<Vec<Comparison>> {
    let mut sql = Scanner::new(typed);
    let mut comparisons = Vec::new();
    loop {
        let parsed = comparison(&mut sql);
        let is_parsed = parsed.is_some();
        comparisons.extend(parsed);
        let goes_on = is_parsed && keyword(&mut sql, "and");
        if !is_parsed || (!goes_on && !sql.is_done()) {
            return Err(Error::usage(reason(typed, sql.rest()), CONDITIONS));
        }
        if !goes_on {
            return Ok(comparisons);
        }
    }
}

/// The reason why a condition could not be parsed from `rest` on.
fn reason(typed: &str, rest: &str) -> String {
    if rest.is_empty() {
        return format!("`{typed}` breaks off");
    }
    let lower = rest.to_ascii_lowercase();
    let begins = |word: &str| {
        lower.strip_prefix(word).is_some_and(|behind| {
            !word.ends_with(char::is_alphabetic) || behind.starts_with(ends_word)
        })
    };
    let why = UNREAD.iter().find(|(word, _)| begins(word));
    let why = why.map(|(_, why)| format!(": {why}")).unwrap_or_default();
    format!("`{typed}` cannot be understood from `{rest}` on{why}")
}

fn keyword(sql: &mut Scanner<'_>, wanted: &str) -> bool {
    let mut ahead = Scanner::new(sql.rest());
    let is_next = ahead.word(ends_word).eq_ignore_ascii_case(wanted);
    if is_next {
        *sql = ahead;
    }
    is_next
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || "=<>!(),'\"`&|;".contains(character)
}

fn comparison(sql: &mut Scanner<'_>) -> Option<Comparison> {
    let before = sql.rest();
    let column = match before.starts_with('`') {
        true => sql.quoted('`')?,
        false => sql.word(ends_word).to_owned(),
    };
    let is_not_read = |word: &&str| column.eq_ignore_ascii_case(word);
    if column.is_empty() || (!before.starts_with('`') && ["not", "exists"].iter().any(is_not_read))
    {
        *sql = Scanner::new(before);
        return None;
    }
    test(sql).map(|test| Comparison { column, test })
}

fn test(sql: &mut Scanner<'_>) -> Option<Test> {
    if keyword(sql, "is") {
        let is_not = keyword(sql, "not");
        return keyword(sql, "null").then_some(Test::Null { is_not });
    }
    for (sign, operator) in Operator::ALL {
        if sql.take(sign) {
            return value(sql).map(|value| Test::Compare(operator, value));
        }
    }
    let before = sql.rest();
    let is_not = keyword(sql, "not");
    if keyword(sql, "between") {
        let low = value(sql)?;
        if !keyword(sql, "and") {
            return None;
        }
        return Some(Test::Between { low, high: value(sql)?, is_not });
    }
    if keyword(sql, "in") {
        let mut values = Vec::new();
        let mut goes_on = sql.take("(");
        while goes_on {
            values.push(value(sql)?);
            goes_on = sql.take(",");
        }
        return sql.take(")").then_some(Test::OneOf { values, is_not });
    }
    if is_not && !sql.rest().is_empty() {
        *sql = Scanner::new(before);
    }
    None
}

/// A value in SQL: quoted, a number, hexadecimal digits, or NULL.
fn value(sql: &mut Scanner<'_>) -> Option<Literal> {
    let before = sql.rest();
    let value = sql.literal(ends_word);
    let is_quoted = before.starts_with(['\'', '"']);
    let is_null = |word: &str| word.eq_ignore_ascii_case("null");
    match value {
        Some(Literal::Text(word)) if !is_quoted && is_null(&word) => Some(Literal::Null),
        Some(Literal::Text(_)) if !is_quoted => {
            // The text is a column, a function, or unquoted text.
            *sql = Scanner::new(before);
            None
        }
        value => value,
    }
}
