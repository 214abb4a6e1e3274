//! A position among the tokens of a statement, with the basic operations of a parser.

use super::lex::{Kind, Token};
use super::literal;
use super::{Result, SyntaxError};

pub(super) struct Cursor<'a> {
    sql: &'a str,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(sql: &'a str, tokens: &'a [Token]) -> Cursor<'a> {
        Cursor { sql, tokens, at: 0 }
    }

    pub fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn peek_kind(&self) -> Option<Kind> {
        self.peek().map(|token| token.kind)
    }

    /// Returns the text of the current token, empty at the end.
    pub fn text(&self) -> &'a str {
        self.peek().map_or("", |token| self.slice(token.start, token.end))
    }

    /// Returns the statement's text from byte `start` to byte `end`.
    pub fn slice(&self, start: usize, end: usize) -> &'a str {
        self.sql.get(start..end).unwrap_or("")
    }

    pub fn is_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Returns the start of the current token, or the end of the text.
    pub fn position(&self) -> usize {
        self.peek().map_or(self.previous_end(), |token| token.start)
    }

    /// Returns the end of the previous token.
    pub fn previous_end(&self) -> usize {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(0, |token| token.end)
    }

    pub fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len());
    }

    /// Returns the rest of the tokens' text, including closing comments.
    pub fn rest_of_text(&mut self) -> &'a str {
        let start = self.peek().map_or(self.sql.len(), |token| token.opened.unwrap_or(token.start));
        let mut end = self.tokens.last().map_or(start, |token| token.end);
        self.at = self.tokens.len();
        while let Some(behind) = self.sql.get(end..) {
            let blanks = behind.len() - behind.trim_start().len();
            if !behind.trim_start().starts_with("*/") {
                break;
            }
            end += blanks + 2;
        }
        self.slice(start, end)
    }

    /// Creates an error for the current token, where `expected` should be.
    #[cold]
    pub fn unexpected(&self, expected: &str) -> SyntaxError {
        const MAX_CHARS: usize = 40;
        let found = match self.peek() {
            None => "the end of the statement".to_owned(),
            Some(_) if self.text().chars().count() <= MAX_CHARS => format!("`{}`", self.text()),
            Some(_) => {
                let start: String = self.text().chars().take(MAX_CHARS).collect();
                format!("`{start}...`")
            }
        };
        SyntaxError::at(self.position(), found, expected.to_owned())
    }

    /// Returns another cursor at the same position.
    pub fn fork(&self) -> Cursor<'a> {
        Cursor { sql: self.sql, tokens: self.tokens, at: self.at }
    }

    // Words.

    pub fn is_word(&self, word: &str) -> bool {
        self.peek_kind() == Some(Kind::Word) && self.text().eq_ignore_ascii_case(word)
    }

    /// Returns whether the token `ahead` positions further is this word.
    pub fn is_word_ahead(&self, ahead: usize, word: &str) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| {
            token.kind == Kind::Word
                && self.slice(token.start, token.end).eq_ignore_ascii_case(word)
        })
    }

    /// Returns whether the token `ahead` positions further is this character.
    pub fn is_symbol_ahead(&self, ahead: usize, symbol: char) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.kind == Kind::Symbol(symbol))
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.advance();
        }
        is
    }

    /// Consumes one of these words and returns it.
    pub fn eat_any<'w>(&mut self, words: &[&'w str]) -> Option<&'w str> {
        words.iter().copied().find(|word| self.eat_word(word))
    }

    /// Consumes all of these words, or none.
    pub fn eat_words(&mut self, words: &[&str]) -> bool {
        let all = words.iter().enumerate().all(|(ahead, word)| self.is_word_ahead(ahead, word));
        if all {
            self.at += words.len();
        }
        all
    }

    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(word)) }
    }

    /// Returns the current word in capitals; `None` if the token is no word.
    pub fn word(&self) -> Option<String> {
        (self.peek_kind() == Some(Kind::Word)).then(|| self.text().to_ascii_uppercase())
    }

    // Symbols and literals.

    pub fn is_symbol(&self, symbol: char) -> bool {
        self.peek_kind() == Some(Kind::Symbol(symbol))
    }

    pub fn eat_symbol(&mut self, symbol: char) -> bool {
        let is = self.is_symbol(symbol);
        if is {
            self.advance();
        }
        is
    }

    pub fn expect_symbol(&mut self, symbol: char) -> Result<()> {
        if self.eat_symbol(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    pub fn eat_old_temporal(&mut self) -> bool {
        let is = self.peek_kind() == Some(Kind::OldTemporal);
        if is {
            self.advance();
        }
        is
    }

    /// Consumes a comment of options and returns its text.
    pub fn eat_options_comment(&mut self) -> Option<&'a str> {
        (self.peek_kind() == Some(Kind::OptionsComment)).then(|| {
            let text = self.text();
            self.advance();
            text
        })
    }

    /// Consumes an identifier, with or without quotes.
    pub fn identifier(&mut self) -> Result<String> {
        let text = self.text();
        let name = match self.peek_kind() {
            Some(Kind::Word) => text.to_owned(),
            Some(Kind::Quoted) => literal::without_quotes(text, '`'),
            Some(Kind::DoubleQuoted) => literal::without_quotes(text, '"'),
            _ => return Err(self.unexpected("a name")),
        };
        self.advance();
        Ok(name)
    }

    /// Returns whether the current token is an identifier (keywords included).
    pub fn is_identifier(&self) -> bool {
        matches!(self.peek_kind(), Some(Kind::Word | Kind::Quoted | Kind::DoubleQuoted))
    }

    /// Returns whether the current token is a quoted identifier, which is not a keyword.
    pub fn is_quoted(&self) -> bool {
        matches!(self.peek_kind(), Some(Kind::Quoted | Kind::DoubleQuoted))
    }

    /// Consumes `name` or `schema.name`; the schema is empty when there is none.
    pub fn qualified_name(&mut self) -> Result<(String, String)> {
        let first = self.identifier()?;
        if self.eat_symbol('.') {
            return Ok((first, self.identifier()?));
        }
        Ok((String::new(), first))
    }

    pub fn is_text(&self) -> bool {
        matches!(self.peek_kind(), Some(Kind::Text | Kind::DoubleQuoted))
    }

    /// Consumes `'text'`, unescaped; adjacent strings are concatenated.
    pub fn string(&mut self) -> Result<String> {
        if !self.is_text() {
            return Err(self.unexpected("text in quotes"));
        }
        let mut value = String::new();
        while self.is_text() {
            literal::unescape(self.text(), &mut value);
            self.advance();
        }
        Ok(value)
    }

    pub fn number(&mut self) -> Result<u64> {
        let value = self.text().parse::<u64>().ok();
        match value {
            Some(value) if self.peek_kind() == Some(Kind::Number) => {
                self.advance();
                Ok(value)
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    /// Consumes a number that `T` can hold.
    pub fn small_number<T: TryFrom<u64>>(&mut self) -> Result<T> {
        let place = self.position();
        let number = self.number()?;
        T::try_from(number)
            .map_err(|_| SyntaxError::at(place, format!("`{number}`"), "a smaller number"))
    }

    /// Consumes any one token and returns its text.
    pub fn any(&mut self) -> Result<&'a str> {
        if self.is_end() {
            return Err(self.unexpected("a value"));
        }
        let text = self.text();
        self.advance();
        Ok(text)
    }

    /// Consumes `( ... )` and returns the text between the parentheses.
    pub fn parenthesized(&mut self) -> Result<&'a str> {
        let open = self.position();
        self.expect_symbol('(')?;
        let start = open + 1;
        let mut depth = 1_u64;
        while let Some(token) = self.peek() {
            match token.kind {
                Kind::Symbol('(') => depth += 1,
                Kind::Symbol(')') => depth -= 1,
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return Ok(self.slice(start, token.start));
            }
        }
        Err(SyntaxError::at(open, "a parenthesis that is never closed", "`)`"))
    }
}
