//! Which of a source's objects the user chose.

use std::fmt;

use super::{Item, ItemKind, Listed};
use crate::catalog::{SYSTEM_DATABASES, TableName};
use crate::wanted::{Exclusion, Wanted};
use crate::{Reason, Result};

/// Which objects beside tables are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectKinds {
    /// Views.
    pub views: bool,
    /// Triggers of wanted tables.
    pub triggers: bool,
    /// Functions, procedures and packages.
    pub routines: bool,
    /// Events.
    pub events: bool,
    /// Accounts and roles, with what they are granted.
    pub users: bool,
}

impl ObjectKinds {
    /// All but accounts.
    pub fn without_users() -> ObjectKinds {
        ObjectKinds { views: true, triggers: true, routines: true, events: true, users: false }
    }
}

/// Why the user's choice leaves an object out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// The server's own database.
    System,
    /// A selection by database, table or pattern does not name it.
    Selection(Exclusion),
    /// Views are not wanted.
    NoViews,
    /// Triggers are not wanted.
    NoTriggers,
    /// Routines are not wanted.
    NoRoutines,
    /// Events are not wanted.
    NoEvents,
    /// Accounts are dumped only on request.
    NoUsers,
    /// Only rows are wanted.
    NoSchemas,
    /// The format holds rows alone.
    Format,
}

impl Choice {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Choice::System => "system",
            Choice::Selection(exclusion) => exclusion.name(),
            Choice::NoViews => "no_views",
            Choice::NoTriggers => "no_triggers",
            Choice::NoRoutines => "no_routines",
            Choice::NoEvents => "no_events",
            Choice::NoUsers => "no_users",
            Choice::NoSchemas => "no_schemas",
            Choice::Format => "format",
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Choice::System => "the server's own, which its installation makes",
            Choice::Selection(Exclusion::Databases) => "other databases were chosen",
            Choice::Selection(Exclusion::Tables) => "other tables were chosen",
            Choice::Selection(Exclusion::Ignored) => "excluded by name",
            Choice::Selection(Exclusion::Regex) => "the pattern does not match it",
            Choice::NoViews => "views were not wanted",
            Choice::NoTriggers => "triggers were not wanted",
            Choice::NoRoutines => "routines were not wanted",
            Choice::NoEvents => "events were not wanted",
            Choice::NoUsers => "accounts are dumped only on request",
            Choice::NoSchemas => "definitions were not wanted",
            Choice::Format => "the format holds rows alone",
        })
    }
}

/// Which of a source's objects the user chose.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Which databases and tables.
    pub wanted: Wanted,
    /// Which kinds of objects beside tables.
    pub kinds: ObjectKinds,
    /// Whether definitions are written: without them nothing but rows is.
    pub definitions: bool,
    /// Whether the output has a place for objects that are no tables.
    pub holds_objects: bool,
    /// Why the output has no place for rows that a server selects, if it has none.
    pub select_refusal: Option<Reason>,
}

impl Filter {
    /// Everything but accounts.
    pub fn all() -> Filter {
        Filter {
            wanted: Wanted::default(),
            kinds: ObjectKinds::without_users(),
            definitions: true,
            holds_objects: true,
            select_refusal: None,
        }
    }

    /// The choice that leaves an object out, if one does.
    ///
    /// # Errors
    /// When a pattern takes too long on its name.
    pub fn choice(&self, listed: &Listed) -> Result<Option<Choice>> {
        let Item { database, kind, name } = &listed.item;
        if SYSTEM_DATABASES.contains(&&**database) {
            return Ok(Some(Choice::System));
        }
        if let Some(exclusion) = self.exclusion(listed, database, *kind, name)? {
            return Ok(Some(Choice::Selection(exclusion)));
        }
        Ok(self.by_kind(*kind))
    }

    fn exclusion(
        &self,
        listed: &Listed,
        database: &str,
        kind: ItemKind,
        name: &str,
    ) -> Result<Option<Exclusion>> {
        let named =
            |table: &str| TableName { schema: database.to_owned(), table: table.to_owned() };
        match (kind, &listed.table) {
            (ItemKind::User | ItemKind::Role, _) => Ok(None),
            (ItemKind::Database, _) => Ok(self.wanted.excludes_database(database)),
            (ItemKind::Trigger, Some(table)) => self.wanted.excludes(&named(table)),
            (kind, _) if kind.is_routine_or_event() => self.wanted.excludes_routine(&named(name)),
            _ => self.wanted.excludes(&named(name)),
        }
    }

    fn by_kind(&self, kind: ItemKind) -> Option<Choice> {
        use ItemKind::{Event, Role, Table, Trigger, User, View};
        let ObjectKinds { views, triggers, routines, events, users } = self.kinds;
        match kind {
            View if !views => Some(Choice::NoViews),
            Trigger if !triggers => Some(Choice::NoTriggers),
            Event if !events => Some(Choice::NoEvents),
            User | Role if !users => Some(Choice::NoUsers),
            kind if kind.is_routine_or_event() && kind != Event && !routines => {
                Some(Choice::NoRoutines)
            }
            kind if kind != Table && !self.definitions => Some(Choice::NoSchemas),
            kind if kind != Table && !self.holds_objects => Some(Choice::Format),
            _ => None,
        }
    }

    /// Whether objects of a kind may be wanted at all: whether their list is worth reading.
    pub fn may_want(&self, kind: ItemKind) -> bool {
        let Wanted { databases, tables, .. } = &self.wanted;
        // They are dumped with whole databases.
        let is_out_of_reach =
            kind.is_routine_or_event() && databases.is_empty() && !tables.is_empty();
        self.by_kind(kind).is_none() && !is_out_of_reach
    }
}
