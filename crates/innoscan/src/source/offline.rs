//! The plan of an offline dump: every object of a stopped server's directory, in its ledger, and
//! what is needed to dump those that are to be dumped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use innoscan_format::schema::{TableDef, filename};
use innoscan_io::Direct;

use super::table_files::{Definition, TableFiles, tables_in};
use super::{FoundObject, FoundObjects};
use crate::catalog::{Catalog, TableName, sorted_entries};
use crate::dump::Object;
use crate::ledger::{Choice, Filter, ItemKind, Ledger, Listed, Means, State, Unlisted};
use crate::{Error, Result, Table};

/// Engines whose tables have no rows of their own in a stopped server's files: those of MEMORY are
/// gone at shutdown, the others' are elsewhere or nowhere.
const ENGINES_WITHOUT_ROWS: [&str; 5] =
    ["MEMORY", "BLACKHOLE", "FEDERATED", "PERFORMANCE_SCHEMA", "SEQUENCE"];

/// A stopped server's directory, planned: what of it is to be dumped.
#[derive(Debug, Default)]
pub struct Offline {
    /// Every object, with what is planned for it.
    pub ledger: Ledger,
    /// The tables to be read from their files.
    pub tables: Vec<Table>,
    /// The tables that have no rows in the files.
    pub without_rows: Vec<TableDef>,
    /// Databases, views, triggers and so on.
    pub objects: Vec<Object>,
    /// What the user should know of the directory.
    pub notes: Vec<String>,
}

impl Offline {
    /// Plans the dump of a directory.
    ///
    /// # Errors
    /// When the directory as a whole cannot be read or must not be, or the filter names something
    /// that is not there.
    pub fn plan(catalog: &Catalog, filter: &Filter) -> Result<Offline> {
        filter.wanted.require_no_system()?;
        let root = catalog.datadir()?.to_owned();
        catalog.require_readable()?;
        let mut plan = Planner { catalog, filter, offline: Offline::default(), names: Vec::new() };
        let databases = plan.databases(&root)?;
        for (schema, dir) in &databases {
            plan.database(schema, dir)?;
        }
        plan.require_named(&databases)?;
        plan.objects(&root)?;
        Ok(plan.offline)
    }
}

impl Offline {
    /// Looks at the files of the tables that are planned, and enters those that cannot be read.
    pub fn look_at_tables(&mut self) {
        for table in &self.tables {
            if let Err(error) = look_at(table) {
                let item = Listed::of_table(&table.def).item;
                self.ledger.set(&item, State::NotDumped(error.to_string()));
            }
        }
    }
}

fn look_at(table: &Table) -> Result<()> {
    for file in &table.files {
        let space = file.open(Direct::Off)?;
        let readable = space.header().require_readable();
        readable.map_err(|error| Error::from(error).in_file(&file.path))?;
    }
    Ok(())
}

struct Planner<'p> {
    catalog: &'p Catalog,
    filter: &'p Filter,
    offline: Offline,
    /// Every table that was met.
    names: Vec<TableName>,
}

