//! The layouts of a dump's directory. Formats say which of them they are for.

use super::batch::Compression;

/// The layout of a dump's directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Files for the command line client, or for `LOAD DATA`: definitions, and rows in any format
    /// that is not a loader's own.
    #[default]
    Files,
    /// The layout of mydumper, for myloader: SQL.
    MyDumper,
    /// The layout of the MySQL Shell's `util.dumpInstance`, for its `util.loadDump`.
    MySqlShell,
}

impl Layout {
    /// The layout's name on the command line and in `innoscan.json`.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Files => "files",
            Layout::MyDumper => "mydumper",
            Layout::MySqlShell => "mysqlsh",
        }
    }

    /// The default size of a file of rows, in bytes before compression. Loaders load several files
    /// in parallel.
    pub fn chunk_bytes(self) -> Option<u64> {
        match self {
            Layout::Files => None,
            Layout::MyDumper | Layout::MySqlShell => Some(64 << 20),
        }
    }

    /// The default compression of rows.
    pub fn compression(self) -> Compression {
        match self {
            Layout::Files => Compression::None,
            Layout::MyDumper | Layout::MySqlShell => Compression::Zstd { level: 3 },
        }
    }
}
