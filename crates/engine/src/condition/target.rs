//! Targets of comparisons, on the scale on which a server compares a column's values.
//!
//! | column | with | compares |
//! |---|---|---|
//! | integers, `BIT`, `YEAR`, the place of an `ENUM`, the mask of a `SET` | a number | exactly |
//! | `DECIMAL` | a number | exactly |
//! | `FLOAT`, `DOUBLE` | a number | as doubles; so does a `DECIMAL` with a number in quotes |
//! | dates and times | text as the server prints them | exactly; a date without a time is its midnight |
//! | text, `SET` | text | in the column's collation |
//! | bytes, addresses | text, hexadecimal digits | byte by byte |
//!
//! Everything else is refused, by name. (`Type_handler::aggregate_for_comparison`, sql_type.cc,
//! MariaDB 10.11; `item_cmp_type`, item_cmpfunc.cc, MySQL 8.0.)

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use innoscan_format::charset::{CollationId, Collator};
use innoscan_format::schema::{ColumnDef, Family, ServerVersion};
use innoscan_format::types::{Codec, ColumnType};
use innoscan_format::value::Value;

use super::exact::Exact;
use super::literal::Literal;
use super::times::{duration, instant, midnight, temporal};
use crate::{Error, Result};

/// A scale on which values are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    Integer,
    Decimal,
    Real,
    Text(Collator),
    Bytes,
}

/// A typed value on its scale.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// An integer, or a fraction above it.
    Integer {
        floor: i128,
        is_above: bool,
    },
    Decimal(Exact),
    Real(f64),
    /// Bytes, or the sort key of a text.
    Bytes(Vec<u8>),
}

impl Target {
    /// The order relative to another target of the same scale.
    pub fn order(&self, other: &Target) -> Ordering {
        match (self, other) {
            (
                Target::Integer { floor, is_above },
                Target::Integer { floor: other, is_above: is_other_above },
            ) => (floor, is_above).cmp(&(other, is_other_above)),
            (Target::Decimal(exact), Target::Decimal(other)) => exact.cmp(other),
            (Target::Real(real), Target::Real(other)) => real.total_cmp(other),
            (Target::Bytes(bytes), Target::Bytes(other)) => bytes.cmp(other),
            _ => Ordering::Equal,
        }
    }
}

/// A row's value on a scale.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowValue<'r> {
    Integer(i128),
    Decimal(&'r [u8]),
    Real(f64),
    Bytes(&'r [u8]),
}

impl RowValue<'_> {
    /// The order relative to a target of the same scale.
    pub fn order(self, target: &Target) -> Ordering {
        match (self, target) {
            (RowValue::Integer(number), &Target::Integer { floor, is_above }) => {
                let order = number.cmp(&floor);
                if order.is_eq() && is_above { Ordering::Less } else { order }
            }
            (RowValue::Decimal(printed), Target::Decimal(exact)) => {
                Exact::compare_printed(printed, exact)
            }
            (RowValue::Real(real), Target::Real(with)) => {
                real.partial_cmp(with).unwrap_or(Ordering::Less)
            }
            (RowValue::Bytes(bytes), Target::Bytes(with)) => bytes.cmp(with.as_slice()),
            // Each scale has only one form of both.
            _ => Ordering::Less,
        }
    }
}

impl Scale {
    /// A stored value on the scale; `room` is a buffer for values that must be converted.
    pub fn value<'r>(
        self,
        codec: &Codec,
        stored: &'r [u8],
        room: &'r mut Vec<u8>,
    ) -> innoscan_format::Result<RowValue<'r>> {
        room.clear();
        Ok(match self {
            Scale::Integer => RowValue::Integer(integer(codec.value(stored)?)),
            Scale::Decimal => {
                codec.write_text(stored, room)?;
                RowValue::Decimal(room)
            }
            Scale::Real => RowValue::Real(match codec.value(stored)? {
                Value::Float(real) => f64::from(real),
                Value::Double(real) => real,
                Value::Int(number) => number as f64,
                Value::UInt(number) => number as f64,
                _ => {
                    codec.write_text(stored, room)?;
                    let text = str::from_utf8(room).ok().and_then(|text| text.parse().ok());
                    text.unwrap_or(f64::NAN)
                }
            }),
            Scale::Text(collator) => {
                match codec.value(stored)? {
                    Value::Text(text, _) => collator.append_sort_key(text, room)?,
                    _ => {
                        let mut text = Vec::new();
                        codec.write_text(stored, &mut text)?;
                        collator.append_sort_key(&text, room)?;
                    }
                }
                RowValue::Bytes(room)
            }
            Scale::Bytes => match codec.value(stored)? {
                Value::Bytes(bytes) => RowValue::Bytes(bytes),
                _ => RowValue::Bytes(stored),
            },
        })
    }
}

