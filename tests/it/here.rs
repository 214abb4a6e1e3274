//! `innoscan` without a command: each command that it prints does what it says.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use innoscan_testkit::server::Server;

use crate::corpus;
use crate::killed::fixture;
use crate::parity::command;

/// What is printed in a directory: the sentences about it, and the commands.
fn printed(directory: &Path) -> (String, Vec<String>) {
    let output = command().current_dir(directory).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (about, rest) = text.split_once("\n\n").unwrap();
    let commands = rest.lines().filter_map(|line| line.strip_prefix("  "));
    let commands = commands.map(|line| line.split("   ").next().unwrap().to_owned());
    (about.to_owned(), commands.collect())
}

/// Runs a command line in a directory as a user does, whose home is `home`.
fn typed(line: &str, directory: &Path, home: &Path) -> Output {
    let program = command();
    let programs = Path::new(program.get_program()).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(programs.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    Command::new("sh")
        .args(["-c", line])
        .current_dir(directory)
        .env("PATH", path.unwrap())
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs the commands that are printed in a directory; returns the sentences about it.
fn run_all(directory: &Path) -> String {
    let home = tempfile::tempdir().unwrap();
    let (about, commands) = printed(directory);
    assert_eq!(commands.len(), 3, "{commands:?}");
    for line in commands {
        let ran = typed(&line, directory, home.path());
        assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    about
}

#[test]
fn commands_for_a_directory_without_its_server_run() {
    let (_dir, root) = fixture::unpacked();
    let about = run_all(&root);
    assert!(about.contains("4 InnoDB tables in 1 database"), "{about}");
    assert!(about.contains("its server was not shut down; read through the redo log"), "{about}");
    let about = run_all(&root.join("d"));
    assert!(about.contains("the files of 4 InnoDB tables, in the data directory"), "{about}");
}

#[test]
fn commands_for_a_file_alone_run() {
    let tables = corpus::tables();
    let table = tables.iter().find(|table| table.corpus.ends_with("mysql-8.0.33")).unwrap();
    let alone = tempfile::tempdir().unwrap();
    std::fs::copy(table.ibd(), alone.path().join("a table's.ibd")).unwrap();
    let about = run_all(alone.path());
    assert!(about.contains("without the data directory of their server"), "{about}");
}

#[test]
fn commands_for_a_dump_are_about_the_dump() {
    let (_dir, root) = fixture::unpacked();
    let out = tempfile::tempdir().unwrap();
    let dumped = command().arg("dump").arg(&root).arg("-o").arg(out.path()).output().unwrap();
    assert!(dumped.status.success());
    let (about, commands) = printed(out.path());
    assert!(about.ends_with("is a dump by innoscan."), "{about}");
    for line in &commands[..2] {
        assert!(typed(line, out.path(), out.path()).status.success(), "{line}");
    }
}

#[test]
fn commands_for_the_directory_of_a_running_server_run() {
    let server = Server::start("mariadb-10.11", &[]).unwrap();
    server.sql("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB;").unwrap();
    for directory in [server.data(), server.data().join("d")] {
        let about = run_all(&directory);
        assert!(about.contains("Its server is running"), "{about}");
    }
}

#[test]
fn without_files_of_innodb_there_is_help_all_the_same() {
    let empty = tempfile::tempdir().unwrap();
    let (about, commands) = printed(empty.path());
    assert!(about.contains("has no files of InnoDB."), "{about}");
    assert_eq!(commands.len(), 3);
}
