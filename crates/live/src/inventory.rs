//! The objects of a server, from its own lists, entered in the ledger of a dump.

use std::collections::HashMap;

use innoscan_catalog::catalog::{SYSTEM_DATABASES, TableName};
use innoscan_catalog::ledger::{
    DumpMethod, Filter, FilterRule, Item, ItemKind, Ledger, Listed, State, Unlisted,
};
use innoscan_engine::{Error, Reason, Result};

use crate::session::{Session, TextRow, cell, quoted_text};
use crate::users::grantees;
use crate::visibility::hidden;

/// A table, view or sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: TableName,
    /// The kind.
    pub kind: Kind,
    /// The server's error if it cannot open the table.
    pub broken: Option<String>,
}

/// The kinds of entries that share the namespace of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An InnoDB table.
    InnoDb,
    /// A table of another engine.
    Other(String),
    /// A view.
    View,
    /// A sequence (MariaDB).
    Sequence,
}

/// Engines whose tables have no rows of their own: the rows are another table's, another server's, or
/// generated.
const ENGINES_WITHOUT_ROWS: [&str; 4] = ["MRG_MyISAM", "FEDERATED", "BLACKHOLE", "CONNECT"];

/// Whether tables of an engine have rows of their own; of other tables only the definition is dumped.
pub(crate) fn engine_has_rows(engine: &str) -> bool {
    !ENGINES_WITHOUT_ROWS.contains(&engine)
}

/// The objects of a server, and which of them are to be dumped.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// Every object, with its planned state.
    pub ledger: Ledger,
    /// The databases with objects to dump, ordered by name.
    pub databases: Vec<String>,
    /// The tables, views and sequences to be dumped, in the same order.
    pub entries: Vec<Entry>,
    /// The triggers, routines and events to be dumped, in the order of the server's lists.
    pub objects: Vec<Listed>,
}

impl Inventory {
    /// Lists the objects of a server.
    ///
    /// # Errors
    /// If a named object does not exist, or the account sees no database.
    pub fn take(session: &mut Session, filter: &Filter) -> Result<Inventory> {
        filter.tables.require_no_system()?;
        let mut inventory = Inventory::default();
        let mut names = Vec::new();
        let schemas =
            session.rows("SELECT schema_name FROM information_schema.schemata ORDER BY 1")?;
        let schemas: Vec<String> = schemas.iter().map(|row| cell(row, 0)).collect();
        for schema in &schemas {
            let listed = Listed::new(schema, ItemKind::Database, schema);
            match filter.excluded_by(&listed)? {
                Some(rule @ (FilterRule::System | FilterRule::Selection(_))) => {
                    inventory.ledger.enter(listed, State::LeftOut(rule));
                }
                _ => inventory.add_database(session, filter, listed, &mut names)?,
            }
        }
        let is_own = |schema: &&String| !SYSTEM_DATABASES.contains(&&***schema);
        require_named(filter, schemas.iter().filter(is_own), &names)?;
        inventory.add_users(session, filter)?;
        for unlisted in hidden(session, filter)? {
            inventory.ledger.enter_unlisted(unlisted);
        }
        if !schemas.iter().any(|schema| !SYSTEM_DATABASES.contains(&&**schema))
            && !inventory.ledger.unlisted().is_empty()
        {
            return Err(Error::refused(
                "the account sees no database of this server",
                "grant it SELECT on *.* (docs/live.md lists all it needs), or use another account",
            ));
        }
        Ok(inventory)
    }

