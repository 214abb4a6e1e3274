//! `ls` lists what the server's own lists have; `check` checks every table of a directory.

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;

use innoscan_testkit::server::{Server, install};
use serde_json::Value;

use crate::verify::{run, shop};

/// Odd names, every kind of table.
const COMMON: &str = include_str!("layouts/common.sql");

/// What a server lists, as `ls --json` has it: kind, database, name, engine, row format, partitions.
fn said_by(server: &Server) -> BTreeSet<String> {
    let own = |column: &str| {
        format!("{column} NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')")
    };
    let ask = |sql: String| -> Vec<String> {
        let text = server.sql(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
    };
    let mut all = BTreeSet::new();
    let partitions = "(SELECT COUNT(p.partition_name) FROM information_schema.partitions p \
                       WHERE p.table_schema = t.table_schema AND p.table_name = t.table_name)";
    // The row formats of other engines are theirs.
    let row_format = "IF(engine = 'InnoDB', row_format, '')";
    all.extend(ask(format!(
        "SELECT CONCAT_WS('|', 'table', table_schema, table_name, engine, {row_format}, {partitions})
         FROM information_schema.tables t
         WHERE table_type = 'BASE TABLE' AND {}",
        own("table_schema")
    )));
    let mut rest = |kind: &str, from: &str, schema: &str, name: &str| {
        let list = format!(
            "SELECT CONCAT_WS('|', {kind}, {schema}, {name}, '', '', 0)
             FROM information_schema.{from} AND {}",
            own(schema)
        );
        all.extend(ask(list));
    };
    rest("'view'", "views WHERE 1", "table_schema", "table_name");
    rest("'trigger'", "triggers WHERE 1", "trigger_schema", "trigger_name");
    rest("'event'", "events WHERE 1", "event_schema", "event_name");
    rest("LOWER(routine_type)", "routines WHERE 1", "routine_schema", "routine_name");
    rest("'database'", "schemata WHERE 1", "schema_name", "schema_name");
    if server.version().starts_with("mariadb") {
        let sequences = "tables WHERE table_type = 'SEQUENCE'";
        rest("'sequence'", sequences, "table_schema", "table_name");
    }
    all
}

/// The same of a listing; accounts and system databases apart.
fn listed(json: &Value) -> BTreeSet<String> {
    assert_eq!(json["format"], 1);
    let source = &json["sources"][0];
    let objects = source["objects"].as_array().unwrap().iter();
    let own = objects.filter(|object| object["system"] == false && !object["database"].is_null());
    let line = |object: &Value| {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let partitions = object["partitions"].as_array().unwrap().len();
        let names = ["kind", "database", "name", "engine", "row_format"].map(text).join("|");
        format!("{names}|{partitions}")
    };
    own.map(line).collect()
}

fn a_directory_is_listed(version: &str) {
    install(version).unwrap();
    let mut server = match version.starts_with("mariadb") {
        true => shop(version),
        false => Server::start(version, &["--skip-grant-tables=OFF"]).unwrap(),
    };
    // The files of MySQL 5.7 for tests come without SHA1().
    server.sql(COMMON.replace("SHA1(", "HEX(")).unwrap();
    let data = server.data();
    let data = data.to_str().unwrap();
    run(["ls", data]).says(2, &["a server is running on this directory"]);
    run(["check", data]).says(2, &["a server is running on this directory"]);
    let said = said_by(&server);
    let accounts = server.sql("SELECT COUNT(*) FROM mysql.user WHERE user = 'root'").unwrap();
    assert_ne!(accounts, b"0\n");
    server.stop().unwrap();
    let ended = run(["ls", data, "--json"]);
    ended.says(0, &[]);
    let json = ended.json();
    assert_eq!(listed(&json), said);
    let objects = json["sources"][0]["objects"].as_array().unwrap();
    let find = |name: &str| objects.iter().find(|object| object["name"] == name).unwrap();
    assert_eq!(find("mysql")["system"], true);
    assert!(objects.iter().any(|object| object["kind"] == "user"));
    let bytes = std::fs::metadata(server.data().join("plain/kinds.ibd")).unwrap().len();
    assert_eq!(find("kinds")["bytes"], bytes);
    assert_eq!(find("other engine")["rows"], 2);

    // As text; a choice; the alias; a file; a dump.
    let text = run(["tables", data, "-B", "plain"]);
    text.says(0, &[]);
    let kinds = text.out.lines().find(|line| line.contains("plain.kinds ")).unwrap();
    assert!(kinds.starts_with("table ") && kinds.contains("InnoDB  Dynamic"), "{kinds}");
    assert!(text.out.lines().all(|line| !line.contains("shop")), "{text:?}");
    let one = run(["ls", &format!("{data}/plain/kinds.ibd"), "--json"]).json();
    assert_eq!(one["sources"][0]["objects"].as_array().unwrap().len(), 1);
    run(["ls", data, "-B", "nowhere"]).says(2, &["nowhere"]);
    let out = tempfile::tempdir().unwrap();
    let out = out.path().to_str().unwrap();
    run(["dump", data, "-B", "plain", "-o", out, "-q"]).says(0, &[]);
    let dumped = run(["ls", out, "--json"]);
    dumped.says(0, &[]);
    let without_format = |line: &String| {
        let fields: Vec<&str> = line.split('|').collect();
        [&fields[..4], &fields[5..]].concat().join("|")
    };
    let plain = said.iter().filter(|line| line.split('|').nth(1) == Some("plain"));
    let plain: BTreeSet<String> = plain.map(without_format).collect();
    let dumped: BTreeSet<String> = listed(&dumped.json()).iter().map(without_format).collect();
    assert_eq!(dumped, plain);
    every_table_is_checked(&server);
}

/// `check` of the stopped server's directory, whole and in part, sound and damaged.
fn every_table_is_checked(server: &Server) {
    let data = server.data();
    let root = data.to_str().unwrap();
    let ended = run(["check", root, "-q"]);
    ended.says(0, &[]);
    assert!(ended.out.starts_with("checked ") && ended.out.contains(": sound"), "{ended:?}");
    let verbose = run(["check", root, "-qv"]);
    let of_full_text =
        |line: &str| line.to_lowercase().contains("/fts_") && line.contains(": ok, ");
    assert!(verbose.out.lines().any(of_full_text), "{verbose:?}");
    let json = run(["check", root, "--json", "-q"]).json();
    assert_eq!((&json["format"], &json["sound"]), (&1.into(), &true.into()));
    let files = json["files"].as_array().unwrap().len();
    let plain = data.join("plain");
    let plain = plain.to_str().unwrap();
    let part = run(["check", plain, "--json", "-q"]).json();
    let of_plain = part["files"].as_array().unwrap().len();
    assert!(of_plain > 10 && of_plain < files, "{of_plain} of {files}");

    // A changed byte of a leaf, and a table whose file is gone.
    let many = std::fs::OpenOptions::new().write(true).open(data.join("plain/many.ibd")).unwrap();
    many.write_all_at(b"damage", 5 * 16384 + 5000).unwrap();
    std::fs::rename(data.join("plain/child.ibd"), data.join("child")).unwrap();
    for source in [root, plain] {
        let ended = run(["check", source, "-q"]);
        ended.says(2, &["NOT CHECKED: plain.child: "]);
        assert!(ended.out.contains("many.ibd: page: page 5: "), "{ended:?}");
        assert!(ended.out.contains("1 DAMAGED; 1 could NOT be checked"), "{ended:?}");
    }
    let kinds = format!("{plain}/kinds.ibd");
    let two = run(["check", &kinds, &format!("{plain}/many.ibd")]);
    two.says(2, &[]);
    assert!(two.out.contains("kinds.ibd: ok, "), "{two:?}");
}

#[test]
fn a_directory_of_a_mariadb_is_listed_and_checked() {
    a_directory_is_listed("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn directories_of_other_servers_are_listed_and_checked() {
    for version in ["mysql-5.7.22", "mysql-8.0.33", "mysql-9.7"] {
        a_directory_is_listed(version);
    }
}
