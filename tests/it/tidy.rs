//! The invariants of ARCHITECTURE.md that a test can enforce.

mod circles;
mod functions;
mod modules;
mod tokens;
mod unused;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::circles::circles;
use self::functions::functions;
use self::modules::{Crate, Edge};
use self::tokens::{tokens, without_tests};
use self::unused::{Uses, Visibility, public_items};
use crate::string_literals;

/// Lines a source file may have before its tests.
const FILE_LINES_MAX: usize = 600;
/// Lines a function may have.
const FUNCTION_LINES_MAX: usize = 70;

/// Files that need each other for good: a grammar's rules do.
const RECURSIVE: [(&str, &[&str]); 2] = [
    ("crates/format/src/schema/ddl", &["columns.rs", "keys.rs"]),
    ("crates/format/src/schema/frm", &["columns.rs", "defaults.rs", "expressions.rs"]),
];

fn root() -> PathBuf {
    crate::tests_dir("..").canonicalize().unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below `dir` for which `keep` holds.
fn files_below(dir: &Path, keep: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if keep(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn rust_sources() -> Vec<(PathBuf, String)> {
    files_below(&root().join("crates"), &|path| path.extension().is_some_and(|ext| ext == "rs"))
        .into_iter()
        .map(|path| {
            let text = read(&path);
            (path.strip_prefix(root()).unwrap().to_owned(), text)
        })
        .collect()
}

/// The crates of this workspace that a crate's `[dependencies]` name.
fn workspace_dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]"));
    section
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| name.starts_with("innoscan"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn crates_import_only_what_the_architecture_says() {
    let allowed: [(&str, &[&str]); 11] = [
        ("format", &[]),
        ("io", &[]),
        ("testkit", &["format", "io"]),
        ("engine", &["format", "io"]),
        ("catalog", &["format", "io", "engine"]),
        ("innoscan", &["format", "io", "engine", "catalog"]),
        ("columnar", &["format", "engine"]),
        ("export", &["format", "io", "engine", "catalog", "columnar"]),
        ("tools", &["format", "io", "engine", "catalog"]),
        ("live", &["format", "io", "engine", "catalog", "export"]),
        ("cli", &["format", "io", "engine", "catalog", "columnar", "export", "tools", "live"]),
    ];
    let crates: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(crates, allowed.iter().map(|(name, _)| (*name).to_owned()).collect());
    for (name, allowed) in allowed {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        for dependency in workspace_dependencies(&manifest) {
            let name_of = |krate: &&str| format!("innoscan-{krate}");
            let is_allowed = allowed.iter().map(name_of).any(|allowed| allowed == dependency);
            assert!(is_allowed, "crates/{name} must not need {dependency}");
        }
    }
}

/// What a crate's files need of each other; paths are those inside the repository.
fn edges_of(krate: &str) -> Vec<Edge> {
    let source = Path::new("crates").join(krate).join("src");
    let first = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let first = first.iter().find(|path| root().join(path).exists()).unwrap();
    let read = |path: &Path| std::fs::read_to_string(root().join(path)).ok();
    let edges = Crate::new(first, &read).edges();
    assert!(!edges.is_empty(), "{krate}: its imports were not found");
    edges
}

/// The crates below `crates`.
fn crates() -> Vec<String> {
    let names = std::fs::read_dir(root().join("crates")).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn files_of_a_crate_do_not_need_each_other() {
    let edges: Vec<Edge> = crates().iter().flat_map(|krate| edges_of(krate)).collect();
    // what a module's own file and those below it share is the module's business
    let between: Vec<Edge> = edges.into_iter().filter(|edge| !edge.is_within).collect();
    let both_in = |edge: &Edge, dir: &str, from: &[&str], to: &[&str]| {
        let is = |path: &Path, names: &[&str]| {
            names.iter().any(|name| path == Path::new(dir).join(name))
        };
        is(&edge.from, from) && is(&edge.to, to)
    };
    let mut wrong = Vec::new();
    for edge in circles(&between) {
        if RECURSIVE.iter().any(|(dir, files)| both_in(edge, dir, files, files)) {
            continue;
        }
        wrong.push(edge.to_string());
    }
    assert!(wrong.is_empty(), "in circles:\n{}", wrong.join("\n"));
}

#[test]
fn modules_import_in_one_direction() {
    let engine: [(&str, &[&str]); 5] = [
        ("ahead", &["pool", "scan", "walk", "space"]),
        ("pool", &["scan", "walk"]),
        ("walk", &["scan"]),
        ("scan", &["rows", "splits"]),
        ("stats", &["scan", "pool", "walk", "space", "ahead"]),
    ];
    let catalog: [(&str, &[&str]); 2] =
        [("catalog", &["source", "ledger"]), ("ledger", &["source"])];
    let export: [(&str, &[&str]); 2] =
        [("sink", &["dump", "verify", "listing"]), ("dump", &["verify", "listing"])];
    let tools: [(&str, &[&str]); 1] = [("explain", &["warm", "bench"])];
    let format: [(&str, &[&str]); 4] = [
        ("page", &["schema", "types"]),
        ("types", &["page", "layout", "record"]),
        ("charset", &["schema", "types", "page", "layout", "record"]),
        ("record", &["schema", "types", "layout"]),
    ];
    for (krate, forbidden) in [
        ("engine", &engine[..]),
        ("catalog", &catalog[..]),
        ("export", &export[..]),
        ("tools", &tools[..]),
        ("format", &format[..]),
    ] {
        let source = Path::new("crates").join(krate).join("src");
        let module = |path: &Path| {
            let inside = path.strip_prefix(&source).unwrap().components().next().unwrap();
            inside.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
        };
        for edge in edges_of(krate) {
            let (from, to) = (module(&edge.from), module(&edge.to));
            let rule = forbidden.iter().find(|(name, _)| *name == from);
            let is_allowed = rule.is_none_or(|(_, targets)| !targets.contains(&&*to));
            assert!(is_allowed, "{edge}: {from} must not import {to}");
        }
    }
}

#[test]
fn functions_are_short() {
    for (path, text) in rust_sources() {
        if path.file_name().is_some_and(|name| name == "tests.rs") {
            continue;
        }
        for function in functions(&without_tests(&tokens(&text))) {
            assert!(
                function.lines <= FUNCTION_LINES_MAX,
                "{}:{}: {} has {} lines",
                path.display(),
                function.line,
                function.name,
                function.lines
            );
        }
    }
}

#[test]
fn what_is_public_is_used() {
    let mut all = rust_sources();
    for dir in ["tests/it", "fuzz", "python/src", "sql/src"] {
        let is_source = |path: &Path| {
            path.extension().is_some_and(|ext| ext == "rs")
                && !path.components().any(|part| part.as_os_str() == "target")
        };
        let files = files_below(&root().join(dir), &is_source);
        all.extend(files.into_iter().map(|path| (path.clone(), read(&path))));
    }
    let uses = Uses::new(&all);
    let mut wrong = Vec::new();
    for (path, text) in all.iter().filter(|(path, _)| path.starts_with("crates")) {
        let krate: PathBuf = path.components().take(2).collect();
        for item in public_items(&tokens(text)) {
            let place = format!("{}:{}: {}", path.display(), item.line, item.name);
            let by_others = |by: &Path| by != path && by.starts_with(&krate);
            if !uses.is_used(&item.name, |_| true) {
                wrong.push(format!("{place}: nobody uses it"));
            } else if item.visibility == Visibility::Restricted
                && item.is_function
                && !uses.is_used(&item.name, by_others)
            {
                wrong.push(format!("{place}: nobody uses it outside of its file"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsafe_lives_in_the_io_crate_alone() {
    for (path, text) in rust_sources() {
        if path.starts_with("crates/io") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let hit =
                ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|form| code.contains(form));
            assert!(!hit, "{}:{}: unsafe", path.display(), number + 1);
        }
    }
}

#[test]
fn the_format_touches_no_file_thread_or_clock() {
    for (path, text) in rust_sources() {
        if !path.starts_with("crates/format/src") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap();
        for outside in ["std::fs", "std::io", "std::thread", "std::time", "std::env", "std::net"] {
            assert!(!code.contains(outside), "{}: {outside}", path.display());
        }
    }
}

#[test]
fn the_libraries_name_no_option_of_the_command_line() {
    for (path, text) in rust_sources() {
        let is_library =
            !["crates/cli", "crates/testkit"].iter().any(|other| path.starts_with(other));
        let name = path.file_name().unwrap().to_str().unwrap();
        if !is_library || name.ends_with("tests.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap();
        for literal in string_literals::of(code) {
            let option = string_literals::option_in(&literal);
            assert_eq!(option, None, "{}: {literal:?}", path.display());
        }
    }
}

#[test]
fn files_are_small() {
    for (path, text) in rust_sources() {
        let tests_apart = path.file_name().is_some_and(|name| name == "tests.rs");
        let generated = text.starts_with("// Generated by ");
        if tests_apart || generated {
            continue;
        }
        let lines = text.split("#[cfg(test)]").next().unwrap().lines().count();
        assert!(lines <= FILE_LINES_MAX, "{}: {lines} lines", path.display());
    }
}

#[test]
fn lints_are_expected_with_a_reason_never_allowed() {
    for (path, text) in rust_sources() {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let bare = line.starts_with("#[allow(") || line.starts_with("#![allow(");
            assert!(!bare, "{}:{}: a bare allow", path.display(), number + 1);
        }
    }
}

#[test]
fn every_fixture_is_read_by_a_test_or_a_script() {
    let data = root().join("tests/data");
    let text_of = |dir: &str, ext: &str| -> String {
        files_below(&root().join(dir), &|path| path.extension().is_some_and(|found| found == ext))
            .iter()
            .map(|path| read(path))
            .collect()
    };
    let mut users = text_of("tests/it", "rs") + &text_of("crates", "rs") + &text_of("tests", "sh");
    users += &read(&root().join("Makefile"));
    for entry in std::fs::read_dir(&data).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = name == "README.md" || name == "make.sh";
        let stem = name.split(".tar").next().unwrap();
        assert!(known || users.contains(stem), "tests/data/{name}: no test reads it");
    }
}

/// The compiler keeps the fields of a `Page` inside one file; in it there is one way to a page from
/// bytes that nobody has looked at.
#[test]
fn a_page_has_one_door() {
    let (path, text) = rust_sources()
        .into_iter()
        .find(|(path, _)| path.ends_with("format/src/page/open.rs"))
        .expect("the file that opens pages");
    let fields = text.split("pub struct Page<'a> {").nth(1).unwrap().split('}').next().unwrap();
    assert!(!fields.contains("pub"), "{}: the fields of a page are its own", path.display());
    let signatures = text.split("pub fn ").skip(1).map(|rest| rest.split('{').next().unwrap());
    let doors: Vec<&str> = signatures
        .filter(|signature| signature.contains("Page<'") && signature.contains("-> "))
        .filter(|signature| signature.rsplit("-> ").next().unwrap().contains("Page<'"))
        .map(|signature| signature.split(['(', '<']).next().unwrap())
        .collect();
    assert_eq!(doors, ["as_page", "open"], "{}", path.display());
    let owned = text.split("for OwnedPage").count() + text.split("-> OwnedPage").count();
    assert_eq!(owned, 3, "an owned page is made of a page alone");
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let (names, after) = rest.split_once('}').unwrap_or_else(|| panic!("{path}"));
    names.split(',').map(|name| format!("{before}{name}{after}")).collect()
}

#[test]
fn the_map_names_files_that_exist() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let map = text.split("## Where to find it").nth(1).unwrap();
    let map = map.split("\n## ").next().unwrap();
    let mut base = root();
    let (mut named, mut missing) = (0, Vec::new());
    for line in map.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            base = root().join(heading.split('`').nth(1).unwrap_or_default());
        }
        let Some(answer) = line.strip_prefix("| ").and_then(|row| row.split(" | ").nth(1)) else {
            continue;
        };
        for token in answer.split('`').skip(1).step_by(2) {
            let is_path =
                token.contains('/') || [".rs", ".cc", ".h"].iter().any(|end| token.ends_with(end));
            for path in expanded(token).iter().filter(|_| is_path) {
                named += 1;
                let places =
                    [base.join(path), root().join(path), root().join("lra-plugin/src").join(path)];
                let beside = [
                    root().join("crates/cli/src").join(path),
                    root().join("lra-plugin").join(path),
                ];
                if !places.iter().chain(&beside).any(|place| place.exists()) {
                    missing.push(format!("{path} in: {line}"));
                }
            }
        }
    }
    assert!(named > 100, "{named}");
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}