    /// The entries of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &TableName> {
        self.entries.iter().filter(move |entry| entry.kind == kind).map(|entry| &entry.name)
    }

    /// Whether a table is to be dumped.
    pub fn has(&self, name: &TableName) -> bool {
        self.entries.iter().any(|entry| entry.name == *name)
    }

    /// Enters an InnoDB table that cannot be read from its files: it is read by `SELECT` if the filter
    /// allows it.
    pub(crate) fn enter_unread(&mut self, name: &TableName, filter: &Filter) {
        let item = Item::new(&name.schema, ItemKind::Table, &name.table);
        let refusal = filter.select_refusal.clone();
        let state = refusal.map_or(State::Planned(DumpMethod::Select), State::NotDumped);
        self.ledger.set(&item, state);
    }

    /// Enters an InnoDB table that is fetched by `SELECT`.
    pub(crate) fn enter_small(&mut self, name: &TableName) {
        let item = Item::new(&name.schema, ItemKind::Table, &name.table);
        self.ledger.set(&item, State::Planned(DumpMethod::Select));
    }

    /// Enters a table that the server cannot open: it is not dumped.
    pub(crate) fn enter_broken(&mut self, name: &TableName, reason: Reason) {
        let item = Item::new(&name.schema, ItemKind::Table, &name.table);
        self.ledger.set(&item, State::NotDumped(reason));
        self.entries.retain(|entry| entry.name != *name);
    }

    fn add_database(
        &mut self,
        session: &mut Session,
        filter: &Filter,
        listed: Listed,
        names: &mut Vec<TableName>,
    ) -> Result<()> {
        let schema = listed.item.name.clone();
        self.enter(filter, listed, DumpMethod::Definition)?;
        let mut partitions = partitions(session, &schema)?;
        for entry in entries(session, &schema)? {
            names.push(entry.name.clone());
            let TableName { table, .. } = &entry.name;
            let (mut listed, method) = match &entry.kind {
                Kind::InnoDb => {
                    (Listed::table(&schema, table, Some("InnoDB".to_owned())), DumpMethod::Files)
                }
                Kind::Other(engine) => {
                    let method = match engine_has_rows(engine) {
                        true => DumpMethod::Select,
                        false => DumpMethod::Definition,
                    };
                    (Listed::table(&schema, table, Some(engine.clone())), method)
                }
                Kind::View => (Listed::new(&schema, ItemKind::View, table), DumpMethod::Definition),
                Kind::Sequence => {
                    (Listed::new(&schema, ItemKind::Sequence, table), DumpMethod::Definition)
                }
            };
            listed.partitions = partitions.remove(table).unwrap_or_default();
            let item = listed.item.clone();
            if !self.enter(filter, listed, method)? {
                continue;
            }
            let is_of_server = matches!(entry.kind, Kind::Other(_));
            let refusal = filter.select_refusal.clone().filter(|_| is_of_server);
            match entry.broken.clone().map(Reason::from).or(refusal) {
                Some(reason) => self.ledger.set(&item, State::NotDumped(reason)),
                None => self.entries.push(entry),
            }
        }
        for listed in objects_of(session, &schema)? {
            if self.enter(filter, listed.clone(), DumpMethod::Definition)? {
                self.objects.push(listed);
            }
        }
        let has_any = self.entries.iter().any(|entry| entry.name.schema == schema)
            || self.objects.iter().any(|listed| listed.item.database == schema);
        if has_any || filter.tables.selects_whole_database(&schema) {
            self.databases.push(schema);
        }
        Ok(())
    }

    fn add_users(&mut self, session: &mut Session, filter: &Filter) -> Result<()> {
        match grantees(session) {
            Ok(grantees) => {
                for listed in grantees {
                    self.enter(filter, listed, DumpMethod::Definition)?;
                }
            }
            Err(error) if filter.kinds.users => {
                let kinds = vec![ItemKind::User, ItemKind::Role];
                self.ledger.enter_unlisted(Unlisted { kinds, reason: error.reason() });
            }
            // Without --users they are not needed, and the account may lack the privilege.
            Err(_) => {}
        }
        Ok(())
    }

    /// Enters an object with the state that the filter gives it; returns whether it is to be dumped.
    fn enter(&mut self, filter: &Filter, listed: Listed, method: DumpMethod) -> Result<bool> {
        let rule = filter.excluded_by(&listed)?;
        self.ledger.enter(listed, rule.map_or(State::Planned(method), State::LeftOut));
        Ok(rule.is_none())
    }
}

fn require_named<'s>(
    filter: &Filter,
    schemas: impl Iterator<Item = &'s String>,
    names: &'s [TableName],
) -> Result<()> {
    match filter.tables.missing(schemas.map(String::as_str), names) {
        None => Ok(()),
        Some(name) => Err(Error::not_found(
            format!("the server has no database and no table `{name}`, or hides it from you"),
            "check the name and the account's privileges; names are case-sensitive",
        )),
    }
}

