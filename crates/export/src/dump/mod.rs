//! Dumps of whole tables, into files of a directory or one stream.
//!
//! Tables are dumped one after the other, each with all threads. A table that cannot be read is
//! reported in its [`TableOutcome`] and does not stop the others; an output that cannot be written
//! ends the dump.

mod ahead;
mod chunks;
mod clock;
mod dumped_file;
mod fetched;
mod files;
mod interrupted_dump;
mod jobs;
mod journal;
mod layout;
mod objects;
mod outcome;
#[cfg(test)]
mod resume_tests;
mod rows;
mod single_file;
mod small_files;
mod statements;
mod stream;
mod table_outcome;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use innoscan_catalog::ledger::{DumpMethod, Ledger, Listed, State};
use innoscan_catalog::object::{Object, ObjectKind};
use innoscan_catalog::source::EngineTable;
use innoscan_engine::scan::ScanOptions;
use innoscan_engine::{Error, Remedy, Result, Table};
use innoscan_format::schema::{IndexSource, TableDef};

pub use self::clock::json_utc;
pub use self::dumped_file::DumpedFile;
pub use self::fetched::{SentRowFn, SmallTable, SmallTables, TableSession};
pub use self::interrupted_dump::{InterruptedDump, OnChange, is_interrupted};
pub use self::jobs::{DeferredTable, LockedTable};
pub use self::layout::{REPLACED_NAME_PREFIX, stem};
pub use self::objects::{Origin, SelectedColumn, SelectedRowsIter, SelectedTable};
pub(crate) use self::outcome::MANIFEST_FORMAT;
pub use self::outcome::{MANIFEST_NAME, Summary};
pub use self::single_file::to_file;
pub use self::stream::to_stream;
pub use self::table_outcome::TableOutcome;
use crate::phases::Phases;
use crate::sink::{Compression, sql};
pub use crate::sink::{Format, Layout};

/// The program and version that a dump names as its writer.
pub const DUMPER: &str = concat!("innoscan ", env!("CARGO_PKG_VERSION"));

/// The names of a primary key's columns.
fn primary_key(def: &TableDef) -> Vec<String> {
    let primary = def.primary_key();
    let parts = primary.map_or(&[][..], |index| &index.parts);
    let column = |source: &IndexSource| match source {
        IndexSource::Column(place) => def.columns.get(*place).map(|column| column.name.clone()),
        IndexSource::Expression(_) => None,
    };
    parts.iter().filter_map(|part| column(&part.source)).collect()
}

/// The content of a dump: tables read from their files, and objects that only a server has.
#[derive(Default)]
pub struct Dump<'a> {
    /// Tables, read from their files.
    pub tables: Vec<&'a Table>,
    /// Objects other than tables.
    pub objects: Vec<&'a Object>,
    /// Tables that are locked only while they are read.
    pub deferred: Vec<DeferredTable<'a>>,
    /// Tables whose rows are fetched by `SELECT`.
    pub selected: Vec<SelectedTable<'a>>,
    /// Small InnoDB tables that are fetched from a server.
    pub small: SmallTables,
    /// Tables of MyISAM and Aria, read from their files.
    pub engine_tables: Vec<&'a EngineTable>,
    /// Tables that have a definition but no rows.
    pub without_rows: Vec<&'a TableDef>,
    /// The interrupted dump in the same directory, which is to be resumed.
    pub unfinished: Option<InterruptedDump>,
    /// All objects of the source, including those that are not dumped.
    pub ledger: Ledger,
    /// The time that each phase has taken so far.
    pub phases: Phases,
    /// The time at which `tables` were locked, if they are locked until they are read.
    pub locked_since: Option<Instant>,
}

impl<'a> Dump<'a> {
    /// A dump of tables only.
    pub fn of(tables: impl IntoIterator<Item = &'a Table>) -> Dump<'a> {
        Dump { tables: tables.into_iter().collect(), ..Dump::default() }
    }

    /// Adds objects.
    #[must_use]
    pub fn with_objects(mut self, objects: impl IntoIterator<Item = &'a Object>) -> Dump<'a> {
        self.objects.extend(objects);
        self
    }

    /// Adds tables whose rows are fetched by `SELECT`.
    #[must_use]
    pub fn with_selected(
        mut self,
        selected: impl IntoIterator<Item = SelectedTable<'a>>,
    ) -> Dump<'a> {
        self.selected.extend(selected);
        self
    }

    /// The number of tables.
    fn table_count(&self) -> usize {
        let read = self.tables.len() + self.deferred.len() + self.engine_tables.len();
        read + self.selected.len() + self.small.tables.len() + self.without_rows.len()
    }

    /// Removes the tables that hold sequences, which are dumped as objects. An empty ledger gets the
    /// content of the dump.
    fn prepared(mut self) -> Dump<'a> {
        let is_sequence = |table: &&Table| {
            self.objects.iter().any(|object| {
                object.kind == ObjectKind::Sequence
                    && (&object.database, &object.name) == (&table.def.schema, &table.def.name)
            })
        };
        self.tables = self.tables.iter().copied().filter(|table| !is_sequence(table)).collect();
        if self.ledger.is_empty() {
            self.enter_all();
        }
        self
    }

