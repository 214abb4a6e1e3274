//! The modules of a crate, what each defines and imports, and the file in which a path ends.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::tokens::{Token, behind_brackets, behind_item, is_word, tokens, without_tests};

/// How many imports of imports a path may go through.
const STEPS_MAX: usize = 32;

/// What `use a::b as c` makes known: `c`, or all names for `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) path: Vec<String>,
    pub(super) alias: String,
    pub(super) line: usize,
}

/// A module of a crate: a file, or a part of one.
#[derive(Debug)]
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: Vec<String>,
    imports: Vec<Import>,
    /// All that its code says with `::`, imports inside of functions among it.
    paths: Vec<Import>,
}

/// The modules of one crate that are not for tests only.
#[derive(Debug)]
pub(super) struct Crate {
    modules: Vec<Module>,
}

/// That one file needs what another defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
    /// In `from`, counted from one.
    pub(super) line: usize,
    /// As it is written there.
    pub(super) path: String,
    /// Whether one of the two modules is within the other.
    pub(super) is_within: bool,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Edge { from, to, line, path, .. } = self;
        write!(f, "{}:{line}: {path} is in {}", from.display(), to.display())
    }
}

/// Reads the text of a file; `None` where there is none.
pub(super) type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

impl Crate {
    /// The crate whose first file is `root`, such as `src/lib.rs`.
    pub(super) fn new(root: &Path, read: Read) -> Crate {
        let mut found = Crate { modules: Vec::new() };
        let text = read(root).unwrap_or_else(|| panic!("{}: no such file", root.display()));
        let module = found.add(root, None);
        let dir = root.parent().unwrap().to_owned();
        found.read_module(module, &dir, &without_tests(&tokens(&text)), read);
        found
    }

    fn add(&mut self, file: &Path, parent: Option<usize>) -> usize {
        self.modules.push(Module {
            file: file.to_owned(),
            parent,
            children: BTreeMap::new(),
            items: Vec::new(),
            imports: Vec::new(),
            paths: Vec::new(),
        });
        self.modules.len() - 1
    }

    /// `dir` is where the files of its modules are.
    fn read_module(&mut self, module: usize, dir: &Path, code: &[Token], read: Read) {
        let mut at = 0;
        while at < code.len() {
            let text = |at: usize| code.get(at).map_or("", |token: &Token| token.text.as_str());
            let start = behind_visibility(code, at);
            match (text(start), text(start + 1)) {
                ("#", _) => {
                    at = behind_brackets(code, start + usize::from(text(start + 1) == "!") + 1)
                }
                ("mod", name) => {
                    let name = name.to_owned();
                    at = self.read_child(module, dir, code, start, &name, read);
                }
                ("use", _) => {
                    at = behind_item(code, start);
                    self.modules[module].imports.extend(use_tree(&code[start + 1..at - 1]));
                }
                _ => {
                    let end = behind_item(code, start);
                    let item = &code[start..end];
                    self.modules[module].items.extend(name_of_item(item));
                    self.modules[module].paths.extend(paths_in(item));
                    at = end.max(at + 1);
                }
            }
        }
    }

    /// A module `mod name;` or `mod name { .. }` whose `mod` is at `start`; the index behind it.
    fn read_child(
        &mut self,
        module: usize,
        dir: &Path,
        code: &[Token],
        start: usize,
        name: &str,
        read: Read,
    ) -> usize {
        let below = dir.join(name);
        if code.get(start + 2).is_some_and(|token| token.text == "{") {
            let end = behind_brackets(code, start + 2);
            let file = self.modules[module].file.clone();
            let child = self.add(&file, Some(module));
            self.modules[module].children.insert(name.to_owned(), child);
            self.read_module(child, &below, &code[start + 3..end - 1], read);
            return end;
        }
        let files = [dir.join(format!("{name}.rs")), below.join("mod.rs")];
        let found = files.iter().find_map(|file| Some((file, read(file)?)));
        let (file, text) = found.unwrap_or_else(|| panic!("mod {name}: none of {files:?}"));
        let child = self.add(file, Some(module));
        self.modules[module].children.insert(name.to_owned(), child);
        self.read_module(child, &below, &without_tests(&tokens(&text)), read);
        start + 3
    }

