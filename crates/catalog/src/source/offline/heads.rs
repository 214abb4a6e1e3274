//! The heads of the tables' files, read in parallel before the tables are planned one by one.

use std::collections::HashMap;
use std::path::PathBuf;

use innoscan_engine::Result;
use innoscan_engine::file_head::FileHead;
use innoscan_engine::side_by_side::{side_by_side, usual_threads};
use innoscan_format::schema::TableDef;

use super::Planner;
use crate::catalog::TableName;

/// Heads by the names of tables, each to be used once.
pub(super) type Heads = HashMap<String, (FileHead, Option<TableDef>)>;

/// Reads the heads of the files of some tables of a database. A table that has several files, or one
/// that cannot be read, is left out: the code that opens it later reports the error.
pub(super) fn read(planner: &Planner<'_>, names: Vec<TableName>) -> Result<Heads> {
    let mut files: Vec<(String, PathBuf)> = Vec::with_capacity(names.len());
    for name in names {
        let file = planner.catalog.plain_file(&name)?;
        files.push((name.table, file));
    }
    let keys = planner.catalog.keys();
    let mut heads = Heads::with_capacity(files.len());
    side_by_side(
        &files,
        usual_threads(),
        |(_, file)| FileHead::read(file, keys),
        |(name, _), head| {
            heads.extend(head.ok().map(|head| (name.clone(), head)));
            Ok(())
        },
    )?;
    Ok(heads)
}
