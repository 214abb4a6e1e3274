//! Lexer for the statements in these files, as far as needed to find names.

/// A token of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A keyword, a name without quotes, or a number.
    Word(&'a str),
    /// A name in backticks or double quotes, with the quotes.
    Name(&'a str),
    /// A text in single quotes, with the quotes.
    Text(&'a str),
    /// Any other character.
    Symbol(char),
}

impl Token<'_> {
    /// Returns whether the token is this keyword.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(is) if is.eq_ignore_ascii_case(word))
    }

    /// Returns the token's length in bytes.
    fn len(&self) -> usize {
        match self {
            Token::Word(text) | Token::Name(text) | Token::Text(text) => text.len(),
            Token::Symbol(symbol) => symbol.len_utf8(),
        }
    }

    /// Returns the name, without quotes; `None` for tokens that are no name.
    pub fn name(&self) -> Option<String> {
        match self {
            Token::Word(word) => Some((*word).to_owned()),
            Token::Name(quoted) => {
                let quote = quoted.get(..1)?;
                let inside = quoted.get(1..quoted.len().checked_sub(1)?)?;
                Some(inside.replace(&quote.repeat(2), quote))
            }
            Token::Text(_) | Token::Symbol(_) => None,
        }
    }
}

/// An iterator over the tokens of a statement. It ends early at a quote that is never closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub fn new(sql: &'a str) -> Tokens<'a> {
        Tokens { rest: sql }
    }

    /// Iterates over the tokens, each with the offset of its first byte.
    pub fn with_places(sql: &'a str) -> impl Iterator<Item = (usize, Token<'a>)> {
        let mut tokens = Tokens::new(sql);
        std::iter::from_fn(move || {
            let token = tokens.next()?;
            Some((sql.len() - tokens.rest.len() - token.len(), token))
        })
    }

    /// Skips blanks and comments. Of versioned comments only the signs are skipped: a server that
    /// stored a statement executed their content.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest.trim_start();
            let end_of_line = || rest.find('\n').unwrap_or(rest.len());
            let is_version = |c: char| c.is_ascii_digit();
            let skipped = if let Some(inside) = rest.strip_prefix("/*!") {
                rest.len() - inside.trim_start_matches(is_version).len()
            } else if let Some(inside) = rest.strip_prefix("/*M!") {
                rest.len() - inside.trim_start_matches(is_version).len()
            } else if rest.starts_with("*/") {
                2
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |at| at + 2)
            } else if rest.starts_with('#') || rest.starts_with("-- ") || rest.starts_with("--\n") {
                end_of_line()
            } else {
                self.rest = rest;
                return;
            };
            self.rest = rest.get(skipped..).unwrap_or_default();
        }
    }

    /// Returns the end of the quoted text at the current position.
    fn end_of_quoted(&self, quote: char, has_escapes: bool) -> Option<usize> {
        let mut chars = self.rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c == '\\' && has_escapes {
                chars.next();
            } else if c == quote {
                if chars.peek().is_some_and(|&(_, next)| next == quote) {
                    chars.next();
                } else {
                    return Some(at + c.len_utf8());
                }
            }
        }
        None
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let first = self.rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let end = match first {
            '\'' => self.end_of_quoted(first, true)?,
            '`' | '"' => self.end_of_quoted(first, false)?,
            c if is_word(c) => self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len()),
            c => c.len_utf8(),
        };
        let (text, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(match first {
            '\'' => Token::Text(text),
            '`' | '"' => Token::Name(text),
            c if is_word(c) => Token::Word(text),
            c => Token::Symbol(c),
        })
    }
}
