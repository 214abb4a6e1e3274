//! Listings of a stopped server's directory, of a table's file, or of a dump.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use innoscan_catalog::catalog::Catalog;
use innoscan_catalog::ledger::{Filter, FilterRule, ItemKind, Listed, State, Unlisted};
use innoscan_catalog::source::{EngineTable, Offline, data_bytes, read_heads};
use innoscan_engine::index_size::clustered_bytes;
use innoscan_engine::{Reason, Result, Table, TableFile, counted};
use innoscan_format::schema::{RowFormat, TableDef, filename};
use serde_json::{Value, json};

use crate::verify::{Manifest, ManifestState, ManifestTable};

/// The kind of source of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingKind {
    /// A stopped server's directory, or a physical backup.
    Directory,
    /// A table's file.
    File,
    /// A dump's directory.
    Dump,
}

impl ListingKind {
    /// The name of the kind in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ListingKind::Directory => "directory",
            ListingKind::File => "file",
            ListingKind::Dump => "dump",
        }
    }
}

/// An object, with the facts that are known without reading rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// The kind and names of the object; for a table also engine and partitions.
    pub listed: Listed,
    /// The row format of a table in the words of `information_schema.tables`: `Dynamic`.
    pub row_format: Option<String>,
    /// Bytes of a table's files: in a directory those of rows and keys, in a dump all.
    pub size_bytes: Option<u64>,
    /// The number of rows, if already counted.
    pub rows: Option<u64>,
    /// Whether the object is one of the server's own databases, whose contents are not listed.
    pub is_system: bool,
    /// The reason why the object cannot be read, or, in a dump, is missing or incomplete.
    pub error: Option<Reason>,
}

/// A listing of the objects of a source.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The kind of the source.
    pub kind: ListingKind,
    /// The objects, by database, kind and name.
    pub objects: Vec<ListedObject>,
    /// Kinds of objects that could not be listed, with the reasons.
    pub unlisted: Vec<Reason>,
}

impl Listing {
    /// Lists a source: the directory of a stopped server or of a dump, or a table's file. `catalog` makes the catalog
    /// of a data directory.
    ///
    /// # Errors
    /// The source as a whole cannot be read, or must not be because a server runs on it.
    pub fn of(
        source: &Path,
        filter: &Filter,
        catalog: impl Fn(Option<PathBuf>) -> Catalog,
    ) -> Result<Listing> {
        if Manifest::is_in(source) {
            return Listing::of_dump(&Manifest::read(source)?, filter);
        }
        if !source.is_dir() {
            return Ok(Listing::of_table(&catalog(None).table(&source.to_string_lossy())?));
        }
        Listing::of_directory(&catalog(Some(source.to_owned())), filter)
    }

    fn of_table(table: &Table) -> Listing {
        let mut object = ListedObject::new(Listed::of_table(&table.def));
        object.size_bytes = bytes_of(table);
        match row_format(table) {
            Ok(row_format) => object.row_format = row_format,
            Err(error) => object.error = Some(error.reason()),
        }
        Listing { kind: ListingKind::File, objects: vec![object], unlisted: Vec::new() }
    }

    fn of_directory(catalog: &Catalog, filter: &Filter) -> Result<Listing> {
        let offline = Offline::plan(catalog, filter)?;
        let mut row_formats: HashMap<(String, String), Result<Option<String>>> =
            offline.tables.iter().map(|table| (key(&table.def), row_format(table))).collect();
        let mut table_bytes: HashMap<(String, String), Option<u64>> =
            offline.tables.iter().map(|table| (key(&table.def), bytes_of(table))).collect();
        let counted = |table: &EngineTable| (key(&table.def), table.rows());
        let rows: BTreeMap<(String, String), u64> =
            offline.engine_tables.iter().map(counted).collect();
        let root = catalog.datadir()?;
        let mut sizes: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        let is_chosen = !filter.tables.databases.is_empty() || !filter.tables.tables.is_empty();
        let mut objects = Vec::new();
        for entry in offline.ledger.entries() {
            let item = &entry.listed.item;
            let mut object = ListedObject::new(entry.listed.clone());
            match &entry.state {
                State::LeftOut(FilterRule::System) if !is_chosen => object.is_system = true,
                State::LeftOut(_) => continue,
                State::NotDumped(reason) => object.error = Some(reason.clone()),
                State::Planned(_) | State::Dumped { .. } => {}
            }
            if item.kind == ItemKind::Table {
                let of_database = sizes.entry(item.database.clone()).or_insert_with(|| {
                    // A directory that cannot be listed fails each of its tables later.
                    data_bytes(&root.join(filename::encode(&item.database)), catalog.keys())
                        .unwrap_or_default()
                });
                let key = (item.database.clone(), item.name.clone());
                let of_files = of_database.get(&item.name).copied();
                object.size_bytes = table_bytes.remove(&key).flatten().or(of_files);
                object.rows = rows.get(&key).copied();
                match row_formats.remove(&key) {
                    Some(Ok(row_format)) => object.row_format = row_format,
                    Some(Err(error)) => object.error = Some(error.reason()),
                    None => {}
                }
            }
            objects.push(object);
        }
        let unlisted = offline.ledger.unlisted().iter().map(Unlisted::to_reason).collect();
        Ok(Listing { kind: ListingKind::Directory, objects, unlisted })
    }

