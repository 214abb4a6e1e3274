//! Conversion of typed values to ranges of keys.

use innoscan_format::charset::Collator;
use innoscan_format::key::{KeyOrder, KeyPart};
use innoscan_format::schema::{ColumnDef, IndexSource, TableDef};
use innoscan_format::types::{Codec, ColumnType};

use super::{Cut, KeyRange};
use crate::condition::{Comparison, Exact, Literal, Operator, Test, integers, wanted_members};
use crate::{Error, Remedies, Remedy, Result};

/// The most ranges into which columns with several values each are combined.
const RANGES_MAX: usize = 100_000;

/// The ranges of all keys that begin with one of some keys.
pub(super) fn of_keys(
    keys: &[Vec<Literal>],
    def: &TableDef,
    order: &KeyOrder,
) -> Result<Vec<KeyRange>> {
    keys.iter().map(|key| image(def, order, key).map(whole)).collect()
}

/// The range between two keys, both included.
pub(super) fn between(
    from: &[Literal],
    to: &[Literal],
    def: &TableDef,
    order: &KeyOrder,
) -> Result<Vec<KeyRange>> {
    let columns = from.len().max(to.len());
    let descends = order.parts().iter().take(columns).any(|part| part.descending);
    if descends && columns > 1 {
        return Err(Error::usage(
            "a range of keys with several columns, some of them descending",
            Remedy::UseCondition,
        ));
    }
    let (from, to) = if descends { (to, from) } else { (from, to) };
    let (from, to) = (image(def, order, from)?, image(def, order, to)?);
    Ok(vec![KeyRange { from: Cut::before(from), to: Cut::after(to) }])
}

/// The range of all keys that begin with an image.
pub(super) fn whole(image: Vec<u8>) -> KeyRange {
    KeyRange { from: Cut::before(image.clone()), to: Cut::after(image) }
}

/// The part of the key with which a value is compared.
fn part<'o>(def: &TableDef, order: &'o KeyOrder, nth: usize) -> Result<(&'o KeyPart, usize)> {
    let part = order.parts().get(nth);
    if let Some((part, column)) = part.and_then(|part| Some((part, part.column?))) {
        return Ok((part, column));
    }
    let (what, remedies) = match part {
        Some(_) => {
            ("the table has no primary key to find rows by".to_owned(), Remedy::UseCondition.into())
        }
        None if nth < order.key_columns() => (
            format!(
                "column {} of the primary key cannot be looked up: only integers, decimals, times, \
                 bytes and text of known collations can, whole; {}",
                named(def, nth),
                Collator::KNOWN
            ),
            match nth {
                0 => Remedies::from([Remedy::UseCondition, Remedy::ReadAllRows]),
                _ => format!("give values of the columns before it ({nth})").into(),
            },
        ),
        None => {
            let columns = order.key_columns();
            let given = nth + 1;
            (
                format!("{given} values were given for a primary key of {columns}"),
                "leave out the last ones; to give several keys, separate them by spaces".into(),
            )
        }
    };
    Err(Error::usage(format!("{}: {what}", def.qualified_name()), remedies))
}

/// A column of the primary key, by its name if that is known.
fn named(def: &TableDef, nth: usize) -> String {
    let primary = def.primary_key();
    let column = primary.and_then(|index| match index.parts.get(nth)?.source {
        IndexSource::Column(place) => def.columns.get(place),
        IndexSource::Expression(_) => None,
    });
    column.map_or_else(|| (nth + 1).to_string(), |column| format!("`{}`", column.name))
}

/// The image of the first columns of a key, or of all.
pub(super) fn image(def: &TableDef, order: &KeyOrder, key: &[Literal]) -> Result<Vec<u8>> {
    let mut image = Vec::new();
    for (nth, value) in key.iter().enumerate() {
        let (part, column) = part(def, order, nth)?;
        part.append_typed(&value.stored(def, column)?, &mut image)?;
    }
    Ok(image)
}

