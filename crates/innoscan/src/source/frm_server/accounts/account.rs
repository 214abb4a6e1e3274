//! An account or a role, wherever its server keeps it.

use innoscan_format::schema::{Family, ServerVersion};

use super::super::text::Quoting;

/// MariaDB's role of everybody, which is always there (10.11).
pub(super) const PUBLIC: &str = "PUBLIC";

/// A way to prove who one is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Authentication {
    /// The plugin; empty where the server has its own.
    pub plugin: String,
    /// What the plugin keeps: a hash of the password.
    pub string: String,
}

/// What a connection must be.
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
    /// Why its row cannot be read, where it cannot.
    pub unreadable: Option<String>,
    /// Bits of the privileges on `*.*`.
    pub access: u64,
    /// Ways to prove who one is, any of which will do.
    pub authentication: Vec<Authentication>,
    pub tls: Tls,
    /// Queries, updates and connections an hour; connections at a time.
    pub limits: [i64; 4],
    /// Seconds a statement may take (MariaDB).
    pub max_statement_time: f64,
    pub is_locked: bool,
    pub is_expired: bool,
    /// Days that a password is good for: 0 always, `None` as the server has it.
    pub password_lifetime: Option<u64>,
    /// The role it has from the start (MariaDB).
    pub default_role: String,
}

impl Account {
    /// How dumps name it: `'name'@'host'`, or a role of MariaDB alone.
    pub fn object_name(&self) -> String {
        match self.is_role {
            true if self.user == PUBLIC => self.user.clone(),
            true => Quoting::default().name(&self.user),
            false => format!("{}@{}", mysql_text(&self.user), mysql_text(&self.host)),
        }
    }

    /// How a server's statements name it.
    pub fn in_statement(&self, server: ServerVersion) -> String {
        match self.is_role {
            true => self.object_name(),
            false => grantee(server, &self.user, &self.host),
        }
    }
}

/// An account as statements name it: with backticks in MariaDB, as a text in MySQL.
pub(super) fn grantee(server: ServerVersion, user: &str, host: &str) -> String {
    let quoting = Quoting::default();
    match server.family {
        Family::MariaDb => format!("{}@{}", quoting.name(user), quoting.name(host)),
        Family::MySql => format!("{}@{}", mysql_text(user), mysql_text(host)),
    }
}

/// A text in quotes with backslashes before quotes.
pub(super) fn mysql_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
