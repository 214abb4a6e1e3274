//! Queries over the directory of a killed server, and over backups that were not prepared. A server says what the rows
//! are.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use innoscan_testkit::server::{Server, install};

const VERSION: &str = "mariadb-10.11";
const ROWS: &str = "SELECT id, v FROM d.t ORDER BY id";

/// A query of a data directory; the rows are the lines after the first.
fn query(datadir: &Path, sql: &str, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_innoscan-sql"));
    command.args([sql, "--format", "csv", "--datadir"]).arg(datadir).args(more).output().unwrap()
}

/// The rows of a query as the client of a server writes them, and the lines on standard error.
fn rows(datadir: &Path, sql: &str, more: &[&str]) -> (String, Vec<String>) {
    let output = query(datadir, sql, more);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{sql}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, rows) = text.split_once('\n').unwrap();
    (rows.replace(',', "\t"), errors.lines().map(str::to_owned).collect())
}

/// What a query that is refused says.
fn refusal(datadir: &Path, sql: &str, more: &[&str]) -> String {
    let output = query(datadir, sql, more);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(output.stdout.is_empty());
    errors
}

/// The rows of the server itself.
fn truth(server: &Server, sql: &str) -> String {
    String::from_utf8(server.sql(format!("{sql};")).unwrap()).unwrap()
}

/// A session that has done some statements, and stays open.
fn session(server: &Server, statements: &str) -> Child {
    let mut client = Command::new("mariadb")
        .args(["--no-defaults", "--skip-ssl", "-uroot", "-N", "-B", "-n", "-S"])
        .arg(server.socket())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    write!(client.stdin.as_mut().unwrap(), "{statements}; SELECT 'done';\n").unwrap();
    let mut line = String::new();
    let output = client.stdout.as_mut().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    assert_eq!(line, "done\n");
    client
}

#[test]
fn a_killed_server() {
    let mut server = Server::start(VERSION, &[]).unwrap();
    server
        .sql(
            "CREATE DATABASE d; USE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB;
             INSERT INTO d.t SELECT seq, REPEAT('a', 60) FROM seq_1_to_10000;
             CREATE TABLE d.u (id INT PRIMARY KEY) ENGINE=InnoDB;",
        )
        .unwrap();
    let unfinished = "USE d; START TRANSACTION; UPDATE d.t SET v = 'changed' WHERE id % 7 = 0;
        DELETE FROM d.t WHERE id % 5 = 0; INSERT INTO d.t SELECT 50000 + seq, 'new' FROM seq_1_to_500";
    let mut client = session(&server, unfinished);
    // What is committed is in the log, with all before it.
    server.sql("INSERT INTO d.u VALUES (1);").unwrap();
    server.kill().unwrap();
    client.kill().unwrap();
    client.wait().unwrap();
    let copy = server.copy().unwrap();
    server.restart().unwrap();
    let data = copy.data();
    let (ours, errors) = rows(&data, ROWS, &[]);
    assert!(ours == truth(&server, ROWS), "{ours}");
    let [read_through, rolled_back] = &errors[..] else { panic!("{errors:?}") };
    let killed =
        "innoscan: note: its server was not shut down; read through the redo log, as of LSN ";
    assert!(read_through.starts_with(killed), "{errors:?}");
    assert!(
        rolled_back.starts_with("innoscan: note: 1 unfinished transaction rolled back"),
        "{errors:?}"
    );
    let joined =
        "SELECT COUNT(*), MIN(a.v) FROM d.t a JOIN d.t b ON a.id = b.id + 1 WHERE b.id % 7 < 2";
    let (ours, errors) = rows(&data, joined, &[]);
    assert_eq!(ours, truth(&server, joined));
    assert_eq!(errors.len(), 2, "each note once: {errors:?}");
    let path = data.join("d/t.ibd");
    let by_path = format!("SELECT COUNT(*) FROM innodb('{}')", path.display());
    let output = Command::new(env!("CARGO_BIN_EXE_innoscan-sql"))
        .args([&by_path, "--format", "csv"])
        .output()
        .unwrap();
    let count = String::from_utf8(output.stdout).unwrap();
    assert_eq!(count.lines().nth(1), truth(&server, "SELECT COUNT(*) FROM d.t").lines().next());
}

#[test]
fn prepared_transactions() {
    let options = ["--log-bin=bin", "--server-id=7", "--sync-binlog=1"];
    let mut server = Server::start(VERSION, &options).unwrap();
    // MySQLXid, the server's id, and a number: the XID of the server's own transaction.
    let xid = "X'4D7953514C586964070000000000000040420F0000000000'";
    server
        .sql(format!(
            "CREATE DATABASE d; USE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB;
             INSERT INTO d.t VALUES (1, 'a'), (2, 'b');
             SET sql_log_bin = 0; XA START {xid}; UPDATE d.t SET v = 'changed' WHERE id = 1; XA END {xid};
             XA PREPARE {xid};"
        ))
        .unwrap();
    server.kill().unwrap();
    // Without the binary log nobody knows whether the server had committed it.
    let data = server.data();
    for name in ["bin.index", "bin.000001"] {
        std::fs::remove_file(data.join(name)).unwrap();
    }
    for sql in [ROWS, "SHOW TABLES"] {
        let refused = refusal(&data, sql, &[]);
        assert!(refused.contains("--prepared commit, or --prepared rollback"), "{refused}");
        assert_eq!(refusal(&data, sql, &["--prepared", "refuse"]), refused);
    }
    for choice in ["commit", "rollback"] {
        let mut judge = server.copy().unwrap();
        // The server's own option for this.
        let heuristic = format!("--tc-heuristic-recover={choice}");
        judge.restart_with(&["--skip-log-bin", &heuristic]).unwrap();
        let (ours, errors) = rows(&data, ROWS, &["--prepared", choice]);
        assert_eq!(ours, truth(&judge, ROWS), "{errors:?}");
        assert_eq!(ours.contains("changed"), choice == "commit");
        assert_eq!(errors.len(), 2, "{errors:?}");
    }
}

