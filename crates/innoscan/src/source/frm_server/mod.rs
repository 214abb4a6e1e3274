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
//! The statements are as the server's `SHOW CREATE` gives them wherever that is a statement that a
//! server reads back as it was.

mod database;
mod text;
mod triggers;
mod version;
mod views;

use std::path::{Path, PathBuf};

use innoscan_format::schema::filename;

use super::{FoundObject, FoundObjects};
use crate::dump::{Object, ObjectKind};
use crate::{Error, Result};

/// The databases that belong to the server itself.
const SYSTEM_DATABASES: [&str; 4] = ["mysql", "sys", "performance_schema", "information_schema"];

/// All that the files of a stopped server's directory hold of the databases that are wanted: the
/// databases themselves, sequences, views, triggers, routines, events; and of the whole server its
/// accounts and roles.
///
/// # Errors
/// When the directory or that of a database cannot be listed. What a single object lacks is told by
/// its own entry, and what a whole table of the server's lacks by [`FoundObjects::unread`].
pub fn objects_of_frm_server(
    root: &Path,
    is_wanted_database: impl Fn(&str) -> bool,
) -> Result<FoundObjects> {
    let server = version::version_of(root);
    let mut found = FoundObjects::default();
    for dir in databases(root)? {
        let name = database_name(&dir);
        if SYSTEM_DATABASES.contains(&&*name) || !is_wanted_database(&name) {
            continue;
        }
        found.objects.push(database::database(server, &dir));
        found.objects.extend(views::views(server, &dir)?);
        found.objects.extend(triggers::triggers(server, &dir)?);
    }
    Ok(found)
}

/// The directories below a server's that are databases, in the order of their names.
fn databases(root: &Path) -> Result<Vec<PathBuf>> {
    let mut dirs = Vec::new();
    for path in entries(root)? {
        let Some(file) = path.file_name().and_then(|file| file.to_str()) else { continue };
        // `#innodb_redo`, `.rocksdb`, `lost+found`, a client's dump: no encoded names.
        let is_encoded = !filename::decode(file).starts_with("#mysql50#");
        if path.is_dir() && (is_encoded || path.join("db.opt").is_file()) {
            dirs.push(path);
        }
    }
    dirs.sort();
    Ok(dirs)
}

/// The database of a directory, which names it as the server names files.
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
            // What ALTER TABLE and the like did not end.
            Some(stem) if is_wanted && !stem.starts_with("#sql") => files.push((stem, path)),
            _ => {}
        }
    }
    files.sort();
    Ok(files)
}

/// Bytes that a definition may have, at most: what a server writes into one statement is less.
const DEFINITION_BYTES_MAX: u64 = 1 << 30;

fn read(path: &Path) -> Result<Vec<u8>> {
    let reading = |error| Error::read("reading a definition", error).in_file(path);
    if std::fs::metadata(path).map_err(reading)?.len() > DEFINITION_BYTES_MAX {
        let why = "the file is longer than any definition that a server writes";
        return Err(Error::refused(why, "see what file it is").in_file(path));
    }
    std::fs::read(path).map_err(reading)
}

fn object(database: &str, kind: ObjectKind, name: &str, statements: Vec<String>) -> Object {
    Object {
        database: database.to_owned(),
        kind,
        name: name.to_owned(),
        columns: Vec::new(),
        statements,
        session: None,
    }
}
