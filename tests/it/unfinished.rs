//! Directories whose server did not take back its unfinished transactions: the rows are those that the
//! server shows after its own recovery.
//!
//! A server is killed under a seeded load. innoscan reads its files as they are, through the redo log, and a
//! copy on which `innodb_force_recovery=3` applied the redo log, and no more; on the files themselves the
//! server starts as always, and says what the rows are.
//!
//! Environment:
//! - `INNOSCAN_SEEDS`: seeds instead of the one that `make test` runs, as `FIRST..END`;
//! - `INNOSCAN_LIVE`: the version of the server instead of Debian's own.

mod damage;
mod load;
mod session;

use std::path::Path;

use innoscan_testkit::server::{Server, install};

use self::load::{Load, Table};
use self::session::Sessions;
use crate::parity::difference;
use crate::verify::run;

/// What a run over one seed compared.
#[derive(Debug, Default)]
struct Figures {
    tables: usize,
    rows: usize,
    /// Rows of the files as they are, with every change of unfinished transactions, that are others.
    changed: usize,
}

fn version() -> String {
    std::env::var("INNOSCAN_LIVE").unwrap_or("mariadb-10.11".into())
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(range) = std::env::var("INNOSCAN_SEEDS") else { return 1..2 };
    let (first, end) = range.split_once("..").unwrap();
    first.parse().unwrap()..end.parse().unwrap()
}

#[test]
fn unfinished_transactions_are_taken_back() {
    let version = version();
    install(&version).unwrap();
    let mut server = Server::start(&version, &["--innodb-max-dirty-pages-pct=99"]).unwrap();
    let mut all = Figures::default();
    for seed in seeds() {
        let figures = run_seed(&mut server, seed);
        assert!(figures.changed > 0, "seed {seed}: the load leaves nothing to take back");
        all.tables += figures.tables;
        all.rows += figures.rows;
        all.changed += figures.changed;
        eprintln!("seed {seed}: {figures:?}");
    }
    eprintln!("{version}, all seeds: {all:?}");
}

/// Runs the load of a seed on a server, kills it, and compares; the server runs again at the end.
fn run_seed(server: &mut Server, seed: u64) -> Figures {
    let load = Load::new(seed, server.version());
    server.sql(load.schema()).unwrap();
    let held = Sessions::begin(server, load.sessions());
    server.sql(load.committed_last()).unwrap();
    server.kill().unwrap();
    held.end();
    let killed = server.copy().unwrap();
    let mut copy = server.copy().unwrap();
    copy.restart_with(&["--innodb-force-recovery=3"]).unwrap();
    copy.stop().unwrap();
    server.restart().unwrap();
    compare(server, &killed, &load);
    let figures = compare(server, &copy, &load);
    damage::undo_pages_lie(server, &copy, &load);
    for name in load.prepared() {
        server.sql(format!("XA ROLLBACK '{name}';")).unwrap();
    }
    server.sql("DROP DATABASE d;").unwrap();
    figures
}

fn compare(server: &Server, copy: &Server, load: &Load) -> Figures {
    let data = copy.data();
    let mut figures = Figures::default();
    for (nth, table) in load.tables().iter().enumerate() {
        let name = format!("d.{}", table.name);
        let expected = server_text(server, table);
        let got = text(&data, &name, &["--memory", "2M", "--threads", "2"]);
        assert_eq!(difference(&expected, &got), None, "seed {}: {name}", load.seed);
        let policy = ["none", "linear", "physical", "segment"][nth % 4];
        let got = text(&data, &name, &["--read-ahead", policy]);
        assert_eq!(difference(&expected, &got), None, "seed {}: {name}, {policy}", load.seed);
        let rows = expected.iter().filter(|byte| **byte == b'\n').count();
        if !table.has_virtual() {
            assert_eq!(compare_checksum(server, &data, table.name, load.seed), rows as u64);
        }
        by_key(server, &data, table, load.seed);
        let raw = text(&data, &name, &["--force"]);
        let of_all: std::collections::HashSet<&[u8]> =
            expected.split(|byte| *byte == b'\n').collect();
        let others = raw.split(|byte| *byte == b'\n').filter(|row| !of_all.contains(row));
        figures.changed += others.count();
        figures.tables += 1;
        figures.rows += rows;
    }
    for (name, _) in load.json_tables() {
        assert_eq!(compare_checksum(server, &data, name, load.seed), 4);
    }
    notes_are_given_once(&data, load);
    figures
}

