//! What a column's values are compared with, on the scale on which a server compares them.
//!
//! | column | with | compares |
//! |---|---|---|
//! | integers, `BIT`, `YEAR`, the place of an `ENUM`, the mask of a `SET` | a number | exactly |
//! | `DECIMAL` | a number | exactly |
//! | `FLOAT`, `DOUBLE` | a number | as doubles; so do other numbers with one that has an exponent, or a number in quotes |
//! | dates and times | text as the server prints them | exactly; a date without a time is its midnight |
//! | text, `SET` | text | in the column's collation |
//! | bytes, addresses | text, hexadecimal digits | byte by byte |
//!
//! Everything else is refused, by name. (`Type_handler::aggregate_for_comparison`, sql_type.cc,
//! MariaDB 10.11; `item_cmp_type`, item_cmpfunc.cc, MySQL 8.0.)

use std::cmp::Ordering;

use innoscan_format::charset::{CollationId, Collator};
use innoscan_format::schema::{ColumnDef, Family, ServerVersion};
use innoscan_format::types::{Codec, ColumnType, IntWidth};
use innoscan_format::value::{Date, DateTime, Time, Value};

use super::exact::Exact;
use super::literal::Literal;
use crate::{Error, Result};

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    Integer,
    Decimal,
    Real,
    Text(Collator),
    Bytes,
}

/// A value that was typed, on its scale.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// So much, or a fraction above it.
    Integer {
        floor: i128,
        is_above: bool,
    },
    Decimal(Exact),
    Real(f64),
    /// Bytes, or a text's sort key.
    Bytes(Vec<u8>),
}

impl Target {
    /// How it compares with another of the same scale.
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

/// A row's value, on the same scale.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowValue<'r> {
    Integer(i128),
    Decimal(&'r [u8]),
    Real(f64),
    Bytes(&'r [u8]),
}

impl RowValue<'_> {
    /// How it compares.
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
            // A scale has one form of both.
            _ => Ordering::Less,
        }
    }
}

