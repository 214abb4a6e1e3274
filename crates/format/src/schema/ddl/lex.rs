//! Lexer: SQL text to tokens, one at a time.
//!
//! Comments are skipped, except that the content of versioned comments (`/*!80023 INVISIBLE */`,
//! `/*M!100301 COMPRESSED*/`) is read like other text, whatever the version: a dump contains what
//! its server had. A token remembers where such a comment opened before it and closed after it, so
//! that the original text can be cut out.

use super::{Result, SyntaxError};

/// A token of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    /// Start of the token, in bytes of the SQL text.
    pub start: usize,
    /// End of the token.
    pub end: usize,
    /// Start of the versioned comment that opens before this token.
    pub opened: Option<usize>,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or an unquoted identifier.
    Word,
    /// An identifier in backquotes: `` `name` ``
    Quoted,
    /// An identifier or a string in double quotes, which only the context distinguishes: `"name"`
    /// or `"text"`
    DoubleQuoted,
    /// A string: `'text'`
    Text,
    /// A number: `12`, `1.5e3`
    Number,
    /// Hexadecimal digits: `x'4D'` or `0x4D`
    Hex,
    /// Binary digits: `b'101'` or `0b101`
    Bits,
    /// A comment of MariaDB with options unknown to the engine: ``/* `name`=value */``.
    OptionsComment,
    /// A comment after a temporal type: `/* mariadb-5.3 */` or `/* 5.5 binary format */`.
    OldTemporal,
    /// Any other character.
    Symbol(char),
}

pub(super) struct Lexer<'a> {
    sql: &'a str,
    at: usize,
    open_versioned: u32,
    opened: Option<usize>,
    after_constraint: bool,
}