    /// The database and name of every table.
    fn table_names(&self) -> Vec<(String, String)> {
        let of_def = |def: &TableDef| (def.schema.clone(), def.name.clone());
        let named = |database: &String, name: &String| (database.clone(), name.clone());
        let read = self.tables.iter().map(|table| of_def(&table.def));
        let deferred = self.deferred.iter().map(|table| named(&table.database, &table.name));
        let selected = self.selected.iter().map(|table| named(&table.database, &table.name));
        let small =
            self.small.tables.iter().map(|table| named(&table.name.schema, &table.name.table));
        let of_engines = self.engine_tables.iter().map(|table| of_def(&table.def));
        let without_rows = self.without_rows.iter().map(|def| of_def(def));
        read.chain(deferred)
            .chain(selected)
            .chain(small)
            .chain(of_engines)
            .chain(without_rows)
            .collect()
    }

    fn enter_all(&mut self) {
        for (database, name) in self.table_names() {
            self.ledger
                .enter(Listed::table(&database, &name, None), State::Planned(DumpMethod::Files));
        }
        for listed in self.objects.iter().filter_map(|object| Listed::of_object(object)) {
            self.ledger.enter(listed, State::Planned(DumpMethod::Definition));
        }
    }
}

/// The options of a dump.
#[derive(Clone)]
pub struct DumpOptions {
    /// The layout of the directory; without effect on a stream.
    pub layout: Layout,
    /// The source of the tables, which the dump records.
    pub origin: Option<Origin>,
    /// Compute the `CHECKSUM TABLE` of each table, in the same pass over its rows.
    pub checksums: bool,
    /// The format of rows.
    pub format: Format,
    /// The compression of rows; in a stream also of definitions.
    pub compression: Compression,
    /// The size at which a new file of rows begins, in bytes before compression; at least 64 KiB.
    pub chunk_bytes: Option<u64>,
    /// Whether databases or tables were selected, by name or by a pattern, which the dump records.
    pub is_selection: bool,
    /// Write definitions.
    pub definitions: bool,
    /// Write rows.
    pub rows: bool,
    /// `DROP TABLE IF EXISTS` before each `CREATE TABLE`.
    pub drop_tables: bool,
    /// Sync files to disk before they get their names.
    pub sync: bool,
    /// Allow an output directory that is not empty; files of the same names are replaced. Loaders read
    /// every file, so their layouts need an empty directory nevertheless.
    pub overwrite: bool,
    /// Called when a table begins.
    pub begun: Option<Arc<BegunFn>>,
    /// Called after all rows were read, before the files are synced: confirms that the tables were locked
    /// until then, and unlocks them.
    pub confirm: Option<Arc<ConfirmFn>>,
    /// The options of reading tables.
    pub scan: ScanOptions,
}

/// Takes the names of a table's database and of the table.
pub type BegunFn = dyn Fn(&str, &str) + Send + Sync;

/// Confirms that the rows read are valid; its error ends the dump.
pub type ConfirmFn = dyn Fn() -> Result<()> + Send + Sync;

impl DumpOptions {
    /// The `DROP TABLE` before a table's `CREATE TABLE`; empty if it is not wanted.
    fn drop_table(&self, name: &str) -> String {
        if self.drop_tables { sql::drop_table(name) } else { String::new() }
    }

    /// Calls [`DumpOptions::begun`].
    fn begin(&self, database: &str, table: &str) {
        if let Some(begun) = &self.begun {
            begun(database, table);
        }
    }

    /// Calls [`DumpOptions::confirm`].
    fn confirmed(&self) -> Result<()> {
        self.confirm.as_ref().map_or(Ok(()), |confirm| confirm())
    }

    /// Definitions and rows of each table, uncompressed, in one file of rows per table.
    pub fn new(format: Format) -> DumpOptions {
        DumpOptions {
            layout: Layout::Files,
            origin: None,
            checksums: false,
            format,
            compression: Compression::None,
            chunk_bytes: None,
            is_selection: false,
            definitions: true,
            rows: true,
            drop_tables: false,
            sync: true,
            overwrite: false,
            begun: None,
            confirm: None,
            scan: ScanOptions::default(),
        }
    }

    /// The defaults of a layout. Layouts of loaders have checksums, which the loader compares.
    pub fn in_layout(layout: Layout, format: Format) -> DumpOptions {
        DumpOptions {
            layout,
            checksums: layout != Layout::Files,
            compression: layout.compression(),
            chunk_bytes: layout.chunk_bytes(),
            ..DumpOptions::new(format)
        }
    }
}

/// Dumps into a directory, which is created if it does not exist. `finished` is called with the outcome
/// of each table. The dump is complete when the last file of its layout exists: `innoscan.json`,
/// `metadata` or `@.done.json`.
///
/// # Errors
/// The output cannot be written, the layout cannot hold the format or a table, or the user interrupted
/// the dump.
pub fn to_directory(
    dump: Dump<'_>,
    path: &Path,
    options: &DumpOptions,
    finished: impl FnMut(&TableOutcome),
) -> Result<Summary> {
    let layout = options.layout;
    let format = options.format.for_layout(layout).ok_or_else(|| {
        Error::usage(
            format!("the layout {} does not hold rows in this format", layout.name()),
            [Remedy::KeepFormat, Remedy::ChooseLayout("files")],
        )
    })?;
    layout::write(dump, path, &DumpOptions { format, ..options.clone() }, finished)
}
