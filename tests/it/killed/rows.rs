//! Rows of killed servers, compared with the server's own after its recovery.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use innoscan_testkit::server::{Server, install};

use super::{CHANGES_OF_ROWS, Load, checksums, copy, killed_under, mysql_version, seeds, version};
use crate::parity::command;

/// Waits until nothing is under way on a server whose clients are gone.
fn settle(server: &Server) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let under_way = "SELECT (SELECT COUNT(*) FROM information_schema.innodb_trx) + \
                     (SELECT COUNT(*) FROM information_schema.processlist WHERE command != 'Daemon');";
    // This very statement is one.
    while server.sql(under_way).unwrap() != b"1\n" {
        assert!(Instant::now() < deadline, "the server does not come to rest");
    }
}

/// The checksum of a table's rows by innoscan, or its error.
pub(super) fn checksum(data: &Path, table: &str) -> Result<String, String> {
    checksum_with(data, table, &[])
}

pub(super) fn checksum_with(data: &Path, table: &str, options: &[&str]) -> Result<String, String> {
    let output = command()
        .args(["scan", "--checksum", table, "--datadir"])
        .arg(data)
        .args(options)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let sum = text.lines().find_map(|line| line.strip_prefix("checksum")).unwrap();
    Ok(sum.trim().to_owned())
}

