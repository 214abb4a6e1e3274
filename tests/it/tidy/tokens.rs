//! Rust source as tokens: without comments, with the bodies of literals left out.

/// A word, a number, `::`, a literal (as `""`), a lifetime (as `'`) or one character of punctuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    /// Counted from one.
    pub(super) line: usize,
}

/// Whether `text` is an identifier or a keyword.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The tokens of a file, items under `#[cfg(test)]` among them.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let (end, text) = next_token(&chars, at);
        if let Some(text) = text {
            tokens.push(Token { text, line });
        }
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    tokens
}

/// The end of what begins at `at`, and its text unless it is a comment or white space.
fn next_token(chars: &[char], at: usize) -> (usize, Option<String>) {
    let is_word_char = |c: &char| c.is_alphanumeric() || *c == '_';
    let end_of_word =
        |from: usize| from + chars[from..].iter().take_while(|c| is_word_char(c)).count();
    let literal = |end: usize| (end, Some("\"\"".to_owned()));
    let second = chars.get(at + 1).copied().unwrap_or(' ');
    match chars[at] {
        c if c.is_whitespace() => (at + 1, None),
        '/' if second == '/' => (at + chars[at..].iter().take_while(|c| **c != '\n').count(), None),
        '/' if second == '*' => (end_of_comment(chars, at), None),
        '"' => literal(end_of_string(chars, at)),
        'r' | 'b' | 'c' if raw_string_hashes(chars, at).is_some() => {
            literal(end_of_raw_string(chars, at))
        }
        'b' | 'c' if second == '"' => literal(end_of_string(chars, at + 1)),
        'b' if second == '\'' => literal(end_of_char(chars, at + 1)),
        '\'' if second == '\\' || chars.get(at + 2) == Some(&'\'') => {
            literal(end_of_char(chars, at))
        }
        '\'' => (end_of_word(at + 1), Some("'".to_owned())),
        c if is_word_char(&c) => {
            let end = end_of_word(at);
            (end, Some(chars[at..end].iter().collect()))
        }
        ':' if second == ':' => (at + 2, Some("::".to_owned())),
        c => (at + 1, Some(c.to_string())),
    }
}

fn end_of_comment(chars: &[char], at: usize) -> usize {
    let (mut at, mut depth) = (at, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) if depth == 1 => return at + 2,
            ('*', Some('/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

/// The end of what is quoted by the character at `at`.
fn end_of_string(chars: &[char], at: usize) -> usize {
    let quote = chars[at];
    let mut at = at + 1;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn end_of_char(chars: &[char], at: usize) -> usize {
    end_of_string(chars, at)
}

/// How many `#` a raw string that begins at `at` has; where its quote is.
fn raw_string_hashes(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let prefix = chars[at..].iter().take_while(|c| matches!(c, 'r' | 'b' | 'c')).count();
    let has_r = chars[at..at + prefix].contains(&'r') && prefix <= 2;
    let hashes = chars[at + prefix..].iter().take_while(|c| **c == '#').count();
    let quote = at + prefix + hashes;
    (has_r && chars.get(quote) == Some(&'"')).then_some((hashes, quote))
}

fn end_of_raw_string(chars: &[char], at: usize) -> usize {
    let Some((hashes, quote)) = raw_string_hashes(chars, at) else { return at + 1 };
    let is_end = |from: &usize| {
        chars[*from] == '"'
            && chars[from + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    (quote + 1..chars.len()).find(is_end).map_or(chars.len(), |end| end + 1 + hashes)
}

/// The index behind the bracket that closes the one at `open`.
pub(super) fn behind_brackets(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The index behind the item that begins at `start`, its attributes read already: behind its `;`, or
/// behind its body.
pub(super) fn behind_item(tokens: &[Token], start: usize) -> usize {
    // a value's and an import's braces do not end them
    let has_body = !ends_at_semicolon(tokens, start);
    let mut at = start;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "{" if has_body => return behind_brackets(tokens, at),
            "(" | "[" | "{" => at = behind_brackets(tokens, at),
            _ => at += 1,
        }
    }
    at
}

fn ends_at_semicolon(tokens: &[Token], start: usize) -> bool {
    let mut at = start;
    if tokens[at].text == "pub" {
        at += 1;
        if tokens.get(at).is_some_and(|token| token.text == "(") {
            at = behind_brackets(tokens, at);
        }
    }
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    match text(at) {
        "use" | "static" | "type" => true,
        "const" => !matches!(text(at + 1), "fn" | "unsafe" | "async" | "extern"),
        _ => false,
    }
}

/// Whether the attribute whose `#` is at `at` leaves its item to tests.
fn is_cfg_test(tokens: &[Token], at: usize) -> bool {
    let words = ["#", "[", "cfg", "(", "test", ")", "]"];
    tokens.len() >= at + words.len()
        && tokens[at..].iter().zip(words).all(|(token, word)| token.text == word)
}

/// The tokens without items that are for tests only.
pub(super) fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if !is_cfg_test(tokens, at) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        while tokens.get(at).is_some_and(|token| token.text == "#") {
            at = behind_brackets(tokens, at + 1);
        }
        at = behind_item(tokens, at);
    }
    kept
}

#[test]
fn literals_and_comments_are_no_words() {
    let source = "let a = r#\"use b\"#; // use c\n/* use /* d */ */ 'e: 'f' b\"g\" '\\'' x::<T>()";
    let texts: Vec<String> = tokens(source).into_iter().map(|token| token.text).collect();
    let expected = [
        "let", "a", "=", "\"\"", ";", "'", ":", "\"\"", "\"\"", "\"\"", "x", "::", "<", "T", ">",
        "(", ")",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn items_of_tests_are_left_out() {
    let source = "#[cfg(test)]\nuse a::{b, c};\nfn d() {}\n#[cfg(test)] #[x] mod tests { fn e() {} }\nfn f() {}";
    let kept = without_tests(&tokens(source));
    let words: Vec<&str> =
        kept.iter().map(|token| token.text.as_str()).filter(|text| is_word(text)).collect();
    assert_eq!(words, ["fn", "d", "fn", "f"]);
    assert_eq!(kept.last().unwrap().line, 5);
}
