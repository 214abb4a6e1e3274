//! Tables of killed servers: the server may have been creating, dropping or altering one, whose files then
//! do not agree.

use std::path::{Path, PathBuf};

use innoscan_engine::keys::Keys;
use innoscan_engine::space::Space;
use innoscan_engine::{Error, ErrorKind, Remedy, Result, TableFile};
use innoscan_format::schema::{TableDef, filename};
use innoscan_io::{Direct, directory_with};

use super::directory::ListedSpaces;
use super::known::Known;
use super::spaces::file_of_space;
use super::under_way::{Change, DDL_LOG};
use super::{Catalog, Directory, TableName, sorted_entries, stem};
use crate::ddl_log::RemovedFile;

/// Requires that InnoDB's dictionary has the table of each file of a killed server, in that very tablespace.
///
/// # Errors
/// It has not; the dictionary or a file cannot be read.
pub(super) fn require_agreement(
    directory: &Directory,
    def: &TableDef,
    files: &[TableFile],
) -> Result<()> {
    if !directory.datadir.is_crashed() {
        return Ok(());
    }
    let found = require_settled(directory, &def.schema, &def.name);
    found.map_err(|error| match files.first() {
        Some(file) => error.in_file(&file.path),
        None => error,
    })?;
    let (listed, dictionary) = match (&directory.listed, &directory.dictionary) {
        (Known::Unreadable(why), _) => return Err(Error::from(why.reason())),
        (Known::Read(listed), _) => (Some(listed), None),
        (Known::Nothing, Known::Unreadable(why)) => return Err(Error::from(why.reason())),
        (Known::Nothing, Known::Read(dictionary)) => (None, Some(dictionary)),
        (Known::Nothing, Known::Nothing) => return Ok(()),
    };
    let has_ddl_log = directory.datadir.root().join(DDL_LOG).exists();
    for file in files.iter().filter(|file| !file.is_system()) {
        let opened = file.open(Direct::Off)?;
        let space = opened.header().space;
        // MySQL renames and removes files after it has changed its dictionary.
        if listed.is_some_and(|listed| !listed.ids.contains(&space)) {
            let lack = format!("the dictionary has no tablespace {space}");
            return Err(under_way(&lack).in_file(&file.path));
        }
        let Some(dictionary) = dictionary else { continue };
        let name = directory.dictionary_name(&def.schema, &def.name, &stem(&file.path));
        if dictionary.table(&name).map(|table| table.space) != Some(space) {
            let lack = format!("InnoDB's dictionary has no table {name} in tablespace {space}");
            return Err(under_way(&lack).in_file(&file.path));
        }
        if !has_ddl_log {
            require_name(&opened, file)?;
        }
    }
    Ok(())
}

/// Requires that there is a table of this name after the server has ended its unfinished statements, or taken them
/// back.
///
/// # Errors
/// There is none, or what becomes of it is not known; the DDL log cannot be read.
pub(super) fn require_settled(directory: &Directory, schema: &str, table: &str) -> Result<()> {
    if let Known::Unreadable(why) = &directory.under_way {
        return Err(Error::from(why.reason()));
    }
    let under_way = directory.under_way.get().and_then(|found| found.of(schema, table));
    match under_way {
        Some(Change::Unknown(statement) | Change::Absent(statement)) => {
            Err(self::under_way(&format!("the DDL log has an unfinished {statement}")))
        }
        Some(Change::Renamed { .. }) | None => Ok(()),
    }
}

/// Requires that the file has the name that the redo log has for it. The log has a renaming before the directory has it;
/// MariaDB before 10.6 repeats it at its start, cannot take it back, and then finds no file for the table.
fn require_name(space: &Space, file: &TableFile) -> Result<()> {
    let id = space.header().space;
    let Some(name) = space.redo().and_then(|redo| redo.recovery().name_of(id)) else {
        return Ok(());
    };
    let path = std::fs::canonicalize(&file.path).unwrap_or_default();
    match is_same_table(name, &file.path) || is_same_table(name, &path) {
        true => Ok(()),
        false => {
            let renamed = format!("the redo log gives the file the name {}", name.display());
            Err(under_way(&renamed).in_file(&file.path))
        }
    }
}

