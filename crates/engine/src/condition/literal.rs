//! Literals as users type them: `42`, `-1.5`, `'it''s'`, `0x00ff`, `x'00ff'`, `2024-01-31`.

use innoscan_format::schema::{ColumnDef, TableDef};
use innoscan_format::types::{Class, Codec, ColumnType};

use crate::{Error, Remedy, Result};

/// A typed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    /// Quoted text; in keys also a bare word.
    Text(String),
    /// A number: digits with a sign, a point, an exponent.
    Number(String),
    /// Bytes in hexadecimal.
    Bytes(Vec<u8>),
    /// `NULL`.
    Null,
}

impl Literal {
    /// The value of a bare word: a number, a date, hexadecimal digits after `0x`.
    pub fn of_word(word: &str) -> Literal {
        let hex =
            word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).and_then(bytes_of_hex);
        match hex {
            Some(bytes) => Literal::Bytes(bytes),
            None if is_number(word) => {
                let mantissa = word.split(['e', 'E']).next().unwrap_or(word);
                let is_zero = !mantissa.contains(|digit| matches!(digit, '1'..='9'));
                let sign: &[char] = if is_zero { &['+', '-'] } else { &['+'] };
                Literal::Number(word.strip_prefix(sign).unwrap_or(word).to_owned())
            }
            None => Literal::Text(word.to_owned()),
        }
    }

    /// The value in the form that a record stores.
    pub fn stored(&self, def: &TableDef, column: usize) -> Result<Vec<u8>> {
        let Some(column) = def.columns.get(column) else {
            return Err(Error::usage("the key has no such column", Remedy::SeeDefinition));
        };
        let codec = Codec::new(&column.ty, def.server)?;
        self.stored_in(column, &codec).ok_or_else(|| {
            Error::usage(
                format!("{self} is not a value of column `{}`", column.name),
                "type it as the server prints it, times in UTC; bytes as 0x...",
            )
        })
    }

    /// The value in the form that a column stores, by its codec; `None` where the column cannot hold it.
    pub fn stored_in(&self, column: &ColumnDef, codec: &Codec) -> Option<Vec<u8>> {
        let mut stored = Vec::new();
        let encoded = match self {
            Literal::Bytes(bytes) if matches!(codec.class(), Class::Binary | Class::Text) => {
                stored.extend_from_slice(bytes);
                Some(())
            }
            Literal::Bytes(_) | Literal::Null => None,
            Literal::Text(text) | Literal::Number(text) if codec.class() == Class::Bit => {
                let number: Option<u64> = text.parse().ok();
                number.and_then(|bits| codec.encode(&format!("b'{bits:b}'"), &mut stored).ok())
            }
            Literal::Text(text) | Literal::Number(text) => codec.encode(text, &mut stored).ok(),
        };
        // A server does not take a shorter BINARY for one with trailing zeros.
        let fits = match (&column.ty, self) {
            (ColumnType::Binary { bytes }, Literal::Text(text) | Literal::Number(text)) => {
                text.len() == *bytes as usize
            }
            (ColumnType::Binary { bytes }, Literal::Bytes(typed)) => typed.len() == *bytes as usize,
            _ => true,
        };
        encoded.filter(|()| fits).map(|()| stored)
    }
}

impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Literal::Text(text) | Literal::Number(text) => write!(f, "`{text}`"),
            Literal::Null => f.write_str("NULL"),
            Literal::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// A scanner of text from its beginning.
pub(super) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Scanner<'a> {
        Scanner { rest: text.trim_start() }
    }

    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The text not yet scanned.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// Takes `wanted` and the spaces after it, if it comes next.
    pub fn take(&mut self, wanted: &str) -> bool {
        let taken = self.rest.strip_prefix(wanted);
        self.rest = taken.map_or(self.rest, str::trim_start);
        taken.is_some()
    }

    /// Takes the text up to the first character that `ends` a word.
    pub fn word(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let (word, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        word
    }

    /// Takes text in quotes; `None` where there is none, or its end is missing. A quote within is
    /// doubled or, in text, follows a backslash.
    pub fn quoted(&mut self, quote: char) -> Option<String> {
        let mut characters = self.rest.char_indices();
        characters.next().filter(|(_, first)| *first == quote)?;
        let mut text = String::new();
        while let Some((_, character)) = characters.next() {
            if character == '\\' && quote != '`' {
                let (_, escaped) = characters.next()?;
                // Only a pattern needs these two characters escaped.
                if matches!(escaped, '%' | '_') {
                    text.push(character);
                }
                text.push(unescaped(escaped));
            } else if character != quote {
                text.push(character);
            } else if characters.as_str().starts_with(quote) {
                text.push(quote);
                characters.next();
            } else {
                self.rest = characters.as_str().trim_start();
                return Some(text);
            }
        }
        None
    }

    /// Takes a value: quoted, or a bare word up to a character that `ends` one.
    pub fn literal(&mut self, ends: impl Fn(char) -> bool) -> Option<Literal> {
        for quote in ['\'', '"'] {
            if self.rest.starts_with(quote) {
                return self.quoted(quote).map(Literal::Text);
            }
        }
        if self.rest.starts_with("x'") || self.rest.starts_with("X'") {
            self.rest = &self.rest[1..];
            return self.quoted('\'').and_then(|digits| bytes_of_hex(&digits)).map(Literal::Bytes);
        }
        let word = self.word(ends).trim_end();
        (!word.is_empty()).then(|| Literal::of_word(word))
    }
}

/// The character that a backslash escape stands for (`MY_LEX_ESCAPED`, sql_lex.cc).
fn unescaped(character: char) -> char {
    match character {
        '0' => '\0',
        'b' => '\u{8}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'Z' => '\u{1a}',
        other => other,
    }
}

/// Whether a word is a number in SQL.
pub(super) fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)))
        }
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole)
        && is_digits(fraction)
        && whole.len() + fraction.len() > 0
        && exponent.is_none_or(|exponent| is_digits(exponent) && !exponent.is_empty())
}

fn bytes_of_hex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok().filter(|_| !pair.starts_with('+'))
    });
    pairs.collect()
}
