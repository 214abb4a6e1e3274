//! The plan of an offline dump: every object of a stopped server's directory, in its ledger, and
//! what is needed to dump those that are to be dumped.
//!
//! Which objects there are is said by what the server itself goes by: the `.frm` and other files of
//! definitions (MariaDB, MySQL to 5.7), or the dictionary in `mysql.ibd` (MySQL 8 and later). Data
//! files that neither knows are entered too: somebody may miss their rows.

mod dictionary;
mod frm;
mod heads;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use innoscan_format::schema::{TableDef, filename};
use innoscan_io::Direct;

use super::{EngineTable, FoundObject, FoundObjects};
use crate::catalog::{Catalog, LookedAt, TableName, sorted_entries};
use crate::dump::{Object, ObjectKind};
use crate::file_head::FileHead;
use crate::ledger::{Choice, Filter, Item, ItemKind, Ledger, Listed, Means, State, Unlisted};
use crate::{Error, ErrorKind, Result, Table};

/// Engines whose tables have no rows of their own in a stopped server's files: those of MEMORY are
/// gone at shutdown, the others' are elsewhere or nowhere.
const ENGINES_WITHOUT_ROWS: [&str; 4] = ["MEMORY", "BLACKHOLE", "FEDERATED", "SEQUENCE"];

/// A stopped server's directory, planned: what of it is to be dumped.
#[derive(Debug, Default)]
pub struct Offline {
    /// Every object, with what is planned for it.
    pub ledger: Ledger,
    /// The tables of InnoDB.
    pub tables: Vec<Table>,
    /// The tables of MyISAM and Aria.
    pub engine_tables: Vec<EngineTable>,
    /// The tables that have no rows in the files.
    pub without_rows: Vec<TableDef>,
    /// Databases, views, triggers and so on.
    pub objects: Vec<Object>,
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
        let mut planner = Planner {
            root: &root,
            catalog,
            filter,
            offline: Offline::default(),
            met: Vec::new(),
            table_definitions: HashSet::new(),
        };
        match is_of_dictionary(&root) {
            true => dictionary::plan(&mut planner)?,
            false => frm::plan(&mut planner)?,
        }
        planner.require_named()?;
        Ok(planner.offline)
    }

    /// Looks at the files of the tables of InnoDB that are planned, and enters those that cannot be
    /// read.
    pub fn look_at_tables(&mut self) {
        for table in &self.tables {
            if let Err(error) = look_at(table) {
                let item = Listed::of_table(&table.def).item;
                self.ledger.set(&item, State::NotDumped(error.reason()));
            }
        }
    }
}

/// Looks at the heads of a table's files, where that was not done before: that of the first.
///
/// # Errors
/// When one of them cannot be read.
pub(crate) fn look_at(table: &Table) -> Result<Option<FileHead>> {
    let mut first = None;
    for file in &table.files {
        let head = match file.head {
            Some(head) => head,
            None => {
                let space = file.open(Direct::Off)?;
                let readable = space.header().require_readable();
                readable.map_err(|error| Error::from(error).in_file(&file.path))?;
                FileHead::of(&space)
            }
        };
        first.get_or_insert(head);
    }
    Ok(first)
}

/// A plan in the making.
struct Planner<'p> {
    root: &'p Path,
    catalog: &'p Catalog,
    filter: &'p Filter,
    offline: Offline,
    /// Databases of which something may be wanted.
    met: Vec<String>,
    /// The `.frm` files of tables, which were read.
    table_definitions: HashSet<PathBuf>,
}