    /// The files that each file needs, once a pair of files.
    pub(super) fn edges(&self) -> Vec<Edge> {
        let mut edges = BTreeMap::new();
        for (at, module) in self.modules.iter().enumerate() {
            for import in module.imports.iter().chain(&module.paths) {
                let Some(to) = self.file_of(at, &import.path, 0) else { continue };
                if to == module.file {
                    continue;
                }
                let edge = Edge {
                    from: module.file.clone(),
                    to: to.to_owned(),
                    line: import.line,
                    path: import.path.join("::"),
                    is_within: self.is_within(&module.file, to) || self.is_within(to, &module.file),
                };
                edges.entry((edge.from.clone(), edge.to.clone())).or_insert(edge);
            }
        }
        edges.into_values().collect()
    }

    /// Whether the module of `inner` is somewhere below that of `outer`.
    fn is_within(&self, inner: &Path, outer: &Path) -> bool {
        let mut module = self.modules.iter().find(|module| module.file == inner);
        while let Some(found) = module {
            if found.file == outer {
                return true;
            }
            module = found.parent.map(|parent| &self.modules[parent]);
        }
        false
    }

    /// The file that defines what `path` names in the module `from`; `None` for other crates' and for
    /// modules themselves.
    fn file_of(&self, from: usize, path: &[String], steps: usize) -> Option<&Path> {
        if steps > STEPS_MAX {
            return None;
        }
        let mut module = from;
        let mut is_first = true;
        for (at, name) in path.iter().enumerate() {
            let found = &self.modules[module];
            match name.as_str() {
                "crate" => module = 0,
                "self" => {}
                "super" => module = found.parent?,
                "*" => return Some(&found.file),
                name => {
                    if let Some(child) = found.children.get(name) {
                        module = *child;
                    } else if found.items.iter().any(|item| item == name) {
                        return Some(&found.file);
                    } else {
                        return self.imported(module, &path[at..], is_first, steps);
                    }
                }
            }
            is_first &= matches!(name.as_str(), "self");
        }
        None
    }

    /// The file of a path that begins with a name that `module` imports.
    fn imported(
        &self,
        module: usize,
        path: &[String],
        is_first: bool,
        steps: usize,
    ) -> Option<&Path> {
        let found = &self.modules[module];
        let import = found.imports.iter().find(|import| {
            // `use a::a` names the crate or the module, not itself
            import.alias == path[0] && !(is_first && import.path.first() == path.first())
        });
        if let Some(import) = import {
            let whole: Vec<String> = import.path.iter().chain(&path[1..]).cloned().collect();
            return self.file_of(module, &whole, steps + 1);
        }
        let globs = found.imports.iter().filter(|import| import.alias == "*");
        for glob in globs {
            let mut whole = glob.path.clone();
            whole.pop();
            whole.extend(path.iter().cloned());
            let file = self.file_of(module, &whole, steps + 1);
            if file.is_some() {
                return file;
            }
        }
        // what a macro defines is its module's
        (!is_first).then_some(&*found.file)
    }
}

/// Behind `pub` and `pub(..)`, which begin at `at` or do not.
pub(super) fn behind_visibility(code: &[Token], at: usize) -> usize {
    if code.get(at).is_none_or(|token| token.text != "pub") {
        return at;
    }
    match code.get(at + 1) {
        Some(token) if token.text == "(" => behind_brackets(code, at + 1),
        _ => at + 1,
    }
}

/// Words that stand before an item's own keyword.
const BEFORE: [&str; 5] = ["const", "unsafe", "async", "extern", "default"];
const KEYWORDS: [&str; 9] =
    ["fn", "struct", "enum", "union", "trait", "type", "static", "const", "macro_rules"];

/// What an item that begins with its keywords is called; `impl` has no name.
pub(super) fn name_of_item(item: &[Token]) -> Option<String> {
    let keyword = item.iter().position(|token| {
        KEYWORDS.contains(&token.text.as_str()) && token.text != "const"
            || !BEFORE.contains(&token.text.as_str()) && token.text != "\"\""
    })?;
    let text = |at: usize| item.get(at).map_or("", |token| token.text.as_str());
    let name = match text(keyword) {
        "macro_rules" => text(keyword + 2),
        word if KEYWORDS.contains(&word) => text(keyword + 1),
        // `const NAME`: its keyword is among those before
        word if keyword > 0 && text(keyword - 1) == "const" && word != "fn" => word,
        _ => return None,
    };
    Some(name.to_owned())
}

/// The imports of `a::{b, c::{d as e, self}, f::*}`.
fn use_tree(code: &[Token]) -> Vec<Import> {
    let mut imports = Vec::new();
    add_use_tree(code, &[], &mut imports);
    imports
}

