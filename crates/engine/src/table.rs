//! A table to be read: its definition and its files.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::path::PathBuf;
use std::sync::Arc;

use innoscan_format::schema::{ColumnDef, TableDef};
use innoscan_format::{Lsn, PageNo};
use innoscan_io::Direct;

use crate::file_head::{FileHead, RootHead};
use crate::file_stamp::FileStamp;
use crate::keys::Keys;
use crate::leaf_span::LeafSpan;
use crate::space::Space;
use crate::system_tablespace::SystemTablespace;
use crate::undo_logs::UndoLogs;
use crate::{Error, Result};

/// A table as the catalog finds it and a scan reads it.
#[derive(Clone, Debug)]
pub struct Table {
    /// The table's definition.
    pub def: TableDef,
    /// The running server's own `SHOW CREATE TABLE`, which is written instead of the text printed from
    /// `def`.
    pub create_sql: Option<String>,
    /// Whether the definition was given by the user (`--schema`), who may have given another table's.
    pub is_definition_given: bool,
    /// The table's tablespaces: one, or one per partition in the order of the partitions.
    pub files: Vec<TableFile>,
    /// The newest LSN of a directory that was shut down cleanly. A page with a newer LSN means that the
    /// file was copied while a server wrote it, or belongs to another directory.
    pub newest_lsn: Option<Lsn>,
    /// The unfinished transactions whose changes are taken back when rows are read; `None`: there are none.
    pub undo_logs: Option<Arc<UndoLogs>>,
    /// Warnings for the user.
    pub notes: Notes,
}

/// Warnings about a table: what could not be verified or found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Warnings that rows may be missing or old.
    pub rows: Vec<String>,
    /// Warnings that the definition is incomplete, printed with `SHOW CREATE TABLE`.
    pub definition: Vec<String>,
}

/// One tablespace file of a table.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// The `.ibd` file.
    pub path: PathBuf,
    /// The copy of the file that is read instead.
    pub copy: Option<FileCopy>,
    /// The root page of the clustered index according to a dictionary; `None`: the first page after the
    /// fixed pages that every tablespace begins with.
    pub clustered_root: Option<PageNo>,
    /// The partition or subpartition in this file, by its name in the definition.
    pub partition: Option<String>,
    /// The content of the first pages when the catalog found the table, if it read them then.
    pub(crate) head: Option<FileHead>,
    /// The keys, for an encrypted file.
    pub(crate) keys: Keys,
    /// The files of the system tablespace, if this is it; `path` is the first of them.
    pub(crate) system: Option<Arc<SystemTablespace>>,
    /// The part of the clustered index that is read; `None`: all.
    pub(crate) span: Option<Arc<LeafSpan>>,
}

/// A copy of a file, open and without a name.
#[derive(Clone, Debug)]
pub struct FileCopy {
    /// The open copy.
    pub file: Arc<File>,
    /// The original's stamp when it was copied.
    pub stamp: FileStamp,
}

impl TableFile {
    /// Whether it is the system tablespace.
    #[doc(hidden)]
    pub fn is_system(&self) -> bool {
        self.system.is_some()
    }

    /// Whether other tables can be in it.
    #[doc(hidden)]
    pub fn is_shared(&self) -> bool {
        self.is_system() || self.head().is_ok_and(|head| head.flags.shared)
    }

    /// Total bytes, 0 if unknown: as they were when the catalog found the table, if it read them then.
    pub fn size_bytes(&self) -> u64 {
        let bytes = |metadata: std::io::Result<Metadata>| metadata.map_or(0, |found| found.len());
        match (&self.copy, self.head) {
            (Some(copy), _) => bytes(copy.file.metadata()),
            (None, Some(head)) => head.size_bytes,
            (None, None) => {
                self.stored_paths().iter().map(|path| bytes(std::fs::metadata(path))).sum()
            }
        }
    }

    /// The paths of the files in which its pages are stored: those of [`TableFile::paths`], but in a backup whose
    /// tablespaces consist of several files.
    #[doc(hidden)]
    pub fn stored_paths(&self) -> Vec<PathBuf> {
        self.paths().iter().flat_map(|path| self.keys.files_of(path)).collect()
    }

    /// The paths of the file, or of all files of the system tablespace.
    #[doc(hidden)]
    pub fn paths(&self) -> &[PathBuf] {
        match &self.system {
            Some(system) => system.files(),
            None => std::slice::from_ref(&self.path),
        }
    }

    /// The content of the first pages: as the catalog found it, or else read now.
    ///
    /// # Errors
    /// The file cannot be read, or has a form that this version does not read.
    #[doc(hidden)]
    pub fn head(&self) -> Result<FileHead> {
        if let Some(head) = self.head {
            return Ok(head);
        }
        let space = self.open(Direct::Off)?;
        space.require_readable(self.clustered_root)?;
        Ok(FileHead::of(&space))
    }

    /// The part of the clustered index that is read; `None`: all.
    #[doc(hidden)]
    pub fn span(&self) -> Option<Arc<LeafSpan>> {
        self.span.clone()
    }

    /// The root of the clustered index: the one already parsed, or else read now.
    ///
    /// # Errors
    /// The root page cannot be read, or is damaged.
    #[doc(hidden)]
    pub fn root_head(&self) -> Result<RootHead> {
        let known = self.head.filter(|_| self.copy.is_none()).and_then(|head| head.root);
        let is_it =
            |root: &RootHead| self.clustered_root.is_none_or(|wanted| wanted == root.page_no);
        if let Some(root) = known.filter(is_it) {
            return Ok(root);
        }
        let space = self.open(Direct::Off)?;
        let page_no = self.clustered_root.unwrap_or(space.first_root());
        let page = space.read_page(page_no)?;
        RootHead::parse(&page, &space, page_no)
            .map_err(|error| Error::from(error).in_file(&self.path))
    }

