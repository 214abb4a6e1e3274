//! The user's selection among the objects of a source.

use std::fmt;

use innoscan_engine::{Reason, Result};

use super::{Item, ItemKind, Listed};
use crate::catalog::{SYSTEM_DATABASES, TableName};
use crate::wanted::{Exclusion, Wanted};

/// The selected kinds of objects other than tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectKinds {
    /// Views.
    pub views: bool,
    /// Triggers of selected tables.
    pub triggers: bool,
    /// Functions, procedures and packages.
    pub routines: bool,
    /// Events.
    pub events: bool,
    /// Accounts and roles, with their grants.
    pub users: bool,
}

impl ObjectKinds {
    /// All kinds except accounts.
    pub fn without_users() -> ObjectKinds {
        ObjectKinds { views: true, triggers: true, routines: true, events: true, users: false }
    }
}

/// The choice of the user that leaves an object out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// The server's own database.
    System,
    /// The object is not in the selection by database, table or pattern.
    Selection(Exclusion),
    /// Views were not selected.
    NoViews,
    /// Triggers were not selected.
    NoTriggers,
    /// Routines were not selected.
    NoRoutines,
    /// Events were not selected.
    NoEvents,
    /// Accounts are dumped only on request.
    NoUsers,
    /// Definitions were not selected.
    NoSchemas,
    /// The output format holds only rows.
    Format,
}

impl Choice {
    /// The name of the choice in JSON.
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
            Choice::System => "the server's own, which its installation creates",
            Choice::Selection(Exclusion::Databases) => "other databases were chosen",
            Choice::Selection(Exclusion::Tables) => "other tables were chosen",
            Choice::Selection(Exclusion::Ignored) => "excluded by name",
            Choice::Selection(Exclusion::Regex) => "the pattern does not match it",
            Choice::NoViews => "views were not selected",
            Choice::NoTriggers => "triggers were not selected",
            Choice::NoRoutines => "routines were not selected",
            Choice::NoEvents => "events were not selected",
            Choice::NoUsers => "accounts are dumped only on request",
            Choice::NoSchemas => "definitions were not selected",
            Choice::Format => "the format holds rows alone",
        })
    }
}

/// The user's selection among the objects of a source.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The selected databases and tables.
    pub wanted: Wanted,
    /// The selected kinds of objects other than tables.
    pub kinds: ObjectKinds,
    /// Whether definitions are written; otherwise only rows are.
    pub definitions: bool,
    /// Whether the output can hold objects other than tables.
    pub holds_objects: bool,
    /// The reason why the output cannot hold rows selected by a server, if it cannot.
    pub select_refusal: Option<Reason>,
}

impl Filter {
    /// A selection of everything except accounts.
    pub fn all() -> Filter {
        Filter {
            wanted: Wanted::default(),
            kinds: ObjectKinds::without_users(),
            definitions: true,
            holds_objects: true,
            select_refusal: None,
        }
    }

    /// The choice that leaves an object out, if any does.
    ///
    /// # Errors
    /// A pattern takes too long to match the object's name.
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

    /// Whether objects of a kind may be selected, so that their list must be read.
    pub fn may_want(&self, kind: ItemKind) -> bool {
        let Wanted { databases, tables, .. } = &self.wanted;
        // Routines and events are dumped only with whole databases.
        let is_out_of_reach =
            kind.is_routine_or_event() && databases.is_empty() && !tables.is_empty();
        self.by_kind(kind).is_none() && !is_out_of_reach
    }
}
