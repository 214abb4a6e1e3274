//! Conversion of a value's text to the bytes that a record stores: for a column's default, and for
//! a key typed by the user.
//!
//! Only texts in the form that servers print are accepted: `-12.50`, `2024-01-31 00:00:00`,
//! `b'101'`, the members of a `SET` joined by commas.

use super::codec::Kind;
use super::{Codec, TemporalFormat, decimal, members, network, temporal};
use crate::value::{Date, DateTime, Time};
use crate::{Error, Result};

impl Codec {
    /// Appends the stored form of a value printed as `text`; times are in UTC.
    pub fn encode(&self, text: &str, out: &mut Vec<u8>) -> Result<()> {
        self.encode_text(text, out)
            .ok_or_else(|| Error::schema(format!("`{text}` is not a value of this column's type")))
    }

    /// Appends the stored form of `text`; `None` when it is not a value of the type.
    fn encode_text(&self, text: &str, out: &mut Vec<u8>) -> Option<()> {
        match &self.kind {
            Kind::Int(integer) => {
                write_int(text.parse().ok()?, integer.width_bytes(), integer.is_signed(), out)?;
            }
            &Kind::Decimal { precision, scale, .. } => {
                decimal::encode(text, precision, scale, out)?;
            }
            Kind::Float(_) => out.extend(text.parse::<f32>().ok()?.to_le_bytes()),
            Kind::Double(_) => out.extend(text.parse::<f64>().ok()?.to_le_bytes()),
            &Kind::Bit { bits } => {
                let digits = text.strip_prefix("b'")?.strip_suffix('\'')?;
                let number = i128::from_str_radix(digits, 2).ok()?;
                write_int(number, super::bit::size_bytes(bits), false, out)?;
            }
            Kind::Year { digits } => {
                let stored: u16 = match text.parse().ok()? {
                    0 if *digits != 2 => 0,
                    year @ 0..70 => year + 100,
                    year @ 70..100 => year,
                    year => year.checked_sub(1900)?,
                };
                out.push(u8::try_from(stored).ok()?);
            }
            Kind::Date => write_date(parse_date(text)?, out),
            &Kind::Time { format, fsp } => write_time(parse_time(text, fsp)?, format, out)?,
            &Kind::DateTime { format, fsp } => {
                write_datetime(parse_datetime(text, fsp)?, format, out)?;
            }
            &Kind::Timestamp { format, fsp } => {
                let datetime = parse_datetime(text, fsp)?;
                out.extend(unix_seconds(datetime)?.to_be_bytes());
                if format != TemporalFormat::Old {
                    write_fraction(datetime.micros, format, fsp, out);
                }
            }
            &Kind::Char { charset, .. } | &Kind::Text { charset, .. } => {
                if charset.encode(text, out) > 0 {
                    return None;
                }
            }
            &Kind::Binary { bytes } => {
                let padding = (bytes as usize).checked_sub(text.len())?;
                out.extend_from_slice(text.as_bytes());
                out.resize(out.len() + padding, 0);
            }
            Kind::Bytes => out.extend_from_slice(text.as_bytes()),
            Kind::Enum(members) => {
                write_int(enum_index(members, text)?, members.size_bytes(), false, out)?;
            }
            Kind::Set(members) => {
                let mut mask = 0;
                for member in text.split(',').filter(|_| !text.is_empty()) {
                    mask |= 1_i128 << (enum_index(members, member)? - 1).clamp(0, 63);
                }
                write_int(mask, members.size_bytes(), false, out)?;
            }
            &Kind::Uuid { always_reversed } => {
                out.extend(network::stored_uuid(network::parse_uuid(text)?, always_reversed));
            }
            Kind::Inet4 => out.extend(text.parse::<core::net::Ipv4Addr>().ok()?.octets()),
            Kind::Inet6 => out.extend(text.parse::<core::net::Ipv6Addr>().ok()?.octets()),
            Kind::Json(_) | Kind::Geometry | Kind::Vector => return None,
        }
        Some(())
    }

