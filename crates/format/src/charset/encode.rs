//! Conversion of UTF-8 to text in a charset, as a server does with the members of an `ENUM` in SQL
//! text.

use super::Charset::{self, *};
use super::{multi_byte, single_byte};

impl Charset {
    /// Appends `text` in this charset. A character that the charset lacks becomes `?`; returns
    /// their number.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) -> u64 {
        let mut lost = 0;
        for character in text.chars() {
            if !self.encode_char(character, out) {
                lost += 1;
                // Every charset has `?`.
                self.encode_char('?', out);
            }
        }
        lost
    }

    /// Appends the bytes of a character; returns whether the charset has it.
    fn encode_char(self, character: char, out: &mut Vec<u8>) -> bool {
        let code = u32::from(character);
        match self {
            Utf8Mb3 if code > 0xFFFF => return false,
            Utf8Mb3 | Utf8Mb4 | Binary => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Ucs2 if code > 0xFFFF => return false,
            Ucs2 | Utf16 => {
                let units = character.encode_utf16(&mut [0; 2]).to_vec();
                out.extend(units.into_iter().flat_map(u16::to_be_bytes));
            }
            Utf16Le => {
                let units = character.encode_utf16(&mut [0; 2]).to_vec();
                out.extend(units.into_iter().flat_map(u16::to_le_bytes));
            }
            Utf32 => out.extend(code.to_be_bytes()),
            Swe7 => match single_byte::SWE7.iter().find(|letter| letter.1 == character) {
                Some(&(byte, _)) => out.push(byte),
                None => {
                    return push_ascii(character, out, |byte| {
                        byte < 0x7f && single_byte::SWE7.iter().all(|letter| letter.0 != byte)
                    });
                }
            },
            // The byte 0x5c is read as a backslash, but never written for one.
            Sjis if character == '\\' => out.extend_from_slice(b"\x81\x5f"),
            _ if character.is_ascii() => out.push(code as u8),
            Ascii => return false,
            _ => match single_byte::upper_half(self) {
                Some(upper) => {
                    let place = upper.iter().position(|&meant| u32::from(meant) == code);
                    let Some(place) = place else { return false };
                    out.push(0x80 | place as u8);
                }
                None => return multi_byte::encode(self, character, out),
            },
        }
        true
    }
}

fn push_ascii(character: char, out: &mut Vec<u8>, has: impl Fn(u8) -> bool) -> bool {
    let byte = u8::try_from(character).ok().filter(|byte| byte.is_ascii() && has(*byte));
    out.extend(byte);
    byte.is_some()
}
