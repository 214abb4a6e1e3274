//! The catalog: it finds a table's definition and files by the name or path that the user gives.
//!
//! A source is an `.ibd` or `.frm` file, or `db.table` in a data directory. The definition comes
//! from the file's SDI (MySQL 8+), the `.frm` beside it (MySQL 5.x, MariaDB; its foreign keys from
//! the system tablespace), or the user's own `CREATE TABLE`.

mod already_read;
mod crashed;
mod definition;
mod directory;
mod elsewhere;
mod file_kind;
mod given;
mod known;
mod not_found;
mod notes;
mod partitions;
mod spaces;
mod under_way;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use innoscan_engine::keys::Keys;
use innoscan_engine::recovery::IndexMemory;
use innoscan_engine::{
    Error, ErrorKind, Notes, Remedy, Result, Table, TableFile, given_definition,
};
use innoscan_format::schema::{Partitioning, TableDef, filename};
use innoscan_io::directory_with;

pub(crate) use self::already_read::AlreadyRead;
use self::directory::Directory;
use self::elsewhere::FilesElsewhere;
pub(crate) use self::file_kind::is_fulltext;
pub use self::file_kind::{FileKind, database_of, directory_of};
use self::given::Given;
use self::notes::notes;
use self::partitions::{no_partition, partition_files, partition_paths};
use self::spaces::Spaces;
pub(crate) use self::under_way::UnderWayTables;
use crate::auto_increment;
use crate::backup::Backup;
use crate::data_files::DataFiles;
use crate::datadir::{DataDir, Trust};
use crate::exported::Export;
use crate::option_file::OptionFiles;
use crate::prepared::Prepared;

/// The server's own databases, which hold no user data.
pub const SYSTEM_DATABASES: [&str; 4] =
    ["mysql", "sys", "performance_schema", "information_schema"];

/// A catalog: the place where tables are looked up, and how far their files are trusted.
#[derive(Debug, Default)]
pub struct Catalog {
    datadir: Option<PathBuf>,
    definition: Option<Given>,
    force: bool,
    prepared: Prepared,
    keys: Keys,
    /// Where files outside of the data directory are, as far as the user says.
    files: DataFiles,
    /// The option files that may say the rest.
    option_files: Option<OptionFiles>,
    /// Where files are, by their data directories.
    files_of: RefCell<HashMap<PathBuf, Rc<DataFiles>>>,
    files_elsewhere: OnceCell<FilesElsewhere>,
    spaces: RefCell<HashMap<PathBuf, Rc<Spaces>>>,
    dirs: RefCell<HashMap<PathBuf, Directory>>,
    places: RefCell<HashMap<PathBuf, Place>>,
}

/// The directory of a database within a data directory.
#[derive(Clone, Debug)]
struct Place {
    /// The data directory that contains it, if one does.
    root: Option<PathBuf>,
    /// The name of the database.
    schema: String,
}

/// The name of a table in SQL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// The name of the database.
    pub schema: String,
    /// The name of the table.
    pub table: String,
}

impl std::fmt::Display for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.schema, self.table)
    }
}

impl Catalog {
    /// A catalog of paths, and of names in `datadir`.
    pub fn new(datadir: Option<PathBuf>) -> Catalog {
        Catalog { datadir, ..Catalog::default() }
    }

    /// Allows directories of running servers, and those that were not shut down cleanly.
    #[must_use]
    pub fn with_force(mut self, force: bool) -> Catalog {
        self.force = force;
        self
    }

    /// Sets the choice for prepared transactions whose state the binary log does not tell.
    #[must_use]
    pub fn with_prepared(self, prepared: Prepared) -> Catalog {
        Catalog { prepared, ..self }
    }

    /// Sets the keys of encrypted tablespaces.
    #[must_use]
    pub fn with_keys(mut self, keys: Keys) -> Catalog {
        self.keys = keys;
        self
    }

