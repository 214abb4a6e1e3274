//! Whole tables as files in a directory, or as one stream.
//!
//! Tables are dumped one after the other, each with all threads. A table that cannot be read is
//! told of in its [`TableOutcome`] and does not stop the others; an output that cannot be written
//! does, since it is the others' too.

mod ahead;
mod chunks;
mod clock;
mod done;
mod fetched;
mod files;
mod jobs;
mod journal;
mod layout;
mod objects;
mod outcome;
#[cfg(test)]
mod resume_tests;
mod rows;
mod statements;
mod stream;
mod table_outcome;
#[cfg(test)]
mod tests;
mod unfinished;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use innoscan_format::schema::{IndexKind, IndexSource, TableDef};

pub use self::done::DumpedFile;
pub use self::fetched::{SentRowFn, SmallTable, SmallTables, TableSession};
pub use self::jobs::{DeferredTable, LockedTable};
pub use self::layout::stem;
pub use self::objects::{
    Object, ObjectKind, ObjectSession, Origin, SelectedColumn, SelectedRowsIter, SelectedTable,
};
pub use self::outcome::Summary;
pub(crate) use self::outcome::{MANIFEST_FORMAT, MANIFEST_NAME};
pub use self::stream::to_stream;
pub use self::table_outcome::TableOutcome;
pub use self::unfinished::{OnChange, Unfinished, is_begun};
use crate::ledger::{Ledger, Listed, Means, State};
use crate::phases::Phases;
use crate::scan::ScanOptions;
use crate::sink::{Compression, sql};
pub use crate::sink::{Format, Layout};
use crate::source::EngineTable;
use crate::{Error, Remedy, Result, Table};

/// Who wrote a dump.
const DUMPER: &str = concat!("innoscan ", env!("CARGO_PKG_VERSION"));

/// The names of a primary key's columns.
fn primary_key(def: &TableDef) -> Vec<String> {
    let primary = def.indexes.iter().find(|index| index.kind == IndexKind::Primary);
    let parts = primary.map_or(&[][..], |index| &index.parts);
    let column = |source: &IndexSource| match source {
        IndexSource::Column(place) => def.columns.get(*place).map(|column| column.name.clone()),
        IndexSource::Expression(_) => None,
    };
    parts.iter().filter_map(|part| column(&part.source)).collect()
}

/// What to dump: tables from their files, and beside them what only a server has.
#[derive(Default)]
pub struct Dump<'a> {
    /// Tables, read from their files.
    pub tables: Vec<&'a Table>,
    /// What is no table.
    pub objects: Vec<&'a Object>,
    /// Tables that are held only while they are read.
    pub deferred: Vec<DeferredTable<'a>>,
    /// Tables whose rows a server gives.
    pub selected: Vec<SelectedTable<'a>>,
    /// Small tables of InnoDB whose rows a server sends.
    pub small: SmallTables,
    /// Tables of MyISAM and Aria, read from their files.
    pub engine_tables: Vec<&'a EngineTable>,
    /// Tables that have a definition and no rows.
    pub without_rows: Vec<&'a TableDef>,
    /// What is there of a dump that was begun into the same directory.
    pub unfinished: Option<Unfinished>,
    /// All objects of the source, these and those that are not dumped.
    pub ledger: Ledger,
    /// What has taken time so far.
    pub phases: Phases,
    /// Since when `tables` are locked, where they are until they are read.
    pub locked_since: Option<Instant>,
}

impl<'a> Dump<'a> {
    /// Of tables alone.
    pub fn of(tables: impl IntoIterator<Item = &'a Table>) -> Dump<'a> {
        Dump { tables: tables.into_iter().collect(), ..Dump::default() }
    }

    /// With objects.
    #[must_use]
    pub fn with_objects(mut self, objects: impl IntoIterator<Item = &'a Object>) -> Dump<'a> {
        self.objects.extend(objects);
        self
    }

    /// With tables whose rows a server gives.
    #[must_use]
    pub fn with_selected(
        mut self,
        selected: impl IntoIterator<Item = SelectedTable<'a>>,
    ) -> Dump<'a> {
        self.selected.extend(selected);
        self
    }

    /// How many tables there are.
    fn table_count(&self) -> usize {
        let read = self.tables.len() + self.deferred.len() + self.engine_tables.len();
        read + self.selected.len() + self.small.tables.len() + self.without_rows.len()
    }

    /// Leaves out the tables that sequences are in their files: the objects stand for them. A ledger
    /// that lists nothing gets what is to be dumped.
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

    /// Database and name of every table.
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
            self.ledger.enter(Listed::table(&database, &name, None), State::Planned(Means::Files));
        }
        for listed in self.objects.iter().filter_map(|object| Listed::of_object(object)) {
            self.ledger.enter(listed, State::Planned(Means::Definition));
        }
    }
}

/// How to dump.
#[derive(Clone)]
pub struct DumpOptions {
    /// How a directory is laid out; a stream is not.
    pub layout: Layout,
    /// Where the tables are from, to be written down.
    pub origin: Option<Origin>,
    /// Tell of every table what `CHECKSUM TABLE` says, from the same pass over its rows.
    pub checksums: bool,
    /// What rows are written as.
    pub format: Format,
    /// How the output is compressed. Definitions are not, but in a stream.
    pub compression: Compression,
    /// A new file begins once one has this many bytes before compression; at least 64 KiB.
    pub chunk_bytes: Option<u64>,
    /// Databases or tables were chosen, by name or by a pattern: to be written down.
    pub is_selection: bool,
    /// Write definitions.
    pub definitions: bool,
    /// Write rows.
    pub rows: bool,
    /// `DROP TABLE IF EXISTS` before each `CREATE TABLE`.
    pub drop_tables: bool,
    /// Files are on the disk before they get their names.
    pub sync: bool,
    /// The output directory may hold files already; those of the same name are replaced. Loaders read
    /// every file, so their layouts want an empty one all the same.
    pub overwrite: bool,
    /// Called when all rows were read, before the files are put on the disk: confirms that the tables
    /// were locked until now, and unlocks them.
    pub confirm: Option<Arc<ConfirmFn>>,
    /// How tables are read.
    pub scan: ScanOptions,
}

/// Confirms that what was read holds; its error ends the dump.
pub type ConfirmFn = dyn Fn() -> Result<()> + Send + Sync;

impl DumpOptions {
    /// The statement before a table's `CREATE TABLE`, if there is to be one.
    fn drop_table(&self, name: &str) -> String {
        if self.drop_tables { sql::drop_table(name) } else { String::new() }
    }

    /// Whether what was read still holds.
    fn confirmed(&self) -> Result<()> {
        self.confirm.as_ref().map_or(Ok(()), |confirm| confirm())
    }

    /// All there is of each table, uncompressed, in one file a table.
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
            confirm: None,
            scan: ScanOptions::default(),
        }
    }

    /// What a layout has where nobody says otherwise; its loader is told the checksums.
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

/// Dumps into a directory, which is made if it is not there. `finished` is told of each table. The
/// directory is complete when the last file of its layout is there: `innoscan.json`, `metadata` or
/// `@.done.json`.
///
/// # Errors
/// When the output cannot be written, the layout has no place for what is to be written, or the user
/// asked to stop.
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
