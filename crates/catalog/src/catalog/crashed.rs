//! Tables of killed servers: the server may have been creating, dropping or altering one, whose files then
//! do not agree.

use std::path::Path;

use innoscan_engine::keys::Keys;
use innoscan_engine::space::Space;
use innoscan_engine::{Error, Remedy, Result, TableFile};
use innoscan_format::schema::TableDef;
use innoscan_io::Direct;

use super::known::Known;
use super::under_way::Change;
use super::{Directory, TableName, stem};

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
    for file in files.iter().filter(|file| !file.is_system()) {
        let space = file.open(Direct::Off)?.header().space;
        // MySQL renames and removes files after it has changed its dictionary.
        if listed.is_some_and(|listed| !listed.values().any(|listed| *listed == space)) {
            let lack = format!("the dictionary has no tablespace {space}");
            return Err(under_way(&lack).in_file(&file.path));
        }
        let Some(dictionary) = dictionary else { continue };
        let name = directory.dictionary_name(&def.schema, &def.name, &stem(&file.path));
        if dictionary.table(&name).map(|table| table.space) != Some(space) {
            let lack = format!("InnoDB's dictionary has no table {name} in tablespace {space}");
            return Err(under_way(&lack).in_file(&file.path));
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

/// The refusal of a table whose files, dictionary or DDL log do not agree.
pub(super) fn under_way(lack: &str) -> Error {
    let what =
        format!("{lack}: the server was killed while it created, dropped or altered the table");
    Error::refused(what, [Remedy::ShutDownServer, Remedy::LeaveOutTable])
}

/// Whether the rows of a table of a killed server are not in the file of its name: the dictionary has another
/// tablespace for it, whose file the server had not renamed yet.
///
/// # Errors
/// The file cannot be read.
pub(super) fn is_in_other_file(
    directory: &Directory,
    name: &TableName,
    file: &Path,
    keys: &Keys,
) -> Result<bool> {
    let Some(known) = directory.space_of(name, &stem(file)) else { return Ok(false) };
    Ok(Space::open(file, Direct::Off, keys)?.header().space != known)
}
