//! The objects of a server with `.frm` files (MariaDB, MySQL up to 5.7), from the files of its
//! stopped directory.
//!
//! ```text
//! database   its directory, db.opt               routine    mysql.proc
//! view       .frm that is text                   event      mysql.event
//! trigger    .TRG, .TRN                          account    mysql.global_priv or mysql.user
//! sequence   .frm of a table, one row            grants     mysql.db, tables_priv, ...
//! ```
//!
//! The statements equal those of the server's `SHOW CREATE` wherever a server reads these back without
//! a change.

mod accounts;
mod database;
mod events;
mod routines;
mod rows;
mod sequences;
mod text;
mod triggers;
mod utc;
mod version;
mod views;

use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};
use innoscan_format::schema::{ServerVersion, filename, is_sequence, is_view};

use self::rows::SystemRows;
use super::{FoundObject, FoundObjects, Item, ItemKind, UnreadList};
use crate::catalog::SYSTEM_DATABASES;
use crate::object::{Object, ObjectKind, ObjectSession};

/// The objects in the files of a stopped server's directory: of the selected databases
/// the databases themselves, sequences, views, triggers, routines, events; and of the whole server its
/// accounts and roles.
///
/// # Errors
/// The directory cannot be listed. Errors of a single object are in its own entry, those of listing
/// the directory of a database in the database's, and those of a whole table of the server's
/// in [`FoundObjects::unread`].
pub fn objects_of_frm_server(
    root: &Path,
    is_wanted_database: impl Fn(&str) -> bool,
) -> Result<FoundObjects> {
    objects_beside(root, is_wanted_database, &|_| false)
}

/// Finds objects like [`objects_of_frm_server`], but skips `.frm` files that are known to be of tables.
pub(super) fn objects_beside(
    root: &Path,
    is_wanted_database: impl Fn(&str) -> bool,
    is_of_table: &dyn Fn(&Path) -> bool,
) -> Result<FoundObjects> {
    let server = version::version_of(root);
    let mysql = root.join("mysql");
    let mut found = FoundObjects::default();
    let mut list = |name: &str, kinds: &[ItemKind]| {
        SystemRows::read(&mysql.join(name)).unwrap_or_else(|error| {
            found.unread.push(UnreadList { kinds: kinds.to_vec(), error });
            SystemRows::default()
        })
    };
    use ItemKind::{Event, Function, Package, PackageBody, Procedure};
    let proc = list("proc.frm", &[Function, Procedure, Package, PackageBody]);
    let event = list("event.frm", &[Event]);
    let (mut routines, mut events) = (proc.grouped(["db"]), event.grouped(["db"]));
    for dir in databases(root)? {
        let name = database_name(&dir);
        let rows = [&mut routines, &mut events];
        let [routines, events] =
            rows.map(|rows| rows.remove(std::slice::from_ref(&name)).unwrap_or_default());
        if SYSTEM_DATABASES.contains(&&*name) || !is_wanted_database(&name) {
            continue;
        }
        found.objects.extend(of_directory(server, &dir, is_of_table).unwrap_or_else(|error| {
            let item = Item::new(&name, ItemKind::Database, &name);
            vec![FoundObject { item, statements: Err(error) }]
        }));
        found.objects.extend(routines::routines(server, &routines, &name));
        found.objects.extend(events::events(server, &events, &name));
    }
    let lost = routines.iter().flat_map(|([name], rows)| routines::routines(server, rows, name));
    let lost =
        lost.chain(events.iter().flat_map(|([name], rows)| events::events(server, rows, name)));
    let is_wanted = |lost: &FoundObject| {
        let database = &*lost.item.database;
        !SYSTEM_DATABASES.contains(&database) && is_wanted_database(database)
    };
    found.objects.extend(lost.filter(is_wanted).map(without_database));
    match accounts::accounts(server, &mysql) {
        Ok(accounts) => found.objects.extend(accounts),
        Err(unread) => found.unread.push(unread),
    }
    Ok(found)
}

