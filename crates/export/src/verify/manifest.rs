//! The parser of `innoscan.json`, whose contents `docs/json.md` describes.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;

use innoscan_catalog::ledger::{Item, ItemKind, Listed};
use innoscan_engine::checksum_sink::{ChecksumKind, TableChecksum};
use innoscan_engine::{Error, Remedy, Result};
use serde_json::Value;

use crate::dump::{DumpedFile, Layout, MANIFEST_FORMAT, MANIFEST_NAME, is_interrupted};

/// The manifest of a dump: its directory's own description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The name and version of the program that wrote the dump.
    pub dumper: String,
    /// The layout of the directory.
    pub layout: Layout,
    /// Whether every object of the source is dumped or left out by choice.
    pub is_complete: bool,
    /// Whether only rows that satisfy a condition were dumped.
    pub is_conditional: bool,
    /// Whether databases or tables were selected; the source may have others.
    pub is_selection: bool,
    /// The final state of every object.
    pub ledger: Vec<ManifestEntry>,
    /// Classes of objects that could not be listed: their kinds, and the reason.
    pub unlisted: Vec<(Vec<String>, String)>,
    /// The tables.
    pub tables: Vec<ManifestTable>,
    /// The files that do not belong to a single table.
    pub files: Vec<DumpedFile>,
    /// The file that a loader expects; `None` where the layout has none.
    pub marker: Option<DumpedFile>,
}

/// An object of a dump, with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    /// The object.
    pub listed: Listed,
    /// The state of the object.
    pub state: ManifestState,
}

/// The state of an object in a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestState {
    /// The object was dumped.
    Dumped {
        /// Places of damage that were skipped.
        damaged: u64,
    },
    /// The object was left out by the rule of this [name](innoscan_catalog::ledger::FilterRule::name).
    LeftOut(String),
    /// The object was not dumped, for this reason.
    NotDumped(String),
}

/// A table of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestTable {
    /// The database; empty where it is not known.
    pub database: String,
    /// The table's name.
    pub name: String,
    /// The number of rows written.
    pub rows: u64,
    /// The checksum of the rows, if it was computed.
    pub checksum: Option<TableChecksum>,
    /// The table's files.
    pub files: Vec<DumpedFile>,
    /// The error that prevented the table, or part of it, from being dumped.
    pub error: Option<String>,
}

impl Manifest {
    /// Whether a directory has a manifest.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(MANIFEST_NAME).is_file()
    }

    /// Reads the manifest of a dump's directory.
    ///
    /// # Errors
    /// The directory has none, it cannot be read, or another version of innoscan wrote it.
    pub fn read(directory: &Path) -> Result<Manifest> {
        let path = directory.join(MANIFEST_NAME);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Err(without(directory));
            }
            Err(error) => return Err(Error::read("reading it", error).in_file(&path)),
        };
        let json: Value = serde_json::from_slice(&text)
            .map_err(|error| damaged(&format!("it is not JSON: {error}")).in_file(&path))?;
        match number(&json["format"]) {
            Some(MANIFEST_FORMAT) => {}
            Some(format) => {
                let why = format!("its format is {format}; this innoscan reads {MANIFEST_FORMAT}");
                let remedy = "use the version of innoscan that wrote the dump";
                return Err(Error::refused(why, remedy).in_file(&path));
            }
            None => return Err(damaged("it has no `format`").in_file(&path)),
        }
        let manifest = parse(&json)
            .map_err(|field| damaged(&format!("`{field}` is missing or wrong")).in_file(&path))?;
        manifest.require_plain_names().map_err(|error| error.in_file(&path))?;
        Ok(manifest)
    }

    /// Every file of the dump but `innoscan.json`.
    pub fn all_files(&self) -> impl Iterator<Item = &DumpedFile> {
        let of_tables = self.tables.iter().flat_map(|table| &table.files);
        of_tables.chain(&self.files).chain(&self.marker)
    }

    /// Requires that no name leads out of the directory, and that none occurs twice.
    fn require_plain_names(&self) -> Result<()> {
        let mut names = HashSet::new();
        for DumpedFile { name, .. } in self.all_files() {
            if name.contains(['/', '\0']) || matches!(&**name, "" | "." | "..") {
                return Err(damaged(&format!("`{name}` is not a name of a file in the directory")));
            }
            if !names.insert(name) {
                return Err(damaged(&format!("`{name}` is listed twice")));
            }
        }
        Ok(())
    }
}

