//! Small tables that a server sends: what is written of them equals what is written of their files.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_testkit::server::Server;

use crate::parity::command;

/// Dumps a server; the files of the dump by their names, and the manifest.
fn dump(
    server: &Server,
    by: &str,
    format: &[&str],
    out: &Path,
) -> (BTreeMap<String, Vec<u8>>, serde_json::Value) {
    let dumped = command()
        .args(["dump", "-A", "-c", "none", "--small-tables", by])
        .args(format)
        .args(["-u", "root", "-S"])
        .arg(server.socket())
        .arg("-o")
        .arg(out)
        .output()
        .unwrap();
    // There are tables of forms that are not read from files.
    let code = dumped.status.code();
    assert!(matches!(code, Some(0 | 2)), "{}", String::from_utf8_lossy(&dumped.stderr));
    let mut files = BTreeMap::new();
    let said = || String::from_utf8_lossy(&dumped.stderr).into_owned();
    for entry in std::fs::read_dir(out).unwrap_or_else(|error| panic!("{error}: {}", said())) {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        files.insert(name, std::fs::read(entry.path()).unwrap());
    }
    let manifest = files.remove("innoscan.json").unwrap();
    (files, serde_json::from_slice(&manifest).unwrap())
}

/// The tables that were dumped, by state and reason.
fn not_dumped(manifest: &serde_json::Value) -> Vec<String> {
    let entries = manifest["ledger"].as_array().unwrap();
    let missing = entries.iter().filter(|entry| entry["state"] == "not_dumped");
    missing.map(|entry| format!("{}.{}", entry["database"], entry["name"])).collect()
}

/// Dumps a running server with the torture schema both ways, and holds one against the other.
pub(crate) fn compare(server: &Server) {
    let dir = tempfile::tempdir().unwrap();
    for format in ["csv", "text", "ndjson"] {
        let format = ["--layout", "files", "--format", format];
        let of_files = dump(server, "files", &format, &dir.path().join("files"));
        let sent = dump(server, "select", &format, &dir.path().join("sent"));
        let fetched = |name: &str| sent.0.get(name);
        let same = of_files.0.iter().filter(|(name, bytes)| {
            let other = fetched(name);
            assert!(other == Some(*bytes), "{} {format:?}: {name} differs", server.version());
            !bytes.is_empty()
        });
        assert!(same.count() > 400, "{}", of_files.0.len());
        // What files do not give a server may.
        let of_files = not_dumped(&of_files.1);
        for name in not_dumped(&sent.1) {
            assert!(of_files.contains(&name), "{}: {name}", server.version());
        }
        for out in ["files", "sent"] {
            std::fs::remove_dir_all(dir.path().join(out)).unwrap();
        }
    }
    let sums = |by| sums(&dump(server, by, &["--layout", "mydumper"], &dir.path().join(by)).1);
    let (of_files, sent) = (sums("files"), sums("select"));
    assert!(of_files.len() > 200, "{}", of_files.len());
    for (name, sum) in &of_files {
        assert_eq!(sent.get(name), Some(sum), "{}: {name}", server.version());
    }
}

/// Rows and checksum of every table that has a checksum.
fn sums(manifest: &serde_json::Value) -> BTreeMap<String, (u64, u64)> {
    let tables = manifest["tables"].as_array().unwrap().iter();
    let sum = |table: &serde_json::Value| {
        let name = format!("{}.{}", table["database"], table["table"]);
        Some((name, (table["rows"].as_u64()?, table["checksum"].as_u64()?)))
    };
    tables.filter_map(sum).collect()
}
