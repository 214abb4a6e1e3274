//! The tablespaces of a directory that `check` reads, with the tables in them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use innoscan_catalog::TableSelection;
use innoscan_catalog::catalog::{Catalog, SYSTEM_DATABASES, sorted_entries, stem};
use innoscan_catalog::datadir::DataDir;
use innoscan_catalog::ledger::{Filter, ItemKind, ObjectKinds, State};
use innoscan_catalog::source::Offline;
use innoscan_catalog::undo::undo_tablespaces;
use innoscan_engine::keys::Keys;
use innoscan_engine::space::Space;
use innoscan_engine::{Reason, Result, Table, TableFile};
use innoscan_format::schema::filename;
use innoscan_io::{Direct, directory_with};

/// A tablespace.
#[derive(Clone, Debug)]
pub struct Tablespace {
    /// The file, or all files of the system tablespace.
    pub file: TableFile,
    /// The tables in it that are known; a partitioned table may be in several tablespaces.
    pub tables: Vec<Arc<Table>>,
}

/// The tablespaces of a directory.
#[derive(Debug, Default)]
pub struct Tablespaces {
    /// The catalog of the data directory: of the directory itself, or of the one that contains it.
    pub catalog: Catalog,
    /// The tablespaces: the system tablespace, undo and general ones, those of tables and full-text indexes.
    pub found: Vec<Tablespace>,
    /// Notes on the directory as a whole.
    pub notes: Vec<String>,
    /// InnoDB tables whose files were not found, as `db.table`, with the reason.
    pub without_file: Vec<(String, Reason)>,
    /// The index in `found` of each file.
    places: HashMap<PathBuf, usize>,
}

impl Tablespaces {
    fn add(&mut self, file: TableFile) -> &mut Tablespace {
        let place = *self.places.entry(file.path.clone()).or_insert_with(|| {
            self.found.push(Tablespace { file, tables: Vec::new() });
            self.found.len() - 1
        });
        &mut self.found[place]
    }

    fn add_all(&mut self, paths: Vec<PathBuf>) {
        for path in paths {
            self.add(TableFile::whole(path).with_keys(self.catalog.keys().clone()));
        }
    }
}

/// Finds the tablespaces of a data directory, of the directory of one of its databases, or of any
/// other directory with `.ibd` files.
///
/// The directory cannot be listed, or must not be read: a server runs on it, or was not shut down
/// cleanly.
pub fn tablespaces_in(
    directory: &Path,
    catalog: impl FnOnce(Option<PathBuf>) -> Catalog,
) -> Result<Tablespaces> {
    if DataDir::is_one(directory) {
        return of_root(None, catalog(Some(directory.to_owned())));
    }
    let parent = std::fs::canonicalize(directory).ok();
    let parent = parent.as_deref().and_then(Path::parent);
    let parent = parent.filter(|parent| DataDir::is_one(parent));
    if let (Some(root), Some(name)) = (parent, canonical_name(directory)) {
        return of_root(Some(&name), catalog(Some(root.to_owned())));
    }
    let mut found = Tablespaces { catalog: catalog(None), ..Tablespaces::default() };
    let keys = found.catalog.keys().clone();
    found.add_all(ibd_files(directory, &keys)?);
    for path in sorted_entries(directory, &keys)?.into_iter().filter(|path| path.is_dir()) {
        found.add_all(ibd_files(&path, &keys)?);
    }
    Ok(found)
}

/// Finds the tablespace of a file that several tables share: a general tablespace, or a file of the system tablespace.
/// `None`: the file is another one, or its data directory is not known.
///
/// # Errors
/// The data directory cannot be listed, or must not be read.
pub fn shared_tablespace(
    path: &Path,
    catalog: impl FnOnce(PathBuf) -> Catalog,
) -> Result<Option<Tablespace>> {
    let parent = directory_with(path);
    let root = match DataDir::is_one(parent) {
        true => Some(parent.to_owned()),
        false => DataDir::root_of(path),
    };
    let Some(root) = root else { return Ok(None) };
    let catalog = catalog(root.clone());
    let wanted = std::fs::canonicalize(path).ok();
    let is_it = |path: &PathBuf| std::fs::canonicalize(path).ok() == wanted;
    let is_shared = match path.extension().is_some_and(|extension| extension == "ibd") {
        true => Space::open(path, Direct::Off, catalog.keys())
            .is_ok_and(|space| space.header().flags.shared),
        false => catalog.system_tablespace()?.is_some_and(|it| it.files().iter().any(is_it)),
    };
    if !is_shared {
        return Ok(None);
    }
    let all = of_root(None, catalog)?;
    Ok(all.found.into_iter().find(|space| space.file.paths().iter().any(is_it)))
}

