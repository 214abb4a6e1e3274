//! Public items that nobody uses, or nobody outside of their file.
//!
//! Names are compared, not what they stand for: an item is taken for used where another has its name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::modules::{behind_visibility, name_of_item};
use super::tokens::{Token, behind_item, is_word, tokens, without_tests};

/// `fn` is among so many words of a function: `const unsafe extern "C" fn`.
const FN_WITHIN: usize = 5;

/// How far an item can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visibility {
    /// `pub`.
    Public,
    /// `pub(crate)`, `pub(super)`.
    Restricted,
}

/// An item that others may use: a type, a function, a method, a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) visibility: Visibility,
    pub(super) is_function: bool,
    pub(super) line: usize,
}

/// Those of a file, `impl` blocks and inner modules included, without those of tests.
pub(super) fn public_items(code: &[Token]) -> Vec<Item> {
    let code = without_tests(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let start = behind_visibility(&code, at);
        if start == at {
            at += 1;
            continue;
        }
        let end = behind_item(&code, start);
        let text = code[start].text.as_str();
        let name = match text {
            "use" | "mod" => None,
            _ => name_of_item(&code[start..end]),
        };
        let visibility = if start == at + 1 { Visibility::Public } else { Visibility::Restricted };
        let is_function = code[start..].iter().take(FN_WITHIN).any(|token| token.text == "fn");
        found.extend(name.map(|name| Item { name, visibility, is_function, line: code[at].line }));
        at = start;
    }
    found
}

/// The words of a file's code and of the examples in its docs, each as often as it stands there;
/// re-exports are no uses, nor is the word behind `fn`, `struct` and the like.
fn used_words(source: &str) -> BTreeSet<String> {
    let code = tokens(&(source.to_owned() + "\n" + &examples(source)));
    let mut words = BTreeSet::new();
    let mut at = 0;
    while at < code.len() {
        let start = behind_visibility(&code, at);
        if start > at && code.get(start).is_some_and(|token| token.text == "use") {
            at = behind_item(&code, start);
            continue;
        }
        let text = &code[at].text;
        let is_definition = at > 0 && DEFINES.contains(&code[at - 1].text.as_str());
        if is_word(text) && !is_definition {
            words.insert(text.clone());
        }
        // what a format string names in braces is no token; nothing public is used so alone
        at += if text == "pub" { start - at } else { 1 };
    }
    words
}

const DEFINES: [&str; 8] = ["fn", "struct", "enum", "union", "trait", "type", "static", "const"];

/// The code between the fences of doc comments.
fn examples(source: &str) -> String {
    let mut inside = false;
    let mut code = String::new();
    for line in source.lines() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            inside = false;
            continue;
        };
        if text.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside {
            code += text.trim_start_matches(" #");
            code.push('\n');
        }
    }
    code
}

/// Which files use which words.
pub(super) struct Uses<'s> {
    files: BTreeMap<&'s Path, BTreeSet<String>>,
}

impl<'s> Uses<'s> {
    pub(super) fn new(sources: &'s [(PathBuf, String)]) -> Uses<'s> {
        let files = sources.iter().map(|(path, text)| (&**path, used_words(text))).collect();
        Uses { files }
    }

    /// Whether a file that `by` chooses uses a name.
    pub(super) fn is_used(&self, name: &str, by: impl Fn(&Path) -> bool) -> bool {
        self.files.iter().any(|(path, words)| by(path) && words.contains(name))
    }
}

#[test]
fn what_is_public_is_found_and_who_uses_it() {
    let lib = "pub mod m;\npub use m::b;\npub struct A;\nimpl A { pub(crate) fn a() {} fn c() {} }\n\
               pub const B: u8 = 1;\n#[cfg(test)]\nmod tests { pub fn t() {} }";
    let items: Vec<(String, Visibility)> =
        public_items(&tokens(lib)).into_iter().map(|item| (item.name, item.visibility)).collect();
    let expected =
        [("A", Visibility::Public), ("a", Visibility::Restricted), ("B", Visibility::Public)];
    assert_eq!(items, expected.map(|(name, visibility)| (name.to_owned(), visibility)));
    let other = "/// Not A.\n/// ```\n/// let x = a();\n/// ```\nfn f() { B; }";
    let sources = [("lib.rs".into(), lib.to_owned()), ("other.rs".into(), other.to_owned())];
    let uses = Uses::new(&sources);
    let by_other = |name: &str| uses.is_used(name, |path| path == Path::new("other.rs"));
    assert_eq!(["A", "a", "B", "b", "f"].map(by_other), [false, true, true, false, false]);
    assert!(uses.is_used("A", |_| true) && !uses.is_used("b", |_| true));
}
