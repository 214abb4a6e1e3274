//! `DECIMAL(precision, scale)` in the server's binary form (`decimal2bin`, strings/decimal.c).
//!
//! Digits are stored in groups of nine, each a big-endian number of four bytes, counted from the
//! point outwards; the rest at either end takes as few bytes as it needs. The first bit is flipped,
//! and all bits of a negative number are inverted, so that bytes compare like numbers.
//!
//! ```text
//! DECIMAL(14,4)  1234567890.1234  =  81 0d fb 38 d2 04 d2
//!                                     1|234567890|.1234
//! ```

use super::{digits, integer, wrong_length};
use crate::value::{Decimal, Value};
use crate::{Error, Result, bytes};

/// Digits of a full group.
const GROUP: u8 = 9;

/// Ten to the power of the digits of a group.
#[inline(always)]
fn power(digits: u8) -> u32 {
    const POWERS: [u32; 10] =
        [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    POWERS.get(usize::from(digits)).copied().unwrap_or(u32::MAX)
}

/// Returns the bytes that hold 0..=9 digits (`dig2bytes`).
fn bytes_for(digits: u8) -> usize {
    match digits {
        0 => 0,
        1 | 2 => 1,
        3 | 4 => 2,
        5 | 6 => 3,
        _ => 4,
    }
}

/// Returns the bytes of a `DECIMAL(precision, scale)` (`decimal_bin_size`).
pub(crate) fn size_bytes(precision: u8, scale: u8) -> usize {
    let whole = precision.saturating_sub(scale);
    let groups = usize::from(whole / GROUP) + usize::from(scale / GROUP);
    groups * 4 + bytes_for(whole % GROUP) + bytes_for(scale % GROUP)
}

/// A reader of a value's digit groups, from the front.
struct Groups<'a> {
    rest: &'a [u8],
    /// Mask that reverts the inversion of a negative number.
    mask: u32,
    /// Whether the next group begins with the sign.
    is_first: bool,
}

impl Groups<'_> {
    /// The groups of a stored decimal, of the length of its type.
    #[inline(always)]
    fn new(stored: &[u8], precision: u8, scale: u8) -> Result<Groups<'_>> {
        let size = size_bytes(precision, scale);
        let Some(&first) = stored.first().filter(|_| stored.len() == size) else {
            return Err(wrong_length("a decimal", size, stored.len()));
        };
        let mask = if first & 0x80 == 0 { u32::MAX } else { 0 };
        Ok(Groups { rest: stored, mask, is_first: true })
    }

    #[inline(always)]
    fn next(&mut self, digits: u8) -> Result<u32> {
        let len = bytes_for(digits);
        if len == 0 {
            return Ok(0);
        }
        let stored = bytes::slice(self.rest, 0, len)?;
        self.rest = self.rest.get(len..).unwrap_or_default();
        let sign = if std::mem::take(&mut self.is_first) { 0x80 << (8 * (len - 1)) } else { 0 };
        let number = (integer::unsigned(stored, len)? as u32 ^ self.mask ^ sign)
            & (u32::MAX >> (32 - 8 * len));
        if number >= power(digits) {
            return Err(too_large(digits, number));
        }
        Ok(number)
    }
}

#[cold]
fn too_large(digits: u8, number: u32) -> Error {
    Error::corrupt(format!("a decimal's {digits} digits hold {number}"))
}

impl Decimal<'_> {
    /// The number without its decimal point: `12.34` as 1234. `None` for a type of more than 38 digits.
    ///
    /// # Errors
    /// The bytes are not a decimal of this type.
    #[inline]
    pub fn unscaled(&self) -> Result<Option<i128>> {
        let Decimal { stored, precision, scale } = *self;
        if precision > 38 {
            return Ok(None);
        }
        let mut groups = Groups::new(stored, precision, scale)?;
        let negative = groups.mask != 0;
        let whole = precision.saturating_sub(scale);
        let full = whole / GROUP + scale / GROUP;
        let rest = scale % GROUP;
        let mut number = i128::from(groups.next(whole % GROUP)?);
        if precision <= 18 {
            let mut short = number as i64;
            for _ in 0..full {
                short = short * 1_000_000_000 + i64::from(groups.next(GROUP)?);
            }
            short = short * i64::from(power(rest)) + i64::from(groups.next(rest)?);
            number = i128::from(short);
        } else {
            for _ in 0..full {
                number = number * 1_000_000_000 + i128::from(groups.next(GROUP)?);
            }
            number = number * i128::from(power(rest)) + i128::from(groups.next(rest)?);
        }
        Ok(Some(if negative { -number } else { number }))
    }

    /// Appends the value's text: a `-` if negative, no superfluous zeros before the point, `scale`
    /// digits after it.
    pub fn write_text(&self, out: &mut Vec<u8>) -> Result<()> {
        write_text(self.stored, self.precision, self.scale, false, out)
    }
}

