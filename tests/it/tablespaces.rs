//! `innoscan tablespaces` beside real servers.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use innoscan_testkit::server::{Server, install};
use serde_json::Value;

use crate::parity::{by_another_user, command};

const WAYS: [&str; 5] = ["full-page", "fadvise", "light", "direct", "batched"];

/// A look at a directory.
fn look(data: &Path, more: &[&str]) -> Command {
    let mut look = command();
    look.arg("tablespaces").arg(data).args(["--json", "--quiet"]).args(more);
    look
}

/// Exit code, and what it says as JSON.
fn told_by(look: &mut Command) -> (Option<i32>, Value) {
    let output = look.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    (output.status.code(), json)
}

fn told(data: &Path, way: &str) -> (Option<i32>, Value) {
    told_by(&mut look(data, &["--read", way]))
}

fn with_tables(version: &str, tables: u32) -> Server {
    install(version).unwrap();
    let server = Server::start(version, &[]).unwrap();
    let create = |number: u32| format!("CREATE TABLE d.t{number} (a INT) ENGINE=InnoDB;\n");
    server
        .sql("CREATE DATABASE d;".to_owned() + &(0..tables).map(create).collect::<String>())
        .unwrap();
    server
}

/// All `.ibd` files below a directory.
fn ibd_files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let count = |path: PathBuf| match path.is_dir() {
        true => ibd_files(&path),
        false => usize::from(path.extension().is_some_and(|extension| extension == "ibd")),
    };
    entries.map(|entry| count(entry.path())).sum()
}

