//! Dumps of running servers: consistent snapshots while others write, with no more privileges than are
//! documented, and with all locks released whatever happens.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use innoscan_io::engine::memory::splitmix64;
use innoscan_testkit::server::{Server, install};

use crate::cut_short::with_large_table;
use crate::layouts::{MYDUMPER, load_by_client, load_by_myloader};
use crate::parity::command;
use crate::shell_loader;

/// What an account needs, as docs/live.md says.
const PRIVILEGES: &str =
    "RELOAD, SELECT, LOCK TABLES, REPLICATION CLIENT, SHOW VIEW, TRIGGER, EVENT";

const PASSWORD: &str = "not-to-be-seen-5F3A";

const SCHEMAS: u64 = 40;

/// A schema with something of every kind; the names are not all plain.
fn schema_sql(number: u64, is_mariadb: bool) -> String {
    let schema = schema(number);
    let sequence = "CREATE SEQUENCE numbers START WITH 5 INCREMENT BY 3 CACHE 10;";
    let sequence = if is_mariadb { sequence } else { "" };
    format!(
        "CREATE DATABASE `{schema}`; USE `{schema}`;
         CREATE TABLE accounts (id INT PRIMARY KEY, amount BIGINT NOT NULL, note VARCHAR(80)) ENGINE=InnoDB;
         CREATE TABLE `moves done` (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b INT, amount INT,
           at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
           FOREIGN KEY (a) REFERENCES accounts (id)) ENGINE=InnoDB;
         CREATE TABLE keyless (a INT, b TEXT, c DOUBLE) ENGINE=InnoDB;
         CREATE TABLE parts (id INT PRIMARY KEY, x INT) ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 3;
         CREATE TABLE old (a INT, b VARCHAR(30), c FLOAT, e ENUM('x','y')) ENGINE=MyISAM;
         {sequence}
         CREATE VIEW `sum of all` AS SELECT SUM(amount) AS total FROM accounts;
         CREATE TABLE counts (what VARCHAR(20) PRIMARY KEY, n INT) ENGINE=InnoDB;
         INSERT INTO counts VALUES ('moves', 0);
         DELIMITER //
         CREATE TRIGGER counted AFTER INSERT ON `moves done` FOR EACH ROW
           BEGIN UPDATE counts SET n = n + 1 WHERE what = 'moves'; END//
         CREATE PROCEDURE double_all (IN factor INT)
           BEGIN UPDATE accounts SET amount = amount * factor; SELECT 'done; really'; END//
         CREATE FUNCTION half (x INT) RETURNS INT DETERMINISTIC RETURN x DIV 2//
         CREATE EVENT `every year` ON SCHEDULE EVERY 1 YEAR DO BEGIN DELETE FROM keyless; END//
         DELIMITER ;
         INSERT INTO accounts VALUES (1, 1000, 'a\\'b'), (2, 1000, 'é'), (3, 1000, NULL);\n"
    )
}

fn schema(number: u64) -> String {
    if number.is_multiple_of(4) { format!("sh-öp {number}") } else { format!("shop{number}") }
}

/// One change of one schema, which leaves the sum of its accounts as it was.
fn change(chance: &mut u64, is_mariadb: bool) -> String {
    let schema = schema(splitmix64(chance) % SCHEMAS);
    let n = splitmix64(chance);
    let (a, b, amount) = (1 + n % 3, 1 + (n >> 8) % 3, n >> 16 & 63);
    let next = match is_mariadb {
        true => {
            format!("INSERT INTO `{schema}`.old SELECT NEXTVAL(`{schema}`.numbers), 'w', 0.1, 'y';")
        }
        false => format!("INSERT INTO `{schema}`.old VALUES ({amount}, 'w', 0.1, 'y');"),
    };
    let more = match n >> 32 & 7 {
        0 => next,
        1 => format!(
            "INSERT INTO `{schema}`.keyless VALUES ({amount}, REPEAT('t', {amount}), {amount} / 7);"
        ),
        2 => format!("REPLACE INTO `{schema}`.parts VALUES ({amount}, {a});"),
        3 => format!("DELETE FROM `{schema}`.keyless LIMIT 2;"),
        _ => String::new(),
    };
    format!(
        "START TRANSACTION; UPDATE `{schema}`.accounts SET amount = amount - {amount} WHERE id = {a};
         UPDATE `{schema}`.accounts SET amount = amount + {amount} WHERE id = {b};
         INSERT INTO `{schema}`.`moves done` (a, b, amount) VALUES ({a}, {b}, {amount}); COMMIT; {more}\n"
    )
}

pub(crate) fn client(server: &Server) -> Command {
    let mut client = Command::new("mariadb");
    client
        .args(["--no-defaults", "--skip-ssl", "-uroot", "-N", "-B", "--force"])
        .args(["--default-character-set=utf8mb4", "-S"])
        .arg(server.socket());
    client
}

/// A client that changes things until it is told to stop.
struct Writer {
    stop: std::sync::Arc<AtomicBool>,
    thread: JoinHandle<(u64, Child)>,
}

impl Writer {
    fn start(server: &Server, seed: u64, is_mariadb: bool) -> Writer {
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let mut child = client(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let thread = std::thread::spawn(move || {
            let mut stdin = child.stdin.take().unwrap();
            let (mut chance, mut changes) = (seed, 0);
            while !stopped.load(Ordering::Relaxed) {
                // A full pipe holds it up until the server has caught up.
                stdin.write_all(change(&mut chance, is_mariadb).as_bytes()).unwrap();
                changes += 1;
            }
            drop(stdin);
            (changes, child)
        });
        Writer { stop, thread }
    }

    fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let (changes, child) = self.thread.join().unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let is_error = |line: &&str| line.starts_with("ERROR") && !line.contains("Deadlock found");
        let errors: Vec<&str> = said.lines().filter(is_error).take(3).collect();
        assert!(errors.is_empty(), "{errors:?}");
        changes
    }
}

/// Stands between the answers to statements of one connection.
const BETWEEN: &str = "\u{1}\n";

/// The answer to each statement, all over one connection.
fn answers(server: &Server, statements: &[String]) -> Vec<String> {
    let sql: String =
        statements.iter().map(|sql| format!("{sql}\nSELECT '{}';\n", BETWEEN.trim_end())).collect();
    let text = server.sql(sql).unwrap_or_else(|error| panic!("{error}"));
    let text = String::from_utf8_lossy(&text).into_owned();
    let answers: Vec<String> = text.split_terminator(BETWEEN).map(str::to_owned).collect();
    assert_eq!(answers.len(), statements.len());
    answers
}

/// Everything the server says of everything it has: name of the thing, and what it says.
fn state(server: &Server) -> BTreeMap<String, String> {
    let text = |sql: &str| String::from_utf8_lossy(&server.sql(sql).unwrap()).into_owned();
    let mut asked: Vec<(String, String)> = Vec::new();
    let tables = text(
        "SELECT CONCAT('`', table_schema, '`.`', table_name, '`'), table_type \
         FROM information_schema.tables WHERE table_schema LIKE 'sh%';",
    );
    for line in tables.lines() {
        let (name, kind) = line.split_once('\t').unwrap();
        asked.push((format!("create {name}"), format!("SHOW CREATE TABLE {name};")));
        if kind == "BASE TABLE" {
            asked.push((format!("sum {name}"), format!("CHECKSUM TABLE {name};")));
        }
        if kind == "SEQUENCE" {
            let sql = format!("SELECT next_not_cached_value FROM {name};");
            asked.push((format!("next {name}"), sql));
        }
    }
    for (kind, sql) in [
        (
            "TRIGGER",
            "SELECT CONCAT('`', trigger_schema, '`.`', trigger_name, '`') FROM information_schema.triggers WHERE trigger_schema LIKE 'sh%';",
        ),
        (
            "EVENT",
            "SELECT CONCAT('`', event_schema, '`.`', event_name, '`') FROM information_schema.events WHERE event_schema LIKE 'sh%';",
        ),
        (
            "PROCEDURE",
            "SELECT CONCAT('`', routine_schema, '`.`', routine_name, '`') FROM information_schema.routines WHERE routine_schema LIKE 'sh%' AND routine_type = 'PROCEDURE';",
        ),
        (
            "FUNCTION",
            "SELECT CONCAT('`', routine_schema, '`.`', routine_name, '`') FROM information_schema.routines WHERE routine_schema LIKE 'sh%' AND routine_type = 'FUNCTION';",
        ),
    ] {
        for name in text(sql).lines() {
            asked.push((format!("{kind} {name}"), format!("SHOW CREATE {kind} {name};")));
        }
    }
    let (names, statements): (Vec<String>, Vec<String>) = asked.into_iter().unzip();
    let answers = answers(server, &statements);
    let parts = names.into_iter().zip(answers);
    parts.map(|(name, answer)| (name.clone(), shown_part(&name, answer))).collect()
}

/// What of an answer belongs to the thing itself.
fn shown_part(name: &str, answer: String) -> String {
    // A counter runs ahead of the rows on the server that was written to.
    if let Some((before, after)) =
        answer.split_once(" AUTO_INCREMENT=").filter(|_| name.starts_with("create "))
    {
        return format!("{before}{}", after.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    // When a trigger was made is not a part of it.
    match answer.rsplit_once('\t').filter(|_| name.starts_with("TRIGGER ")) {
        Some((before, _)) => before.to_owned(),
        None => answer,
    }
}

fn assert_same(was: &BTreeMap<String, String>, is: &BTreeMap<String, String>, what: &str) {
    let differing: Vec<String> = was
        .keys()
        .chain(is.keys().filter(|name| !was.contains_key(*name)))
        .filter(|name| was.get(*name) != is.get(*name))
        .map(|name| format!("{name}\n  was {:?}\n  is  {:?}", was.get(name), is.get(name)))
        .collect();
    assert!(
        differing.is_empty(),
        "{what}: {} of {} differ\n{}",
        differing.len(),
        was.len(),
        differing[..differing.len().min(5)].join("\n")
    );
}

/// The arguments that reach a server as the account that has no more privileges than it needs.
fn backup_account(server: &Server) -> Vec<String> {
    server
        .sql(format!(
            "CREATE USER backup@localhost IDENTIFIED BY '{PASSWORD}';
             GRANT {PRIVILEGES} ON *.* TO backup@localhost;"
        ))
        .unwrap();
    ["--no-defaults", "-u", "backup", "-S", server.socket().to_str().unwrap()]
        .map(str::to_owned)
        .to_vec()
}

/// All that is in a directory's files.
fn content(directory: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap();
        let is_packed = entry.path().extension().is_some_and(|extension| extension == "zst");
        all.extend(if is_packed { zstd::decode_all(&bytes[..]).unwrap() } else { bytes });
    }
    all
}

/// The state at a place of the binary log: all that was ever logged, up to there, once more.
fn replayed(version: &str, server: &Server, (file, position): &(String, u64)) -> Server {
    let control = Server::start(version, &QUICK).unwrap();
    control.feed(&mut &*server.logged(file, *position).unwrap()).unwrap();
    control
}

/// File and position in the binary log, as the dump has them.
fn coordinates(directory: &Path) -> (String, u64) {
    if directory.join("metadata").exists() {
        let metadata = std::fs::read_to_string(directory.join("metadata")).unwrap();
        let value = |name: &str| {
            let line = metadata.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_once('=').unwrap().1.trim().trim_matches('"').to_owned()
        };
        return (value("SOURCE_LOG_FILE"), value("SOURCE_LOG_POS").parse().unwrap());
    }
    let manifest = std::fs::read_to_string(directory.join("@.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let file = manifest["binlogFile"].as_str().unwrap().to_owned();
    (file, manifest["binlogPosition"].as_u64().unwrap())
}

/// Servers with grants and events, which need not survive.
pub(crate) const QUICK: [&str; 3] =
    ["--skip-grant-tables=OFF", "--innodb-flush-log-at-trx-commit=0", "--local-infile=ON"];

/// What it is called, and how it loads a dump into a server.
type Loader<'l> = (&'l str, &'l dyn Fn(&Server));

fn busy(version: &str) {
    install(version).unwrap();
    let is_mariadb = version.starts_with("mariadb");
    let logged = ["--log-bin=binlog", "--server-id=1", "--binlog-format=ROW"];
    let options: Vec<&str> = logged.into_iter().chain(QUICK).collect();
    let server = Server::start(version, &options).unwrap();
    let schemas: String = (0..SCHEMAS).map(|number| schema_sql(number, is_mariadb)).collect();
    server.sql(schemas).unwrap();
    let account = backup_account(&server);
    let writers: Vec<Writer> =
        (0..8).map(|seed| Writer::start(&server, seed, is_mariadb)).collect();
    let moves = || {
        let sum = "SELECT SUM(n) FROM (SELECT n FROM `sh-öp 0`.counts UNION ALL SELECT n FROM shop1.counts) x;";
        String::from_utf8(server.sql(sum).unwrap()).unwrap().trim().parse::<u64>().unwrap()
    };
    while moves() < 20 {
        std::thread::yield_now();
    }
    let dir = tempfile::tempdir().unwrap();
    let mut dumps = Vec::new();
    for (layout, small) in [("mydumper", "files"), ("mysqlsh", "files"), ("mydumper", "select")] {
        let out = dir.path().join(format!("{small}-{layout}"));
        if small == "select" && !is_mariadb {
            // As docs/live.md says.
            server.sql("GRANT PROCESS ON *.* TO backup@localhost").unwrap();
        }
        let dump = command()
            .args(["dump", "-A", "-c", "none", "--layout", layout, "-o", out.to_str().unwrap()])
            .args(["--small-tables", small])
            .args(&account)
            .env("MYSQL_PWD", PASSWORD)
            .output()
            .unwrap();
        assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
        let during = moves();
        while moves() <= during {
            std::thread::yield_now();
        }
        for text in [&content(&out), &dump.stderr, &dump.stdout] {
            let secret = PASSWORD.as_bytes();
            assert!(!text.windows(secret.len()).any(|window| window == secret));
        }
        dumps.push(out);
    }
    let changes: u64 = writers.into_iter().map(Writer::end).sum();
    assert!(changes > 100, "{changes} changes");
    for out in &dumps {
        let control = replayed(version, &server, &coordinates(out));
        let expected = state(&control);
        drop(control);
        assert!(expected.len() > 10 * SCHEMAS as usize, "{}", expected.len());
        let by_client = |to: &Server| load_by_client(to, out, &MYDUMPER);
        let loaders: &[Loader<'_>] = match out.file_name().unwrap().to_str().unwrap() {
            "select-mydumper" => &[("the client", &by_client)],
            "files-mydumper" => {
                &[("myloader", &|to| load_by_myloader(to, out, &[])), ("the client", &by_client)]
            }
            _ => &[("a reader of the shell's layout", &|to| shell_loader::load(out, to).unwrap())],
        };
        for (by, load) in loaders {
            let target = Server::start(version, &QUICK).unwrap();
            load(&target);
            assert_same(&expected, &state(&target), &format!("{version}, by {by}"));
        }
    }
}

#[test]
fn a_busy_server_is_dumped_as_of_one_moment() {
    busy("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn busy_mysqls_are_dumped_as_of_one_moment() {
    busy("mysql-8.0.33");
    busy("mysql-9.7");
}

#[test]
fn what_keeps_a_dump_from_its_tables_is_said() {
    let server = with_large_table("mariadb-10.11");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let socket = server.socket().to_str().unwrap();
    let dump = |more: &[&str]| {
        _ = std::fs::remove_dir_all(&out);
        let output = command()
            .args(["dump", "--no-defaults", "-o", out.to_str().unwrap()])
            .args(more)
            .env_remove("MYSQL_PWD")
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let refused = |more: &[&str], why: &str| {
        let (code, said) = dump(more);
        assert!(code == Some(2) && said.contains(why), "{more:?}: {code:?} {said}");
    };
    refused(&["-S", socket, "-u", "root", "-B", "nope"], "no database and no table `nope`");
    refused(&["-S", "/nowhere.sock", "-u", "root", "-A"], "/nowhere.sock");
    refused(&["-S", socket, "-u", "nobody_known", "-A"], "Access denied");
    server.sql("CREATE USER poor@localhost; GRANT SELECT ON *.* TO poor@localhost;").unwrap();
    refused(&["-S", socket, "-u", "poor", "-B", "d"], "RELOAD");
    // An open transaction keeps the lock away.
    let mut holder = client(&server).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = holder.stdin.take().unwrap();
    stdin.write_all(b"BEGIN; UPDATE d.t SET v = 'y' WHERE id = 2;\n").unwrap();
    until_uncommitted(&server, "SELECT v = 'y' FROM d.t WHERE id = 2;");
    refused(
        &["-S", socket, "-u", "root", "-B", "d", "--lock-wait-timeout", "2"],
        "could not be locked within 2 s",
    );
    drop(stdin);
    holder.wait().unwrap();
    // Somebody who answers and is not who holds the files.
    let proxy = dir.path().join("proxy.sock");
    let listener = UnixListener::bind(&proxy).unwrap();
    let to = server.socket().to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            forward(client, UnixStream::connect(&to).unwrap());
        }
    });
    refused(
        &["-S", proxy.to_str().unwrap(), "-u", "root", "-B", "d"],
        "the directory belongs to another server",
    );
    let (code, said) = dump(&["-S", socket, "-u", "root", "-B", "d", "--dry-run"]);
    assert!(code == Some(0) && !out.exists(), "{said}");
}

/// Waits until somebody's transaction has made this query say 1. (`INNODB_TRX` is not asked: it is not
/// renewed while it is asked for all the time.)
pub(crate) fn until_uncommitted(server: &Server, query: &str) {
    let sql = format!("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; {query}");
    while server.sql(&sql).unwrap() != b"1\n" {
        std::thread::yield_now();
    }
}

fn forward(client: UnixStream, server: UnixStream) {
    for (mut from, mut to) in
        [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
    {
        std::thread::spawn(move || {
            // Either end may go first.
            _ = std::io::copy(&mut from, &mut to);
            _ = to.shutdown(std::net::Shutdown::Both);
        });
    }
}

/// Dumps a table to stdout: exit code, rows and what was said.
fn dumped(source: &[&str]) -> (Option<i32>, String, String) {
    let mut dump = command();
    let output = dump.args(["dump", "--quiet"]).args(source).env("MYSQL_PWD", PASSWORD).output();
    let output = output.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn prepared(version: &str) {
    install(version).unwrap();
    let mut server = Server::start(version, &QUICK).unwrap();
    server
        .sql(
            "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB;
             INSERT INTO d.t VALUES (1);
             XA START 'x'; INSERT INTO d.t VALUES (2); XA END 'x'; XA PREPARE 'x';",
        )
        .unwrap();
    let account = backup_account(&server);
    let live = ["-B", "d", "--lock-wait-timeout", "1"];
    let live: Vec<&str> = live.into_iter().chain(account.iter().map(String::as_str)).collect();
    let refused = |(code, rows, said): (Option<i32>, String, String), why: &[&str]| {
        assert!(code == Some(2) && !rows.contains("(2)"), "{version}: {code:?} {rows} {said}");
        assert!(why.iter().any(|why| said.contains(why)), "{version}: {said}");
    };
    let keeps_away = ["transactions are prepared and not ended", "could not be locked within"];
    refused(dumped(&live), &keeps_away);
    server.stop().unwrap();
    let data = server.data();
    let offline = ["d.t", "--datadir", data.to_str().unwrap()];
    // The changes of MySQL to 5.7 are not taken back.
    match version.starts_with("mysql-5") {
        true => refused(dumped(&offline), &["1 prepared and 0 active transactions"]),
        false => {
            let (code, rows, said) = dumped(&offline);
            let is_old = rows.contains("(1)") && !rows.contains("(2)");
            assert!(code == Some(0) && is_old, "{version}: {code:?} {rows} {said}");
            assert!(said.contains("1 transaction prepared by XA PREPARE"), "{version}: {said}");
        }
    }
    server.restart().unwrap();
    refused(dumped(&live), &keeps_away);
    server.sql("XA COMMIT 'x';").unwrap();
    server.stop().unwrap();
    let (code, rows, said) = dumped(&offline);
    assert!(code == Some(0) && rows.contains("(2)"), "{version}: {rows} {said}");
    assert!(!said.contains("is not known"), "{version}: {said}");
}

#[test]
fn prepared_transactions_are_not_taken_for_committed_ones() {
    prepared("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn prepared_transactions_of_other_servers_are_not_either() {
    for version in ["mysql-5.7.22", "mysql-8.0.33", "mysql-9.7", "mariadb-11.8"] {
        prepared(version);
    }
}