    fn of_dump(manifest: &Manifest, filter: &Filter) -> Result<Listing> {
        let key = |table: &ManifestTable| (table.database.clone(), table.name.clone());
        let tables: BTreeMap<(String, String), &ManifestTable> =
            manifest.tables.iter().map(|table| (key(table), table)).collect();
        let mut objects = Vec::new();
        for entry in &manifest.ledger {
            let mut object = ListedObject::new(entry.listed.clone());
            match &entry.state {
                ManifestState::LeftOut(_) => continue,
                ManifestState::Dumped { damaged: 0 } => {}
                ManifestState::Dumped { damaged } => {
                    object.error = Some(
                        format!("damage was skipped in {}", counted(*damaged, "place")).into(),
                    );
                }
                ManifestState::NotDumped(reason) => object.error = Some(reason.as_str().into()),
            }
            if filter.excluded_by(&object.listed)?.is_some() {
                continue;
            }
            let item = &object.listed.item;
            let table = tables.get(&(item.database.clone(), item.name.clone()));
            if let Some(table) = table.filter(|_| item.kind == ItemKind::Table) {
                object.size_bytes = Some(table.files.iter().map(|file| file.file_bytes).sum());
                object.rows = table.error.is_none().then_some(table.rows);
            }
            objects.push(object);
        }
        let unlisted = |(kinds, reason): &(Vec<String>, String)| {
            format!("{}: {reason}", kinds.join(", ")).into()
        };
        let unlisted = manifest.unlisted.iter().map(unlisted).collect();
        Ok(Listing { kind: ListingKind::Dump, objects, unlisted })
    }

    /// The listing as a JSON object with `kind`, `objects` and `unlisted`.
    pub fn to_json(&self) -> Value {
        json!({
            "kind": self.kind.name(),
            "objects": self.objects.iter().map(ListedObject::to_json).collect::<Vec<Value>>(),
            "unlisted": self.unlisted.iter().map(Reason::to_string).collect::<Vec<String>>(),
        })
    }
}

impl ListedObject {
    fn new(listed: Listed) -> ListedObject {
        ListedObject {
            listed,
            row_format: None,
            size_bytes: None,
            rows: None,
            is_system: false,
            error: None,
        }
    }

    fn to_json(&self) -> Value {
        let Listed { item, engine, table, partitions } = &self.listed;
        json!({
            "kind": item.kind.name(),
            "database": (!item.database.is_empty()).then_some(&item.database),
            "name": item.name,
            "engine": engine,
            "table": table,
            "row_format": self.row_format,
            "bytes": self.size_bytes,
            "rows": self.rows,
            "partitions": partitions,
            "system": self.is_system,
            "error": self.error.as_ref().map(Reason::to_string),
        })
    }
}

fn key(def: &TableDef) -> (String, String) {
    (def.schema.clone(), def.name.clone())
}

/// The bytes of a table's files, and of its clustered index where other tables share a file; `None` if that cannot be
/// read.
fn bytes_of(table: &Table) -> Option<u64> {
    let of_file = |file: &TableFile| match file.is_shared() {
        true => clustered_bytes(file).ok(),
        false => Some(file.size_bytes()),
    };
    table.files.iter().map(of_file).sum()
}

/// The row format of an InnoDB table: according to the dictionary, else to the tablespace's flags,
/// and where these are ambiguous, to the clustered index's root.
///
/// # Errors
/// A file of the table cannot be read.
fn row_format(table: &Table) -> Result<Option<String>> {
    let (Some(file), Some(head)) = (table.files.first(), read_heads(table)?) else {
        return Ok(None);
    };
    if let Some(known) = table.def.physical.row_format {
        return Ok(Some(name_of(known).to_owned()));
    }
    let flags = head.flags;
    let asked = table.def.options.row_format.as_deref().and_then(by_name);
    if flags.shared || file.is_system() {
        // The flags of a tablespace that tables share say nothing of their formats.
        let known = match file.root_head()?.is_compact {
            true => asked,
            false => Some(RowFormat::Redundant),
        };
        return Ok(known.map(|known| name_of(known).to_owned()));
    }
    // With full_crc32 checksums the flags do not distinguish the prefixes of long columns of DYNAMIC and
    // COMPACT (`fil_space_t::full_crc32`); the ROW_FORMAT option of the definition does.
    let known = match (flags.row_format(true), flags.atomic_blobs) {
        (RowFormat::Compressed, _) => Some(RowFormat::Compressed),
        (format, Some(true)) => Some(format),
        (_, Some(false)) => None,
        (_, None) => asked,
    };
    let format = match known {
        Some(known) => known,
        None => flags.row_format(file.root_head()?.is_compact),
    };
    Ok(Some(name_of(format).to_owned()))
}

fn name_of(format: RowFormat) -> &'static str {
    match format {
        RowFormat::Redundant => "Redundant",
        RowFormat::Compact => "Compact",
        RowFormat::Dynamic => "Dynamic",
        RowFormat::Compressed => "Compressed",
    }
}

fn by_name(name: &str) -> Option<RowFormat> {
    let formats =
        [RowFormat::Redundant, RowFormat::Compact, RowFormat::Dynamic, RowFormat::Compressed];
    formats.into_iter().find(|format| name_of(*format).eq_ignore_ascii_case(name))
}
