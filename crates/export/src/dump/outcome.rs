//! What became of a dump.

use std::time::{Duration, SystemTime};

use innoscan_catalog::ledger::Ledger;
use innoscan_format::schema::Family;
use serde_json::{Value, json};

use super::Layout;
use super::clock::utc;
use super::done::DumpedFile;
use super::objects::Origin;
use super::table_outcome::{TableOutcome, file_json};
use crate::phases::Phases;

/// The version of `innoscan.json`: it grows when a field goes away or changes its meaning.
pub(crate) const MANIFEST_FORMAT: u64 = 1;

/// Its name in the directory.
pub(crate) const MANIFEST_NAME: &str = "innoscan.json";

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
