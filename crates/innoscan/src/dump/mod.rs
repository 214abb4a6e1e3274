//! Whole tables as files in a directory, or as one stream.
//!
//! Tables are dumped one after the other, each with all threads. A table that cannot be read is
//! told of in its [`TableOutcome`] and does not stop the others; an output that cannot be written
//! does, since it is the others' too.

mod files;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use innoscan_format as format;
use innoscan_format::schema::{Family, TableDef};
use serde_json::{Value, json};

use self::files::{Chunks, Directory};
pub use self::files::{DumpedFile, stem};
use crate::scan::{ScanOptions, ScanOutcome, scan};
use crate::sink::csv::{Csv, CsvOptions};
use crate::sink::ndjson::Ndjson;
use crate::sink::sql::{self, Sql, SqlOptions};
use crate::sink::text::{Text, TextOptions};
use crate::sink::{Compression, Encoded, Encoder, Form, LeftOut};
use crate::{Error, Result, Table};

/// What rows are written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// `INSERT` statements.
    Sql(SqlOptions),
    /// As `SELECT * INTO OUTFILE` writes them.
    Text(TextOptions),
    /// CSV.
    Csv(CsvOptions),
    /// A JSON object a line.
    Ndjson {
        /// Write invisible columns too.
        include_invisible: bool,
    },
}

impl Format {
    /// The form of a table's rows.
    pub fn form(&self, def: &TableDef) -> format::Result<Form> {
        let stored = &stored_columns(def);
        Ok(match self {
            Format::Sql(options) => Form::Sql(Sql::new(def, stored, options)?),
            Format::Text(options) => Form::Text(Text::new(def, stored, options)?),
            Format::Csv(options) => Form::Csv(Csv::new(def, stored, options)?),
            Format::Ndjson { include_invisible } => {
                Form::Ndjson(Ndjson::new(def, stored, *include_invisible)?)
            }
        })
    }
}

/// The columns that rows hold, in the order a scan gives them.
fn stored_columns(def: &TableDef) -> Vec<usize> {
    let stored = |&index: &usize| def.columns.get(index).is_some_and(|column| column.is_stored());
    (0..def.columns.len()).filter(stored).collect()
}

/// What to dump, and how.
#[derive(Clone)]
pub struct DumpOptions {
    /// What rows are written as.
    pub format: Format,
    /// How the output is compressed. Definitions are not, but in a stream.
    pub compression: Compression,
    /// A new file begins once one has this many bytes before compression; at least 64 KiB.
    pub chunk_bytes: Option<u64>,
    /// Write definitions.
    pub definitions: bool,
    /// Write rows.
    pub rows: bool,
    /// `DROP TABLE IF EXISTS` before each `CREATE TABLE`.
    pub drop_tables: bool,
    /// Files are on the disk before they get their names.
    pub sync: bool,
    /// The output directory may hold files already; those of the same name are replaced.
    pub overwrite: bool,
    /// How tables are read.
    pub scan: ScanOptions,
}

