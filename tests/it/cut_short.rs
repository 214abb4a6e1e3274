//! Dumps of running servers that do not come to their end: killed, without their server, without
//! room. The server's tables are unlocked, and the dump can be resumed.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use innoscan_io::engine::memory::splitmix64;
use innoscan_testkit::server::{Server, install};

use crate::live::QUICK;
use crate::parity::{by_another_user, command};

/// A server with one table that takes a while to read.
pub(crate) fn with_large_table(version: &str) -> Server {
    install(version).unwrap();
    let server = Server::start(version, &QUICK).unwrap();
    server
        .sql(
            "CREATE DATABASE d; USE d;
             CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB;
             CREATE TABLE d.small (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB;
             CREATE TABLE test_digits (n INT) ENGINE=InnoDB;
             INSERT INTO test_digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
             INSERT INTO d.t (v) SELECT REPEAT(SHA2(CONCAT(a.n, b.n, c.n, d.n, e.n), 256), 3)
               FROM test_digits a, test_digits b, test_digits c, test_digits d, test_digits e;
             INSERT INTO d.t (v) SELECT REPEAT(SHA2(v, 256), 3) FROM d.t;
             DROP TABLE test_digits;",
        )
        .unwrap();
    server
}

/// How long a write takes that wants the tables which are read, and changes them or does not.
fn write_time(server: &Server, changes: bool) -> Duration {
    let begun = Instant::now();
    let row = if changes { "1" } else { "-1" };
    server
        .sql(format!(
            "SET lock_wait_timeout = 10; UPDATE d.t SET v = CONCAT(id, UUID()) WHERE id = {row};
             INSERT INTO d.small SELECT NULL FROM d.t WHERE id = {row};"
        ))
        .unwrap();
    begun.elapsed()
}

/// A dump of the database into `out`, by somebody.
pub(crate) fn dump_by(user: &str, server: &Server, out: &Path, more: &[&str]) -> Command {
    let mut dump = command();
    dump.args(["dump", "--no-defaults", "-u", user, "-S", server.socket().to_str().unwrap()])
        .args(["-B", "d", "--quiet", "-F", "1M", "-o", out.to_str().unwrap()])
        .args(more)
        .stderr(Stdio::piped());
    dump
}

/// One that holds the tables until they are read.
fn dump(server: &Server, out: &Path, more: &[&str]) -> Command {
    dump_by("root", server, out, &[&["--lock-mode", "export"], more].concat())
}

/// Exit code, and what was said.
pub(crate) fn ended(dump: &mut Command) -> (Option<i32>, String) {
    let output = dump.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The rows of each table in a dump's files, in the order they stand.
pub(crate) fn rows(out: &Path) -> BTreeMap<String, Vec<String>> {
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in names_in(out) {
        assert!(!path.ends_with(".partial") && !path.ends_with(".journal"), "{path}");
        if !path.ends_with(".sql.zst") {
            continue;
        }
        let name = Path::new(&path).file_name().unwrap().to_str().unwrap();
        let table = name.split('.').nth(1).unwrap().to_owned();
        let plain = zstd::decode_all(&std::fs::read(&path).unwrap()[..]).unwrap();
        let plain = String::from_utf8(plain).unwrap();
        let row = |line: &str| {
            let row = line.strip_prefix(',').or_else(|| line.split_once(") VALUES").map(|it| it.1));
            row.map(|row| row.trim_end_matches(';').to_owned())
        };
        let lines = plain.lines().filter_map(row);
        rows.entry(table).or_default().extend(lines);
    }
    rows
}

/// What the server says the rows are.
pub(crate) fn rows_of(server: &Server) -> BTreeMap<String, Vec<String>> {
    let ask = |sql: &str| -> Vec<String> {
        let text = String::from_utf8(server.sql(sql).unwrap()).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let large = ask("SELECT CONCAT('(', id, ',', QUOTE(v), ')') FROM d.t ORDER BY id;");
    let small = ask("SELECT CONCAT('(', id, ')') FROM d.small ORDER BY id;");
    BTreeMap::from([("t".to_owned(), large), ("small".to_owned(), small)])
}

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = walk(directory);
    names.sort();
    names
}

fn walk(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        if entry.path().is_dir() {
            names.extend(walk(&entry.path()));
        }
        names.push(entry.path().to_string_lossy().into_owned());
    }
    names
}

/// Time within which a lock or a dump has ended, on the busiest machine; one that is left behind lasts
/// for minutes.
const RELEASED: Duration = Duration::from_secs(30);

fn killed(version: &str, kills: u32) {
    let server = with_large_table(version);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let before = names_in(&server.data().join("d"));
    let (mut were_locked, mut were_kept, mut were_refused) = (0, 0, 0);
    let mut chance = 3;
    for round in 0..kills {
        _ = std::fs::remove_dir_all(&out);
        let mut killed = dump(&server, &out, &["--max-rate", "50M"]).spawn().unwrap();
        // Some while it looks around, some while it reads.
        let until = Instant::now() + Duration::from_micros(splitmix64(&mut chance) % 600_000);
        while Instant::now() < until {
            std::thread::yield_now();
        }
        were_locked += u32::from(server.data().join("d/t.cfg").exists());
        killed.kill().unwrap();
        killed.wait().unwrap();
        let changes = round % 2 == 1;
        let time = write_time(&server, changes);
        assert!(time < RELEASED, "{time:?}");
        let journal = std::fs::read_to_string(out.join("innoscan.journal")).unwrap_or_default();
        let is_kept = journal.contains("{\"chunk\":");
        were_kept += u32::from(is_kept);
        let (code, said) = ended(&mut dump(&server, &out, &["--resume"]));
        let is_refused = code == Some(2);
        if is_refused {
            assert!(changes && said.contains("its files have been written to since"), "{said}");
            were_refused += 1;
            let (code, said) = ended(&mut dump(&server, &out, &["--resume=redo"]));
            assert_eq!(code, Some(0), "{said}");
        } else {
            assert_eq!(code, Some(0), "{said}");
            assert!(!(is_kept && changes), "files of a table that has changed were kept");
        }
        assert!(rows(&out) == rows_of(&server), "round {round}");
    }
    assert!(were_locked > kills / 5, "{were_locked} of {kills} were killed with the tables locked");
    assert!(were_kept > kills / 5, "{were_kept} of {kills} were killed when files were done");
    assert!(were_refused > kills / 10, "{were_refused} of {were_kept} were refused");
    assert_eq!(names_in(&server.data().join("d")), before);
}

#[test]
fn a_killed_dump_lets_the_server_go_and_is_gone_on_with() {
    killed("mariadb-10.11", 20);
}

#[test]
#[ignore = "fifty killed dumps: make test-all"]
fn fifty_killed_dumps_are_gone_on_with() {
    killed("mariadb-10.11", 50);
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn killed_dumps_of_other_servers_are_gone_on_with() {
    for version in ["mysql-5.7.22", "mysql-8.0.33", "mysql-9.7", "mariadb-11.8"] {
        killed(version, 20);
    }
}

/// A file system of few bytes, for as long as it lasts.
struct Small(PathBuf);

impl Small {
    /// `None` where it cannot be had.
    fn mount(path: PathBuf) -> Option<Small> {
        std::fs::create_dir(&path).unwrap();
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(&path);
        let is_mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        is_mounted.then_some(Small(path))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // What is left of it goes with the machine.
        _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_ends_a_dump_and_room_lets_it_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let Some(small) = Small::mount(dir.path().join("small")) else {
        println!("skipped: a_full_disk_ends_a_dump_and_room_lets_it_go_on: mounting is root's");
        return;
    };
    let server = with_large_table("mariadb-10.11");
    let out = small.0.join("out");
    let other = small.0.join("other");
    std::fs::write(&other, vec![7; 20 << 20]).unwrap();
    let (code, said) = ended(&mut dump(&server, &out, &["-c", "zstd", "--threads", "1"]));
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    assert!(said.contains("to continue, run the same command with --resume"), "{said}");
    assert!(!out.join("metadata").exists());
    std::fs::remove_file(&other).unwrap();
    let done = names_in(&out).iter().filter(|name| name.ends_with(".zst.partial")).count();
    assert!(done > 0);
    let resumed = ["-c", "zstd", "--threads", "1", "--resume"];
    let (code, said) = ended(&mut dump(&server, &out, &resumed));
    assert_eq!(code, Some(0), "{said}");
    assert!(rows(&out) == rows_of(&server));
}

#[test]
fn files_that_may_not_be_read_are_said_to_be() {
    let server = with_large_table("mariadb-10.11");
    let dir = tempfile::tempdir().unwrap();
    // The server's files are root's then.
    let own = dump(&server, &dir.path().join("out"), &[]);
    let Some(mut other) = by_another_user(&own, dir.path()) else {
        println!("skipped: files_that_may_not_be_read_are_said_to_be: only root is another user");
        return;
    };
    let (code, said) = ended(&mut other);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("data/d: listing it: Permission denied"), "{said}");
    // Nor of its group.
    let (code, said) = ended(other.gid(65534));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("data/ibdata1: you may not read the server's files"), "{said}");
}

fn lock_taken_away(server: &Server, consistency: &str) {
    let dump = command()
        .args(["dump", "--no-defaults", "-u", "root", "-S", server.socket().to_str().unwrap()])
        .args(["-T", "d.t", "--quiet", "--lock-mode", "export", "--consistency", consistency])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !server.data().join("d/t.cfg").exists() {
        std::thread::yield_now();
    }
    // It waits for its output to be taken, and its connections are ended meanwhile.
    let others = "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID();";
    let others = String::from_utf8(server.sql(others).unwrap()).unwrap();
    for id in others.lines() {
        // One that has gone by itself cannot be ended.
        _ = server.sql(format!("KILL {id};"));
    }
    while server.data().join("d/t.cfg").exists() {
        std::thread::yield_now();
    }
    let output = dump.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the export lock was lost"), "{said}");
}

#[test]
fn a_lock_that_was_taken_away_is_not_passed_over() {
    let server = with_large_table("mariadb-10.11");
    lock_taken_away(&server, "all");
    lock_taken_away(&server, "table");
}

#[test]
fn a_server_that_dies_ends_the_dump() {
    let mut server = with_large_table("mariadb-10.11");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut dump = dump(&server, &out, &["--max-rate", "4M"]).spawn().unwrap();
    // Rows are being read: until then it is a statement that fails.
    let rows = out.join("d.t.00000.sql.zst.partial");
    while !rows.exists() && dump.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    server.kill().unwrap();
    let killed = Instant::now();
    let output = dump.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(killed.elapsed() < RELEASED, "{:?}", killed.elapsed());
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the tables are no longer locked"), "{said}");
    assert!(!out.join("metadata").exists() && !out.join("d.t.00000.sql.zst").exists());
}
