//! What a dump holds beside the tables that are read from files: it comes from whoever asks a
//! server.

use innoscan_format::schema::ServerVersion;

use crate::Result;
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

/// Something of a database that is not in an InnoDB file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its database; empty for what is of accounts.
    pub database: String,
    /// What it is.
    pub kind: ObjectKind,
    /// Its name: of a database its own, of a user `'name'@'host'`.
    pub name: String,
    /// The columns of a view, for the placeholder that other views can be made over.
    pub columns: Vec<String>,
    /// Its statements as `SHOW CREATE` gives them, without delimiters at their ends.
    pub statements: Vec<String>,
    /// The session it was made in, which is a part of it.
    pub session: Option<ObjectSession>,
}

impl Object {
    /// An object with its statements, made in no session of its own.
    pub fn new(database: &str, kind: ObjectKind, name: &str, statements: Vec<String>) -> Object {
        Object {
            database: database.to_owned(),
            kind,
            name: name.to_owned(),
            columns: Vec::new(),
            statements,
            session: None,
        }
    }

    /// The same, made in a session.
    pub fn made_in(self, session: ObjectSession) -> Object {
        Object { session: Some(session), ..self }
    }
}

/// The kinds of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum ObjectKind {
    Database,
    View,
    Trigger {
        /// The table it is of.
        table: String,
    },
    Function,
    Procedure,
    Package,
    PackageBody,
    Event,
    Sequence,
    /// An account or a role.
    User,
    /// What one is granted.
    Grants,
    /// The roles an account has from the start (MySQL).
    DefaultRole,
}

impl ObjectKind {
    /// Of accounts: in no database.
    pub fn is_of_accounts(&self) -> bool {
        matches!(self, ObjectKind::User | ObjectKind::Grants | ObjectKind::DefaultRole)
    }

    /// Functions, procedures and packages.
    pub fn is_routine(&self) -> bool {
        use ObjectKind::{Function, Package, PackageBody, Procedure};
        matches!(self, Function | Procedure | Package | PackageBody)
    }
}

/// The settings an object was made under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectSession {
    /// `sql_mode`.
    pub sql_mode: String,
    /// `character_set_client`; empty: utf8mb4.
    pub character_set_client: String,
    /// `collation_connection`; empty: that of the charset.
    pub collation_connection: String,
    /// The database's collation at that time; empty: what it is now.
    pub database_collation: String,
    /// `time_zone`, which events run in; empty: +00:00.
    pub time_zone: String,
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
