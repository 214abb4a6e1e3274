//! What users read, word by word, as committed text: the help of every command, and the messages and
//! exit codes of many commands on committed data.
//!
//! To accept a change of wording: `UPDATE_SNAPSHOTS=1 cargo test -p innoscan-cli --test it
//! snapshots`, then read the difference with `git diff tests/it/snapshots`. To add a command, add its
//! `$` line to `messages.txt` and do the same.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use innoscan_testkit::server::fixtures;

use crate::parity::command;

const COMMANDS: [&str; 12] = [
    "dump",
    "scan",
    "get",
    "explain",
    "schema",
    "ls",
    "verify",
    "check",
    "warm",
    "bench",
    "tablespaces",
    "inspect",
];

fn snapshots() -> PathBuf {
    crate::tests_dir("it/snapshots")
}

/// Compares a text with a committed file, or with `UPDATE_SNAPSHOTS` writes that file. Gives the first
/// line that differs.
fn difference(path: &Path, text: &str) -> Option<String> {
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(path, text).unwrap();
        return None;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == text {
        return None;
    }
    let lines = expected.lines().zip(text.lines()).enumerate();
    let changed = lines.into_iter().find(|(_, (was, is))| was != is);
    Some(match changed {
        Some((at, (was, is))) => format!("{}:{}\n  was {was}\n  is  {is}", path.display(), at + 1),
        None => format!("{}: lines were added or removed", path.display()),
    })
}

#[test]
fn help_reads_as_committed() {
    let mut changed = Vec::new();
    let of_program = [("innoscan", vec![])].into_iter();
    for (name, verb) in of_program.chain(COMMANDS.map(|verb| (verb, vec![verb]))) {
        let mut text = String::new();
        for flag in ["-h", "--help"] {
            let output = command().args(&verb).arg(flag).env("COLUMNS", "100").output().unwrap();
            assert!(output.status.success(), "{name} {flag}");
            let help = String::from_utf8(output.stdout).unwrap();
            // The parser pads empty lines of long help.
            let help: Vec<&str> = help.lines().map(str::trim_end).collect();
            writeln!(
                text,
                "$ innoscan {}\n{}\n",
                [&verb[..], &[flag]].concat().join(" "),
                help.join("\n")
            )
            .unwrap();
        }
        changed.extend(difference(&snapshots().join(format!("help/{name}.txt")), &text));
    }
    assert!(changed.is_empty(), "UPDATE_SNAPSHOTS=1 accepts it:\n{}", changed.join("\n"));
}

/// A directory in which the commands of `messages.txt` run.
///
/// `cities.ibd` and `flights.ibd` (with its .frm) are the demo's tables; `lone/flights.ibd` has no
/// definition; one page of `damaged.ibd` is damaged; `copies` has one tablespace twice; `mysql-8.0` and
/// `mariadb-11.4` are data directories without the server's own tables.
fn playground() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for table in ["cities", "flights"] {
        let archive = format!("data/demo/{table}.tar.zst");
        let unpacked = Command::new("tar")
            .args(["--use-compress-program", "zstd -d --long=27", "-xf"])
            .arg(crate::tests_dir(&archive))
            .arg("-C")
            .arg(place.path())
            .status();
        assert!(unpacked.unwrap().success());
    }
    std::fs::create_dir(at("lone")).unwrap();
    std::fs::copy(at("flights.ibd"), at("lone/flights.ibd")).unwrap();
    let mut pages = std::fs::read(at("cities.ibd")).unwrap();
    // Page 34 is a leaf of the clustered index.
    pages[34 * 16384 + 8000] ^= 0xff;
    std::fs::write(at("damaged.ibd"), pages).unwrap();
    std::fs::write(at("short.ibd"), "hello").unwrap();
    std::fs::write(at("zeroes.ibd"), [0; 65536]).unwrap();
    std::fs::create_dir(at("copies")).unwrap();
    for name in ["one.ibd", "two.ibd"] {
        std::fs::copy(at("flights.ibd"), at("copies").join(name)).unwrap();
    }
    for name in ["short.ibd", "zeroes.ibd"] {
        std::fs::copy(at(name), at("copies").join(name)).unwrap();
    }
    std::fs::write(at("copies/empty.ibd"), "").unwrap();
    std::fs::write(at("other.sql"), "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(10))").unwrap();
    std::fs::write(at("view.sql"), "CREATE VIEW v AS SELECT 1").unwrap();
    for (name, archive) in [("mysql-8.0", "mysql-8.0.33"), ("mariadb-11.4", "mariadb-11.4.5")] {
        std::os::unix::fs::symlink(fixtures().unwrap().join(archive).join("data"), at(name))
            .unwrap();
    }
    place
}

#[test]
fn messages_and_exit_codes_read_as_committed() {
    let place = playground();
    let path = snapshots().join("messages.txt");
    let mut text = String::new();
    let mut is_output = false;
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        let Some(typed) = line.strip_prefix("$ ") else {
            // Comments and blank lines stand between a command's `exit` and the next command.
            if !is_output {
                writeln!(text, "{line}").unwrap();
            }
            is_output &= !line.starts_with("exit ");
            continue;
        };
        is_output = true;
        let script = format!(
            "set -o pipefail; exec 2>&1; innoscan() {{ '{}' \"$@\"; }}; {typed}",
            command().get_program().to_str().unwrap()
        );
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(place.path())
            .env("COLUMNS", "100")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let said = neutral(&said, place.path());
        assert!(!said.contains("panicked"), "{typed}: {said}");
        write!(text, "$ {typed}\n{said}").unwrap();
        writeln!(text, "exit {}", output.status.code().unwrap()).unwrap();
    }
    let changed = difference(&path, &text);
    assert!(changed.is_none(), "UPDATE_SNAPSHOTS=1 accepts it:\n{}", changed.unwrap_or_default());
}

/// The same text without the paths of this machine; each line ends as it does, with a newline.
fn neutral(said: &str, place: &Path) -> String {
    let mut said = said.to_owned();
    for (name, path) in [("HERE", place.to_owned()), ("FIXTURES", fixtures().unwrap())] {
        said = said.replace(path.canonicalize().unwrap().to_str().unwrap(), name);
        said = said.replace(path.to_str().unwrap(), name);
    }
    said.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
