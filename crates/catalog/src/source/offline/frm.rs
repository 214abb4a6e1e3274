//! The plan of a directory of a server with `.frm` files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use innoscan_engine::file_head::FileHead;
use innoscan_engine::keys::Keys;
use innoscan_engine::{Error, Result};
use innoscan_format::schema::TableDef;

use super::{Planner, database_directories, heads};
use crate::catalog::{AlreadyRead, sorted_entries};
use crate::datadir::DataDir;
use crate::ledger::{Item, ItemKind, Listed, State};
use crate::source::frm_server::objects_beside;
use crate::source::table_files::{Definition, TableFiles, tables_in};

/// Extensions of the files of a database and its tables.
const TABLE_EXTENSIONS: [&str; 9] = ["frm", "ibd", "isl", "opt", "MYI", "MYD", "MAI", "MAD", "TRG"];

pub(super) fn plan(planner: &mut Planner<'_>) -> Result<()> {
    let directories = database_directories(planner.root, planner.catalog.keys())?;
    require_server_files(planner.root, &directories)?;
    let mut closed = Vec::new();
    for (schema, dir) in &directories {
        if !planner.enter_database(schema)? {
            continue;
        }
        match sorted_entries(dir, planner.catalog.keys()) {
            Ok(entries) => {
                if !dir.join("db.opt").is_file() {
                    planner.offline.ledger.note(format!(
                        "the database {schema} has no db.opt: its charset is the server's default, \
                         which no file says"
                    ));
                }
                database(planner, schema, &entries)?;
            }
            Err(error) => closed.push((schema, error)),
        }
    }
    // The server's tables contain routines and events of databases whose directories were lost.
    let is_lost = |database: &str| !directories.iter().any(|(schema, _)| schema == database);
    let is_wanted = |database: &str| planner.has_database(database) || is_lost(database);
    let mut found =
        objects_beside(planner.root, is_wanted, &|frm| planner.table_definitions.contains(frm))?;
    // A partial backup has the databases that were selected for it, but not the server's own.
    if !planner.root.join("mysql").is_dir() {
        found.unread.clear();
        planner.offline.ledger.note(
            "the directory has no database mysql: routines, events and accounts of its server are \
             not in it"
                .to_owned(),
        );
    }
    planner.objects(found)?;
    for (schema, error) in closed {
        let item = Item::new(schema, ItemKind::Database, schema);
        let mut reason = error.reason();
        reason.what.insert_str(0, "nothing in it can be read: ");
        planner.offline.ledger.set(&item, State::NotDumped(reason));
    }
    Ok(())
}

/// Refuses a directory that is not a server's: its subdirectories would all be taken for databases.
fn require_server_files(root: &Path, directories: &[(String, PathBuf)]) -> Result<()> {
    if DataDir::is_one(root) || holds_table_files(root) {
        return Ok(());
    }
    let mut below = directories.iter().map(|(_, dir)| dir);
    let error = match below.clone().find(|dir| DataDir::is_one(dir)) {
        Some(server) => Error::refused(
            "it is not the data directory of a server",
            format!("give the one in it: {}", server.display()),
        ),
        None if below.any(|dir| holds_table_files(dir)) => return Ok(()),
        None => Error::refused(
            "no file of a server is in it, nor in its subdirectories",
            "give the data directory of a server, a backup of one, or an .ibd file",
        ),
    };
    Err(error.in_file(root))
}

/// Whether a directory holds a file of a database or a table; one that cannot be listed may.
fn holds_table_files(dir: &Path) -> bool {
    let is_of_table = |path: &PathBuf| {
        let extension = path.extension().and_then(OsStr::to_str);
        extension.is_some_and(|extension| TABLE_EXTENSIONS.contains(&extension))
    };
    sorted_entries(dir, &Keys::default()).map_or(true, |entries| entries.iter().any(is_of_table))
}

fn database(planner: &mut Planner<'_>, schema: &str, entries: &[PathBuf]) -> Result<()> {
    let under_way = planner.catalog.under_way(schema)?;
    for (table, statement) in &under_way.absent {
        planner.offline.ledger.note(format!(
            "{schema}.{table} is not a table: the server was killed within {statement}"
        ));
    }
    let tables = tables_in(schema, entries, &under_way)?;
    let mut wanted = Vec::new();
    for table in tables.iter().filter(|table| table.is_in_own_file && !table.is_sequence()) {
        if planner.filter.excluded_by(&listed(table))?.is_none() {
            wanted.push(table.name.clone());
        }
    }
    let mut heads = heads::read(planner, wanted)?;
    for table in tables {
        let head = heads.remove(&table.name.table);
        self::table(planner, table, head)?;
    }
    Ok(())
}

fn table(
    planner: &mut Planner<'_>,
    table: TableFiles,
    head: Option<(FileHead, Option<TableDef>)>,
) -> Result<()> {
    // Sequences are dumped as objects.
    if table.is_sequence() {
        return Ok(());
    }
    if let Definition::Frm(_, frm) = &table.definition {
        planner.table_definitions.insert(frm.clone());
    }
    planner.table(listed(&table), |planner| open(planner, table, head))
}

fn listed(table: &TableFiles) -> Listed {
    match table.def() {
        Some(def) => Listed::of_table(def),
        None => Listed::table(&table.name.schema, &table.name.table, None),
    }
}

/// Finds the files and definition needed to dump a table.
fn open(
    planner: &mut Planner<'_>,
    table: TableFiles,
    head: Option<(FileHead, Option<TableDef>)>,
) -> Result<()> {
    let TableFiles { name, definition, may_be_exported, .. } = table;
    match definition {
        Definition::Ibd => {
            planner.open_innodb(&name, Some(AlreadyRead { frm: None, head, may_be_exported }))
        }
        Definition::Unread(error) => Err(error),
        Definition::Frm(def, _) if def.options.engine == "InnoDB" => {
            planner.open_innodb(&name, Some(AlreadyRead { frm: Some(*def), head, may_be_exported }))
        }
        Definition::Frm(def, frm) => planner.open_other(*def, &frm.with_extension("")),
    }
}
