//! Tables whose rows are not in a file beside those of their database: in a tablespace that several tables share, or
//! outside of the data directory (`DATA DIRECTORY`), where the user names the directories.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use innoscan_engine::keys::Keys;
use innoscan_engine::system_tablespace::SystemTablespace;
use innoscan_engine::undo_logs::UndoLogs;
use innoscan_engine::{Error, Result, Table, TableFile};
use innoscan_format::schema::{TableDef, filename};
use innoscan_format::{Error as FormatError, IndexId, PageNo, SpaceId};
use innoscan_io::Direct;

use super::definition::{add_data_directory, complete, read_frm};
use super::spaces::{Spaces, contradicting, file_of_space};
use super::under_way::DDL_LOG;
use super::{
    AlreadyRead, Catalog, Directory, FileKind, Place, TableName, directory_of, sorted_entries, stem,
};
use crate::data_files::DataFiles;
use crate::datadir::DataDir;
use crate::option_file::OptionFiles;

/// Files outside of the data directory, by the names of their directory and their table.
pub(super) type FilesElsewhere = BTreeMap<(String, String), Vec<PathBuf>>;

impl Catalog {
    /// Sets where files outside of the data directory are. What is not said there is taken from the option files of the
    /// directory's server.
    #[must_use]
    pub fn with_files(mut self, files: DataFiles, option_files: OptionFiles) -> Catalog {
        self.files = files;
        self.option_files = Some(option_files);
        self
    }

    /// Where the files of a data directory are.
    ///
    /// # Errors
    /// A named option file cannot be read.
    pub fn files_of(&self, root: &Path) -> Result<Rc<DataFiles>> {
        if let Some(known) = self.files_of.borrow().get(root) {
            return Ok(Rc::clone(known));
        }
        let files = Rc::new(match &self.option_files {
            Some(option_files) => self.files.for_directory(root, option_files)?,
            None => self.files.clone(),
        });
        self.files_of.borrow_mut().insert(root.to_owned(), Rc::clone(&files));
        Ok(files)
    }

    /// The system tablespace of the data directory, if there is one.
    ///
    /// # Errors
    /// The directory's server is running, or was not shut down cleanly.
    pub fn system_tablespace(&self) -> Result<Option<Arc<SystemTablespace>>> {
        let root = self.datadir()?;
        match DataDir::is_one(root) {
            true => Ok(self.judged(root)?.datadir.system_tablespace().cloned()),
            false => Ok(None),
        }
    }

    /// The undo logs of the data directory's unfinished transactions; `None` if there are none.
    ///
    /// # Errors
    /// The directory's server is running, or was not shut down cleanly.
    pub(crate) fn undo_logs(&self) -> Result<Option<Arc<UndoLogs>>> {
        let root = self.datadir()?;
        match DataDir::is_one(root) {
            true => Ok(self.judged(root)?.datadir.undo_logs().cloned()),
            false => Ok(None),
        }
    }

    /// A table of the data directory without a file there; `None` if it is not found.
    pub(super) fn elsewhere(&self, name: &TableName, dir: &Path) -> Result<Option<Table>> {
        if let Some(file) = self.remote_files(name)?.first() {
            let is_partition = filename::decode_table(&stem(file)).partition.is_some();
            let only = (!is_partition).then_some(&**file);
            return self.partitioned(file, only, AlreadyRead::nothing()).map(Some);
        }
        self.by_space(name, self.datadir()?, dir)
    }

    /// The files of a table, or of its partitions, in the user's directories, each in one of the database's name.
    pub(super) fn remote_files(&self, name: &TableName) -> Result<Vec<PathBuf>> {
        let key = (filename::encode(&name.schema), name.table.clone());
        let mut files = self.files_elsewhere()?.get(&key).cloned().unwrap_or_default();
        let same_name = |pair: &&[PathBuf]| pair[0].file_name() == pair[1].file_name();
        files.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
        if let Some([first, second]) = files.windows(2).find(same_name) {
            return Err(contradicting(&format!("two files are of `{name}`"), [first, second]));
        }
        // Their definitions, and the state of their server, are in the data directory.
        let place = Place { root: self.root().map(Path::to_owned), schema: name.schema.clone() };
        for parent in files.iter().filter_map(|file| file.parent()) {
            self.places.borrow_mut().insert(parent.to_owned(), place.clone());
        }
        Ok(files)
    }

