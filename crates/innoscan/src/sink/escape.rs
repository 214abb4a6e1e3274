//! Replacing single bytes by two, fast where there is nothing to replace.
//!
//! Almost no value holds a byte that needs escaping, so the search must cost next to nothing: 16
//! bytes at a time are compared with the few bytes that matter, in a shape that compilers turn
//! into vector instructions.

use innoscan_format::charset::Charset;

/// Bytes looked at in one step.
const CHUNK: usize = 16;

/// Which bytes are replaced, and by which pairs. `N` is the number of different bytes.
#[derive(Clone, Debug)]
pub(super) struct Escapes<const N: usize> {
    needles: [u8; N],
    /// The pair's first byte.
    first: [u8; 256],
    /// The pair's second byte; 0: the byte stands for itself.
    second: [u8; 256],
}

impl<const N: usize> Escapes<N> {
    /// From `(byte, pair)`. Later entries for the same byte are ignored. No pair ends in NUL.
    pub(super) fn new(pairs: [(u8, [u8; 2]); N]) -> Escapes<N> {
        let mut escapes =
            Escapes { needles: pairs.map(|(byte, _)| byte), first: [0; 256], second: [0; 256] };
        for (byte, [first, second]) in pairs.into_iter().rev() {
            escapes.first[byte as usize] = first;
            escapes.second[byte as usize] = second;
        }
        escapes
    }

    /// Takes a byte out again, so that it stands for itself.
    pub(super) fn remove(&mut self, byte: u8) {
        self.second[byte as usize] = 0;
    }

    /// Whether the byte is replaced.
    pub(super) fn is_special(&self, byte: u8) -> bool {
        self.second[byte as usize] != 0
    }

    #[inline]
    fn maybe_special(&self, chunk: &[u8; CHUNK]) -> bool {
        let mut hits = [0u8; CHUNK];
        for needle in self.needles {
            for (hit, byte) in hits.iter_mut().zip(chunk) {
                *hit |= u8::from(*byte == needle);
            }
        }
        u128::from_ne_bytes(hits) != 0
    }

    /// Appends `text`, with what must be replaced replaced.
    #[inline]
    pub(super) fn append(&self, text: &[u8], out: &mut Vec<u8>) {
        let clean = match text.len() {
            0..8 => !text.iter().any(|&byte| self.is_special(byte)),
            8..=16 => !self.maybe_special(&both_ends(text)),
            _ => {
                let (chunks, _) = text.as_chunks::<CHUNK>();
                let last = text.last_chunk::<CHUNK>();
                !chunks.iter().chain(last).any(|chunk| self.maybe_special(chunk))
            }
        };
        if clean {
            out.extend_from_slice(text);
        } else {
            self.append_slowly(text, out);
        }
    }

    fn append_slowly(&self, text: &[u8], out: &mut Vec<u8>) {
        let (chunks, rest) = text.as_chunks::<CHUNK>();
        out.reserve(text.len() + text.len() / 16);
        for chunk in chunks {
            if self.maybe_special(chunk) {
                self.append_bytes(chunk, out);
            } else {
                out.extend_from_slice(chunk);
            }
        }
        self.append_bytes(rest, out);
    }

    fn append_bytes(&self, text: &[u8], out: &mut Vec<u8>) {
        for &byte in text {
            self.append_byte(byte, out);
        }
    }

    #[inline]
    fn append_byte(&self, byte: u8, out: &mut Vec<u8>) {
        match self.second[byte as usize] {
            0 => out.push(byte),
            second => out.extend_from_slice(&[self.first[byte as usize], second]),
        }
    }

    /// Appends `text`, replacing nothing inside multi-byte characters.
    pub(super) fn append_characters(&self, text: &[u8], charset: Charset, out: &mut Vec<u8>) {
        let mut rest = text;
        while let Some(&byte) = rest.first() {
            let (character, after) = rest.split_at(charset.multibyte_len(rest).min(rest.len()));
            if character.is_empty() {
                self.append_byte(byte, out);
                rest = &rest[1..];
            } else {
                out.extend_from_slice(character);
                rest = after;
            }
        }
    }
}

/// The 8 first and the 8 last of 8 to 16 bytes.
#[inline]
fn both_ends(text: &[u8]) -> [u8; CHUNK] {
    let mut ends = [0; CHUNK];
    ends[..8].copy_from_slice(&text[..8]);
    ends[8..].copy_from_slice(&text[text.len() - 8..]);
    ends
}

/// Appends bytes as hexadecimal digits.
pub(super) fn append_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const PAIRS: [[u8; 2]; 256] = {
        let digits = b"0123456789ABCDEF";
        let mut pairs = [[0; 2]; 256];
        let mut byte = 0;
        while byte < 256 {
            pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
            byte += 1;
        }
        pairs
    };
    out.reserve(2 * bytes.len());
    for &byte in bytes {
        out.extend_from_slice(&PAIRS[byte as usize]);
    }
}

/// Appends bytes as base64 with padding (RFC 4648, section 4).
pub(super) fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let quad = |three: [u8; 3]| {
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        [18, 12, 6, 0].map(|shift| DIGITS[(bits >> shift) as usize & 63])
    };
    out.reserve(bytes.len().div_ceil(3) * 4);
    let (threes, rest) = bytes.as_chunks::<3>();
    for &three in threes {
        out.extend_from_slice(&quad(three));
    }
    match *rest {
        [a] => out.extend_from_slice(&[quad([a, 0, 0])[0], quad([a, 0, 0])[1], b'=', b'=']),
        [a, b] => {
            let [first, second, third, _] = quad([a, b, 0]);
            out.extend_from_slice(&[first, second, third, b'=']);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newline_and_backslash() -> Escapes<2> {
        Escapes::new([(b'\n', *b"\\n"), (b'\\', *b"\\\\")])
    }

    fn one_by_one(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        newline_and_backslash().append_bytes(text, &mut out);
        out
    }

    #[test]
    fn every_length_and_place_escapes_the_same() {
        for len in 0..70 {
            for special in 0..=len {
                let mut text: Vec<u8> = (0..len).map(|i| b'a' + (i % 26) as u8).collect();
                if let Some(byte) = text.get_mut(special) {
                    *byte = b'\n';
                }
                let mut out = b"before".to_vec();
                newline_and_backslash().append(&text, &mut out);
                assert_eq!(&out[6..], one_by_one(&text));
            }
        }
    }

    #[test]
    fn a_second_byte_is_not_a_backslash() {
        let mut out = Vec::new();
        let text = b"\x95\x5c\\\x95";
        newline_and_backslash().append_characters(text, Charset::Sjis, &mut out);
        assert_eq!(out, b"\x95\x5c\\\\\x95");
    }

    #[test]
    fn base64_and_hex_are_the_standard_ones() {
        for (bytes, base64, hex) in [
            (&b""[..], "", ""),
            (b"f", "Zg==", "66"),
            (b"fo", "Zm8=", "666F"),
            (b"foo", "Zm9v", "666F6F"),
            (b"\xff\xfe\xfd\xfc", "//79/A==", "FFFEFDFC"),
        ] {
            let (mut out, mut digits) = (Vec::new(), Vec::new());
            append_base64(bytes, &mut out);
            append_hex(bytes, &mut digits);
            assert_eq!((out, digits), (base64.into(), hex.into()));
        }
    }
}
