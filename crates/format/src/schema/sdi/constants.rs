//! String literals of expressions, as the server prints them.
//!
//! The dictionary stores an expression as typed: `` concat(`c`,_utf8mb4'x') ``. When it opens the
//! table, the server converts the arguments of a function to one charset, a literal to the
//! column's, and prints the result: `` concat(`c`,_latin1'x') `` (`agg_item_charsets`,
//! `DTCollation::aggregate`, item.cc, MySQL 9.7). This module does the same where one column's
//! charset decides; where columns of several charsets meet, the literal is in a function of its
//! own, or its letters have other bytes there, the text stays unchanged: it means the same.

use std::ops::Range;

use crate::charset::Charset;
use crate::schema::{ColumnDef, ServerVersion};
use crate::types::ColumnType;

/// The maximum nesting of an expression, which no server exceeds.
const DEEPEST: u32 = 200;

/// Returns `expression` with its literals in the charsets that the server gives them.
pub(super) fn convert(expression: &str, columns: &[ColumnDef], server: ServerVersion) -> String {
    if !expression.contains('\'') {
        return expression.to_owned();
    }
    let mut reader = Reader {
        text: expression,
        tokens: tokens(expression),
        at: 0,
        columns,
        server,
        converted: Vec::new(),
    };
    if reader.arguments(0).is_none() {
        return expression.to_owned();
    }
    let mut converted = reader.converted;
    converted.sort_by_key(|(introducer, _)| introducer.start);
    let mut out = String::with_capacity(expression.len());
    let mut end = 0;
    for (introducer, charset) in converted {
        out += expression.get(end..introducer.start).unwrap_or_default();
        out += &format!("_{}", charset.name());
        end = introducer.end;
    }
    out + expression.get(end..).unwrap_or_default()
}

/// A token of an expression.
#[derive(Clone, Debug)]
enum Token {
    /// A name in backquotes.
    Name(String),
    /// A literal in quotes, with an introducer.
    Literal { introducer: Range<usize>, charset: Charset, text: Range<usize> },
    /// A word or a number.
    Word(Range<usize>),
    /// A lone character.
    Sign(char),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        let word_len = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.')));
        let word_len = word_len.unwrap_or(rest.len());
        if first == '`' {
            let len = quoted_len(rest, '`');
            let name = rest.get(1..len.saturating_sub(1)).unwrap_or_default();
            tokens.push(Token::Name(name.replace("``", "`")));
            at += len;
        } else if first == '\'' {
            let len = quoted_len(rest, '\'');
            let charset = match tokens.last() {
                Some(Token::Word(word)) if word.end == at => {
                    let introducer = text.get(word.clone()).and_then(|word| word.strip_prefix('_'));
                    introducer.and_then(Charset::by_name).map(|charset| (word.clone(), charset))
                }
                _ => None,
            };
            match charset {
                Some((introducer, charset)) => {
                    tokens.pop();
                    tokens.push(Token::Literal { introducer, charset, text: at..at + len });
                }
                None => tokens.push(Token::Sign('\'')),
            }
            at += len;
        } else if word_len > 0 {
            tokens.push(Token::Word(at..at + word_len));
            at += word_len;
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            at += first.len_utf8();
        }
    }
    tokens
}

/// Returns the length of a quoted text, to the quote that is neither doubled nor escaped.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = chars.next() {
        if character == '\\' && quote == '\'' {
            chars.next();
        } else if character == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// The role of an operand in the choice of a charset.
#[derive(Clone, Debug)]
enum Operand {
    /// Text that decides the charset: a column, or a value derived from one.
    Text(Charset),
    /// A literal, by its token.
    Literal(usize),
    /// The list after IN.
    List(Vec<Operand>),
    /// An operand without influence on the charset.
    Other,
}

/// An element of an argument.
#[derive(Debug)]
enum Item {
    Operand(Operand),
    /// A word in lower case.
    Word(String),
    Sign(char),
}

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    columns: &'a [ColumnDef],
    server: ServerVersion,
    converted: Vec<(Range<usize>, Charset)>,
}

