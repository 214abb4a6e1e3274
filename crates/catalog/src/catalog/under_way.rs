//! Statements that a killed MariaDB server had not finished, by its DDL log.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};
use innoscan_format::ddl_log::{self, Action, Alter, AlterPhase, LoggedTable};
use innoscan_format::schema::dictionary::{Dictionary, dictionary_name};
use innoscan_format::schema::filename;

use super::{Catalog, directory_of};
use crate::datadir::DataDir;

/// The server's name for the log, unless `--log-ddl-recovery` gives another.
pub(super) const DDL_LOG: &str = "ddl_recovery.log";

/// What becomes of tables when the server ends its unfinished statements, by the names of database and table.
#[derive(Debug, Default)]
pub(super) struct UnderWay(HashMap<(String, String), Change>);

/// The tables of a database whose names are not those of their files.
#[derive(Debug, Default)]
pub(crate) struct UnderWayTables {
    /// Tables that there are, with the files of their definitions, if these have not the tables' names.
    pub there: BTreeMap<String, Option<PathBuf>>,
    /// Names of files that no table has, and the statements that are the reason.
    pub absent: BTreeMap<String, &'static str>,
}

impl Catalog {
    /// What becomes of tables of a database whose definition a killed server had not finished.
    ///
    /// # Errors
    /// The directory must not be read.
    pub(crate) fn under_way(&self, schema: &str) -> Result<UnderWayTables> {
        let mut tables = UnderWayTables::default();
        let root = self.datadir()?;
        if !DataDir::is_one(root) {
            return Ok(tables);
        }
        let directory = self.judged(root)?;
        for (table, change) in
            directory.under_way.get().iter().flat_map(|found| found.of_schema(schema))
        {
            match change {
                Change::Renamed { definition, .. } => {
                    tables.there.insert(table.to_owned(), definition.clone());
                }
                Change::Absent(statement) => {
                    tables.absent.insert(table.to_owned(), statement);
                }
                Change::Unknown(_) => {}
            }
        }
        Ok(tables)
    }
}