/// The restriction of a key's column by one test.
enum Narrowed {
    /// The column is one of these values, in stored form.
    OneOf(Vec<Vec<u8>>),
    /// The column lies between these bounds; `None` is no bound.
    Between(Option<Bound>, Option<Bound>),
}

/// A stored value, and whether it is included in the range.
struct Bound {
    stored: Vec<u8>,
    is_among: bool,
}

/// Ranges of keys with equal values of the first columns, and a range of the next; `None` where the
/// first column is not restricted.
pub(super) fn of_comparisons(
    comparisons: &[Comparison],
    def: &TableDef,
    order: &KeyOrder,
) -> Result<Option<Vec<KeyRange>>> {
    let mut equal = vec![Vec::new()];
    let mut is_narrowed = false;
    for part in order.parts() {
        let Some(column) = part.column.and_then(|column| def.columns.get(column)) else { break };
        let mut narrowed = Vec::new();
        for comparison in comparisons {
            if comparison.column.to_lowercase() == column.name.to_lowercase() {
                narrowed.extend(narrow(&comparison.test, column, def)?);
            }
        }
        if narrowed.is_empty() {
            break;
        }
        is_narrowed = true;
        let values = narrowed.iter().find_map(|narrowed| match narrowed {
            Narrowed::OneOf(values) => Some(values),
            Narrowed::Between(..) => None,
        });
        let Some(values) = values.filter(|values| equal.len() * values.len() <= RANGES_MAX) else {
            let ranges: Result<Vec<_>> =
                equal.iter().map(|image| range(part, image, &narrowed)).collect();
            return ranges.map(Some);
        };
        let mut longer = Vec::with_capacity(equal.len() * values.len());
        for image in &equal {
            for value in values {
                let mut image = image.clone();
                part.append_typed(value, &mut image)?;
                longer.push(image);
            }
        }
        equal = longer;
    }
    Ok(is_narrowed.then(|| equal.into_iter().map(whole).collect()))
}

/// The range of keys that begin with `image` and whose next column satisfies `narrowed`.
fn range(part: &KeyPart, image: &[u8], narrowed: &[Narrowed]) -> Result<KeyRange> {
    let mut range = whole(image.to_vec());
    for narrowed in narrowed {
        let Narrowed::Between(low, high) = narrowed else { continue };
        for (bound, is_low) in [(low, true), (high, false)] {
            let Some(bound) = bound else { continue };
            let mut image = image.to_vec();
            part.append_typed(&bound.stored, &mut image)?;
            // Where values descend, greater ones come first.
            let is_from = is_low != part.descending;
            let cut = Cut { image, is_after: bound.is_among != is_from };
            match is_from {
                true => range.from = range.from.max(cut),
                false => range.to = range.to.min(cut),
            }
        }
    }
    Ok(range)
}

/// The restriction of a key's column by a test, as far as the order of the stored values allows.
fn narrow(test: &Test, column: &ColumnDef, def: &TableDef) -> Result<Option<Narrowed>> {
    let codec = Codec::new(&column.ty, def.server)?;
    if let ColumnType::Enum { members, .. } = &column.ty {
        let Some(wanted) = wanted_members((column, def.server), &codec, test) else {
            return Ok(None);
        };
        let len = if members.len() < 256 { 1 } else { 2 };
        let places = wanted?.into_iter().enumerate().filter(|(_, is_wanted)| *is_wanted);
        let stored =
            places.map(|(place, _)| place.to_be_bytes()[size_of::<usize>() - len..].to_vec());
        return Ok(Some(Narrowed::OneOf(stored.collect())));
    }
    let side = |value: &Literal, is_low: bool, is_among: bool| {
        stored(column, &codec, value).map(|exact| match exact {
            Stored::Is(stored) => Side::Bound(Bound { stored, is_among }),
            // Values greater than the stored value below the number are greater than the number.
            Stored::Above(stored) => Side::Bound(Bound { stored, is_among: !is_low }),
            Stored::BelowAll => {
                if is_low {
                    Side::All
                } else {
                    Side::None
                }
            }
            Stored::AboveAll => {
                if is_low {
                    Side::None
                } else {
                    Side::All
                }
            }
        })
    };
    let sides = match test {
        Test::Compare(operator, value) => match operator {
            Operator::Equal | Operator::NullSafeEqual => {
                return Ok(one_of(column, &codec, std::slice::from_ref(value)));
            }
            Operator::NotEqual => return Ok(None),
            Operator::Less => (Some(Side::All), side(value, false, false)),
            Operator::LessOrEqual => (Some(Side::All), side(value, false, true)),
            Operator::Greater => (side(value, true, false), Some(Side::All)),
            Operator::GreaterOrEqual => (side(value, true, true), Some(Side::All)),
        },
        Test::OneOf { values, is_not: false } => return Ok(one_of(column, &codec, values)),
        Test::Between { low, high, is_not: false } => {
            (side(low, true, true), side(high, false, true))
        }
        Test::Null { .. } | Test::OneOf { .. } | Test::Between { .. } => return Ok(None),
    };
    Ok(match sides {
        (None, _) | (_, None) | (Some(Side::All), Some(Side::All)) => None,
        (Some(Side::None), _) | (_, Some(Side::None)) => Some(Narrowed::OneOf(Vec::new())),
        (Some(low), Some(high)) => Some(Narrowed::Between(low.bound(), high.bound())),
    })
}

