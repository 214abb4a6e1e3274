//! Conditions that select rows: by typed keys, or by comparisons in SQL.
//!
//! A [`RowCondition`] holds values as the user typed them. With a table's definition it becomes a
//! `RowFilter`, which tests each row as the server would; and, as far as the order of
//! the primary key allows, `KeyRanges`, by which pages are skipped.

mod check;
mod exact;
mod filter;
mod literal;
mod members;
mod parse;
mod sql;
mod target;
#[cfg(test)]
mod tests;
mod times;

use std::ops::Bound;

use innoscan_format::schema::{IndexSource, TableDef};

pub(crate) use self::exact::Exact;
pub use self::filter::RowFilter;
pub(crate) use self::literal::Literal;
use self::literal::Scanner;
pub(crate) use self::members::wanted_members;
pub(crate) use self::target::integers;
use crate::{Error, Result};

/// A condition that selects rows, with values as the user typed them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowCondition(ConditionKind);

/// The kinds of conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConditionKind {
    /// Keys, given by the values of their first columns, or of all.
    Keys(Vec<Vec<Literal>>),
    /// A range from one key to another, both included.
    Range(Vec<Literal>, Vec<Literal>),
    /// Comparisons that must all hold.
    All(Vec<Comparison>),
    /// Ranges of keys, one of which must contain the key, and comparisons that must all hold.
    Within(Vec<LiteralRange>, Vec<Comparison>),
}

/// A range of keys, each given by the values of its first columns, or of all.
pub(crate) type LiteralRange = (Bound<Vec<Literal>>, Bound<Vec<Literal>>);

/// A test of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub column: String,
    pub test: Test,
}

/// A test of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Null { is_not: bool },
    Compare(Operator, Literal),
    OneOf { values: Vec<Literal>, is_not: bool },
    Between { low: Literal, high: Literal, is_not: bool },
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NullSafeEqual,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// All operators; each comes before those that are its prefixes.
    const ALL: [(&str, Operator); 8] = [
        ("<=>", Operator::NullSafeEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<>", Operator::NotEqual),
        ("!=", Operator::NotEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
        ("=", Operator::Equal),
    ];
}

impl RowCondition {
    /// Parses keys such as `42`, `'it''s'` or `7,'a'`: the values of a key's first columns, or of all.
    ///
    /// # Errors
    /// A key is not a list of values.
    pub fn parse_keys<'k>(typed: impl IntoIterator<Item = &'k str>) -> Result<RowCondition> {
        let keys: Result<Vec<_>> = typed.into_iter().map(values).collect();
        keys.map(|keys| RowCondition(ConditionKind::Keys(keys)))
    }

    /// Parses a range of keys such as `10..20`, `10..`, `..20`, with both ends included.
    ///
    /// # Errors
    /// The text is not of that form.
    pub fn parse_range(typed: &str) -> Result<RowCondition> {
        let parts = typed.split_once("..").filter(|(from, to)| !from.is_empty() || !to.is_empty());
        let Some((from, to)) = parts else {
            return Err(Error::usage(format!("`{typed}` is not a range"), "type one as 10..20"));
        };
        let end = |typed: &str| if typed.is_empty() { Ok(Vec::new()) } else { values(typed) };
        Ok(RowCondition(ConditionKind::Range(end(from)?, end(to)?)))
    }

    /// Parses a condition in SQL: columns compared with values by `=`, `<>`, `<`, `<=`, `>`, `>=`,
    /// `<=>`, `[NOT] BETWEEN`, `[NOT] IN` and `IS [NOT] NULL`, joined by `AND`.
    ///
    /// # Errors
    /// The text is anything else.
    pub fn parse_where(typed: &str) -> Result<RowCondition> {
        parse::comparisons(typed).map(|comparisons| RowCondition(ConditionKind::All(comparisons)))
    }

    /// A condition for rows whose key is in any of some ranges, and which satisfy a condition of
    /// [`RowCondition::parse_where`].
    pub(crate) fn within(ranges: Vec<LiteralRange>, and: Option<&RowCondition>) -> RowCondition {
        let comparisons = and.map(RowCondition::comparisons).unwrap_or_default();
        RowCondition(ConditionKind::Within(ranges, comparisons.to_vec()))
    }

    /// The comparisons that must all hold; none for keys and ranges of keys.
    pub(crate) fn comparisons(&self) -> &[Comparison] {
        match &self.0 {
            ConditionKind::All(comparisons) | ConditionKind::Within(_, comparisons) => comparisons,
            ConditionKind::Keys(_) | ConditionKind::Range(..) => &[],
        }
    }

    pub(crate) fn kind(&self) -> &ConditionKind {
        &self.0
    }

    /// The condition as SQL for a server, with its own quoting; `None` for keys and ranges of keys.
    pub fn to_sql(&self) -> Option<String> {
        match &self.0 {
            ConditionKind::All(comparisons) => Some(sql::conjunction(comparisons)),
            ConditionKind::Keys(_) | ConditionKind::Range(..) | ConditionKind::Within(..) => None,
        }
    }

    /// The columns in the condition.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.comparisons().iter().map(|comparison| &*comparison.column)
    }

    /// Whether the condition restricts the primary key's first column in a way that the key's order may
    /// support; otherwise every row is read.
    pub fn may_use_key(&self, def: &TableDef) -> bool {
        let ConditionKind::All(comparisons) = &self.0 else { return true };
        let primary = def.primary_key();
        let first = primary.and_then(|index| index.parts.first());
        let whole = first.filter(|part| part.prefix_chars.is_none());
        let column = match whole.map(|part| &part.source) {
            Some(IndexSource::Column(place)) => def.columns.get(*place),
            _ => None,
        };
        column.is_some_and(|column| {
            comparisons.iter().any(|comparison| {
                let narrows = match &comparison.test {
                    Test::Null { .. } => false,
                    Test::Compare(operator, _) => *operator != Operator::NotEqual,
                    Test::OneOf { is_not, .. } | Test::Between { is_not, .. } => !is_not,
                };
                narrows && comparison.column.eq_ignore_ascii_case(&column.name)
            })
        })
    }
}

/// Parses values separated by commas.
fn values(typed: &str) -> Result<Vec<Literal>> {
    let mut text = Scanner::new(typed);
    let mut values = Vec::new();
    while let Some(value) = text.literal(|character| character == ',') {
        values.push(value);
        if text.is_done() {
            return Ok(values);
        }
        if !text.take(",") {
            break;
        }
    }
    let what = format!("`{typed}` is not a key");
    Err(Error::usage(what, "type the key's values, separated by commas; text that has one quoted"))
}
