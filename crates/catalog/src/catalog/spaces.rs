//! Tablespaces by their numbers and tables: for tables of the system tablespace and of general tablespaces, which have no
//! file of their own, and for those whose file has another name than they.
//!
//! In MySQL 8 and later the tablespaces themselves list their tables with the roots of their indexes (SDI); before,
//! and in MariaDB, InnoDB's dictionary has tablespace and root, and the definition is in a `.frm`.

use std::path::{Path, PathBuf};

use innoscan_engine::keys::Keys;
use innoscan_engine::space::Space;
use innoscan_engine::{Error, Result};
use innoscan_format::SpaceId;
use innoscan_format::read::SdiObject;
use innoscan_format::schema::{SdiNames, TableDef, from_sdi};
use innoscan_io::Direct;

use super::{TableName, sorted_entries};

/// The system tablespace's first file.
const SYSTEM: &str = "ibdata1";

/// The tablespaces in a data directory itself, and those in other directories.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    spaces: Vec<FoundSpace>,
    /// Files that may be tablespaces, and cannot be read.
    unread: Vec<Error>,
}

#[derive(Debug)]
struct FoundSpace {
    path: PathBuf,
    space: SpaceId,
    /// The definitions of its tables, with their names, where it has them.
    tables: Vec<(TableName, SdiObject)>,
}

impl Spaces {
    /// Finds them in the data directory itself, not those of its databases, and among the files `elsewhere`.
    pub fn find(root: &Path, elsewhere: &[PathBuf], keys: &Keys) -> Result<Spaces> {
        let mut paths = sorted_entries(root)?;
        paths.extend_from_slice(elsewhere);
        paths.retain(|path| {
            let is_ibd = path.extension().is_some_and(|extension| extension == "ibd");
            let is_dictionary = path.file_name().is_some_and(|name| name == "mysql.ibd");
            (is_ibd && !is_dictionary || path.ends_with(SYSTEM)) && path.is_file()
        });
        paths.sort();
        paths.dedup();
        let mut found = Spaces::default();
        for path in paths {
            match FoundSpace::open(&path, keys) {
                Ok(space) => found.spaces.push(space),
                Err(error) => found.unread.push(error),
            }
        }
        Ok(found)
    }

    /// The definition of a table in one of them.
    ///
    /// # Errors
    /// The definition cannot be read.
    pub fn definition(&self, name: &TableName) -> Result<Option<TableDef>> {
        for space in &self.spaces {
            if let Some((_, document)) = space.tables.iter().find(|(listed, _)| listed == name) {
                let def = from_sdi(document.as_ref());
                return def.map(Some).map_err(|error| Error::from(error).in_file(&space.path));
            }
        }
        Ok(None)
    }

    /// The file of a tablespace.
    pub fn file_of(&self, space: SpaceId) -> Option<&Path> {
        let found = self.spaces.iter().find(|found| found.space == space);
        found.map(|found| &*found.path)
    }

    /// The first error of a file that may be such a tablespace.
    pub fn error(&self) -> Option<&Error> {
        self.unread.first()
    }
}

impl FoundSpace {
    fn open(path: &Path, keys: &Keys) -> Result<FoundSpace> {
        let space = Space::open(path, Direct::Off, keys)?;
        let header = space.header();
        let mut tables = Vec::new();
        space.require_key()?;
        if header.sdi_root.is_some() {
            space.require_one_file()?;
        }
        let in_file = |error: innoscan_format::Error| Error::from(error).in_file(path);
        for document in space.read_sdi()?.into_iter().filter(SdiObject::is_table) {
            let names = SdiNames::of(&[&document]).map_err(in_file)?;
            if let Some((schema, table)) = names.only_table() {
                let name = TableName { schema: schema.to_owned(), table: table.to_owned() };
                tables.push((name, document));
            }
        }
        Ok(FoundSpace { path: path.to_owned(), space: header.space, tables })
    }
}
