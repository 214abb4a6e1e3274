//! How long functions are.

use super::tokens::{Token, behind_item};

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// Where its `fn` is, counted from one.
    pub(super) line: usize,
    /// From there to the end of its body.
    pub(super) lines: usize,
}

/// All functions, those inside of others among them.
pub(super) fn functions(code: &[Token]) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let Some(name) = code.get(at + 1).filter(|_| token.text == "fn") else { continue };
        // `fn(u8) -> u8` is a type
        if name.text == "(" {
            continue;
        }
        let last = &code[behind_item(code, at) - 1];
        let lines = last.line + 1 - token.line;
        found.push(Function { name: name.text.clone(), line: token.line, lines });
    }
    found
}

#[test]
fn functions_are_as_long_as_their_lines() {
    let source = "impl A {\n  pub fn a(x: fn(u8)) -> impl B<C = [u8; 2]>\n  where X: Y {\n  }\n}\nfn b() { fn c() {} }\ntrait T { fn d(); }";
    let found: Vec<(String, usize)> = functions(&super::tokens::tokens(source))
        .into_iter()
        .map(|function| (function.name, function.lines))
        .collect();
    let expected = [("a", 3), ("b", 1), ("c", 1), ("d", 1)];
    assert_eq!(found, expected.map(|(name, lines)| (name.to_owned(), lines)));
}
