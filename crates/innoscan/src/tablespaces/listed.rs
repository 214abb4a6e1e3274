//! Files held against the list of tablespaces that a server has.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_format::SpaceId;

use super::Known;
use super::findings::Finding;
use super::walk::{Files, SpaceKind};
use crate::datadir::{DataDir, Trust};
use crate::{Error, Result, dictionary};

/// A tablespace of tables that a server knows of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its number.
    pub space: SpaceId,
    /// Its name, or that of one of its tables: `db/table`.
    pub name: String,
}

impl Listed {
    /// The list in the system tablespace of a server that is shut down (`SYS_TABLES`: MySQL to 5.7,
    /// MariaDB).
    ///
    /// # Errors
    /// When there is none, it cannot be read, or the server was not shut down cleanly.
    pub fn of_directory(root: &Path) -> Result<Vec<Listed>> {
        if root.join("mysql.ibd").is_file() {
            return Err(Error::refused(
                "the list of MySQL 8 and later is in mysql.ibd, which is not read for it",
                "start the server, and have it asked (--server-list=server)",
            )
            .in_file(root));
        }
        let datadir = DataDir::open(root, Trust::Verify)?;
        let Some(system) = datadir.system_tablespace() else {
            return Err(Error::refused(
                "there is no ibdata1 in it, and so no list",
                "name the server's data directory first",
            )
            .in_file(root));
        };
        let dictionary = dictionary::read(&system)?;
        let tables = dictionary.names().filter_map(|name| Some((name, dictionary.table(name)?)));
        let own = tables.filter(|(_, table)| table.space != SpaceId(0));
        // A general tablespace has several tables.
        let spaces: BTreeMap<SpaceId, &str> =
            own.map(|(name, table)| (table.space, name)).collect();
        let listed = |(space, name): (SpaceId, &str)| Listed { space, name: name.to_owned() };
        Ok(spaces.into_iter().map(listed).collect())
    }
}

/// Tablespaces without a file, and files without one. `known` are in the order of their tablespaces;
/// of those whose files by their names are not written yet nothing is said.
pub(super) fn differences(
    files: &Files,
    known: &[Known],
    listed: &[Listed],
    is_unwritten: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let mut listed: Vec<&Listed> = listed.iter().collect();
    listed.sort_unstable();
    let has_file = |space: SpaceId| known.binary_search_by_key(&space, |known| known.space).is_ok();
    let is_listed =
        |space: SpaceId| listed.binary_search_by_key(&space, |listed| listed.space).is_ok();
    let without_file = listed.iter().filter(|listed| !has_file(listed.space));
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
