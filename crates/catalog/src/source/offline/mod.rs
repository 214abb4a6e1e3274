//! The plan of an offline dump: every object of a stopped server's directory, in its ledger, and
//! the tables and statements of those that will be dumped.
//!
//! The objects are those that the server itself would find: in `.frm` and other files of
//! definitions (MariaDB, MySQL to 5.7), or in the dictionary in `mysql.ibd` (MySQL 8 and later). Data
//! files that neither lists are entered too, since their rows may be missed.

mod dictionary;
mod frm;
mod heads;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use innoscan_engine::file_head::FileHead;
use innoscan_engine::keys::Keys;
use innoscan_engine::{Error, ErrorKind, Result, Table};
use innoscan_format::schema::{TableDef, filename};

use super::{EngineTable, FoundObject, FoundObjects};
use crate::catalog::{AlreadyRead, Catalog, TableName, sorted_entries};
use crate::ledger::{
    DumpMethod, Filter, FilterRule, Item, ItemKind, Ledger, Listed, State, Unlisted,
};
use crate::object::{Object, ObjectKind};

/// Engines whose tables have no rows of their own in a stopped server's files: those of MEMORY are
/// lost at shutdown, the others' are elsewhere or do not exist.
const ENGINES_WITHOUT_ROWS: [&str; 4] = ["MEMORY", "BLACKHOLE", "FEDERATED", "SEQUENCE"];

/// The plan for the dump of a stopped server's directory.
#[derive(Debug, Default)]
pub struct Offline {
    /// The ledger with every object and the plan for it.
    pub ledger: Ledger,
    /// The InnoDB tables.
    pub tables: Vec<Table>,
    /// The MyISAM and Aria tables.
    pub engine_tables: Vec<EngineTable>,
    /// The definitions of tables without rows in the files.
    pub without_rows: Vec<TableDef>,
    /// Objects other than tables: databases, views, triggers and so on.
    pub objects: Vec<Object>,
}

impl Offline {
    /// Plans the dump of a directory.
    ///
    /// # Errors
    /// The directory as a whole cannot be read or must not be, or the filter names an object
    /// that does not exist.
    pub fn plan(catalog: &Catalog, filter: &Filter) -> Result<Offline> {
        filter.tables.require_no_system()?;
        let root = catalog.datadir()?.to_owned();
        catalog.require_readable()?;
        let mut planner = Planner {
            root: &root,
            catalog,
            filter,
            offline: Offline::default(),
            databases: Vec::new(),
            table_definitions: HashSet::new(),
        };
        match is_of_dictionary(&root) {
            true => dictionary::plan(&mut planner)?,
            false => frm::plan(&mut planner)?,
        }
        planner.require_named()?;
        let mut offline = planner.offline;
        // Once, not for each table.
        let of_all = catalog.directory_notes()?;
        for table in &mut offline.tables {
            table.notes.rows.retain(|note| !of_all.contains(note));
        }
        of_all.into_iter().for_each(|note| offline.ledger.note(note));
        Ok(offline)
    }

    /// Reads the heads of the planned InnoDB tables, and enters as not dumped those that cannot be
    /// read.
    pub fn check_heads(&mut self) {
        for table in &self.tables {
            if let Err(error) = read_heads(table) {
                let item = Listed::of_table(&table.def).item;
                self.ledger.set(&item, State::NotDumped(error.reason()));
            }
        }
    }
}

/// Reads the heads of a table's files, where that was not done before, and requires their keys; returns the first head.
///
/// # Errors
/// One of the files cannot be read.
pub fn read_heads(table: &Table) -> Result<Option<FileHead>> {
    let mut first = None;
    for file in &table.files {
        let head = file.head()?;
        first.get_or_insert(head);
    }
    table.require_keys()?;
    Ok(first)
}

/// A plan in progress.
struct Planner<'p> {
    root: &'p Path,
    catalog: &'p Catalog,
    filter: &'p Filter,
    offline: Offline,
    /// Databases with objects that may be selected.
    databases: Vec<String>,
    /// The `.frm` files of tables, which were read.
    table_definitions: HashSet<PathBuf>,
}

