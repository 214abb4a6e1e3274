use std::time::{Duration, Instant};

use innoscan_format::value::Value;
use innoscan_io::EngineKind;

use super::data;
use crate::{
    ErrorKind, Key, KeyRange, KeyValue, OnCorrupt, Result, Row, RowsBuilder, ScanOptions, Table,
};

fn orders() -> Table {
    crate::open(data("orders/orders.ibd")).unwrap()
}

fn line(row: &Row) -> String {
    let cells = (0..row.len()).map(|column| row.utf8(column).unwrap());
    let cells: Vec<String> =
        cells.map(|cell| cell.map_or("NULL".to_owned(), |text| text.into_owned())).collect();
    cells.join("\t") + "\n"
}

fn text(rows: RowsBuilder<'_>) -> String {
    rows.read().unwrap().map(|row| line(&row.unwrap())).collect()
}

fn ids(rows: RowsBuilder<'_>) -> Vec<u64> {
    let id = |row: Result<Row>| match row.unwrap().get(0).unwrap() {
        Some(Value::UInt(id)) => id,
        other => panic!("{other:?}"),
    };
    rows.columns(["id"]).read().unwrap().map(id).collect()
}

/// Options by which even a small table is read page by page.
fn by_pages() -> ScanOptions {
    let memory_bytes = 64 * 4096;
    ScanOptions::default().with(|scan| {
        scan.io.engine = EngineKind::Pread;
        scan.plan.threads = 2;
        scan.plan.memory_bytes = memory_bytes;
    })
}

#[test]
fn rows_are_what_the_server_says() {
    let expected = std::fs::read_to_string(data("orders/orders.txt")).unwrap();
    let table = orders();
    for options in [ScanOptions::default(), by_pages()] {
        assert_eq!(text(table.rows().options(options)), expected);
    }
    let paths = [data("orders/orders"), data("orders/../orders/orders.ibd")];
    for path in paths {
        assert_eq!(text(crate::open(path).unwrap().rows()), expected);
    }
    let missing = crate::open(data("orders/none")).unwrap_err();
    assert!(
        missing.kind() == ErrorKind::NotFound && missing.to_string().contains("none"),
        "{missing}"
    );
    assert!(crate::open(data("orders/none.ibd")).unwrap_err().kind() == ErrorKind::NotFound);
}

#[test]
fn a_tables_name_without_a_data_directory_is_refused_as_such() {
    let error = crate::open("shop.orders").unwrap_err().to_string();
    assert!(error.contains("a table's name needs a data directory"), "{error}");
}

#[test]
fn a_definition_of_the_callers_own_reads_the_file() {
    let table = orders();
    let of_file = Table::of_file(&table.files[0].path, table.def.clone()).unwrap();
    assert_eq!(of_file.rows().read().unwrap().count(), 400);
    assert_eq!(of_file.columns().len(), 6);
    let mut other = table.def.clone();
    other.columns.truncate(2);
    assert!(Table::of_file(&table.files[0].path, other).is_err());
}

#[test]
fn columns_are_those_named_in_that_order() {
    let table = orders();
    let first = table.rows().columns(["Total", "id", "id"]).limit(1);
    assert_eq!(text(first), "19.90\t1\t1\n");
    let error = table.rows().columns(["totl"]).read().unwrap_err().to_string();
    assert!(error.contains("no column `totl`") && error.contains("customer"), "{error}");
    let row = table.rows().read().unwrap().next().unwrap().unwrap();
    let error = row.get(6).unwrap_err().to_string();
    assert!(error.contains("column 6 of a row of 6"), "{error}");
    assert_eq!(row.get(5).unwrap(), None);
}

#[test]
fn the_key_of_a_row_finds_the_row() {
    let table = orders();
    for row in table.rows().limit(20).read().unwrap() {
        let row = row.unwrap();
        let id = KeyValue::from_value(row.get(0).unwrap().unwrap()).unwrap();
        let found: Vec<Row> =
            table.rows().key(vec![id]).read().unwrap().map(Result::unwrap).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].utf8(0).unwrap(), row.utf8(0).unwrap());
    }
}

