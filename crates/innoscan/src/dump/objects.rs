//! The parts of a dump that are not read from table files: objects, and rows of a server's `SELECT`.

use innoscan_format::schema::ServerVersion;

use crate::Result;
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

/// An object of a database, or an account, that is not in an InnoDB file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The database; empty for accounts and their grants.
    pub database: String,
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The name; of a database the same as `database`, of a user `'name'@'host'`.
    pub name: String,
    /// The columns of a view, for its placeholder.
    pub columns: Vec<String>,
    /// The statements of `SHOW CREATE`, without delimiters.
    pub statements: Vec<String>,
    /// The session settings that the server stores with the object.
    pub session: Option<ObjectSession>,
}

impl Object {
    /// An object without session settings.
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

    /// The object with session settings.
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
        /// The table of the trigger.
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
    /// The grants of an account or a role.
    Grants,
    /// The default roles of an account (MySQL).
    DefaultRole,
}

impl ObjectKind {
    /// Whether the object belongs to accounts, and not to a database.
    pub fn is_of_accounts(&self) -> bool {
        matches!(self, ObjectKind::User | ObjectKind::Grants | ObjectKind::DefaultRole)
    }

    /// Whether the object is a function, procedure or package.
    pub fn is_routine(&self) -> bool {
        use ObjectKind::{Function, Package, PackageBody, Procedure};
        matches!(self, Function | Procedure | Package | PackageBody)
    }
}

/// The session settings that an object was created with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectSession {
    /// `sql_mode`.
    pub sql_mode: String,
    /// `character_set_client`; utf8mb4 if empty.
    pub character_set_client: String,
    /// `collation_connection`; the charset's default if empty.
    pub collation_connection: String,
    /// The database's collation at that time; the current one if empty.
    pub database_collation: String,
    /// `time_zone`, in which events run; +00:00 if empty.
    pub time_zone: String,
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