/// A side of a range.
enum Side {
    /// No bound: the range includes everything on this side.
    All,
    /// An empty range: nothing satisfies the test.
    None,
    Bound(Bound),
}

impl Side {
    fn bound(self) -> Option<Bound> {
        match self {
            Side::Bound(bound) => Some(bound),
            Side::All | Side::None => None,
        }
    }
}

fn one_of(column: &ColumnDef, codec: &Codec, values: &[Literal]) -> Option<Narrowed> {
    let mut found = Vec::with_capacity(values.len());
    for value in values.iter().filter(|value| **value != Literal::Null) {
        if let Stored::Is(stored) = stored(column, codec, value)? {
            found.push(stored);
        }
    }
    Some(Narrowed::OneOf(found))
}

/// A value relative to those that a column can store.
enum Stored {
    Is(Vec<u8>),
    /// A value that the column cannot store: it is above this one and below the next.
    Above(Vec<u8>),
    BelowAll,
    AboveAll,
}

/// A value in the form that a key stores; `None` where the key's order is not known to be the one by
/// which a server compares.
fn stored(column: &ColumnDef, codec: &Codec, value: &Literal) -> Option<Stored> {
    let encoded = |text: &str| {
        let mut stored = Vec::new();
        codec.encode(text, &mut stored).ok().map(|()| stored)
    };
    match (&column.ty, value) {
        (ColumnType::Int { .. }, Literal::Number(text) | Literal::Text(text)) => {
            let (floor, is_above) = Exact::parse(text)?.floor();
            let range = integers(&column.ty)?;
            if floor < *range.start() {
                return Some(Stored::BelowAll);
            }
            if floor > *range.end() {
                return Some(Stored::AboveAll);
            }
            let stored = encoded(&floor.to_string())?;
            Some(if is_above { Stored::Above(stored) } else { Stored::Is(stored) })
        }
        // Servers compare member numbers and masks, not text.
        (ColumnType::Enum { .. } | ColumnType::Set { .. }, _) => None,
        (ColumnType::Float(_), Literal::Number(text)) => {
            let real: f64 = text.parse().ok()?;
            // Other numbers are not equal to any FLOAT.
            let single = real as f32;
            (f64::from(single) == real).then(|| Stored::Is(single.to_le_bytes().to_vec()))
        }
        (ColumnType::Decimal { .. }, Literal::Number(text)) => {
            Exact::parse(text)?;
            encoded(text).map(Stored::Is)
        }
        (
            ColumnType::Decimal { .. } | ColumnType::Float(_) | ColumnType::Double(_),
            Literal::Text(_),
        ) => None,
        (_, Literal::Null) => None,
        _ => value.stored_in(column, codec).map(Stored::Is),
    }
}