impl Reader<'_> {
    /// Parses the arguments up to the closing parenthesis or the end; `None` when they nest too
    /// deep.
    fn arguments(&mut self, depth: u32) -> Option<Vec<Vec<Item>>> {
        if depth > DEEPEST {
            return None;
        }
        let mut arguments = vec![Vec::new()];
        while let Some(token) = self.tokens.get(self.at).cloned() {
            let place = self.at;
            self.at += 1;
            let item = match token {
                Token::Sign(')') => break,
                Token::Sign(',') => {
                    arguments.push(Vec::new());
                    continue;
                }
                Token::Sign('(') => {
                    let inner = self.arguments(depth + 1)?;
                    Item::Operand(self.group(inner))
                }
                Token::Sign(sign) => Item::Sign(sign),
                Token::Name(name) => Item::Operand(self.column(&name)),
                Token::Literal { .. } => Item::Operand(Operand::Literal(place)),
                Token::Word(word) => {
                    let word = self.text.get(word).unwrap_or_default().to_ascii_lowercase();
                    let called = matches!(self.tokens.get(self.at), Some(Token::Sign('(')));
                    if called
                        && !matches!(word.as_str(), "in" | "and" | "or" | "then" | "else" | "when")
                    {
                        self.at += 1;
                        let inner = self.arguments(depth + 1)?;
                        Item::Operand(self.call(&word, inner))
                    } else {
                        Item::Word(word)
                    }
                }
            };
            if let Some(argument) = arguments.last_mut() {
                argument.push(item);
            }
        }
        Some(arguments)
    }

    fn column(&self, name: &str) -> Operand {
        let column = self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        match column.map(|column| &column.ty) {
            Some(
                ColumnType::Char { collation, .. }
                | ColumnType::VarChar { collation, .. }
                | ColumnType::Text { collation, .. }
                | ColumnType::Enum { collation, .. }
                | ColumnType::Set { collation, .. },
            ) => collation.charset().map_or(Operand::Other, Operand::Text),
            _ => Operand::Other,
        }
    }

    /// Returns the operand of an expression in parentheses: a list, a comparison, a CASE.
    fn group(&mut self, arguments: Vec<Vec<Item>>) -> Operand {
        let mut arguments = arguments;
        if arguments.len() > 1 {
            return Operand::List(arguments.iter().map(|argument| sole(argument)).collect());
        }
        let Some(items) = arguments.pop() else { return Operand::Other };
        if let [Item::Operand(operand)] = items.as_slice() {
            return operand.clone();
        }
        if matches!(items.first(), Some(Item::Word(word)) if word == "case") {
            return self.case(&items);
        }
        let compares = |item: &Item| match item {
            Item::Sign(sign) => matches!(sign, '=' | '<' | '>'),
            Item::Word(word) => matches!(word.as_str(), "like" | "in" | "between"),
            Item::Operand(_) => false,
        };
        if items.iter().any(compares) {
            // The escape character of LIKE had no influence in 8.0.12.
            let old = self.is_old();
            let before_escape =
                |item: &&Item| !old || !matches!(item, Item::Word(word) if word == "escape");
            let compared = items.iter().take_while(before_escape).filter_map(operand);
            let compared: Vec<_> = compared.collect();
            self.unite(&compared);
        }
        Operand::Other
    }

    /// Returns the operand of `case [x] when .. then .. else .. end`: the compared values are
    /// united, and so are the results.
    fn case(&mut self, items: &[Item]) -> Operand {
        let (mut compared, mut results) = (Vec::new(), Vec::new());
        for pair in items.windows(2) {
            let [Item::Word(word), Item::Operand(operand)] = pair else { continue };
            match word.as_str() {
                "then" | "else" => results.push(operand.clone()),
                _ => compared.push(operand.clone()),
            }
        }
        if matches!(items.get(1), Some(Item::Operand(_))) {
            self.unite(&compared);
        }
        self.unite(&results)
    }

    /// Returns the operand of a function call: unites its arguments, as far as the function does.
    fn call(&mut self, name: &str, arguments: Vec<Vec<Item>>) -> Operand {
        let all: Vec<Operand> = arguments.iter().map(|argument| sole(argument)).collect();
        let some = |places: &[usize]| -> Vec<Operand> {
            places.iter().filter_map(|place| all.get(*place).cloned()).collect()
        };
        match name {
            "concat" | "concat_ws" | "coalesce" | "ifnull" | "greatest" | "least" => {
                self.unite(&all)
            }
            // 8.0.33 ignores the last argument; 8.0.12 and 9.7 do not.
            "replace" if (80_013..90_000).contains(&self.server.number) => {
                self.unite(&some(&[0, 1]))
            }
            "replace" => self.unite(&all),
            "if" | "elt" | "make_set" => self.unite(all.get(1..).unwrap_or_default()),
            "insert" => self.unite(&some(&[0, 3])),
            "lpad" | "rpad" => self.unite(&some(&[0, 2])),
            "substring_index" if self.is_old() => self.unite(&some(&[0, 1])),
            "instr" | "locate" | "strcmp" | "find_in_set" | "nullif" | "regexp_like"
            | "regexp_instr" => {
                self.unite(&some(&[0, 1]));
                Operand::Other
            }
            "field" => {
                self.unite(&all);
                Operand::Other
            }
            "trim" if self.is_old() => {
                let operands = arguments.iter().flatten().filter_map(operand);
                self.unite(&operands.collect::<Vec<_>>())
            }
            "trim" => match arguments.iter().flatten().filter_map(operand).next_back() {
                Some(Operand::Text(charset)) => Operand::Text(charset),
                _ => Operand::Other,
            },
            "substring_index" | "lower" | "upper" | "lcase" | "ucase" | "left" | "right"
            | "substr" | "substring" | "mid" | "reverse" | "ltrim" | "rtrim" | "repeat" => {
                match all.into_iter().next() {
                    Some(Operand::Text(charset)) => Operand::Text(charset),
                    _ => Operand::Other,
                }
            }
            "cast" | "convert" => named_charset(&arguments).map_or(Operand::Other, Operand::Text),
            _ => Operand::Other,
        }
    }

    /// Returns whether the server behaves like 8.0.12; the version before 8.0.33 in which that
    /// ended is not known.
    fn is_old(&self) -> bool {
        self.server.number < 80_013
    }

    /// Converts operands to one charset, if one of them decides.
    fn unite(&mut self, operands: &[Operand]) -> Operand {
        let mut flat = Vec::new();
        for operand in operands {
            match operand {
                Operand::List(list) => flat.extend(list.iter()),
                other => flat.push(other),
            }
        }
        let mut charsets = flat.iter().filter_map(|operand| match operand {
            Operand::Text(charset) => Some(*charset),
            _ => None,
        });
        let Some(to) = charsets.next() else { return Operand::Other };
        if charsets.any(|other| other != to) {
            return Operand::Other;
        }
        for operand in flat {
            if let Operand::Literal(place) = operand {
                self.convert_literal(*place, to);
            }
        }
        Operand::Text(to)
    }

    fn convert_literal(&mut self, place: usize, to: Charset) {
        let Some(Token::Literal { introducer, charset, text }) = self.tokens.get(place) else {
            return;
        };
        let text = self.text.get(text.clone()).unwrap_or_default();
        let unicode = |charset| matches!(charset, Charset::Utf8Mb3 | Charset::Utf8Mb4);
        let same_bytes = text.is_ascii() && to.min_len() == 1
            || unicode(to) && unicode(*charset) && text.chars().all(|letter| letter <= '\u{ffff}');
        if *charset != to && *charset != Charset::Binary && same_bytes {
            self.converted.push((introducer.clone(), to));
        }
    }
}

