//! `--timestamps iso`: `TIMESTAMP` values with their zone, `DATETIME` values without one.

use innoscan_testkit::server::{Server, install};

use crate::live::QUICK;
use crate::verify::run;

/// The first row has zero dates, the second NULL.
const TIMES: &str = "SET time_zone = '+00:00', sql_mode = ''; CREATE DATABASE d; USE d;
    CREATE TABLE t (id INT NOT NULL PRIMARY KEY, s TIMESTAMP NULL, m TIMESTAMP(3) NULL,
      u TIMESTAMP(6) NULL, dt DATETIME, dm DATETIME(3), du DATETIME(6), o DATE, c TIME(2));
    INSERT INTO t VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (3, '2024-02-29 12:34:56', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.000001',
       '2024-02-29 12:34:56', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.000001',
       '2024-02-29', '-838:59:59.00'),
      (4, '1970-01-01 00:00:01', '1970-01-01 00:00:01.500', '2038-01-19 03:14:07.999999',
       '0001-02-03 04:05:06', '9999-12-31 23:59:59.999', '2024-00-00 00:00:00.000000', '2024-02-00',
       '00:00:00.05');\n";

/// A row as the server prints it, with the form of `--timestamps`.
fn columns(is_iso: bool) -> String {
    let timestamp = |name: &str| match is_iso {
        true => {
            format!("IF({name} = 0, CAST({name} AS CHAR), CONCAT(REPLACE({name}, ' ', 'T'), 'Z'))")
        }
        false => name.to_owned(),
    };
    let columns = ["s", "m", "u"].map(timestamp);
    format!("id, {}, dt, dm, du, o, c", columns.join(", "))
}

fn are_as_the_server_prints_them(version: &str) {
    install(version).unwrap();
    let server = Server::start(version, &QUICK).unwrap();
    server.sql(TIMES).unwrap();
    let socket = server.socket().to_str().unwrap();
    let dump = |more: &[&str]| {
        let live = ["dump", "--no-defaults", "-u", "root", "-S", socket, "-T", "d.t", "-q"];
        let ended = run([&live, more].concat());
        ended.says(0, &[]);
        ended.out
    };
    for (form, is_iso) in [("iso", true), ("server", false)] {
        let select = format!("SET time_zone = '+00:00'; SELECT {} FROM d.t;", columns(is_iso));
        let said = String::from_utf8(server.sql(select).unwrap()).unwrap();
        let expected: Vec<Vec<&str>> =
            said.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(expected.len(), 4);

        let csv = dump(&["--format", "csv", "--no-header", "--timestamps", form]);
        let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let plain: Vec<Vec<&str>> = expected
            .iter()
            .map(|row| row.iter().map(|&cell| if cell == "NULL" { "" } else { cell }).collect())
            .collect();
        assert_eq!(rows, plain, "{version}, csv, {form}");

        let ndjson = dump(&["--format", "ndjson", "--timestamps", form]);
        let names = ["id", "s", "m", "u", "dt", "dm", "du", "o", "c"];
        for (line, row) in ndjson.lines().zip(&expected) {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            for (name, cell) in names.iter().zip(row) {
                let value = match &object[name] {
                    serde_json::Value::String(text) => text.clone(),
                    serde_json::Value::Null => "NULL".to_owned(),
                    number => number.to_string(),
                };
                assert_eq!(value, *cell, "{version}, ndjson, {form}: {name} of {line}");
            }
        }
        assert_eq!(ndjson.lines().count(), expected.len());
    }
}

#[test]
fn timestamps_are_as_debians_mariadb_prints_them() {
    are_as_the_server_prints_them("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn timestamps_are_as_mysql_prints_them() {
    for version in ["mysql-8.0.33", "mysql-5.7.22"] {
        are_as_the_server_prints_them(version);
    }
}
