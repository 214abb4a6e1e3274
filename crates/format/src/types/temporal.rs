//! `DATE`, `TIME`, `DATETIME`, `TIMESTAMP` and `YEAR`, in every form in which servers stored them.
//!
//! | type | new (`TIME2`, ...) | old, before MySQL 5.6 | MariaDB 5.3 with a fraction |
//! |---|---|---|---|
//! | `DATE` | 3 bytes `year*512 + month*32 + day`, an integer to InnoDB (sign flipped) | same | same |
//! | `TIME` | 3 bytes `hours*4096 + minutes*64 + seconds` + `0x800000`, fraction | 3 bytes `hhmmss` in decimal, signed | microseconds (or less) + those of 839 hours |
//! | `DATETIME` | 5 bytes `((year*13+month)*32+day)*2^17 + ...` + `0x8000000000`, fraction | 8 bytes `YYYYMMDDhhmmss` in decimal, signed | mixed radix 13, 32, 24, 60, 60, 10^fsp |
//! | `TIMESTAMP` | 4 bytes of seconds, fraction | 4 bytes, unsigned | 4 bytes, fraction |
//!
//! A fraction takes `(fsp + 1) / 2` bytes and counts hundredths, ten-thousandths or millionths. All
//! are big-endian. Sources: mysys/my_time.cc (`my_time_packed_from_binary` and the like, MySQL
//! 9.7), sql/field.cc (`Field_*_hires`, MariaDB 10.11), ha_innodb.cc
//! (`get_innobase_type_from_mysql_type`) for which of them InnoDB treats as integers.

use super::{TemporalFormat, digits, integer};
use crate::Result;
use crate::value::{Date, DateTime, Time, Timestamp};

/// Returns the bytes of a fraction of `fsp` digits.
fn fraction_bytes(fsp: u8) -> usize {
    usize::from(fsp.min(6)).div_ceil(2)
}

/// Returns the microseconds in a unit of the last of `digits` digits.
fn micros_per_unit(digits: u8) -> u32 {
    10_u32.pow(6 - u32::from(digits.min(6)))
}

/// Returns the bytes of a `TIME`.
pub(crate) fn time_bytes(format: TemporalFormat, fsp: u8) -> usize {
    match format {
        TemporalFormat::New => 3 + fraction_bytes(fsp),
        TemporalFormat::Old => 3,
        TemporalFormat::OldHires => match fsp {
            0 => 3,
            1 | 2 => 4,
            3..=5 => 5,
            _ => 6,
        },
    }
}

/// Returns the bytes of a `DATETIME`.
pub(crate) fn datetime_bytes(format: TemporalFormat, fsp: u8) -> usize {
    match format {
        TemporalFormat::New => 5 + fraction_bytes(fsp),
        TemporalFormat::Old => 8,
        TemporalFormat::OldHires => match fsp {
            0 => 5,
            1 | 2 => 6,
            3..=5 => 7,
            _ => 8,
        },
    }
}

/// Returns the bytes of a `TIMESTAMP`.
pub(crate) fn timestamp_bytes(format: TemporalFormat, fsp: u8) -> usize {
    match format {
        TemporalFormat::Old => 4,
        TemporalFormat::New | TemporalFormat::OldHires => 4 + fraction_bytes(fsp),
    }
}

/// Reads a `DATE`.
#[inline]
pub(super) fn date(stored: &[u8]) -> Result<Date> {
    let packed = integer::unsigned(stored, 3)? as u32 ^ 0x80_0000;
    Ok(Date {
        year: (packed >> 9) as u16,
        month: (packed >> 5 & 15) as u8,
        day: (packed & 31) as u8,
    })
}