impl Scale {
    /// A stored value on the scale; `room` is for what has to be written down.
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

fn midnight(date: Date) -> i128 {
    instant(DateTime { date, ..DateTime::default() })
}

/// A number that compares as the parts do, one after the other.
fn instant(datetime: DateTime) -> i128 {
    let DateTime { date, hours, minutes, seconds, micros, .. } = datetime;
    let parts = [(date.month, 16), (date.day, 32), (hours, 32), (minutes, 64), (seconds, 64)];
    let whole = parts
        .iter()
        .fold(i128::from(date.year), |number, &(part, radix)| number * radix + i128::from(part));
    whole * 1_000_000 + i128::from(micros)
}

fn duration(time: Time) -> i128 {
    let Time { negative, hours, minutes, seconds, micros, .. } = time;
    let whole = (i128::from(hours) * 64 + i128::from(minutes)) * 64 + i128::from(seconds);
    let size = whole * 1_000_000 + i128::from(micros);
    if negative { -size } else { size }
}

/// The midnight that the zero date is.
pub(super) const ZERO_DATE: Target = Target::Integer { floor: 0, is_above: false };

/// A value that was typed, on the scale on which a server compares it with a column's.
pub(super) fn target(
    column: &ColumnDef,
    codec: &Codec,
    literal: &Literal,
) -> Result<(Scale, Target)> {
    let refused = |why: &str, remedy: &str| {
        let (name, ty) = (&column.name, type_name(&column.ty));
        Error::refused(format!("{literal} cannot be compared with `{name}` ({ty}): {why}"), remedy)
    };
    const IN_QUOTES: &str = "type text and dates in quotes, numbers without";
    match (&column.ty, literal) {
        (ColumnType::Json | ColumnType::Geometry(_) | ColumnType::Vector { .. }, _) => {
            Err(refused("values of its type are not compared", "compare another column"))
        }
        (
            ColumnType::Int { .. }
            | ColumnType::Bit { .. }
            | ColumnType::Enum { .. }
            | ColumnType::Set { .. },
            Literal::Number(text),
        ) => number(text, Scale::Integer).map_err(|why| refused(why, IN_QUOTES)),
        (ColumnType::Decimal { .. }, Literal::Number(text)) => {
            number(text, Scale::Decimal).map_err(|why| refused(why, IN_QUOTES))
        }
        (ColumnType::Year { digits: 4 }, Literal::Number(text) | Literal::Text(text)) => {
            let year: Option<u16> = text.parse().ok();
            let year = year.filter(|year| *year == 0 && text == "0" || (1901..2156).contains(year));
            let floor = year.ok_or_else(|| {
                refused("that is no year of four digits", "type one from 1901 to 2155, or 0")
            })?;
            Ok((Scale::Integer, Target::Integer { floor: floor.into(), is_above: false }))
        }
        (ColumnType::Year { .. }, _) => {
            Err(refused("years of two digits are not compared", "compare another column"))
        }
        (ColumnType::Int { .. } | ColumnType::Decimal { .. }, Literal::Text(text)) => {
            number_in_quotes(&column.ty, text).map_err(|why| refused(why, IN_QUOTES))
        }
        (
            ColumnType::Float(format) | ColumnType::Double(format),
            Literal::Number(text) | Literal::Text(text),
        ) => {
            if format.digits.is_some() {
                let why = "a server takes numbers of nearly the same size for equal there";
                return Err(refused(why, "compare another column"));
            }
            let real = real(text).map_err(|why| refused(why, IN_QUOTES))?;
            Ok((Scale::Real, Target::Real(real)))
        }
        (
            ColumnType::Date
            | ColumnType::DateTime(_)
            | ColumnType::Timestamp(_)
            | ColumnType::Time(_),
            Literal::Text(text),
        ) => temporal(&column.ty, text)
            .map(|floor| (Scale::Integer, Target::Integer { floor, is_above: false }))
            .ok_or_else(|| {
                refused("that is no such date or time", "type it as the server prints it, in UTC")
            }),
        (
            &(ColumnType::Char { collation, .. }
            | ColumnType::VarChar { collation, .. }
            | ColumnType::Text { collation, .. }
            | ColumnType::Enum { collation, .. }
            | ColumnType::Set { collation, .. }),
            Literal::Text(_) | Literal::Bytes(_),
        ) if collation != CollationId::BINARY => {
            let collator = collator(column, collation)?;
            let text = text(collator, literal).ok_or_else(|| {
                refused("its charset has no such text", "leave out the condition")
            })?;
            let mut key = Vec::new();
            collator.append_sort_key(&text, &mut key)?;
            Ok((Scale::Text(collator), Target::Bytes(key)))
        }
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
            let mut stored = Vec::new();
            codec.encode(text, &mut stored).map_err(|_| {
                refused("that is no value of its type", "type it as the server prints it")
            })?;
            Ok((Scale::Bytes, Target::Bytes(stored)))
        }
        _ => Err(refused("that is no value of its type", IN_QUOTES)),
    }
}

/// The SQL type's name alone.
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

/// What text of a column is compared by.
pub(super) fn collator(column: &ColumnDef, collation: CollationId) -> Result<Collator> {
    Collator::of(collation).ok_or_else(|| {
        let newest = ServerVersion { family: Family::MariaDb, number: u32::MAX };
        let of = collation.name(newest).unwrap_or_default();
        let why = format!("the order of text in `{}` ({of}) is not known", column.name);
        Error::refused(why, format!("compare columns of other collations: {}", Collator::KNOWN))
    })
}

/// A text in a charset; `None` where that has no such characters.
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