/// A database, and the objects with files in its directory.
fn of_directory(
    server: ServerVersion,
    dir: &Path,
    is_of_table: &dyn Fn(&Path) -> bool,
) -> Result<Vec<FoundObject>> {
    let mut found = vec![database::database(server, dir)];
    let definitions = definitions(dir, is_of_table)?;
    found.extend(sequences::sequences(server, dir, &definitions));
    found.extend(views::views(server, dir, definitions));
    found.extend(triggers::triggers(server, dir)?);
    Ok(found)
}

/// An object of one statement, or the error that prevented building it.
fn found(item: Item, kind: ObjectKind, made: Result<(String, ObjectSession)>) -> FoundObject {
    let statements = made.map(|(create, session)| {
        vec![Object::new(&item.database, kind, &item.name, vec![create]).made_in(session)]
    });
    FoundObject { item, statements }
}

/// A `.frm` file of a view or a sequence, or an unreadable one.
struct DefinitionFile {
    /// The file's name, without `.frm`.
    stem: String,
    path: PathBuf,
    bytes: Result<Vec<u8>>,
}

/// The `.frm` files of a directory that may be of views and sequences, in the order of their names.
fn definitions(dir: &Path, is_of_table: &dyn Fn(&Path) -> bool) -> Result<Vec<DefinitionFile>> {
    let mut definitions = Vec::new();
    for (stem, path) in files_with(dir, "frm")? {
        if is_of_table(&path) {
            continue;
        }
        let bytes = read(&path);
        if !bytes.as_ref().is_ok_and(|bytes| !is_view(bytes) && !is_sequence(bytes)) {
            definitions.push(DefinitionFile { stem, path, bytes });
        }
    }
    Ok(definitions)
}

/// Marks a routine or an event whose database has no directory: the server does not show it.
fn without_database(found: FoundObject) -> FoundObject {
    let why = format!("there is no database {} that it could be of", found.item.database);
    let remedy = "see whether the database's directory was lost, or delete its row";
    FoundObject { statements: Err(Error::refused(why, remedy)), ..found }
}

/// The directories of databases in a server's directory, in the order of their names.
fn databases(root: &Path) -> Result<Vec<PathBuf>> {
    let mut dirs = Vec::new();
    for path in entries(root)? {
        let Some(file) = path.file_name().and_then(|file| file.to_str()) else { continue };
        // `#innodb_redo`, `.rocksdb`, `lost+found`, a client's dump are no encoded names.
        let is_encoded = !filename::decode(file).starts_with("#mysql50#");
        if path.is_dir() && (is_encoded || path.join("db.opt").is_file()) {
            dirs.push(path);
        }
    }
    dirs.sort_by_key(|dir| database_name(dir));
    Ok(dirs)
}

/// The database of a directory, whose name is encoded like the server's file names.
fn database_name(dir: &Path) -> String {
    let file = dir.file_name().map(|file| file.to_string_lossy().into_owned());
    filename::decode(&file.unwrap_or_default())
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let listing = |error| Error::read("listing the directory", error).in_file(dir);
    let entries = std::fs::read_dir(dir).map_err(listing)?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(listing)).collect()
}

/// The files of a directory with an extension: their names without it, and their paths.
fn files_with(dir: &Path, extension: &str) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for path in entries(dir)? {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let is_wanted = path.extension().is_some_and(|is| is == extension);
        match stem {
            // Leftovers of an interrupted ALTER TABLE and the like.
            Some(stem) if is_wanted && !stem.starts_with("#sql") => files.push((stem, path)),
            _ => {}
        }
    }
    files.sort();
    Ok(files)
}

/// The most bytes of a definition: more than a server writes into one statement.
const DEFINITION_BYTES_MAX: u64 = 1 << 30;

fn read(path: &Path) -> Result<Vec<u8>> {
    let reading = |error| Error::read("reading a definition", error).in_file(path);
    if std::fs::metadata(path).map_err(reading)?.len() > DEFINITION_BYTES_MAX {
        let why = "the file is longer than any definition that a server writes";
        return Err(Error::refused(why, "see what file it is").in_file(path));
    }
    std::fs::read(path).map_err(reading)
}
