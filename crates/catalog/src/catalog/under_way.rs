//! Statements that a killed MariaDB server had not finished, by its DDL log.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};
use innoscan_format::ddl_log::{self, Action, Alter, AlterPhase, LoggedTable};
use innoscan_format::schema::dictionary::{Dictionary, dictionary_name};
use innoscan_format::schema::filename;

use super::directory_of;

/// The server's name for the log, unless `--log-ddl-recovery` gives another.
pub(super) const DDL_LOG: &str = "ddl_recovery.log";

/// What becomes of tables when the server ends its unfinished statements, by the names of database and table.
#[derive(Debug, Default)]
pub(super) struct UnderWay(HashMap<(String, String), Change>);

/// What becomes of a table.
#[derive(Debug)]
pub(super) enum Change {
    /// It is the new table of an `ALTER TABLE`.
    Redefined {
        /// The file with its definition, unless that has the table's name already.
        definition: Option<PathBuf>,
        /// Its name in InnoDB's dictionary, behind that of the database, unless it is the table's own.
        name: Option<String>,
    },
    /// More than its definition changes, by this statement.
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
                changes.insert((table.schema, table.table), change);
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
            Change::Redefined { definition, .. } => definition.as_deref(),
            Change::Unknown(_) => None,
        }
    }

    /// The name that InnoDB's dictionary has for a table, behind that of the database, if it is not the table's own.
    pub fn name(&self, schema: &str, table: &str) -> Option<&str> {
        match self.of(schema, table)? {
            Change::Redefined { name, .. } => name.as_deref(),
            Change::Unknown(_) => None,
        }
    }

    /// The tables of a database that get a new definition, and the files with these.
    pub fn redefined(&self, schema: &str) -> impl Iterator<Item = (&str, &Path)> {
        let of_schema = self.0.keys().filter(move |(database, _)| database == schema);
        of_schema.filter_map(|(schema, table)| Some((&**table, self.definition(schema, table)?)))
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
            vec![unknown(from, "RENAME TABLE"), unknown(to, "RENAME TABLE")]
        }
        Action::Drop(table) => vec![unknown(table, "DROP TABLE")],
        Action::Create(table) => vec![unknown(table, "CREATE TABLE")],
        Action::Partitions(paths) => {
            let tables = paths.iter().filter_map(|path| table_of(path));
            tables.map(|table| unknown(table, "ALTER TABLE ... PARTITION")).collect()
        }
        Action::Other => Vec::new(),
    }
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
        AlterPhase::InPlace if dictionary.table(&own)?.trx_id != alter.trx_id => None,
        AlterPhase::InPlace | AlterPhase::InPlaceDone => {
            frm.map(|frm| Change::Redefined { definition: Some(frm), name: None })
        }
        AlterPhase::Copied => {
            let copy = dictionary_name(schema, new);
            // The constraints get other names with the table.
            if dictionary.has_foreign_keys(&copy) {
                return unknown;
            }
            let name = dictionary.table(&copy).map(|_| new.to_owned());
            Some(Change::Redefined { definition: frm, name })
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
