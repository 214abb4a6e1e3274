//! The data dictionary of a stopped MySQL 8 or later, read from `mysql.ibd`: the server's objects,
//! and the statements that create those other than tables.
//!
//! | objects | are rows of |
//! |---|---|
//! | databases, tables, partitions | `schemata`, `tables`, `table_partitions`, `tablespaces` |
//! | views | `tables`, `columns` |
//! | triggers, routines, events | `triggers`, `routines`, `events` |
//! | accounts, roles, grants | `user`, `db`, `tables_priv` and so on |
//!
//! The statements are those that `SHOW CREATE` and `SHOW GRANTS` print, except for three faults of the
//! servers that are not reproduced: names and comments of objects whose client used another charset
//! than UTF-8, which servers print as if in that charset; comments under
//! `NO_BACKSLASH_ESCAPES`; quotes in the names of `REQUIRE`. Times of events with a named time zone
//! are in UTC. A second password (`RETAIN CURRENT PASSWORD`) is in no statement that a server
//! prints, and in none here.

mod accounts;
mod clock;
mod events;
mod lists;
mod routines;
mod schemata;
mod tables;
mod text;
mod triggers;
mod views;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use innoscan_engine::keys::Keys;
use innoscan_engine::undo_logs::UndoLogs;
use innoscan_engine::{Error, Result};
use innoscan_format as format;
use innoscan_format::schema::ServerVersion;

pub use self::tables::{DictionaryPartition, DictionaryTable, DictionaryTableKind, TableLocation};
use self::tables::{FILE_COLUMNS, PARTITION_COLUMNS, TABLESPACE_COLUMNS, Tablespaces};
use crate::ddl_log::{RemovedFile, removed_files};
use crate::mysql_ibd::{DictionaryFile, Row};

/// The objects of a server, from `mysql.ibd`.
#[derive(Debug)]
pub struct MysqlDictionary {
    file: DictionaryFile,
    /// The rows of `mysql.schemata`, by name.
    schema_rows: Vec<Row>,
    schemata: Vec<String>,
    /// The names of databases by their ids.
    names: HashMap<u64, String>,
    /// The tables in the order of their names, those of a database adjacent.
    tables: Vec<DictionaryTable>,
    /// The names of tables by their ids.
    table_names: HashMap<u64, String>,
}

impl MysqlDictionary {
    /// Reads the databases and tables from `root/mysql.ibd` of a server that was shut down
    /// cleanly. `undo_logs`: those of its unfinished transactions.
    ///
    /// # Errors
    /// The file or one of these lists cannot be read.
    pub fn read(
        root: &Path,
        undo_logs: Option<Arc<UndoLogs>>,
        keys: &Keys,
    ) -> Result<MysqlDictionary> {
        let path = root.join("mysql.ibd");
        let file = DictionaryFile::open(&path, undo_logs, keys)?;
        let in_file = |error: format::Error| Error::from(error).in_file(&path);
        let mut schema_rows = file.rows("schemata", &schemata::COLUMNS, |_| true).all()?;
        schema_rows.sort_by(|one, other| one.bytes("name").cmp(&other.bytes("name")));
        let (mut schemata, mut names) = (Vec::new(), HashMap::new());
        for row in &schema_rows {
            let name = row.text("name").map_err(in_file)?.to_owned();
            names.insert(row.number("id").map_err(in_file)?, name.clone());
            schemata.push(name);
        }
        let mut dictionary = MysqlDictionary {
            file,
            schema_rows,
            schemata,
            names,
            tables: Vec::new(),
            table_names: HashMap::new(),
        };
        dictionary.read_tables()?;
        Ok(dictionary)
    }

    fn read_tables(&mut self) -> Result<()> {
        let columns = ["id", "schema_id", "name", "type", "engine", "hidden", "tablespace_id"];
        let is_visible = |row: &Row| row.bytes("hidden") == Some(b"Visible");
        let rows = self.file.rows("tables", &columns, is_visible).all()?;
        let all =
            |table: &str, columns: &[&'static str]| self.file.rows(table, columns, |_| true).all();
        let partitions = all("table_partitions", &PARTITION_COLUMNS)?;
        let spaces = all("tablespaces", &TABLESPACE_COLUMNS)?;
        let files = all("tablespace_files", &FILE_COLUMNS)?;
        let (tables, names) = self
            .listed_tables(&rows, partitions, &spaces, &files)
            .map_err(|error| Error::from(error).in_file(self.file.path()))?;
        (self.tables, self.table_names) = (tables, names);
        Ok(())
    }

    fn listed_tables(
        &self,
        rows: &[Row],
        partitions: Vec<Row>,
        spaces: &[Row],
        files: &[Row],
    ) -> format::Result<(Vec<DictionaryTable>, HashMap<u64, String>)> {
        let tablespaces = Tablespaces::new(spaces, files)?;
        let partitions = tables::by_table(partitions)?;
        let (mut listed, mut names) = (Vec::new(), HashMap::new());
        for row in rows {
            let id: u64 = row.number("id")?;
            let parts = partitions.get(&id).map_or(&[][..], Vec::as_slice);
            let table = tables::table(row, self.schema_of(row)?, parts, &tablespaces)?;
            names.insert(id, table.name.clone());
            listed.push(table);
        }
        listed.sort_by(|one, other| (&one.schema, &one.name).cmp(&(&other.schema, &other.name)));
        Ok((listed, names))
    }

    /// The database of a row.
    fn schema_of(&self, row: &Row) -> format::Result<&str> {
        let id: u64 = row.number("schema_id")?;
        let name = self.names.get(&id).map(String::as_str);
        name.ok_or_else(|| format::Error::corrupt(format!("there is no database number {id}")))
    }

    /// The files that the server removes when it starts.
    ///
    /// # Errors
    /// Its DDL log cannot be read.
    pub(crate) fn removed_files(&self) -> Result<Vec<RemovedFile>> {
        removed_files(&self.file)
    }

    /// The version of the server.
    pub fn server(&self) -> ServerVersion {
        self.file.server()
    }

    /// The databases, in the order of their names.
    pub fn schemata(&self) -> &[String] {
        &self.schemata
    }

    /// The tables and views in `information_schema.TABLES`, ordered by database and name.
    pub fn tables(&self) -> impl Iterator<Item = &DictionaryTable> {
        self.tables.iter()
    }
}
