//! The layouts of a dump's directory, one file per layout.
//!
//! ```text
//!                   files                     mydumper                  mysqlsh
//! first                                                                 @.json, @.sql, @.post.sql
//! a database        DB-schema-create.sql      DB-schema-create.sql      DB.json, DB.sql
//! a definition      DB.T-schema.sql           DB.T-schema.sql           DB@T.json, DB@T.sql
//! rows              DB.T.00000.sql.zst ...    DB.T.00000.sql.zst ...    DB@T@0.tsv.zst ...
//!                                                                       DB@T@@9.tsv.zst
//! last              innoscan.json             innoscan.json, metadata   innoscan.json, @.done.json
//! ```
//!
//! A dump that is not complete has `metadata.incomplete` or `@.done.json.incomplete` in place of the
//! file that loaders look for.

mod files;
mod mydumper;
mod mysqlsh;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Instant, SystemTime};

use innoscan_catalog::object::{Object, ObjectKind};
use innoscan_engine::{Error, Remedy, Result};
use innoscan_format::schema::{ServerVersion, TableDef};

pub use self::files::stem;
pub use self::mydumper::REPLACED_NAME_PREFIX;
use super::chunks::{ChunkNames, ChunkOptions, Chunks};
use super::dumped_file::DumpedFile;
use super::files::Directory;
use super::interrupted_dump::{FinishedChunks, version_of};
use super::jobs::{self, Source, Target, ends_dump};
use super::journal::{TableKey, TableVersion};
use super::objects::SelectedTable;
use super::outcome::MANIFEST_NAME;
use super::rows::{self, Rows};
use super::statements::{Ending, of_object};
use super::{Dump, DumpOptions, Layout, Summary, TableOutcome};
use crate::phases::Phase;
use crate::sink::{ChunkWriter, Encoded, SelectedRows, TableEncoder, sql};

/// The content of a dump, from which a layout makes files.
pub(super) struct Contents<'a> {
    /// The databases, in the order of their first table or object.
    pub databases: Vec<String>,
    /// The database and name of every table.
    pub tables: Vec<(String, String)>,
    /// Objects other than tables.
    pub objects: Vec<&'a Object>,
    /// The server that wrote the first table's files.
    pub server: Option<ServerVersion>,
}

impl<'a> Contents<'a> {
    fn of(dump: &Dump<'a>, options: &DumpOptions) -> Contents<'a> {
        let tables = dump.table_names();
        let of_objects = dump.objects.iter().map(|object| &object.database);
        let mut databases: Vec<String> = Vec::new();
        for database in tables.iter().map(|(database, _)| database).chain(of_objects) {
            if !database.is_empty() && !databases.contains(database) {
                databases.push(database.clone());
            }
        }
        let def = dump.tables.first().map(|table| &table.def);
        let of_engine = || dump.engine_tables.first().map(|table| &table.def);
        let of_origin = || options.origin.as_ref().and_then(|origin| origin.server);
        let server = def.or_else(of_engine).map(|def| def.server).or_else(of_origin);
        Contents { databases, tables, objects: dump.objects.clone(), server }
    }

    /// The objects of a database that are of the wanted kinds.
    pub fn objects_of<'s>(
        &'s self,
        database: &'s str,
        wanted: impl Fn(&ObjectKind) -> bool + 's,
    ) -> impl Iterator<Item = &'a Object> + 's {
        let objects = self.objects.iter().copied();
        objects.filter(move |object| object.database == database && wanted(&object.kind))
    }

    /// The functions, procedures and packages of a database, then its events.
    pub fn routines_and_events<'s>(
        &'s self,
        database: &'s str,
    ) -> impl Iterator<Item = &'a Object> + 's {
        let routines = self.objects_of(database, ObjectKind::is_routine);
        routines.chain(self.objects_of(database, |kind| *kind == ObjectKind::Event))
    }

    /// Accounts, their grants and default roles.
    pub fn users(&self) -> impl Iterator<Item = &'a Object> + '_ {
        self.objects.iter().copied().filter(|object| object.kind.is_of_accounts())
    }

    /// Writes `head` and objects into a file, unless there are no objects.
    pub fn write_objects<'o>(
        &self,
        directory: &Directory,
        name: &str,
        head: &str,
        objects: impl Iterator<Item = &'o Object>,
        ending: Ending,
    ) -> Result<()> {
        let mut text = head.as_bytes().to_vec();
        for object in objects {
            let create = self.create_database(&object.database);
            text.extend(of_object(object, &create, ending));
        }
        if text.len() > head.len() {
            directory.write(name, &text)?;
        }
        Ok(())
    }

    /// The statement that creates a database unless it exists, with the options of its server if they
    /// are known.
    pub fn create_database(&self, database: &str) -> String {
        create_database(&self.objects, database)
    }
}