    /// The `.ibd` files in the user's directories that are not in the data directory, listed once.
    fn files_elsewhere(&self) -> Result<&FilesElsewhere> {
        if let Some(files) = self.files_elsewhere.get() {
            return Ok(files);
        }
        let mut files = Vec::new();
        // One of the directories may be in another, and the data directory in one of them.
        let canonical = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or(path.clone());
        let home = self.root().map(|root| canonical(&root.to_owned()));
        let places = self.root().map(|root| self.files_of(root)).transpose()?;
        for directory in &places.as_deref().unwrap_or(&self.files).directories {
            all_files(&canonical(directory), &mut files)?;
        }
        files.retain(|file| home.as_ref().is_none_or(|home| !file.starts_with(home)));
        files.retain(|file| file.extension().is_some_and(|extension| extension == "ibd"));
        files.sort();
        files.dedup();
        let mut by_table = FilesElsewhere::new();
        for file in files {
            let directory = file.parent().and_then(Path::file_name).unwrap_or_default();
            let table = filename::decode_table(&stem(&file)).table;
            let key = (directory.to_string_lossy().into_owned(), table);
            by_table.entry(key).or_default().push(file);
        }
        Ok(self.files_elsewhere.get_or_init(|| by_table))
    }

    /// A table by the tablespace and root that the dictionary, or the tablespace itself, has for it. `dir`: the directory
    /// of its database in the data directory `root`.
    pub(super) fn by_space(
        &self,
        name: &TableName,
        root: &Path,
        dir: &Path,
    ) -> Result<Option<Table>> {
        let frm = dir.join(format!("{}.frm", filename::encode(&name.table)));
        let is_sdi_era = root.join("mysql.ibd").is_file();
        if !frm.is_file() && !is_sdi_era && !root.join(DDL_LOG).is_file() {
            return Ok(None);
        }
        let directory = self.judged(root)?;
        let definition = directory.definition(&frm, &name.schema, &name.table);
        let has_frm = definition.is_file();
        if !has_frm && !is_sdi_era {
            return Ok(None);
        }
        let spaces = self.spaces_of(root)?;
        let def = match has_frm {
            true => {
                let mut def = read_frm(definition, &name.schema, &name.table)?;
                complete(&mut def, &filename::encode(&name.table), Some(&directory))?;
                add_data_directory(&mut def, &frm);
                Some(def).filter(|def| def.options.engine == "InnoDB")
            }
            // Several files of a killed server may say that they are of the table.
            false if directory.space_of(name, &filename::encode(&name.table)).is_some() => {
                self.definition_of_dictionary(name, &directory)?
            }
            false => self.definition_in(&spaces, name, &directory)?,
        };
        let Some(def) = def else {
            // The table may be in a file that cannot be read.
            let error = spaces.error().filter(|_| !has_frm);
            return error.map_or(Ok(None), |error| Err(Error::from(error.reason())));
        };
        let names: Vec<Option<String>> = match &def.partitioning {
            None => vec![None],
            Some(partitioning) => partitioning.names().into_iter().map(Some).collect(),
        };
        let mut files = Vec::new();
        for partition in &names {
            let place = index_place(&def, partition.as_deref(), &directory);
            let dir = directory.datadir.is_crashed().then_some(dir);
            let file = place.map(|place| self.file_in(&spaces, place, dir)).transpose()?.flatten();
            let Some(file) = file else { return Ok(None) };
            files.push(match partition {
                Some(name) => file.of_partition(name),
                None => file,
            });
        }
        self.finished(def, files, Some(&directory), false).map(Some)
    }

    /// The definition of a table in a tablespace that is shared, if one has it.
    fn definition_in(
        &self,
        spaces: &Spaces,
        name: &TableName,
        directory: &Directory,
    ) -> Result<Option<TableDef>> {
        let Some(def) = spaces.definition(name)? else { return Ok(None) };
        let open = |def: &TableDef| {
            let of_partitions = def.physical.partitions.iter().filter_map(|part| part.space);
            let mut opened = Vec::new();
            for space in def.physical.space.into_iter().chain(of_partitions) {
                let file = spaces.file_of(space)?;
                opened.extend(file.map(|file| file.open(Direct::Off)).transpose()?);
            }
            Ok(opened)
        };
        self.settled_definition(def, name, Some(directory), open).map(Some)
    }

    /// The definition of a table of MySQL 8.0.11 to 8.0.16 that has a file without one: a tablespace that is shared has
    /// it, if another partition is there, and the dictionary.
    pub(super) fn definition_beside(
        &self,
        schema: &str,
        table: &str,
        root: Option<&Path>,
    ) -> Result<Option<TableDef>> {
        let Some(root) = root else { return Ok(None) };
        if !root.join("mysql.ibd").is_file() {
            return Ok(None);
        }
        let name = TableName { schema: schema.to_owned(), table: table.to_owned() };
        match self.spaces_of(root)?.definition(&name)? {
            Some(def) => Ok(Some(def)),
            None => self.definition_of_dictionary(&name, &self.judged(root)?),
        }
    }