/// Whether two paths have the same database and table; the log has the path at which a file was when it was written.
fn is_same_table(path: &Path, other: &Path) -> bool {
    let end = |path: &Path| {
        let database = path.parent().and_then(Path::file_name).map(ToOwned::to_owned);
        (database, path.file_name().map(ToOwned::to_owned))
    };
    end(path) == end(other)
}

/// The refusal of a table whose files, dictionary or DDL log do not agree.
pub(super) fn under_way(lack: &str) -> Error {
    let what =
        format!("{lack}: the server was killed while it created, dropped or altered the table");
    Error::refused(what, [Remedy::ShutDownServer, Remedy::LeaveOutTable])
}

/// Whether the rows of a table of a killed server are not in the file of its name, which the server had not renamed
/// yet: the dictionary has another tablespace for the table, or has that tablespace for another table.
///
/// # Errors
/// The file cannot be read.
pub(super) fn is_in_other_file(
    directory: &Directory,
    name: &TableName,
    file: &Path,
    keys: &Keys,
) -> Result<bool> {
    let of_name = directory.space_of(name, &stem(file));
    let listed = directory.listed.get();
    if of_name.is_none() && listed.is_none() {
        return Ok(false);
    }
    let space = Space::open(file, Direct::Off, keys).map(|opened| opened.header().space);
    match (space, of_name) {
        (Ok(space), Some(known)) => Ok(space != known),
        (Ok(space), None) => Ok(listed.is_some_and(|listed| listed.ids.contains(&space))),
        // TRUNCATE renames the file of the rows before it makes a new one, whose first page may never have been written.
        (Err(error), Some(known)) => match file_of_space(known, directory_with(file), keys)? {
            Some(_) => Ok(true),
            None => Err(error),
        },
        (Err(error), None) => Err(error),
    }
}

impl Catalog {
    /// Whether there are files, in the directory of a killed server, and none is of a table of its name. The server
    /// removes a file when it starts, since it is one of `removed` or the redo log drops its tablespace; or it gives the
    /// file the name that the dictionary has for that.
    ///
    /// # Errors
    /// A file or `removed` cannot be read.
    pub(crate) fn are_left_over(
        &self,
        files: &[&PathBuf],
        removed: impl FnOnce() -> Result<Vec<RemovedFile>>,
    ) -> Result<bool> {
        let root = self.datadir()?;
        let directory = self.judged(root)?;
        let Some(listed) = directory.listed.get().filter(|_| !files.is_empty()) else {
            return Ok(false);
        };
        let removed = removed()?;
        for file in files {
            if !self.is_left_over(file, root, listed, &removed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_left_over(
        &self,
        file: &Path,
        root: &Path,
        listed: &ListedSpaces,
        removed: &[RemovedFile],
    ) -> Result<bool> {
        let path_of = |removed: &RemovedFile| {
            root.join(removed.path.strip_prefix(".").unwrap_or(&removed.path))
        };
        // Its first page may never have been written.
        if removed.iter().any(|removed| path_of(removed) == file) {
            return Ok(true);
        }
        let space = match Space::open(file, Direct::Off, &self.keys) {
            Ok(space) => space.header().space,
            // The redo log drops its tablespace.
            Err(error) if error.kind() == ErrorKind::NotFound && self.keys.is_file(file) => {
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        let Some(name) = listed.name_of(space) else {
            return Ok(removed.iter().any(|removed| removed.space == space));
        };
        let Some((schema, _)) = name.split_once('/') else { return Ok(false) };
        let is_its_own =
            |path: &PathBuf| filename::decode_table(&stem(path)).tablespace(schema) == name;
        let entries = sorted_entries(&root.join(filename::encode(schema)), &self.keys)?;
        Ok(!entries.iter().any(is_its_own))
    }
}