/// Reads a `TIME`.
#[inline]
pub(super) fn time(stored: &[u8], format: TemporalFormat, fsp: u8) -> Result<Time> {
    let bits = integer::unsigned(stored, time_bytes(format, fsp))?;
    Ok(match format {
        TemporalFormat::New => new_time(bits, fsp),
        TemporalFormat::Old => {
            let hhmmss = (bits ^ 0x80_0000) as u32;
            let signed = (hhmmss << 8) as i32 >> 8;
            let parts = signed.unsigned_abs();
            Time {
                negative: signed < 0,
                hours: (parts / 10_000) as u16,
                minutes: (parts / 100 % 100) as u8,
                seconds: (parts % 100) as u8,
                micros: 0,
                fsp: 0,
            }
        }
        TemporalFormat::OldHires => hires_time(bits, fsp),
    })
}

/// Decodes a `TIME2`. The number is biased by half its range, including the fraction, so negative
/// times are a two's complement of the whole.
fn new_time(bits: u64, fsp: u8) -> Time {
    let fraction_bits = 8 * fraction_bytes(fsp) as u32;
    let signed = bits as i64 - (0x80_0000_i64 << fraction_bits);
    let parts = signed.unsigned_abs();
    let fraction = parts & ((1 << fraction_bits) - 1);
    let hms = parts >> fraction_bits;
    Time {
        negative: signed < 0,
        hours: (hms >> 12 & 0x3ff) as u16,
        minutes: (hms >> 6 & 0x3f) as u8,
        seconds: (hms & 0x3f) as u8,
        micros: fraction as u32 * micros_per_unit(2 * fraction_bytes(fsp) as u8) % 1_000_000,
        fsp,
    }
}

/// Decodes `Field_time_hires`: units of the last digit since -839 hours.
fn hires_time(bits: u64, fsp: u8) -> Time {
    const ZERO_SECONDS: i64 = 838 * 3600 + 59 * 60 + 59 + 1;
    let units_per_second = 10_i64.pow(u32::from(fsp.min(6)));
    let signed = bits as i64 - ZERO_SECONDS * units_per_second;
    let units = signed.unsigned_abs();
    let seconds = units / units_per_second as u64;
    Time {
        negative: signed < 0,
        hours: (seconds / 3600) as u16,
        minutes: (seconds / 60 % 60) as u8,
        seconds: (seconds % 60) as u8,
        micros: (units % units_per_second as u64) as u32 * micros_per_unit(fsp),
        fsp,
    }
}

/// Reads a `DATETIME`.
#[inline]
pub(super) fn datetime(stored: &[u8], format: TemporalFormat, fsp: u8) -> Result<DateTime> {
    let bits = integer::unsigned(stored, datetime_bytes(format, fsp))?;
    Ok(match format {
        TemporalFormat::New => new_datetime(bits, fsp),
        TemporalFormat::Old => old_datetime(bits),
        TemporalFormat::OldHires => hires_datetime(bits, fsp),
    })
}

/// Decodes a `DATETIME2`.
#[inline(always)]
fn new_datetime(bits: u64, fsp: u8) -> DateTime {
    let fraction_bits = 8 * fraction_bytes(fsp) as u32;
    let parts = (bits >> fraction_bits) & 0x7f_ffff_ffff;
    let fraction = (bits & ((1 << fraction_bits) - 1)) as u32;
    let unit = micros_per_unit(2 * fraction_bytes(fsp) as u8);
    packed_datetime(parts, fraction.wrapping_mul(unit), fsp)
}

/// Decodes `((year*13+month)*32+day)*2^17 + ...`, whole seconds in the bits of their parts.
#[inline(always)]
pub(super) fn packed_datetime(parts: u64, micros: u32, fsp: u8) -> DateTime {
    let year_month = parts >> 22;
    DateTime {
        date: Date {
            year: (year_month / 13) as u16,
            month: (year_month % 13) as u8,
            day: (parts >> 17 & 31) as u8,
        },
        hours: (parts >> 12 & 31) as u8,
        minutes: (parts >> 6 & 63) as u8,
        seconds: (parts & 63) as u8,
        micros: micros % 1_000_000,
        fsp,
    }
}

