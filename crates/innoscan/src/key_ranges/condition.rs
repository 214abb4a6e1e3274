//! What is typed of keys: single ones, a range of them, or a condition as SQL has it.

use innoscan_format::key::{KeyOrder, KeyPart};
use innoscan_format::schema::{IndexKind, IndexSource, TableDef};
use innoscan_format::types::ColumnType;

use super::literal::{Literal, Scanner};
use super::{Cut, KeyRange};
use crate::{Error, Result};

/// Which keys are wanted, in the values of their columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCondition(Wanted);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    /// Values of the key's first columns, or of all.
    Keys(Vec<Vec<Literal>>),
    /// From one key to another, both among them.
    Range(Vec<Literal>, Vec<Literal>),
    /// All of these hold.
    All(Vec<Comparison>),
}

/// What a column is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Comparison {
    column: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    OneOf(Vec<Literal>),
    Above { bound: Literal, is_among: bool },
    Below { bound: Literal, is_among: bool },
}

impl KeyCondition {
    /// Keys as `42`, `'it''s'` or `7,'a'`: the values of the key's first columns, or of all.
    ///
    /// # Errors
    /// When one is no list of values.
    pub fn of_keys<'k>(typed: impl IntoIterator<Item = &'k str>) -> Result<KeyCondition> {
        let keys: Result<Vec<_>> = typed.into_iter().map(values).collect();
        keys.map(|keys| KeyCondition(Wanted::Keys(keys)))
    }

    /// A range as `10..20`, `10..`, `..20`, both ends among it.
    ///
    /// # Errors
    /// When it is not of that form.
    pub fn of_range(typed: &str) -> Result<KeyCondition> {
        let parts = typed.split_once("..").filter(|(from, to)| !from.is_empty() || !to.is_empty());
        let Some((from, to)) = parts else {
            return Err(Error::refused(format!("`{typed}` is no range"), "type one as 10..20"));
        };
        let end = |typed: &str| if typed.is_empty() { Ok(Vec::new()) } else { values(typed) };
        Ok(KeyCondition(Wanted::Range(end(from)?, end(to)?)))
    }

    /// A condition in SQL on the first columns of the primary key: `=`, `<`, `<=`, `>`, `>=`,
    /// `BETWEEN` and `IN` with values, joined by `AND`.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn of_where(typed: &str) -> Result<KeyCondition> {
        let mut sql = Scanner::new(typed);
        let mut comparisons = Vec::new();
        loop {
            let parsed = comparison(&mut sql, &mut comparisons);
            let goes_on = keyword(&mut sql, "and");
            if parsed.is_none() || (!goes_on && !sql.is_done()) {
                let what = match sql.rest() {
                    "" => format!("`{typed}` breaks off"),
                    rest => format!("`{typed}` cannot be understood from `{rest}` on"),
                };
                return Err(Error::refused(what, CONDITIONS));
            }
            if !goes_on {
                return Ok(KeyCondition(Wanted::All(comparisons)));
            }
        }
    }

    pub(super) fn ranges(&self, def: &TableDef, order: &KeyOrder) -> Result<Vec<KeyRange>> {
        match &self.0 {
            Wanted::Keys(keys) => keys
                .iter()
                .map(|key| {
                    let image = image(def, order, key)?;
                    Ok(KeyRange { from: Cut::before(image.clone()), to: Cut::after(image) })
                })
                .collect(),
            Wanted::Range(from, to) => {
                let columns = from.len().max(to.len());
                let descends = order.parts().iter().take(columns).any(|part| part.descending);
                if descends && columns > 1 {
                    return Err(Error::refused(
                        "a range of keys of which some columns descend",
                        "use --where",
                    ));
                }
                let (from, to) = if descends { (to, from) } else { (from, to) };
                let (from, to) = (image(def, order, from)?, image(def, order, to)?);
                Ok(vec![KeyRange { from: Cut::before(from), to: Cut::after(to) }])
            }
            Wanted::All(comparisons) => conjunction(comparisons, def, order),
        }
    }
}

