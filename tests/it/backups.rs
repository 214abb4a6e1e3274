//! Directories that `mariadb-backup` made: read through their redo log, or refused, until they are prepared,
//! and then read as a server reads them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use innoscan_catalog::catalog::Catalog;
use innoscan_engine::checksum_sink::{Checksum, Sum};
use innoscan_engine::scan::{ScanOptions, scan};
use innoscan_engine::{ErrorKind, Table};
use innoscan_testkit::server::{Server, install};

use crate::layouts::{MYDUMPER, load_by_client};
use crate::live::{QUICK, client, until_uncommitted};
use crate::parity::command;

const VERSION: &str = "mariadb-10.11";

const TABLES: [&str; 2] = ["t", "parts"];

struct Backups {
    server: Server,
    dir: tempfile::TempDir,
}

impl Backups {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, what: &str, args: &[String]) {
        let mut program = Command::new("mariadb-backup");
        let output = program.args(["--no-defaults", what]).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "mariadb-backup {what} {args:?}: {said}");
    }

    /// Backs the server up.
    fn backup(&self, name: &str, on: Option<&str>) {
        let mut args = vec![
            format!("--target-dir={}", self.path(name).display()),
            format!("--socket={}", self.server.socket().display()),
            format!("--datadir={}", self.server.data().display()),
            "--user=root".to_owned(),
        ];
        args.extend(on.map(|on| format!("--incremental-basedir={}", self.path(on).display())));
        self.run("--backup", &args);
    }

    /// Prepares a copy.
    fn prepared(&self, of: &str, name: &str, more: &[String]) {
        copy(&self.path(of), &self.path(name));
        self.prepare(name, more);
    }

    fn prepare(&self, name: &str, more: &[String]) {
        let target = format!("--target-dir={}", self.path(name).display());
        self.run("--prepare", &[&[target], more].concat());
    }

    fn refusal(&self, name: &str) -> String {
        let error = Catalog::new(Some(self.path(name))).table("d.t").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RefusedDirectory, "{error}");
        error.to_string()
    }

    /// Holds a directory's tables, and a dump of it, against a server that runs on a copy of it.
    fn assert_as_a_server_reads(&self, name: &str) {
        let restored = self.path(&format!("{name}-restored"));
        std::fs::create_dir(&restored).unwrap();
        copy(&self.path(name), &restored.join("data"));
        let restored = Server::start_in(VERSION, &restored, &[]).unwrap();
        let out = self.path(&format!("{name}-out"));
        let mut dump = command();
        let dump =
            dump.arg("dump").arg(self.path(name)).args(["-B", "d", "-c", "none", "-o"]).arg(&out);
        let output = dump.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("was not verified"), "{said}");
        let loaded = Server::start(VERSION, &QUICK).unwrap();
        load_by_client(&loaded, &out, &MYDUMPER);
        for table in TABLES {
            let expected = restored.checksum("d", table).unwrap();
            assert_eq!(checksum(&self.path(name), table), expected, "{name}: {table}");
            assert_eq!(loaded.checksum("d", table).unwrap(), expected, "{name}: {table}, loaded");
        }
    }
}

fn copy(from: &Path, to: &Path) {
    let mut cp = Command::new("cp");
    assert!(cp.arg("-r").arg(from).arg(to).status().unwrap().success());
}

fn checksum(directory: &Path, table: &str) -> Option<u64> {
    let table = Catalog::new(Some(directory.to_owned())).table(&format!("d.{table}")).unwrap();
    let is_expected = |note: &String| note.contains("1 unfinished transaction rolled back");
    let is_known = table.newest_lsn.is_some() && table.notes.rows.iter().all(is_expected);
    assert!(is_known, "{:?}", table.notes);
    sum_of(&table)
}

/// The checksum of a table in a backup that was not prepared, or why it is refused.
fn unprepared_checksum(directory: &Path, table: &str) -> Result<Option<u64>, String> {
    let table = Catalog::new(Some(directory.to_owned())).table(&format!("d.{table}"));
    let table = table.map_err(|error| error.to_string())?;
    assert!(table.notes.rows[0].contains("the backup was not prepared"), "{:?}", table.notes);
    Ok(sum_of(&table))
}

fn sum_of(table: &Table) -> Option<u64> {
    let mut total = Sum::default();
    let sink = Checksum::new(&table.def).unwrap();
    scan(table, &ScanOptions::default(), &sink, |sum| {
        total.add(&sum);
        Ok(())
    })
    .unwrap();
    Some(u64::from(total.sum))
}

