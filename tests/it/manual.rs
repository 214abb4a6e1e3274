//! Man pages and completions have what `--help` has; `--version` names the formats that there are.

use std::path::Path;
use std::process::Command;

use crate::parity::command;

fn said(arguments: &[&str]) -> String {
    let output = command().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands in the program's help.
fn verbs() -> Vec<String> {
    let help = said(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// The long options in the help of a command.
fn options(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| {
        line.split([' ', ',', '=', '[']).take_while(|word| word.is_empty() || word.starts_with('-'))
    });
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn pages_and_completions_have_every_option() {
    let dir = tempfile::tempdir().unwrap();
    said(&["manual", dir.path().to_str().unwrap()]);
    let completions = ["innoscan.bash", "_innoscan", "innoscan.fish"]
        .map(|name| read(&dir.path().join("completions").join(name)));
    let verbs = verbs();
    assert!(verbs.len() > 12, "{verbs:?}");
    let whole = read(&dir.path().join("man1/innoscan.1"));
    for verb in verbs.iter().filter(|verb| *verb != "help" && *verb != "sql") {
        assert!(whole.contains(&format!(r"innoscan\-{verb}(1)")), "{verb}");
        let page = read(&dir.path().join(format!("man1/innoscan-{verb}.1"))).replace(r"\-", "-");
        let options = options(&said(&[verb, "--help"]));
        assert!(!options.is_empty());
        for option in options {
            assert!(page.contains(&option), "{verb} {option} is not in the man page");
            let name = option.trim_start_matches('-');
            for completions in &completions {
                assert!(completions.contains(name), "{verb} {option} is not completed");
            }
        }
    }
    let is_sound = Command::new("bash")
        .arg("-n")
        .arg(dir.path().join("completions/innoscan.bash"))
        .status()
        .unwrap();
    assert!(is_sound.success());
}

#[test]
fn the_version_names_the_formats() {
    let version = said(&["--version"]);
    let line = version.lines().find_map(|line| line.strip_prefix("formats ")).unwrap();
    let help = said(&["dump", "--help"]);
    let (_, of_format) = help.split_once("--format <FORMAT>").unwrap();
    let (_, values) = of_format.split_once("[possible values: ").unwrap();
    assert_eq!(Some(line.trim()), values.split(']').next());
    assert!(version.lines().any(|line| line.starts_with("commit ")), "{version}");
    assert_eq!(said(&["-V"]).lines().count(), 1);
}