/// The last component of a directory's path.
fn canonical_name(directory: &Path) -> Option<String> {
    let path = std::fs::canonicalize(directory).ok()?;
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// The tablespaces of a data directory, or of the directory of one database in it.
fn of_root(only: Option<&str>, catalog: Catalog) -> Result<Tablespaces> {
    catalog.require_readable()?;
    let root = catalog.datadir()?.to_owned();
    let root = &*root;
    let keys = catalog.keys().clone();
    let notes = catalog.directory_notes()?;
    let mut found = Tablespaces { catalog, notes, ..Tablespaces::default() };
    let mut tables = BTreeSet::new();
    if only.is_none() {
        if let Some(system) = found.catalog.system_tablespace()? {
            found.add(TableFile::system(system).with_keys(keys.clone()));
        }
        let files = found.catalog.files_of(root)?;
        let mut undo = undo_tablespaces(root, &files, &keys)?;
        undo.sort();
        found.add_all(undo);
        found.add_all(ibd_files(root, &keys)?);
    }
    for path in sorted_entries(root, &keys)?.into_iter().filter(|path| path.is_dir()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let files = ibd_files(&path, &keys)?;
        let database = filename::decode(&name);
        let of_file = |file: &PathBuf| filename::decode_table(&stem(file)).table;
        tables.extend(files.iter().map(|file| (database.clone(), of_file(file))));
        found.add_all(files);
    }
    add_planned(only, &tables, &mut found)?;
    Ok(found)
}

/// Adds what the server's definitions or dictionary list: tables, files outside of the directory, and tables whose
/// files are not found.
fn add_planned(
    only: Option<&str>,
    tables: &BTreeSet<(String, String)>,
    found: &mut Tablespaces,
) -> Result<()> {
    let databases: Vec<String> = only.map(filename::decode).into_iter().collect();
    // The server's own databases are not in the plan.
    if databases.iter().any(|database| SYSTEM_DATABASES.contains(&&**database)) {
        return Ok(());
    }
    let kinds =
        ObjectKinds { views: false, triggers: false, routines: false, events: false, users: false };
    let selection = TableSelection { databases, ..TableSelection::default() };
    let offline =
        Offline::plan(&found.catalog, &Filter { tables: selection, kinds, ..Filter::all() })?;
    for entry in offline.ledger.entries() {
        let (item, State::NotDumped(reason)) = (&entry.listed.item, &entry.state) else { continue };
        let engine = entry.listed.engine.as_deref();
        let is_of_innodb = item.kind == ItemKind::Table && engine.is_none_or(|it| it == "InnoDB");
        if is_of_innodb && !tables.contains(&(item.database.clone(), item.name.clone())) {
            let name = format!("{}.{}", item.database, item.name);
            found.without_file.push((name, reason.clone()));
        }
    }
    for table in offline.tables.into_iter().map(Arc::new) {
        for file in &table.files {
            let space = found.add(file.clone());
            // Partitions can share a tablespace.
            if space.tables.last().is_none_or(|last| !Arc::ptr_eq(last, &table)) {
                space.tables.push(Arc::clone(&table));
            }
        }
    }
    Ok(())
}

fn ibd_files(directory: &Path, keys: &Keys) -> Result<Vec<PathBuf>> {
    let mut files = sorted_entries(directory, keys)?;
    let is_ibd = |path: &PathBuf| path.extension().is_some_and(|found| found == "ibd");
    files.retain(|path| is_ibd(path) && keys.is_file(path));
    Ok(files)
}
