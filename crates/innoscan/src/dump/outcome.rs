//! What became of a dump, table by table.

use std::time::{Duration, SystemTime};

use innoscan_format::schema::Family;
use serde_json::{Value, json};

use super::Layout;
use super::clock::utc;
use super::files::DumpedFile;
use super::journal::DoneChunk;
use super::objects::Origin;
use crate::Error;
use crate::ledger::Ledger;
use crate::phases::Phases;
use crate::scan::ScanOutcome;
use crate::sink::{Encoded, LeftOut};

/// The version of `innoscan.json`: it grows when a field goes away or changes its meaning.
pub(crate) const MANIFEST_FORMAT: u64 = 1;

/// Its name in the directory.
pub(crate) const MANIFEST_NAME: &str = "innoscan.json";

/// What became of a table.
#[derive(Debug)]
pub struct TableOutcome {
    /// Its database; empty where it is not known.
    pub database: String,
    /// Its name.
    pub table: String,
    /// Rows written.
    pub rows: u64,
    /// Their bytes before compression.
    pub plain_bytes: u64,
    /// What `CHECKSUM TABLE` says of the rows written; `None` where it was not asked for, or cannot
    /// be told.
    pub checksum: Option<u32>,
    /// Characters that had no meaning in their column's charset and became U+FFFD.
    pub unmapped_characters: u64,
    /// The files it is in.
    pub files: Vec<DumpedFile>,
    /// How many of them were there before: the dump was gone on with.
    pub kept_files: usize,
    /// The columns that were not written.
    pub left_out: Vec<LeftOut>,
    /// How it was read.
    pub scan: ScanOutcome,
    /// How long it took.
    pub elapsed: Duration,
    /// Why it could not be dumped, or not wholly. Then it has no files of rows.
    pub error: Option<Error>,
}

impl TableOutcome {
    pub(crate) fn new(database: &str, table: &str) -> TableOutcome {
        TableOutcome {
            database: database.to_owned(),
            table: table.to_owned(),
            rows: 0,
            plain_bytes: 0,
            checksum: None,
            unmapped_characters: 0,
            files: Vec::new(),
            kept_files: 0,
            left_out: Vec::new(),
            scan: ScanOutcome::default(),
            elapsed: Duration::ZERO,
            error: None,
        }
    }

    /// Whether damage was passed over.
    pub fn is_damaged(&self) -> bool {
        self.scan.damaged > 0
    }

    pub(super) fn count(&mut self, batch: &Encoded, sum: u32) {
        self.rows += batch.rows();
        self.plain_bytes += batch.plain_bytes();
        self.unmapped_characters += batch.unmapped_characters();
        self.checksum = self.checksum.map(|checksum| checksum.wrapping_add(sum));
    }

    /// Counts what was done before.
    pub(super) fn keep(&mut self, chunk: &DoneChunk) {
        self.kept_files += 1;
        self.rows += chunk.file.rows;
        self.plain_bytes += chunk.rows_bytes;
        self.unmapped_characters += chunk.unmapped_characters;
        self.checksum = self.checksum.map(|checksum| checksum.wrapping_add(chunk.sum));
    }

    fn to_json(&self) -> Value {
        let files: Vec<Value> = self.files.iter().map(file_json).collect();
        let left_out: Vec<&str> = self.left_out.iter().map(|left| &*left.column).collect();
        json!({
            "database": self.database,
            "table": self.table,
            "rows": self.rows,
            "checksum": self.checksum,
            "files": files,
            "columns_left_out": left_out,
            "damaged": self.scan.damaged,
            "seconds": self.elapsed.as_secs_f64(),
            "error": self.error.as_ref().map(|error| error.to_string()),
        })
    }
}

fn file_json(file: &DumpedFile) -> Value {
    json!({
        "name": file.name,
        "rows": file.rows,
        "plain_bytes": file.plain_bytes,
        "bytes": file.file_bytes,
        "crc32": file.crc32,
    })
}

/// What became of a dump.
#[derive(Debug, Default)]
pub struct Summary {
    /// Each table, in the order they were dumped.
    pub tables: Vec<TableOutcome>,
    /// What became of every object of the source.
    pub ledger: Ledger,
    /// Where they are from, where that was said.
    pub origin: Option<Origin>,
    /// How its directory is laid out; `None` of a stream.
    pub layout: Option<Layout>,
    /// Whether only the rows that a condition chooses were wanted.
    pub is_conditional: bool,
    /// Whether databases or tables were chosen, by name or by a pattern.
    pub is_selection: bool,
    /// The files that are of no table alone.
    pub files: Vec<DumpedFile>,
    /// The file by which a loader knows that the dump is complete.
    pub marker: Option<DumpedFile>,
    /// When it began.
    pub started: Option<SystemTime>,
    /// From start to end.
    pub elapsed: Duration,
    /// How long each part took, what came before the start among them.
    pub phases: Phases,
}

impl Summary {
    /// The tables that could not be dumped.
    pub fn failed(&self) -> impl Iterator<Item = &TableOutcome> {
        self.tables.iter().filter(|table| table.error.is_some())
    }

    /// Rows written.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// What `innoscan.json` says (`docs/json.md`).
    pub fn to_json(&self) -> Value {
        let tables: Vec<Value> = self.tables.iter().map(TableOutcome::to_json).collect();
        let time = |time: SystemTime| format!("{}Z", utc(time).replace(' ', "T"));
        let mut json = json!({
            "format": MANIFEST_FORMAT,
            "dumper": super::DUMPER,
            "complete": self.ledger.is_complete(),
            "layout": self.layout.map(Layout::name),
            "conditional": self.is_conditional,
            "selection": self.is_selection,
            "started": self.started.map(time),
            "finished": self.started.map(|started| time(started + self.elapsed)),
            "seconds": self.elapsed.as_secs_f64(),
            "phases": self.phases.to_json(),
        });
        if let Some(origin) = &self.origin {
            json["origin"] = origin_json(origin);
        }
        json["ledger"] = self.ledger.to_json();
        json["unlisted"] = self.ledger.unlisted_json();
        json["notes"] = self.ledger.notes().into();
        json["tables"] = tables.into();
        json["files"] = self.files.iter().map(file_json).collect();
        json["marker"] = self.marker.as_ref().map_or(Value::Null, file_json);
        json
    }
}

fn origin_json(origin: &Origin) -> Value {
    let family = origin.server.map(|server| match server.family {
        Family::MySql => "MySQL",
        Family::MariaDb => "MariaDB",
    });
    json!({
        "server": family,
        "version": origin.version_text,
        "hostname": origin.hostname,
        "user": origin.user,
        "binlog_file": origin.binlog.as_ref().map(|(file, _)| file),
        "binlog_position": origin.binlog.as_ref().map(|(_, position)| position),
        "gtid": origin.gtid,
        "consistent": origin.is_consistent,
    })
}