const CONDITIONS: &str = "use =, <, <=, >, >=, BETWEEN or IN with values, joined by AND";

/// Values separated by commas.
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
    let what = format!("`{typed}` is no key");
    Err(Error::refused(
        what,
        "type the key's values, separated by commas; text that has one quoted",
    ))
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
    character.is_whitespace() || "=<>(),'\"`".contains(character)
}

/// Appends one comparison, or two of a `BETWEEN`.
fn comparison(sql: &mut Scanner<'_>, comparisons: &mut Vec<Comparison>) -> Option<()> {
    let column = match sql.rest().starts_with('`') {
        true => sql.quoted('`')?,
        false => sql.word(ends_word).to_owned(),
    };
    let mut add = |test| comparisons.push(Comparison { column: column.clone(), test });
    if column.is_empty() {
        return None;
    }
    if keyword(sql, "between") {
        add(Test::Above { bound: sql.literal(ends_word)?, is_among: true });
        if !keyword(sql, "and") {
            return None;
        }
        add(Test::Below { bound: sql.literal(ends_word)?, is_among: true });
        return Some(());
    }
    if keyword(sql, "in") {
        let mut values = Vec::new();
        let mut goes_on = sql.take("(");
        while goes_on {
            values.push(sql.literal(ends_word)?);
            goes_on = sql.take(",");
        }
        add(Test::OneOf(values));
        return sql.take(")").then_some(());
    }
    for (operator, is_above, is_among) in
        [("<=", false, true), (">=", true, true), ("<", false, false), (">", true, false)]
    {
        if sql.take(operator) {
            let bound = sql.literal(ends_word)?;
            add(match is_above {
                true => Test::Above { bound, is_among },
                false => Test::Below { bound, is_among },
            });
            return Some(());
        }
    }
    if !sql.take("=") {
        return None;
    }
    add(Test::OneOf(vec![sql.literal(ends_word)?]));
    Some(())
}

/// The part of the key a value is compared with.
fn part<'o>(def: &TableDef, order: &'o KeyOrder, nth: usize) -> Result<(&'o KeyPart, usize)> {
    let part = order.parts().get(nth);
    if let Some((part, column)) = part.and_then(|part| Some((part, part.column?))) {
        return Ok((part, column));
    }
    let (what, remedy) = match part {
        Some(_) => (
            "the table has no primary key to find rows by".to_owned(),
            "read all rows instead: innoscan dump".to_owned(),
        ),
        None if nth < order.key_columns() => (
            format!(
                "column {} of the primary key cannot be looked up: only integers, decimals, times, \
                 bytes and text of a `_bin` collation can",
                named(def, nth)
            ),
            match nth {
                0 => "read all rows instead: innoscan dump".to_owned(),
                _ => format!("give values of the columns before it ({nth})"),
            },
        ),
        None => {
            let columns = order.key_columns();
            let given = nth + 1;
            (
                format!("{given} values were given for a primary key of {columns}"),
                "leave out the last ones; to give several keys, separate them by spaces".to_owned(),
            )
        }
    };
    Err(Error::refused(format!("{}: {what}", def.qualified_name()), remedy))
}

/// A column of the primary key, by its name where that is known.
fn named(def: &TableDef, nth: usize) -> String {
    let primary = def.indexes.iter().find(|index| index.kind == IndexKind::Primary);
    let column = primary.and_then(|index| match index.parts.get(nth)?.source {
        IndexSource::Column(place) => def.columns.get(place),
        IndexSource::Expression(_) => None,
    });
    column.map_or_else(|| (nth + 1).to_string(), |column| format!("`{}`", column.name))
}

fn image(def: &TableDef, order: &KeyOrder, key: &[Literal]) -> Result<Vec<u8>> {
    let mut image = Vec::new();
    for (nth, value) in key.iter().enumerate() {
        let (part, column) = part(def, order, nth)?;
        part.append_typed(&value.stored(def, column)?, &mut image);
    }
    Ok(image)
}

