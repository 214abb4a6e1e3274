//! What became of a table of a dump.

use std::time::Duration;

use innoscan_catalog::ledger::State;
use innoscan_engine::scan::ScanOutcome;
use innoscan_engine::{Error, LeftOut};
use serde_json::{Value, json};

use super::done::DumpedFile;
use super::journal::DoneChunk;
use crate::sink::Encoded;

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
    /// The table's database, its name, and its state in the ledger of the dump.
    pub fn settled(&self) -> (&str, &str, State) {
        let state = match &self.error {
            Some(error) => State::NotDumped(error.reason()),
            None => State::Dumped { damaged: self.scan.damaged },
        };
        (&self.database, &self.table, state)
    }

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

    pub(super) fn to_json(&self) -> Value {
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

/// A file as `innoscan.json` describes it.
pub(super) fn file_json(file: &DumpedFile) -> Value {
    json!({
        "name": file.name,
        "rows": file.rows,
        "plain_bytes": file.plain_bytes,
        "bytes": file.file_bytes,
        "crc32": file.crc32,
    })
}
