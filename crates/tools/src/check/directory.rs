//! The tablespaces of a directory that `check` reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use innoscan_catalog::TableSelection;
use innoscan_catalog::catalog::{Catalog, SYSTEM_DATABASES, sorted_entries, stem};
use innoscan_catalog::datadir::DataDir;
use innoscan_catalog::ledger::{Filter, ItemKind, ObjectKinds, State};
use innoscan_catalog::source::Offline;
use innoscan_engine::{Reason, Result};
use innoscan_format::schema::filename;

/// The tablespaces of a directory.
#[derive(Debug, Default)]
pub struct Tablespaces {
    /// The data directory: the directory itself, or the one that contains it.
    pub root: Option<PathBuf>,
    /// The `.ibd` files: of tables and their full-text indexes, and general tablespaces.
    pub files: Vec<PathBuf>,
    /// InnoDB tables without an `.ibd` file, as `db.table`, with the reason.
    pub without_file: Vec<(String, Reason)>,
}

/// Finds the tablespaces of a data directory, of the directory of one of its databases, or of any
/// other directory with `.ibd` files. The system tablespace and undo tablespaces are left out.
///
/// The directory cannot be listed, or must not be read: a server runs on it, or was not shut down
/// cleanly.
pub fn tablespaces_in(
    directory: &Path,
    catalog: impl FnOnce(PathBuf) -> Catalog,
) -> Result<Tablespaces> {
    if DataDir::is_one(directory) {
        return of_root(directory, None, &catalog(directory.to_owned()));
    }
    let parent = std::fs::canonicalize(directory).ok();
    let parent = parent.as_deref().and_then(Path::parent);
    let parent = parent.filter(|parent| DataDir::is_one(parent));
    if let (Some(root), Some(name)) = (parent, canonical_name(directory)) {
        return of_root(root, Some(&name), &catalog(root.to_owned()));
    }
    let mut files = ibd_files(directory)?;
    for path in sorted_entries(directory)?.into_iter().filter(|path| path.is_dir()) {
        files.extend(ibd_files(&path)?);
    }
    Ok(Tablespaces { files, ..Tablespaces::default() })
}

/// The last component of a directory's path.
fn canonical_name(directory: &Path) -> Option<String> {
    let path = std::fs::canonicalize(directory).ok()?;
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// The tablespaces of a data directory, or of the directory of one database in it.
fn of_root(root: &Path, only: Option<&str>, catalog: &Catalog) -> Result<Tablespaces> {
    catalog.require_readable()?;
    let mut found = Tablespaces { root: Some(root.to_owned()), ..Tablespaces::default() };
    let mut tables = BTreeSet::new();
    if only.is_none() {
        found.files.extend(ibd_files(root)?);
    }
    for path in sorted_entries(root)?.into_iter().filter(|path| path.is_dir()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let files = ibd_files(&path)?;
        let database = filename::decode(&name);
        let of_file = |file: &PathBuf| filename::decode_table(&stem(file)).table;
        tables.extend(files.iter().map(|file| (database.clone(), of_file(file))));
        found.files.extend(files);
    }
    add_planned(catalog, only, &tables, &mut found)?;
    Ok(found)
}

/// Adds what the server's definitions or dictionary list: files outside of the directory, and tables whose files are not
/// found or not checked.
fn add_planned(
    catalog: &Catalog,
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
    let offline = Offline::plan(catalog, &Filter { tables: selection, kinds, ..Filter::all() })?;
    for entry in offline.ledger.entries() {
        let (item, State::NotDumped(reason)) = (&entry.listed.item, &entry.state) else { continue };
        let engine = entry.listed.engine.as_deref();
        let is_of_innodb = item.kind == ItemKind::Table && engine.is_none_or(|it| it == "InnoDB");
        if is_of_innodb && !tables.contains(&(item.database.clone(), item.name.clone())) {
            let name = format!("{}.{}", item.database, item.name);
            found.without_file.push((name, reason.clone()));
        }
    }
    for table in &offline.tables {
        for file in &table.files {
            if file.is_system() {
                let reason = Reason::from("it is in the system tablespace, which is not checked");
                found.without_file.push((table.qualified_name(), reason));
                break;
            }
            if !found.files.contains(&file.path) {
                found.files.push(file.path.clone());
            }
        }
    }
    Ok(())
}

fn ibd_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = sorted_entries(directory)?;
    files.retain(|path| path.extension().is_some_and(|found| found == "ibd") && path.is_file());
    Ok(files)
}
