//! Rows of the tables in `mysql.ibd`, including off-page columns. Their definitions are in the
//! file's own SDI, like those of any tablespace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use innoscan_engine::RowSink;
use innoscan_engine::ahead::ReadAheadPolicy;
use innoscan_engine::keys::Keys;
use innoscan_engine::scan::{ScanOptions, scan};
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::undo_logs::UndoLogs;
use innoscan_engine::{Error, Result, Table, TableFile};
use innoscan_format as format;
use innoscan_format::layout::Layout;
use innoscan_format::schema::{Family, SdiNames, ServerVersion, TableDef, from_sdi};
use innoscan_format::types::{Codec, ColumnType};
use innoscan_io::{Direct, EngineKind};

/// The most bytes of an off-page value: `definition` and similar columns are `LONGBLOB`.
const LOB_BYTES_MAX: u64 = 1 << 30;
/// Bytes of memory for pages while one of the tables is read.
const MEMORY_BYTES: u64 = 16 << 20;
/// Bytes of rows in a batch.
const BATCH_BYTES: usize = 1 << 20;

/// The file `mysql.ibd`, and the definitions of the tables in it.
#[derive(Debug)]
pub(crate) struct DictionaryFile {
    path: PathBuf,
    keys: Keys,
    undo_logs: Option<Arc<UndoLogs>>,
    /// The definitions by the names of the tables.
    defs: BTreeMap<String, format::Result<TableDef>>,
    server: ServerVersion,
}

/// The readable rows of a table, and the error that ended reading.
#[derive(Debug)]
pub(crate) struct ReadRows {
    /// The rows in the order of the primary key.
    pub rows: Vec<Row>,
    /// The error that ended reading.
    pub error: Option<Error>,
}

impl ReadRows {
    /// All rows, or the error.
    pub fn all(self) -> Result<Vec<Row>> {
        self.error.map_or(Ok(self.rows), Err)
    }
}

/// The requested columns of a table.
#[derive(Debug)]
struct Columns {
    table: String,
    names: Vec<&'static str>,
    /// The columns that this server's table has, each with the members of an `ENUM`, otherwise none.
    members: Vec<Option<Vec<Vec<u8>>>>,
}

/// A row: its columns as UTF-8, those of binary strings unchanged.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    columns: Arc<Columns>,
    cells: Vec<Option<Vec<u8>>>,
}

impl DictionaryFile {
    /// Opens the file and reads the definitions. `undo_logs`: those of the directory's unfinished transactions.
    pub fn open(
        path: &Path,
        undo_logs: Option<Arc<UndoLogs>>,
        keys: &Keys,
    ) -> Result<DictionaryFile> {
        let reader = SpaceReader::new(Space::open(path, Direct::Off, keys)?)?;
        let in_file = |error: format::Error| Error::from(error).in_file(path);
        reader.space().require_key()?;
        let documents = reader.space().read_sdi()?;
        let mut defs = BTreeMap::new();
        for document in documents.iter().filter(|document| document.is_table()) {
            let names = SdiNames::of(&[document]).map_err(in_file)?;
            if let Some(("mysql", name)) = names.only_table() {
                defs.insert(name.to_owned(), from_sdi(document.as_ref()));
            }
        }
        let servers = defs.values().flatten().map(|def: &TableDef| def.server.number);
        let newest = servers.max();
        let server = ServerVersion { family: Family::MySql, number: newest.unwrap_or(0) };
        let (path, keys) = (path.to_owned(), keys.clone());
        Ok(DictionaryFile { path, keys, undo_logs, defs, server })
    }

