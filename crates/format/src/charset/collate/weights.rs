//! Tables of weights that `weights/make.py` wrote, unpacked on first use.

use std::sync::OnceLock;

use crate::inflate::Inflater;

use super::super::collations::COLLATIONS;
use super::super::{Charset, CollationId};

/// The weights of all characters in one collation.
pub(super) struct CharacterWeights {
    /// Characters listed one by one, by code: their offset in `weights`, times 256, and the number
    /// of weights; see [`RULE`] and [`CONTRACTS`].
    listed: Vec<u32>,
    weights: Vec<u16>,
    /// Rules for all other characters, by their first codes.
    rules: Vec<(u32, Rule)>,
    /// Contractions with their weights, by the first character; the longest first.
    contractions: Vec<(Vec<char>, Vec<u16>)>,
    space: u16,
}

/// The count that marks a character whose weights follow from a rule.
const RULE: u32 = 0x7f;
/// The bit that marks a character with which contractions begin.
const CONTRACTS: u32 = 0x80;

/// The rule for the weights of consecutive characters.
enum Rule {
    /// Two weights computed from the code (UCA, implicit weights) and this number.
    Computed(u16),
    /// The same weights for all.
    Same(Vec<u16>),
    /// Weights whose last one is incremented for each character.
    Ascending(Vec<u16>),
    /// Korean syllables: the weights of their two or three letters.
    Syllables,
}

static GENERAL: OnceLock<Option<CharacterWeights>> = OnceLock::new();
static UNICODE: OnceLock<Option<CharacterWeights>> = OnceLock::new();
static UNICODE_520: OnceLock<Option<CharacterWeights>> = OnceLock::new();
static UCA0900: OnceLock<Option<CharacterWeights>> = OnceLock::new();
static UCA1400: OnceLock<Option<CharacterWeights>> = OnceLock::new();
static ONE_BYTE: OnceLock<Vec<u8>> = OnceLock::new();