/// The statement that creates a database unless it exists.
pub(super) fn create_database(objects: &[&Object], database: &str) -> String {
    let own = objects
        .iter()
        .find(|object| object.kind == ObjectKind::Database && object.database == database)
        .and_then(|object| object.statements.first())
        .and_then(|create| create.strip_prefix("CREATE DATABASE `"));
    match own {
        None => sql::create_database(database),
        Some(rest) => {
            let rest = rest.trim_end().trim_end_matches(';');
            format!("CREATE DATABASE /*!32312 IF NOT EXISTS*/ `{rest};\n")
        }
    }
}

/// The facts about a table that a layout needs before the rows.
pub(super) struct TableFacts<'a> {
    pub database: &'a str,
    pub name: &'a str,
    /// Its `CREATE TABLE`.
    pub create: String,
    /// The session setting that its creation needs; see [`sql::lenient`].
    pub lenient: &'static str,
    /// The columns that a loader is given by name, and whether their values are in base64.
    pub columns: Vec<(String, bool)>,
    /// The columns of its primary key.
    pub primary_key: Vec<String>,
}

/// The writer of a layout's files other than those of rows.
pub(super) trait LayoutWriter {
    /// Writes the files that come before the tables.
    fn begin(&mut self) -> Result<()>;

    /// Writes a table's definition, and other files that come before its rows.
    fn table(&mut self, table: &TableFacts<'_>) -> Result<Vec<DumpedFile>>;

    /// The names of a table's files of rows. `ending` is the extension of the format with the suffix of
    /// the compression.
    fn chunk_names(&self, database: &str, table: &str, ending: String) -> ChunkNames;

    /// Writes the files that come after the tables.
    fn finish(&mut self, summary: &Summary) -> Result<()>;

    /// The name and text of the loader's marker. It is written last, and under another name if something
    /// is missing.
    fn marker(&self, summary: &Summary) -> Option<(&'static str, String)>;
}

/// Dumps into a directory in the layout of the options.
pub(super) fn write(
    dump: Dump<'_>,
    path: &Path,
    options: &DumpOptions,
    finished: impl FnMut(&TableOutcome),
) -> Result<Summary> {
    let (started, started_at) = (Instant::now(), SystemTime::now());
    let mut dump = dump.prepared();
    let contents = Contents::of(&dump, options);
    fits(&contents, options)?;
    let (directory, finished_chunks) = match dump.unfinished.take() {
        None => (Directory::prepare(path, options)?, BTreeMap::new()),
        Some(unfinished) => {
            let (journal, finished_chunks) = unfinished.resume(&dump, options)?;
            (Directory::of(path, journal, options), finished_chunks)
        }
    };
    let mut layout_writer: Box<dyn LayoutWriter + '_> = match options.layout {
        Layout::Files => Box::new(files::Files::new(&directory, &contents, options)),
        Layout::MyDumper => Box::new(mydumper::MyDumper::new(&directory, &contents, options)),
        Layout::MySqlShell => Box::new(mysqlsh::MySqlShell::new(&directory, &contents, options)),
    };
    layout_writer.begin()?;
    let mut writer = Writer {
        directory: &directory,
        layout_writer: &mut *layout_writer,
        options,
        finished_chunks,
    };
    let tables = jobs::run(&mut dump, &mut writer, options, finished)?;
    let mut ledger = std::mem::take(&mut dump.ledger);
    ledger.settle(tables.iter().map(TableOutcome::settled));
    let summary = Summary {
        tables,
        ledger,
        origin: options.origin.clone(),
        layout: Some(options.layout),
        is_conditional: options.scan.rows.condition.is_some(),
        is_selection: options.is_selection,
        started: Some(started_at),
        elapsed: started.elapsed(),
        phases: std::mem::take(&mut dump.phases),
        ..Summary::default()
    };
    layout_writer.finish(&summary)?;
    let marker = layout_writer.marker(&summary);
    drop(layout_writer);
    let mut summary = summary;
    summary.files = files_of_no_table(&directory, &summary);
    write_manifest(&directory, &mut summary, marker)?;
    summary.phases.time(Phase::Syncing, || directory.complete())?;
    Ok(summary)
}

/// The files that are in no table's outcome.
fn files_of_no_table(directory: &Directory, summary: &Summary) -> Vec<DumpedFile> {
    let of_tables = summary.tables.iter().flat_map(|table| &table.files);
    let of_tables: HashSet<&str> = of_tables.map(|file| &*file.name).collect();
    let mut files = directory.whole_files();
    files.retain(|file| !of_tables.contains(&*file.name));
    files
}

/// Writes `innoscan.json`, and gives the loader's marker its name when all other files are synced.
fn write_manifest(
    directory: &Directory,
    summary: &mut Summary,
    marker: Option<(&'static str, String)>,
) -> Result<()> {
    let is_complete = summary.ledger.is_complete();
    let marker = marker.map(|(name, text)| match is_complete {
        true => (name.to_owned(), text),
        // Without its marker no loader takes the directory for a whole dump.
        false => (format!("{name}.incomplete"), text),
    });
    let written = match &marker {
        Some((name, text)) => {
            let (file, partial) = directory.write_partial(name, text.as_bytes())?;
            summary.marker = Some(file);
            Some((name, partial))
        }
        None => None,
    };
    summary.phases.time(Phase::Syncing, || directory.flush())?;
    let mut manifest = serde_json::to_vec_pretty(summary)
        .map_err(|error| Error::write("writing", error.into()).in_file(Path::new(MANIFEST_NAME)))?;
    manifest.push(b'\n');
    let (_, partial) = directory.write_partial(MANIFEST_NAME, &manifest)?;
    directory.publish(MANIFEST_NAME, partial)?;
    summary.phases.time(Phase::Syncing, || directory.flush())?;
    written.map_or(Ok(()), |(name, partial)| directory.publish(name, partial))
}

/// Refuses tables that the layout cannot name.
fn fits(contents: &Contents<'_>, options: &DumpOptions) -> Result<()> {
    if options.layout == Layout::Files {
        return Ok(());
    }
    if contents.tables.iter().any(|(database, _)| database.is_empty()) {
        return Err(Error::usage(
            format!(
                "the layout {} names files after databases, and a table's is not known",
                options.layout.name()
            ),
            [Remedy::NameInDirectory, Remedy::ChooseLayout("files")],
        ));
    }
    Ok(())
}

/// The writer of tables into a layout's files.
struct Writer<'w> {
    directory: &'w Directory,
    layout_writer: &'w mut dyn LayoutWriter,
    options: &'w DumpOptions,
    /// The finished files of an interrupted dump, of tables that have not changed since.
    finished_chunks: BTreeMap<TableKey, FinishedChunks>,
}

impl Target for Writer<'_> {
    fn read(&mut self, source: Source<'_>, outcome: &mut TableOutcome) -> Result<()> {
        let Source { table, ahead, confirm } = source;
        let (def, options) = (&table.def, self.options);
        let encoder = self.begin(def, table.create_sql.as_deref(), outcome)?;
        if !options.rows {
            return Ok(());
        }
        let key = (def.schema.clone(), def.name.clone());
        let chunk_options = self.chunk_options(&key, encoder.chunk_writer(options.compression));
        let mut chunks = match self.finished_chunks.remove(&key) {
            None => {
                let version = version_of(table)?;
                Chunks::begin(self.directory, key, version, chunk_options)?
            }
            Some(finished) => {
                outcome.checksum = rows::begun(rows::checksum(def, options).as_ref());
                finished.chunks.iter().for_each(|chunk| outcome.keep(chunk));
                Chunks::resume(self.directory, key, finished, chunk_options)
            }
        };
        let is_resumed = !chunks.done().is_empty();
        let last = chunks.done().last();
        if !last.is_some_and(|chunk| chunk.is_last) {
            let after = last.and_then(|chunk| chunk.after);
            let write = |batch: &Encoded, sum, end| chunks.write(batch, sum, end);
            let read = match ahead.filter(|_| !is_resumed) {
                Some(ahead) => rows::replay(ahead, outcome, write),
                None => rows::read(table, encoder, options, after, outcome, write),
            };
            if let Err(error) = read.and_then(|()| confirm()) {
                return Err(abandon(chunks, error));
            }
        }
        outcome.files.extend(chunks.finish()?);
        Ok(())
    }