fn add_use_tree(code: &[Token], before: &[String], imports: &mut Vec<Import>) {
    let mut path = before.to_vec();
    let mut alias = None;
    let mut at = 0;
    while at < code.len() {
        match code[at].text.as_str() {
            "::" => {}
            "{" => {
                let end = behind_brackets(code, at);
                for part in split_at_commas(&code[at + 1..end - 1]) {
                    add_use_tree(part, &path, imports);
                }
                return;
            }
            "as" => {
                alias = code.get(at + 1).map(|token| token.text.clone());
                break;
            }
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    if let (Some(last), Some(token)) = (path.last().cloned(), code.first()) {
        imports.push(Import { alias: alias.unwrap_or(last), path, line: token.line });
    }
}

fn split_at_commas(code: &[Token]) -> Vec<&[Token]> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < code.len() {
        match code[at].text.as_str() {
            "{" => at = behind_brackets(code, at),
            "," => {
                parts.push(&code[start..at]);
                (start, at) = (at + 1, at + 1);
            }
            _ => at += 1,
        }
    }
    parts.push(&code[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// All paths of two or more words in an item, and the imports inside of it.
fn paths_in(code: &[Token]) -> Vec<Import> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let token = &code[at];
        if token.text == "use" {
            let end = behind_item(code, at);
            found.extend(use_tree(&code[at + 1..end - 1]));
            at = end;
            continue;
        }
        if !is_word(&token.text)
            || (at > 0 && matches!(code[at - 1].text.as_str(), "::" | "." | "$"))
        {
            at += 1;
            continue;
        }
        let mut path = vec![token.text.clone()];
        at += 1;
        while at + 1 < code.len() && code[at].text == "::" && is_word(&code[at + 1].text) {
            path.push(code[at + 1].text.clone());
            at += 2;
        }
        if path.len() > 1 {
            found.push(Import { alias: String::new(), path, line: token.line });
        }
    }
    found
}

#[test]
fn imports_lead_to_the_file_that_defines() {
    let sources = BTreeMap::from([
        ("lib.rs", "mod a;\nmod b;\npub use b::*;\nmod c { pub struct C; }"),
        (
            "a/mod.rs",
            "mod d;\nmod e;\npub(crate) use self::d::{D, F as G};\nuse super::b;\nfn f() { b::B }",
        ),
        ("a/d.rs", "use super::{e::E, super::b::{self, B}};\npub struct D;\npub struct F;"),
        (
            "a/e.rs",
            "use crate::{a::{G, H}, c::C};\npub struct E;\n#[cfg(test)] mod tests { use crate::b::B; }",
        ),
        ("b.rs", "use std::fmt;\npub struct B;\nfn f() { use crate::a::D; }"),
    ]);
    let read = |path: &Path| sources.get(path.to_str().unwrap()).map(|text| (*text).to_owned());
    let found = Crate::new(Path::new("lib.rs"), &read).edges();
    let found: Vec<(&str, &str, usize, bool)> = found
        .iter()
        .map(|edge| {
            let [from, to] = [&edge.from, &edge.to].map(|path| path.to_str().unwrap());
            (from, to, edge.line, edge.is_within)
        })
        .collect();
    let expected = [
        ("a/d.rs", "a/e.rs", 1, false),
        ("a/d.rs", "b.rs", 1, false),
        ("a/e.rs", "a/d.rs", 1, false),
        ("a/e.rs", "a/mod.rs", 1, true),
        ("a/e.rs", "lib.rs", 1, true),
        ("a/mod.rs", "a/d.rs", 3, true),
        ("a/mod.rs", "b.rs", 5, false),
        ("b.rs", "a/d.rs", 3, false),
        ("lib.rs", "b.rs", 3, true),
    ];
    assert_eq!(found, expected);
    let between: Vec<Edge> = Crate::new(Path::new("lib.rs"), &read)
        .edges()
        .into_iter()
        .filter(|edge| !edge.is_within)
        .collect();
    let circles = super::circles::circles(&between);
    let in_circles: Vec<String> = circles.iter().map(|edge| edge.to_string()).collect();
    assert_eq!(
        in_circles,
        [
            "a/d.rs:1: super::e::E is in a/e.rs",
            "a/d.rs:1: super::super::b::B is in b.rs",
            "a/e.rs:1: crate::a::G is in a/d.rs",
            "b.rs:3: crate::a::D is in a/d.rs",
        ]
    );
}