/// Equal values of the key's first columns, and a range of the next.
fn conjunction(
    comparisons: &[Comparison],
    def: &TableDef,
    order: &KeyOrder,
) -> Result<Vec<KeyRange>> {
    let mut left: Vec<&Comparison> = comparisons.iter().collect();
    let mut equal = vec![Vec::new()];
    let mut ranges = None;
    for nth in 0.. {
        if left.is_empty() || (nth > 0 && nth >= order.key_columns()) {
            break;
        }
        let (part, column) = part(def, order, nth)?;
        let name = def.columns.get(column).map_or("", |column| &*column.name);
        let is_of_column = |of: &&Comparison| of.column.eq_ignore_ascii_case(name);
        let (mine, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_of_column);
        left = others;
        let values_of = |test: &Test| match test {
            Test::OneOf(values) => Some(values.clone()),
            _ => None,
        };
        let Some(first) = mine.first() else { break };
        match values_of(&first.test).filter(|_| mine.len() == 1) {
            Some(values) => {
                let mut longer = Vec::with_capacity(equal.len() * values.len());
                for value in &values {
                    let stored = value.stored(def, column)?;
                    longer.extend(equal.iter().map(|image| {
                        let mut image = image.clone();
                        part.append_typed(&stored, &mut image);
                        image
                    }));
                }
                equal = longer;
            }
            None => {
                let ends: Result<Vec<_>> =
                    equal.iter().map(|image| range(def, (part, column), image, &mine)).collect();
                ranges = Some(ends?);
                break;
            }
        }
    }
    if let Some(other) = left.first() {
        return Err(Error::refused(
            format!(
                "`{}` of {}.{} is not the column of the primary key that is next in the condition",
                other.column, def.schema, def.name
            ),
            "name the key's first columns: all but the last by = or IN",
        ));
    }
    let whole =
        |image: Vec<u8>| KeyRange { from: Cut::before(image.clone()), to: Cut::after(image) };
    Ok(ranges.unwrap_or_else(|| equal.into_iter().map(whole).collect()))
}

/// The keys that begin with `image` and whose next column is as all of `tests` say.
fn range(
    def: &TableDef,
    (part, column): (&KeyPart, usize),
    image: &[u8],
    tests: &[&Comparison],
) -> Result<KeyRange> {
    let mut range = KeyRange { from: Cut::before(image.to_vec()), to: Cut::after(image.to_vec()) };
    if is_by_member(def, column) && tests.iter().any(|test| !matches!(test.test, Test::OneOf(_))) {
        return Err(Error::refused(
            "a server compares an ENUM or SET with text by the text, its index by the member's place",
            "compare it by = or IN, or use get --range",
        ));
    }
    for comparison in tests {
        let mut cut = |bound: &Literal, is_after: bool, is_from: bool| -> Result<()> {
            let mut bounded = image.to_vec();
            part.append_typed(&bound.stored(def, column)?, &mut bounded);
            // Where values descend, those above come before.
            let cut = Cut { image: bounded, is_after: is_after != part.descending };
            match is_from != part.descending {
                true => range.from = range.from.clone().max(cut),
                false => range.to = range.to.clone().min(cut),
            }
            Ok(())
        };
        match &comparison.test {
            Test::Above { bound, is_among } => cut(bound, !is_among, true)?,
            Test::Below { bound, is_among } => cut(bound, *is_among, false)?,
            Test::OneOf(values) if values.len() == 1 => {
                cut(&values[0], false, true)?;
                cut(&values[0], true, false)?;
            }
            Test::OneOf(_) => {
                return Err(Error::refused(
                    format!("`{}` is compared twice, once by IN", comparison.column),
                    "say it in one comparison",
                ));
            }
        }
    }
    Ok(range)
}

fn is_by_member(def: &TableDef, column: usize) -> bool {
    let ty = def.columns.get(column).map(|column| &column.ty);
    matches!(ty, Some(ColumnType::Enum { .. } | ColumnType::Set { .. }))
}
