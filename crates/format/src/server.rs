//! Server versions, and the row formats of servers.

/// The server that wrote a definition or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerVersion {
    /// MySQL (and Percona), or MariaDB.
    pub family: Family,
    /// Version number, `major * 10000 + minor * 100 + patch`: 80033, 101119.
    pub number: u32,
}

/// The two families of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "names say it")]
pub enum Family {
    MySql,
    MariaDb,
}

/// Formats the version as `8.0.33`, without the family.
impl std::fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.number;
        write!(f, "{}.{}.{}", number / 10_000, number / 100 % 100, number % 100)
    }
}

impl ServerVersion {
    /// Derives the version from the number that a server writes in its files; numbers from 10.0 on
    /// are MariaDB's, as MySQL went up to 9 only.
    pub fn from_number(number: u32) -> ServerVersion {
        let family = if number >= 100_000 { Family::MariaDb } else { Family::MySql };
        ServerVersion { family, number }
    }
}

/// The record format of a table (`ROW_FORMAT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum RowFormat {
    Redundant,
    Compact,
    Dynamic,
    Compressed,
}
