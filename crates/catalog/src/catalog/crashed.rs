//! Tables of killed servers: the server may have been creating, dropping or altering one, whose files then
//! do not agree.

use innoscan_engine::{Error, Remedy, Result, TableFile};
use innoscan_format::schema::TableDef;
use innoscan_io::Direct;

use super::known::Known;
use super::{Directory, dictionary_name, stem};

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
        if listed.is_some_and(|listed| !listed.contains(&space)) {
            return Err(under_way(&format!("the dictionary has no tablespace {space}"), file));
        }
        let Some(dictionary) = dictionary else { continue };
        let name = dictionary_name(&def.schema, &stem(&file.path));
        if dictionary.table(&name).map(|table| table.space) != Some(space) {
            let lack = format!("InnoDB's dictionary has no table {name} in tablespace {space}");
            return Err(under_way(&lack, file));
        }
    }
    Ok(())
}

/// The refusal of a table whose file and dictionary do not agree.
fn under_way(lack: &str, file: &TableFile) -> Error {
    let what =
        format!("{lack}: the server was killed while it created, dropped or altered the table");
    let remedies = [Remedy::ShutDownServer, Remedy::LeaveOutTable];
    Error::refused(what, remedies).in_file(&file.path)
}
