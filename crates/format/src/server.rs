//! Which server wrote something, and the row formats that servers have.

/// Who wrote a definition or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerVersion {
    /// MySQL (and Percona) or MariaDB.
    pub family: Family,
    /// `major * 10000 + minor * 100 + patch`: 80033, 101119.
    pub number: u32,
}

/// The two families of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "names say it")]
pub enum Family {
    MySql,
    MariaDb,
}

/// `8.0.33`, without the family.
impl std::fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.number;
        write!(f, "{}.{}.{}", number / 10_000, number / 100 % 100, number % 100)
    }
}

impl ServerVersion {
    /// From the number a server writes in its files; 10.0 and above were MariaDB's alone up to
    /// MySQL 9.
    pub fn from_number(number: u32) -> ServerVersion {
        let family = if number >= 100_000 { Family::MariaDb } else { Family::MySql };
        ServerVersion { family, number }
    }
}

/// How records are laid out in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum RowFormat {
    Redundant,
    Compact,
    Dynamic,
    Compressed,
}
