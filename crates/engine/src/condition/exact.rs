//! Exact decimal numbers with any number of digits.

use std::cmp::Ordering;

/// A number in decimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    is_negative: bool,
    /// Digits before the decimal point, without leading zeros.
    whole: String,
    /// Digits after the decimal point, without trailing zeros.
    fraction: String,
}

impl Exact {
    /// Parses digits with a sign and a point, as the server prints them; `None` for anything else.
    pub fn parse(text: &str) -> Option<Exact> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let whole = whole.trim_start_matches('0').to_owned();
        let fraction = fraction.trim_end_matches('0').to_owned();
        let is_zero = whole.is_empty() && fraction.is_empty();
        Some(Exact { is_negative: is_negative && !is_zero, whole, fraction })
    }

    /// Compares a printed decimal with a number.
    pub fn compare_printed(printed: &[u8], with: &Exact) -> Ordering {
        let (is_negative, digits) = match printed.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, printed),
        };
        let point = digits.iter().position(|&byte| byte == b'.').unwrap_or(digits.len());
        let (whole, fraction) = digits.split_at(point);
        let fraction = fraction.get(1..).unwrap_or_default();
        let zeros = whole.iter().take_while(|&&digit| digit == b'0').count();
        let whole = &whole[zeros..];
        let end = fraction.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        let fraction = &fraction[..end];
        let is_negative = is_negative && !(whole.is_empty() && fraction.is_empty());
        order((is_negative, whole, fraction), with.parts())
    }

    /// Compares two numbers.
    pub fn cmp(&self, other: &Exact) -> Ordering {
        order(self.parts(), other.parts())
    }

    fn parts(&self) -> Parts<'_> {
        (self.is_negative, self.whole.as_bytes(), self.fraction.as_bytes())
    }

    /// The significant digits before and after the decimal point.
    pub fn digits(&self) -> (usize, usize) {
        (self.whole.len(), self.fraction.len())
    }

    /// The greatest integer that is not greater than the number, or the nearest that fits, and
    /// whether the number is above it.
    pub fn floor(&self) -> (i128, bool) {
        let has_fraction = !self.fraction.is_empty();
        let whole = match self.whole.as_str() {
            "" => 0,
            digits => digits.parse().unwrap_or(i128::MAX / 2),
        };
        match (self.is_negative, has_fraction) {
            (false, _) => (whole, has_fraction),
            (true, false) => (-whole, false),
            (true, true) => (-whole - 1, true),
        }
    }
}

/// The sign (`true`: negative), the digits before the point, the digits after it.
type Parts<'n> = (bool, &'n [u8], &'n [u8]);

fn order((is_negative, whole, fraction): Parts<'_>, other: Parts<'_>) -> Ordering {
    let (is_other_negative, other_whole, other_fraction) = other;
    if is_negative != is_other_negative {
        return is_other_negative.cmp(&is_negative);
    }
    let size = whole.len().cmp(&other_whole.len());
    let size = size.then_with(|| whole.cmp(other_whole)).then_with(|| fraction.cmp(other_fraction));
    if is_negative { size.reverse() } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_decimals_compare_as_numbers() {
        let numbers = ["-10.5", "-10", "-9.999", "-0.001", "0.00", "0.01", "0.1", "9", "10.0001"];
        for (at, a) in numbers.iter().enumerate() {
            for (with, b) in numbers.iter().enumerate() {
                let b = Exact::parse(b).unwrap();
                assert_eq!(Exact::compare_printed(a.as_bytes(), &b), at.cmp(&with), "{a} {b:?}");
            }
        }
        for (text, floor) in [("5.5", (5, true)), ("-5.5", (-6, true)), ("-5", (-5, false))] {
            assert_eq!(Exact::parse(text).unwrap().floor(), floor);
        }
        assert_eq!(Exact::parse("1e3"), None);
    }
}