/// Requires that a table has the server's checksum; returns its number of rows.
fn compare_checksum(server: &Server, data: &Path, table: &str, seed: u64) -> u64 {
    let name = format!("d.{table}");
    let scanned = run(["scan", &name, "--checksum", "--json", "--datadir", path(data)]);
    scanned.says(0, &[]);
    let json: serde_json::Value = serde_json::from_str(&scanned.out).unwrap();
    let sum = server.checksum("d", table).unwrap();
    assert_eq!(json["checksum"].as_u64(), sum, "seed {seed}: {name}");
    json["rows"].as_u64().unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The rows as the server writes them.
fn server_text(server: &Server, table: &Table) -> Vec<u8> {
    let file = server.data().join("rows.txt");
    _ = std::fs::remove_file(&file);
    let columns = if table.has_virtual() { "id, v, n, sv" } else { "*" };
    let select = format!("SELECT {columns} FROM d.{}", table.name);
    server.sql(format!("{select} INTO OUTFILE '{}';", path(&file))).unwrap();
    std::fs::read(&file).unwrap()
}

fn text(data: &Path, name: &str, more: &[&str]) -> Vec<u8> {
    let dumped = crate::parity::command()
        .args(["dump", name, "--quiet", "--format", "text", "--datadir", path(data)])
        .args(more)
        .output()
        .unwrap();
    assert!(dumped.status.success(), "{name}: {}", String::from_utf8_lossy(&dumped.stderr));
    dumped.stdout
}

/// Rows by key and by condition, as the server selects them.
fn by_key(server: &Server, data: &Path, table: &Table, seed: u64) {
    let name = format!("d.{}", table.name);
    let count = |condition: &str| {
        let rows = server.sql(format!("SELECT COUNT(*) FROM {name} WHERE {condition};")).unwrap();
        String::from_utf8(rows).unwrap().trim().parse::<usize>().unwrap()
    };
    for condition in ["v < 'm'", "id > 100 AND id < 200", "id = 41"] {
        let got =
            run(["get", &name, "--where", condition, "--format", "text", "--datadir", path(data)]);
        assert!(matches!(got.code, Some(0 | 1)), "{name} {condition}: {got:?}");
        let rows = got.out.bytes().filter(|byte| *byte == b'\n').count();
        assert_eq!(rows, count(condition), "seed {seed}: {name} WHERE {condition}");
    }
}

/// What was done with the transactions is said once for all tables, and is in the dump.
fn notes_are_given_once(data: &Path, load: &Load) {
    let out = tempfile::tempdir().unwrap();
    let target = out.path().join("dump");
    let dumped = run(["dump", path(data), "-q", "-B", "d", "-o", path(&target)]);
    dumped.says(0, &["rolled back (rows as after the server's own recovery)"]);
    assert_eq!(dumped.err.matches("server's own recovery").count(), 1, "{dumped:?}");
    let manifest = std::fs::read_to_string(target.join("innoscan.json")).unwrap();
    assert!(manifest.contains("rolled back (rows as after"), "seed {}", load.seed);
    if load.prepared().next().is_some() {
        dumped.says(0, &["1 transaction prepared by XA PREPARE"]);
    }
}

/// The XID that a server gives to its own transaction with this number.
fn own_xid(number: u64) -> String {
    let bytes = [&b"MySQLXid"[..], &7u64.to_le_bytes(), &number.to_le_bytes()].concat();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("X'{digits}'")
}

/// The numbers of the transactions in a server's binary log.
fn logged_numbers(server: &Server) -> Vec<u64> {
    let log =
        String::from_utf8_lossy(&server.logged("bin.000001", u64::MAX >> 1).unwrap()).into_owned();
    let numbers = log.lines().filter_map(|line| line.split_once("Xid = ")?.1.trim().parse().ok());
    numbers.collect()
}

/// Between the binary log and InnoDB's own commit a server's transactions are prepared; the binary log tells
/// which were committed. Those with the XIDs of the server are made by XA PREPARE, since the moment is short.
#[test]
fn prepared_transactions_are_committed_as_the_binary_log_says() {
    install("mariadb-10.11").unwrap();
    let options = ["--log-bin=bin", "--server-id=7", "--sync-binlog=1"];
    let mut server = Server::start("mariadb-10.11", &options).unwrap();
    let rows = "(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')";
    server
        .sql(format!(
            "CREATE DATABASE d; USE d;
             CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB;
             INSERT INTO t VALUES {rows}; UPDATE t SET v = 'committed' WHERE id = 5;"
        ))
        .unwrap();
    let logged = *logged_numbers(&server).last().unwrap();
    let xids = [own_xid(logged), own_xid(logged + 1_000_000), "'a user'".to_owned()];
    for (xid, id) in xids.iter().zip(1..) {
        server
            .sql(format!(
                "SET sql_log_bin = 0; USE d; XA START {xid}; UPDATE t SET v = 'changed' WHERE id = {id};
                 INSERT INTO t VALUES (1{id}, 'new'); XA END {xid}; XA PREPARE {xid};"
            ))
            .unwrap();
    }
    server.kill().unwrap();
    let mut copy = server.copy().unwrap();
    // It applies the redo log, and then misses the binary log.
    copy.restart_with(&["--innodb-force-recovery=3", "--skip-log-bin"]).unwrap_err();
    server.restart().unwrap();
    let expected = server.sql("SELECT * FROM d.t;").unwrap();
    let data = copy.data();
    assert_eq!(difference(&expected, &text(&data, "d.t", &[])), None);
    let read = |more: &[&str]| {
        run([&["dump", "d.t", "--format", "text", "--datadir", path(&data)], more].concat())
    };
    read(&[]).says(
        0,
        &[
            "1 unfinished transaction rolled back",
            "1 prepared transaction committed, as the binary log says",
            "1 transaction prepared by XA PREPARE",
        ],
    );
    std::fs::remove_file(data.join("bin.index")).unwrap();
    read(&[])
        .says(2, &["2 transactions are prepared", "--prepared commit, or --prepared rollback"]);
    let rolled_back = read(&["--prepared", "rollback"]);
    rolled_back.says(0, &["2 unfinished transactions rolled back"]);
    assert!(!rolled_back.out.contains("changed"), "{rolled_back:?}");
    let committed = read(&["--prepared", "commit"]);
    committed.says(0, &["3 prepared transactions committed, as was chosen"]);
    assert_eq!(committed.out.matches("changed").count(), 3, "{committed:?}");
}
