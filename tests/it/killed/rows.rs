//! Rows of killed servers, compared with the server's own after its recovery.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use innoscan_testkit::server::{Server, install};

use super::dumped::{DumpedTable, dump};
use super::{
    CHANGES_OF_ROWS, Load, checksums, copy, kill_under, kills, mysql_version, plan, seeds, started,
    version,
};
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

/// What the server has for a table.
#[derive(Debug)]
struct Theirs {
    /// The checksum of its rows; none of a table that it cannot open.
    checksum: Option<String>,
    /// Its definition; empty without a checksum.
    definition: String,
}

/// What follows a definition in the output of the client.
const END: &str = "-- end of the definition";

/// What the server has for its tables.
fn tables_of(server: &Server, tables: &BTreeSet<String>) -> BTreeMap<String, Theirs> {
    let quoted: Vec<String> = tables.iter().map(|table| format!("d.`{table}`")).collect();
    let sums = server.sql(format!("CHECKSUM TABLE {};", quoted.join(", "))).unwrap();
    let sums = String::from_utf8(sums).unwrap();
    let sums: BTreeMap<&str, &str> =
        sums.lines().filter_map(|line| line.split_once('\t')).collect();
    let checksum = |table: &str| {
        sums.get(&*format!("d.{table}")).filter(|sum| **sum != "NULL").map(|sum| (*sum).to_owned())
    };
    let whole: Vec<&String> = tables.iter().filter(|table| checksum(table).is_some()).collect();
    let show = whole.iter().map(|table| format!("SHOW CREATE TABLE d.`{table}`; SELECT '{END}';"));
    let shown = String::from_utf8(server.sql(show.collect::<String>()).unwrap()).unwrap();
    let definitions: BTreeMap<&str, &str> =
        shown.split(&format!("{END}\n")).filter_map(|shown| shown.split_once('\t')).collect();
    let theirs = |table: &String| Theirs {
        checksum: checksum(table),
        definition: (*definitions.get(&**table).unwrap_or(&"")).to_owned(),
    };
    tables.iter().map(|table| (table.clone(), theirs(table))).collect()
}

/// Compares a table's definition with AUTO_INCREMENT, which MySQL keeps in its redo log until the next checkpoint. That a
/// table is not encrypted is shown because of its database, of which its file does not say anything.
fn compare_definition(ours: &str, theirs: &str) -> Result<(), String> {
    let not = " ENCRYPTION='N'";
    let theirs = theirs.replace(&format!(" /*!80016{not} */"), "").replace(not, "");
    match ours == theirs.trim_end() {
        true => Ok(()),
        false => Err(format!("{ours}, not {theirs}")),
    }
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
    ours: Result<&DumpedTable, &str>,
    theirs: &Theirs,
    compared: &mut Compared,
) -> Result<(), String> {
    let ours = match (ours, &theirs.checksum) {
        (Ok(ours), _) => ours,
        (Err(why), sum) => {
            let known = REFUSED.into_iter().find(|what| why.contains(what));
            let Some(what) = known.or(sum.is_none().then_some(LOST)) else {
                return Err(format!("{why}, not {theirs:?}"));
            };
            *compared.refused.entry(what).or_default() += 1;
            return Ok(());
        }
    };
    if Some(&ours.checksum) != theirs.checksum.as_ref() {
        return Err(format!("{}, not {theirs:?}", ours.checksum));
    }
    compare_definition(&ours.definition, &theirs.definition)?;
    compared.equal += 1;
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
        let plan = plan(version, seed + first);
        let mut server = started(version, plan, dir.path(), load);
        let arguments = load.extra.arguments(dir.path());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        for nth in 0..kills() {
            kill_under(&mut server, plan.nth(nth), dir.path(), load);
            let before = checksums(&server.data());
            let recovered = dir.path().join(format!("recovered{nth}"));
            copy(server.data().parent().unwrap(), &recovered);
            let theirs = Server::start_in(version, &recovered, &[]).unwrap();
            let killed = server.data();
            let equal = compare_directory(&killed, &arguments, theirs, &mut compared)
                .and_then(|(theirs, tables)| also(&killed, &tables).map(|()| theirs));
            server = match equal {
                Ok(theirs) => theirs,
                Err(why) => panic!("seed {seed}.{nth}: {why}: {}", dir.keep().display()),
            };
            assert_eq!(checksums(&killed), before, "seed {seed}.{nth}: files were written to");
            std::fs::remove_dir_all(killed.parent().unwrap()).unwrap();
            println!("seed {seed}.{nth}: {compared}");
        }
        server.kill().unwrap();
    }
    assert!(compared.equal > 8, "{compared}");
}

/// Compares the tables of a killed server with those of the same server after its recovery; returns that, with the names of
/// the tables.
fn compare_directory(
    killed: &Path,
    arguments: &[&str],
    mut theirs: Server,
    compared: &mut Compared,
) -> Result<(Server, BTreeSet<String>), String> {
    let ours = dump(killed, arguments)?;
    let list = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'd';";
    let tables = String::from_utf8(theirs.sql(list).unwrap()).unwrap();
    let tables: BTreeSet<String> = tables.lines().map(str::to_owned).collect();
    assert!(tables.len() > 8, "{tables:?}");
    // Its statements see no change of a transaction that it is still taking back.
    let mut found = tables_of(&theirs, &tables);
    let is_lost = |table: &String| {
        found[table].checksum.is_none() && ours.get(table).is_some_and(Result::is_ok)
    };
    if tables.iter().any(is_lost) {
        // MySQL 9.7 does not find the file that its DDL log has just renamed if the name is encoded (`t@002d1.ibd`).
        theirs.stop().unwrap();
        theirs.restart().unwrap();
        found = tables_of(&theirs, &tables);
    }
    for (table, theirs) in &found {
        let ours = match ours.get(table) {
            Some(ours) => ours.as_ref().map_err(String::as_str),
            None => Err("it is not found"),
        };
        compare_table(ours, theirs, compared).map_err(|why| format!("{table}: {why}"))?;
    }
    Ok((theirs, tables))
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
