//! The DDL log of MySQL 8 and later, `mysql.innodb_ddl_log`: what a killed server does with files when it starts next. It
//! has the records of statements that were taken back, and of committed ones whose files are left to remove
//! (`log0ddl.cc`, MySQL 8.0).

use std::path::PathBuf;

use innoscan_engine::{Error, Result};
use innoscan_format::{Result as FormatResult, SpaceId};

use crate::mysql_ibd::{DictionaryFile, Row};

const TABLE: &str = "innodb_ddl_log";

/// The type of a record that removes a tablespace's file (`Log_Type`, `log0ddl.h`, MySQL 8.0).
const DELETE_SPACE_LOG: &[u8] = b"2";

/// A file that the server removes when it starts.
#[derive(Debug)]
pub(crate) struct RemovedFile {
    /// Its tablespace.
    pub space: SpaceId,
    /// Its path, from the data directory on.
    pub path: PathBuf,
}

/// The files that the server removes when it starts.
///
/// # Errors
/// The log cannot be read.
pub(crate) fn removed_files(mysql_ibd: &DictionaryFile) -> Result<Vec<RemovedFile>> {
    if !mysql_ibd.has_table(TABLE) {
        return Ok(Vec::new());
    }
    let removes = |row: &Row| row.bytes("type") == Some(DELETE_SPACE_LOG);
    let removed = |row: &Row| {
        let path = row.text("old_file_path")?.trim_end_matches('\0');
        Ok(RemovedFile { space: SpaceId(row.number("space_id")?), path: path.into() })
    };
    let rows = mysql_ibd.rows(TABLE, &["type", "space_id", "old_file_path"], removes).all()?;
    let files = rows.iter().map(removed).collect::<FormatResult<_>>();
    files.map_err(|error| Error::from(error).in_file(mysql_ibd.path()))
}