/// Decodes a `DATETIME` of before MySQL 5.6: the decimal number `YYYYMMDDhhmmss`.
fn old_datetime(bits: u64) -> DateTime {
    let parts = bits ^ 1 << 63;
    let (date, time) = (parts / 1_000_000 % 100_000_000, parts % 1_000_000);
    DateTime {
        date: Date {
            year: (date / 10_000) as u16,
            month: (date / 100 % 100) as u8,
            day: (date % 100) as u8,
        },
        hours: (time / 10_000) as u8,
        minutes: (time / 100 % 100) as u8,
        seconds: (time % 100) as u8,
        micros: 0,
        fsp: 0,
    }
}

/// Decodes `Field_datetime_hires`: mixed radix (`unpack_time`, sql_time.cc).
fn hires_datetime(bits: u64, fsp: u8) -> DateTime {
    let mut rest = bits;
    let mut next = |radix: u64| {
        let digit = rest % radix;
        rest /= radix;
        digit as u32
    };
    let micros = next(10_u64.pow(u32::from(fsp.min(6)))) * micros_per_unit(fsp);
    let [seconds, minutes, hours, day, month] = [60, 60, 24, 32, 13].map(|radix| next(radix) as u8);
    let year = next(10_000) as u16;
    DateTime { date: Date { year, month, day }, hours, minutes, seconds, micros, fsp }
}

/// Reads a `DATETIME` as microseconds since 1970; see [`DateTime::micros_since_1970`].
#[inline]
pub(super) fn datetime_micros(
    stored: &[u8],
    format: TemporalFormat,
    fsp: u8,
) -> Result<Option<i64>> {
    let bits = integer::unsigned(stored, datetime_bytes(format, fsp))?;
    Ok(match format {
        TemporalFormat::New => new_datetime(bits, fsp).micros_since_1970(),
        TemporalFormat::Old => old_datetime(bits).micros_since_1970(),
        TemporalFormat::OldHires => hires_datetime(bits, fsp).micros_since_1970(),
    })
}

/// Reads a `TIMESTAMP`.
#[inline]
pub(super) fn timestamp(stored: &[u8], format: TemporalFormat, fsp: u8) -> Result<Timestamp> {
    let len = timestamp_bytes(format, fsp);
    let bits = integer::unsigned(stored, len)?;
    let fraction_bits = 8 * (len - 4) as u32;
    let seconds = (bits >> fraction_bits) as u32;
    let fraction = (bits & ((1 << fraction_bits) - 1)) as u32;
    let unit = match format {
        // One digit takes a byte that counts tenths, not hundredths, and so on.
        TemporalFormat::OldHires => micros_per_unit(fsp),
        _ => micros_per_unit(2 * fraction_bytes(fsp) as u8),
    };
    let micros = fraction.wrapping_mul(unit) % 1_000_000;
    Ok(Timestamp { seconds, micros, fsp })
}

/// Reads a `YEAR`: 0 or 1901..=2155.
#[inline]
pub(super) fn year(stored: &[u8]) -> Result<u16> {
    let years = integer::unsigned(stored, 1)? as u16;
    Ok(if years == 0 { 0 } else { 1900 + years })
}

/// Appends the text of a `YEAR` of two or four digits.
pub(super) fn write_year(stored: &[u8], digits: u8, out: &mut Vec<u8>) -> Result<()> {
    let year = year(stored)?;
    match digits {
        2 => out.extend_from_slice(&digits::two((year % 100) as u8)),
        _ => out.extend_from_slice(&digits::four(year)),
    }
    Ok(())
}

/// Appends the text of a `TIME`.
pub(super) fn write_time(
    stored: &[u8],
    format: TemporalFormat,
    fsp: u8,
    out: &mut Vec<u8>,
) -> Result<()> {
    time(stored, format, fsp)?.write_text(out);
    Ok(())
}

