//! Dates and times as numbers in the same order.

use innoscan_format::schema::{Family, ServerVersion};
use innoscan_format::types::ColumnType;
use innoscan_format::value::{Date, DateTime, Time};

/// The number of the start of a day.
pub(super) fn midnight(date: Date) -> i128 {
    instant(DateTime { date, ..DateTime::default() })
}

/// A number that orders like the parts of a date and time, one after the other.
pub(super) fn instant(datetime: DateTime) -> i128 {
    let DateTime { date, hours, minutes, seconds, micros, .. } = datetime;
    let parts = [(date.month, 16), (date.day, 32), (hours, 32), (minutes, 64), (seconds, 64)];
    let whole = parts
        .iter()
        .fold(i128::from(date.year), |number, &(part, radix)| number * radix + i128::from(part));
    whole * 1_000_000 + i128::from(micros)
}

/// A number that orders like durations.
pub(super) fn duration(time: Time) -> i128 {
    let Time { negative, hours, minutes, seconds, micros, .. } = time;
    let whole = (i128::from(hours) * 64 + i128::from(minutes)) * 64 + i128::from(seconds);
    let size = whole * 1_000_000 + i128::from(micros);
    if negative { -size } else { size }
}

/// Parses a date or time as a server prints it.
pub(super) fn temporal(ty: &ColumnType, text: &str, server: ServerVersion) -> Option<i128> {
    match ty {
        ColumnType::Date => date(text).map(midnight),
        ColumnType::Time(temporal) => time(text, temporal.fsp, 839).map(duration),
        ColumnType::Timestamp(temporal) => {
            let instant = datetime(text, temporal.fsp)?;
            // Values beyond this a server compares differently with a key and without.
            let last = match (server.family, server.number) {
                (Family::MariaDb, 110_500..) => "2106-02-07 06:28:15.999999",
                _ => "2038-01-19 03:14:07.999999",
            };
            let between = datetime("1970-01-01 00:00:01", 0)?..=datetime(last, 6)?;
            (instant == 0 || between.contains(&instant)).then_some(instant)
        }
        ColumnType::DateTime(temporal) => datetime(text, temporal.fsp),
        _ => None,
    }
}

/// Parses a day, or a time of a day, with at most `fsp` digits after the decimal point.
fn datetime(text: &str, fsp: u8) -> Option<i128> {
    let (day, rest) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let time = time(rest, fsp, 24).filter(|time| !time.negative)?;
    let date = date(day)?;
    if date == Date::default() && duration(time) != 0 {
        return None;
    }
    let Time { hours, minutes, seconds, micros, .. } = time;
    let hours = hours as u8;
    Some(instant(DateTime { date, hours, minutes, seconds, micros, fsp: 6 }))
}

/// Parses an existing day, or the zero date.
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

/// Parses `[-]hh:mm:ss[.ffffff]`, with at most `fsp` digits after the decimal point.
fn time(text: &str, fsp: u8, hours_end: u16) -> Option<Time> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let mut part = |digits_min: usize, digits_max: usize, end: u16| {
        let digits = parts.next().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let digits = digits.filter(|digits| (digits_min..=digits_max).contains(&digits.len()))?;
        digits.parse::<u16>().ok().filter(|part| *part < end)
    };
    let (hours, minutes, seconds) = (part(1, 3, hours_end)?, part(2, 2, 60)?, part(2, 2, 60)?);
    let is_fraction = fraction.len() <= usize::from(fsp)
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && parts.next().is_none();
    let micros = format!("{fraction:0<6}").parse().ok().filter(|_| is_fraction)?;
    let (minutes, seconds) = (minutes as u8, seconds as u8);
    Some(Time { negative, hours, minutes, seconds, micros, fsp })
}
