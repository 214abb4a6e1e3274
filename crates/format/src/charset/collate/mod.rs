//! Comparison of text in the servers' collations, by sort keys.
//!
//! A text's *sort key* ([`Collator::append_sort_key`]) consists of the weights of its characters,
//! so that sort keys of one collation compare, byte by byte, like the texts on the server: equal
//! keys are equal texts. The weights are a server's own, from `WEIGHT_STRING`; `weights/README.md`
//! names the servers, and describes how the tables were made and compared.
//!
//! | collations | weights |
//! |---|---|
//! | `_bin` where bytes compare as characters do | the bytes |
//! | those of charsets of one byte a character | one a byte |
//! | `_general_ci`, `_unicode_ci`, `_unicode_520_ci`, `utf8mb4_0900_ai_ci`, `_uca1400_ai_ci` of the Unicode charsets | none to eight a character, or a sequence of characters |
//!
//! `PAD SPACE`: the shorter text compares as if it continued with spaces. MariaDB's `_nopad_`
//! collations and MySQL's `_0900_` do not pad.

mod weights;

use std::fmt;

use self::weights::CharacterWeights;
use super::Charset::{self, Ucs2, Utf8Mb3, Utf8Mb4, Utf16, Utf16Le, Utf32};
use super::CollationId;
use crate::{Error, Result};

/// A collator compares the text of one collation.
#[derive(Clone, Copy)]
pub struct Collator {
    collation: CollationId,
    charset: Charset,
    weights: Weights,
    pads: bool,
}

#[derive(Clone, Copy)]
enum Weights {
    Bytes,
    SingleByte(&'static [u8]),
    Characters(&'static CharacterWeights),
}

impl Collator {
    /// The supported collations, in words.
    pub const KNOWN: &str = "those are _bin of single-byte charsets, utf8mb3 and utf8mb4, _ci of \
                             single-byte charsets, and general_ci, unicode_ci, unicode_520_ci, \
                             0900_ai_ci and uca1400_ai_ci of Unicode charsets";

    /// Creates the collator of a collation; `None` where its order is not known, or has more than
    /// one level.
    pub fn of(collation: CollationId) -> Option<Collator> {
        let (charset, suffix) = collation.parts()?;
        let is_unicode = matches!(charset, Utf8Mb3 | Utf8Mb4 | Ucs2 | Utf16 | Utf16Le | Utf32);
        let pads = !suffix.contains("_nopad_") && !suffix.contains("_0900_");
        let suffix = suffix.replacen("_nopad", "", 1);
        let weights = match &*suffix {
            "_bin" | "_0900_bin" => {
                let is_ordered = charset.max_len() == 1 || matches!(charset, Utf8Mb3 | Utf8Mb4);
                Some(Weights::Bytes).filter(|_| is_ordered)
            }
            _ if is_unicode => CharacterWeights::with_suffix(&suffix).map(Weights::Characters),
            _ => weights::single_byte(charset, &suffix).map(Weights::SingleByte),
        };
        weights.map(|weights| Collator { collation, charset, weights, pads })
    }

    /// Returns the charset of the texts.
    pub fn charset(&self) -> Charset {
        self.charset
    }

    /// Returns whether trailing spaces of a text are ignored.
    pub fn pads(&self) -> bool {
        self.pads
    }

    /// Appends a text's sort key; no key is a prefix of another.
    ///
    /// # Errors
    /// When the text is not valid in its charset: the server's order of such text is unknown.
    pub fn append_sort_key(&self, text: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let space = match self.weights {
            Weights::Bytes => {
                out.extend(text.iter().flat_map(|&byte| [NOT_PADDED, 0, byte]));
                u16::from(b' ')
            }
            Weights::SingleByte(weights) => {
                let weight = |byte: u8| weights.get(usize::from(byte)).copied().unwrap_or(byte);
                out.extend(text.iter().flat_map(|&byte| [NOT_PADDED, 0, weight(byte)]));
                u16::from(weight(b' '))
            }
            Weights::Characters(weights) => {
                let mut push = |weight: u16| {
                    let [high, low] = weight.to_be_bytes();
                    out.extend_from_slice(&[NOT_PADDED, high, low]);
                };
                self.with_utf8(text, |text| weights.for_each(text, &mut push))?;
                weights.space()
            }
        };
        match self.pads {
            true => pad(out, start, space),
            false => out.push(0),
        }
        Ok(())
    }

    fn with_utf8(&self, text: &[u8], then: impl FnOnce(&str)) -> Result<()> {
        if matches!(self.charset, Utf8Mb3 | Utf8Mb4) {
            let text = str::from_utf8(text).map_err(|_| self.no_text())?;
            then(text);
            return Ok(());
        }
        let mut utf8 = Vec::new();
        let lost = self.charset.decode(text, &mut utf8);
        let text = str::from_utf8(&utf8).ok().filter(|_| lost == 0);
        then(text.ok_or_else(|| self.no_text())?);
        Ok(())
    }

    #[cold]
    fn no_text(&self) -> Error {
        Error::unsupported(
            format!("comparing bytes that are not valid in charset {}", self.charset.name()),
            "leave out the condition",
        )
    }
}

/// The byte before a weight where texts are not padded, and until the comparison of the rest with
/// spaces is known.
const NOT_PADDED: u8 = 1;

/// Removes the weights of trailing spaces, and inserts before each weight a byte for the comparison
/// of the rest with spaces: 1 less, 3 greater; 2 where nothing is left.
fn pad(out: &mut Vec<u8>, start: usize, space: u16) {
    let space = space.to_be_bytes();
    while out.len() >= start + 3 && out.ends_with(&space) {
        out.truncate(out.len() - 3);
    }
    let mut rest = 3;
    for weight in out.get_mut(start..).unwrap_or_default().rchunks_exact_mut(3) {
        if let [before, high, low] = weight {
            match [*high, *low].cmp(&space) {
                std::cmp::Ordering::Less => rest = 1,
                std::cmp::Ordering::Greater => rest = 3,
                std::cmp::Ordering::Equal => {}
            }
            *before = rest;
        }
    }
    out.push(2);
}

impl PartialEq for Collator {
    fn eq(&self, other: &Collator) -> bool {
        self.collation == other.collation
    }
}

impl Eq for Collator {}

impl fmt::Debug for Collator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Collator").field(&self.collation).finish()
    }
}

#[cfg(test)]
mod tests;
