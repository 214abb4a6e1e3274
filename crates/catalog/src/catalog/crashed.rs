//! Tables of killed servers: the server may have been creating, dropping or altering one, whose files then
//! do not agree.

use std::collections::HashSet;

use innoscan_engine::{Error, Remedy, Result, TableFile};
use innoscan_format::SpaceId;
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
    match &directory.listed {
        Known::Read(listed) => return require_listed(listed, files),
        Known::Unreadable(why) => return Err(Error::from(why.reason())),
        Known::Nothing => {}
    }
    let dictionary = match &directory.dictionary {
        Known::Read(dictionary) => dictionary,
        Known::Unreadable(why) => return Err(Error::from(why.reason())),
        Known::Nothing => return Ok(()),
    };
    for file in files.iter().filter(|file| !file.is_system()) {
        let name = dictionary_name(&def.schema, &stem(&file.path));
        let space = file.open(Direct::Off)?.header().space;
        if dictionary.table(&name).map(|table| table.space) != Some(space) {
            let what = format!(
                "InnoDB's dictionary has no table {name} in tablespace {space}: the server was killed while it \
                 created, dropped or altered the table"
            );
            let remedies = [Remedy::ShutDownServer, Remedy::LeaveOutTable];
            return Err(Error::refused(what, remedies).in_file(&file.path));
        }
    }
    Ok(())
}

/// Requires that the files are of tablespaces that the dictionary lists. The server renames and removes files after
/// it has changed its dictionary.
fn require_listed(listed: &HashSet<SpaceId>, files: &[TableFile]) -> Result<()> {
    for file in files.iter().filter(|file| !file.is_system()) {
        let space = file.open(Direct::Off)?.header().space;
        if !listed.contains(&space) {
            let what = format!(
                "the dictionary has no tablespace {space}: the server was killed while it created, dropped or altered \
                 the table"
            );
            let remedies = [Remedy::ShutDownServer, Remedy::LeaveOutTable];
            return Err(Error::refused(what, remedies).in_file(&file.path));
        }
    }
    Ok(())
}