impl Planner<'_> {
    /// Enters an object as the filter has it; whether it is to be dumped.
    fn enter(&mut self, listed: Listed, means: Means) -> Result<bool> {
        let choice = self.filter.choice(&listed)?;
        let state = choice.map_or(State::Planned(means), State::LeftOut);
        self.offline.ledger.enter(listed, state);
        Ok(choice.is_none())
    }

    fn refuse(&mut self, item: &Item, error: &Error) {
        self.offline.ledger.set(item, State::NotDumped(error.reason()));
    }

    /// Meets a database: whether something of it may be wanted. What is in the others is not looked
    /// at: the database alone is entered as left out.
    fn meet(&mut self, database: &str) -> Result<bool> {
        let listed = Listed::new(database, ItemKind::Database, database);
        match self.filter.choice(&listed)? {
            Some(choice @ (Choice::System | Choice::Selection(_))) => {
                self.offline.ledger.enter(listed, State::LeftOut(choice));
                Ok(false)
            }
            _ => {
                self.met.push(database.to_owned());
                self.enter(listed, Means::Definition)?;
                Ok(true)
            }
        }
    }

    /// Enters a table of a database that was met, and finds what is needed to dump it.
    fn table(&mut self, listed: Listed, open: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let item = listed.item.clone();
        if !self.enter(listed, Means::Files)? {
            return Ok(());
        }
        match open(self) {
            // A directory that may not be read as a whole is refused once.
            Err(error) if error.kind() == ErrorKind::RefusedDirectory => Err(error),
            Err(error) => {
                self.refuse(&item, &error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Opens a table of InnoDB, whose files were looked at or not.
    fn open_innodb(&mut self, name: &TableName, looked_at: Option<LookedAt>) -> Result<()> {
        let table = match looked_at {
            Some(looked_at) => self.catalog.named_by(name, looked_at)?,
            None => self.catalog.named(name)?,
        };
        self.offline.ledger.enter(Listed::of_table(&table.def), State::Planned(Means::Files));
        self.offline.tables.push(table);
        Ok(())
    }

    /// Opens a table of another engine, whose data files are called as `stem`.
    fn open_other(&mut self, def: TableDef, stem: &Path) -> Result<()> {
        if ENGINES_WITHOUT_ROWS.contains(&&*def.options.engine) {
            let item = Listed::of_table(&def).item;
            self.offline.ledger.set(&item, State::Planned(Means::Definition));
            self.offline.without_rows.push(def);
            return Ok(());
        }
        self.offline.engine_tables.push(EngineTable::of_definition(def, stem)?);
        Ok(())
    }

    /// Refuses names that the user gave and nothing has.
    fn require_named(&self) -> Result<()> {
        use ItemKind::{Sequence, Table, View};
        // A table left out by name is there.
        let entries = self.offline.ledger.entries().map(|entry| &entry.listed.item);
        let like_tables = entries.filter(|item| matches!(item.kind, Table | View | Sequence));
        let name =
            |item: &Item| TableName { schema: item.database.clone(), table: item.name.clone() };
        let names: Vec<TableName> = like_tables.map(name).collect();
        match self.filter.wanted.missing(self.met.iter().map(String::as_str), &names) {
            None => Ok(()),
            Some(name) => Err(Error::not_found(
                format!("there is no database and no table `{name}` in the directory"),
                "check the name; names are case-sensitive",
            )),
        }
    }

    /// Whether something of a database may be wanted.
    fn has_met(&self, database: &str) -> bool {
        self.met.iter().any(|met| met == database)
    }

    /// Enters what is no table.
    fn objects(&mut self, found: FoundObjects) -> Result<()> {
        for FoundObject { item, statements } in found.objects {
            let of_statements = statements.iter().flatten().find_map(Listed::of_object);
            let listed = of_statements.unwrap_or_else(|| Listed::from(item));
            let item = listed.item.clone();
            if !self.enter(listed, Means::Definition)? {
                continue;
            }
            match statements {
                Ok(statements) => self.offline.objects.extend(statements),
                Err(error) => self.refuse(&item, &error),
            }
        }
        // Whatever a statement of an account names must be there before.
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

    /// Enters a class of objects that cannot be listed, unless nobody wants them.
    fn unlisted(&mut self, kinds: &[ItemKind], error: &Error) {
        let kinds = kinds.iter().copied().filter(|kind| self.filter.may_want(*kind));
        let kinds: Vec<ItemKind> = kinds.collect();
        if !kinds.is_empty() {
            self.offline.ledger.enter_unlisted(Unlisted { kinds, reason: error.reason() });
        }
    }
}

/// Whether a directory is of a server whose dictionary is in `mysql.ibd` (MySQL 8 and later), even if
/// that file was lost.
fn is_of_dictionary(root: &Path) -> bool {
    ["mysql.ibd", "#innodb_redo", "undo_001", "#ib_16384_0.dblwr"]
        .iter()
        .any(|name| root.join(name).exists())
}

/// The directories of databases, by the databases' names.
fn database_directories(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut directories = Vec::new();
    for path in sorted_entries(root)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // What begins with # is InnoDB's own; hidden directories are nobody's. The server takes
        // any other directory for a database, but lost+found it is told to ignore.
        let is_none = name.starts_with(['#', '.']) || name == "lost+found";
        if !is_none && path.is_dir() {
            directories.push((filename::decode(&name), path));
        }
    }
    directories.sort();
    Ok(directories)
}