    fn select(&mut self, table: &mut SelectedTable<'_>, outcome: &mut TableOutcome) -> Result<()> {
        let options = self.options;
        let batch_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
        let rows = SelectedRows::new(
            &options.format,
            &table.name,
            &table.columns,
            options.compression,
            batch_bytes,
        )?;
        let key = (table.database.clone(), table.name.clone());
        outcome.files = self.layout_writer.table(&TableFacts {
            database: &key.0,
            name: &key.1,
            create: table.create.trim_end().trim_end_matches(';').to_owned(),
            lenient: "",
            columns: rows.loaded_columns(),
            primary_key: Vec::new(),
        })?;
        if !options.rows {
            return Ok(());
        }
        let chunk_options = self.chunk_options(&key, rows.chunk_writer());
        // No version shows whether such a table has changed, so its files are never kept.
        let version = TableVersion::default();
        let mut chunks = Chunks::begin(self.directory, key, version, chunk_options)?;
        if let Err(error) =
            rows::select(table, &rows, outcome, |batch| chunks.write(batch, 0, None))
        {
            return Err(abandon(chunks, error));
        }
        outcome.files.extend(chunks.finish()?);
        Ok(())
    }

    fn write(&mut self, table: &mut dyn Rows, outcome: &mut TableOutcome) -> Result<()> {
        let (def, options) = (table.def(), self.options);
        let encoder = self.begin(def, table.create_sql(), outcome)?;
        if !options.rows {
            return Ok(());
        }
        let key = (def.schema.clone(), def.name.clone());
        let chunk_options = self.chunk_options(&key, encoder.chunk_writer(options.compression));
        // No version shows whether such a table has changed, so its files are never kept.
        let mut chunks =
            Chunks::begin(self.directory, key, TableVersion::default(), chunk_options)?;
        let given =
            table.give(encoder, options, outcome, &mut |batch, sum| chunks.write(batch, sum, None));
        if let Err(error) = given {
            return Err(abandon(chunks, error));
        }
        outcome.files.extend(chunks.finish()?);
        Ok(())
    }