/// A number in the status of a server.
fn status(server: &Server, name: &str) -> u64 {
    let shown = truth(server, &format!("SHOW GLOBAL STATUS LIKE '{name}'"));
    shown.trim_end().rsplit('\t').next().unwrap().parse().unwrap()
}

/// Waits until all changes are in the data files, so that the next backup begins behind them.
fn write_all_pages(server: &Server) {
    let dirty =
        "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0; SET GLOBAL innodb_max_dirty_pages_pct = 0;";
    server.sql(dirty).unwrap();
    let wanted = status(server, "Innodb_lsn_current");
    let deadline = Instant::now() + Duration::from_secs(60);
    while status(server, "Innodb_lsn_last_checkpoint") < wanted {
        assert!(Instant::now() < deadline, "the server makes no checkpoint");
    }
}

/// Makes a backup, or an incremental one on another.
fn back_up(server: &Server, target: PathBuf, on: Option<&PathBuf>) -> PathBuf {
    let mut command = Command::new("mariadb-backup");
    command.args(["--no-defaults", "--backup", "--user=root"]);
    command.arg(format!("--target-dir={}", target.display()));
    command.arg(format!("--socket={}", server.socket().display()));
    command.arg(format!("--datadir={}", server.data().display()));
    command.args(on.map(|on| format!("--incremental-basedir={}", on.display())));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target
}

#[test]
fn incremental_backups() {
    install("mariadb-backup").unwrap();
    let dir = tempfile::tempdir().unwrap();
    // The backup asks for its account's rights.
    let options = ["--innodb-log-file-size=64M", "--skip-grant-tables=OFF"];
    let mut server = Server::start(VERSION, &options).unwrap();
    let changes = [
        "CREATE DATABASE d; USE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB;
         INSERT INTO d.t SELECT seq, REPEAT('a', 60) FROM seq_1_to_4000; CREATE DATABASE gone;
         CREATE TABLE gone.t (id INT PRIMARY KEY) ENGINE=InnoDB;",
        "UPDATE d.t SET v = 'changed' WHERE id % 11 = 0; DELETE FROM d.t WHERE id > 3000; DROP DATABASE gone;",
        "USE d; INSERT INTO d.t SELECT 10000 + seq, 'new' FROM seq_1_to_5000; CREATE DATABASE later;
         CREATE TABLE later.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB; INSERT INTO later.t VALUES (1, 2);",
    ];
    let listed = "SELECT table_schema, table_name FROM information_schema.tables
        WHERE table_schema IN ('d', 'gone', 'later') ORDER BY table_schema, table_name";
    let mut chain: Vec<PathBuf> = Vec::new();
    let mut truths = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        server.sql(change).unwrap();
        write_all_pages(&server);
        let target = dir.path().join(format!("backup{number}"));
        chain.push(back_up(&server, target, chain.last()));
        truths.push((truth(&server, ROWS), truth(&server, listed)));
    }
    server.kill().unwrap();
    let [base, incremental @ ..] = &chain[..] else { unreachable!() };
    for (number, (expected, tables)) in truths.iter().enumerate() {
        let named: Vec<&str> = incremental[..number]
            .iter()
            .flat_map(|backup| ["--incremental", backup.to_str().unwrap()])
            .collect();
        let (ours, errors) = rows(base, ROWS, &named);
        assert!(ours == *expected, "{number}: {ours}");
        assert!(errors[0].contains("the backup was not prepared"), "{errors:?}");
        assert_eq!(rows(base, listed, &named).0, *tables);
        // A database that the newest backup alone has, or its base alone.
        for (name, is_there) in [("later", number == 2), ("gone", number == 0)] {
            let output = query(base, &format!("SELECT COUNT(*) FROM {name}.t"), &named);
            assert_eq!(output.status.success(), is_there, "{name}, {number}: {output:?}");
        }
    }
    let refused = refusal(&incremental[1], ROWS, &[]);
    assert!(refused.contains("--datadir BASE --incremental INC1"), "{refused}");
    let without_one = refusal(base, ROWS, &["--incremental", incremental[1].to_str().unwrap()]);
    assert!(without_one.contains("LSN"), "{without_one}");
}

#[test]
fn the_options_are_those_of_the_other_commands() {
    let run = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_innoscan-sql")).args(args).output().unwrap()
    };
    let wrong = run(&["SELECT 1", "--prepared", "drop"]);
    let errors = String::from_utf8(wrong.stderr).unwrap();
    assert!(!wrong.status.success() && errors.contains("commit, rollback, refuse"), "{errors}");
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    assert!(help.contains("--incremental <DIR>") && help.contains("[default: refuse]"), "{help}");
}
