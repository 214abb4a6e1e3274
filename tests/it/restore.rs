//! SQL dumps, restored into a new server of the version that wrote the files: every table has the
//! rows it had, by `SELECT * INTO OUTFILE`, and the same `CHECKSUM TABLE`.
//!
//! Where that cannot be, because the server itself loses something or because its sum is of more
//! than the rows, the table stands in [`EXCEPTIONS`] with what is compared instead, and why. In each
//! of these the server's own dump, restored, gives a changed sum too.

use std::io::{Error, Result};

use innoscan_testkit::server::{Server, quote};

use crate::parity::{Report, Table, difference, fields_that_say, run_dump, without_fields};

/// What a restored table is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    /// Rows and sum.
    Sum,
    /// Rows and sum, when the server is told to make temporal columns in the format of before
    /// MySQL 5.6. Without that: the rows.
    SumInOldFormat,
    /// Rows; the server gives now one sum, now another.
    Rows,
    /// Rows; the sum is another, and a restore that keeps it ends the exception.
    RowsOfOtherSum,
    /// Rows, without the columns that say when a row was written.
    RowsWithoutPeriod,
    /// Rows, but for what JSON's own text does not say.
    Documents,
}

/// Servers (all whose name begins so), table, what is compared, why not more.
const EXCEPTIONS: &[(&[&str], &str, Judge, &str)] = &[
    (OLD_MARIADB, "t_ddl/selected", Judge::SumInOldFormat, OLD_TEMPORAL),
    (&["mariadb-"], "t_mariadb/old_keys", Judge::SumInOldFormat, OLD_TEMPORAL),
    (&["mariadb-"], "t_mariadb/old_temporals", Judge::SumInOldFormat, OLD_TEMPORAL),
    (&["mariadb-"], "t_generated/virtual_keys", Judge::Rows, UNSET_NULL_BITS),
    (&["mariadb-"], "t_zip/gen_both", Judge::Rows, UNSET_NULL_BITS),
    (&["mariadb-"], "t_versioned/hidden", Judge::RowsOfOtherSum, HISTORY),
    (&["mariadb-"], "t_versioned/parts", Judge::RowsOfOtherSum, HISTORY),
    (&["mariadb-"], "t_versioned/shown", Judge::RowsWithoutPeriod, HISTORY),
    (&["mariadb-"], "t_versioned/some_columns", Judge::RowsOfOtherSum, HISTORY),
    (&["mysql-8.0.12"], "t_instant/every_type", Judge::RowsOfOtherSum, INSTANT_BIT),
    (&["mysql-8.0.12"], "t_instant/nulls", Judge::RowsOfOtherSum, INSTANT_BIT),
    (&["mysql-8.0.33", "mysql-9.7"], "t_ddl/multi_valued", Judge::Rows, ARRAY_POINTER),
    (&["mysql-5.7"], "t_json/generated", Judge::Rows, JSON_ADDRESS),
    (&["mysql-5.7"], "t_json/partial", Judge::Rows, JSON_ADDRESS),
    (&["mysql-5.7"], "t_json/partial_big", Judge::Rows, JSON_ADDRESS),
    (&["mysql-5.7"], "t_json/sizes", Judge::Rows, JSON_ADDRESS),
    (&["mysql-5.7"], "t_json/texts", Judge::Documents, JSON_ADDRESS_AND_ZERO),
    (&["mysql-5.7"], "t_zip/json", Judge::Rows, JSON_ADDRESS),
    (&["mysql-5.7"], "t_zip/json_small", Judge::Rows, JSON_ADDRESS),
    (&["mysql-5.7", "mysql-8.0"], "t_json/doubles", Judge::Documents, JSON_DOUBLES),
    (&["mysql-"], "t_json/opaque", Judge::Documents, JSON_TYPES),
    (&["mysql-"], "t_json/opaque_columns", Judge::Documents, JSON_TYPES),
];
const OLD_MARIADB: &[&str] = &["mariadb-10.1.", "mariadb-10.2."];
const OLD_TEMPORAL: &str = "temporal columns in the format of before MySQL 5.6, which the global \
    mysql56_temporal_format chooses and no DDL; MariaDB 10.1 and 10.2 do not even show it, and make \
    such columns in CREATE ... SELECT NOW()";
const UNSET_NULL_BITS: &str = "the server sums null bits it never set: now one sum, now another";
const HISTORY: &str = "old versions of rows are no part of a dump, and a row's life begins when it \
    is inserted; both count in the sum";
