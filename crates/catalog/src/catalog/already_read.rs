//! Facts about a table's files that are known before the table is opened, and the definition in its
//! SDI.

use std::path::{Path, PathBuf};

use innoscan_engine::Result;
use innoscan_engine::file_head::FileHead;
use innoscan_engine::keys::Keys;
use innoscan_format::schema::{TableDef, filename};

use super::stem;

/// Facts about the files of a table of the data directory that were already read from them.
#[derive(Debug)]
pub(crate) struct AlreadyRead {
    /// The definition in the table's `.frm`.
    pub frm: Option<TableDef>,
    /// The head of the `.ibd` file, and the definition in it.
    pub head: Option<(FileHead, Option<TableDef>)>,
    /// Whether a `.cfg` may be beside the file.
    pub may_be_exported: bool,
}

impl AlreadyRead {
    /// Nothing was read.
    pub(super) fn nothing() -> AlreadyRead {
        AlreadyRead { frm: None, head: None, may_be_exported: true }
    }
}

/// The definition in a file of MySQL 8 and later, and the file's head; only one file of a partitioned
/// table has a definition: `partitions` are all of them.
pub(super) fn definition_in_sdi(
    ibd: &Path,
    partitions: impl FnOnce() -> Result<Vec<PathBuf>>,
    keys: &Keys,
) -> Result<(Option<FileHead>, Option<TableDef>)> {
    let (head, def) = FileHead::read(ibd, keys)?;
    if def.is_some() || filename::decode_table(&stem(ibd)).partition.is_none() {
        return Ok((Some(head), def));
    }
    for other in partitions()? {
        if let (_, Some(def)) = FileHead::read(&other, keys)? {
            return Ok((Some(head), Some(def)));
        }
    }
    Ok((Some(head), None))
}