/// A number on a scale of exact ones; on that of doubles where it has an exponent.
fn number(text: &str, scale: Scale) -> std::result::Result<(Scale, Target), &'static str> {
    let Some(exact) = Exact::parse(text) else {
        return real(text).map(|real| (Scale::Real, Target::Real(real)));
    };
    // The most a DECIMAL has (`DECIMAL_MAX_PRECISION`, `DECIMAL_MAX_SCALE`).
    let (whole, fraction) = exact.digits();
    if whole + fraction > 65 || fraction > 30 {
        return Err("it has more digits than a server's decimals");
    }
    let target = match scale {
        Scale::Integer => {
            let (floor, is_above) = exact.floor();
            Target::Integer { floor, is_above }
        }
        _ => Target::Decimal(exact),
    };
    Ok((scale, target))
}

/// A server compares a number with one in quotes as doubles, but a `BIGINT` as integers.
fn number_in_quotes(
    ty: &ColumnType,
    text: &str,
) -> std::result::Result<(Scale, Target), &'static str> {
    const EXACT_MOST: i64 = 1 << 53;
    if !matches!(ty, ColumnType::Int { width: IntWidth::Eight, .. }) {
        return real(text).map(|real| (Scale::Real, Target::Real(real)));
    }
    let number: Option<i64> = text.parse().ok();
    let number = number.filter(|number| number.unsigned_abs() < EXACT_MOST as u64);
    let floor = number.ok_or("in quotes it is not compared exactly")?.into();
    Ok((Scale::Integer, Target::Integer { floor, is_above: false }))
}

fn real(text: &str) -> std::result::Result<f64, &'static str> {
    let number = Some(text).filter(|text| super::literal::is_number(text));
    let real: Option<f64> = number.and_then(|text| text.parse().ok());
    real.filter(|real| real.is_finite()).ok_or("that is no number")
}

/// A date or time as a server prints it.
fn temporal(ty: &ColumnType, text: &str) -> Option<i128> {
    match ty {
        ColumnType::Date => date(text).map(midnight),
        ColumnType::Time(temporal) => time(text, temporal.fsp, 839).map(duration),
        ColumnType::DateTime(temporal) | ColumnType::Timestamp(temporal) => {
            let (day, rest) = text.split_once(' ').unwrap_or((text, "00:00:00"));
            let time = time(rest, temporal.fsp, 24).filter(|time| !time.negative)?;
            let date = date(day)?;
            if date == Date::default() && duration(time) != 0 {
                return None;
            }
            let Time { hours, minutes, seconds, micros, .. } = time;
            let hours = hours as u8;
            Some(instant(DateTime { date, hours, minutes, seconds, micros, fsp: 6 }))
        }
        _ => None,
    }
}

/// A day there is, or the zero date.
fn date(text: &str) -> Option<Date> {
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let is_whole = year.len() == 4 && month.len() == 2 && day.len() == 2;
    let number = |digits: &str| {
        let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u16>().ok().filter(|_| is_whole && are_digits)
    };
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let is_day = year > 0 && (1..=days).contains(&day);
    let is_zero = year == 0 && month == 0 && day == 0;
    (is_day || is_zero).then_some(Date { year, month: month as u8, day: day as u8 })
}

/// `[-]hh:mm:ss[.ffffff]`, with no more digits behind the point than the column has.
fn time(text: &str, fsp: u8, hours_end: u16) -> Option<Time> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let mut part = |end: u16| {
        let digits = parts.next().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let digits = digits.filter(|digits| (2..=3).contains(&digits.len()))?;
        digits.parse::<u16>().ok().filter(|part| *part < end)
    };
    let (hours, minutes, seconds) = (part(hours_end)?, part(60)?, part(60)?);
    let is_fraction = fraction.len() <= usize::from(fsp)
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && parts.next().is_none();
    let micros = format!("{fraction:0<6}").parse().ok().filter(|_| is_fraction)?;
    let (minutes, seconds) = (minutes as u8, seconds as u8);
    Some(Time { negative, hours, minutes, seconds, micros, fsp })
}