#[test]
fn keys_and_conditions_choose_rows() {
    let table = orders();
    let rows = || table.rows();
    assert_eq!(ids(rows().key(7)), [7]);
    assert_eq!(ids(rows().key((7u64,))), [7]);
    assert_eq!(ids(rows().key(1..4)), [1, 2, 3]);
    assert_eq!(ids(rows().key(398..)), [398, 399, 400]);
    assert_eq!(ids(rows().key(..=2)), [1, 2]);
    assert_eq!(ids(rows().key(5..=6).key(2).key(6..8)), [2, 5, 6, 7]);
    assert_eq!(ids(rows().key(..)).len(), 400);
    use std::ops::Bound::{Excluded, Unbounded};
    let above = KeyRange::new(Excluded(Key::new([398.into()])), Unbounded);
    assert_eq!(ids(rows().key(above)), [399, 400]);
    assert_eq!(ids(rows().condition("state = 'sent' AND total < 2.5")), [5, 8]);
    assert_eq!(ids(rows().key(6..).condition("state = 'sent' AND total < 2.5")), [8]);
    assert_eq!(ids(rows().key(300..).limit(2)), [300, 301]);
    assert_eq!(ids(rows().limit(0)), [] as [u64; 0]);
    assert!(rows().condition("total >").read().is_err());
    for no_key in [rows().key(-1), rows().key("x"), rows().key((1, 2)), rows().key(1.5)] {
        let mut rows = no_key.read().unwrap();
        assert!(rows.next().unwrap().is_err());
        assert!(rows.next().is_none() && rows.outcome().is_none());
    }
}

#[test]
fn off_page_values_of_other_columns_are_not_read() {
    let tree = crate::open(data("mysql-8.0.33/tree-4k/tree.ibd")).unwrap();
    for table in [orders(), tree] {
        for options in [by_pages(), ScanOptions::default()] {
            let outcome = |rows: RowsBuilder<'_>| {
                let mut rows = rows.read().unwrap();
                let count = rows.by_ref().map(Result::unwrap).count() as u64;
                (count, rows.outcome().unwrap().clone())
            };
            let (count, all) = outcome(table.rows().options(options.clone()));
            let first = table.columns()[0].name.clone();
            let (count_of_first, few) = outcome(table.rows().columns([first]).options(options));
            assert_eq!((count, all.rows, few.rows), (count_of_first, count, count));
            assert!(all.lob_pages > 0 && few.lob_pages == 0, "{} {}", all.lob_pages, few.lob_pages);
            if all.engine == "pread" {
                assert!(few.read_bytes < all.read_bytes && few.requests < all.requests);
            }
        }
    }
}

#[test]
fn an_iterator_that_is_dropped_leaves_no_thread() {
    let table = crate::open(data("mysql-8.0.33/tree-4k/tree.ibd")).unwrap();
    let started = Instant::now();
    for taken in 0..20 {
        // Rows outlive the iterator.
        let mut rows = table.rows().options(by_pages()).read().unwrap();
        let kept: Vec<Row> = rows.by_ref().take(taken).map(Result::unwrap).collect();
        drop(rows);
        assert_eq!(kept.len(), taken);
        assert!(kept.iter().all(|row| row.get(0).unwrap().is_some()));
    }
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn damage_comes_through_the_iterator() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(data("orders/orders.ibd")).unwrap();
    let table = orders();
    let whole: Vec<u64> = ids(table.rows());
    // The leaf of the last rows.
    let at = bytes.windows(12).rposition(|text| text == b"customer 399").unwrap();
    bytes[at] ^= 1;
    let path = dir.path().join("orders.ibd");
    std::fs::write(&path, bytes).unwrap();
    let table = crate::open(&path).unwrap();
    let mut rows = table.rows().columns(["id"]).read().unwrap();
    let sound: Vec<Row> = rows.by_ref().map_while(Result::ok).collect();
    assert!(rows.next().is_none() && rows.outcome().is_none());
    assert!(!sound.is_empty() && sound.len() < whole.len());
    let error = table.rows().read().unwrap().find_map(Result::err).unwrap();
    assert!(
        error.kind() == ErrorKind::Corrupt && error.to_string().contains("orders.ibd"),
        "{error}"
    );
    let mut rows = table.rows().on_corrupt(OnCorrupt::Skip).read().unwrap();
    let left = rows.by_ref().map(Result::unwrap).count();
    let outcome = rows.outcome().unwrap();
    assert!(left >= sound.len() && left < whole.len() && outcome.damaged == 1, "{outcome:?}");
}