impl Planner<'_> {
    /// Enters an object according to the filter; returns whether it will be dumped.
    fn enter(&mut self, listed: Listed, method: DumpMethod) -> Result<bool> {
        let rule = self.filter.excluded_by(&listed)?;
        let state = rule.map_or(State::Planned(method), State::LeftOut);
        self.offline.ledger.enter(listed, state);
        Ok(rule.is_none())
    }

    fn refuse(&mut self, item: &Item, error: &Error) {
        self.offline.ledger.set(item, State::NotDumped(error.reason()));
    }

    /// Enters a database; returns whether some of its objects may be selected. The contents of
    /// other databases are not read: such a database is entered as left out, without its objects.
    fn enter_database(&mut self, database: &str) -> Result<bool> {
        let listed = Listed::new(database, ItemKind::Database, database);
        match self.filter.excluded_by(&listed)? {
            Some(rule @ (FilterRule::System | FilterRule::Selection(_))) => {
                self.offline.ledger.enter(listed, State::LeftOut(rule));
                Ok(false)
            }
            _ => {
                self.databases.push(database.to_owned());
                self.enter(listed, DumpMethod::Definition)?;
                Ok(true)
            }
        }
    }

    /// Enters a table of an entered database, and opens it to find the facts needed to dump it.
    fn table(&mut self, listed: Listed, open: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let item = listed.item.clone();
        if !self.enter(listed, DumpMethod::Files)? {
            return Ok(());
        }
        match open(self) {
            // A directory that must not be read as a whole is refused once.
            Err(error) if error.kind() == ErrorKind::RefusedDirectory => Err(error),
            Err(error) => {
                self.refuse(&item, &error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Opens an InnoDB table, whose heads may have been read before.
    fn open_innodb(&mut self, name: &TableName, already_read: Option<AlreadyRead>) -> Result<()> {
        let table = match already_read {
            Some(already_read) => self.catalog.named_by(name, already_read)?,
            None => self.catalog.named(name)?,
        };
        self.offline.ledger.enter(Listed::of_table(&table.def), State::Planned(DumpMethod::Files));
        self.offline.tables.push(table);
        Ok(())
    }

    /// Opens a table of another engine; `stem` is the path of its data files without extension.
    fn open_other(&mut self, def: TableDef, stem: &Path) -> Result<()> {
        if ENGINES_WITHOUT_ROWS.contains(&&*def.options.engine) {
            let item = Listed::of_table(&def).item;
            self.offline.ledger.set(&item, State::Planned(DumpMethod::Definition));
            self.offline.without_rows.push(def);
            return Ok(());
        }
        self.offline.engine_tables.push(EngineTable::of_definition(def, stem)?);
        Ok(())
    }

    /// Refuses names in the user's selection that do not exist.
    fn require_named(&self) -> Result<()> {
        use ItemKind::{Sequence, Table, View};
        // A table left out by name exists.
        let entries = self.offline.ledger.entries().map(|entry| &entry.listed.item);
        let like_tables = entries.filter(|item| matches!(item.kind, Table | View | Sequence));
        let name =
            |item: &Item| TableName { schema: item.database.clone(), table: item.name.clone() };
        let names: Vec<TableName> = like_tables.map(name).collect();
        match self.filter.tables.missing(self.databases.iter().map(String::as_str), &names) {
            None => Ok(()),
            Some(name) => Err(Error::not_found(
                format!("there is no database and no table `{name}` in the directory"),
                "check the name; names are case-sensitive",
            )),
        }
    }

    /// Whether some of a database's objects may be selected.
    fn has_database(&self, database: &str) -> bool {
        self.databases.iter().any(|entered| entered == database)
    }

    /// Enters objects other than tables.
    fn objects(&mut self, found: FoundObjects) -> Result<()> {
        for FoundObject { item, statements } in found.objects {
            let of_statements = statements.iter().flatten().find_map(Listed::of_object);
            let listed = of_statements.unwrap_or_else(|| Listed::from(item));
            let item = listed.item.clone();
            if !self.enter(listed, DumpMethod::Definition)? {
                continue;
            }
            match statements {
                Ok(statements) => self.offline.objects.extend(statements),
                Err(error) => self.refuse(&item, &error),
            }
        }
        // Accounts come after all objects that their statements name.
        self.offline.objects.sort_by_key(|object| match object.kind {
            ObjectKind::User => 1,
            ObjectKind::Grants => 2,
            ObjectKind::DefaultRole => 3,
            _ => 0,
        });
        for unread in found.unread {
            self.unlisted(&unread.kinds, &unread.error);
        }
        Ok(())
    }

    /// Enters a class of objects that cannot be listed, unless none of them is selected.
    fn unlisted(&mut self, kinds: &[ItemKind], error: &Error) {
        let kinds = kinds.iter().copied().filter(|kind| self.filter.may_select(*kind));
        let kinds: Vec<ItemKind> = kinds.collect();
        if !kinds.is_empty() {
            self.offline.ledger.enter_unlisted(Unlisted { kinds, reason: error.reason() });
        }
    }
}

/// Whether a directory belongs to a server whose dictionary is in `mysql.ibd` (MySQL 8 and later), even
/// if that file was lost.
fn is_of_dictionary(root: &Path) -> bool {
    ["mysql.ibd", "#innodb_redo", "undo_001", "#ib_16384_0.dblwr"]
        .iter()
        .any(|name| root.join(name).exists())
}

/// The directories of databases, with the databases' names.
fn database_directories(root: &Path, keys: &Keys) -> Result<Vec<(String, PathBuf)>> {
    let mut directories = Vec::new();
    for path in sorted_entries(root, keys)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Names that begin with # are InnoDB's own; hidden directories are not the server's. It takes
        // any other directory for a database, except lost+found, which it is configured to ignore.
        let is_none = name.starts_with(['#', '.']) || name == "lost+found";
        if !is_none && path.is_dir() {
            directories.push((filename::decode(&name), path));
        }
    }
    directories.sort();
    Ok(directories)
}
