//! Columns used as conditions.
//!
//! MariaDB stores the text of an expression as parsed, but prints it as resolved, when a column
//! used as a condition has become a comparison: `!a` is `a = 0` (`Item_func_not::fix_fields`), `a
//! and b` is `a <> 0 and b <> 0` (`Item_cond::fix_fields`, sql/item_cmpfunc.cc, MariaDB 10.11).

/// The kind of a token of an expression, as far as needed here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A name in backquotes.
    Column,
    And,
    Or,
    Xor,
    /// Any other token, also the `and` of a `between`.
    Other,
    /// The begin or end of an operand: parentheses, commas, the words of `case`.
    Edge,
    Not,
}

struct Token<'a> {
    text: &'a str,
    kind: Kind,
}

/// Returns the expression as the server prints it.
pub(super) fn resolved(expression: &str) -> String {
    let tokens = tokens(expression);
    let mut out = String::with_capacity(expression.len());
    let significant: Vec<usize> = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| !token.text.trim().is_empty())
        .map(|(place, _)| place)
        .collect();
    let kind_at = |place: Option<usize>| {
        place
            .and_then(|place| significant.get(place))
            .and_then(|place| tokens.get(*place))
            .map_or(Kind::Edge, |token| token.kind)
    };
    let mut nth = 0_usize;
    for token in &tokens {
        if token.text.trim().is_empty() {
            out.push_str(token.text);
            continue;
        }
        let (before, after) = (kind_at(nth.checked_sub(1)), kind_at(Some(nth + 1)));
        let before_not = kind_at(nth.checked_sub(2));
        match token.kind {
            Kind::Not if after == Kind::Column => {}
            Kind::Column if before == Kind::Not => {
                let alone = ends_operand(before_not) && ends_operand(after);
                out.push_str(&match alone {
                    true => format!("{} = 0", token.text),
                    false => format!("({} = 0)", token.text),
                });
            }
            Kind::Column if stands_for_condition(before, after) => {
                out.push_str(token.text);
                out.push_str(" <> 0");
            }
            _ => out.push_str(token.text),
        }
        nth += 1;
    }
    out
}

fn ends_operand(kind: Kind) -> bool {
    matches!(kind, Kind::And | Kind::Or | Kind::Xor | Kind::Edge)
}

/// Returns whether a column between two tokens is itself an operand of AND or OR. AND has the
/// highest precedence, then XOR, whose operands stay unchanged.
fn stands_for_condition(before: Kind, after: Kind) -> bool {
    let either = |kind: Kind| before == kind || after == kind;
    ends_operand(before)
        && ends_operand(after)
        && (either(Kind::And) || either(Kind::Or) && !either(Kind::Xor))
}

fn tokens(expression: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut depth = 0_u32;
    let mut betweens: Vec<u32> = Vec::new();
    let mut rest = expression;
    while let Some(letter) = rest.chars().next() {
        let len = token_len(rest, letter);
        let (text, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
        rest = after;
        let kind = match text {
            "(" | "," => Kind::Edge,
            ")" => {
                depth = depth.saturating_sub(1);
                betweens.retain(|open| *open <= depth);
                Kind::Edge
            }
            "!" => Kind::Not,
            "between" => {
                betweens.push(depth);
                Kind::Other
            }
            "and" if betweens.last() == Some(&depth) => {
                betweens.pop();
                Kind::Other
            }
            "and" => Kind::And,
            "or" => Kind::Or,
            "xor" => Kind::Xor,
            "case" | "when" | "then" | "else" | "end" => Kind::Edge,
            _ if letter == '`' => Kind::Column,
            _ => Kind::Other,
        };
        tokens.push(Token { text, kind });
        if text == "(" {
            depth += 1;
        }
    }
    tokens
}

/// Returns the bytes of the token at the beginning of `text`.
fn token_len(text: &str, first: char) -> usize {
    let while_all = |belongs: fn(char) -> bool| {
        text.find(|letter: char| !belongs(letter)).unwrap_or(text.len())
    };
    match first {
        '`' | '\'' | '"' => quoted_len(text, first),
        _ if first.is_whitespace() => while_all(char::is_whitespace),
        _ if is_word(first) => while_all(is_word),
        // `!=` is no negation.
        '!' if text.starts_with("!=") => 2,
        _ => first.len_utf8(),
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

fn quoted_len(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && quote != '`' {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn as_seen_on_servers() {
        for (written, shown) in [
            ("!`a`", "`a` = 0"),
            ("`a` and `b` or !`a` xor `b`", "`a` <> 0 and `b` <> 0 or `a` = 0 xor `b`"),
            ("if(`a` > 1 and `a` < 5 or !`a`,1,0)", "if(`a` > 1 and `a` < 5 or `a` = 0,1,0)"),
            ("`a` between `b` and `c`", "`a` between `b` and `c`"),
            ("`a` between 1 and `b` and `c`", "`a` between 1 and `b` and `c` <> 0"),
            ("concat(`a`,' and `b` or ')", "concat(`a`,' and `b` or ')"),
            ("`a` + 1 and `b`", "`a` + 1 and `b` <> 0"),
            ("`a` or `b` xor `c`", "`a` <> 0 or `b` xor `c`"),
            ("!`a` + 5", "(`a` = 0) + 5"),
        ] {
            assert_eq!(resolved(written), shown);
        }
    }
}