fn integer(value: Value<'_>) -> i128 {
    match value {
        Value::Int(number) => number.into(),
        Value::UInt(number) | Value::Bit(number) | Value::Set(number) => number.into(),
        Value::Year(number) | Value::Enum(number) => number.into(),
        Value::Date(date) => midnight(date),
        Value::DateTime(datetime) => instant(datetime),
        Value::Timestamp(timestamp) => instant(timestamp.to_datetime()),
        Value::Time(time) => duration(time),
        _ => 0,
    }
}

/// The zero date as its midnight.
pub(super) const ZERO_DATE: Target = Target::Integer { floor: 0, is_above: false };

/// The reason why a value is not compared with a column, and a remedy.
type Refusal = (&'static str, &'static str);

/// The target of a typed value, on the scale on which a server compares it with a column.
pub(super) fn target(
    column: &ColumnDef,
    codec: &Codec,
    literal: &Literal,
    server: ServerVersion,
) -> Result<(Scale, Target)> {
    let is_by_text = matches!(literal, Literal::Text(_) | Literal::Bytes(_));
    match text_collation(&column.ty).filter(|_| is_by_text) {
        Some(collation) => text_target(column, collation, literal),
        None => value_target(column, codec, literal, server)
            .map_err(|why| refused(column, literal, why)),
    }
}

fn refused(column: &ColumnDef, literal: &Literal, (why, remedy): Refusal) -> Error {
    let (name, ty) = (&column.name, type_name(&column.ty));
    Error::usage(format!("{literal} cannot be compared with `{name}` ({ty}): {why}"), remedy)
}

/// The collation of a column whose values are compared as text.
fn text_collation(ty: &ColumnType) -> Option<CollationId> {
    match *ty {
        ColumnType::Char { collation, .. }
        | ColumnType::VarChar { collation, .. }
        | ColumnType::Text { collation, .. }
        | ColumnType::Enum { collation, .. }
        | ColumnType::Set { collation, .. } => Some(collation),
        _ => None,
    }
    .filter(|collation| *collation != CollationId::BINARY)
}

fn text_target(
    column: &ColumnDef,
    collation: CollationId,
    literal: &Literal,
) -> Result<(Scale, Target)> {
    let refused = |why, remedy| Err(refused(column, literal, (why, remedy)));
    let collator = collator(column, collation)?;
    let Some(text) = text(collator, literal) else {
        return refused("its charset has no such text", "leave out the condition");
    };
    let is_char = matches!(column.ty, ColumnType::Char { .. });
    if is_char && !collator.pads() && text.ends_with(collator.charset().space()) {
        // By a key a server finds it without them.
        return refused("no CHAR has spaces at its end", "type it without them");
    }
    let mut key = Vec::new();
    collator.append_sort_key(&text, &mut key)?;
    if let ColumnType::Set { members, .. } = &column.ty
        && !is_set(literal, members, collator)?
    {
        // By a key a server finds them in any order.
        let remedy = "type members in their order, joined by commas";
        return refused("that is none of its values", remedy);
    }
    Ok((Scale::Text(collator), Target::Bytes(key)))
}