/// Appends the text of a `DATETIME`.
pub(super) fn write_datetime(
    stored: &[u8],
    format: TemporalFormat,
    fsp: u8,
    out: &mut Vec<u8>,
) -> Result<()> {
    let bits = integer::unsigned(stored, datetime_bytes(format, fsp))?;
    // Each format writes for itself: values of one variable would be put together in memory.
    match format {
        TemporalFormat::New => new_datetime(bits, fsp).write_text(out),
        TemporalFormat::Old => old_datetime(bits).write_text(out),
        TemporalFormat::OldHires => hires_datetime(bits, fsp).write_text(out),
    }
    Ok(())
}

/// Appends the text of a `TIMESTAMP`, in UTC.
pub(super) fn write_timestamp(
    stored: &[u8],
    format: TemporalFormat,
    fsp: u8,
    out: &mut Vec<u8>,
) -> Result<()> {
    timestamp(stored, format, fsp)?.write_text(out);
    Ok(())
}

impl Date {
    /// Returns the days since 1970-01-01 in the Gregorian calendar; `None` where no calendar has the date:
    /// a part is zero, or the month has fewer days.
    #[inline]
    pub fn days(self) -> Option<i32> {
        let Date { year, month, day } = self;
        let is_leap = || year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let is_of_calendar = match (month, day) {
            (1..=12, 1..=28) => true,
            (2, 29) => is_leap(),
            (1 | 3..=12, 29..=30) | (1 | 3 | 5 | 7 | 8 | 10 | 12, 31) => true,
            _ => false,
        };
        is_of_calendar.then(|| civil_days(self))
    }

    /// Returns the date as `YYYYMMDD`.
    #[inline(always)]
    fn digits(self) -> [u8; 8] {
        let [century, year] = [self.year / 100 % 100, self.year % 100].map(|part| part as u8);
        digits::pairs([century, year, self.month, self.day])
    }

    /// Appends the date as `YYYY-MM-DD`.
    #[inline]
    pub fn write_text(self, out: &mut Vec<u8>) {
        let [a, b, c, d, e, f, g, h] = self.digits();
        out.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
    }
}

impl Time {
    /// Returns the time in microseconds.
    pub fn total_micros(self) -> i64 {
        let minutes = i64::from(self.hours) * 60 + i64::from(self.minutes);
        let micros = (minutes * 60 + i64::from(self.seconds)) * 1_000_000 + i64::from(self.micros);
        if self.negative { -micros } else { micros }
    }

    /// Appends the time as `[-]hh:mm:ss[.ffffff]`, with three digits of hours where needed.
    #[inline]
    pub fn write_text(self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        if self.hours >= 100 {
            digits::write_padded(u32::from(self.hours), if self.hours > 999 { 4 } else { 3 }, out);
        } else {
            out.extend_from_slice(&digits::two(self.hours as u8));
        }
        let [c, d] = digits::two(self.minutes);
        let [e, f] = digits::two(self.seconds);
        out.extend_from_slice(&[b':', c, d, b':', e, f]);
        digits::write_fraction(self.micros, self.fsp, out);
    }
}

impl DateTime {
    /// Returns the microseconds from 1970-01-01 00:00:00 to this time in the same time zone; `None` where
    /// no calendar has the date, or no day the time.
    #[inline]
    pub fn micros_since_1970(self) -> Option<i64> {
        let DateTime { date, hours, minutes, seconds, micros, .. } = self;
        if hours > 23 || minutes > 59 || seconds > 59 {
            return None;
        }
        let of_day = (i64::from(hours) * 60 + i64::from(minutes)) * 60 + i64::from(seconds);
        Some((i64::from(date.days()?) * 86_400 + of_day) * 1_000_000 + i64::from(micros))
    }