const INSTANT_BIT: &str = "the first VARCHAR came by an instant ADD, so the server's records still \
    have the bit of tables without one, which is in the sum; a copy has none";
const ARRAY_POINTER: &str = "the server sums the array behind a multi-valued index, which it does \
    not compute: now one sum, now another";
const JSON_ADDRESS: &str = "the server sums an address in its memory: now one sum, now another";
const JSON_ADDRESS_AND_ZERO: &str = "an address in the sum, and -0e0 prints as -0, which is an \
    integer when it is read";
const JSON_DOUBLES: &str = "the server reads a double in JSON less exactly than it prints it";
const JSON_TYPES: &str = "DECIMAL, dates and binary values in JSON print as numbers and strings";

fn judge_of(table: &Table) -> (Judge, &'static str) {
    let (server, name) = (table.server(), table.place());
    let found = EXCEPTIONS.iter().find(|(servers, place, _, _)| {
        *place == name && servers.iter().any(|start| server.starts_with(start))
    });
    found.map_or((Judge::Sum, ""), |(_, _, judge, reason)| (*judge, reason))
}

/// Whether a restored table has the sum it had.
pub(crate) fn keeps_its_sum(table: &Table) -> bool {
    judge_of(table).0 == Judge::Sum
}

/// Restores every table's SQL dump into a new server of the same version.
pub(crate) fn restore(server: &Server, tables: &[Table], report: &Report) {
    server.sql("SET GLOBAL innodb_strict_mode = OFF;").unwrap();
    for table in tables.iter().filter(|table| !table.is_refused()) {
        let (judge, reason) = judge_of(table);
        let result = restore_one(server, table, judge);
        if judge != Judge::Sum && matches!(result, Ok(None)) {
            report.note(table, "restore", &format!("compared by {judge:?}: {reason}"));
        }
        report.add(table, "restore", result);
    }
}

fn restore_one(server: &Server, table: &Table, judge: Judge) -> Result<Option<String>> {
    let db = quote(&table.db);
    let head =
        format!("CREATE DATABASE IF NOT EXISTS {db}; USE {db};\nSET foreign_key_checks = 0;\n");
    let dump = run_dump(table, "sql")?;
    let script = [head.as_bytes(), &dump].concat();
    server.sql(&script)?;
    let before = rows_differ(server, table, judge)?;
    if before.is_some() {
        return Ok(before);
    }
    let expected: u64 = table.number("checksum")?;
    let mut sum = server.checksum(&table.db, &table.table)?;
    match judge {
        Judge::Rows => return Ok(None),
        Judge::Sum => {}
        _ if sum == Some(expected) => {
            return Ok(Some(format!("the sum is equal: take it from {judge:?}")));
        }
        Judge::RowsOfOtherSum | Judge::RowsWithoutPeriod | Judge::Documents => return Ok(None),
        Judge::SumInOldFormat => {
            server.sql("SET GLOBAL mysql56_temporal_format = OFF;")?;
            let drop = format!("DROP TABLE {db}.{};\n", quote(&table.table)).into_bytes();
            let restored = server.sql([drop, script].concat());
            server.sql("SET GLOBAL mysql56_temporal_format = ON;")?;
            restored?;
            let rows = rows_differ(server, table, judge)?;
            if rows.is_some() {
                return Ok(rows);
            }
            sum = server.checksum(&table.db, &table.table)?;
        }
    }
    Ok((sum != Some(expected)).then(|| format!("the sum: expected {expected}, got {sum:?}")))
}

/// How the rows differ from those before the dump.
fn rows_differ(server: &Server, table: &Table, judge: Judge) -> Result<Option<String>> {
    let dir = tempfile::tempdir()?;
    make_writable_by_all(dir.path())?;
    let file = dir.path().join("rows.txt");
    let name = format!("{}.{}", quote(&table.db), quote(&table.table));
    let select = format!("SELECT * FROM {name} USE INDEX () INTO OUTFILE '{}';", file.display());
    server.sql(select)?;
    let (mut expected, mut got) = (table.read("txt")?, std::fs::read(&file)?);
    match judge {
        Judge::Documents => return Ok(documents_differ(&expected, &got)),
        Judge::RowsWithoutPeriod => {
            let create = String::from_utf8_lossy(&table.read("create.sql")?).into_owned();
            let period = fields_that_say(&create, "GENERATED ALWAYS AS ROW ");
            expected = without_fields(&expected, &period);
            got = without_fields(&got, &period);
        }
        Judge::Sum | Judge::SumInOldFormat | Judge::Rows | Judge::RowsOfOtherSum => {}
    }
    Ok(difference(&expected, &got))
}

