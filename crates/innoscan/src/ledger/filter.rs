//! The filter of a source's objects.

use std::fmt;

use super::{Item, ItemKind, Listed};
use crate::catalog::{SYSTEM_DATABASES, TableName};
use crate::wanted::{Exclusion, TableSelection};
use crate::{Reason, Result};

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

/// The reason why a filter leaves an object out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutReason {
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

impl LeftOutReason {
    /// The name of the reason in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LeftOutReason::System => "system",
            LeftOutReason::Selection(exclusion) => exclusion.name(),
            LeftOutReason::NoViews => "no_views",
            LeftOutReason::NoTriggers => "no_triggers",
            LeftOutReason::NoRoutines => "no_routines",
            LeftOutReason::NoEvents => "no_events",
            LeftOutReason::NoUsers => "no_users",
            LeftOutReason::NoSchemas => "no_schemas",
            LeftOutReason::Format => "format",
        }
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeftOutReason::System => "the server's own, which its installation creates",
            LeftOutReason::Selection(Exclusion::Databases) => "other databases were chosen",
            LeftOutReason::Selection(Exclusion::Tables) => "other tables were chosen",
            LeftOutReason::Selection(Exclusion::Ignored) => "excluded by name",
            LeftOutReason::Selection(Exclusion::Regex) => "the pattern does not match it",
            LeftOutReason::NoViews => "views were not selected",
            LeftOutReason::NoTriggers => "triggers were not selected",
            LeftOutReason::NoRoutines => "routines were not selected",
            LeftOutReason::NoEvents => "events were not selected",
            LeftOutReason::NoUsers => "accounts are dumped only on request",
            LeftOutReason::NoSchemas => "definitions were not selected",
            LeftOutReason::Format => "the format holds rows alone",
        })
    }
}

/// A filter of a source's objects: the user's selection of databases, tables and kinds of objects, and
/// the limits of the output.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The selected databases and tables.
    pub tables: TableSelection,
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
    /// A filter that leaves out only accounts and the server's own databases.
    pub fn all() -> Filter {
        Filter {
            tables: TableSelection::default(),
            kinds: ObjectKinds::without_users(),
            definitions: true,
            holds_objects: true,
            select_refusal: None,
        }
    }

    /// The reason why an object is left out; `None` if it is selected.
    ///
    /// # Errors
    /// A pattern takes too long to match the object's name.
    pub fn left_out_reason(&self, listed: &Listed) -> Result<Option<LeftOutReason>> {
        let Item { database, kind, name } = &listed.item;
        if SYSTEM_DATABASES.contains(&&**database) {
            return Ok(Some(LeftOutReason::System));
        }
        if let Some(exclusion) = self.exclusion(listed, database, *kind, name)? {
            return Ok(Some(LeftOutReason::Selection(exclusion)));
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
            (ItemKind::Database, _) => Ok(self.tables.excludes_database(database)),
            (ItemKind::Trigger, Some(table)) => self.tables.excludes(&named(table)),
            (kind, _) if kind.is_routine_or_event() => self.tables.excludes_routine(&named(name)),
            _ => self.tables.excludes(&named(name)),
        }
    }

    fn by_kind(&self, kind: ItemKind) -> Option<LeftOutReason> {
        use ItemKind::{Event, Role, Table, Trigger, User, View};
        let ObjectKinds { views, triggers, routines, events, users } = self.kinds;
        match kind {
            View if !views => Some(LeftOutReason::NoViews),
            Trigger if !triggers => Some(LeftOutReason::NoTriggers),
            Event if !events => Some(LeftOutReason::NoEvents),
            User | Role if !users => Some(LeftOutReason::NoUsers),
            kind if kind.is_routine_or_event() && kind != Event && !routines => {
                Some(LeftOutReason::NoRoutines)
            }
            kind if kind != Table && !self.definitions => Some(LeftOutReason::NoSchemas),
            kind if kind != Table && !self.holds_objects => Some(LeftOutReason::Format),
            _ => None,
        }
    }

    /// Whether objects of a kind may be selected, so that their list must be read.
    pub fn may_select(&self, kind: ItemKind) -> bool {
        let TableSelection { databases, tables, .. } = &self.tables;
        // Routines and events are dumped only with whole databases.
        let is_out_of_reach =
            kind.is_routine_or_event() && databases.is_empty() && !tables.is_empty();
        self.by_kind(kind).is_none() && !is_out_of_reach
    }
}
