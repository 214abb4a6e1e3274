//! Contents of literals, without quotes and escapes.

/// Appends the content of `'it''s\n'` (or the same in double quotes) to `out`, with escapes as the
/// server reads them (`get_text`, sql_lex.cc): an unknown escape is the character itself, but `\%`
/// and `\_` keep their backslash.
pub(super) fn unescape(text: &str, out: &mut String) {
    let mut inner = text.chars();
    let quote = inner.next();
    inner.next_back();
    while let Some(c) = inner.next() {
        if Some(c) == quote {
            inner.next();
            out.push(c);
        } else if c == '\\' {
            match inner.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('b') => out.push('\u{8}'),
                Some('0') => out.push('\0'),
                Some('Z') => out.push('\u{1a}'),
                Some(wild @ ('%' | '_')) => out.extend(['\\', wild]),
                Some(other) => out.push(other),
                None => {}
            }
        } else {
            out.push(c);
        }
    }
}

/// Returns the name in a quoted identifier such as `` `a``b` ``.
pub(super) fn without_quotes(text: &str, quote: char) -> String {
    let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)).unwrap_or(text);
    let doubled: String = [quote, quote].iter().collect();
    inner.replace(&doubled, quote.encode_utf8(&mut [0; 4]))
}

/// Returns the bytes of `x'4D'`, `X'4D'` or `0x4D`; `None` when the digits are not hexadecimal or,
/// in quotes, not in pairs.
pub(super) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let (digits, padded) = match text.strip_prefix("0x") {
        Some(digits) => (digits, digits.len() % 2 == 1),
        None => (text.get(2..)?.strip_suffix('\'')?, false),
    };
    let mut nibbles = digits.chars().map(|c| c.to_digit(16));
    let mut bytes = Vec::with_capacity(digits.len().div_ceil(2));
    if padded {
        bytes.push(u8::try_from(nibbles.next()??).ok()?);
    }
    while let Some(high) = nibbles.next() {
        bytes.push(u8::try_from(high? * 16 + nibbles.next()??).ok()?);
    }
    Some(bytes)
}
