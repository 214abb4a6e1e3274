//! The parts of a dump that are not read from table files: objects, and rows of a server's `SELECT`.

use innoscan_engine::Result;
use innoscan_format::schema::ServerVersion;

pub use crate::sink::selected::SelectedColumn;

/// The source of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The server's version, if the source is a running server.
    pub server: Option<ServerVersion>,
    /// The version in the server's own words: `10.11.19-MariaDB-log`.
    pub version_text: String,
    /// The server's host name.
    pub hostname: String,
    /// The user of the connection.
    pub user: String,
    /// The file and position in the binary log that correspond to the rows.
    pub binlog: Option<(String, u64)>,
    /// The transactions that the rows include (`gtid_executed`, `gtid_binlog_pos`); empty without GTIDs.
    pub gtid: String,
    /// Whether the dump is a consistent snapshot.
    pub is_consistent: bool,
}

/// The rows of a `SELECT`: a value, or `None` for NULL, for each column.
pub type SelectedRowsIter<'a> = Box<dyn Iterator<Item = Result<Vec<Option<Vec<u8>>>>> + 'a>;

/// A table whose rows are fetched by `SELECT`, because they are in no InnoDB file.
pub struct SelectedTable<'a> {
    /// The database.
    pub database: String,
    /// The name of the table.
    pub name: String,
    /// The table's `SHOW CREATE TABLE`.
    pub create: String,
    /// The columns of a row, in order.
    pub columns: Vec<SelectedColumn>,
    /// The rows in the text protocol, after `SET NAMES binary` and in time zone +00:00.
    pub rows: SelectedRowsIter<'a>,
}

impl std::fmt::Debug for SelectedTable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SelectedTable({}.{})", self.database, self.name)
    }
}