impl<'a> Lexer<'a> {
    pub fn new(sql: &'a str) -> Lexer<'a> {
        let at = if sql.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lexer { sql, at, open_versioned: 0, opened: None, after_constraint: false }
    }

    /// Returns the next token, `None` at the end of the text.
    pub fn next(&mut self) -> Result<Option<Token>> {
        if let Some(comment) = self.skip_blanks()? {
            return Ok(Some(comment));
        }
        let start = self.at;
        let mut chars = self.rest().chars();
        let Some(first) = chars.next() else { return Ok(None) };
        let second = chars.next();
        let kind = match (first, second) {
            ('\'', _) => self.quoted('\'', true, Kind::Text)?,
            ('"', _) => self.quoted('"', true, Kind::DoubleQuoted)?,
            ('`', _) if self.after_constraint => self.constraint_name()?,
            ('`', _) => self.quoted('`', false, Kind::Quoted)?,
            ('x' | 'X', Some('\'')) => self.prefixed_literal(Kind::Hex)?,
            ('b' | 'B', Some('\'')) => self.prefixed_literal(Kind::Bits)?,
            ('.', Some('0'..='9')) | ('0'..='9', _) => self.number_or_word(),
            (c, _) if is_word(c) => {
                self.take_while(is_word);
                Kind::Word
            }
            (c, _) => {
                self.at += c.len_utf8();
                Kind::Symbol(c)
            }
        };
        let word = self.sql.get(start..self.at).unwrap_or("");
        self.after_constraint = word.eq_ignore_ascii_case("CONSTRAINT");
        Ok(Some(Token { kind, start, end: self.at, opened: self.opened.take() }))
    }

    /// Reads the name of a constraint. MariaDB 10.2 and later, before the fix, printed those of
    /// foreign keys without doubling the quotes in them, so the following words determine the end.
    fn constraint_name(&mut self) -> Result<Kind> {
        const BEHIND: &str = "` FOREIGN KEY (";
        let line = self.rest().split('\n').next().unwrap_or("");
        match line.find(BEHIND) {
            Some(end) => self.at += end + 1,
            None => return self.quoted('`', false, Kind::Quoted),
        }
        Ok(Kind::Quoted)
    }

    /// Skips from the last token past the end of its line: the extent of a client command
    /// (`DELIMITER ;;`).
    pub fn skip_line(&mut self) {
        self.take_while(|c| c != '\n');
    }

    fn rest(&self) -> &'a str {
        self.sql.get(self.at..).unwrap_or("")
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !accept(c)).unwrap_or(rest.len());
    }

    /// Skips white space and comments; returns a comment that has a meaning.
    fn skip_blanks(&mut self) -> Result<Option<Token>> {
        loop {
            self.take_while(|c| c.is_whitespace() || c == '\0');
            let rest = self.rest();
            if self.open_versioned > 0 && rest.starts_with("*/") {
                self.open_versioned -= 1;
                self.at += 2;
            } else if rest.starts_with('#') || is_dash_comment(rest) {
                self.skip_line();
            } else if let Some(body) = versioned_body(rest) {
                self.opened = Some(self.at);
                self.open_versioned += 1;
                self.at += body;
            } else if rest.starts_with("/*") {
                let start = self.at;
                let len = rest
                    .find("*/")
                    .ok_or_else(|| SyntaxError::at(start, "a comment that does not end", "`*/`"))?;
                self.at += len + 2;
                let body = rest.get(2..len).unwrap_or("").trim();
                let kind = match body {
                    "mariadb-5.3" | "5.5 binary format" => Kind::OldTemporal,
                    _ if is_options(body) => Kind::OptionsComment,
                    _ => continue,
                };
                return Ok(Some(Token { kind, start, end: self.at, opened: None }));
            } else {
                return Ok(None);
            }
        }
    }

    /// Reads from one quote to the next that is neither doubled nor, with `escapes`, after a
    /// backslash.
    fn quoted(&mut self, quote: char, escapes: bool, kind: Kind) -> Result<Kind> {
        let start = self.at;
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((offset, c)) = chars.next() {
            if c == '\\' && escapes {
                chars.next();
            } else if c == quote && chars.next_if(|&(_, next)| next == quote).is_none() {
                self.at += offset + c.len_utf8();
                return Ok(kind);
            }
        }
        Err(SyntaxError::at(start, "a quote that is never closed", format!("`{quote}`")))
    }

    fn prefixed_literal(&mut self, kind: Kind) -> Result<Kind> {
        self.at += 1;
        self.quoted('\'', false, kind)
    }

    /// Reads `12`, `1.5`, `1e-5`, `0x4D`, `0b1`, or an identifier that starts with a digit.
    fn number_or_word(&mut self) -> Kind {
        let rest = self.rest();
        let word = rest.find(|c| !is_word(c)).map_or(rest, |end| rest.split_at(end).0);
        let is = |prefix, accept: fn(char) -> bool| {
            word.strip_prefix(prefix).is_some_and(|digits| {
                let mut digits = digits.chars().peekable();
                digits.peek().is_some() && digits.all(accept)
            })
        };
        if is("0x", |c| c.is_ascii_hexdigit()) {
            self.at += word.len();
            return Kind::Hex;
        }
        if is("0b", |c| matches!(c, '0' | '1')) {
            self.at += word.len();
            return Kind::Bits;
        }
        let exponent = |c| matches!(c, 'e' | 'E');
        if !word.chars().all(|c| c.is_ascii_digit()) && !mantissa_and_exponent(word, exponent) {
            self.at += word.len();
            return Kind::Word;
        }
        self.take_while(|c| c.is_ascii_digit());
        if self.rest().starts_with('.') {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        if self.rest().starts_with(exponent) {
            self.at += 1;
            if self.rest().starts_with(['+', '-']) {
                self.at += 1;
            }
            self.take_while(|c| c.is_ascii_digit());
        }
        Kind::Number
    }
}

/// Returns whether `word` is `12e5` or, as the exponent's sign is not part of a word, `12e`.
fn mantissa_and_exponent(word: &str, is_exponent: impl Fn(char) -> bool) -> bool {
    word.split_once(is_exponent).is_some_and(|(mantissa, exponent)| {
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        !mantissa.is_empty() && digits(mantissa) && digits(exponent)
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

/// Returns whether a comment starts with an engine option as MariaDB prints it.
fn is_options(body: &str) -> bool {
    let behind = body.strip_prefix('`').and_then(|name| name.split_once('`'));
    behind.is_some_and(|(_, value)| value.starts_with('='))
}

/// Returns whether `--` starts a comment, which requires white space after it.
fn is_dash_comment(rest: &str) -> bool {
    rest.strip_prefix("--")
        .is_some_and(|after| after.chars().next().is_none_or(|c| c.is_whitespace() || c == '\0'))
}

/// Returns the length of the opening of a versioned comment, if `rest` starts with one that servers
/// read. Those of clients (`/*M!999999\- enable the sandbox mode */`) and of versions that will
/// never exist are plain comments.
fn versioned_body(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("/*!").or_else(|| rest.strip_prefix("/*M!"))?;
    let digits = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let (version, content) = body.split_at(digits);
    let never = matches!(version, "99999" | "999999") || content.starts_with('\\');
    (!never).then_some(rest.len() - content.len())
}
