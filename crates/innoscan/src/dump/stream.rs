//! Dumps into one stream: SQL as a script, other formats of one table.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Instant, SystemTime};

use innoscan_format::schema::{Family, TableDef};

use super::clock::utc;
use super::jobs::{self, Source, Target};
use super::layout::create_database;
use super::objects::{Object, ObjectKind, SelectedTable};
use super::rows::{self, Rows};
use super::statements::{Ending, in_place_of_its_placeholder, of_object, placeholder_view};
use super::{DUMPER, Dump, DumpOptions, Summary, TableOutcome};
use crate::ledger::Ledger;
use crate::sink::{
    ChunkOutput, ChunkWriter, Compression, Encoded, SelectedRows, TableEncoder, quoted_name, sql,
};
use crate::{Error, Remedy, Result, Table};

/// Dumps into one stream. `finished` is called with the outcome of each table.
///
/// SQL is a script for the command line client. It contains session settings, which are restored at its
/// end; sequences; every table with its definition; then placeholders of views, triggers, routines,
/// events, views and users. Its last line says whether the script is complete.
///
/// # Errors
/// The output cannot be written, the user interrupted the dump, or several tables are to be written in a
/// format that cannot distinguish them.
pub fn to_stream(
    dump: Dump<'_>,
    out: &mut impl Write,
    options: &DumpOptions,
    finished: impl FnMut(&TableOutcome),
) -> Result<Summary> {
    let (started, started_at) = (Instant::now(), SystemTime::now());
    let mut dump = dump.prepared();
    let is_script = options.format.is_sql();
    let count = dump.table_count();
    if !is_script && count > 1 {
        return Err(Error::usage(
            "rows of several tables in one stream cannot be told apart in this format",
            [
                "give an output directory".into(),
                "dump one table alone".into(),
                Remedy::ChooseFormat("sql"),
            ],
        ));
    }
    let objects = &std::mem::take(&mut dump.objects)[..];
    let output = Stream { out, compression: options.compression };
    let mut script = Script {
        output,
        options,
        objects: if is_script && options.definitions { objects } else { &[] },
        names_databases: is_script && (count > 1 || !objects.is_empty()),
        database: String::new(),
        named: BTreeSet::new(),
    };
    if is_script {
        script.output.text(&head(dump.tables.first().copied(), options))?;
    }
    script.objects(|kind| *kind == ObjectKind::Sequence)?;
    let tables = jobs::run(&mut dump, &mut script, options, finished)?;
    script.objects_after_rows()?;
    let mut ledger = std::mem::take(&mut dump.ledger);
    ledger.settle(&tables);
    if is_script {
        script.output.text(sql::SCRIPT_TAIL)?;
        script.output.text(&end_mark(&ledger, SystemTime::now()))?;
    }
    script.output.out.flush().map_err(stream_error)?;
    Ok(Summary {
        tables,
        ledger,
        origin: options.origin.clone(),
        is_conditional: options.scan.rows.condition.is_some(),
        is_selection: options.is_selection,
        started: Some(started_at),
        elapsed: started.elapsed(),
        phases: std::mem::take(&mut dump.phases),
        ..Summary::default()
    })
}

/// The last line of a script, which proves that nothing was cut off: that of mysqldump (`mysqldump.c`,
/// `write_footer`, MariaDB 10.11), but in UTC; a different line if something is missing.
fn end_mark(ledger: &Ledger, now: SystemTime) -> String {
    let line = match ledger.what_is_missing() {
        None => format!("Dump completed on {}", utc(now)),
        Some(missing) => format!("Dump NOT complete: {missing}"),
    };
    sql::comment(&line)
}

/// The beginning of a script: comments on its source, and session settings.
fn head(table: Option<&Table>, options: &DumpOptions) -> String {
    let mut head = sql::comment(DUMPER);
    if let Some(origin) = &options.origin {
        let (version, host) = (&origin.version_text, &origin.hostname);
        head += &sql::comment(&format!("from the server {version} on {host}"));
        if let Some((file, position)) = &origin.binlog {
            head += &sql::comment(&format!("at {position} in the binary log {file}"));
        }
        if !origin.gtid.is_empty() {
            head += &sql::comment(&format!("with the transactions {}", origin.gtid));
        }
    } else if let Some(Table { def, .. }) = table {
        let family = match def.server.family {
            Family::MySql => "MySQL",
            Family::MariaDb => "MariaDB",
        };
        head += &sql::comment(&format!("from files of {family} {}", def.server));
    }
    head + sql::SCRIPT_HEAD
}

/// The stream of a dump while it is written.
struct Script<'s, W> {
    output: Stream<'s, W>,
    options: &'s DumpOptions,
    objects: &'s [&'s Object],
    /// Whether the stream contains `USE` statements.
    names_databases: bool,
    /// The database of the last `USE`.
    database: String,
    /// The databases of all `USE` statements.
    named: BTreeSet<String>,
}