/// The target for a column whose values are not compared as text.
fn value_target(
    column: &ColumnDef,
    codec: &Codec,
    literal: &Literal,
    server: ServerVersion,
) -> std::result::Result<(Scale, Target), Refusal> {
    const AS_NUMBER: &str = "type the number as digits, without quotes and exponent";
    const IN_QUOTES: &str = "type text and dates in quotes, numbers without";
    const AS_PRINTED: &str = "type it as the server prints it, times in UTC";
    match (&column.ty, literal) {
        (ColumnType::Json | ColumnType::Geometry(_) | ColumnType::Vector { .. }, _) => {
            Err(("values of its type are not compared", "compare another column"))
        }
        (
            ColumnType::Int { .. }
            | ColumnType::Bit { .. }
            | ColumnType::Enum { .. }
            | ColumnType::Set { .. },
            Literal::Number(text),
        ) => integer_target(text).map_err(|why| (why, AS_NUMBER)),
        (ColumnType::Int { .. }, Literal::Text(text)) => {
            integer_in_quotes(text).ok_or(("in quotes it is not compared exactly", AS_NUMBER))
        }
        (&ColumnType::Decimal { scale, .. }, Literal::Number(text)) => {
            decimal_target(text, scale).map_err(|why| (why, AS_NUMBER))
        }
        (&ColumnType::Decimal { scale, .. }, Literal::Text(text)) => decimal_target(text, scale)
            .and_then(|_| real(text))
            .map(|real| (Scale::Real, Target::Real(real)))
            .map_err(|why| (why, AS_NUMBER)),
        (ColumnType::Year { digits: 4 }, Literal::Number(text) | Literal::Text(text)) => {
            year_target(text)
        }
        (ColumnType::Year { .. }, _) => {
            Err(("years of two digits are not compared", "compare another column"))
        }
        (
            ColumnType::Float(format) | ColumnType::Double(format),
            Literal::Number(text) | Literal::Text(text),
        ) => {
            let real = real(text).map_err(|why| (why, IN_QUOTES));
            real_target(real?, format.digits.is_some(), matches!(column.ty, ColumnType::Float(_)))
        }
        (
            ColumnType::Date
            | ColumnType::DateTime(_)
            | ColumnType::Timestamp(_)
            | ColumnType::Time(_),
            Literal::Text(text),
        ) => temporal(&column.ty, text, server)
            .map(|floor| (Scale::Integer, Target::Integer { floor, is_above: false }))
            .ok_or(("that is not a valid date or time", AS_PRINTED)),
        (
            ColumnType::Binary { .. }
            | ColumnType::VarBinary { .. }
            | ColumnType::Blob { .. }
            | ColumnType::Char { .. }
            | ColumnType::VarChar { .. }
            | ColumnType::Text { .. },
            Literal::Text(_) | Literal::Bytes(_),
        ) => Ok((Scale::Bytes, Target::Bytes(bytes(literal)))),
        (ColumnType::Uuid | ColumnType::Inet4 | ColumnType::Inet6, Literal::Text(text)) => {
            stored_target(codec, text).ok_or(("that is not a value of its type", AS_PRINTED))
        }
        (ty, Literal::Number(_)) if text_collation(ty).is_some() => {
            Err(("a server takes the text for a number there", IN_QUOTES))
        }
        _ => Err(("that is not a value of its type", IN_QUOTES)),
    }
}

/// The target of a value that is compared by its stored bytes.
fn stored_target(codec: &Codec, text: &str) -> Option<(Scale, Target)> {
    let mut stored = Vec::new();
    codec.encode(text, &mut stored).ok()?;
    Some((Scale::Bytes, Target::Bytes(stored)))
}

/// The target of a number for a `FLOAT` or `DOUBLE`; `has_digits`: the column has `(M,D)`.
fn real_target(
    real: f64,
    has_digits: bool,
    is_float: bool,
) -> std::result::Result<(Scale, Target), Refusal> {
    if has_digits {
        let why = "a server takes numbers of nearly the same size for equal there";
        return Err((why, "compare another column"));
    }
    match is_float && real.abs() > f64::from(f32::MAX) {
        true => Err(("no FLOAT is that large", "type a number that one can be")),
        false => Ok((Scale::Real, Target::Real(real))),
    }
}

fn year_target(text: &str) -> std::result::Result<(Scale, Target), Refusal> {
    let year: Option<u16> = text.parse().ok();
    let year = year.filter(|year| *year == 0 && text == "0" || (1901..2156).contains(year));
    let year =
        year.ok_or(("that is not a year of four digits", "type one from 1901 to 2155, or 0"));
    Ok((Scale::Integer, Target::Integer { floor: year?.into(), is_above: false }))
}