fn entries(session: &mut Session, schema: &str) -> Result<Vec<Entry>> {
    let sql = format!(
        "SELECT table_name, table_type, engine, table_comment FROM information_schema.tables \
         WHERE table_schema = {} ORDER BY table_name",
        quoted_text(schema)
    );
    let entry = |row: &TextRow| Entry {
        name: TableName { schema: schema.to_owned(), table: cell(row, 0) },
        kind: match (&*cell(row, 1), cell(row, 2)) {
            ("VIEW" | "SYSTEM VIEW", _) => Kind::View,
            ("SEQUENCE", _) => Kind::Sequence,
            (_, engine) if engine == "InnoDB" => Kind::InnoDb,
            (_, engine) => Kind::Other(engine),
        },
        // For a table that it cannot open, the server lists no engine, and the error as the comment.
        broken: (cell(row, 2).is_empty() && cell(row, 1).ends_with("TABLE"))
            .then(|| format!("the server cannot open it: {}", cell(row, 3))),
    };
    Ok(session.rows(&sql)?.iter().map(entry).collect())
}

/// The names of partitions or subpartitions, by table.
fn partitions(session: &mut Session, schema: &str) -> Result<HashMap<String, Vec<String>>> {
    let schema = quoted_text(schema);
    // Listing partitions opens every table, so the list is limited to partitioned ones.
    let tables = format!(
        "SELECT table_name FROM information_schema.tables \
         WHERE table_schema = {schema} AND create_options LIKE '%partitioned%'"
    );
    let tables: Vec<String> =
        session.rows(&tables)?.iter().map(|row| quoted_text(&cell(row, 0))).collect();
    let mut partitions: HashMap<String, Vec<String>> = HashMap::new();
    if tables.is_empty() {
        return Ok(partitions);
    }
    let sql = format!(
        "SELECT table_name, COALESCE(subpartition_name, partition_name) \
         FROM information_schema.partitions \
         WHERE table_schema = {schema} AND table_name IN ({}) AND partition_name IS NOT NULL \
         ORDER BY table_name, partition_ordinal_position, subpartition_ordinal_position",
        tables.join(", ")
    );
    for row in session.rows(&sql)? {
        partitions.entry(cell(&row, 0)).or_default().push(cell(&row, 1));
    }
    Ok(partitions)
}

/// The triggers in firing order, routines and events of a database.
fn objects_of(session: &mut Session, schema: &str) -> Result<Vec<Listed>> {
    let mut objects = Vec::new();
    let quoted = quoted_text(schema);
    let triggers = format!(
        "SELECT trigger_name, event_object_table FROM information_schema.triggers \
         WHERE trigger_schema = {quoted} \
         ORDER BY event_object_table, action_timing, event_manipulation, action_order"
    );
    for row in session.rows(&triggers)? {
        let trigger = Listed::new(schema, ItemKind::Trigger, &cell(&row, 0));
        objects.push(Listed { table: Some(cell(&row, 1)), ..trigger });
    }
    let routines = format!(
        "SELECT routine_type, routine_name FROM information_schema.routines \
         WHERE routine_schema = {quoted} ORDER BY routine_type, routine_name"
    );
    for row in session.rows(&routines)? {
        let kind = match &*cell(&row, 0) {
            "FUNCTION" => ItemKind::Function,
            "PROCEDURE" => ItemKind::Procedure,
            "PACKAGE" => ItemKind::Package,
            "PACKAGE BODY" => ItemKind::PackageBody,
            _ => continue,
        };
        objects.push(Listed::new(schema, kind, &cell(&row, 1)));
    }
    let events = format!(
        "SELECT event_name FROM information_schema.events WHERE event_schema = {quoted} ORDER BY 1"
    );
    for row in session.rows(&events)? {
        objects.push(Listed::new(schema, ItemKind::Event, &cell(&row, 0)));
    }
    Ok(objects)
}
