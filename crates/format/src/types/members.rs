//! `ENUM` and `SET`: an unsigned big-endian number of one or two bytes, or of one to eight.

use super::wrong_length;
use crate::charset::Charset;
use crate::{Error, Result};

/// Returns the bytes of an `ENUM` with `members` members.
fn enum_bytes(members: usize) -> usize {
    if members < 256 { 1 } else { 2 }
}

/// Returns the bytes of a `SET` with `members` members; 5 to 7 are rounded up to 8
/// (`get_set_pack_length`).
fn set_bytes(members: usize) -> usize {
    match members.div_ceil(8) {
        bytes @ 0..=4 => bytes.max(1),
        _ => 8,
    }
}

/// The members' texts, and the separator of a `SET`.
#[derive(Clone, Debug)]
pub(super) struct Members {
    texts: Vec<Vec<u8>>,
    pub(super) charset: Charset,
    size_bytes: usize,
}

impl Members {
    pub(super) fn new_enum(texts: &[Vec<u8>], charset: Charset) -> Members {
        Members { texts: texts.to_vec(), charset, size_bytes: enum_bytes(texts.len()) }
    }

    pub(super) fn new_set(texts: &[Vec<u8>], charset: Charset) -> Members {
        Members { texts: texts.to_vec(), charset, size_bytes: set_bytes(texts.len()) }
    }

    /// Returns the stored number.
    pub(super) fn number(&self, stored: &[u8]) -> Result<u64> {
        if stored.len() != self.size_bytes {
            return Err(wrong_length("an ENUM or SET", self.size_bytes, stored.len()));
        }
        Ok(stored.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Returns the bytes of the stored number.
    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Returns the index of a text among the members, from 0.
    pub(super) fn place_of(&self, text: &[u8]) -> Option<usize> {
        self.texts.iter().position(|member| member == text)
    }

    /// Returns an `ENUM`'s index, at most the number of members.
    pub(super) fn index(&self, stored: &[u8]) -> Result<u16> {
        let index = self.number(stored)?;
        if index > self.texts.len() as u64 {
            let members = self.texts.len();
            return Err(Error::corrupt(format!("ENUM index {index} of {members} members")));
        }
        Ok(index as u16)
    }

    /// Returns the text of an `ENUM`, which is empty for index 0.
    pub(super) fn enum_text(&self, stored: &[u8]) -> Result<&[u8]> {
        let index = usize::from(self.index(stored)?);
        Ok(index.checked_sub(1).and_then(|place| self.texts.get(place)).map_or(b"", Vec::as_slice))
    }

    /// Returns a `SET`'s mask. Bits beyond the members are kept: the server prints nothing for
    /// them.
    pub(super) fn mask(&self, stored: &[u8]) -> Result<u64> {
        self.number(stored)
    }

    /// Appends the text of a `SET`: its members joined by commas in the column's charset.
    pub(super) fn write_set(&self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut mask = self.mask(stored)?;
        let mut first = true;
        for text in &self.texts {
            if mask & 1 == 1 {
                if !first {
                    out.extend_from_slice(self.charset.comma());
                }
                first = false;
                out.extend_from_slice(text);
            }
            mask >>= 1;
            if mask == 0 {
                break;
            }
        }
        Ok(())
    }
}