#[test]
fn rows_are_what_the_server_recovers() {
    compare_rows(&version());
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn rows_are_what_mysql_recovers() {
    compare_rows(&mysql_version());
}

/// What is said of tables that are refused by name: those that the server was defining when it was killed.
pub(super) const REFUSED: [&str; 2] =
    ["was killed while it created, dropped or altered", "whose ALTER TABLE was under way"];

/// The reason for a table that the server itself cannot open: before MariaDB 10.6 a kill during DDL leaves such tables.
const LOST: &str = "the server cannot open it either";

/// Compares a table's definition with AUTO_INCREMENT, which MySQL keeps in its redo log until the next checkpoint. That a
/// table is not encrypted is shown because of its database, of which its file does not say anything.
fn compare_definition(
    theirs: &Server,
    (data, arguments): (&Path, &[&str]),
    table: &str,
) -> Result<(), String> {
    let shown = theirs.sql(format!("SHOW CREATE TABLE d.`{table}`;")).unwrap();
    let shown = String::from_utf8(shown).unwrap().replace("\\n", "\n");
    let (_, definition) = shown.split_once('\t').unwrap();
    let not = " ENCRYPTION='N'";
    let definition = definition.replace(&format!(" /*!80016{not} */"), "").replace(not, "");
    let ours = schema(data, &format!("d.{table}"), arguments);
    match ours.trim_end() == definition.trim_end() {
        true => Ok(()),
        false => Err(format!("{ours}, not {definition}")),
    }
}

/// The definition of a table by innoscan.
fn schema(data: &Path, table: &str, arguments: &[&str]) -> String {
    let args = ["schema", table, "--datadir"];
    let output = command().args(args).arg(data).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// How the tables of killed servers compare.
#[derive(Debug, Default)]
struct Compared {
    /// Tables with equal definitions and rows.
    pub equal: u64,
    /// Tables that are refused by name, for each reason.
    pub refused: BTreeMap<&'static str, u64>,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tables equal, refused so far {:?}", self.equal, self.refused)
    }
}

/// Compares the definition and rows of a table with those of its server.
fn compare_table(
    theirs: &mut Server,
    (data, arguments): (&Path, &[&str]),
    table: &str,
    compared: &mut Compared,
) -> Result<(), String> {
    let ours = checksum_with(data, &format!("d.{table}"), arguments);
    let mut sum = theirs.checksum("d", table).unwrap();
    if sum.is_none() && ours.is_ok() {
        // MySQL 9.7 does not find the file that its DDL log has just renamed if the name is encoded (`t@002d1.ibd`).
        theirs.stop().unwrap();
        theirs.restart().unwrap();
        sum = theirs.checksum("d", table).unwrap();
    }
    let sum = sum.map(|sum| sum.to_string());
    let refused = |why: &String| {
        let known = REFUSED.into_iter().find(|what| why.contains(what));
        if known.is_none() && sum.is_none() {
            println!("{table}, which the server cannot open: {why}");
        }
        known.or(sum.is_none().then_some(LOST))
    };
    if let Some(what) = ours.as_ref().err().and_then(refused) {
        *compared.refused.entry(what).or_default() += 1;
        return Ok(());
    }
    match ours {
        ours if ours.as_ref().ok() == sum.as_ref() => {
            compare_definition(theirs, (data, arguments), table)?;
            compared.equal += 1;
        }
        ours => return Err(format!("{ours:?}, not {sum:?}")),
    }
    Ok(())
}

fn compare_rows(version: &str) {
    compare_tables(version, 1000, CHANGES_OF_ROWS, |_, _| Ok(()));
}

/// Kills servers under a load, for each seed beside `first`, and compares their tables with those that they recover.
/// `also`: compares the directory with the names of the tables in other ways.
pub(super) fn compare_tables(
    version: &str,
    first: u64,
    load: Load<'_>,
    also: impl Fn(&Path, &BTreeSet<String>) -> Result<(), String>,
) {
    install(version).unwrap();
    let mut compared = Compared::default();
    for seed in seeds() {
        let dir =
            tempfile::Builder::new().prefix("innoscan-killed-").tempdir_in("/var/tmp").unwrap();
        let data = killed_under(version, seed + first, dir.path(), load);
        let before = checksums(&data);
        let recovered = dir.path().join("recovered");
        copy(&dir.path().join("server"), &recovered);
        // Its statements see no change of a transaction that it is still taking back.
        let mut theirs = Server::start_in(version, &recovered, &[]).unwrap();
        let list = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'd';";
        let tables = String::from_utf8(theirs.sql(list).unwrap()).unwrap();
        let tables: BTreeSet<String> = tables.lines().map(str::to_owned).collect();
        assert!(tables.len() > 8, "{tables:?}");
        let arguments = load.extra.arguments(dir.path());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let equal = tables.iter().try_for_each(|table| {
            let equal = compare_table(&mut theirs, (&data, &arguments), table, &mut compared);
            equal.map_err(|why| format!("{table}: {why}"))
        });
        if let Err(why) = equal.and_then(|()| also(&data, &tables)) {
            panic!("seed {seed}: {why}: {}", dir.keep().display());
        }
        assert_eq!(checksums(&data), before, "seed {seed}: files were written to");
        println!("seed {seed}: {compared}");
    }
    assert!(compared.equal > 8, "{compared}");
}

#[test]
fn transactions_that_a_user_prepared_are_not_read() {
    compare_prepared(&version());
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn transactions_that_a_user_of_mysql_prepared_are_not_read() {
    compare_prepared(&mysql_version());
}

fn compare_prepared(version: &str) {
    install(version).unwrap();
    let mut server = Server::start(version, &["--innodb-flush-log-at-trx-commit=2"]).unwrap();
    let sql = "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB;
               INSERT INTO d.t VALUES (1); XA START 'x'; INSERT INTO d.t VALUES (2); XA END 'x';
               XA PREPARE 'x';";
    for sql in [sql, "XA COMMIT 'x'; INSERT INTO d.t VALUES (3);"] {
        server.sql(sql).unwrap();
        server.kill().unwrap();
        let ours = checksum(&server.data(), "d.t");
        server.restart().unwrap();
        assert_eq!(ours, Ok(server.checksum("d", "t").unwrap().unwrap().to_string()));
    }
}

/// Of an encrypted or page-compressed table, the log changes the pages as they are in memory.
#[test]
fn encrypted_and_compressed_pages_are_settled() {
    compare_encrypted("--innodb-encrypt-log=OFF");
}

#[test]
fn encrypted_and_compressed_pages_are_settled_by_an_encrypted_log() {
    compare_encrypted("--innodb-encrypt-log=ON");
}

fn compare_encrypted(log: &str) {
    let version = version();
    install(&version).unwrap();
    let keys = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(keys.path(), "1;770A8A65DA156D24EE2A093277530142\n").unwrap();
    let path = keys.path().to_str().unwrap();
    let options = [
        "--plugin-load-add=file_key_management",
        &format!("--file-key-management-filename={path}"),
        "--innodb-max-dirty-pages-pct=99",
        "--innodb-flush-log-at-trx-commit=2",
        log,
    ];
    let tables = [
        ("e", "ENCRYPTED=YES"),
        ("p", "PAGE_COMPRESSED=1"),
        ("ep", "ENCRYPTED=YES PAGE_COMPRESSED=1"),
        ("z", "ROW_FORMAT=COMPRESSED"),
        ("ez", "ENCRYPTED=YES ROW_FORMAT=COMPRESSED"),
    ];
    let mut server = Server::start(&version, &options).unwrap();
    let mut before = "CREATE DATABASE d; USE d;".to_owned();
    let mut after = "USE d;".to_owned();
    for (table, options) in tables {
        before += &format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(300), b BLOB)
               ENGINE=InnoDB {options};
             INSERT INTO {table} (v) SELECT REPEAT(seq, 30) FROM seq_1_to_2000;"
        );
        after += &format!(
            "DELETE FROM {table} WHERE id % 7 = 1;
             UPDATE {table} SET v = CONCAT(v, 'new') WHERE id % 3 = 0;
             INSERT INTO {table} (v, b) SELECT seq, REPEAT('b', 9000) FROM seq_1_to_20;"
        );
    }
    server.sql(before).unwrap();
    // So that the files have the pages that the log changes.
    server.stop().unwrap();
    server.restart().unwrap();
    server.sql(after).unwrap();
    settle(&server);
    let sums = tables.map(|(table, _)| server.checksum("d", table).unwrap().unwrap().to_string());
    server.kill().unwrap();
    let keys = ["--file-key-management-filename", path];
    for ((table, _), sum) in tables.into_iter().zip(sums) {
        let ours = checksum_with(&server.data(), &format!("d.{table}"), &keys);
        assert_eq!(ours, Ok(sum), "{table}");
    }
}
