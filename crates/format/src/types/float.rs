//! `FLOAT` and `DOUBLE`: IEEE 754, little-endian, printed like the servers' own `dtoa`.
//!
//! A `DOUBLE` prints the shortest digits that read back as itself, a `FLOAT` at most six digits,
//! either as `123.4` or as `1.234e15` (`my_gcvt`, strings/dtoa.cc). With `(M, D)` there are always
//! D digits after the point (`my_fcvt`): the number's shortest digits, rounded half to even when
//! there are more than D, or followed by zeros.
//!
//! Observed on real servers:
//! - MySQL 8 (8.0.33 and 9.7, not 8.0.12) limits a `FLOAT` to 12 and a `DOUBLE` to 24 characters
//!   before it uses the exponent form; all others have room for every number.
//! - MariaDB (10.11.19 and 11.8.9, not 11.8.6) prints a negative zero as `0` (protocol.cc, MariaDB
//!   10.11.18); all others as `-0`.

use super::{RealFormat, wrong_length};
use crate::server::{Family, ServerVersion};
use crate::{Result, bytes};

/// The number of digits before the point, or of zeros after it, beyond which an exponent is used
/// (`MAX_DECPT_FOR_F_FORMAT`).
const MAX_FIXED: i32 = 15;

/// A field width with room for every number.
pub(super) const UNLIMITED_WIDTH: i32 = 400;

/// Digits of a `FLOAT` (`FLT_DIG`).
const FLOAT_DIGITS: i32 = 6;

/// The print format of a column's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Real {
    /// The D of `(M, D)`.
    decimals: Option<u8>,
    /// Characters to which `ZEROFILL` pads; 0 without it.
    zerofill_width: usize,
    dialect: Dialect,
}

/// The differences between servers.
#[derive(Clone, Copy, Debug)]
struct Dialect {
    float_width: i32,
    double_width: i32,
    signed_zero: bool,
}

impl Dialect {
    fn for_server(server: ServerVersion) -> Dialect {
        let narrow = server.family == Family::MySql && server.number >= 80_017;
        let plain_zero = server.family == Family::MariaDb
            && match server.number / 100 {
                1006 => server.number >= 100_627,
                1011 => server.number >= 101_118,
                1104 => server.number >= 110_412,
                1108 => server.number >= 110_808,
                _ => server.number >= 120_302,
            };
        Dialect {
            float_width: if narrow { 12 } else { UNLIMITED_WIDTH },
            double_width: if narrow { 24 } else { UNLIMITED_WIDTH },
            signed_zero: !plain_zero,
        }
    }
}

impl Real {
    pub(super) fn float(format: RealFormat, server: ServerVersion) -> Real {
        Real::new(format, 12, server)
    }

    pub(super) fn double(format: RealFormat, server: ServerVersion) -> Real {
        Real::new(format, 22, server)
    }

    fn new(format: RealFormat, default_width: u8, server: ServerVersion) -> Real {
        let width = format.digits.map_or(default_width, |(width, _)| width);
        Real {
            // 31 means "not fixed" in some definitions.
            decimals: format.digits.map(|(_, decimals)| decimals).filter(|&decimals| decimals < 31),
            zerofill_width: if format.zerofill { usize::from(width) } else { 0 },
            dialect: Dialect::for_server(server),
        }
    }

    #[inline]
    pub(super) fn write_float(self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let number = f64::from(float(stored)?);
        self.write(number, Some(FLOAT_DIGITS), self.dialect.float_width, out);
        Ok(())
    }

    #[inline]
    pub(super) fn write_double(self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let number = double(stored)?;
        self.write(number, None, self.dialect.double_width, out);
        Ok(())
    }

    fn write(self, number: f64, max_digits: Option<i32>, width: i32, out: &mut Vec<u8>) {
        let start = out.len();
        if !number.is_finite() {
            out.push(b'0');
        } else if let Some(decimals) = self.decimals {
            write_fixed(number, decimals, self.dialect.signed_zero, out);
        } else if number == 0.0 && !self.dialect.signed_zero {
            out.push(b'0');
        } else {
            write_shortest(number, max_digits, width, out);
        }
        let missing = (start + self.zerofill_width).saturating_sub(out.len());
        if missing > 0 {
            out.splice(start..start, std::iter::repeat_n(b'0', missing));
        }
    }
}

