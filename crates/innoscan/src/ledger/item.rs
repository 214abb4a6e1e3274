//! The objects that a server's own lists (`information_schema`) name.

use std::fmt;

use crate::dump::{Object, ObjectKind};

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "SQL's own names")]
pub enum ItemKind {
    Database,
    Sequence,
    Table,
    View,
    Trigger,
    Function,
    Procedure,
    Package,
    PackageBody,
    Event,
    /// An account, or a role of MySQL.
    User,
    /// A role of MariaDB, which has no host.
    Role,
}

impl ItemKind {
    /// All kinds.
    pub const ALL: [ItemKind; 12] = [
        ItemKind::Database,
        ItemKind::Sequence,
        ItemKind::Table,
        ItemKind::View,
        ItemKind::Trigger,
        ItemKind::Function,
        ItemKind::Procedure,
        ItemKind::Package,
        ItemKind::PackageBody,
        ItemKind::Event,
        ItemKind::User,
        ItemKind::Role,
    ];

    /// The kind with a [name](ItemKind::name).
    pub fn by_name(name: &str) -> Option<ItemKind> {
        ItemKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name in JSON and messages.
    pub fn name(self) -> &'static str {
        match self {
            ItemKind::Database => "database",
            ItemKind::Sequence => "sequence",
            ItemKind::Table => "table",
            ItemKind::View => "view",
            ItemKind::Trigger => "trigger",
            ItemKind::Function => "function",
            ItemKind::Procedure => "procedure",
            ItemKind::Package => "package",
            ItemKind::PackageBody => "package body",
            ItemKind::Event => "event",
            ItemKind::User => "user",
            ItemKind::Role => "role",
        }
    }

    /// The name of several.
    pub fn plural(self) -> String {
        match self {
            ItemKind::PackageBody => "package bodies".to_owned(),
            kind => format!("{kind}s"),
        }
    }

    /// Whether objects of this kind are in a database beside tables, views and sequences: they are
    /// dumped with whole databases.
    pub fn is_routine_or_event(self) -> bool {
        use ItemKind::{Event, Function, Package, PackageBody, Procedure};
        matches!(self, Function | Procedure | Package | PackageBody | Event)
    }

    /// The kind of an object's statements; `None` of grants and default roles, which belong to the
    /// item of their account.
    pub fn of_object(kind: &ObjectKind) -> Option<ItemKind> {
        Some(match kind {
            ObjectKind::Database => ItemKind::Database,
            ObjectKind::View => ItemKind::View,
            ObjectKind::Trigger { .. } => ItemKind::Trigger,
            ObjectKind::Function => ItemKind::Function,
            ObjectKind::Procedure => ItemKind::Procedure,
            ObjectKind::Package => ItemKind::Package,
            ObjectKind::PackageBody => ItemKind::PackageBody,
            ObjectKind::Event => ItemKind::Event,
            ObjectKind::Sequence => ItemKind::Sequence,
            ObjectKind::User => ItemKind::User,
            ObjectKind::Grants | ObjectKind::DefaultRole => return None,
        })
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An object by its kind and names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// Its database; empty of accounts.
    pub database: String,
    /// What it is.
    pub kind: ItemKind,
    /// Its name: of a database its own, of an account `'name'@'host'`, of a role of MariaDB its name
    /// in backticks.
    pub name: String,
}

impl Item {
    /// An object of a database.
    pub fn new(database: &str, kind: ItemKind, name: &str) -> Item {
        Item { database: database.to_owned(), kind, name: name.to_owned() }
    }

    /// The item whose statements these are; `None` of grants and default roles.
    pub fn of_object(object: &Object) -> Option<Item> {
        let kind = ItemKind::of_object(&object.kind)?;
        // MariaDB's roles have no host: the object's name is in backticks.
        let kind = match kind {
            ItemKind::User if object.name.starts_with('`') => ItemKind::Role,
            kind => kind,
        };
        Some(Item::new(&object.database, kind, &object.name))
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, &*self.database) {
            (ItemKind::Database, _) | (_, "") => write!(f, "{} {}", self.kind, self.name),
            (kind, database) => write!(f, "{kind} {database}.{}", self.name),
        }
    }
}
