//! Comparison of a dump's tables with a source's, by their checksums.
//!
//! The checksum is that of `CHECKSUM TABLE`, or of the stored columns, as in the dump. MySQL and MariaDB differ for some
//! types in `CHECKSUM TABLE`, so a dump must be compared with a server, or files, of the family from which it was made.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::atomic::Ordering;

use innoscan_catalog::catalog::{Catalog, TableName};
use innoscan_catalog::ledger::{Filter, FilterRule, Item, ItemKind, ObjectKinds, State};
use innoscan_catalog::source::{EngineTable, Offline};
use innoscan_engine::checksum_sink::{Checksum, ChecksumKind, Sum, TableChecksum};
use innoscan_engine::scan::{ScanOptions, scan_sized};
use innoscan_engine::{Error, ErrorKind, Reason, Remedy, Result, RowSink, Table};
use innoscan_format::schema::TableDef;
use serde_json::{Value, json};

use super::{Manifest, ManifestEntry, ManifestState};

/// A difference between a table of the dump and of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The rows differ.
    Rows {
        /// The checksum of the dumped rows.
        dump: u32,
        /// The checksum of the source's rows.
        source: u32,
    },
    /// The table is only in the dump.
    NotInSource,
    /// The table is only in the source.
    NotInDump,
    /// The source's rows could not be read, for this reason.
    Unreadable(Reason),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

impl Difference {
    /// The difference as a message, with remedies where the source could not be read.
    pub fn reason(&self) -> Reason {
        match self {
            Difference::Rows { dump, source } => format!(
                "its rows differ: their checksum is {dump} in the dump and {source} in the source"
            )
            .into(),
            Difference::NotInSource => "it is in the dump and not in the source".into(),
            Difference::NotInDump => "it is in the source and not in the dump".into(),
            Difference::Unreadable(Reason { what, remedies }) => {
                let what = format!("the source's rows cannot be summed: {what}");
                Reason::new(what, remedies.clone())
            }
        }
    }

    fn to_json(&self, name: &TableName) -> Value {
        let (difference, more) = match self {
            Difference::Rows { dump, source } => ("rows", Some((*dump, *source))),
            Difference::NotInSource => ("not_in_source", None),
            Difference::NotInDump => ("not_in_dump", None),
            Difference::Unreadable(_) => ("unreadable", None),
        };
        json!({
            "database": name.schema,
            "table": name.table,
            "difference": difference,
            "dump_checksum": more.map(|(dump, _)| dump),
            "source_checksum": more.map(|(_, source)| source),
            "what": self.to_string(),
        })
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The number of tables whose rows are equal.
    pub same: u64,
    /// The tables that differ, by name.
    pub differences: BTreeMap<TableName, Difference>,
    /// The tables for which the dump has no checksum.
    pub without_checksum: Vec<TableName>,
}

impl Comparison {
    /// The result as a JSON object with `same`, `differences` and `without_checksum`.
    pub fn to_json(&self) -> Value {
        let name = |name: &TableName| json!({ "database": name.schema, "table": name.table });
        let differences = self.differences.iter().map(|(name, of)| of.to_json(name));
        json!({
            "same": self.same,
            "differences": differences.collect::<Vec<Value>>(),
            "without_checksum": self.without_checksum.iter().map(name).collect::<Vec<Value>>(),
        })
    }
}

/// Compares a dump with a source that has `tables`. `sum` returns the checksum of a kind of one of them, or
/// `None` where the source has none.
///
/// # Errors
/// The dump's rows were selected by a condition, or `sum` reports an interruption or an error of the
/// source as a whole.
pub fn compare(
    manifest: &Manifest,
    tables: &BTreeSet<TableName>,
    mut sum: impl FnMut(&TableName, ChecksumKind) -> Result<Option<u32>>,
) -> Result<Comparison> {
    if manifest.is_conditional {
        return Err(Error::refused(
            "the dump has only the rows of a condition, but the source's checksums cover all rows",
            Remedy::OmitComparison,
        ));
    }
    let mut comparison = Comparison::default();
    for table in manifest.tables.iter().filter(|table| table.error.is_none()) {
        let name = TableName { schema: table.database.clone(), table: table.name.clone() };
        let difference = match table.checksum {
            _ if !tables.contains(&name) => Some(Difference::NotInSource),
            None => {
                comparison.without_checksum.push(name);
                continue;
            }
            Some(TableChecksum { kind, sum: dump }) => match sum(&name, kind) {
                Ok(Some(source)) if source == dump => None,
                Ok(Some(source)) => Some(Difference::Rows { dump, source }),
                Ok(None) => Some(Difference::Unreadable("it gives no checksum".into())),
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::Resources) =>
                {
                    return Err(error);
                }
                Err(error) => Some(Difference::Unreadable(error.reason())),
            },
        };
        match difference {
            None => comparison.same += 1,
            Some(difference) => _ = comparison.differences.insert(name, difference),
        }
    }
    let known = Known::of(manifest);
    for name in tables.iter().filter(|name| !known.accounts_for(name)) {
        comparison.differences.insert(name.clone(), Difference::NotInDump);
    }
    Ok(comparison)
}