impl CharacterWeights {
    /// Returns the weights of the collations whose names end in `suffix`.
    pub fn with_suffix(suffix: &str) -> Option<&'static CharacterWeights> {
        let (table, packed): (_, &[u8]) = match suffix {
            "_general_ci" => (&GENERAL, include_bytes!("weights/general.bin")),
            "_unicode_ci" => (&UNICODE, include_bytes!("weights/unicode.bin")),
            "_unicode_520_ci" => (&UNICODE_520, include_bytes!("weights/unicode_520.bin")),
            "_0900_ai_ci" => (&UCA0900, include_bytes!("weights/uca0900.bin")),
            "_uca1400_ai_ci" => (&UCA1400, include_bytes!("weights/uca1400.bin")),
            _ => return None,
        };
        table
            .get_or_init(|| CharacterWeights::read(&mut Numbers { rest: &unpack(packed) }))
            .as_ref()
    }

    /// Returns the weight of a space.
    pub fn space(&self) -> u16 {
        self.space
    }

    /// Calls back with the weights of a text, one after the other.
    pub fn for_each(&self, text: &str, give: &mut impl FnMut(u16)) {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            let code = u32::from(character);
            let entry = self.listed.get(code as usize).copied().unwrap_or(RULE);
            if entry & CONTRACTS != 0
                && let Some((sequence, weights)) = self.contraction(character, characters.as_str())
            {
                weights.iter().for_each(|&weight| give(weight));
                for _ in 1..sequence.len() {
                    characters.next();
                }
                continue;
            }
            let (start, len) = ((entry >> 8) as usize, entry & RULE);
            if len == RULE {
                self.by_rule(code, give);
                continue;
            }
            let weights = self.weights.get(start..start + len as usize).unwrap_or_default();
            weights.iter().for_each(|&weight| give(weight));
        }
    }

    #[cold]
    fn contraction(&self, first: char, rest: &str) -> Option<(&[char], &[u16])> {
        let from =
            self.contractions.partition_point(|(sequence, _)| sequence.first() < Some(&first));
        let begin_so = self.contractions.get(from..)?.iter();
        let mut begin_so = begin_so.take_while(|(sequence, _)| sequence.first() == Some(&first));
        let found = begin_so.find(|(sequence, _)| {
            let mut next = rest.chars();
            sequence.iter().skip(1).all(|&wanted| next.next() == Some(wanted))
        });
        found.map(|(sequence, weights)| (sequence.as_slice(), weights.as_slice()))
    }

    fn by_rule(&self, code: u32, give: &mut impl FnMut(u16)) {
        let after = self.rules.partition_point(|(first, _)| *first <= code);
        let rule = after.checked_sub(1).and_then(|place| self.rules.get(place));
        let Some((first, rule)) = rule else { return };
        match rule {
            Rule::Computed(base) => {
                give(base.wrapping_add((code >> 15) as u16));
                give((code & 0x7fff | 0x8000) as u16);
            }
            Rule::Same(weights) => weights.iter().for_each(|&weight| give(weight)),
            Rule::Ascending(weights) => {
                let Some((&last, before)) = weights.split_last() else { return };
                before.iter().for_each(|&weight| give(weight));
                give(last.wrapping_add((code - first) as u16));
            }
            Rule::Syllables => {
                let at = code - first;
                let letters = [0x1100 + at / 588, 0x1161 + at / 28 % 21, 0x11a7 + at % 28];
                let letters = if at.is_multiple_of(28) { &letters[..2] } else { &letters[..] };
                for &letter in letters {
                    let entry = self.listed.get(letter as usize).copied().unwrap_or(RULE);
                    let (start, len) = ((entry >> 8) as usize, (entry & RULE) as usize);
                    // The rule for syllables covers no letters: this recurses once only.
                    match len == RULE as usize {
                        true => self.by_rule(letter, give),
                        false => {
                            let weights = self.weights.get(start..start + len);
                            weights.unwrap_or_default().iter().for_each(|&weight| give(weight));
                        }
                    }
                }
            }
        }
    }

    /// Reads a table of `weights/make.py`: runs of characters, and contractions.
    fn read(numbers: &mut Numbers<'_>) -> Option<CharacterWeights> {
        let mut table = CharacterWeights {
            listed: Vec::new(),
            weights: Vec::new(),
            rules: Vec::new(),
            contractions: Vec::new(),
            space: 0,
        };
        let (mut code, mut before) = (0, 0);
        while code < 0x11_0000 {
            let head = numbers.next()?;
            let len = head >> 3;
            let rule = match head & 7 {
                0 => Rule::Computed(numbers.next()? as u16),
                1 => Rule::Same(numbers.weights(&mut before)?),
                2 => Rule::Ascending(numbers.weights(&mut before)?),
                3 => {
                    table.listed.resize(code as usize, RULE);
                    for _ in 0..len {
                        let weights = numbers.weights(&mut before)?;
                        let entry = (table.weights.len() as u32) << 8 | weights.len() as u32;
                        table.listed.push(entry);
                        table.weights.extend(weights);
                    }
                    code += len;
                    continue;
                }
                _ => Rule::Syllables,
            };
            table.rules.push((code, rule));
            code += len;
        }
        for _ in 0..numbers.next()? {
            let sequence: Option<Vec<char>> =
                numbers.list()?.into_iter().map(char::from_u32).collect();
            let weights = numbers.list()?.into_iter().map(|weight| weight as u16).collect();
            let sequence = sequence?;
            *table.listed.get_mut(*sequence.first()? as usize)? |= CONTRACTS;
            table.contractions.push((sequence, weights));
        }
        let key = |of: &(Vec<char>, Vec<u16>)| (of.0.first().copied(), usize::MAX - of.0.len());
        table.contractions.sort_by_key(key);
        let mut space = 0;
        table.for_each(" ", &mut |weight| space = weight);
        table.space = space;
        Some(table)
    }
}

/// A reader of the table's numbers, of seven bits per byte, the low ones first.
struct Numbers<'p> {
    rest: &'p [u8],
}

impl Numbers<'_> {
    fn next(&mut self) -> Option<u32> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a list: its length, then its numbers.
    fn list(&mut self) -> Option<Vec<u32>> {
        (0..self.next()?).map(|_| self.next()).collect()
    }

    /// Reads a list of weights, each stored as the difference to the one before it.
    fn weights(&mut self, before: &mut u16) -> Option<Vec<u16>> {
        let differences = self.list()?.into_iter();
        let weights = differences.map(|number| {
            let by = (number >> 1) as u16;
            *before = match number & 1 {
                0 => before.wrapping_add(by),
                _ => before.wrapping_sub(by).wrapping_sub(1),
            };
            *before
        });
        Some(weights.collect())
    }
}

/// Returns the weights of all bytes in a collation of a single-byte charset.
pub(super) fn single_byte(charset: Charset, suffix: &str) -> Option<&'static [u8]> {
    const BYTES: usize = 2 + 256;
    let mut own = COLLATIONS.iter().filter(|entry| entry.1 == charset && entry.2 == suffix);
    let CollationId(number) = CollationId(own.next()?.0);
    let tables = ONE_BYTE.get_or_init(|| unpack(include_bytes!("weights/single_byte.bin")));
    let found = tables.chunks_exact(BYTES).find(|table| table.starts_with(&number.to_be_bytes()));
    found.and_then(|table| table.get(2..))
}

/// The maximum bytes of a table.
const TABLE_BYTES_MAX: usize = 1 << 17;

/// Decompresses a table; empty when the bytes are not an output of `make.py`.
fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(TABLE_BYTES_MAX);
    match Inflater::new().feed(packed, TABLE_BYTES_MAX, &mut bytes) {
        Ok(true) => bytes,
        _ => Vec::new(),
    }
}