/// A server writes there as the user it runs as.
fn make_writable_by_all(dir: &std::path::Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o777))
}

/// The fields of default `INTO OUTFILE` text, row by row, unescaped; NULL is `\N`.
fn fields_of(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut rows = Vec::new();
    let (mut row, mut field) = (Vec::new(), Vec::new());
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(b'0') => field.push(0),
                Some(b'N') => field.extend_from_slice(b"\\N"),
                Some(escaped) => field.push(escaped),
                None => {}
            },
            b'\t' => row.push(std::mem::take(&mut field)),
            b'\n' => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            byte => field.push(byte),
        }
    }
    rows
}

/// Where two texts differ by more than JSON's text can say.
fn documents_differ(expected: &[u8], got: &[u8]) -> Option<String> {
    let (expected, got) = (fields_of(expected), fields_of(got));
    if expected.len() != got.len() {
        return Some(format!("{} rows expected, {} got", expected.len(), got.len()));
    }
    for (number, (expected, got)) in expected.iter().zip(&got).enumerate() {
        let alike = |(a, b): (&Vec<u8>, &Vec<u8>)| a == b || alike_documents(a, b);
        if expected.len() != got.len() || !expected.iter().zip(got).all(alike) {
            let show = |row: &[Vec<u8>]| row.join(&b'|').escape_ascii().to_string();
            return Some(format!(
                "row {number}:\n      expected {}\n      got      {}",
                show(expected),
                show(got)
            ));
        }
    }
    None
}

fn alike_documents(expected: &[u8], got: &[u8]) -> bool {
    // MySQL 5.7 and 8.0.12 leave line ends in strings as they are, which is no JSON
    let sound = String::from_utf8_lossy(expected).replace('\n', "\\n");
    let parse = serde_json::from_str::<serde_json::Value>;
    match (parse(&sound), parse(&String::from_utf8_lossy(got))) {
        (Ok(expected), Ok(got)) => alike(&expected, &got),
        _ => false,
    }
}

/// Whether two documents differ in nothing but the last bits of their doubles.
fn alike(expected: &serde_json::Value, got: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Number, Object};
    match (expected, got) {
        (Array(a), Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Object(a), Object(b)) => {
            let same = |(key, a): (&String, _)| b.get(key).is_some_and(|b| alike(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        (Number(a), Number(b)) => {
            let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else { return false };
            (a - b).abs() <= 1e-15 * a.abs()
        }
        (a, b) => a == b,
    }
}

/// Restores the corpora of `INNOSCAN_CORPUS`, without filling the servers first.
#[test]
#[ignore = "restores corpora into every server: INNOSCAN_CORPUS=... and --ignored"]
fn corpora_restore() {
    let Some(root) = std::env::var_os("INNOSCAN_CORPUS").map(std::path::PathBuf::from) else {
        println!("INNOSCAN_CORPUS is not set: nothing restored");
        return;
    };
    let report = Report::default();
    let mut tables = crate::parity::tables_in(&root);
    tables.retain(|table| crate::parity::VERSIONS.contains(&&*table.server_name()));
    for tables in tables.chunk_by(|a, b| a.server() == b.server()) {
        let options = tables[0].server_options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let started = Server::start(&tables[0].server_name(), &options);
        let mut server = started.map_err(Error::other).unwrap();
        restore(&server, tables, &report);
        server.stop().unwrap();
    }
    report.finish("restored corpora");
}

#[test]
fn documents_are_alike_but_for_what_text_loses() {
    assert_eq!(documents_differ(b"1\t[1.50, -0]\n", b"1\t[1.5, 0]\n"), None);
    assert_eq!(documents_differ(b"1\t\"a\\\nb\"\t\\N\n", b"1\t\"a\\\\nb\"\t\\N\n"), None);
    assert_eq!(documents_differ(b"[4.726768667868246e2]\n", b"[4.7267686678682464e2]\n"), None);
    for changed in ["[1, 2]\n", "[1.000001]\n", "[\"1\"]\n", "[1]\n[1]\n", "[1]\t2\n", "{}\n"] {
        assert!(documents_differ(b"[1]\n", changed.as_bytes()).is_some(), "{changed}");
    }
    assert!(documents_differ(b"{\"a\": 1}\n", b"{\"b\": 1}\n").is_some());
}