/// Returns the operand that an argument consists of, if it is a single one.
fn sole(argument: &[Item]) -> Operand {
    match argument {
        [Item::Operand(operand)] => operand.clone(),
        _ => Operand::Other,
    }
}

fn operand(item: &Item) -> Option<Operand> {
    match item {
        Item::Operand(operand) => Some(operand.clone()),
        _ => None,
    }
}

/// Returns the charset in `cast(x as char(10) charset latin1)` and `convert(x using latin1)`.
fn named_charset(arguments: &[Vec<Item>]) -> Option<Charset> {
    let mut words = arguments.iter().flatten().filter_map(|item| match item {
        Item::Word(word) => Some(word.as_str()),
        _ => None,
    });
    words.find(|word| matches!(*word, "charset" | "using"))?;
    Charset::by_name(words.next()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charset::CollationId;

    #[test]
    fn literals_follow_the_column() {
        let text = |name: &str, collation| {
            let ty = ColumnType::VarChar { chars: 9, collation: CollationId(collation) };
            ColumnDef::new(name, ty)
        };
        let columns = [text("c", 8), text("u", 33), text("m", 255)];
        let print =
            |expression: &str| convert(expression, &columns, ServerVersion::from_number(90704));
        let same = [
            "concat(`m`,_utf8mb4'x')",
            "concat(`n`,_utf8mb4'x')",
            "concat(`c`,_utf8mb4'é')",
            "concat(`c`,`m`,_utf8mb4'x')",
            "concat(`u`,_utf8mb4'😀')",
            "json_extract(`c`,_utf8mb4'$.a')",
            "(`c` + _utf8mb4'1')",
            "_utf8mb4'",
            "``_utf8mb4''(",
        ];
        for expression in same {
            assert_eq!(print(expression), expression);
        }
        let changed = [
            ("concat(`c`,_utf8mb4'a\\'b``',1)", "concat(`c`,_latin1'a\\'b``',1)"),
            ("concat(upper(`u`),_utf8mb4'é')", "concat(upper(`u`),_utf8mb3'é')"),
            (
                "(`c` like _utf8mb4'x%' escape _utf8mb4'z')",
                "(`c` like _latin1'x%' escape _latin1'z')",
            ),
            ("(`c` in (_utf8mb4'x',_utf8mb4'y'))", "(`c` in (_latin1'x',_latin1'y'))"),
            ("if((`c` = _utf8mb4'x'),`u`,_utf8mb4'y')", "if((`c` = _latin1'x'),`u`,_utf8mb3'y')"),
            (
                "(case when (`c` > _utf8mb4'x') then `c` else _utf8mb4'y' end)",
                "(case when (`c` > _latin1'x') then `c` else _latin1'y' end)",
            ),
            (
                "(convert(`c` using utf8mb4) <> _latin1'x')",
                "(convert(`c` using utf8mb4) <> _utf8mb4'x')",
            ),
        ];
        for (expression, printed) in changed {
            assert_eq!(print(expression), printed);
        }
        let deep = "(".repeat(100_000) + "_utf8mb4'x'";
        assert_eq!(print(&deep), deep);
    }
}
