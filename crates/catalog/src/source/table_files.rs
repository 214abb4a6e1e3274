//! Tables of a server with `.frm` files, listed like the server would list them: by their definitions.
//! Data files without a definition are listed too, since their rows may be missed.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use innoscan_engine::keys::Keys;
use innoscan_engine::side_by_side::{side_by_side, usual_threads};
use innoscan_engine::{Error, Result};
use innoscan_format::schema::{TableDef, filename, from_frm, is_view};

use crate::catalog::{TableName, UnderWayTables, is_fulltext, sorted_entries, stem};

/// Extensions of files with tables' rows: InnoDB, MyISAM, Aria, CSV, ARCHIVE.
const DATA_FILES: [&str; 7] = ["ibd", "MYI", "MYD", "MAI", "MAD", "CSV", "ARZ"];

/// A table named by files in a directory.
#[derive(Debug)]
pub(super) struct TableFiles {
    pub name: TableName,
    pub definition: Definition,
    /// Whether all rows are in an `.ibd` file of the table's name.
    pub is_in_own_file: bool,
    /// Whether a `.cfg` is beside the file.
    pub may_be_exported: bool,
}

/// The source of a table's definition.
#[derive(Debug)]
pub(super) enum Definition {
    /// A `.frm`, which was read.
    Frm(Box<TableDef>, PathBuf),
    /// The `.ibd` file, if any.
    Ibd,
    /// None: there is no definition, or it cannot be read.
    Unread(Error),
}

impl TableFiles {
    /// The definition, if it was read.
    pub fn def(&self) -> Option<&TableDef> {
        match &self.definition {
            Definition::Frm(def, _) => Some(def),
            Definition::Ibd | Definition::Unread(_) => None,
        }
    }

    /// Whether the table is a sequence of MariaDB, which is stored as a table.
    pub fn is_sequence(&self) -> bool {
        let is_set = |(name, value): &(String, String)| name == "SEQUENCE" && value == "1";
        self.def().is_some_and(|def| def.options.others.iter().any(is_set))
    }
}

/// Whether a file has rows of this table, or of one of its partitions.
pub(super) fn is_data_file_of(path: &Path, table: &str) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    DATA_FILES.contains(&&*extension) && filename::decode_table(&stem(path)).table == table
}

/// The tables of a database's directory with these entries, without views. Definitions are read
/// in parallel.
///
/// # Errors
/// No thread can be started.
pub(super) fn tables_in(
    schema: &str,
    entries: &[PathBuf],
    under_way: &UnderWayTables,
) -> Result<Vec<TableFiles>> {
    let mut files: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    for path in entries {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let stem = stem(path);
        let is_of_table = extension == "frm" || DATA_FILES.contains(&&*extension);
        // Leftovers of an interrupted ALTER, and full-text auxiliary tables, are skipped.
        if is_of_table && !stem.starts_with("#sql") && !is_fulltext(&stem) {
            files.entry(filename::decode_table(&stem).table).or_default().push(path);
        }
    }
    files.retain(|table, _| !under_way.absent.contains_key(table));
    for table in under_way.there.keys() {
        files.entry(table.clone()).or_default();
    }
    let exported: HashSet<&OsStr> = entries
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "cfg"))
        .filter_map(|path| path.file_stem())
        .collect();
    let table = |(table, paths): &(String, Vec<&PathBuf>)| {
        let name = TableName { schema: schema.to_owned(), table: table.clone() };
        let new = under_way.there.get(table).and_then(Option::as_ref);
        let definition = definition(&name, paths, new)?;
        let own = filename::encode(table);
        let is_own =
            |path: &&PathBuf| path.file_name().is_some_and(|file| *file == *format!("{own}.ibd"));
        Some(TableFiles {
            name,
            definition,
            is_in_own_file: paths.iter().copied().any(|path| is_own(&path)),
            may_be_exported: exported.contains(OsStr::new(&own)),
        })
    };
    let files: Vec<(String, Vec<&PathBuf>)> = files.into_iter().collect();
    let mut tables = Vec::with_capacity(files.len());
    side_by_side(&files, usual_threads(), table, |_, table| {
        tables.extend(table);
        Ok(())
    })?;
    tables.sort_by(|one: &TableFiles, other| one.name.cmp(&other.name));
    Ok(tables)
}

/// Bytes of the files of each table's rows and keys in a database's directory, by the tables' names.
///
/// # Errors
/// The directory cannot be listed.
pub fn data_bytes(dir: &Path, keys: &Keys) -> Result<BTreeMap<String, u64>> {
    let mut bytes = BTreeMap::new();
    for path in sorted_entries(dir, keys)? {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let stem = stem(&path);
        if !DATA_FILES.contains(&&*extension) || stem.starts_with("#sql") || is_fulltext(&stem) {
            continue;
        }
        // A file that has just vanished has no bytes.
        let len = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let len: u64 = keys.files_of(&path).iter().map(len).sum();
        *bytes.entry(filename::decode_table(&stem).table).or_default() += len;
    }
    Ok(bytes)
}

/// The definition of a table; `None` for a view.
fn definition(name: &TableName, paths: &[&PathBuf], new: Option<&PathBuf>) -> Option<Definition> {
    let with = |wanted: &str| {
        let is_it = |path: &&&PathBuf| path.extension().is_some_and(|found| found == wanted);
        paths.iter().find(is_it).copied()
    };
    let Some(frm) = new.or_else(|| with("frm")) else {
        return Some(match with("ibd") {
            Some(_) => Definition::Ibd,
            None => Definition::Unread(without_definition(paths)),
        });
    };
    match read_frm(frm, name) {
        Ok(None) => None,
        Ok(Some(def)) => Some(Definition::Frm(Box::new(def), frm.clone())),
        Err(error) => Some(Definition::Unread(error)),
    }
}

fn without_definition(paths: &[&PathBuf]) -> Error {
    let error = Error::refused(
        "it has no definition: there is no .frm beside it, and its server does not know it",
        "put the table's .frm beside it",
    );
    match paths.first() {
        Some(path) => error.in_file(path),
        None => error,
    }
}

/// Reads a `.frm`; `None` for a view.
fn read_frm(frm: &Path, name: &TableName) -> Result<Option<TableDef>> {
    let bytes =
        std::fs::read(frm).map_err(|error| Error::read("reading it", error).in_file(frm))?;
    if is_view(&bytes) {
        return Ok(None);
    }
    let def = from_frm(&bytes, &name.schema, &name.table);
    def.map(Some).map_err(|error| Error::from(error).in_file(frm))
}
