//! The result of one table of a dump.

use std::time::Duration;

use innoscan_catalog::ledger::State;
use innoscan_engine::checksum_sink::{ChecksumKind, TableChecksum};
use innoscan_engine::scan::ScanOutcome;
use innoscan_engine::{Error, LeftOut, Losses};
use serde_json::{Value, json};

use super::dumped_file::DumpedFile;
use super::journal::{FinishedChunk, losses_json};
use crate::sink::Encoded;

/// The result of one table.
#[derive(Debug)]
pub struct TableOutcome {
    /// The database; empty if it is not known.
    pub database: String,
    /// The name of the table.
    pub table: String,
    /// The number of rows written.
    pub rows: u64,
    /// The size of the rows in bytes before compression.
    pub plain_bytes: u64,
    /// The checksum of the rows written; `None` if it is not wanted or cannot be computed.
    pub checksum: Option<TableChecksum>,
    /// What the output does not hold of the values.
    pub losses: Losses,
    /// The type of each column of the output, in formats that have types of their own.
    pub column_types: Vec<(String, String)>,
    /// The files of the table.
    pub files: Vec<DumpedFile>,
    /// The number of files that a resumed dump kept.
    pub kept_files: usize,
    /// The columns that the output does not have.
    pub left_out: Vec<LeftOut>,
    /// The outcome of the scan.
    pub scan: ScanOutcome,
    /// The duration.
    pub elapsed: Duration,
    /// The reason why the table could not be dumped completely. Then it has no files of rows.
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
            losses: Losses::default(),
            column_types: Vec::new(),
            files: Vec::new(),
            kept_files: 0,
            left_out: Vec::new(),
            scan: ScanOutcome::default(),
            elapsed: Duration::ZERO,
            error: None,
        }
    }

    /// Whether damage was skipped.
    pub fn is_damaged(&self) -> bool {
        self.scan.damaged > 0
    }

    pub(super) fn count(&mut self, batch: &Encoded, sum: u32) {
        self.rows += batch.rows();
        self.plain_bytes += batch.plain_bytes();
        self.losses += batch.losses();
        self.add_sum(sum);
    }

    fn add_sum(&mut self, sum: u32) {
        if let Some(checksum) = &mut self.checksum {
            checksum.sum = checksum.sum.wrapping_add(sum);
        }
    }

    /// The sum of the rows' checksums of a kind, if it was computed.
    pub fn checksum_of(&self, kind: ChecksumKind) -> Option<u32> {
        self.checksum.and_then(|checksum| checksum.of_kind(kind))
    }

    /// Adds a file that was finished by an interrupted dump.
    pub(super) fn keep(&mut self, chunk: &FinishedChunk) {
        self.kept_files += 1;
        self.rows += chunk.file.rows;
        self.plain_bytes += chunk.rows_bytes;
        self.losses += chunk.losses;
        self.add_sum(chunk.sum);
    }

    pub(super) fn to_json(&self) -> Value {
        let files: Vec<Value> = self.files.iter().map(file_json).collect();
        let left_out: Vec<&str> = self.left_out.iter().map(|left| &*left.column).collect();
        let types = self.column_types.iter().map(|(name, ty)| (name.clone(), json!(ty)));
        let types: serde_json::Map<String, Value> = types.collect();
        json!({
            "database": self.database,
            "table": self.table,
            "rows": self.rows,
            "checksum": self.checksum_of(ChecksumKind::Table),
            "stored_columns_checksum": self.checksum_of(ChecksumKind::StoredColumns),
            "files": files,
            "columns_left_out": left_out,
            "column_types": types,
            "losses": losses_json(self.losses),
            "damaged": self.scan.damaged,
            "seconds": self.elapsed.as_secs_f64(),
            "error": self.error.as_ref().map(|error| error.to_string()),
        })
    }
}

/// A file's entry in `innoscan.json`.
pub(super) fn file_json(file: &DumpedFile) -> Value {
    json!({
        "name": file.name,
        "rows": file.rows,
        "plain_bytes": file.plain_bytes,
        "bytes": file.file_bytes,
        "crc32": file.crc32,
    })
}
