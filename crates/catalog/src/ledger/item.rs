//! Objects as a server's own lists (`information_schema`) name them.

use std::fmt;

use crate::object::{Object, ObjectKind};

/// The kind of an object.
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

    /// The kind that has a [name](ItemKind::name).
    pub fn by_name(name: &str) -> Option<ItemKind> {
        ItemKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name of the kind in JSON and messages.
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

    /// The plural of the kind's name.
    pub fn plural(self) -> String {
        match self {
            ItemKind::PackageBody => "package bodies".to_owned(),
            kind => format!("{kind}s"),
        }
    }

    /// Whether objects of this kind belong to a database but are not tables, views or sequences: they
    /// are dumped only with whole databases.
    pub fn is_routine_or_event(self) -> bool {
        use ItemKind::{Event, Function, Package, PackageBody, Procedure};
        matches!(self, Function | Procedure | Package | PackageBody | Event)
    }

    /// The kind of the object that statements create; `None` for grants and default roles, which
    /// belong to the item of their account.
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

/// An object, identified by its kind and names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// The database; empty for accounts.
    pub database: String,
    /// The kind of the object.
    pub kind: ItemKind,
    /// The object's name: for a database its own, for an account `'name'@'host'`, for a role of
    /// MariaDB its name in backticks.
    pub name: String,
}

impl Item {
    /// An object in a database.
    pub fn new(database: &str, kind: ItemKind, name: &str) -> Item {
        Item { database: database.to_owned(), kind, name: name.to_owned() }
    }

    /// The item that an object's statements create; `None` for grants and default roles.
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