    /// Appends the bytes that the server's `Field::reset` leaves in its record: the value of a NULL
    /// without a default.
    pub(super) fn write_reset_image(&self, out: &mut Vec<u8>) -> Result<()> {
        let zeros = match &self.kind {
            Kind::Int(integer) => integer.width_bytes(),
            &Kind::Decimal { precision, scale, .. } => {
                return decimal::encode("0", precision, scale, out)
                    .ok_or_else(|| Error::schema("no zero fits the DECIMAL"));
            }
            Kind::Float(_) => 4,
            Kind::Double(_) => 8,
            Kind::Year { .. } => 1,
            Kind::Date => 3,
            &Kind::Time { format: TemporalFormat::Old, .. } => 3,
            &Kind::Time { format, fsp } => {
                return write_time(Time { fsp, ..Time::default() }, format, out)
                    .ok_or_else(|| Error::schema("no zero fits the TIME"));
            }
            &Kind::DateTime { format: TemporalFormat::Old, .. } => 8,
            &Kind::DateTime { format, fsp } => {
                return write_datetime(DateTime { fsp, ..DateTime::default() }, format, out)
                    .ok_or_else(|| Error::schema("no zero fits the DATETIME"));
            }
            &Kind::Timestamp { format, fsp } => temporal::timestamp_bytes(format, fsp),
            &Kind::Bit { bits } => super::bit::size_bytes(bits),
            Kind::Char { .. } => return self.write_record_image(b"", out),
            &Kind::Binary { bytes } => bytes as usize,
            Kind::Enum(members) | Kind::Set(members) => members.size_bytes(),
            // An empty value is the document `null`.
            Kind::Json(_) => return self.write_record_image(b"", out),
            // Their text is empty.
            Kind::Text { .. } | Kind::Bytes | Kind::Geometry | Kind::Vector => 0,
            Kind::Uuid { .. } | Kind::Inet6 => 16,
            Kind::Inet4 => 4,
        };
        out.resize(out.len() + zeros, 0);
        Ok(())
    }
}

/// Appends a big-endian number of `len` bytes, a signed one with its sign flipped.
pub(super) fn write_int(number: i128, len: usize, signed: bool, out: &mut Vec<u8>) -> Option<()> {
    let bits = 8 * u32::try_from(len).ok()?;
    let bias = if signed { 1_i128 << bits.checked_sub(1)? } else { 0 };
    let biased = number.checked_add(bias).filter(|biased| (0..1 << bits).contains(biased))?;
    let bytes = biased.to_be_bytes();
    out.extend_from_slice(bytes.get(bytes.len().checked_sub(len)?..)?);
    Some(())
}

/// Returns the index of a member, from 1; 0 for an empty string that is no member.
fn enum_index(members: &members::Members, text: &str) -> Option<i128> {
    let mut bytes = Vec::new();
    members.charset.encode(text, &mut bytes);
    match members.place_of(&bytes) {
        Some(place) => Some(place as i128 + 1),
        None => text.is_empty().then_some(0),
    }
}

fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let year = parts.next()?.parse().ok().filter(|year| *year < 10_000)?;
    let month = parts.next()?.parse().ok().filter(|month| *month < 13)?;
    let day = parts.next()?.parse().ok().filter(|day| *day < 32)?;
    Some(Date { year, month, day })
}

fn parse_time(text: &str, fsp: u8) -> Option<Time> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (text, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = text.splitn(3, ':');
    let hours = parts.next()?.parse().ok().filter(|hours| *hours < 839)?;
    let minutes = parts.next()?.parse().ok().filter(|minutes| *minutes < 60)?;
    let seconds = parts.next()?.parse().ok().filter(|seconds| *seconds < 60)?;
    let unit = 10_u32.pow(6 - u32::from(fsp.min(6)));
    let fits = |micros: &u32| *micros < 1_000_000 && micros.is_multiple_of(unit);
    let micros = format!("{fraction:0<6}").parse().ok().filter(fits)?;
    Some(Time { negative, hours, minutes, seconds, micros, fsp })
}

