//! Decimal digits of known counts, written without branches where that is faster.

/// Returns `n`, below 100, as two digits.
#[inline]
pub(super) const fn two(n: u8) -> [u8; 2] {
    [b'0' + n / 10 % 10, b'0' + n % 10]
}

/// Returns `n`, below 10,000, as four digits.
#[inline]
pub(super) const fn four(n: u16) -> [u8; 4] {
    let [a, b] = two((n / 100) as u8);
    let [c, d] = two((n % 100) as u8);
    [a, b, c, d]
}

/// Returns four numbers, each below 100, as two digits each.
#[inline]
pub(super) const fn pairs(numbers: [u8; 4]) -> [u8; 8] {
    let [a, b, c, d] = numbers;
    // Each number has sixteen bits, its tens go to the lower eight: the first digit comes first.
    let lanes = a as u64 | (b as u64) << 16 | (c as u64) << 32 | (d as u64) << 48;
    // 103 / 1024 is a tenth, to the digit, of what is below 179.
    let tens = ((lanes * 103) >> 10) & 0x000F_000F_000F_000F;
    let units = lanes - 10 * tens;
    (0x3030_3030_3030_3030 + (tens | units << 8)).to_le_bytes()
}

/// Appends `n`, below 10 to the power of `count`, as exactly `count` digits (at most 9), with leading
/// zeros.
#[inline]
pub(super) fn write_padded(n: u32, count: usize, out: &mut Vec<u8>) {
    // Nine digits are written, of which the last are cut off: a copy of constant size is fastest.
    let unused = 9_usize.saturating_sub(count);
    let shifted = n.wrapping_mul(10_u32.pow(unused as u32));
    let [high, low] = [shifted / 100_000, shifted % 100_000];
    let [low, last] = [low / 10, low % 10];
    let [a, b, c, d, e, f, g, h] = pairs([
        (high / 100 % 100) as u8,
        (high % 100) as u8,
        (low / 100 % 100) as u8,
        (low % 100) as u8,
    ]);
    out.extend_from_slice(&[a, b, c, d, e, f, g, h, b'0' + last as u8]);
    out.truncate(out.len() - unused);
}

/// Appends a number.
#[inline]
pub(super) fn write_number(n: u64, out: &mut Vec<u8>) {
    match u32::try_from(n) {
        Ok(n) if n < 1_000_000_000 => {
            write_padded(n, n.checked_ilog10().unwrap_or(0) as usize + 1, out);
        }
        _ => out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes()),
    }
}

/// Appends the fraction of a second: a point and the first `fsp` of six digits; nothing when `fsp`
/// is 0.
#[inline]
pub(super) fn write_fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    if fsp == 0 {
        return;
    }
    let [a, b, c, d] = four((micros / 100 % 10_000) as u16);
    let [e, f] = two((micros % 100) as u8);
    let text = [b'.', a, b, c, d, e, f];
    if let Some(shown) = text.get(..=usize::from(fsp)) {
        out.extend_from_slice(shown);
    }
}

/// Appends upper-case hexadecimal digits, two per byte, as `HEX()` prints them.
pub(super) fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'A' - 10 + nibble };
    out.extend(bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_the_standard_library_prints_them() {
        let powers = (0..19).map(|digits| 10_u64.pow(digits));
        let near = powers.flat_map(|power| [power - 1, power, power + 1, power * 7 / 3]);
        for n in near.chain(0..20_000) {
            let mut out = b"before ".to_vec();
            write_number(n, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("before {n}"));
        }
    }

    #[test]
    fn padded_numbers_have_their_zeros() {
        for count in 1..=9 {
            let limit = 10_u32.pow(count as u32);
            for n in [0, 1, 7, 10, 99, 12_345, 987_654_321].map(|n| n % limit) {
                let mut out = Vec::new();
                write_padded(n, count, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), format!("{n:0count$}"));
            }
        }
    }

    #[test]
    fn pairs_are_two_digits_each() {
        for n in 0..100 {
            let numbers = [n, 99 - n, n / 2, 42];
            let text = numbers.map(|number| format!("{number:02}")).concat();
            assert_eq!(pairs(numbers), text.as_bytes());
        }
    }
}
