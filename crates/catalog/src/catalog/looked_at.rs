//! Parts of a table's files that were read before the table is opened, or are read now.

use std::path::Path;

use innoscan_engine::Result;
use innoscan_engine::file_head::FileHead;
use innoscan_format::schema::{TableDef, filename};

use super::partitions::partition_files;
use super::stem;

/// Parts of the files of a table of the data directory that were read before.
#[derive(Debug)]
pub(crate) struct LookedAt {
    /// The definition in the table's `.frm`.
    pub frm: Option<TableDef>,
    /// The head of the `.ibd` file, and the definition in it.
    pub head: Option<(FileHead, Option<TableDef>)>,
    /// Whether a `.cfg` may be beside the file.
    pub may_be_exported: bool,
}

impl LookedAt {
    /// No parts read before.
    pub(super) fn new() -> LookedAt {
        LookedAt { frm: None, head: None, may_be_exported: true }
    }
}

/// The definition in a file of MySQL 8 and later, and the file's head; only one file of a partitioned
/// table has a definition.
pub(super) fn definition_in_sdi(
    ibd: &Path,
    table: &str,
) -> Result<(Option<FileHead>, Option<TableDef>)> {
    let (head, def) = FileHead::read(ibd)?;
    if def.is_some() || filename::decode_table(&stem(ibd)).partition.is_none() {
        return Ok((Some(head), def));
    }
    for other in partition_files(ibd.parent().unwrap_or(Path::new(".")), table)? {
        if let (_, Some(def)) = FileHead::read(&other)? {
            return Ok((Some(head), Some(def)));
        }
    }
    Ok((Some(head), None))
}
