//! `dump --log-format json`: each line is an event that docs/log.md has, in the order of what happened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;

use innoscan_testkit::server::Server;
use serde_json::Value;

use crate::parity::command;

/// The events in the documentation, each with its fields.
fn documented() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(crate::tests_dir("../docs/log.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.filter_map(|row| row.split_once('`'));
    rows.filter(|(name, _)| *name != "event")
        .map(|(name, fields)| (name.to_owned(), fields.to_owned()))
        .collect()
}

/// The events of a dump, which are documented with all their fields.
fn events(output: &Output) -> Vec<Value> {
    let documented = documented();
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let events: Vec<Value> = text
        .lines()
        .map(|line| line.parse().unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect();
    for event in &events {
        let fields = &documented[event["event"].as_str().unwrap()];
        for field in event.as_object().unwrap().keys() {
            let is_of_all = matches!(&**field, "time" | "event");
            assert!(is_of_all || fields.contains(&format!("`{field}`")), "{event}");
        }
    }
    events
}

fn dumped(source: &[&str], out: &Path) -> Output {
    let mut command = command();
    command.arg("dump").args(source).arg("-o").arg(out).args(["--log-format", "json"]);
    command.output().unwrap()
}

fn named<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn every_event_of_a_dump_is_logged_as_documented() {
    let mut server = Server::start("mariadb-10.11", &[]).unwrap();
    server
        .sql(
            "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;
             CREATE TABLE u (id INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO t VALUES (1), (2);",
        )
        .unwrap();
    let out = tempfile::tempdir().unwrap();
    let socket = server.socket().to_str().unwrap().to_owned();
    let live = dumped(&["-S", &socket, "-u", "root", "-B", "d"], &out.path().join("live"));
    assert!(live.status.success());
    let events_of_live = events(&live);
    let order: Vec<&str> = events_of_live
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .filter(|name| *name != "note")
        .collect();
    let table = ["table_begun", "table_done"];
    let whole = [&["started", "lock_taken"][..], &table, &table, &["lock_released", "ended"]];
    assert_eq!(order, whole.concat());
    let rows = named(&events_of_live, "table_done").into_iter().map(|event| event["rows"].as_u64());
    assert_eq!(rows.sum::<Option<u64>>(), Some(2));
    // A table that cannot be read, and a directory that is none.
    server.stop().unwrap();
    std::fs::write(server.data().join("d/u.ibd"), vec![0; 98304]).unwrap();
    let data = server.data();
    let torn = dumped(&[data.to_str().unwrap()], &out.path().join("torn"));
    let of_torn = events(&torn);
    let lost = named(&of_torn, "not_dumped");
    assert_eq!(lost.len(), 1, "{of_torn:?}");
    assert_eq!((&lost[0]["database"], &lost[0]["name"]), (&"d".into(), &"u".into()));
    assert_eq!(of_torn.last().unwrap()["exit_code"], torn.status.code().unwrap());
    let nowhere = dumped(&["/nowhere"], &out.path().join("nowhere"));
    let of_nowhere = events(&nowhere);
    let error = named(&of_nowhere, "error");
    assert_eq!(error[0]["exit_code"], nowhere.status.code().unwrap());
    let all = [&events_of_live[..], &of_torn, &of_nowhere].concat();
    let seen: BTreeSet<String> =
        all.iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(seen, documented().into_keys().collect());
}