/// Whether a value lists members of a `SET` in their order.
fn is_set(value: &Literal, members: &[Vec<u8>], collator: Collator) -> Result<bool> {
    let Literal::Text(value) = value else { return Ok(false) };
    let key_of = |text: &[u8]| {
        let mut key = Vec::new();
        collator.append_sort_key(text, &mut key).map(|()| key)
    };
    let keys: innoscan_format::Result<Vec<_>> = members.iter().map(|text| key_of(text)).collect();
    let mut keys = keys?.into_iter();
    for member in value.split(',').filter(|_| !value.is_empty()) {
        let mut text = Vec::new();
        collator.charset().encode(member, &mut text);
        let wanted = key_of(&text)?;
        if !keys.any(|key| key == wanted) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The name of an SQL type.
fn type_name(ty: &ColumnType) -> &'static str {
    match ty {
        ColumnType::Int { .. } => "an integer",
        ColumnType::Decimal { .. } => "DECIMAL",
        ColumnType::Float(_) => "FLOAT",
        ColumnType::Double(_) => "DOUBLE",
        ColumnType::Bit { .. } => "BIT",
        ColumnType::Year { .. } => "YEAR",
        ColumnType::Date => "DATE",
        ColumnType::Time(_) => "TIME",
        ColumnType::DateTime(_) => "DATETIME",
        ColumnType::Timestamp(_) => "TIMESTAMP",
        ColumnType::Char { .. } | ColumnType::VarChar { .. } | ColumnType::Text { .. } => "text",
        ColumnType::Binary { .. } | ColumnType::VarBinary { .. } | ColumnType::Blob { .. } => {
            "bytes"
        }
        ColumnType::Enum { .. } => "ENUM",
        ColumnType::Set { .. } => "SET",
        ColumnType::Json => "JSON",
        ColumnType::Geometry(_) => "a geometry",
        ColumnType::Vector { .. } => "VECTOR",
        ColumnType::Uuid | ColumnType::UuidReversed => "UUID",
        ColumnType::Inet4 => "INET4",
        ColumnType::Inet6 => "INET6",
    }
}

/// The range of integers that a column can hold; `None` for other columns.
pub(crate) fn integers(ty: &ColumnType) -> Option<RangeInclusive<i128>> {
    let &ColumnType::Int { width, unsigned, zerofill, .. } = ty else { return None };
    let bits = 8 * (width as u32);
    let least = if unsigned || zerofill { 0 } else { -(1_i128 << (bits - 1)) };
    Some(least..=least + (1_i128 << bits) - 1)
}

/// The collator by which a column's text is compared.
pub(super) fn collator(column: &ColumnDef, collation: CollationId) -> Result<Collator> {
    Collator::of(collation).ok_or_else(|| {
        let newest = ServerVersion { family: Family::MariaDb, number: u32::MAX };
        let of = collation.name(newest).unwrap_or_default();
        let why = format!("the order of text in `{}` ({of}) is not known", column.name);
        Error::usage(why, format!("compare columns of other collations: {}", Collator::KNOWN))
    })
}

/// A text in the collation's charset; `None` where the charset lacks a character.
fn text(collator: Collator, literal: &Literal) -> Option<Vec<u8>> {
    match literal {
        Literal::Text(text) => {
            let mut encoded = Vec::new();
            (collator.charset().encode(text, &mut encoded) == 0).then_some(encoded)
        }
        other => Some(bytes(other)),
    }
}

fn bytes(literal: &Literal) -> Vec<u8> {
    match literal {
        Literal::Text(text) | Literal::Number(text) => text.as_bytes().to_vec(),
        Literal::Bytes(bytes) => bytes.clone(),
        Literal::Null => Vec::new(),
    }
}

type Compared = std::result::Result<(Scale, Target), &'static str>;

/// Parses a number without an exponent. For numbers with one, servers find different rows with a key
/// and without.
fn exact(text: &str) -> std::result::Result<Exact, &'static str> {
    let exact = Exact::parse(text).ok_or("that is not a number without an exponent")?;
    // The limits of DECIMAL (`DECIMAL_MAX_PRECISION`, `DECIMAL_MAX_SCALE`).
    let (whole, fraction) = exact.digits();
    match whole + fraction > 65 || fraction > 30 {
        true => Err("it has more digits than a server's decimals"),
        false => Ok(exact),
    }
}

fn integer_target(text: &str) -> Compared {
    let (floor, is_above) = exact(text)?.floor();
    Ok((Scale::Integer, Target::Integer { floor, is_above }))
}

/// The target for a decimal column. Excess digits after the point are rounded by some servers
/// (MySQL 8.0.33), and not by others.
fn decimal_target(text: &str, scale: u8) -> Compared {
    let exact = exact(text)?;
    match exact.digits().1 > usize::from(scale) {
        true => Err("it has more digits behind the point than the column"),
        false => Ok((Scale::Decimal, Target::Decimal(exact))),
    }
}

/// The target of an integer in quotes. A server compares it with integers as doubles, but with
/// `BIGINT` as integers: both agree where doubles are exact.
fn integer_in_quotes(text: &str) -> Option<(Scale, Target)> {
    const EXACT_MAX: u64 = 1 << 53;
    let number: i64 = text.parse().ok().filter(|_| !text.starts_with('+'))?;
    let target = Target::Integer { floor: number.into(), is_above: false };
    (number.unsigned_abs() < EXACT_MAX).then_some((Scale::Integer, target))
}

fn real(text: &str) -> std::result::Result<f64, &'static str> {
    let number = Some(text).filter(|text| super::literal::is_number(text));
    let real: Option<f64> = number.and_then(|text| text.parse().ok());
    real.filter(|real| real.is_finite()).ok_or("that is not a number")
}
