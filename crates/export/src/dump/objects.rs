//! What a dump holds beside the tables that are read from files: it comes from whoever asks a
//! server.

use innoscan_engine::Result;
use innoscan_format::schema::ServerVersion;

pub use crate::sink::selected::SelectedColumn;

/// Where a dump was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The server's version, where one was asked.
    pub server: Option<ServerVersion>,
    /// The version as the server says it: `10.11.19-MariaDB-log`.
    pub version_text: String,
    /// The machine.
    pub hostname: String,
    /// Who asked.
    pub user: String,
    /// File and position in the binary log that the rows are of.
    pub binlog: Option<(String, u64)>,
    /// The transactions the rows hold (`gtid_executed`, `gtid_binlog_pos`); empty without.
    pub gtid: String,
    /// Whether all tables are of one moment.
    pub is_consistent: bool,
}

/// Rows as a server gives them: a value for each column, NULL apart.
pub type SelectedRowsIter<'a> = Box<dyn Iterator<Item = Result<Vec<Option<Vec<u8>>>>> + 'a>;

/// A table whose rows come from a server, since they are in no InnoDB file.
pub struct SelectedTable<'a> {
    /// Its database.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its `SHOW CREATE TABLE`.
    pub create: String,
    /// The columns of a row, in order.
    pub columns: Vec<SelectedColumn>,
    /// The rows, as the text protocol gives them under `SET NAMES binary` and in time zone +00:00.
    pub rows: SelectedRowsIter<'a>,
}

impl std::fmt::Debug for SelectedTable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SelectedTable({}.{})", self.database, self.name)
    }
}
