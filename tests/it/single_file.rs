//! `dump -o FILE`: one file, which has its name when it is complete.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use crate::parity::command;
use crate::tests_dir;

fn dump(table: &Path, arguments: &[&str], directory: &Path) -> Output {
    let mut dump = command();
    dump.arg("dump").arg(fs::canonicalize(table).unwrap()).args(arguments).current_dir(directory);
    dump.output().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_has_what_stdout_would_have() {
    let orders = tests_dir("data/orders/orders.ibd");
    let dir = tempfile::tempdir().unwrap();
    // An Arrow file is no Arrow stream; its rows are compared elsewhere.
    for (name, format) in
        [("o.csv", "csv"), ("o.txt", "text"), ("o.json", "ndjson"), ("o.parquet", "parquet")]
    {
        let written = dump(&orders, &["-o", name, "-q"], dir.path());
        let said = String::from_utf8_lossy(&written.stderr);
        assert!(written.status.success() && written.stdout.is_empty(), "{name}: {said}");
        let stdout = dump(&orders, &["--format", format, "-q"], dir.path()).stdout;
        assert!(fs::read(dir.path().join(name)).unwrap() == stdout, "{name}");
    }
    let by_hand = dir.path().join("by_hand");
    fs::write(&by_hand, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&dir.path().join("o.csv")), mode(&by_hand));
    assert_eq!(names(dir.path()), ["by_hand", "o.csv", "o.json", "o.parquet", "o.txt"]);
}

#[test]
fn a_file_is_replaced_only_on_request() {
    let orders = tests_dir("data/orders/orders.ibd");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("o.csv");
    fs::write(&file, "mine").unwrap();
    let refused = dump(&orders, &["-o", "o.csv"], dir.path());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("o.csv: the file exists; name another file"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert!(dump(&orders, &["-o", "o.csv", "--overwrite"], dir.path()).status.success());
    assert!(fs::read(&file).unwrap().starts_with(b"id,customer,"));
}

#[test]
fn no_file_is_left_of_a_table_that_failed() {
    let dir = tempfile::tempdir().unwrap();
    let orders = fs::read(tests_dir("data/orders/orders.ibd")).unwrap();
    let damaged = dir.path().join("damaged.ibd");
    let leaf = (0..orders.len() / 16384).rev().find(|page| {
        let page = &orders[page * 16384..][..16384];
        // The type of B-tree pages, and the level of leaves (fil0types.h, page0types.h).
        page[24..26] == [0x45, 0xbf] && page[64..66] == [0, 0]
    });
    let mut bytes = orders.clone();
    bytes[leaf.unwrap() * 16384 + 200] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    for (name, format) in [("o.csv", "csv"), ("o.parquet", "parquet")] {
        let failed = dump(&damaged, &["-o", name, "--format", format], dir.path());
        let said = String::from_utf8_lossy(&failed.stderr);
        assert_eq!(failed.status.code(), Some(2), "{said}");
        assert!(said.contains("NOT DUMPED: table") && said.contains("checksum"), "{said}");
    }
    assert_eq!(names(dir.path()), ["damaged.ibd"]);
}
