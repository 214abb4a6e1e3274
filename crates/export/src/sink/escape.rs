//! Escaping: single bytes are replaced by two, fast if there is nothing to replace.
//!
//! Few values contain a byte that needs escaping, so the search must cost next to nothing: it tests 8
//! bytes at a time as one number, in a loop that compilers turn into vector instructions.

use innoscan_format::charset::Charset;

/// The size of a word in bytes.
const WORD: usize = 8;
/// The number with 1 in every byte.
const ONES: u64 = u64::MAX / 255;

/// The test whether any byte of a word is in a range, which begins at a multiple of its length.
#[derive(Clone, Copy, Debug)]
struct Test {
    bases: u64,
    lengths: u64,
}

impl Test {
    const fn new(base: u8, length: u8) -> Test {
        Test { bases: base as u64 * ONES, lengths: length as u64 * ONES }
    }

    /// A number whose bytes have a top bit set only if the word has a byte in the range: the well-known
    /// "has a byte less than n" of the word XOR the range's first byte.
    #[inline(always)]
    fn hits(self, word: u64) -> u64 {
        let rest = word ^ self.bases;
        rest.wrapping_sub(self.lengths) & !rest
    }
}

/// The fast test that a text has none of some bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finder<const TESTS: usize>([Test; TESTS]);

impl<const TESTS: usize> Finder<TESTS> {
    /// A finder of single bytes.
    pub(super) const fn new(bytes: [u8; TESTS]) -> Finder<TESTS> {
        let mut tests = [Test::new(0, 1); TESTS];
        let mut index = 0;
        while index < TESTS {
            tests[index] = Test::new(bytes[index], 1);
            index += 1;
        }
        Finder(tests)
    }

    #[inline(always)]
    fn hits(&self, word: [u8; WORD]) -> u64 {
        let word = u64::from_ne_bytes(word);
        self.0.iter().fold(0, |hits, test| hits | test.hits(word))
    }

    /// Whether `text` has none of the bytes.
    #[inline(always)]
    pub(super) fn is_clean(&self, text: &[u8]) -> bool {
        let hits = if let Some(last) = text.last_chunk::<WORD>() {
            // The last word overlaps the one before it.
            let (words, _) = text.as_chunks::<WORD>();
            words.iter().fold(self.hits(*last), |hits, word| hits | self.hits(*word))
        } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>())
        {
            let mut word = [0; WORD];
            word[..4].copy_from_slice(first);
            word[4..].copy_from_slice(last);
            self.hits(word)
        } else {
            text.iter().fold(0, |hits, &byte| hits | self.hits([byte; WORD]))
        };
        hits & (ONES << 7) == 0
    }
}

impl Finder<3> {
    /// A finder of a quote, backslashes and control characters.
    pub(super) const fn of_controls(quote: u8) -> Finder<3> {
        Finder([Test::new(quote, 1), Test::new(b'\\', 1), Test::new(0, 0x20)])
    }
}

/// The bytes that are replaced, and the pairs that replace them.
#[derive(Clone, Debug)]
pub(super) struct Escapes<const TESTS: usize> {
    /// The finder of every byte that is replaced; it may find others.
    finder: Finder<TESTS>,
    /// The pair's first byte.
    first: [u8; 256],
    /// The pair's second byte; 0 if the byte is not replaced.
    second: [u8; 256],
}

impl<const N: usize> Escapes<N> {
    /// Escapes made from `(byte, pair)`. Of several entries for a byte the first counts. No pair ends in
    /// NUL.
    pub(super) fn new(pairs: [(u8, [u8; 2]); N]) -> Escapes<N> {
        Escapes::with_finder(Finder::new(pairs.map(|(byte, _)| byte)), &pairs)
    }

    /// Escapes with a finder that finds at least the bytes that are replaced.
    pub(super) fn with_finder(finder: Finder<N>, pairs: &[(u8, [u8; 2])]) -> Escapes<N> {
        let mut escapes = Escapes { finder, first: [0; 256], second: [0; 256] };
        for &(byte, [first, second]) in pairs.iter().rev() {
            escapes.first[byte as usize] = first;
            escapes.second[byte as usize] = second;
        }
        escapes
    }

    /// Removes a byte: it is not replaced.
    pub(super) fn remove(&mut self, byte: u8) {
        self.second[byte as usize] = 0;
    }

    /// Whether the byte is replaced.
    pub(super) fn is_special(&self, byte: u8) -> bool {
        self.second[byte as usize] != 0
    }

    /// Appends `text` with its escapes.
    #[inline]
    pub(super) fn append(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.finder.is_clean(text) {
            out.extend_from_slice(text);
        } else {
            self.append_slowly(text, out);
        }
    }

    #[cold]
    fn append_slowly(&self, text: &[u8], out: &mut Vec<u8>) {
        let (words, rest) = text.as_chunks::<WORD>();
        out.reserve(text.len() + text.len() / 16);
        for word in words {
            if self.finder.is_clean(word) {
                out.extend_from_slice(word);
            } else {
                self.append_bytes(word, out);
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

    /// Appends `text` with its escapes, but none inside multi-byte characters.
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

/// Escapes raw line ends in the JSON text that begins at `from`. MySQL 5.7 and 8.0.12 print such line
/// ends, in the base64 of long binary values, but do not accept them in JSON.
pub(super) fn escape_json_newlines(text: &mut Vec<u8>, from: usize) {
    if text[from..].contains(&b'\n') {
        let lines = text.split_off(from);
        for (index, line) in lines.split(|&byte| byte == b'\n').enumerate() {
            text.extend_from_slice(if index > 0 { b"\\n" } else { b"" });
            text.extend_from_slice(line);
        }
    }
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
    fn tests_find_all_bytes_they_are_for_and_no_others() {
        let controls = Finder::of_controls(b'"');
        let two = Finder::new(*b"\n\\");
        for byte in 0..=255 {
            for other in [0x20, 0x21, 0x7f, 0x80, 0xff] {
                for place in 0..WORD {
                    let mut word = [other; WORD];
                    word[place] = byte;
                    let special = byte < 0x20 || byte == b'"' || byte == b'\\';
                    assert_eq!(controls.is_clean(&word), !special);
                    assert_eq!(two.is_clean(&word), byte != b'\n' && byte != b'\\');
                }
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
    fn raw_line_ends_leave_json() {
        let mut text = b"\n\"a\nb\n\"".to_vec();
        escape_json_newlines(&mut text, 1);
        assert_eq!(text, b"\n\"a\\nb\\n\"");
    }

    #[test]
    fn hex_has_two_digits_a_byte() {
        for (bytes, hex) in [(&b""[..], ""), (b"foo", "666F6F"), (b"\xff\xfe", "FFFE")] {
            let mut digits = Vec::new();
            append_hex(bytes, &mut digits);
            assert_eq!(digits, hex.as_bytes());
        }
    }
}