impl Planner<'_> {
    /// The databases of which something may be wanted; the others are entered as left out.
    fn databases(&mut self, root: &Path) -> Result<BTreeMap<String, PathBuf>> {
        let mut databases = BTreeMap::new();
        for dir in sorted_entries(root)? {
            let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let schema = filename::decode(&name);
            // What begins with # is InnoDB's own; lost+found and hidden directories are nobody's.
            let is_none = name.starts_with(['#', '.']) || name == "lost+found";
            if is_none || !dir.is_dir() {
                continue;
            }
            let listed = Listed::new(&schema, ItemKind::Database, &schema);
            match self.filter.choice(&listed)? {
                Some(choice @ (Choice::System | Choice::Selection(_))) => {
                    self.offline.ledger.enter(listed, State::LeftOut(choice));
                }
                _ => _ = databases.insert(schema, dir),
            }
        }
        Ok(databases)
    }

    fn database(&mut self, schema: &str, dir: &Path) -> Result<()> {
        let listed = Listed::new(schema, ItemKind::Database, schema);
        let entries = match sorted_entries(dir) {
            Ok(entries) => entries,
            Err(error) => {
                let reason = format!("nothing in it can be read: {error}");
                self.offline.ledger.enter(listed, State::NotDumped(reason));
                return Ok(());
            }
        };
        self.enter(listed, Means::Definition)?;
        for table in tables_in(schema, &entries) {
            self.names.push(table.name.clone());
            self.table(table)?;
        }
        Ok(())
    }

    /// Enters an object as the filter has it; whether it is to be dumped.
    fn enter(&mut self, listed: Listed, means: Means) -> Result<bool> {
        let choice = self.filter.choice(&listed)?;
        let state = choice.map_or(State::Planned(means), State::LeftOut);
        self.offline.ledger.enter(listed, state);
        Ok(choice.is_none())
    }

    fn table(&mut self, table: TableFiles) -> Result<()> {
        if table.is_sequence() {
            return Ok(());
        }
        let TableName { schema, table: name } = &table.name;
        let listed = match table.def() {
            Some(def) => Listed::of_table(def),
            None => Listed::table(schema, name, None),
        };
        let item = listed.item.clone();
        if !self.enter(listed, Means::Files)? {
            return Ok(());
        }
        if let Err(error) = self.open(table) {
            // A directory that may not be read as a whole is refused once.
            if error.is_directory() {
                return Err(error);
            }
            self.offline.ledger.set(&item, State::NotDumped(error.to_string()));
        }
        Ok(())
    }

    /// Finds what is needed to dump a table.
    fn open(&mut self, table: TableFiles) -> Result<()> {
        let TableFiles { name, definition } = table;
        let def = match definition {
            Definition::Ibd => {
                let table = self.catalog.named(&name)?;
                self.offline
                    .ledger
                    .enter(Listed::of_table(&table.def), State::Planned(Means::Files));
                self.offline.tables.push(table);
                return Ok(());
            }
            Definition::Unread(error) => return Err(error),
            Definition::Frm(def) => *def,
        };
        match &*def.options.engine {
            "InnoDB" => self.offline.tables.push(self.catalog.named(&name)?),
            engine if ENGINES_WITHOUT_ROWS.contains(&engine) => {
                let listed = Listed::of_table(&def);
                self.offline.ledger.set(&listed.item, State::Planned(Means::Definition));
                self.offline.without_rows.push(def);
            }
            engine => {
                return Err(Error::refused(
                    format!("its engine is {engine}, whose files are not read"),
                    "dump it with its server",
                ));
            }
        }
        Ok(())
    }

    /// Refuses names that the user gave and nothing has.
    fn require_named(&self, databases: &BTreeMap<String, PathBuf>) -> Result<()> {
        let there = databases.keys().map(String::as_str);
        match self.filter.wanted.missing(there, &self.names) {
            None => Ok(()),
            Some(name) => Err(Error::refused(
                format!("there is no database and no table `{name}` in the directory"),
                "check the name; names are case-sensitive",
            )),
        }
    }

    /// Enters what is no table.
    fn objects(&mut self, root: &Path) -> Result<()> {
        let FoundObjects { objects, unread } = super::found_objects(root, self.filter)?;
        for FoundObject { item, statements } in objects {
            let of_statements = statements.iter().flatten().find_map(Listed::of_object);
            let listed = of_statements.unwrap_or_else(|| Listed::from(item));
            let item = listed.item.clone();
            if !self.enter(listed, Means::Definition)? {
                continue;
            }
            match statements {
                Ok(statements) => self.offline.objects.extend(statements),
                Err(error) => {
                    self.offline.ledger.set(&item, State::NotDumped(error.to_string()));
                }
            }
        }
        for unread in unread {
            let kinds = unread.kinds.into_iter().filter(|kind| self.filter.may_want(*kind));
            let kinds: Vec<ItemKind> = kinds.collect();
            if !kinds.is_empty() {
                let reason = unread.error.to_string();
                self.offline.ledger.enter_unlisted(Unlisted { kinds, reason });
            }
        }
        Ok(())
    }
}