/// Ends the writer, however the backups end.
struct SetOnDrop<'f>(&'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Changes rows until `is_over`.
fn write(server: &Server, is_over: &AtomicBool) {
    let mut n = 0;
    while !is_over.load(Ordering::Relaxed) {
        n += 1;
        let sql = format!(
            "INSERT INTO d.t (v) VALUES (UUID()); UPDATE d.t SET v = UUID() WHERE id % 97 = {n} % 97;
             INSERT INTO d.parts SELECT id, v FROM d.t ORDER BY id DESC LIMIT 1;"
        );
        server.sql(sql).unwrap();
    }
}

#[test]
fn backups_are_read_when_they_are_of_one_moment() {
    install(VERSION).unwrap();
    install("mariadb-backup").unwrap();
    let server = Server::start(VERSION, &QUICK).unwrap();
    server
        .sql(
            "CREATE DATABASE d; USE d;
             CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB;
             CREATE TABLE parts (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB
               PARTITION BY HASH (id) PARTITIONS 3;
             INSERT INTO t (v) SELECT MD5(seq) FROM seq_1_to_30000;",
        )
        .unwrap();
    let mut backups = Backups { server, dir: tempfile::tempdir().unwrap() };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = SetOnDrop(&is_over);
        scope.spawn(|| write(&backups.server, &is_over));
        backups.backup("full", None);
        backups.backup("more", Some("full"));
    });
    // When nothing is under way, the redo log is all that a backup lacks. The tables are older than its checkpoint.
    backups.server.stop().unwrap();
    backups.server.restart().unwrap();
    let changes = "DELETE FROM d.t WHERE id % 5 = 1; UPDATE d.t SET v = 'quiet' WHERE id % 7 = 1;
                   INSERT INTO d.parts SELECT id + 10000000, v FROM d.t LIMIT 300;";
    backups.server.sql(changes).unwrap();
    backups.backup("quiet", None);
    for table in TABLES {
        let expected = backups.server.checksum("d", table).unwrap();
        assert_eq!(
            unprepared_checksum(&backups.path("quiet"), table).unwrap(),
            expected,
            "{table}"
        );
    }
    let mut open = client(&backups.server).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = open.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"BEGIN; UPDATE d.t SET v = 'open' WHERE id < 500;\n")
        .unwrap();
    until_uncommitted(&backups.server, "SELECT v = 'open' FROM d.t WHERE id = 2;");
    backups.backup("open", None);
    drop(stdin);
    open.wait().unwrap();

    let refusal = backups.refusal("more");
    assert!(refusal.contains("it is an incremental backup"), "{refusal}");
    assert!(refusal.contains("its base"), "{refusal}");
    // What was active when a backup ended is rolled back by a server, and in memory when it is read.
    let export = "--export".to_owned();
    backups.prepared("full", "first", std::slice::from_ref(&export));
    backups.assert_as_a_server_reads("first");
    for table in TABLES {
        // The tables were created after the checkpoint: they are in files `.new`.
        let sum = unprepared_checksum(&backups.path("full"), table).unwrap();
        assert_eq!(sum, checksum(&backups.path("first"), table), "{table}");
    }
    backups.prepared("full", "both", &[]);
    let more = format!("--incremental-dir={}", backups.path("more").display());
    backups.prepare("both", &[more, export.clone()]);
    backups.assert_as_a_server_reads("both");

    backups.prepared("open", "active", &[]);
    let table = Catalog::new(Some(backups.path("active"))).table("d.t").unwrap();
    let is_told = |note: &String| note.contains("1 unfinished transaction rolled back");
    assert!(table.notes.rows.iter().any(is_told), "{:?}", table.notes);
    backups.assert_as_a_server_reads("active");
    backups.prepared("open", "exported", &[export]);
    backups.assert_as_a_server_reads("exported");
    for table in TABLES {
        let sum = unprepared_checksum(&backups.path("open"), table).unwrap();
        assert_eq!(sum, checksum(&backups.path("exported"), table), "{table}");
    }

    let note = backups.path("exported").join("xtrabackup_checkpoints");
    let text = std::fs::read_to_string(&note).unwrap().replace("last_lsn = ", "last_lsn = 9");
    std::fs::write(note, text).unwrap();
    for table in TABLES {
        _ = std::fs::remove_file(backups.path("exported").join("d").join(format!("{table}.cfg")));
    }
    let refusal = backups.refusal("exported");
    assert!(refusal.contains("its redo log ends at"), "{refusal}");
}