    /// The file of a partition in a tablespace that is shared.
    pub(super) fn partition_by_space(
        &self,
        def: &TableDef,
        partition: &str,
        directory: Option<&Directory>,
    ) -> Result<Option<TableFile>> {
        let Some(directory) = directory.filter(|found| !found.datadir.is_exported()) else {
            return Ok(None);
        };
        let Some(place) = index_place(def, Some(partition), directory) else { return Ok(None) };
        let spaces = self.spaces_of(directory.datadir.root())?;
        let dir = directory_of(directory.datadir.root(), &def.schema);
        let dir = directory.datadir.is_crashed().then_some(&*dir);
        Ok(self.file_in(&spaces, place, dir)?.map(|file| file.of_partition(partition)))
    }

    /// The file of a clustered index by its tablespace; `None` if that is not found. `dir`: of a killed server
    /// the directory of its database, where the file may have another name.
    ///
    /// # Errors
    /// The tablespace cannot be read, or has another index there.
    fn file_in(
        &self,
        spaces: &Spaces,
        place: IndexPlace,
        dir: Option<&Path>,
    ) -> Result<Option<TableFile>> {
        let IndexPlace { space, index, root } = place;
        let file = match (spaces.file_of(space)?, dir) {
            (Some(file), _) => Some(file.clone()),
            (None, Some(dir)) => file_of_space(space, dir, &self.keys)?,
            (None, None) => None,
        };
        let Some(file) = file else { return Ok(None) };
        let file = file.with_root(Some(root));
        file.open(Direct::Off)?.require_readable(Some(root))?;
        match file.root_head() {
            // Other errors are those of the scan.
            Ok(found) if found.index != index => Err(Error::from(FormatError::schema(format!(
                "page {root} is of index {}, not of the table's, {index}: the file is not of this directory",
                found.index
            )))
            .in_file(&file.path)),
            _ => Ok(Some(file)),
        }
    }

    fn spaces_of(&self, root: &Path) -> Result<Rc<Spaces>> {
        if let Some(known) = self.spaces.borrow().get(root) {
            return Ok(Rc::clone(known));
        }
        let directory = self.judged(root)?;
        let mut left_over = Vec::new();
        if let Some(under_way) = directory.under_way.get() {
            left_over = left_over_files(root, &self.keys)?;
            left_over.extend(under_way.files_of_absent(root));
        }
        let elsewhere = self.files_elsewhere()?.values().flatten().chain(&left_over);
        let system = directory.datadir.system_tablespace();
        let spaces = Rc::new(Spaces::find(root, system, elsewhere, &self.keys)?);
        self.spaces.borrow_mut().insert(root.to_owned(), Rc::clone(&spaces));
        Ok(spaces)
    }
}

/// The place of a clustered index.
#[derive(Clone, Copy)]
struct IndexPlace {
    space: SpaceId,
    index: IndexId,
    root: PageNo,
}

/// The place of a table, or of one of its partitions: from SDI, or from InnoDB's dictionary.
fn index_place(
    def: &TableDef,
    partition: Option<&str>,
    directory: &Directory,
) -> Option<IndexPlace> {
    let physical = &def.physical;
    let (space, clustered) = match partition {
        None => (physical.space, physical.clustered),
        Some(name) => match physical.partitions.iter().find(|part| part.name == name) {
            Some(part) => (part.space, part.clustered),
            None => return partition_in_dictionary(def, name, directory),
        },
    };
    let (index, root) = clustered?;
    Some(IndexPlace { space: space?, index, root })
}

/// The same of a partition of a server with `.frm` files.
fn partition_in_dictionary(
    def: &TableDef,
    partition: &str,
    directory: &Directory,
) -> Option<IndexPlace> {
    let dictionary = directory.dictionary.get()?;
    let schema = filename::encode(&def.schema);
    let of_partition = |name: &&str| {
        let Some((database, file)) = name.split_once('/') else { return false };
        let file = filename::decode_table(file);
        let found = file.subpartition.or(file.partition);
        database.eq_ignore_ascii_case(&schema)
            && file.table == def.name
            && found.as_deref() == Some(partition)
    };
    let name = dictionary.names().find(of_partition)?;
    let found = dictionary.table(name)?;
    let clustered = found.clustered()?;
    Some(IndexPlace { space: found.space, index: clustered.id, root: clustered.root? })
}

/// The files of tables that a killed server was defining anew, in the directories of its databases.
fn left_over_files(root: &Path, keys: &Keys) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for directory in sorted_entries(root, keys)?.iter().filter(|path| path.is_dir()) {
        // The server's own directories may be closed to the user.
        let entries = sorted_entries(directory, keys).unwrap_or_default();
        found.extend(
            entries.into_iter().filter(|path| FileKind::of(path) == Some(FileKind::LeftOver)),
        );
    }
    Ok(found)
}

/// Adds all files in a directory and below it.
fn all_files(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in sorted_entries(directory, &Keys::default())? {
        // A link could lead in a circle.
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        match path.is_dir() && !is_link {
            true => all_files(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
