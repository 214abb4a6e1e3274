//! Plain words: phrases that must not occur in text that users read. CONTRIBUTING.md has the rule.

use std::path::{Path, PathBuf};

/// Phrases that were once the project's own dialect, and what to write instead. A phrase is matched
/// between word boundaries, without regard to case.
const BANNED: [(&str, &str); 41] = [
    ("all told", "total, in all"),
    ("all the while", "meanwhile"),
    ("anew", "again"),
    ("as it was written", "unchanged"),
    ("begun and did not end", "interrupted"),
    ("dear", "expensive"),
    ("did not suffice", "was not enough"),
    ("does not suffice", "is not enough"),
    ("felt", "observed"),
    ("for so long", "this long"),
    ("go on with", "continue, resume"),
    ("goes on with", "continues, resumes"),
    ("gone on with", "continued, resumed"),
    ("held against", "compared with"),
    ("held still", "locked"),
    ("hold up", "block, throttle"),
    ("holds up", "blocks, throttles"),
    ("impose", "emulate"),
    ("imposed", "emulated"),
    ("is let go", "is released"),
    ("is so", "say what it is"),
    ("it is not to be dumped", "it is not selected"),
    ("let go of", "released"),
    ("looked into", "checked"),
    ("looking for it", "cannot open"),
    ("mend", "fix, correct"),
    ("nobody wants", "unneeded"),
    ("of one moment", "one consistent snapshot"),
    ("reckon", "estimate"),
    ("reckoning", "estimate"),
    ("set aside", "spill"),
    ("sets aside", "spills"),
    ("side by side", "in parallel, adjacent"),
    ("so many", "this many, or the number"),
    ("tell of", "show, report"),
    ("tells of", "shows, reports"),
    ("unless said", "[default: ...]"),
    ("was told", "was set, was reported"),
    ("what is done", "finished files"),
    ("what is told", "say what it is"),
    ("what was told", "the estimate"),
];

/// Files and phrases that are right where they are.
const EXCEPTIONS: [(&str, &str); 2] = [
    // The old name of --emulate, which still works.
    ("crates/cli/src/args/mod.rs", "impose"),
    // Policies and programs stand beside each other in a table.
    ("README.md", "side by side"),
];

fn root() -> PathBuf {
    crate::tests_dir("..").canonicalize().unwrap()
}

fn files(dir: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|ext| ext == extension) {
            found.push(path);
        }
    }
}

/// The string literals of Rust code and, of the command line's arguments, the doc comments: they are
/// its help. Text in a test is not for users.
fn user_text(path: &Path, source: &str) -> String {
    let code = source.split("#[cfg(test)]").next().unwrap();
    let is_help = path.starts_with("crates/cli/src/args");
    let mut text = String::new();
    let mut rest = String::new();
    for line in code.lines() {
        match line.trim_start().strip_prefix("///") {
            Some(doc) if is_help => text += doc,
            _ if line.trim_start().starts_with("//") => {}
            _ => {
                rest += line;
                rest.push('\n');
            }
        }
    }
    text.push('\n');
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A quote as a character, as '"'.
            '\'' if chars.peek() == Some(&'"') => {
                chars.next();
            }
            '"' => {
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        // A line that goes on in the next one.
                        '\\' if chars.peek() == Some(&'\n') => {
                            while chars.peek().is_some_and(|c| c.is_whitespace()) {
                                chars.next();
                            }
                        }
                        '\\' => {
                            chars.next();
                            text.push(' ');
                        }
                        c => text.push(c),
                    }
                }
                text.push('\n');
            }
            _ => {}
        }
    }
    text
}

/// The banned phrases in a text, with the words around each.
fn banned(text: &str) -> Vec<(&'static str, String)> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut found = Vec::new();
    for (phrase, instead) in BANNED {
        for (at, _) in words.match_indices(phrase) {
            let is_letter = |c: char| c.is_alphanumeric() || c == '_';
            let end = at + phrase.len();
            let is_whole =
                !words[..at].ends_with(is_letter) && !words[end..].starts_with(is_letter);
            if is_whole {
                let start = words[..at].char_indices().rev().nth(40).map_or(0, |(at, _)| at);
                let tail: String = words[start..].chars().take(110).collect();
                found.push((phrase, format!("`{phrase}` (write: {instead}) in `{tail}`")));
            }
        }
    }
    found
}

/// All text that users read, by file.
fn all_text() -> Vec<(PathBuf, String)> {
    let mut sources = Vec::new();
    files(&root().join("crates"), "rs", &mut sources);
    let relative = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_owned();
    let is_for_users = |path: &PathBuf| {
        let path = relative(path);
        let is_test =
            path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
        !is_test && !path.starts_with("crates/testkit")
    };
    let sources = sources.into_iter().filter(is_for_users);
    let mut texts: Vec<(PathBuf, String)> = sources
        .map(|path| {
            let text = user_text(&relative(&path), &std::fs::read_to_string(&path).unwrap());
            (relative(&path), text)
        })
        .collect();
    let mut pages = vec![root().join("README.md"), root().join("lra-plugin/README.md")];
    files(&root().join("docs"), "md", &mut pages);
    // What bench/report.py wrote of a measurement stays as it is.
    pages.retain(|page| !page.starts_with(root().join("docs/bench")));
    texts.extend(pages.iter().map(|page| (relative(page), std::fs::read_to_string(page).unwrap())));
    texts
}

#[test]
fn text_for_users_has_no_banned_phrases() {
    let mut faults = Vec::new();
    let mut excepted = Vec::new();
    for (path, text) in all_text() {
        for (phrase, fault) in banned(&text) {
            let exception =
                EXCEPTIONS.iter().find(|exception| **exception == (path.to_str().unwrap(), phrase));
            match exception {
                Some(exception) => excepted.push(exception),
                None => faults.push(format!("{}: {fault}", path.display())),
            }
        }
    }
    assert!(faults.is_empty(), "{} banned phrases:\n{}", faults.len(), faults.join("\n"));
    for exception in &EXCEPTIONS {
        assert!(excepted.contains(&exception), "{exception:?} is no longer needed");
    }
}

#[test]
fn banned_phrases_are_found_where_users_read_them() {
    let args = Path::new("crates/cli/src/args/mod.rs");
    let other = Path::new("crates/engine/src/pool.rs");
    let source = "/// Memory, all told\nlet c = '\"';\nnote!(\"the lock is \\\n    let go\"); // mend\n\
                  #[cfg(test)]\nassert!(\"of one moment\")";
    let found = |path| banned(&user_text(path, source)).into_iter().map(|(phrase, _)| phrase);
    assert_eq!(found(args).collect::<Vec<_>>(), ["all told", "is let go"]);
    assert_eq!(found(other).collect::<Vec<_>>(), ["is let go"]);
    assert!(banned("an amendment, somany, `is_so`").is_empty());
}