impl<W: Write> Script<'_, W> {
    fn use_database(&mut self, database: &str) -> Result<()> {
        if !self.names_databases || self.database == database {
            return Ok(());
        }
        database.clone_into(&mut self.database);
        self.named.insert(database.to_owned());
        let create = create_database(self.objects, database);
        let name = quoted_name(database);
        self.output.text(&format!("{}{create}USE {name};\n", sql::SET_UTF8))
    }

    /// Writes the objects of some kinds.
    fn objects(&mut self, wanted: impl Fn(&ObjectKind) -> bool) -> Result<()> {
        for object in self.objects.iter().filter(|object| wanted(&object.kind)) {
            self.object(object)?;
        }
        Ok(())
    }

    fn object(&mut self, object: &Object) -> Result<()> {
        if !object.kind.is_of_accounts() {
            self.use_database(&object.database)?;
        }
        let create = create_database(self.objects, &object.database);
        self.output.bytes(&of_object(object, &create, Ending::Delimiter))
    }

    fn objects_after_rows(&mut self) -> Result<()> {
        let is_view = |object: &&&Object| object.kind == ObjectKind::View;
        for view in self.objects.iter().filter(is_view) {
            self.use_database(&view.database)?;
            let placeholder = placeholder_view(view);
            self.output.text(&format!("{}{placeholder}", sql::SET_UTF8))?;
        }
        self.objects(|kind| matches!(kind, ObjectKind::Trigger { .. }))?;
        self.objects(ObjectKind::is_routine)?;
        self.objects(|kind| *kind == ObjectKind::Event)?;
        for view in self.objects.iter().filter(is_view) {
            self.object(&in_place_of_its_placeholder(view))?;
        }
        // Databases without tables and other objects.
        for object in self.objects.iter().filter(|object| object.kind == ObjectKind::Database) {
            if !self.named.contains(&object.database) {
                self.use_database(&object.database)?;
            }
        }
        self.objects(ObjectKind::is_of_accounts)
    }

    /// Writes a table's definition, and what precedes its rows. Returns the encoder and the writer of
    /// the rows, if rows are wanted.
    fn begin(
        &mut self,
        def: &TableDef,
        create_sql: Option<&str>,
        outcome: &mut TableOutcome,
    ) -> Result<Option<(TableEncoder, Box<dyn ChunkWriter>)>> {
        self.table_definition(def, create_sql)?;
        if !self.options.rows {
            return Ok(None);
        }
        let encoder = self.options.format.encoder(def)?;
        outcome.left_out = encoder.left_out().to_vec();
        let mut writer = encoder.chunk_writer(self.options.compression);
        writer.begin(&mut self.output)?;
        Ok(Some((encoder, writer)))
    }

    fn table_definition(&mut self, def: &TableDef, create_sql: Option<&str>) -> Result<()> {
        self.use_database(&def.schema)?;
        let create = sql::create_table(def, create_sql, self.options.drop_tables);
        self.definition(&def.qualified_name(), create)
    }

    fn definition(&mut self, name: &str, create: String) -> Result<()> {
        if !self.options.format.is_sql() {
            return Ok(());
        }
        self.output.text(&sql::comment(&format!("Table {name}")))?;
        if self.options.definitions { self.output.text(&create) } else { Ok(()) }
    }
}

impl<W: Write> Target for Script<'_, W> {
    fn read(&mut self, source: Source<'_>, outcome: &mut TableOutcome) -> Result<()> {
        let Source { table, ahead, confirm } = source;
        let begin = self.begin(&table.def, table.create_sql.as_deref(), outcome)?;
        let Some((encoder, mut writer)) = begin else { return Ok(()) };
        let write = |batch: &Encoded, _, _| writer.write(batch, &mut self.output);
        match ahead {
            Some(ahead) => rows::replay(ahead, outcome, write)?,
            None => rows::read(table, encoder, self.options, None, outcome, write)?,
        }
        writer.finish(&mut self.output)?;
        confirm()
    }

    fn select(&mut self, table: &mut SelectedTable<'_>, outcome: &mut TableOutcome) -> Result<()> {
        let DumpOptions { format, compression, .. } = self.options;
        let rows = SelectedRows::new(format, &table.name, &table.columns, *compression, u64::MAX)?;
        self.use_database(&table.database)?;
        let drop = self.options.drop_table(&table.name);
        let create = table.create.trim_end().trim_end_matches(';');
        let name = format!("{}.{}", table.database, table.name);
        self.definition(&name, format!("{}{drop}{create};\n", sql::SET_UTF8))?;
        if !self.options.rows {
            return Ok(());
        }
        let mut writer = rows.chunk_writer();
        writer.begin(&mut self.output)?;
        rows::select(table, &rows, outcome, |batch| writer.write(batch, &mut self.output))?;
        writer.finish(&mut self.output)
    }

    fn write(&mut self, table: &mut dyn Rows, outcome: &mut TableOutcome) -> Result<()> {
        let begin = self.begin(table.def(), table.create_sql(), outcome)?;
        let Some((encoder, mut writer)) = begin else { return Ok(()) };
        table.give(encoder, self.options, outcome, &mut |batch, _| {
            writer.write(batch, &mut self.output)
        })?;
        writer.finish(&mut self.output)
    }

    fn define(&mut self, def: &TableDef, _: &mut TableOutcome) -> Result<()> {
        self.table_definition(def, None)
    }

    /// Adds a comment to a script if a table is not complete.
    fn end(&mut self, outcome: &TableOutcome) -> Result<()> {
        match &outcome.error {
            Some(error) if self.options.format.is_sql() => {
                self.output.text(&sql::comment(&format!("NOT COMPLETE: {error}")))
            }
            _ => Ok(()),
        }
    }
}

/// The output of a stream.
struct Stream<'w, W> {
    out: &'w mut W,
    compression: Compression,
}

impl<W: Write> Stream<'_, W> {
    fn text(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, plain: &[u8]) -> Result<()> {
        if plain.is_empty() {
            return Ok(());
        }
        let mut output = Vec::new();
        self.compression.append(plain, &mut output)?;
        self.out.write_all(&output).map_err(stream_error)
    }
}

impl<W: Write> ChunkOutput for Stream<'_, W> {
    fn append(&mut self, bytes: &[u8], _plain_bytes: u64) -> Result<()> {
        self.out.write_all(bytes).map_err(stream_error)
    }
}

fn stream_error(error: std::io::Error) -> Error {
    Error::write("writing the output", error)
}
