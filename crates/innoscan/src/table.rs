//! A table to be read: its definition and its files.

use std::borrow::Cow;
use std::path::PathBuf;

use innoscan_format::schema::TableDef;
use innoscan_format::{Lsn, PageNo};

/// What the catalog finds and a scan reads.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its definition.
    pub def: TableDef,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    /// The `.ibd` file.
    pub path: PathBuf,
    /// The clustered index's root page as a dictionary gives it; `None`: the first page after the
    /// ones every tablespace begins with.
    pub clustered_root: Option<PageNo>,
    /// The partition or subpartition it holds, as the definition names it.
    pub partition: Option<String>,
}

impl TableFile {
    /// A file that is all of its table.
    pub fn whole(path: PathBuf) -> TableFile {
        TableFile { path, clustered_root: None, partition: None }
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

    /// `db.table`, or the table alone where the database is not known.
    pub fn qualified_name(&self) -> String {
        self.def.qualified_name()
    }
}