/// What becomes of a table.
#[derive(Debug)]
pub(super) enum Change {
    /// It is a table whose files or dictionary entry still have another name.
    Renamed {
        /// The file with its definition, unless that has the table's name already.
        definition: Option<PathBuf>,
        /// Its name in InnoDB's dictionary, behind that of the database, unless it is the table's own.
        name: Option<String>,
    },
    /// There is no such table, because of this statement.
    Absent(&'static str),
    /// It is not known, because of this statement.
    Unknown(&'static str),
}

impl UnderWay {
    /// Reads the log of the data directory `root`, if there is one; `dictionary`: InnoDB's own, of committed
    /// transactions.
    pub fn read(root: &Path, dictionary: Option<&Dictionary>) -> Result<UnderWay> {
        let path = root.join(DDL_LOG);
        if !path.is_file() {
            return Ok(UnderWay::default());
        }
        let log = std::fs::read(&path)
            .map_err(|error| Error::read("reading it", error).in_file(&path))?;
        let actions =
            ddl_log::unfinished(&log).map_err(|error| Error::from(error).in_file(&path))?;
        let mut changes = HashMap::new();
        for action in actions {
            for (table, change) in changes_by(action, root, dictionary) {
                let name = (table.schema, table.table);
                let is_first = changes.insert(name.clone(), change).is_none();
                if !is_first {
                    changes.insert(
                        name,
                        Change::Unknown("statement, and a second one on the same table"),
                    );
                }
            }
        }
        Ok(UnderWay(changes))
    }

    /// What becomes of a table; `None` if nothing was under way.
    pub fn of(&self, schema: &str, table: &str) -> Option<&Change> {
        self.0.get(&(schema.to_owned(), table.to_owned()))
    }

    /// The definition that a table gets.
    pub fn definition(&self, schema: &str, table: &str) -> Option<&Path> {
        match self.of(schema, table)? {
            Change::Renamed { definition, .. } => definition.as_deref(),
            Change::Absent(_) | Change::Unknown(_) => None,
        }
    }

    /// The name that InnoDB's dictionary has for a table, behind that of the database, if it is not the table's own.
    pub fn name(&self, schema: &str, table: &str) -> Option<&str> {
        match self.of(schema, table)? {
            Change::Renamed { name, .. } => name.as_deref(),
            Change::Absent(_) | Change::Unknown(_) => None,
        }
    }

    /// Files with the names of tables that are absent: they may be of others, which have not their names yet.
    pub fn files_of_absent(&self, root: &Path) -> Vec<PathBuf> {
        let absent = self.0.iter().filter(|(_, change)| matches!(change, Change::Absent(_)));
        let file = |(schema, table): &(String, String)| {
            directory_of(root, schema).join(format!("{}.ibd", filename::encode(table)))
        };
        absent.map(|(name, _)| file(name)).filter(|path| path.is_file()).collect()
    }

    /// The tables of a database that change, by their names.
    pub fn of_schema(&self, schema: &str) -> impl Iterator<Item = (&str, &Change)> {
        let of_schema = self.0.iter().filter(move |((database, _), _)| database == schema);
        of_schema.map(|((_, table), change)| (&**table, change))
    }
}

fn changes_by(
    action: Action,
    root: &Path,
    dictionary: Option<&Dictionary>,
) -> Vec<(LoggedTable, Change)> {
    let unknown = |table, statement| (table, Change::Unknown(statement));
    match action {
        Action::Alter(alter) => {
            let change = change_by_alter(&alter, root, dictionary);
            change.map(|change| (alter.table, change)).into_iter().collect()
        }
        Action::Rename { from, to } => {
            let change = change_by_rename(&from, &to, root, dictionary);
            vec![(from, change), (to, Change::Absent("RENAME TABLE, which a server takes back"))]
        }
        Action::Drop(table) => {
            vec![(table, Change::Absent("DROP TABLE, which a server finishes"))]
        }
        Action::Create(table) => {
            vec![(table, Change::Absent("CREATE TABLE, which a server takes back"))]
        }
        Action::Unknown(table) => vec![unknown(table, "RENAME TABLE or CREATE TABLE")],
        Action::Partitions(paths) => {
            let tables = paths.iter().filter_map(|path| table_of(path));
            tables.map(|table| unknown(table, "ALTER TABLE ... PARTITION")).collect()
        }
        Action::Other => Vec::new(),
    }
}

fn change_by_rename(
    from: &LoggedTable,
    to: &LoggedTable,
    root: &Path,
    dictionary: Option<&Dictionary>,
) -> Change {
    let file = |table: &LoggedTable| filename::encode(&table.table);
    let frm = |table: &LoggedTable| {
        directory_of(root, &table.schema).join(format!("{}.frm", file(table)))
    };
    let name = |table: &LoggedTable| dictionary_name(&table.schema, &file(table));
    let is_known = |dictionary: &Dictionary, table| dictionary.table(&name(table)).is_some();
    let Some(dictionary) = dictionary.filter(|_| from.schema == to.schema) else {
        return Change::Unknown("RENAME TABLE");
    };
    let is_renamed = !is_known(dictionary, from) && is_known(dictionary, to);
    // The constraints get other names with the table.
    if is_renamed && dictionary.has_foreign_keys(&name(to)) {
        return Change::Unknown("RENAME TABLE");
    }
    let is_moved = !frm(from).is_file() && frm(to).is_file();
    Change::Renamed { definition: is_moved.then(|| frm(to)), name: is_renamed.then(|| file(to)) }
}

fn change_by_alter(alter: &Alter, root: &Path, dictionary: Option<&Dictionary>) -> Option<Change> {
    let unknown = Some(Change::Unknown("ALTER TABLE"));
    if matches!(alter.phase, AlterPhase::Begun | AlterPhase::Done) {
        return None;
    }
    let (true, Some(dictionary)) = (alter.is_plain, dictionary) else { return unknown };
    let LoggedTable { schema, table } = &alter.table;
    let own = dictionary_name(schema, &filename::encode(table));
    // Only the file's name is followed.
    let new = Path::new(&alter.definition).file_name().and_then(|name| name.to_str());
    let Some(new) = new.filter(|new| new.starts_with("#sql")) else { return unknown };
    let frm =
        Some(directory_of(root, schema).join(format!("{new}.frm"))).filter(|frm| frm.is_file());
    match alter.phase {
        // Without a transaction, only the definition changes (seen on MariaDB 10.11 and 11.8).
        AlterPhase::InPlace
            if alter.trx_id != 0 && dictionary.table(&own)?.trx_id != alter.trx_id =>
        {
            None
        }
        AlterPhase::InPlace | AlterPhase::InPlaceDone => {
            frm.map(|frm| Change::Renamed { definition: Some(frm), name: None })
        }
        AlterPhase::Copied => {
            let copy = dictionary_name(schema, new);
            // The constraints get other names with the table.
            if dictionary.has_foreign_keys(&copy) {
                return unknown;
            }
            let name = dictionary.table(&copy).map(|_| new.to_owned());
            Some(Change::Renamed { definition: frm, name })
        }
        AlterPhase::Begun | AlterPhase::Done | AlterPhase::TakenBack => unknown,
    }
}

/// The table of a file of a partition.
fn table_of(path: &str) -> Option<LoggedTable> {
    let (directory, file) = path.rsplit_once('/')?;
    let schema = directory.rsplit('/').next()?;
    let table = filename::decode_table(file).table;
    Some(LoggedTable { schema: filename::decode(schema), table })
}
