//! Queries over a table that MySQL 8.0 wrote: 400 rows, whose total is 20325.45.

use std::path::PathBuf;
use std::process::{Command, Output};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn run(arguments: &[&str]) -> Output {
    let command = env!("CARGO_BIN_EXE_innoscan-sql");
    Command::new(command).args(arguments).current_dir(root()).output().unwrap()
}

/// What a query prints, in which ORDERS is the table.
fn query(sql: &str, arguments: &[&str]) -> String {
    let sql = sql.replace("ORDERS", "innodb('tests/data/orders/orders.ibd')");
    let output = run(&[&[&*sql, "--format", "csv"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sql}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The line of a plan that reads the table with `alias`, or the only one.
fn plan(sql: &str) -> String {
    let plan = query(&format!("EXPLAIN {sql}"), &[]);
    let lines: Vec<&str> = plan.lines().filter(|line| line.contains("DataSourceExec")).collect();
    assert_eq!(lines.len(), 1, "{plan}");
    lines[0].to_owned()
}

#[test]
fn rows_and_sums() {
    assert_eq!(
        query("SELECT count(*), sum(total) FROM ORDERS", &[]).lines().nth(1),
        Some("400,20325.45")
    );
    let by_state =
        query("SELECT state, count(*) AS n FROM ORDERS GROUP BY state ORDER BY state", &[]);
    assert_eq!(by_state, "state,n\nnew,133\npaid,134\nsent,133\n");
    let joined = "SELECT count(*) AS n FROM ORDERS a JOIN ORDERS b ON a.id = b.id + 1";
    assert_eq!(query(joined, &["--threads", "1"]), "n\n399\n");
}

#[test]
fn only_pages_that_a_filter_needs_are_read() {
    let filtered = "SELECT customer FROM ORDERS WHERE id >= 5 AND 7 > id AND total > 1";
    assert_eq!(query(filtered, &[]), "customer\ncustomer 5\ncustomer 6\n");
    let line = plan(filtered);
    assert!(line.contains("reads=`id` >= 5 AND `id` < 7 AND `total` > 1,"), "{line}");
    assert!(line.contains("columns=[id, customer, total]"), "{line}");
    for (filter, reads) in [
        ("id IN (3, 9, 1000)", "reads=`id` IN (3, 9, 1000)"),
        ("id IN (1, 2, 3, 4, 5, 6)", "reads=`id` IN (1, 2, 3, 4, 5, 6)"),
        ("id = 3 AND total = 1 OR id = 5", "filters="),
        ("id BETWEEN 3 AND 4", "reads=`id` >= 3 AND `id` <= 4"),
    ] {
        let line = plan(&format!("SELECT id FROM ORDERS WHERE {filter}"));
        assert!(line.contains(reads), "{line}");
    }
    for (filter, reads) in [
        ("customer = 'Ada'", "reads=`customer` = 'Ada'"),
        ("customer IN ('Ada', 'O''Neil')", "reads=`customer` IN ('Ada', 'O''Neil')"),
        ("total > 100 AND total <= 2.5e2", "reads=`total` > 100"),
    ] {
        let line = plan(&format!("SELECT id FROM ORDERS WHERE {filter}"));
        assert!(line.contains(reads), "{line}");
    }
    for filter in ["id = 1 OR total = 3", "customer > 'Ada'", "id <> 3", "id + 1 = 3"] {
        let sql = format!("SELECT id FROM ORDERS WHERE {filter}");
        let line = plan(&sql);
        assert!(!line.contains("reads="), "{filter}: {line}");
        assert!(!query(&sql, &[]).is_empty());
    }
}

#[test]
fn values_that_a_column_cannot_have_select_no_row() {
    for (filter, rows) in [
        ("id = -1", "id\n"),
        ("id IN (1, -5)", "id\n1\n"),
        ("id = 1 OR id = 99999999999999", "id\n1\n"),
        ("id > -1 AND id < 2", "id\n1\n"),
        ("total = 19.901", "id\n"),
        ("customer = '\u{1f600}'", "id\n"),
    ] {
        assert_eq!(query(&format!("SELECT id FROM ORDERS WHERE {filter}"), &[]), rows, "{filter}");
    }
}

#[test]
fn a_join_reads_the_keys_of_its_other_side() {
    let sql = "SELECT a.id, b.customer FROM ORDERS a JOIN ORDERS b ON a.id = b.id WHERE a.customer = 'Ada'";
    assert_eq!(query(sql, &[]), "id,customer\n1,Ada\n");
    let analyzed = query(&format!("EXPLAIN ANALYZE {sql}"), &[]);
    assert!(analyzed.contains("reads=`id` >= 1 AND `id` <= 1"), "{analyzed}");
}

#[test]
fn the_order_of_the_key_needs_no_sort() {
    let sql = "SELECT id, total FROM ORDERS ORDER BY id LIMIT 2";
    assert_eq!(query(sql, &[]), "id,total\n1,19.90\n2,250.00\n");
    let line = plan(sql);
    assert!(line.contains("limit=2, order=key"), "{line}");
    let sorted = query("EXPLAIN SELECT id FROM ORDERS ORDER BY id", &[]);
    assert!(!sorted.contains("SortExec"), "{sorted}");
    let descending = query("EXPLAIN SELECT id FROM ORDERS ORDER BY id DESC", &[]);
    assert!(descending.contains("SortExec"), "{descending}");
}

#[test]
fn a_file_is_complete_or_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("orders.parquet");
    let path = path.to_str().unwrap();
    let orders = "SELECT * FROM innodb('tests/data/orders/orders.ibd')";
    assert!(run(&[orders, "--format", "parquet", "-o", path]).status.success());
    let written = std::fs::read(path).unwrap();
    assert!(written.ends_with(b"PAR1"));
    let again = run(&[orders, "-o", path]);
    assert_eq!((again.status.code(), std::fs::read(path).unwrap()), (Some(5), written));
    let bytes = std::fs::read(root().join("tests/data/orders/orders.ibd")).unwrap();
    let mut damaged = bytes.clone();
    let at = damaged.len() - 5000;
    damaged[at] ^= 0xff;
    let table = dir.path().join("damaged.ibd");
    std::fs::write(&table, damaged).unwrap();
    let other = dir.path().join("other.csv");
    let sql = format!("SELECT * FROM innodb('{}')", table.display());
    let failed = run(&[&*sql, "--format", "csv", "-o", other.to_str().unwrap()]);
    let errors = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(2), "{errors}");
    assert!(errors.contains("checksum mismatch") && !other.exists(), "{errors}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn errors_say_what_and_change_the_exit_code() {
    for (sql, code, what) in [
        ("SELECT 1 FROM innodb('nope.ibd')", 2, "nope.ibd"),
        ("SELECT 1 FROM innodb(3)", 1, "the path of an .ibd file"),
        ("SELECT nope FROM innodb('tests/data/orders/orders.ibd')", 1, "nope"),
        ("SELEC 1", 1, "SELEC"),
        ("SELECT * FROM shop.orders", 1, "shop.orders"),
    ] {
        let output = run(&[sql]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{sql}: {errors}");
        assert!(errors.contains(what), "{sql}: {errors}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_data_directory_that_cannot_be_read_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let absent = dir.path().join("absent");
    for query in ["SHOW TABLES", "SELECT 1"] {
        let output = run(&[query, "--datadir", absent.to_str().unwrap()]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{query}: {errors}");
        assert!(errors.contains("cannot open it") && errors.contains("absent"), "{errors}");
        assert!(output.stdout.is_empty());
    }
}