#[test]
fn a_running_servers_tablespaces_are_all_found() {
    let mut server = with_tables("mariadb-10.11", 200);
    for way in WAYS {
        let (code, told) = told(&server.data(), way);
        let findings = told["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["finding"] == "unwritten"), "{way}: {told}");
        assert_eq!(code, Some(0), "{way}");
        assert_eq!(told["tables"], ibd_files(&server.data()), "{way}");
        assert_eq!(told["system"], 1, "{way}");
        assert_eq!(told["temporary"], 1, "{way}");
    }
    server.stop().unwrap();
    let (code, told) = told(&server.data(), "batched");
    assert!(code == Some(0) && told["findings"].as_array().unwrap().is_empty(), "{told}");
}

/// Of another's files the kernel lets nobody keep the access time, and some may not be opened.
#[test]
fn anothers_files_are_read_as_far_as_one_may() {
    let table = crate::tests_dir("data/mysql-8.0.33/tree-4k/tree.ibd");
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let dir = tempfile::tempdir().unwrap();
    mode(dir.path(), 0o755);
    let private = dir.path().join("private.ibd");
    std::fs::copy(&table, &private).unwrap();
    mode(&private, 0o600);
    let public = dir.path().join("public.ibd");
    std::fs::copy(&table, &public).unwrap();
    mode(&public, 0o644);
    let copy = tempfile::tempdir().unwrap();
    let shut = dir.path().join("shut");
    std::fs::create_dir(&shut).unwrap();
    mode(&shut, 0o700);
    for way in WAYS {
        let own = look(dir.path(), &["--read", way]);
        let Some(mut other) = by_another_user(&own, copy.path()) else {
            println!(
                "skipped: anothers_files_are_read_as_far_as_one_may: only root is another user"
            );
            return;
        };
        let (code, told) = told_by(&mut other);
        let unreadable: Vec<&str> = told["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["finding"] == "unreadable")
            .map(|finding| finding["path"].as_str().unwrap())
            .collect();
        let expected = [&private, &shut].map(|path| path.to_str().unwrap());
        assert_eq!(unreadable, expected, "{way}: {told}");
        assert!(told["read_bytes"].as_u64().unwrap() > 0, "{way}: {told}");
        assert_eq!(code, Some(3), "{way}");
    }
}

/// What is missing and what is stray, by the server's own list or that of its dictionary.
fn differences(data: &Path, more: &[&str]) -> Vec<String> {
    let (code, told) = told_by(&mut look(data, more));
    let findings = told["findings"].as_array().unwrap().iter();
    let faults = findings.filter(|finding| finding["finding"] != "unwritten");
    let mut faults: Vec<String> = faults
        .map(|fault| {
            let path = fault["path"].as_str().unwrap_or_default();
            let file = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
            let name = fault["name"].as_str().unwrap_or_default();
            format!("{} {name}{file}", fault["finding"].as_str().unwrap())
        })
        .collect();
    faults.sort();
    assert_eq!(code, Some(if faults.is_empty() { 0 } else { 3 }), "{told}");
    faults
}

fn listed(version: &str) {
    let mut server = with_tables(version, 60);
    let data = server.data();
    server
        .sql("CREATE TABLE d.`ö b` (a INT) ENGINE=InnoDB PARTITION BY HASH (a) PARTITIONS 2")
        .unwrap();
    if version.starts_with("mysql") {
        server
            .sql(
                "CREATE TABLESPACE g ADD DATAFILE 'of g.ibd'; CREATE TABLE d.in_g (a INT) TABLESPACE g;
                 CREATE TABLE d.before (t TEXT, FULLTEXT (t)); RENAME TABLE d.before TO d.`after ü`",
            )
            .unwrap();
    }
    let socket = server.socket().to_str().unwrap().to_owned();
    let by_server = ["--server-list=server", "--no-defaults", "-u", "root", "-S", &socket];
    assert_eq!(differences(&data, &by_server), [""; 0], "{version}");
    // Another server's table, and one whose file is taken away.
    let stray = {
        let mut other = with_tables(version, 90);
        other.stop().unwrap();
        std::fs::read(other.data().join("d/t89.ibd")).unwrap()
    };
    let plant = |data: &Path| {
        std::fs::write(data.join("d/stray.ibd"), &stray).unwrap();
        std::fs::rename(data.join("d/t3.ibd"), data.parent().unwrap().join("away")).unwrap();
    };
    let expected = ["missing d/t3", "stray stray.ibd"];
    server.sql("ALTER TABLE d.t4 DISCARD TABLESPACE").unwrap();
    // Running, MySQL before 8.0.14 does not say which are discarded.
    let is_silent = version.starts_with("mysql-5") || version == "mysql-8.0.12";
    let told: &[&str] = if is_silent { &["missing d/t4"] } else { &[] };
    assert_eq!(differences(&data, &by_server), told, "{version}: discarded");
    server.stop().unwrap();
    assert_eq!(differences(&data, &["--server-list"]), [""; 0], "{version}");
    assert_eq!(differences(&data, &["--server-list", "--sdi"]), [""; 0], "{version}");
    plant(&data);
    assert_eq!(differences(&data, &["--server-list"]), expected, "{version}");
    if data.join("mysql.ibd").exists() {
        std::fs::rename(data.join("d/t5.ibd"), data.join("d/moved.ibd")).unwrap();
        let expected = ["misnamed moved.ibd", "misnamed stray.ibd"];
        assert_eq!(differences(&data, &["--sdi"]), expected, "{version}");
    }
}

#[test]
fn files_are_held_against_debians_mariadb_list() {
    listed("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn files_are_held_against_other_servers_lists() {
    for version in ["mysql-5.7.22", "mysql-8.0.12", "mysql-8.0.33", "mysql-9.7", "mariadb-11.8"] {
        listed(version);
    }
}

fn duplicates(version: &str) {
    let mut server = with_tables(version, 50);
    server.stop().unwrap();
    let data = server.data();
    let copies = [("d/t7.ibd", "d/copy of 7.ibd"), ("d/t31.ibd", "copied.ibd")];
    for (original, copy) in copies {
        std::fs::copy(data.join(original), data.join(copy)).unwrap();
    }
    let error = server.restart().unwrap_err().to_string();
    let (code, told) = told(&data, "batched");
    assert_eq!(code, Some(3), "{version}: {told}");
    let findings = told["findings"].as_array().unwrap();
    assert_eq!(findings.len(), copies.len(), "{version}: {told}");
    let log = std::fs::read_dir(data.parent().unwrap()).unwrap().flatten();
    let log: String = log
        .filter(|entry| entry.path().is_file())
        .map(|entry| String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned())
        .collect();
    for (original, copy) in copies {
        for name in [original, copy] {
            let named = |text: &str| text.contains(name.rsplit('/').next().unwrap());
            assert!(named(&told.to_string()), "{version}: {name} in {told}");
            assert!(named(&log) || named(&error), "{version}: the server does not name {name}");
        }
    }
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn duplicates_are_those_that_keep_a_server_from_starting() {
    duplicates("mysql-8.0.33");
    duplicates("mysql-9.7");
}
