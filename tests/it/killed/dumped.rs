//! The tables of a killed server as `innoscan dump` of its directory has them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::parity::command;

/// A table of the dump.
#[derive(Debug)]
pub struct DumpedTable {
    /// The checksum of its rows.
    pub checksum: String,
    /// Its definition, as the server would show it.
    pub definition: String,
}

/// The tables of the database `d`, each with why it was not dumped if it was not.
pub type DumpedTables = BTreeMap<String, Result<DumpedTable, String>>;

/// Dumps a directory.
///
/// # Errors
/// What the command says if it writes no manifest.
pub fn dump(data: &Path, arguments: &[&str]) -> Result<DumpedTables, String> {
    let out = tempfile::tempdir().unwrap();
    let output = command()
        .arg("dump")
        .arg(data)
        .arg("--outputdir")
        .arg(out.path())
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let Ok(manifest) = std::fs::read(out.path().join("innoscan.json")) else {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    };
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let tables = of_database(&manifest["ledger"], "name");
    let sums = of_database(&manifest["tables"], "table");
    let dumped = tables.into_iter().filter(|(_, entry)| entry["kind"] == "table");
    Ok(dumped
        .map(|(name, entry)| {
            let table = match entry["state"] == "dumped" {
                true => Ok(table(out.path(), sums[&name])),
                false => Err(entry["reason"].as_str().unwrap().to_owned()),
            };
            (name, table)
        })
        .collect())
}

/// The entries of the database `d` in a list of the manifest, by their names.
fn of_database<'m>(list: &'m Value, name: &str) -> BTreeMap<String, &'m Value> {
    let entries = list.as_array().unwrap().iter().filter(|entry| entry["database"] == "d");
    entries.map(|entry| (entry[name].as_str().unwrap().to_owned(), entry)).collect()
}

fn table(out: &Path, entry: &Value) -> DumpedTable {
    let files = entry["files"].as_array().unwrap().iter();
    let mut names = files.map(|file| file["name"].as_str().unwrap());
    let name = names.find(|name| name.ends_with("-schema.sql")).unwrap();
    let text = std::fs::read_to_string(out.join(name)).unwrap();
    let begin = text.find("CREATE TABLE").unwrap();
    let definition = text[begin..].trim_end().trim_end_matches(';').to_owned();
    DumpedTable { checksum: entry["checksum"].to_string(), definition }
}
