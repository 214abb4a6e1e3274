//! Integers of variable length in records of MariaDB 10.5 and later (`mlog_encode_varint`, `mtr0log.h`).
//!
//! ```text
//! 0xxxxxxx    7 bits      10xxxxxx +1 byte    14 bits     110xxxxx +2 bytes    21 bits
//! 1110xxxx +3 bytes    28 bits                            11110000 +4 bytes    32 bits
//! ```
//!
//! Each form begins where the shorter one ends, so that a number has one encoding.

use crate::bytes::{slice, u8_at};

/// The least number of each form with more than one byte.
const LEAST: [u32; 4] = [0x80, 0x4080, 0x0020_4080, 0x1020_4080];

/// Returns a number and the offset behind it; `None` if the bytes end before, or are no encoding.
pub(super) fn varint(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let first = u32::from(u8_at(bytes, at).ok()?);
    let (bits, more) = match first {
        0..0x80 => return Some((first, at + 1)),
        0x80..0xc0 => (first & 0x3f, 1),
        0xc0..0xe0 => (first & 0x1f, 2),
        0xe0..0xf0 => (first & 0x0f, 3),
        0xf0 => (0, 4),
        _ => return None,
    };
    let rest = slice(bytes, at + 1, more).ok()?;
    let value = rest.iter().fold(bits, |value, &byte| value << 8 | u32::from(byte));
    Some((value.checked_add(*LEAST.get(more - 1)?)?, at + 1 + more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_begins_where_the_shorter_one_ends() {
        let number = |bytes: &[u8]| varint(bytes, 0);
        assert_eq!(number(&[0x7f]), Some((0x7f, 1)));
        assert_eq!(number(&[0x80, 0]), Some((0x80, 2)));
        assert_eq!(number(&[0xbf, 0xff]), Some((0x407f, 2)));
        assert_eq!(number(&[0xc0, 0, 0]), Some((0x4080, 3)));
        assert_eq!(number(&[0xdf, 0xff, 0xff]), Some((0x20_407f, 3)));
        assert_eq!(number(&[0xe0, 0, 0, 0]), Some((0x20_4080, 4)));
        assert_eq!(number(&[0xf0, 0, 0, 0, 1]), Some((0x1020_4081, 5)));
        assert_eq!(number(&[0xf0, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(number(&[0xf1, 0, 0, 0, 0]), None);
        assert_eq!(number(&[0x80]), None);
        assert_eq!(number(&[]), None);
    }
}
