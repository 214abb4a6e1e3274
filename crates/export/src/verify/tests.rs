//! A dump's directory made by hand.

use std::collections::BTreeSet;
use std::path::Path;

use innoscan_catalog::catalog::TableName;
use serde_json::{Value, json};

use super::against::{Difference, compare};
use super::{FaultKind, Manifest, verify};
use crate::dump::MANIFEST_NAME;

fn manifest() -> Value {
    let file = |name: &str, text: &str| {
        let crc32 = crc32fast::hash(text.as_bytes());
        json!({ "name": name, "rows": 0, "plain_bytes": 3, "bytes": text.len(), "crc32": crc32 })
    };
    let entry = |kind: &str, database: &str, name: &str, state: &str| {
        json!({ "kind": kind, "database": database, "name": name, "state": state,
                "by": "databases", "reason": "because" })
    };
    let table = |name: &str, checksum: Value, files: Value| {
        json!({ "database": "d", "table": name, "rows": 1, "checksum": checksum, "files": files,
                "error": null })
    };
    json!({
        "format": 1, "dumper": "innoscan", "complete": true, "layout": "files",
        "conditional": false, "selection": false,
        "ledger": [
            entry("database", "d", "d", "dumped"),
            entry("database", "e", "e", "left_out"),
            entry("table", "d", "t", "dumped"),
            entry("table", "d", "u", "dumped"),
        ],
        "unlisted": [],
        "tables": [table("t", json!(7), json!([file("a", "abc")])),
                   table("u", Value::Null, json!([]))],
        "files": [file("b", "xyz")],
        "marker": null,
    })
}

fn write(directory: &Path, manifest: &Value) {
    std::fs::write(directory.join(MANIFEST_NAME), manifest.to_string()).unwrap();
    std::fs::write(directory.join("a"), "abc").unwrap();
    std::fs::write(directory.join("b"), "xyz").unwrap();
}

fn faults(directory: &Path) -> Vec<(FaultKind, String)> {
    let manifest = Manifest::read(directory).unwrap();
    let report = verify(directory, &manifest, true, |_, _| true).unwrap();
    report.faults.into_iter().map(|fault| (fault.kind, fault.subject)).collect()
}

#[test]
fn each_fault_is_named() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &manifest());
    assert_eq!(faults(dir.path()), []);
    std::fs::write(dir.path().join("a"), "abd").unwrap();
    std::fs::remove_file(dir.path().join("b")).unwrap();
    std::fs::write(dir.path().join("c"), "").unwrap();
    std::fs::write(dir.path().join("d.partial"), "").unwrap();
    let expected = [
        (FaultKind::Checksum, "a".to_owned()),
        (FaultKind::Missing, "b".to_owned()),
        (FaultKind::Unlisted, "c".to_owned()),
        (FaultKind::InterruptedDump, "d.partial".to_owned()),
    ];
    assert_eq!(faults(dir.path()), expected);
}

#[test]
fn what_is_no_manifest_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |json: Value, words: &str| {
        write(dir.path(), &json);
        let error = Manifest::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let with = |field: &str, value: Value| {
        let mut json = manifest();
        json[field] = value;
        json
    };
    refused(with("format", json!(2)), "its format is 2; this innoscan reads 1");
    refused(with("format", Value::Null), "no `format`");
    refused(with("layout", json!("other")), "`layout` is missing or wrong");
    refused(with("tables", json!([{}])), "`tables` is missing or wrong");
    let away = json!([{ "name": "../a", "rows": 0, "plain_bytes": 0, "bytes": 0, "crc32": 0 }]);
    refused(with("files", away), "`../a` is not a name of a file");
    let twice = json!([{ "name": "a", "rows": 0, "plain_bytes": 0, "bytes": 0, "crc32": 0 }]);
    refused(with("files", twice), "`a` is listed twice");
}

#[test]
fn tables_are_compared_by_their_sums() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &manifest());
    let manifest = Manifest::read(dir.path()).unwrap();
    let name = |schema: &str, table: &str| TableName {
        schema: schema.to_owned(),
        table: table.to_owned(),
    };
    let tables: BTreeSet<TableName> =
        [("d", "t"), ("d", "u"), ("d", "v"), ("e", "t")].map(|(d, t)| name(d, t)).into();
    let comparison = compare(&manifest, &tables, |_, _| Ok(Some(7))).unwrap();
    assert_eq!((comparison.same, &*comparison.without_checksum), (1, &[name("d", "u")][..]));
    assert_eq!(comparison.differences, [(name("d", "v"), Difference::NotInDump)].into());
    let comparison = compare(&manifest, &BTreeSet::new(), |_, _| Ok(Some(7))).unwrap();
    assert_eq!(comparison.differences.len(), 2);
    let comparison = compare(&manifest, &tables, |_, _| Ok(Some(8))).unwrap();
    let rows = Difference::Rows { dump: 7, source: 8 };
    assert_eq!(comparison.differences.get(&name("d", "t")), Some(&rows));
    let conditional = Manifest { is_conditional: true, ..manifest };
    assert!(compare(&conditional, &tables, |_, _| Ok(None)).is_err());
}
