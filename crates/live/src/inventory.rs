//! What a server has: databases and what is in them.

use innoscan::catalog::TableName;
use innoscan::{Error, Result};

use crate::session::{Session, cell, quoted_text};

/// Databases that hold no user's data.
const SYSTEM_DATABASES: [&str; 4] = ["mysql", "sys", "performance_schema", "information_schema"];

/// Which of a server's tables are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// All of these databases; with no tables named either: of every database.
    pub databases: Vec<String>,
    /// These tables, as `db.table`.
    pub tables: Vec<String>,
    /// Not these, as `db.table`.
    pub ignored: Vec<String>,
}

/// A table or what looks like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: TableName,
    /// What it is.
    pub kind: Kind,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A table whose rows are in files of InnoDB.
    InnoDb,
    /// A table of another engine.
    Other(String),
    /// A view.
    View,
    /// MariaDB's sequence.
    Sequence,
}

/// What is to be dumped.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// Databases, in the order of their names.
    pub databases: Vec<String>,
    /// What is in them, in the same order.
    pub entries: Vec<Entry>,
    /// Whether whole databases were asked for, with their routines and events.
    pub has_whole_databases: bool,
}

impl Inventory {
    /// Asks a server.
    ///
    /// # Errors
    /// When something that was named is not there, or nothing is.
    pub fn take(session: &mut Session, wanted: &Wanted) -> Result<Inventory> {
        let mut inventory = Inventory {
            has_whole_databases: wanted.tables.is_empty() || !wanted.databases.is_empty(),
            ..Inventory::default()
        };
        let mut missing: Vec<&String> = wanted.databases.iter().chain(&wanted.tables).collect();
        let is_all = missing.is_empty();
        let schemas =
            session.rows("SELECT schema_name FROM information_schema.schemata ORDER BY 1")?;
        for schema in schemas.iter().map(|row| cell(row, 0)) {
            if SYSTEM_DATABASES.contains(&&*schema) {
                continue;
            }
            let is_named = wanted.databases.contains(&schema);
            missing.retain(|name| **name != schema);
            let prefix = format!("{schema}.");
            if !is_all && !is_named && !wanted.tables.iter().any(|name| name.starts_with(&prefix)) {
                continue;
            }
            let mut is_met = is_all || is_named;
            for entry in entries(session, &schema)? {
                let name = entry.name.to_string();
                missing.retain(|wanted| **wanted != name);
                let is_wanted = is_all || is_named || wanted.tables.contains(&name);
                if is_wanted && !wanted.ignored.contains(&name) {
                    is_met = true;
                    inventory.entries.push(entry);
                }
            }
            if is_met {
                inventory.databases.push(schema);
            }
        }
        match missing.first() {
            Some(name) => Err(Error::refused(
                format!("the server has no database and no table `{name}`, or hides it from you"),
                "check the name and the account's privileges; names are case-sensitive",
            )),
            None => Ok(inventory),
        }
    }

    /// The entries of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &TableName> {
        self.entries.iter().filter(move |entry| entry.kind == kind).map(|entry| &entry.name)
    }
}

fn entries(session: &mut Session, schema: &str) -> Result<Vec<Entry>> {
    let sql = format!(
        "SELECT table_name, table_type, engine FROM information_schema.tables \
         WHERE table_schema = {} ORDER BY table_name",
        quoted_text(schema)
    );
    let entry = |row: &Vec<Option<Vec<u8>>>| Entry {
        name: TableName { schema: schema.to_owned(), table: cell(row, 0) },
        kind: match (&*cell(row, 1), cell(row, 2)) {
            ("VIEW" | "SYSTEM VIEW", _) => Kind::View,
            ("SEQUENCE", _) => Kind::Sequence,
            (_, engine) if engine == "InnoDB" => Kind::InnoDb,
            (_, engine) => Kind::Other(engine),
        },
    };
    Ok(session.rows(&sql)?.iter().map(entry).collect())
}
