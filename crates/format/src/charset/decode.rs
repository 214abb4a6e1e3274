//! Conversion of text in a charset to UTF-8.

use super::Charset::{self, *};
use super::{multi_byte, single_byte};

/// An output of UTF-8 that counts the replacements of bytes without a meaning.
struct Utf8<'o> {
    out: &'o mut Vec<u8>,
    lost: u64,
}

impl Utf8<'_> {
    #[inline]
    fn push(&mut self, character: char) {
        let mut bytes = [0; 4];
        self.out.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
    }

    fn push_lost(&mut self) {
        self.push(char::REPLACEMENT_CHARACTER);
        self.lost += 1;
    }

    fn push_code(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(character) => self.push(character),
            None => self.push_lost(),
        }
    }
}

impl Charset {
    /// Returns whether `text` is the same in UTF-8: it is ASCII, or in the charset of UTF-8 and valid.
    #[inline]
    pub fn is_utf8(self, text: &[u8]) -> bool {
        match self {
            Swe7 | Ucs2 | Utf16 | Utf16Le | Utf32 => false,
            _ if text.is_ascii() => true,
            Utf8Mb4 | Utf8Mb3 => std::str::from_utf8(text).is_ok(),
            _ => false,
        }
    }

    /// Appends `text` as UTF-8. Each character or byte without a meaning becomes U+FFFD; returns
    /// their number.
    pub fn decode(self, text: &[u8], out: &mut Vec<u8>) -> u64 {
        let mut utf8 = Utf8 { out, lost: 0 };
        match self {
            Utf8Mb4 | Utf8Mb3 => decode_utf8(text, &mut utf8),
            Ascii | Binary => decode_ascii_like(text, |_| None, &mut utf8),
            Swe7 => decode_swe7(text, &mut utf8),
            Ucs2 | Utf16 => decode_utf16(text, u16::from_be_bytes, &mut utf8),
            Utf16Le => decode_utf16(text, u16::from_le_bytes, &mut utf8),
            Utf32 => decode_utf32(text, &mut utf8),
            _ => match single_byte::upper_half(self) {
                Some(upper) => decode_ascii_like(
                    text,
                    |byte| upper.get(usize::from(byte & 0x7f)).copied().filter(|&code| code != 0),
                    &mut utf8,
                ),
                None => decode_multi_byte(self, text, &mut utf8),
            },
        }
        utf8.lost
    }
}

fn decode_utf8(text: &[u8], utf8: &mut Utf8<'_>) {
    for chunk in text.utf8_chunks() {
        utf8.out.extend_from_slice(chunk.valid().as_bytes());
        // Each byte counts, as it is unknown which of them were meant to be one character.
        for _ in chunk.invalid() {
            utf8.push_lost();
        }
    }
}

fn decode_ascii_like(text: &[u8], upper: impl Fn(u8) -> Option<u16>, utf8: &mut Utf8<'_>) {
    let mut rest = text;
    while !rest.is_empty() {
        let ascii_len = rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        let (ascii, from_upper) = rest.split_at(ascii_len);
        utf8.out.extend_from_slice(ascii);
        rest = from_upper;
        while let Some((&byte @ 0x80.., after)) = rest.split_first() {
            match upper(byte) {
                Some(code) => utf8.push_code(u32::from(code)),
                None => utf8.push_lost(),
            }
            rest = after;
        }
    }
}

fn decode_swe7(text: &[u8], utf8: &mut Utf8<'_>) {
    for &byte in text {
        match single_byte::SWE7.iter().find(|letter| letter.0 == byte) {
            Some(&(_, letter)) => utf8.push(letter),
            None if byte < 0x7f => utf8.out.push(byte),
            None => utf8.push_lost(),
        }
    }
}

fn decode_utf16(text: &[u8], read: fn([u8; 2]) -> u16, utf8: &mut Utf8<'_>) {
    let units = text.chunks_exact(2).filter_map(|pair| pair.first_chunk::<2>()).copied().map(read);
    for unit in char::decode_utf16(units) {
        match unit {
            Ok(character) => utf8.push(character),
            Err(_) => utf8.push_lost(),
        }
    }
    for _ in text.chunks_exact(2).remainder() {
        utf8.push_lost();
    }
}

fn decode_utf32(text: &[u8], utf8: &mut Utf8<'_>) {
    for quad in text.chunks(4) {
        match quad.first_chunk::<4>() {
            Some(bytes) => utf8.push_code(u32::from_be_bytes(*bytes)),
            None => utf8.push_lost(),
        }
    }
}

/// Decodes one character after another: the charset's rule finds its end, the charset's table its
/// meaning.
fn decode_multi_byte(charset: Charset, text: &[u8], utf8: &mut Utf8<'_>) {
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if first.is_ascii() {
            utf8.out.push(first);
            rest = after;
            continue;
        }
        let len = charset.multibyte_len(rest).max(1);
        let Some((character, after)) = rest.split_at_checked(len) else { return };
        match multi_byte::decode(charset, character) {
            Some(character) => utf8.push(character),
            None => utf8.push_lost(),
        }
        rest = after;
    }
}