/// Reads a `FLOAT`.
pub(super) fn float(stored: &[u8]) -> Result<f32> {
    if stored.len() != 4 {
        return Err(wrong_length("a FLOAT", 4, stored.len()));
    }
    bytes::array(stored, 0).map(f32::from_le_bytes)
}

/// Reads a `DOUBLE`.
pub(super) fn double(stored: &[u8]) -> Result<f64> {
    if stored.len() != 8 {
        return Err(wrong_length("a DOUBLE", 8, stored.len()));
    }
    bytes::array(stored, 0).map(f64::from_le_bytes)
}

/// Appends a finite double as `my_gcvt` prints it with a field of `width` characters.
pub(super) fn write_shortest(number: f64, max_digits: Option<i32>, width: i32, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let magnitude = number.abs();
    if number.is_sign_negative() {
        out.push(b'-');
    }
    // The sign takes one character of the field.
    let width = width - i32::from(number < 0.0);
    if let Some(digits) = max_digits.and_then(|max| Digits::from_float(magnitude, max)) {
        digits.write_gcvt(width, out);
        return;
    }
    let shortest = buffer.format_finite(magnitude);
    // The common case: the shortest digits are already in the server's format.
    if max_digits.is_none() && (1e-5..1e15).contains(&magnitude) && !shortest.contains('e') {
        out.extend_from_slice(shortest.strip_suffix(".0").unwrap_or(shortest).as_bytes());
        return;
    }
    let mut digits = Digits::parse(shortest);
    if let Some(max) = max_digits {
        digits = digits.round(magnitude, max);
    }
    digits.write_gcvt(width, out);
}

/// Appends a number with exactly `decimals` digits after the point (`my_fcvt`).
fn write_fixed(number: f64, decimals: u8, signed_zero: bool, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let magnitude = number.abs();
    let mut digits = Digits::parse(buffer.format_finite(magnitude));
    let decimals = i32::from(decimals);
    if magnitude != 0.0 {
        digits = digits.round(magnitude, digits.point + decimals);
        if digits.len == 0 {
            digits.point = -decimals;
        }
    }
    if number.is_sign_negative() && (signed_zero || magnitude != 0.0) {
        out.push(b'-');
    }
    digits.write_plain(out);
    let shown = (digits.len as i32 - digits.point).max(0);
    if decimals > 0 && digits.len as i32 <= digits.point {
        out.push(b'.');
    }
    out.extend(std::iter::repeat_n(b'0', (decimals - shown).max(0) as usize));
}

/// Significant digits, without trailing zeros: the number is `0.d1d2d3... * 10^point`.
#[derive(Clone, Copy)]
struct Digits {
    digits: [u8; 24],
    len: usize,
    point: i32,
}

impl Digits {
    /// Parses plain or exponent form, with or without a point; not negative.
    fn parse(text: &str) -> Digits {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let whole_len = mantissa.find('.').unwrap_or(mantissa.len());
        let mut parsed =
            Digits { digits: [0; 24], len: 0, point: exponent.parse().unwrap_or_default() };
        parsed.point += whole_len as i32;
        for digit in mantissa.bytes().filter(u8::is_ascii_digit) {
            if parsed.len == 0 && digit == b'0' {
                parsed.point -= 1;
            } else {
                parsed.push(digit);
            }
        }
        parsed.trim();
        if parsed.len == 0 {
            // The number is 0.
            parsed.push(b'0');
            parsed.point = 1;
        }
        parsed
    }