    /// Sets the memory for the index of a redo log.
    #[must_use]
    pub fn with_index_memory(self, memory: IndexMemory) -> Catalog {
        Catalog { keys: self.keys.clone().with_index_memory(memory), ..self }
    }

    /// The keys of encrypted tablespaces.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The table of a path or name.
    pub fn table(&self, source: &str) -> Result<Table> {
        let path = Path::new(source);
        if path.is_dir() {
            return Err(Error::usage(
                format!("{source} is a directory"),
                ["name an .ibd file in it".into(), Remedy::NameInDirectory, Remedy::DumpDirectory],
            ));
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_known = matches!(extension, Some("ibd" | "frm"));
        if !is_known && path.is_file() && (self.datadir.is_none() || path.is_absolute()) {
            return Err(Error::usage(
                format!("{source} is a file, but by its name neither an .ibd nor a .frm"),
                ["name the .ibd file of a table".into(), Remedy::NameInDirectory],
            ));
        }
        match extension {
            Some("ibd") if self.keys.is_file(path) || self.datadir.is_none() => {
                self.table_of_file(path)
            }
            Some("frm") if path.is_file() => self.table_of_frm(path),
            _ if path.is_absolute() || path.starts_with(".") || path.starts_with("..") => {
                self.table_of_file(path)
            }
            _ if self.datadir.is_none() => {
                Err(no_directory(&format!("there is no file {source}, and ")))
            }
            _ => self.table_of_name(source),
        }
    }

    /// The definition of a path or name; a `.frm` needs no tablespace beside it.
    pub fn definition(&self, source: &str) -> Result<(TableDef, Notes)> {
        let path = Path::new(source);
        let is_frm = path.extension().is_some_and(|extension| extension == "frm");
        if is_frm && path.is_file() && !self.keys.is_file(&path.with_extension("ibd")) {
            return self.definition_of_frm(path).map(|def| (def, Notes::default()));
        }
        self.table(source).map(|table| (table.def, table.notes))
    }

    /// A table of the data directory, by name.
    pub fn named(&self, name: &TableName) -> Result<Table> {
        self.read_backup()?;
        let root = self.datadir()?;
        let dir = root.join(filename::encode(&name.schema));
        if !dir.is_dir() {
            return Err(Error::not_found(
                format!("there is no database `{}` in {}", name.schema, root.display()),
                "list the directory to see which exist",
            ));
        }
        let plain = dir.join(format!("{}.ibd", filename::encode(&name.table)));
        if self.is_in_file(name, &plain)? {
            return self.table_of_file(&plain);
        }
        if let Some(partition) = partition_files(&dir, &name.table, &self.keys)?.first() {
            return self.partitioned(partition, None, AlreadyRead::nothing());
        }
        match self.elsewhere(name, &dir)? {
            Some(table) => Ok(table),
            None => Err(self.no_such_table(name, &dir)),
        }
    }

    /// The table of [`Catalog::named`]; facts that were already read are not read again.
    pub(crate) fn named_by(&self, name: &TableName, already_read: AlreadyRead) -> Result<Table> {
        let plain = self.plain_file(name)?;
        if already_read.head.is_none() || !self.is_in_file(name, &plain)? {
            return self.named(name);
        }
        self.partitioned(&plain, Some(&plain), already_read)
    }

    /// Whether a table of the data directory is in the file of its name.
    ///
    /// # Errors
    /// A killed server was defining the table, and what becomes of it is not known.
    fn is_in_file(&self, name: &TableName, plain: &Path) -> Result<bool> {
        let root = self.datadir()?;
        if !DataDir::is_one(root) {
            return Ok(self.keys.is_file(plain));
        }
        // What cannot be read is refused where the table is opened.
        let Ok(directory) = self.judged(root) else { return Ok(self.keys.is_file(plain)) };
        crashed::require_settled(&directory, &name.schema, &name.table)?;
        Ok(self.keys.is_file(plain)
            && !crashed::is_in_other_file(&directory, name, plain, &self.keys)?)
    }

    /// The file of a table of the data directory; an error if the table has several files or none.
    pub(crate) fn plain_file(&self, name: &TableName) -> Result<PathBuf> {
        let dir = self.datadir()?.join(filename::encode(&name.schema));
        Ok(dir.join(format!("{}.ibd", filename::encode(&name.table))))
    }

    /// Checks the data directory as a whole.
    ///
    /// # Errors
    /// The directory's server is running, or was not shut down cleanly; or its dictionary is encrypted, and the key
    /// is not known.
    pub fn require_readable(&self) -> Result<()> {
        self.read_backup()?;
        let root = self.datadir()?;
        if !DataDir::is_one(root) {
            return Ok(());
        }
        let directory = self.judged(root)?;
        let counters = directory.counters.key_error();
        match directory.dictionary.key_error().or(counters).filter(|_| !self.force) {
            Some(error) => Err(Error::from(error.reason())),
            None => Ok(()),
        }
    }

    /// The data directory, or the newest of the incremental backups on it.
    fn root(&self) -> Option<&Path> {
        self.datadir.as_deref().map(|base| self.files.newest(base))
    }

    /// The data directory; of a backup with incremental backups the newest of those.
    ///
    /// # Errors
    /// The catalog has none.
    pub fn datadir(&self) -> Result<&Path> {
        self.root().ok_or_else(|| no_directory(""))
    }

    /// The table of `db.table`, where either name may contain dots.
    fn table_of_name(&self, source: &str) -> Result<Table> {
        let root = self.datadir()?;
        let splits = source.match_indices('.').map(|(at, _)| (&source[..at], &source[at + 1..]));
        let names: Vec<TableName> = splits
            .map(|(schema, table)| TableName { schema: schema.into(), table: table.into() })
            .collect();
        let known = names.iter().find(|name| root.join(filename::encode(&name.schema)).is_dir());
        match known.or(names.first()) {
            Some(name) => self.named(name),
            None => Err(Error::usage(
                format!("`{source}` is neither an .ibd file nor db.table"),
                ["name an .ibd file".into(), Remedy::NameInDirectory],
            )),
        }
    }

    /// The table of an `.ibd` file: all of it, or only the one partition in the file.
    fn table_of_file(&self, path: &Path) -> Result<Table> {
        if let (false, Err(error)) = (self.keys.is_file(path), std::fs::metadata(path)) {
            return Err(Error::read("cannot open it", error).in_file(path));
        }
        self.partitioned(path, Some(path), AlreadyRead::nothing())
    }

    /// The table to which the file `path` belongs; `only` limits the table to one file.
    fn partitioned(
        &self,
        path: &Path,
        only: Option<&Path>,
        already_read: AlreadyRead,
    ) -> Result<Table> {
        let directory = self.directory_of(path, already_read.may_be_exported)?;
        let (def, head) = self.definition_of_file(path, directory.as_ref(), already_read)?;
        let file = |found: PathBuf| {
            let head = head.filter(|_| found == path);
            let keys = match head {
                Some(head) if head.flags.encrypted => self.keys.with_transferred(&found),
                _ => self.keys.clone(),
            };
            table_file(found, &def).with_head(head).with_keys(keys)
        };
        let files = match (&def.partitioning, only) {
            (Some(partitioning), None) => {
                let mut files = Vec::new();
                for (name, found) in self.paths_of_partitions(path, &def, partitioning)? {
                    files.push(match found {
                        Some(found) => file(found),
                        None => self
                            .partition_by_space(&def, &name, directory.as_ref())?
                            .ok_or_else(|| no_partition(&name, &def, path))?,
                    });
                }
                files
            }
            _ => vec![file(path.to_owned())],
        };
        self.finished(def, files, directory.as_ref(), only.is_some())
    }

    /// The paths of all partitions, beside one of them, in the data directory or in the user's directories.
    fn paths_of_partitions(
        &self,
        any: &Path,
        def: &TableDef,
        partitioning: &Partitioning,
    ) -> Result<Vec<(String, Option<PathBuf>)>> {
        let name = TableName { schema: self.place_of(any).schema, table: def.name.clone() };
        Ok(partition_paths(self.partitions_of(&name, any)?, partitioning))
    }

    /// The files of the partitions of a table: beside one of them, in the data directory, in the user's directories.
    fn partitions_of(&self, name: &TableName, any: &Path) -> Result<Vec<PathBuf>> {
        let mut files = self.remote_files(name)?;
        let beside = directory_with(any);
        files.extend(partition_files(beside, &name.table, &self.keys)?);
        let root = self.place_of(any).root;
        let home = root.map(|root| root.join(filename::encode(&name.schema)));
        if let Some(home) = home.filter(|home| home != beside) {
            files.extend(partition_files(&home, &name.table, &self.keys).unwrap_or_default());
        }
        Ok(files)
    }

    /// A table with its files, its notes and the next value of its counter.
    fn finished(
        &self,
        def: TableDef,
        files: Vec<TableFile>,
        directory: Option<&Directory>,
        is_one_file: bool,
    ) -> Result<Table> {
        let newest_lsn = directory.and_then(|found| found.datadir.newest_lsn());
        let notes = notes(directory, &def, is_one_file);
        if let Some(directory) = directory {
            crashed::require_agreement(directory, &def, &files)?;
        }
        let is_definition_given = self.definition.is_some();
        let undo_logs = directory.and_then(|found| found.datadir.undo_logs().cloned());
        let table = Table::new(def, files);
        let mut table = Table { is_definition_given, newest_lsn, undo_logs, notes, ..table };
        given_definition::check(&table)?;
        let counters = directory.and_then(|found| found.counters.get());
        table.def.options.auto_increment = auto_increment::next(&table, counters)?;
        Ok(table)
    }

    fn table_of_frm(&self, frm: &Path) -> Result<Table> {
        let ibd = frm.with_extension("ibd");
        if self.keys.is_file(&ibd) {
            return self.table_of_file(&ibd);
        }
        let def = self.definition_of_frm(frm)?;
        let Place { root, schema } = self.place_of(frm);
        let dir = directory_with(frm);
        if let Some(partition) = partition_files(dir, &def.name, &self.keys)?.first() {
            return self.partitioned(partition, None, AlreadyRead::nothing());
        }
        let name = TableName { schema, table: def.name };
        let found = root.map(|root| self.by_space(&name, &root, dir)).transpose()?;
        found.flatten().ok_or_else(|| self.no_such_table(&name, dir))
    }

    /// The checked data directory that contains a file, if one does.
    fn directory_of(&self, ibd: &Path, may_be_exported: bool) -> Result<Option<Directory>> {
        let Some(root) = self.place_of(ibd).root else { return Ok(None) };
        let files = self.files_of(&root)?;
        let exported = || Directory::open(&root, &files, Trust::Exported, &self.keys);
        let export = match may_be_exported {
            true => Export::of(ibd, &root, &files.system.first(&root)),
            false => Export::None,
        };
        if export == Export::Held && !self.force {
            return exported().map(Some);
        }
        match (self.judged(&root), export) {
            (Err(_), Export::Left) => exported().map(Some),
            (Err(error), Export::Stale) if error.kind() == ErrorKind::RefusedDirectory => {
                Err(Error::refused(
                    "the .cfg beside it was left over: it was written to since, or its server has \
                 started since, so it is not held by FLUSH TABLES ... FOR EXPORT",
                    ["lock the table again".into(), Remedy::DumpLive],
                )
                .in_file(ibd))
            }
            (judged, _) => judged.map(Some),
        }
    }

    /// The data directory as the user named it, if this is its canonical path: it is judged once, by one path.
    fn as_named(&self, canonical: PathBuf) -> PathBuf {
        let named = self
            .root()
            .filter(|root| std::fs::canonicalize(root).is_ok_and(|root| root == canonical));
        named.map(Path::to_owned).unwrap_or(canonical)
    }

    /// The place of a file's directory, determined once.
    fn place_of(&self, file: &Path) -> Place {
        let dir = directory_with(file);
        if let Some(known) = self.places.borrow().get(dir) {
            return known.clone();
        }
        let root = DataDir::root_of(file).map(|root| self.as_named(root));
        // The directory that a file alone was put in is no database, unless the user names it.
        let is_database = root.is_some() || dir != Path::new(".");
        let schema = if is_database { schema_of(dir) } else { String::new() };
        let place = Place { root, schema };
        self.places.borrow_mut().insert(dir.to_owned(), place.clone());
        place
    }

    /// A data directory that is read as a whole, checked once.
    fn judged(&self, root: &Path) -> Result<Directory> {
        if let Some(known) = self.dirs.borrow().get(root) {
            return Ok(known.clone());
        }
        let trust = if self.force { Trust::Force } else { Trust::Verify(self.prepared) };
        let files = self.files_of(root)?;
        let directory = Directory::open(self.base_of(root)?, &files, trust, &self.keys)?;
        self.dirs.borrow_mut().insert(root.to_owned(), directory.clone());
        Ok(directory)
    }

    /// Reads the redo logs of a backup that was not prepared: its tablespaces may be in files of other names.
    fn read_backup(&self) -> Result<()> {
        let root = self.datadir()?;
        if self.dirs.borrow().contains_key(root) {
            return Ok(());
        }
        match !self.files.incrementals.is_empty() || Backup::is_unprepared_in(root) {
            true => self.judged(root).map(drop),
            false => Ok(()),
        }
    }

    /// The base of the incremental backup `root`, or `root` itself if there are no incremental backups.
    ///
    /// # Errors
    /// There are, and it is none of them: they are on another directory.
    fn base_of<'r>(&'r self, root: &'r Path) -> Result<&'r Path> {
        match (&self.files.incrementals[..], &self.datadir) {
            ([], _) => Ok(root),
            ([.., newest], Some(base)) if newest == root => Ok(base),
            _ => Err(Error::usage(
                format!("{} is not the base of the incremental backups", root.display()),
                [Remedy::NameInDirectory],
            )),
        }
    }
}

/// The error for a table's name without a data directory; `what` is said before.
fn no_directory(what: &str) -> Error {
    let what = format!("{what}a table's name needs a data directory");
    Error::usage(what, [Remedy::NameDirectory, "name the .ibd file".into()])
}

/// A file, with the facts of the definition that concern only this file.
fn table_file(path: PathBuf, def: &TableDef) -> TableFile {
    let name = filename::decode_table(&stem(&path));
    let named = name.subpartition.or(name.partition).filter(|_| def.partitioning.is_some());
    // File names of MySQL 8 are in lower case.
    let parts = &def.physical.partitions;
    let known = named.and_then(|named| {
        parts.iter().find(|part| part.name.to_lowercase() == named.to_lowercase())
    });
    let file = TableFile::whole(path);
    match (known, &def.partitioning) {
        (Some(part), _) => {
            file.of_partition(&part.name).with_root(part.clustered.map(|(_, root)| root))
        }
        (None, Some(_)) => file,
        (None, None) => file.with_root(def.physical.clustered.map(|(_, root)| root)),
    }
}

fn schema_of(dir: &Path) -> String {
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    filename::decode(&file_name(&dir))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A file name without its last ending; odd bytes are replaced.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The entries of a directory, sorted; in a backup its tablespaces by their names.
///
/// # Errors
/// The directory cannot be listed.
pub fn sorted_entries(dir: &Path, keys: &Keys) -> Result<Vec<PathBuf>> {
    let mut paths =
        keys.entries(dir).map_err(|error| Error::read("listing it", error).in_file(dir))?;
    paths.sort();
    Ok(paths)
}
