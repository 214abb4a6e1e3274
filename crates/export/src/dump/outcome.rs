//! The result of a dump, and `innoscan.json`.

use std::time::{Duration, SystemTime};

use innoscan_catalog::ledger::Ledger;
use innoscan_format::schema::Family;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Layout;
use super::clock::json_utc;
use super::dumped_file::DumpedFile;
use super::objects::Origin;
use super::table_outcome::{TableOutcome, file_json};
use crate::phases::Phases;

/// The version of `innoscan.json`, which grows when a field is removed or changes its meaning.
pub(crate) const MANIFEST_FORMAT: u64 = 1;

/// The name of `innoscan.json` in the directory.
pub const MANIFEST_NAME: &str = "innoscan.json";

/// The result of a dump.
#[derive(Debug, Default)]
pub struct Summary {
    /// The outcome of each table, in the order of the dump.
    pub tables: Vec<TableOutcome>,
    /// The state of every object of the source.
    pub ledger: Ledger,
    /// The source of the dump, if it is known.
    pub origin: Option<Origin>,
    /// The layout of the directory; `None` for a stream.
    pub layout: Option<Layout>,
    /// Whether a condition selected the rows.
    pub is_conditional: bool,
    /// Whether databases or tables were selected, by name or by a pattern.
    pub is_selection: bool,
    /// The files that do not belong to a single table.
    pub files: Vec<DumpedFile>,
    /// The loader's marker: the file that tells a loader that the dump is complete.
    pub marker: Option<DumpedFile>,
    /// The start of the dump.
    pub started: Option<SystemTime>,
    /// The duration of the dump.
    pub elapsed: Duration,
    /// The duration of each phase, including those before the start.
    pub phases: Phases,
}

impl Summary {
    /// The tables that could not be dumped.
    pub fn failed(&self) -> impl Iterator<Item = &TableOutcome> {
        self.tables.iter().filter(|table| table.error.is_some())
    }

    /// The number of rows written.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// The bytes of definitions and rows, before compression.
    pub fn plain_bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.plain_bytes).sum()
    }
}

/// The content of `innoscan.json` (`docs/json.md`).
impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_map(None)?;
        json.serialize_entry("format", &MANIFEST_FORMAT)?;
        json.serialize_entry("dumper", super::DUMPER)?;
        json.serialize_entry("complete", &self.ledger.is_complete())?;
        json.serialize_entry("layout", &self.layout.map(Layout::name))?;
        json.serialize_entry("conditional", &self.is_conditional)?;
        json.serialize_entry("selection", &self.is_selection)?;
        json.serialize_entry("started", &self.started.map(json_utc))?;
        let finished = self.started.map(|started| json_utc(started + self.elapsed));
        json.serialize_entry("finished", &finished)?;
        json.serialize_entry("seconds", &self.elapsed.as_secs_f64())?;
        json.serialize_entry("phases", &self.phases.to_json())?;
        if let Some(origin) = &self.origin {
            json.serialize_entry("origin", &origin_json(origin))?;
        }
        json.serialize_entry("ledger", &Each(|| self.ledger.entries_json()))?;
        json.serialize_entry("unlisted", &self.ledger.unlisted_json())?;
        json.serialize_entry("notes", self.ledger.notes())?;
        json.serialize_entry("tables", &Each(|| self.tables.iter().map(TableOutcome::to_json)))?;
        json.serialize_entry("files", &Each(|| self.files.iter().map(file_json)))?;
        json.serialize_entry("marker", &self.marker.as_ref().map(file_json))?;
        json.end()
    }
}

/// An array whose elements are made one by one, as there may be very many.
struct Each<F>(F);

impl<I: Iterator<Item = Value>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
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
