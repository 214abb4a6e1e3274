//! The filter of a source's objects.

use std::fmt;

use innoscan_engine::{Reason, Result};

use super::{Item, ItemKind, Listed};
use crate::catalog::{SYSTEM_DATABASES, TableName};
use crate::table_selection::{Exclusion, TableSelection};

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

/// The rule of a filter that leaves an object out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilterRule {
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

impl FilterRule {
    /// The name of the rule in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FilterRule::System => "system",
            FilterRule::Selection(exclusion) => exclusion.name(),
            FilterRule::NoViews => "no_views",
            FilterRule::NoTriggers => "no_triggers",
            FilterRule::NoRoutines => "no_routines",
            FilterRule::NoEvents => "no_events",
            FilterRule::NoUsers => "no_users",
            FilterRule::NoSchemas => "no_schemas",
            FilterRule::Format => "format",
        }
    }
}

impl fmt::Display for FilterRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FilterRule::System => "the server's own, which its installation creates",
            FilterRule::Selection(Exclusion::Databases) => "other databases were chosen",
            FilterRule::Selection(Exclusion::Tables) => "other tables were chosen",
            FilterRule::Selection(Exclusion::Ignored) => "excluded by name",
            FilterRule::Selection(Exclusion::Regex) => "the pattern does not match it",
            FilterRule::NoViews => "views were not selected",
            FilterRule::NoTriggers => "triggers were not selected",
            FilterRule::NoRoutines => "routines were not selected",
            FilterRule::NoEvents => "events were not selected",
            FilterRule::NoUsers => "accounts are dumped only on request",
            FilterRule::NoSchemas => "definitions were not selected",
            FilterRule::Format => "the format holds rows alone",
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

    /// The rule that leaves an object out; `None` if the object is selected.
    ///
    /// # Errors
    /// A pattern takes too long to match the object's name.
    pub fn excluded_by(&self, listed: &Listed) -> Result<Option<FilterRule>> {
        let Item { database, kind, name } = &listed.item;
        if SYSTEM_DATABASES.contains(&&**database) {
            return Ok(Some(FilterRule::System));
        }
        if let Some(exclusion) = self.exclusion(listed, database, *kind, name)? {
            return Ok(Some(FilterRule::Selection(exclusion)));
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

    fn by_kind(&self, kind: ItemKind) -> Option<FilterRule> {
        use ItemKind::{Event, Role, Table, Trigger, User, View};
        let ObjectKinds { views, triggers, routines, events, users } = self.kinds;
        match kind {
            View if !views => Some(FilterRule::NoViews),
            Trigger if !triggers => Some(FilterRule::NoTriggers),
            Event if !events => Some(FilterRule::NoEvents),
            User | Role if !users => Some(FilterRule::NoUsers),
            kind if kind.is_routine_or_event() && kind != Event && !routines => {
                Some(FilterRule::NoRoutines)
            }
            kind if kind != Table && !self.definitions => Some(FilterRule::NoSchemas),
            kind if kind != Table && !self.holds_objects => Some(FilterRule::Format),
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