    /// The version of the server that created the newest table.
    pub fn server(&self) -> ServerVersion {
        self.server
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the dictionary has a table of this name.
    pub fn has_table(&self, table: &str) -> bool {
        self.defs.contains_key(table)
    }

    /// Reads the columns of these names, as far as the table has them, and keeps the rows for which
    /// `is_wanted` returns `true`.
    pub fn rows(
        &self,
        table: &str,
        names: &[&'static str],
        is_wanted: impl Fn(&Row) -> bool + Sync,
    ) -> ReadRows {
        let mut rows = Vec::new();
        let error = self.for_each_batch(table, names, is_wanted, &mut rows).err();
        ReadRows { rows, error: error.map(|error| error.in_file(&self.path)) }
    }

    fn for_each_batch(
        &self,
        table: &str,
        names: &[&'static str],
        is_wanted: impl Fn(&Row) -> bool + Sync,
        rows: &mut Vec<Row>,
    ) -> Result<()> {
        let def = self.defs.get(table).ok_or_else(|| {
            format::Error::schema(format!("mysql.ibd has no definition of mysql.{table}"))
        })?;
        let def = def.as_ref().map_err(format::Error::clone)?;
        let root = def.physical.clustered.map(|(_, root)| root);
        let root = root.ok_or_else(|| {
            format::Error::schema(format!("mysql.{table} has no root in its SDI"))
        })?;
        let mut reader = SpaceReader::new(Space::open(&self.path, Direct::Off, &self.keys)?)?;
        let layout = reader.clustered(def, root)?.layout;
        let sink = Sink::new(table, def, &layout, names, is_wanted)?;
        let file =
            TableFile::whole(self.path.clone()).with_root(Some(root)).with_keys(self.keys.clone());
        let undo_logs = self.undo_logs.clone();
        let table = Table { undo_logs, ..Table::new(def.clone(), vec![file]) };
        let options = ScanOptions::default().with(|scan| {
            scan.plan.policy = Some(ReadAheadPolicy::None);
            scan.plan.memory_bytes = MEMORY_BYTES;
            scan.plan.threads = 1;
            scan.io.direct = Direct::Off;
            scan.io.engine = EngineKind::Pread;
            scan.io.depth = 1;
            scan.rows.lob_bytes_max = LOB_BYTES_MAX;
        });
        scan(&table, &options, &sink, |batch| {
            rows.extend(batch.rows);
            Ok(())
        })?;
        Ok(())
    }
}

/// A requested column: its index in the rows that a sink receives, and the form of its bytes.
struct Source {
    place: usize,
    codec: Codec,
    is_binary: bool,
}

struct Sink<F> {
    columns: Arc<Columns>,
    sources: Vec<Option<Source>>,
    is_wanted: F,
}

impl<F: Fn(&Row) -> bool + Sync> Sink<F> {
    fn new(
        table: &str,
        def: &TableDef,
        layout: &Layout,
        names: &[&'static str],
        is_wanted: F,
    ) -> format::Result<Sink<F>> {
        let mut sources = Vec::with_capacity(names.len());
        for name in names {
            let found = def.columns.iter().enumerate();
            let found = found.into_iter().find(|(_, column)| column.name == *name);
            let Some((place, column)) = found else {
                sources.push(None);
                continue;
            };
            let place = layout.columns().position(|stored| stored == place).ok_or_else(|| {
                format::Error::schema(format!("no record of mysql.{table} holds `{name}`"))
            })?;
            let is_binary = matches!(column.ty, ColumnType::Blob { .. });
            let codec = Codec::new(&column.ty, def.server)?;
            sources.push(Some(Source { place, codec, is_binary }));
        }
        let members = |name: &&str| {
            let column = def.columns.iter().find(|column| column.name == **name)?;
            Some(match &column.ty {
                ColumnType::Enum { members, .. } => members.clone(),
                _ => Vec::new(),
            })
        };
        let columns = Columns {
            table: table.to_owned(),
            names: names.to_vec(),
            members: names.iter().map(members).collect(),
        };
        Ok(Sink { columns: Arc::new(columns), sources, is_wanted })
    }
}

#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    bytes: usize,
}

impl<F: Fn(&Row) -> bool + Sync> RowSink for Sink<F> {
    type Batch = Batch;

    fn new_batch(&self) -> Batch {
        Batch::default()
    }

    fn row(&self, stored: &[Option<&[u8]>], batch: &mut Batch) -> Result<()> {
        let mut cells = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            let bytes = source.as_ref().and_then(|source| {
                stored.get(source.place).copied().flatten().map(|bytes| (source, bytes))
            });
            let Some((source, bytes)) = bytes else {
                cells.push(None);
                continue;
            };
            let mut cell = Vec::new();
            if source.is_binary {
                cell.extend_from_slice(bytes);
            } else if source.codec.write_utf8(bytes, &mut cell)? > 0 {
                return Err(format::Error::corrupt(format!(
                    "a row of mysql.{} has text that is none in its charset",
                    self.columns.table
                ))
                .into());
            }
            cells.push(Some(cell));
        }
        let row = Row { columns: Arc::clone(&self.columns), cells };
        if (self.is_wanted)(&row) {
            batch.bytes += row.cells.iter().flatten().map(Vec::len).sum::<usize>();
            batch.rows.push(row);
        }
        Ok(())
    }

    fn is_full(&self, batch: &Batch) -> bool {
        batch.bytes >= BATCH_BYTES
    }
}

impl Row {
    fn wrong(&self, name: &str, what: &str) -> format::Error {
        format::Error::corrupt(format!("`{name}` of a row of mysql.{} {what}", self.columns.table))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.columns.names.iter().position(|known| *known == name)
    }

    /// Whether this server's table has the column.
    pub fn has(&self, name: &str) -> bool {
        self.members(name).is_some()
    }

    fn members(&self, name: &str) -> Option<&[Vec<u8>]> {
        self.columns.members.get(self.place(name)?)?.as_deref()
    }

    /// The number of an `ENUM`'s member, from 1; 0 for NULL.
    pub fn member(&self, name: &str) -> format::Result<usize> {
        let Some(text) = self.bytes(name) else { return Ok(0) };
        let members = self.members(name).unwrap_or_default();
        let place = members.iter().position(|member| member == text);
        place.map(|place| place + 1).ok_or_else(|| self.wrong(name, "is no member"))
    }

    /// The bytes of a column; `None` for NULL, and for a column that the table does not have.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.place(name).and_then(|place| self.cells.get(place)?.as_deref())
    }

    /// The text of a column; `None` for NULL, and for a column that the table does not have.
    pub fn text_if_any(&self, name: &str) -> format::Result<Option<&str>> {
        let Some(bytes) = self.bytes(name) else { return Ok(None) };
        std::str::from_utf8(bytes).map(Some).map_err(|_| self.wrong(name, "is not UTF-8"))
    }

    /// The text of a column, which must not be NULL.
    pub fn text(&self, name: &str) -> format::Result<&str> {
        self.text_if_any(name)?.ok_or_else(|| self.wrong(name, "is NULL"))
    }

    /// The number in a column; `None` for NULL, and for a column that the table does not have.
    pub fn number_if_any<T: std::str::FromStr>(&self, name: &str) -> format::Result<Option<T>> {
        let Some(text) = self.text_if_any(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.wrong(name, "is not a number of its range"))
    }

    /// The number in a column, which must not be NULL.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> format::Result<T> {
        self.number_if_any(name)?.ok_or_else(|| self.wrong(name, "is NULL"))
    }

    /// Whether an `ENUM('N','Y')` is `Y`.
    pub fn is_yes(&self, name: &str) -> format::Result<bool> {
        Ok(self.text_if_any(name)? == Some("Y"))
    }
}