    /// Appends date and time as `YYYY-MM-DD hh:mm:ss[.ffffff]`.
    #[inline(always)]
    pub fn write_text(self, out: &mut Vec<u8>) {
        let [a, b, c, d, e, f, g, h] = self.date.digits();
        let [i, j, k, l, m, n, ..] = digits::pairs([self.hours, self.minutes, self.seconds, 0]);
        out.extend_from_slice(&[
            a, b, c, d, b'-', e, f, b'-', g, h, b' ', i, j, b':', k, l, b':', m, n,
        ]);
        digits::write_fraction(self.micros, self.fsp, out);
    }
}

impl Timestamp {
    /// Returns the microseconds since 1970-01-01 00:00:00 UTC; `None` for the zero date.
    pub fn micros_since_1970(self) -> Option<i64> {
        let micros = i64::from(self.seconds) * 1_000_000 + i64::from(self.micros);
        (micros != 0).then_some(micros)
    }

    /// Converts to date and time in UTC; the zero timestamp is the zero date.
    pub fn to_datetime(self) -> DateTime {
        let Timestamp { seconds, micros, fsp } = self;
        if seconds == 0 && micros == 0 {
            return DateTime { fsp, ..DateTime::default() };
        }
        let time = seconds % 86_400;
        DateTime {
            date: civil_date(seconds / 86_400),
            hours: (time / 3600) as u8,
            minutes: (time / 60 % 60) as u8,
            seconds: (time % 60) as u8,
            micros,
            fsp,
        }
    }

    /// Appends `YYYY-MM-DD hh:mm:ss[.ffffff]` in UTC.
    #[inline]
    pub fn write_text(self, out: &mut Vec<u8>) {
        self.to_datetime().write_text(out);
    }
}

/// Returns the day of a Gregorian date, counted from 1970-01-01 (the `days_from_civil` method).
fn civil_days(date: Date) -> i32 {
    let Date { year, month, day } = date;
    // Years are counted from March of 400 years before, so that none is negative.
    let is_next_year = month > 2;
    let years = u32::from(year) + 399 + u32::from(is_next_year);
    let shifted_month = u32::from(month) + 9 - if is_next_year { 12 } else { 0 };
    let day_of_year = (153 * shifted_month + 2) / 5 + u32::from(day) - 1;
    let days = years * 365 + years / 4 - years / 100 + years / 400 + day_of_year;
    days as i32 - (DAYS_TO_1970 + DAYS_PER_ERA) as i32
}

/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: u32 = 719_468;
/// Days of 400 years.
const DAYS_PER_ERA: u32 = 146_097;

/// Returns the Gregorian date of a day counted from 1970-01-01. Years are counted from March, so
/// that leap days end them (the `civil_from_days` method).
fn civil_date(days: u32) -> Date {
    let days = days + DAYS_TO_1970;
    let era = days / DAYS_PER_ERA;
    let day_of_era = days % DAYS_PER_ERA;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    Date {
        year: (era * 400 + year_of_era + u32::from(month <= 2)) as u16,
        month: month as u8,
        day: (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for days in 0..60_000 {
            assert_eq!(civil_date(days).days(), Some(days as i32));
        }
        let day = |year, month, day| Date { year, month, day }.days();
        assert_eq!(day(1969, 12, 31), Some(-1));
        assert_eq!(day(0, 1, 1), Some(-719_528));
        assert_eq!(day(9999, 12, 31), Some(2_932_896));
    }

    #[test]
    fn dates_that_no_calendar_has() {
        let day = |year, month, day| Date { year, month, day }.days();
        for date in [(0, 0, 0), (2024, 0, 10), (2024, 13, 1), (2024, 4, 31), (2024, 2, 30)] {
            assert_eq!(day(date.0, date.1, date.2), None, "{date:?}");
        }
        assert_eq!((day(2023, 2, 29), day(1900, 2, 29)), (None, None));
        assert!(day(2024, 2, 29).is_some() && day(2000, 2, 29).is_some());
        let late = DateTime { hours: 24, date: civil_date(0), ..DateTime::default() };
        assert_eq!(late.micros_since_1970(), None);
    }
}