    /// Returns the six digits of a number of common magnitude, by arithmetic in doubles. It is
    /// exact enough except near the middle between two results, where it returns `None`.
    fn from_float(number: f64, max_digits: i32) -> Option<Digits> {
        const POWERS: [f64; 23] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
        ];
        if max_digits != FLOAT_DIGITS || !(1e-15..1e25).contains(&number) {
            return None;
        }
        // Digits before the point, estimated from the binary exponent; at most one too few.
        let exponent = (number.to_bits() >> 52) as i32 - 1023;
        let mut point = (exponent * 1233) >> 12;
        let mut scaled = scale(number, FLOAT_DIGITS - point, &POWERS)?;
        if scaled >= 1e6 {
            point += 1;
            scaled = scale(number, FLOAT_DIGITS - point, &POWERS)?;
        }
        let whole = scaled.floor();
        let fraction = scaled - whole;
        // Two operations lost at most 1e-9 of a unit.
        if (fraction - 0.5).abs() < 1e-6 || !(1e5..1e6).contains(&whole) {
            return None;
        }
        let mut rounded = whole as u32 + u32::from(fraction > 0.5);
        if rounded == 1_000_000 {
            (rounded, point) = (100_000, point + 1);
        }
        let [a, b] = super::digits::two((rounded / 10_000) as u8);
        let [c, d, e, f] = super::digits::four((rounded % 10_000) as u16);
        let mut parsed = Digits { digits: [0; 24], len: 6, point };
        if let Some(first) = parsed.digits.first_chunk_mut() {
            *first = [a, b, c, d, e, f];
        }
        parsed.trim();
        Some(parsed)
    }

    fn push(&mut self, digit: u8) {
        if let Some(place) = self.digits.get_mut(self.len) {
            *place = digit;
            self.len += 1;
        }
    }

    fn trim(&mut self) {
        while self.as_slice().last() == Some(&b'0') {
            self.len -= 1;
        }
    }

    fn as_slice(&self) -> &[u8] {
        self.digits.get(..self.len).unwrap_or_default()
    }

    /// Rounds the shortest digits of `number` to `count` digits, half to even. `count` may be 0,
    /// where the first digit decides, or negative, which leaves none.
    fn round(mut self, number: f64, count: i32) -> Digits {
        if count < 0 {
            return Digits { len: 0, ..self };
        }
        let kept = count as usize;
        let Some((_, rest)) = self.as_slice().split_at_checked(kept) else { return self };
        let up = match rest {
            [] => return self,
            // The shortest digits end in the middle, the number itself need not.
            [b'5'] => self.exact_tail(number, kept),
            [first, ..] => *first >= b'5',
        };
        self.len = kept;
        if up {
            self.increment()
        } else {
            self.trim()
        }
        self
    }

    /// Returns whether the number rounds up after `kept` digits, by comparing its exact decimal
    /// expansion, of at most 767 digits, with the half.
    #[cold]
    fn exact_tail(&self, number: f64, kept: usize) -> bool {
        let exact = format!("{number:.800e}");
        let mantissa = exact.split_once('e').map_or(exact.as_str(), |(mantissa, _)| mantissa);
        let mut digits = mantissa.bytes().filter(u8::is_ascii_digit);
        // If the exact digits are below the shortest ones, a 4 and nines follow, or more digits
        // differ: compare all.
        let mut exact_at = Vec::with_capacity(kept + 1);
        exact_at.extend(digits.by_ref().take(kept + 1));
        match exact_at.as_slice().cmp(self.as_slice()) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => {
                let odd = kept
                    .checked_sub(1)
                    .and_then(|last| exact_at.get(last))
                    .is_some_and(|digit| digit & 1 == 1);
                digits.any(|digit| digit != b'0') || odd
            }
        }
    }

    /// Adds one to the last digit.
    fn increment(&mut self) {
        while self.as_slice().last() == Some(&b'9') {
            self.len -= 1;
        }
        match self.len.checked_sub(1).and_then(|last| self.digits.get_mut(last)) {
            Some(last) => *last += 1,
            None => {
                self.push(b'1');
                self.point += 1;
            }
        }
    }

    /// Appends the number without an exponent.
    fn write_plain(&self, out: &mut Vec<u8>) {
        let digits = self.as_slice();
        if self.point <= 0 {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', -self.point as usize));
            out.extend_from_slice(digits);
            return;
        }
        let whole = self.point as usize;
        match digits.split_at_checked(whole) {
            Some((before, after)) => {
                out.extend_from_slice(before);
                if !after.is_empty() {
                    out.push(b'.');
                    out.extend_from_slice(after);
                }
            }
            None => {
                out.extend_from_slice(digits);
                out.extend(std::iter::repeat_n(b'0', whole - digits.len()));
            }
        }
    }

    /// Appends the number in plain or exponent form, chosen as in `my_gcvt`.
    fn write_gcvt(&self, width: i32, out: &mut Vec<u8>) {
        let len = self.len as i32;
        let plain_len = if self.point <= 0 {
            len - self.point + 2
        } else if self.point < len {
            len + 1
        } else {
            self.point
        };
        let plain = plain_len <= width
            && self.point > -MAX_FIXED
            && (self.point <= MAX_FIXED || len > self.point);
        if plain {
            self.write_plain(out);
            return;
        }
        let digits = self.as_slice();
        if let Some((first, rest)) = digits.split_first() {
            out.push(*first);
            if !rest.is_empty() {
                out.push(b'.');
                out.extend_from_slice(rest);
            }
        }
        out.push(b'e');
        out.extend_from_slice(itoa::Buffer::new().format(self.point - 1).as_bytes());
    }
}

