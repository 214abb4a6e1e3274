//! Files of tables that were looked at before the tables are asked for, or are looked at now.

use std::path::Path;

use innoscan_format::schema::{TableDef, filename};

use super::partitions::partition_files;
use super::stem;
use crate::Result;
use crate::file_head::FileHead;

/// The files of a table of the data directory, which were looked at before.
#[derive(Debug)]
pub(crate) struct LookedAt {
    /// The table's `.frm`, as it was read.
    pub frm: Option<TableDef>,
    /// The head of its `.ibd` file, and the definition that is in it.
    pub head: Option<(FileHead, Option<TableDef>)>,
    /// A `.cfg` may be beside it.
    pub may_be_exported: bool,
}

impl LookedAt {
    /// Nothing was looked at.
    pub(super) fn new() -> LookedAt {
        LookedAt { frm: None, head: None, may_be_exported: true }
    }
}

/// The definition a MySQL 8+ file carries, and what the file begins with; of a partitioned table, only
/// one of its files has a definition.
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
