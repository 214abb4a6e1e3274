//! The result of a dump, and `innoscan.json`.

use std::time::{Duration, SystemTime};

use innoscan_catalog::ledger::Ledger;
use innoscan_format::schema::Family;
use serde_json::{Value, json};

use super::Layout;
use super::clock::utc;
use super::dumped_file::DumpedFile;
use super::objects::Origin;
use super::table_outcome::{TableOutcome, file_json};
use crate::phases::Phases;

/// The version of `innoscan.json`, which grows when a field is removed or changes its meaning.
pub(crate) const MANIFEST_FORMAT: u64 = 1;

/// The name of `innoscan.json` in the directory.
pub(crate) const MANIFEST_NAME: &str = "innoscan.json";

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

    /// The content of `innoscan.json` (`docs/json.md`).
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