/// Appends the text of `decimal2string`; `zerofill` keeps leading zeros.
pub(crate) fn write_text(
    stored: &[u8],
    precision: u8,
    scale: u8,
    zerofill: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut groups = Groups::new(stored, precision, scale)?;
    if groups.mask != 0 {
        out.push(b'-');
    }
    let whole_start = out.len();
    let whole = precision.saturating_sub(scale);
    let mut write_whole = |groups: &mut Groups<'_>, digits: u8| {
        let group = groups.next(digits)?;
        if zerofill || out.len() > whole_start {
            digits::write_padded(group, usize::from(digits), out);
        } else if group > 0 {
            digits::write_number(u64::from(group), out);
        }
        Ok(())
    };
    write_whole(&mut groups, whole % GROUP)?;
    for _ in 0..whole / GROUP {
        write_whole(&mut groups, GROUP)?;
    }
    if out.len() == whole_start {
        out.push(b'0');
    }
    if scale > 0 {
        out.push(b'.');
    }
    for _ in 0..scale / GROUP {
        digits::write_padded(groups.next(GROUP)?, usize::from(GROUP), out);
    }
    digits::write_padded(groups.next(scale % GROUP)?, usize::from(scale % GROUP), out);
    Ok(())
}

/// Appends the stored form of a decimal's text; `None` when it has more digits than fit.
pub(super) fn encode(text: &str, precision: u8, scale: u8, out: &mut Vec<u8>) -> Option<()> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.trim_start_matches('0');
    let (whole_len, scale_len) = (usize::from(precision.checked_sub(scale)?), usize::from(scale));
    if whole.len() > whole_len || fraction.len() > scale_len {
        return None;
    }
    let digits = format!("{whole:0>whole_len$}{fraction:0<scale_len$}");
    let start = out.len();
    let mut rest = digits.as_str();
    let whole_groups = std::iter::repeat_n(GROUP, usize::from((precision - scale) / GROUP));
    let groups = std::iter::once((precision - scale) % GROUP)
        .chain(whole_groups)
        .chain(std::iter::repeat_n(GROUP, usize::from(scale / GROUP)))
        .chain(std::iter::once(scale % GROUP));
    for count in groups.filter(|&count| count > 0) {
        let (group, after) = rest.split_at_checked(usize::from(count))?;
        let bytes = group.parse::<u32>().ok()?.to_be_bytes();
        out.extend_from_slice(bytes.get(4 - bytes_for(count)..)?);
        rest = after;
    }
    let stored = out.get_mut(start..)?;
    if negative {
        stored.iter_mut().for_each(|byte| *byte = !*byte);
    }
    *stored.first_mut()? ^= 0x80;
    Some(())
}

/// Returns the value, after checking that its bytes are a decimal.
pub(super) fn value(stored: &[u8], precision: u8, scale: u8) -> Result<Value<'_>> {
    let decimal = Decimal { stored, precision, scale };
    decimal.write_text(&mut Vec::new())?;
    Ok(Value::Decimal(decimal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unscaled_numbers_are_the_digits_of_the_text() {
        let all_nines = "9".repeat(38);
        let texts = [
            ("0", 1, 0),
            ("-1", 1, 0),
            ("1234567890.1234", 14, 4),
            ("-0.000000001", 38, 9),
            ("99999999999999999999.999999999999999999", 38, 18),
            (&*all_nines, 38, 0),
        ];
        for (text, precision, scale) in texts {
            let mut stored = Vec::new();
            encode(text, precision, scale, &mut stored).unwrap();
            let decimal = Decimal { stored: &stored, precision, scale };
            let wanted: i128 = text.replace('.', "").parse().unwrap();
            assert_eq!(decimal.unscaled().unwrap(), Some(wanted), "{text}");
            assert!(Decimal { stored: &stored[1..], ..decimal }.unscaled().is_err());
        }
        assert_eq!(Decimal { stored: &[], precision: 39, scale: 0 }.unscaled().unwrap(), None);
    }
}
