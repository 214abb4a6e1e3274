//! A stopped server's directory, dumped and loaded into a new server of its version: the server's own
//! dump of the copy is that of the original, byte for byte.

use std::path::Path;
use std::process::{Command, Stdio};

use innoscan_testkit::server::Server;

use crate::layouts::{MYDUMPER, load_by_client, without_implied_charsets};
use crate::ledger;
use crate::parity::{command, difference};

/// The databases of the source.
const DATABASES: [&str; 4] = ["d", "größe-1 x", "a.b c", "nothing_in_it"];

/// `mariadb-dump` (10.11) finds no database that has a quote in its name.
const QUOTED: (&str, &str) = ("a.b'c\"d", "a.b c");

/// What the dumping program of the server's own family writes.
fn dump_of_server(server: &Server) -> String {
    let scripts = crate::tests_dir("servers/server.sh");
    let dir = server.data();
    let (program, own): (&str, &[&str]) = match server.version() {
        "mysql-9.7" => ("mysqldump", &["--set-gtid-purged=OFF"]),
        _ => ("dump", &[]),
    };
    let output = Command::new(scripts)
        .args([server.version(), program])
        .arg(dir.parent().unwrap())
        .args(["--routines", "--triggers", "--events", "--skip-dump-date", "--hex-blob"])
        .args(["--default-character-set=utf8mb4"])
        .args(own)
        .arg("--databases")
        .args(DATABASES)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", server.version());
    String::from_utf8(output.stdout).unwrap()
}

/// What the server says of accounts that its installation did not make.
fn accounts(server: &Server) -> String {
    let ask = |sql: String| String::from_utf8_lossy(&server.sql(sql).unwrap()).into_owned();
    let is_mariadb = server.version().starts_with("mariadb");
    let names = "SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.user WHERE host <> '' \
                 AND user NOT LIKE 'm%.%' AND user <> 'root' ORDER BY 1;";
    let mut said = String::new();
    let hex = if is_mariadb { "" } else { "SET print_identified_with_as_hex = ON; " };
    for account in ask(names.to_owned()).lines() {
        said += &ask(format!("{hex}SHOW CREATE USER {account}; SHOW GRANTS FOR {account};"));
    }
    if is_mariadb {
        said += &ask("SHOW GRANTS FOR reader; SHOW GRANTS FOR `wri``ter`;".to_owned());
    }
    said
}

fn run_dump(data: &Path, more: &[&str]) -> Vec<u8> {
    let output = command()
        .args(["dump", data.to_str().unwrap(), "--users", "-q"])
        .args(more)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    output.stdout
}

fn is_the_same(
    server: &Server,
    (dump, users): &(String, String),
    way: &str,
    wrong: &mut Vec<String>,
) {
    let is_mysql = server.version().starts_with("mysql");
    let plain = |text: &str| {
        // MySQL shows the charset beside a collation of a table that was made by such a statement.
        let text = if is_mysql { without_implied_charsets(text) } else { text.to_owned() };
        // A blank keeps myloader from taking the end of a body's line for that of the statement.
        if way == "mydumper" { text.replace("; \n", ";\n") } else { text }
    };
    for (what, expected, got) in
        [("dump", dump, dump_of_server(server)), ("accounts", users, accounts(server))]
    {
        if let Some(differs) = difference(plain(expected).as_bytes(), plain(&got).as_bytes()) {
            wrong.push(format!("{}, {way}: {what}: {differs}", server.version()));
        }
    }
}

fn restores_to_the_same(version: &str) {
    let source = ledger::server(version);
    let mut server = source.server;
    server.sql(ledger::readable(version).replace(QUOTED.0, QUOTED.1)).unwrap();
    let original = (dump_of_server(&server), accounts(&server));
    assert!(original.0.len() > 20_000, "{}", original.0);
    server.stop().unwrap();
    let mut wrong = Vec::new();

    let script = run_dump(&server.data(), &[]);
    let copy = ledger::server(version).server;
    copy.feed(&mut &*script).unwrap();
    is_the_same(&copy, &original, "stream", &mut wrong);
    drop(copy);

    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    run_dump(&server.data(), &["-c", "none", "-o", out.to_str().unwrap()]);
    let copy = ledger::server(version).server;
    load_by_client(&copy, &out, &MYDUMPER);
    copy.sql(std::fs::read(out.join("innoscan.users")).unwrap()).unwrap();
    is_the_same(&copy, &original, "mydumper", &mut wrong);
    drop(copy);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_offline_dump_of_debians_mariadb_restores_to_the_same() {
    restores_to_the_same("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn an_offline_dump_of_mysql_8_restores_to_the_same() {
    restores_to_the_same("mysql-8.0.33");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn an_offline_dump_of_mysql_9_restores_to_the_same() {
    restores_to_the_same("mysql-9.7");
}