    /// The stamp that identifies the file's current state, or its state when it was copied.
    pub fn stamp(&self) -> Result<FileStamp> {
        match &self.copy {
            Some(copy) => Ok(copy.stamp),
            None => {
                let stamp = FileStamp::of_all(&self.stored_paths()).map_err(|error| {
                    Error::read("cannot read the file's times", error).in_file(&self.path)
                })?;
                let recovery = self.keys.recovery_of(&self.path);
                Ok(stamp.with_log_end(recovery.map(|(recovery, _)| recovery.end())))
            }
        }
    }

    /// The file with the content of its first pages, which are then not read again.
    #[must_use]
    #[doc(hidden)]
    pub fn with_head(self, head: Option<FileHead>) -> TableFile {
        TableFile { head, ..self }
    }

    /// The file with the keys by which it may be encrypted.
    #[must_use]
    pub fn with_keys(self, keys: Keys) -> TableFile {
        TableFile { keys, ..self }
    }

    /// The file with the root of its clustered index, as a dictionary names it.
    #[must_use]
    pub fn with_root(self, clustered_root: Option<PageNo>) -> TableFile {
        TableFile { clustered_root, ..self }
    }

    /// The file of a partition, by the partition's name in the definition.
    #[must_use]
    pub fn of_partition(self, name: &str) -> TableFile {
        TableFile { partition: Some(name.to_owned()), ..self }
    }

    /// A file that holds a whole table.
    pub fn whole(path: PathBuf) -> TableFile {
        TableFile {
            path,
            copy: None,
            clustered_root: None,
            partition: None,
            head: None,
            keys: Keys::default(),
            system: None,
            span: None,
        }
    }

    /// The system tablespace, which has several tables.
    pub fn system(system: Arc<SystemTablespace>) -> TableFile {
        let whole = TableFile::whole(system.first().to_owned());
        TableFile { system: Some(system), ..whole }
    }

    /// Opens the tablespace, or its copy.
    #[doc(hidden)]
    pub fn open(&self, direct: Direct) -> Result<Space> {
        Space::new(self.open_file(direct)?, &self.keys)
    }

    fn open_file(&self, direct: Direct) -> Result<innoscan_io::File> {
        Ok(match (&self.copy, &self.system) {
            (Some(copy), _) => innoscan_io::File::open_copy(&copy.file, &self.path, direct)?,
            (None, Some(system)) => system.open_files(direct, &self.keys)?,
            (None, None) => self.keys.open_file(&self.path, direct)?,
        })
    }

    /// Opens the tablespace, or its copy, and reads the whole file by one read; `None` if the file has
    /// more than `bytes_max` bytes, or if some cannot be read.
    pub(crate) fn open_whole(&self, bytes_max: usize) -> Result<Option<Space>> {
        // The pages of a killed server are settled in the pool.
        if self.keys.recovery_of(&self.path).is_some() {
            return Ok(None);
        }
        let mut file = self.open_file(Direct::Off)?;
        let is_whole = file.size_bytes() <= bytes_max as u64
            && file.read_head(bytes_max).is_ok()
            && file.head().len() as u64 == file.size_bytes();
        if is_whole { Space::new(file, &self.keys).map(Some) } else { Ok(None) }
    }
}

impl Table {
    /// A table with its own definition, and with nothing that a catalog would know of it besides.
    pub fn new(def: TableDef, files: Vec<TableFile>) -> Table {
        Table {
            def,
            create_sql: None,
            is_definition_given: false,
            files,
            newest_lsn: None,
            undo_logs: None,
            notes: Notes::default(),
        }
    }

    /// Requires the keys of an encrypted table: root pages are as encrypted as the others.
    ///
    /// # Errors
    /// A key is not known or wrong. Other errors are those of the scan.
    #[doc(hidden)]
    pub fn require_keys(&self) -> Result<()> {
        let mut errors = self.files.iter().filter_map(|file| file.root_head().err());
        errors.find(Error::is_of_key).map_or(Ok(()), Err)
    }

    /// The definition of one of the files: that of the table with the physical properties of the partition.
    pub fn def_of(&self, file: &TableFile) -> Cow<'_, TableDef> {
        match &file.partition {
            None => Cow::Borrowed(&self.def),
            Some(name) => {
                let physical = self.def.physical.of_partition(name);
                Cow::Owned(TableDef { physical, ..self.def.clone() })
            }
        }
    }

    /// Total bytes of the files, 0 for those whose size is unknown: as they were when the catalog found the
    /// table, if it read them then.
    pub fn size_bytes(&self) -> u64 {
        self.files.iter().map(TableFile::size_bytes).sum()
    }

    /// The qualified name `db.table`, or the table's name alone where the database is not known.
    pub fn qualified_name(&self) -> String {
        self.def.qualified_name()
    }

    /// The table's columns in SQL order, with invisible and virtual generated ones. The columns that
    /// [`Table::rows`] shows are those of [`RowsBuilder::shape`](crate::RowsBuilder::shape).
    pub fn columns(&self) -> &[ColumnDef] {
        &self.def.columns
    }
}