    fn define(&mut self, def: &TableDef, outcome: &mut TableOutcome) -> Result<()> {
        self.begin(def, None, outcome).map(|_| ())
    }
}

impl Writer<'_> {
    /// Writes a table's definition, and returns the encoder of its rows.
    fn begin(
        &mut self,
        def: &TableDef,
        create_sql: Option<&str>,
        outcome: &mut TableOutcome,
    ) -> Result<TableEncoder> {
        let encoder = self.options.format.encoder(def)?;
        outcome.files = self.layout_writer.table(&facts(def, create_sql, &encoder))?;
        if self.options.rows {
            outcome.left_out = encoder.left_out().to_vec();
            outcome.column_types = encoder.column_types();
        }
        Ok(encoder)
    }

    fn chunk_options(
        &self,
        (database, table): &TableKey,
        writer: Box<dyn ChunkWriter>,
    ) -> ChunkOptions {
        let ending = self.options.format.file_ending(self.options.compression);
        let names = self.layout_writer.chunk_names(database, table, ending);
        ChunkOptions::new(names, writer, self.options)
    }
}

/// The facts about a table that a layout needs before the rows.
fn facts<'d>(
    def: &'d TableDef,
    create_sql: Option<&str>,
    encoder: &TableEncoder,
) -> TableFacts<'d> {
    TableFacts {
        database: &def.schema,
        name: &def.name,
        create: sql::definition(def, create_sql),
        lenient: sql::lenient(def),
        columns: encoder.loaded_columns(),
        primary_key: super::primary_key(def),
    }
}

/// Removes the finished files of a table that cannot be dumped. They are kept after an error that ends the
/// dump, so that it can be resumed.
fn abandon(chunks: Chunks<'_>, error: Error) -> Error {
    if !ends_dump(&error) {
        chunks.discard();
    }
    error
}
