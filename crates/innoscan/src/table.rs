//! A table to be read: its definition and its files.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::path::PathBuf;
use std::sync::Arc;

use innoscan_format::schema::TableDef;
use innoscan_format::{Lsn, PageNo};
use innoscan_io::Direct;

use crate::file_head::{FileHead, RootHead};
use crate::file_stamp::FileStamp;
use crate::leaf_span::LeafSpan;
use crate::space::Space;
use crate::{Error, Result};

/// What the catalog finds and a scan reads.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its definition.
    pub def: TableDef,
    /// What its running server's `SHOW CREATE TABLE` says, which is written in place of what `def`
    /// prints as.
    pub create_sql: Option<String>,
    /// The definition is the user's own (`--schema`), which may be that of another table.
    pub is_definition_given: bool,
    /// Its tablespaces: one, or one a partition in the partitions' order.
    pub files: Vec<TableFile>,
    /// No page can be newer in a directory that was shut down cleanly; a newer one means that the
    /// file was copied while a server wrote it, or is not of that directory.
    pub newest_lsn: Option<Lsn>,
    /// What its user should know.
    pub notes: Notes,
}

/// What could not be verified or found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Of the rows: whether they are all there, and new.
    pub rows: Vec<String>,
    /// Of the definition: what `SHOW CREATE TABLE` prints beside.
    pub definition: Vec<String>,
}

/// A tablespace of a table.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// The `.ibd` file.
    pub path: PathBuf,
    /// A copy of it that is read in its place.
    pub copy: Option<FileCopy>,
    /// The clustered index's root page as a dictionary gives it; `None`: the first page after the
    /// ones every tablespace begins with.
    pub clustered_root: Option<PageNo>,
    /// The partition or subpartition it holds, as the definition names it.
    pub partition: Option<String>,
    /// What its first pages said when the table was looked for, where they were looked at.
    pub(crate) head: Option<FileHead>,
    /// The part of its clustered index that is read; `None`: all.
    pub(crate) span: Option<Arc<LeafSpan>>,
}

/// A copy of a file, which has no name of its own.
#[derive(Clone, Debug)]
pub struct FileCopy {
    /// The copy.
    pub file: Arc<File>,
    /// The original as it was then.
    pub stamp: FileStamp,
}

impl TableFile {
    /// The root of its clustered index, which was seen before or is read now.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged.
    pub(crate) fn root_head(&self) -> Result<RootHead> {
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

    /// What tells whether the file, when it was copied or as it is now, is the same at another time.
    pub fn stamp(&self) -> Result<FileStamp> {
        match &self.copy {
            Some(copy) => Ok(copy.stamp),
            None => FileStamp::of(&self.path)
                .map_err(|error| Error::read("asking for its times", error).in_file(&self.path)),
        }
    }

    /// A file that is all of its table.
    pub fn whole(path: PathBuf) -> TableFile {
        TableFile {
            path,
            copy: None,
            clustered_root: None,
            partition: None,
            head: None,
            span: None,
        }
    }

    /// Opens its tablespace, or the copy of it.
    pub fn open(&self, direct: Direct) -> Result<Space> {
        Space::new(self.open_file(direct)?)
    }

    fn open_file(&self, direct: Direct) -> Result<innoscan_io::File> {
        Ok(match &self.copy {
            None => innoscan_io::File::open(&self.path, direct)?,
            Some(copy) => innoscan_io::File::open_copy(&copy.file, &self.path, direct)?,
        })
    }

    /// Opens its tablespace, or the copy of it, and reads the file by one read; `None` of a file that
    /// has more bytes than that, or of which some cannot be read.
    pub(crate) fn open_whole(&self, bytes_most: usize) -> Result<Option<Space>> {
        let mut file = self.open_file(Direct::Off)?;
        let is_whole = file.size_bytes() <= bytes_most as u64
            && file.read_head(bytes_most).is_ok()
            && file.head().len() as u64 == file.size_bytes();
        if is_whole { Space::new(file).map(Some) } else { Ok(None) }
    }
}

impl Table {
    /// The definition as it holds for one of the files.
    pub fn def_of(&self, file: &TableFile) -> Cow<'_, TableDef> {
        match &file.partition {
            None => Cow::Borrowed(&self.def),
            Some(name) => {
                let physical = self.def.physical.of_partition(name);
                Cow::Owned(TableDef { physical, ..self.def.clone() })
            }
        }
    }

    /// Bytes of its files, as far as they can be told: as they were when the table was looked for,
    /// where that is known.
    pub fn size_bytes(&self) -> u64 {
        let bytes = |metadata: std::io::Result<Metadata>| metadata.map_or(0, |found| found.len());
        let size = |file: &TableFile| match (&file.copy, file.head) {
            (Some(copy), _) => bytes(copy.file.metadata()),
            (None, Some(head)) => head.size_bytes,
            (None, None) => bytes(std::fs::metadata(&file.path)),
        };
        self.files.iter().map(size).sum()
    }

    /// `db.table`, or the table alone where the database is not known.
    pub fn qualified_name(&self) -> String {
        self.def.qualified_name()
    }
}