/// Returns `number * 10^power`, rounded once; `None` when the power is not exact.
fn scale(number: f64, power: i32, powers: &[f64]) -> Option<f64> {
    let factor = powers.get(power.unsigned_abs() as usize)?;
    Some(if power < 0 { number / factor } else { number * factor })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MYSQL_57: ServerVersion = ServerVersion { family: Family::MySql, number: 50_722 };
    const MYSQL_80: ServerVersion = ServerVersion { family: Family::MySql, number: 80_033 };
    const MARIADB_1186: ServerVersion = ServerVersion { family: Family::MariaDb, number: 110_806 };
    const MARIADB_118: ServerVersion = ServerVersion { family: Family::MariaDb, number: 110_809 };

    fn float_text(number: f32, server: ServerVersion) -> String {
        let format = RealFormat { digits: None, unsigned: false, zerofill: false };
        let mut out = Vec::new();
        Real::float(format, server).write_float(&number.to_le_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn double_text(number: f64, digits: Option<(u8, u8)>, server: ServerVersion) -> String {
        let format = RealFormat { digits, unsigned: false, zerofill: false };
        let mut out = Vec::new();
        Real::double(format, server).write_double(&number.to_le_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Rows as real servers printed them.
    #[test]
    fn texts_are_the_servers() {
        let floats = [
            (1.23456e-7, "0.000000123456", "1.23456e-7"),
            (-1.23456e-5, "-0.0000123456", "-1.23456e-5"),
            (123_456_789_012.0, "123457000000", "123457000000"),
            (1e14, "100000000000000", "1e14"),
            (1.5e15, "1.5e15", "1.5e15"),
            (1.23456e-38, "1.23456e-38", "1.23456e-38"),
            (1e-14, "0.00000000000001", "1e-14"),
            (-0.0, "-0", "-0"),
        ];
        for (number, old, new) in floats {
            assert_eq!(float_text(number, MYSQL_57), old);
            assert_eq!(float_text(number, MYSQL_80), new);
        }
        let doubles = [
            (1.23456e-7, "0.000000123456", "0.000000123456"),
            (-0.1234567890123456e-6, "-0.0000001234567890123456", "-1.234567890123456e-7"),
            (123_456_789_012_345.0, "123456789012345", "123456789012345"),
            (1e15, "1e15", "1e15"),
            (123_456_789_012_345_678.0, "1.2345678901234568e17", "1.2345678901234568e17"),
            (1.234567890123456e-14, "0.00000000000001234567890123456", "1.234567890123456e-14"),
            (1e-15, "0.000000000000001", "0.000000000000001"),
        ];
        for (number, old, new) in doubles {
            assert_eq!(double_text(number, None, MYSQL_57), old);
            assert_eq!(double_text(number, None, MYSQL_80), new);
        }
        assert_eq!(double_text(-0.0, None, MARIADB_118), "0");
        assert_eq!(double_text(-0.0, None, MARIADB_1186), "-0");
    }

    #[test]
    fn fixed_decimals_round_the_number_not_its_shortest_digits() {
        assert_eq!(double_text(0.125, Some((10, 2)), MYSQL_57), "0.12");
        assert_eq!(double_text(0.375, Some((10, 2)), MYSQL_57), "0.38");
        assert_eq!(double_text(0.145, Some((10, 2)), MYSQL_57), "0.14");
        assert_eq!(double_text(9.995, Some((10, 2)), MYSQL_57), "9.99");
        assert_eq!(double_text(9.996, Some((10, 2)), MYSQL_57), "10.00");
        assert_eq!(double_text(1e22, Some((30, 3)), MYSQL_57), "10000000000000000000000.000");
        assert_eq!(double_text(0.001, Some((10, 2)), MYSQL_57), "0.00");
        assert_eq!(double_text(0.006, Some((10, 2)), MYSQL_57), "0.01");
        assert_eq!(double_text(0.0, Some((10, 2)), MYSQL_57), "0.00");
        assert_eq!(double_text(12.0, Some((10, 0)), MYSQL_57), "12");
    }
}