/// The databases and tables in a dump's ledger.
struct Known<'m> {
    is_selection: bool,
    databases: HashMap<&'m str, &'m ManifestState>,
    tables: HashSet<(&'m str, &'m str)>,
}

impl Known<'_> {
    fn of(manifest: &Manifest) -> Known<'_> {
        let mut known = Known {
            is_selection: manifest.is_selection,
            databases: HashMap::new(),
            tables: HashSet::new(),
        };
        for ManifestEntry { listed, state } in &manifest.ledger {
            let Item { database, kind, name } = &listed.item;
            match kind {
                ItemKind::Database => _ = known.databases.insert(name, state),
                ItemKind::Table => _ = known.tables.insert((database, name)),
                _ => {}
            }
        }
        known
    }

    /// Whether the ledger lists a table of the source, or the dump does not cover its database.
    fn accounts_for(&self, name: &TableName) -> bool {
        let is_left_out = match self.databases.get(&*name.schema) {
            // The database was not selected; or the account that made the dump could not see it.
            None => self.is_selection,
            // Without definitions the tables are dumped nevertheless.
            Some(ManifestState::LeftOut(by)) => {
                *by != FilterRule::NoSchemas.name() && *by != FilterRule::Format.name()
            }
            Some(_) => false,
        };
        // A dump of individually named tables lists no database.
        let is_of_tables = self.databases.is_empty();
        is_of_tables || is_left_out || self.tables.contains(&(&*name.schema, &*name.table))
    }
}

/// Compares a dump with the files of a stopped server's directory. `on_progress` receives, before
/// each table is read, the number of tables read and the number of all.
///
/// # Errors
/// Those of [`compare`], and errors of the directory as a whole.
pub fn compare_with_files(
    manifest: &Manifest,
    catalog: &Catalog,
    options: &ScanOptions,
    mut on_progress: impl FnMut(usize, usize),
) -> Result<Comparison> {
    let offline = Offline::plan(catalog, &tables_alone())?;
    let mut of_innodb: BTreeMap<TableName, &Table> = BTreeMap::new();
    of_innodb.extend(offline.tables.iter().map(|table| (name_of(&table.def), table)));
    let mut of_engines: BTreeMap<TableName, &EngineTable> = BTreeMap::new();
    of_engines.extend(offline.engine_tables.iter().map(|table| (name_of(&table.def), table)));
    let mut tables = BTreeSet::new();
    let mut refused = BTreeMap::new();
    for entry in offline.ledger.entries() {
        let item = &entry.listed.item;
        if item.kind != ItemKind::Table {
            continue;
        }
        let name = TableName { schema: item.database.clone(), table: item.name.clone() };
        if let State::NotDumped(reason) = &entry.state {
            refused.insert(name.clone(), reason.clone());
        }
        tables.insert(name);
    }
    let all = manifest.tables.iter().filter(|table| table.checksum.is_some()).count();
    let mut done = 0;
    compare(manifest, &tables, |name, kind| {
        on_progress(done, all);
        done += 1;
        if let Some(reason) = refused.get(name) {
            return Err(reason.clone().into());
        }
        match (of_innodb.get(name), of_engines.get(name)) {
            (Some(table), _) => sum_of_innodb(table, kind, options).map(Some),
            (None, Some(table)) => sum_of_engine(table, kind, options).map(Some),
            // The engine keeps no rows in files.
            (None, None) => Ok(Some(0)),
        }
    })
}

fn name_of(def: &TableDef) -> TableName {
    TableName { schema: def.schema.clone(), table: def.name.clone() }
}

/// A filter for tables only.
fn tables_alone() -> Filter {
    let kinds =
        ObjectKinds { views: false, triggers: false, routines: false, events: false, users: false };
    Filter { kinds, ..Filter::all() }
}

fn sum_of_innodb(table: &Table, kind: ChecksumKind, options: &ScanOptions) -> Result<u32> {
    let sink = Checksum::of_kind(&table.def, kind)?;
    let mut total = Sum::default();
    scan_sized(table, table.size_bytes(), options, &sink, |sum, _| {
        total.add(&sum);
        Ok(())
    })?;
    Ok(total.sum)
}

fn sum_of_engine(table: &EngineTable, kind: ChecksumKind, options: &ScanOptions) -> Result<u32> {
    let sink = Checksum::of_kind(&table.def, kind)?;
    let is_cancelled = || {
        let cancel = options.hooks.cancel.as_ref();
        cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    };
    let mut total = sink.new_batch();
    table.for_each_row(|row| {
        if is_cancelled() {
            return Err(Error::interrupted());
        }
        sink.row(row, &mut total)
    })?;
    Ok(total.sum)
}
