//! Lengths of multi-byte characters.
//!
//! `INTO OUTFILE` escapes bytes, but never inside a multi-byte character: in big5 or sjis the
//! second byte can be a backslash. The rules are those of the servers' `IS_MB?_CHAR` macros and
//! `my_ismbchar_*` functions (strings/ctype-*.c).

use super::Charset::{self, *};

fn within(byte: u8, ranges: &[(u8, u8)]) -> bool {
    ranges.iter().any(|&(low, high)| (low..=high).contains(&byte))
}

fn continuation(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte & 0xc0 == 0x80)
}

fn jis_pair(a: u8, b: u8) -> bool {
    a >= 0xa1 && b >= 0xa1 && a != 0xff && b != 0xff
}

impl Charset {
    /// Returns the length in bytes of the multi-byte character at the beginning of `text`; 0 when
    /// it begins with a single-byte character or with none (`my_ismbchar`).
    #[inline]
    pub fn multibyte_len(self, text: &[u8]) -> usize {
        match self {
            Utf8Mb4 | Utf8Mb3 => match text.first() {
                Some(0..=0x7f) | None => 0,
                _ => utf8_len(self, text),
            },
            Big5 | Cp932 | EucKr | Gb2312 | Gbk | Sjis => match *text {
                [a, b, ..] if self.is_pair(a, b) => 2,
                _ => 0,
            },
            EucJpMs | Ujis => match *text {
                [0x8e, b, ..] if within(b, &[(0xa1, 0xdf)]) => 2,
                [0x8f, b, c, ..] if jis_pair(b, c) => 3,
                [a, b, ..] if jis_pair(a, b) => 2,
                _ => 0,
            },
            Gb18030 => match *text {
                [0x81..=0xfe, 0x40..=0x7e | 0x80..=0xfe, ..] => 2,
                [0x81..=0xfe, b'0'..=b'9', 0x81..=0xfe, b'0'..=b'9', ..] => 4,
                _ => 0,
            },
            Ucs2 => match *text {
                [_, _, ..] => 2,
                _ => 0,
            },
            Utf16 => match *text {
                [0xd8..=0xdb, _, 0xdc..=0xdf, _, ..] => 4,
                [0xd8..=0xdf, ..] => 0,
                [_, _, ..] => 2,
                _ => 0,
            },
            Utf16Le => match *text {
                [_, 0xd8..=0xdb, _, 0xdc..=0xdf, ..] => 4,
                [_, 0xd8..=0xdf, ..] => 0,
                [_, _, ..] => 2,
                _ => 0,
            },
            Utf32 => match *text {
                [0, 0..=0x10, _, _, ..] => 4,
                _ => 0,
            },
            _ => 0,
        }
    }

    fn is_pair(self, a: u8, b: u8) -> bool {
        match self {
            Big5 => within(a, &[(0xa1, 0xf9)]) && within(b, &[(0x40, 0x7e), (0xa1, 0xfe)]),
            Cp932 | Sjis => {
                within(a, &[(0x81, 0x9f), (0xe0, 0xfc)]) && within(b, &[(0x40, 0x7e), (0x80, 0xfc)])
            }
            EucKr => {
                within(a, &[(0x81, 0xfe)]) && within(b, &[(0x41, 0x5a), (0x61, 0x7a), (0x81, 0xfe)])
            }
            Gb2312 => within(a, &[(0xa1, 0xf7)]) && within(b, &[(0xa1, 0xfe)]),
            Gbk => within(a, &[(0x81, 0xfe)]) && within(b, &[(0x40, 0x7e), (0x80, 0xfe)]),
            _ => false,
        }
    }
}

/// Returns the length of a UTF-8 character (`my_valid_mbcharlen_utf8mb4`): no overlong forms, and
/// only the surrogates that servers accept.
fn utf8_len(charset: Charset, text: &[u8]) -> usize {
    match *text {
        [0xc2..=0xdf, b, ..] if continuation(&[b]) => 2,
        [a @ 0xe0..=0xef, b, c, ..] if continuation(&[b, c]) && (a > 0xe0 || b >= 0xa0) => 3,
        [a @ 0xf0..=0xf4, b, c, d, ..]
            if charset == Utf8Mb4
                && continuation(&[b, c, d])
                && (a > 0xf0 || b >= 0x90)
                && (a < 0xf4 || b <= 0x8f) =>
        {
            4
        }
        _ => 0,
    }
}
