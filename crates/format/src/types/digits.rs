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

/// Appends `n` as exactly `count` digits (at most 9), with leading zeros.
#[inline]
pub(super) fn write_padded(n: u32, count: usize, out: &mut Vec<u8>) {
    let [a, b, c, d] = four((n / 10_000 % 10_000) as u16);
    let [e, f, g, h] = four((n % 10_000) as u16);
    let text = [b'0' + (n / 100_000_000 % 10) as u8, a, b, c, d, e, f, g, h];
    if let Some(last) = text.len().checked_sub(count).and_then(|from| text.get(from..)) {
        out.extend_from_slice(last);
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