impl DumpOptions {
    /// All there is of each table, uncompressed, in one file a table.
    pub fn new(format: Format) -> DumpOptions {
        DumpOptions {
            format,
            compression: Compression::None,
            chunk_bytes: None,
            definitions: true,
            rows: true,
            drop_tables: false,
            sync: true,
            overwrite: false,
            scan: ScanOptions::default(),
        }
    }
}

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
    /// Characters that had no meaning in their column's charset and became U+FFFD.
    pub unmapped_characters: u64,
    /// The files it is in.
    pub files: Vec<DumpedFile>,
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
    fn new(def: &TableDef) -> TableOutcome {
        TableOutcome {
            database: def.schema.clone(),
            table: def.name.clone(),
            rows: 0,
            plain_bytes: 0,
            unmapped_characters: 0,
            files: Vec::new(),
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

    fn count(&mut self, batch: &Encoded) {
        self.rows += batch.rows();
        self.plain_bytes += batch.plain_bytes();
        self.unmapped_characters += batch.unmapped_characters();
    }
}

/// What became of the tables.
#[derive(Debug, Default)]
pub struct Summary {
    /// Each table, in the order they were dumped.
    pub tables: Vec<TableOutcome>,
    /// From start to end.
    pub elapsed: Duration,
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

    /// What `innoscan.json` says.
    pub fn to_json(&self) -> Value {
        let tables: Vec<Value> = self.tables.iter().map(table_json).collect();
        json!({
            "dumper": concat!("innoscan ", env!("CARGO_PKG_VERSION")),
            "complete": self.failed().next().is_none(),
            "seconds": self.elapsed.as_secs_f64(),
            "tables": tables,
        })
    }
}

fn table_json(table: &TableOutcome) -> Value {
    let files: Vec<Value> = table
        .files
        .iter()
        .map(|file| {
            json!({
                "name": file.name,
                "rows": file.rows,
                "plain_bytes": file.plain_bytes,
                "bytes": file.file_bytes,
            })
        })
        .collect();
    let left_out: Vec<&str> = table.left_out.iter().map(|left| &*left.column).collect();
    json!({
        "database": table.database,
        "table": table.table,
        "rows": table.rows,
        "files": files,
        "columns_left_out": left_out,
        "damaged": table.scan.damaged,
        "seconds": table.elapsed.as_secs_f64(),
        "error": table.error.as_ref().map(|error| error.to_string()),
    })
}

/// Dumps tables into a directory, which is made if it is not there. `finished` is told of each
/// table. When the directory is complete `innoscan.json` is there.
///
/// # Errors
/// When the output cannot be written, or the user asked to stop.
pub fn to_directory<'t>(
    tables: impl IntoIterator<Item = &'t Table>,
    path: &Path,
    options: &DumpOptions,
    mut finished: impl FnMut(&TableOutcome),
) -> Result<Summary> {
    let started = Instant::now();
    let directory = Directory::prepare(path, options)?;
    let mut summary = Summary::default();
    let mut databases: Vec<&str> = Vec::new();
    for table in tables {
        let database = &*table.def.schema;
        if options.definitions && !database.is_empty() && !databases.contains(&database) {
            databases.push(database);
            let name = format!("{}-schema-create.sql", stem("", database));
            let create =
                format!("/*!50503 SET NAMES utf8mb4 */;\n{}", sql::create_database(database));
            directory.write(&name, create.as_bytes())?;
        }
        let begun = Instant::now();
        let mut outcome = TableOutcome::new(&table.def);
        let dumped = table_to_directory(table, &directory, options, &mut outcome);
        settle(dumped, begun, &mut outcome)?;
        finished(&outcome);
        summary.tables.push(outcome);
    }
    summary.elapsed = started.elapsed();
    directory.sync()?;
    directory.write("innoscan.json", format!("{:#}\n", summary.to_json()).as_bytes())?;
    directory.sync()?;
    Ok(summary)
}

/// Keeps an error with its table, unless it concerns all.
fn settle(dumped: Result<()>, begun: Instant, outcome: &mut TableOutcome) -> Result<()> {
    outcome.elapsed = begun.elapsed();
    match dumped {
        Err(error) if error.is_write() || error.is_interrupted() => Err(error),
        dumped => {
            outcome.error = dumped.err();
            Ok(())
        }
    }
}

fn table_to_directory(
    table: &Table,
    directory: &Directory,
    options: &DumpOptions,
    outcome: &mut TableOutcome,
) -> Result<()> {
    let stem = stem(&table.def.schema, &table.def.name);
    if options.definitions {
        let session = sql::SCHEMA_SESSION;
        let statements =
            sql::create_table(&table.def, table.create_sql.as_deref(), options.drop_tables);
        let name = format!("{stem}-schema.sql");
        outcome.files.push(directory.write(&name, format!("{session}{statements}").as_bytes())?);
    }
    if options.rows {
        let form = options.format.form(&table.def)?;
        outcome.left_out = form.left_out().to_vec();
        let head = form.head().to_vec();
        let mut chunks = Chunks::new(
            directory,
            stem,
            form.extension(),
            &head,
            options.compression,
            options.chunk_bytes,
        );
        let batch_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
        let encoder = Encoder::new(form, options.compression).with_batch_bytes(batch_bytes);
        outcome.scan = scan(table, &options.scan, &encoder, |batch| {
            outcome.count(&batch);
            chunks.write(&batch)?;
            encoder.recycle(batch);
            Ok(())
        })?;
        outcome.files.extend(chunks.finish()?);
    }
    Ok(())
}

