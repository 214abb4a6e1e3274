//! The invariants of ARCHITECTURE.md that a test can enforce.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::string_literals;

/// Lines a source file may have before its tests.
const FILE_LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
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
    let allowed: [(&str, &[&str]); 6] = [
        ("format", &[]),
        ("io", &[]),
        ("innoscan", &["innoscan-format", "innoscan-io"]),
        ("live", &["innoscan"]),
        ("cli", &["innoscan", "innoscan-live"]),
        ("testkit", &["innoscan-format", "innoscan-io"]),
    ];
    let crates: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(crates, allowed.iter().map(|(name, _)| (*name).to_owned()).collect());
    for (name, allowed) in allowed {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        for dependency in workspace_dependencies(&manifest) {
            assert!(allowed.contains(&&*dependency), "crates/{name} must not need {dependency}");
        }
    }
}

#[test]
fn modules_of_the_library_import_in_one_direction() {
    let forbidden: [(&str, &[&str]); 7] = [
        ("ahead", &["pool", "scan", "walk", "space", "sink", "dump", "catalog"]),
        ("pool", &["scan", "walk", "sink", "dump", "catalog"]),
        ("walk", &["scan", "sink", "dump", "catalog"]),
        ("scan", &["dump", "catalog", "explain", "warm"]),
        ("explain", &["dump", "catalog", "warm"]),
        ("sink", &["dump", "catalog", "pool", "walk", "space"]),
        ("stats", &["scan", "pool", "walk", "space", "sink", "dump", "catalog", "ahead"]),
    ];
    for (path, text) in rust_sources() {
        let Ok(inside) = path.strip_prefix("crates/innoscan/src") else { continue };
        let module = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = module.trim_end_matches(".rs");
        let Some((_, targets)) = forbidden.iter().find(|(name, _)| *name == module) else {
            continue;
        };
        let code = text.split("#[cfg(test)]").next().unwrap();
        for target in *targets {
            let import = format!("crate::{target}");
            let hit = code.match_indices(&import).any(|(at, _)| {
                !code[at + import.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            });
            assert!(!hit, "{}: {module} must not import {target}", path.display());
        }
    }
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
        let is_library = ["format", "io", "innoscan", "live"]
            .iter()
            .any(|name| path.starts_with(format!("crates/{name}/src")));
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