fn parse_datetime(text: &str, fsp: u8) -> Option<DateTime> {
    let (date, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let date = parse_date(date)?;
    let time = parse_time(time, fsp).filter(|time| !time.negative && time.hours < 24)?;
    let Time { hours, minutes, seconds, micros, .. } = time;
    Some(DateTime { date, hours: hours as u8, minutes, seconds, micros, fsp })
}

fn write_date(date: Date, out: &mut Vec<u8>) {
    let packed = u32::from(date.year) << 9 | u32::from(date.month) << 5 | u32::from(date.day);
    let [_, a, b, c] = (packed ^ 0x80_0000).to_be_bytes();
    out.extend_from_slice(&[a, b, c]);
}

/// Returns the fraction in its stored units: hundredths and so on, or units of the last digit.
fn fraction_units(micros: u32, format: TemporalFormat, fsp: u8) -> u32 {
    let digits = match format {
        TemporalFormat::OldHires => fsp,
        _ => fsp.div_ceil(2) * 2,
    };
    let shown = micros - micros % 10_u32.pow(6 - u32::from(fsp.min(6)));
    shown / 10_u32.pow(6 - u32::from(digits.min(6)))
}

fn write_fraction(micros: u32, format: TemporalFormat, fsp: u8, out: &mut Vec<u8>) {
    let [_, rest @ ..] = fraction_units(micros, format, fsp).to_be_bytes();
    let len = temporal::timestamp_bytes(format, fsp) - 4;
    out.extend_from_slice(rest.get(rest.len().saturating_sub(len)..).unwrap_or_default());
}

fn write_time(time: Time, format: TemporalFormat, out: &mut Vec<u8>) -> Option<()> {
    let Time { negative, hours, minutes, seconds, micros, fsp } = time;
    let len = temporal::time_bytes(format, fsp);
    let [hours, minutes, seconds] = [u32::from(hours), u32::from(minutes), u32::from(seconds)];
    let units = i128::from(fraction_units(micros, format, fsp));
    let sign = if negative { -1 } else { 1 };
    let (number, bias) = match format {
        TemporalFormat::New => {
            let fraction_bits = 8 * (len - 3);
            let whole = i128::from(hours << 12 | minutes << 6 | seconds);
            (whole << fraction_bits | units, 0x80_0000 << fraction_bits)
        }
        TemporalFormat::Old => (i128::from(hours * 10_000 + minutes * 100 + seconds), 0x80_0000),
        TemporalFormat::OldHires => {
            let per_second = 10_i128.pow(u32::from(fsp));
            let whole = i128::from(hours * 3600 + minutes * 60 + seconds);
            (whole * per_second + units, 839 * 3600 * per_second)
        }
    };
    write_int(bias + sign * number, len, false, out)
}

fn write_datetime(datetime: DateTime, format: TemporalFormat, out: &mut Vec<u8>) -> Option<()> {
    let DateTime { date, hours, minutes, seconds, micros, fsp } = datetime;
    let len = temporal::datetime_bytes(format, fsp);
    let [year, month, day, hours, minutes, seconds] = [
        i128::from(date.year),
        i128::from(date.month),
        i128::from(date.day),
        i128::from(hours),
        i128::from(minutes),
        i128::from(seconds),
    ];
    let units = i128::from(fraction_units(micros, format, fsp));
    let number = match format {
        TemporalFormat::New => {
            let date = (year * 13 + month) << 5 | day;
            let whole = date << 17 | hours << 12 | minutes << 6 | seconds;
            (whole + 0x80_0000_0000) << (8 * (len - 5)) | units
        }
        TemporalFormat::Old => {
            let date = year * 10_000 + month * 100 + day;
            (date * 1_000_000 + hours * 10_000 + minutes * 100 + seconds) + (1 << 63)
        }
        TemporalFormat::OldHires => {
            let days = (year * 13 + month) * 32 + day;
            let whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
            whole * 10_i128.pow(u32::from(fsp)) + units
        }
    };
    write_int(number, len, false, out)
}

/// Returns the seconds since 1970 of a time in UTC; 0 for the zero date.
fn unix_seconds(datetime: DateTime) -> Option<u32> {
    if datetime.date == Date::default() {
        return Some(0);
    }
    let year = u32::from(datetime.date.year).checked_sub(u32::from(datetime.date.month <= 2))?;
    let month = (u32::from(datetime.date.month) + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + u32::from(datetime.date.day).checked_sub(1)?;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
    let days = days.checked_sub(719_468)?;
    let seconds = u32::from(datetime.hours) * 3600
        + u32::from(datetime.minutes) * 60
        + u32::from(datetime.seconds);
    days.checked_mul(86_400)?.checked_add(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charset::CollationId;
    use crate::schema::{Family, ServerVersion};
    use crate::types::{ColumnType, IntWidth, RealFormat, Temporal};

    const SERVER: ServerVersion = ServerVersion { family: Family::MySql, number: 80_033 };

    #[track_caller]
    fn round_trip(ty: &ColumnType, text: &str) {
        let codec = Codec::new(ty, SERVER).unwrap();
        let mut stored = Vec::new();
        codec.encode(text, &mut stored).unwrap();
        let mut printed = Vec::new();
        codec.write_text(&stored, &mut printed).unwrap();
        assert_eq!(String::from_utf8_lossy(&printed), text, "{ty:?} {stored:02x?}");
    }

    #[test]
    fn texts_come_back() {
        let int = |width, unsigned| ColumnType::Int {
            width,
            unsigned,
            zerofill: false,
            display_width: None,
        };
        round_trip(&int(IntWidth::One, false), "-128");
        round_trip(&int(IntWidth::Three, false), "8388607");
        round_trip(&int(IntWidth::Eight, false), "-9223372036854775808");
        round_trip(&int(IntWidth::Eight, true), "18446744073709551615");
        let dec = |precision, scale| ColumnType::Decimal {
            precision,
            scale,
            unsigned: false,
            zerofill: false,
        };
        round_trip(&dec(14, 4), "1234567890.1234");
        round_trip(&dec(14, 4), "-0.0001");
        round_trip(
            &dec(65, 30),
            "-99999999999999999999999999999999999.123456789012345678901234567890",
        );
        round_trip(&dec(3, 3), "0.123");
        round_trip(&dec(10, 0), "0");
        let real = RealFormat { digits: None, unsigned: false, zerofill: false };
        round_trip(&ColumnType::Double(real), "1.5e300");
        round_trip(&ColumnType::Year { digits: 4 }, "2155");
        round_trip(&ColumnType::Year { digits: 4 }, "0000");
        round_trip(&ColumnType::Date, "9999-12-31");
        round_trip(&ColumnType::Date, "0000-00-00");
        let members = vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()];
        let collation = CollationId(8);
        round_trip(&ColumnType::Enum { members: members.clone(), collation }, "c");
        round_trip(&ColumnType::Set { members, collation }, "a,c");
        round_trip(&ColumnType::Char { chars: 5, collation }, "abc");
        for uuid in ["11223344-5566-1788-99aa-bbccddeeff01", "11223344-5566-7788-99aa-bbccddeeff01"]
        {
            round_trip(&ColumnType::Uuid, uuid);
            round_trip(&ColumnType::UuidReversed, uuid);
        }
        round_trip(&ColumnType::Inet4, "192.0.2.1");
        round_trip(&ColumnType::Inet6, "2001:db8::ff00:42:8329");
    }

    #[test]
    fn times_come_back_in_every_form() {
        for fsp in 0..=6 {
            let fraction =
                if fsp == 0 { String::new() } else { ".0345670"[..=fsp as usize].into() };
            for format in [TemporalFormat::New, TemporalFormat::OldHires, TemporalFormat::Old] {
                if format == TemporalFormat::Old && fsp > 0 {
                    continue;
                }
                let temporal = Temporal { fsp, format };
                for time in ["838:59:58", "-838:59:58", "00:00:00", "-00:00:01", "100:01:02"] {
                    round_trip(&ColumnType::Time(temporal), &format!("{time}{fraction}"));
                }
                for date in ["1000-01-01 00:00:00", "9999-12-31 23:59:59", "2024-02-29 12:34:56"] {
                    round_trip(&ColumnType::DateTime(temporal), &format!("{date}{fraction}"));
                }
                for date in ["1970-01-01 00:00:01", "2038-01-19 03:14:07", "2000-02-29 23:59:59"] {
                    round_trip(&ColumnType::Timestamp(temporal), &format!("{date}{fraction}"));
                }
            }
        }
    }
}
