//! Tablespaces by their numbers and tables: for tables of the system tablespace and of general tablespaces, which have no
//! file of their own, and for those whose file has another name than they.
//!
//! In MySQL 8 and later the tablespaces themselves list their tables with the roots of their indexes (SDI); before,
//! and in MariaDB, InnoDB's dictionary has tablespace and root, and the definition is in a `.frm`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use innoscan_engine::keys::Keys;
use innoscan_engine::space::Space;
use innoscan_engine::system_tablespace::SystemTablespace;
use innoscan_engine::{Error, Result, TableFile};
use innoscan_format::SpaceId;
use innoscan_format::read::SdiObject;
use innoscan_format::schema::{SdiNames, TableDef, from_sdi};
use innoscan_io::Direct;

use super::{FileKind, TableName, sorted_entries};

/// The system tablespace, the tablespaces in a data directory itself, and those in other directories.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    files: Vec<(SpaceId, TableFile)>,
    /// The definitions that they have, each with the path of its file.
    definitions: HashMap<TableName, Vec<(PathBuf, SdiObject)>>,
    /// Files that may be tablespaces, and cannot be read.
    unread: Vec<Error>,
}

impl Spaces {
    /// Finds them: the system tablespace, those in the data directory itself, not in its databases, and those among
    /// the files `elsewhere`.
    pub fn find<'f>(
        root: &Path,
        system: Option<&Arc<SystemTablespace>>,
        elsewhere: impl Iterator<Item = &'f PathBuf>,
        keys: &Keys,
    ) -> Result<Spaces> {
        let mut paths = sorted_entries(root, keys)?;
        paths.extend(elsewhere.cloned());
        paths.retain(|path| {
            path.extension().is_some_and(|extension| extension == "ibd") && keys.is_file(path)
        });
        let system = system.map(|system| TableFile::system(Arc::clone(system)));
        let mut found = Spaces::default();
        for file in system.into_iter().chain(paths.into_iter().map(TableFile::whole)) {
            if let Err(error) = found.add(file.with_keys(keys.clone())) {
                found.unread.push(error);
            }
        }
        Ok(found)
    }

    /// Adds a tablespace, unless it cannot be read.
    fn add(&mut self, file: TableFile) -> Result<()> {
        let space = file.open(Direct::Off)?;
        let header = space.header();
        space.require_key()?;
        if header.sdi_root.is_some() {
            space.require_all_files()?;
        }
        let in_file = |error: innoscan_format::Error| Error::from(error).in_file(&file.path);
        let mut named = Vec::new();
        for document in space.read_sdi()?.into_iter().filter(SdiObject::is_table) {
            let names = SdiNames::of(&[&document]).map_err(in_file)?;
            if let Some((schema, table)) = names.only_table() {
                let name = TableName { schema: schema.to_owned(), table: table.to_owned() };
                named.push((name, document));
            }
        }
        for (name, document) in named {
            self.definitions.entry(name).or_default().push((file.path.clone(), document));
        }
        self.files.push((header.space, file));
        Ok(())
    }

    /// The definition of a table in one of them.
    ///
    /// # Errors
    /// The definition cannot be read, or two tablespaces have different ones: one of them is not this server's, or no
    /// longer. (Those of a table's partitions have the same one.)
    pub fn definition(&self, name: &TableName) -> Result<Option<TableDef>> {
        let Some([(path, document), others @ ..]) = self.definitions.get(name).map(Vec::as_slice)
        else {
            return Ok(None);
        };
        let differs = |found: &&(PathBuf, SdiObject)| found.1.as_ref() != document.as_ref();
        if let Some((other, _)) = others.iter().find(differs) {
            let what = format!("two tablespaces have different definitions of `{name}`");
            return Err(contradicting(&what, [path, other]));
        }
        let def = from_sdi(document.as_ref());
        def.map(Some).map_err(|error| Error::from(error).in_file(path))
    }

    /// The file of a tablespace.
    ///
    /// # Errors
    /// Two files have this tablespace: one of them is a copy, which may be old.
    pub fn file_of(&self, space: SpaceId) -> Result<Option<&TableFile>> {
        let mut found = self.files.iter().filter(|(found, _)| *found == space);
        let first = found.next().map(|(_, file)| file);
        match (first, found.next()) {
            (Some(first), Some((_, second))) => {
                let what = format!("two files are tablespace {space}");
                Err(contradicting(&what, [&first.path, &second.path]))
            }
            _ => Ok(first),
        }
    }

    /// The first error of a file that may be such a tablespace.
    pub fn error(&self) -> Option<&Error> {
        self.unread.first()
    }
}

/// The file of a tablespace in the directory of a database, by its first page.
///
/// # Errors
/// The directory cannot be read.
pub(super) fn file_of_space(space: SpaceId, dir: &Path, keys: &Keys) -> Result<Option<TableFile>> {
    for path in sorted_entries(dir, keys)? {
        if FileKind::of(&path).is_none() {
            continue;
        }
        let opened = Space::open(&path, Direct::Off, keys);
        if opened.is_ok_and(|found| found.header().space == space) {
            return Ok(Some(TableFile::whole(path).with_keys(keys.clone())));
        }
    }
    Ok(None)
}

/// The error of two files that contradict each other.
pub(super) fn contradicting(what: &str, [first, second]: [&Path; 2]) -> Error {
    Error::refused(
        format!("{what}: {} and {}", first.display(), second.display()),
        "leave out the one that is not this server's: name only the directories of its option innodb_directories, \
         or move the copy away",
    )
}
