//! Objects of a server other than tables: views, triggers, routines, events, accounts.

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
