//! Comparison of files with the server's own list of tablespaces.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_catalog::Prepared;
use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::datadir::{DataDir, Trust};
use innoscan_catalog::dictionary;
use innoscan_catalog::undo::listed_tablespaces;
use innoscan_engine::keys::Keys;
use innoscan_engine::{Error, Result};
use innoscan_format::SpaceId;
use innoscan_format::schema::dictionary::DictionaryTable;
use innoscan_format::schema::tablespaces::{ListedSpace, TablespacesTable};

use super::Known;
use super::findings::Finding;
use super::walk::{Files, SpaceKind};

/// The list of tablespaces in the files of a stopped server: `mysql.tablespaces` in `mysql.ibd`
/// (MySQL 8 and later), or `SYS_TABLES` in `ibdata1` (MySQL to 5.7, MariaDB).
///
/// # Errors
/// There is no list, it cannot be read, or the server was not shut down cleanly.
pub fn listed_in(root: &Path, keys: &Keys) -> Result<Vec<ListedSpace>> {
    let datadir =
        DataDir::open(root, &DataFiles::default(), Trust::Verify(Prepared::default()), keys)?;
    let mysql_ibd = root.join("mysql.ibd");
    if mysql_ibd.is_file() {
        return listed_tablespaces(&mysql_ibd, None, keys, TablespacesTable::space);
    }
    let Some(system) = datadir.system_tablespace() else {
        return Err(Error::refused(
            "there is no ibdata1 in it, and so no list",
            "name the server's data directory first",
        )
        .in_file(root));
    };
    let dictionary = dictionary::read(system, datadir.undo_logs(), false, keys)?;
    // A general tablespace has several tables.
    let mut listed = BTreeMap::new();
    for name in dictionary.names() {
        if let Some(table) = dictionary.table(name).filter(|table| table.space != SpaceId::SYSTEM) {
            let DictionaryTable { space, is_discarded, .. } = table;
            listed.insert(space, ListedSpace { space, name: name.to_owned(), is_discarded });
        }
    }
    Ok(listed.into_values().collect())
}

/// Tablespaces without a file, and files without a tablespace. `known` are in the order of their
/// tablespaces; discarded ones, and those whose files, by name, are not written yet, are skipped.
pub(super) fn differences(
    files: &Files,
    known: &[Known],
    listed: &[ListedSpace],
    is_unwritten: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let mut listed: Vec<&ListedSpace> = listed.iter().collect();
    listed.sort_unstable();
    let has_file = |space: SpaceId| known.binary_search_by_key(&space, |known| known.space).is_ok();
    let is_listed =
        |space: SpaceId| listed.binary_search_by_key(&space, |listed| listed.space).is_ok();
    let without_file =
        listed.iter().filter(|listed| !listed.is_discarded && !has_file(listed.space));
    let missing = without_file
        .filter(|listed| !is_unwritten(&listed.name))
        .map(|listed| Finding::Missing { space: listed.space, name: listed.name.clone() });
    let of_tables =
        known.iter().filter(|known| files.kind(known.file as usize) == SpaceKind::Table);
    let stray = of_tables
        .filter(|known| !is_listed(known.space))
        .map(|known| Finding::Stray { space: known.space, path: files.path(known.file as usize) });
    missing.chain(stray).collect()
}