fn damaged(what: &str) -> Error {
    Error::refused(
        format!("{what}: innoscan.json is damaged, or not innoscan's"),
        "copy it again from where the dump was made, or dump again",
    )
}

fn without(directory: &Path) -> Error {
    let error = if is_interrupted(directory) {
        Error::refused(
            "the dump in it is unfinished: innoscan.journal is there, and innoscan.json is not",
            [Remedy::Resume, "dump again into an empty directory".into()],
        )
    } else if !directory.is_dir() {
        Error::not_found("there is no such directory", Remedy::NameDump)
    } else {
        Error::not_found(
            "there is no innoscan.json in it: it does not hold a finished innoscan dump",
            [Remedy::NameDump, "dump again".into()],
        )
    };
    error.in_file(directory)
}

type Parsed<T> = std::result::Result<T, &'static str>;

fn parse(json: &Value) -> Parsed<Manifest> {
    let layouts = [Layout::Files, Layout::MyDumper, Layout::MySqlShell];
    let layout = json["layout"].as_str();
    Ok(Manifest {
        dumper: text(&json["dumper"]).ok_or("dumper")?,
        layout: layouts.into_iter().find(|known| layout == Some(known.name())).ok_or("layout")?,
        is_complete: json["complete"].as_bool().ok_or("complete")?,
        is_conditional: json["conditional"].as_bool().ok_or("conditional")?,
        is_selection: json["selection"].as_bool().ok_or("selection")?,
        ledger: list(&json["ledger"], entry).ok_or("ledger")?,
        unlisted: list(&json["unlisted"], |json| {
            Some((list(&json["kinds"], text)?, text(&json["reason"])?))
        })
        .ok_or("unlisted")?,
        tables: list(&json["tables"], table).ok_or("tables")?,
        files: list(&json["files"], file).ok_or("files")?,
        marker: match &json["marker"] {
            Value::Null => None,
            marker => Some(file(marker).ok_or("marker")?),
        },
    })
}

fn entry(json: &Value) -> Option<ManifestEntry> {
    let kind = ItemKind::by_name(json["kind"].as_str()?)?;
    let database = json["database"].as_str().unwrap_or_default();
    let mut listed = Listed::from(Item::new(database, kind, json["name"].as_str()?));
    listed.engine = text(&json["engine"]);
    listed.table = text(&json["table"]);
    listed.partitions = match &json["partitions"] {
        Value::Null => Vec::new(),
        partitions => list(partitions, text)?,
    };
    let state = match json["state"].as_str()? {
        "dumped" => ManifestState::Dumped { damaged: number(&json["damaged"]).unwrap_or(0) },
        "left_out" => ManifestState::LeftOut(text(&json["by"])?),
        "not_dumped" => ManifestState::NotDumped(text(&json["reason"])?),
        _ => return None,
    };
    Some(ManifestEntry { listed, state })
}

fn table(json: &Value) -> Option<ManifestTable> {
    Some(ManifestTable {
        database: text(&json["database"])?,
        name: text(&json["table"])?,
        rows: number(&json["rows"])?,
        checksum: checksum(json)?,
        files: list(&json["files"], file)?,
        error: text(&json["error"]),
    })
}

/// The checksum of a table; `Some(None)` if it has none.
fn checksum(json: &Value) -> Option<Option<TableChecksum>> {
    let kinds = [
        ("checksum", ChecksumKind::Table),
        ("stored_columns_checksum", ChecksumKind::StoredColumns),
    ];
    let Some((key, kind)) = kinds.into_iter().find(|(key, _)| !json[key].is_null()) else {
        return Some(None);
    };
    let sum = u32::try_from(number(&json[key])?).ok()?;
    Some(Some(TableChecksum { kind, sum }))
}

fn file(json: &Value) -> Option<DumpedFile> {
    Some(DumpedFile {
        name: text(&json["name"])?,
        rows: number(&json["rows"])?,
        plain_bytes: number(&json["plain_bytes"])?,
        file_bytes: number(&json["bytes"])?,
        crc32: u32::try_from(number(&json["crc32"])?).ok()?,
    })
}

fn list<T>(json: &Value, one: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    json.as_array()?.iter().map(one).collect()
}

fn text(json: &Value) -> Option<String> {
    json.as_str().map(str::to_owned)
}

fn number(json: &Value) -> Option<u64> {
    json.as_u64()
}
