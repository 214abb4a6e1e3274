//! What a server has: databases and what is in them.

use innoscan::catalog::{SYSTEM_DATABASES, TableName};
use innoscan::{Error, Result, Wanted};

use crate::session::{Session, cell, quoted_text};

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
    pub databases: Vec<Database>,
    /// What is in them, in the same order.
    pub entries: Vec<Entry>,
}

/// A database of which something is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Whether all of it is, with its routines and events.
    pub is_whole: bool,
}

impl Inventory {
    /// Asks a server.
    ///
    /// # Errors
    /// When something that was named is not there, or nothing is.
    pub fn take(session: &mut Session, wanted: &Wanted) -> Result<Inventory> {
        wanted.require_no_system()?;
        let mut inventory = Inventory::default();
        let mut names = Vec::new();
        let schemas =
            session.rows("SELECT schema_name FROM information_schema.schemata ORDER BY 1")?;
        let mut schemas: Vec<String> = schemas.iter().map(|row| cell(row, 0)).collect();
        schemas.retain(|schema| !SYSTEM_DATABASES.contains(&&**schema));
        for schema in &schemas {
            let is_whole = wanted.wants_whole(schema);
            let mut is_met = is_whole;
            for entry in entries(session, schema)? {
                names.push(entry.name.clone());
                if wanted.wants(&entry.name)? {
                    is_met = true;
                    inventory.entries.push(entry);
                }
            }
            if is_met {
                inventory.databases.push(Database { name: schema.clone(), is_whole });
            }
        }
        match wanted.missing(schemas.iter().map(String::as_str), &names) {
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