/// Dumps tables into one stream. `finished` is told of each table.
///
/// SQL is a script: a session that is put back at its end, and every table with its definition.
/// Rows of several tables in another format are refused: nothing would tell them apart.
///
/// # Errors
/// When the output cannot be written, or the user asked to stop.
pub fn to_stream<'t>(
    tables: impl IntoIterator<Item = &'t Table>,
    out: &mut impl Write,
    options: &DumpOptions,
    mut finished: impl FnMut(&TableOutcome),
) -> Result<Summary> {
    let started = Instant::now();
    let is_script = matches!(options.format, Format::Sql(_));
    let mut stream = Stream { out, compression: options.compression };
    let mut summary = Summary::default();
    let mut tables = tables.into_iter().peekable();
    let first = tables.next();
    if !is_script && tables.peek().is_some() {
        return Err(Error::refused(
            "rows of several tables in one stream cannot be told apart in this format",
            "give an output directory, one table, or the format sql",
        ));
    }
    let many_databases = is_script && tables.peek().is_some();
    if is_script {
        stream.text(&script_head(first))?;
    }
    let mut database = "";
    for table in first.into_iter().chain(tables) {
        if many_databases && table.def.schema != database {
            database = &table.def.schema;
            stream.text(&sql::use_database(database))?;
        }
        let begun = Instant::now();
        let mut outcome = TableOutcome::new(&table.def);
        let dumped = table_to_stream(table, &mut stream, options, &mut outcome);
        settle(dumped, begun, &mut outcome)?;
        if let Some(error) = outcome.error.as_ref().filter(|_| is_script) {
            stream.text(&sql::comment(&format!("NOT COMPLETE: {error}")))?;
        }
        finished(&outcome);
        summary.tables.push(outcome);
    }
    if is_script {
        stream.text(sql::SCRIPT_TAIL)?;
    }
    stream.out.flush().map_err(stream_error)?;
    summary.elapsed = started.elapsed();
    Ok(summary)
}

fn script_head(table: Option<&Table>) -> String {
    let mut head = sql::comment(concat!("innoscan ", env!("CARGO_PKG_VERSION")));
    if let Some(Table { def, .. }) = table {
        let family = match def.server.family {
            Family::MySql => "MySQL",
            Family::MariaDb => "MariaDB",
        };
        let number = def.server.number;
        let (major, minor, patch) = (number / 10_000, number / 100 % 100, number % 100);
        head += &sql::comment(&format!("from files of {family} {major}.{minor}.{patch}"));
    }
    head + sql::SCRIPT_HEAD
}

fn table_to_stream(
    table: &Table,
    stream: &mut Stream<impl Write>,
    options: &DumpOptions,
    outcome: &mut TableOutcome,
) -> Result<()> {
    let is_script = matches!(options.format, Format::Sql(_));
    if is_script {
        stream.text(&sql::comment(&format!("Table {}", table.qualified_name())))?;
        stream.text(&match options.definitions {
            true => sql::create_table(&table.def, table.create_sql.as_deref(), options.drop_tables),
            false => String::new(),
        })?;
    }
    if !options.rows {
        return Ok(());
    }
    let form = options.format.form(&table.def)?;
    outcome.left_out = form.left_out().to_vec();
    stream.bytes(form.head())?;
    let encoder = Encoder::new(form, options.compression);
    outcome.scan = scan(table, &options.scan, &encoder, |batch| {
        outcome.count(&batch);
        stream.out.write_all(batch.output()).map_err(stream_error)?;
        encoder.recycle(batch);
        Ok(())
    })?;
    Ok(())
}

/// An output that is not a file of ours.
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

fn stream_error(error: std::io::Error) -> Error {
    Error::write("writing the output", error)
}
