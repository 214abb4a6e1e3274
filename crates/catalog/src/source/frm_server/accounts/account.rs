//! Accounts and roles, independent of the table that stores them.

use innoscan_format::schema::{Family, ServerVersion};

use super::super::text::Quoting;

/// MariaDB's role of all users, which always exists (10.11).
pub(super) const PUBLIC: &str = "PUBLIC";

/// A method of authentication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Authentication {
    /// The plugin; empty for the server's default.
    pub plugin: String,
    /// The plugin's data: a hash of the password.
    pub string: String,
}

/// The requirements on a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Tls {
    #[default]
    None,
    Any,
    X509,
    Specified {
        cipher: String,
        issuer: String,
        subject: String,
    },
}

/// An account or a role.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Account {
    pub user: String,
    pub host: String,
    pub is_role: bool,
    /// The reason why the row cannot be read, if it cannot.
    pub unreadable: Option<String>,
    /// Bits of the privileges on `*.*`.
    pub access: u64,
    /// Methods of authentication, any of which is enough.
    pub authentication: Vec<Authentication>,
    pub tls: Tls,
    /// The most queries, updates and connections per hour, and concurrent connections.
    pub limits: [i64; 4],
    /// The most seconds of a statement (MariaDB).
    pub max_statement_time: f64,
    pub is_locked: bool,
    pub is_expired: bool,
    /// The lifetime of a password in days: 0 unlimited, `None` the server's default.
    pub password_lifetime: Option<u64>,
    /// The default role (MariaDB).
    pub default_role: String,
}

impl Account {
    /// The name in dumps: `'name'@'host'`, or the name alone for a role of MariaDB.
    pub fn object_name(&self) -> String {
        match self.is_role {
            true if self.user == PUBLIC => self.user.clone(),
            true => Quoting::default().name(&self.user),
            false => format!("{}@{}", mysql_text(&self.user), mysql_text(&self.host)),
        }
    }

    /// The name in a server's statements.
    pub fn in_statement(&self, server: ServerVersion) -> String {
        match self.is_role {
            true => self.object_name(),
            false => grantee(server, &self.user, &self.host),
        }
    }
}

/// An account in a statement: with backticks in MariaDB, as a text in MySQL.
pub(super) fn grantee(server: ServerVersion, user: &str, host: &str) -> String {
    let quoting = Quoting::default();
    match server.family {
        Family::MariaDb => format!("{}@{}", quoting.name(user), quoting.name(host)),
        Family::MySql => format!("{}@{}", mysql_text(user), mysql_text(host)),
    }
}

/// A quoted text with backslashes before quotes.
pub(super) fn mysql_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
