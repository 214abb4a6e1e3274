//! The plan of a directory of a server with `.frm` files.

use std::path::PathBuf;

use super::{Planner, database_directories};
use crate::Result;
use crate::catalog::{TableName, sorted_entries};
use crate::ledger::{Item, ItemKind, Listed, State};
use crate::source::objects_of_frm_server;
use crate::source::table_files::{Definition, TableFiles, tables_in};

pub(super) fn plan(planner: &mut Planner<'_>) -> Result<()> {
    let directories = database_directories(planner.root)?;
    let mut closed = Vec::new();
    for (schema, dir) in &directories {
        if !planner.meet(schema)? {
            continue;
        }
        match sorted_entries(dir) {
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
    // The server's tables name routines and events of databases whose directories were lost.
    let is_lost = |database: &str| !directories.iter().any(|(schema, _)| schema == database);
    let is_wanted = |database: &str| planner.has_met(database) || is_lost(database);
    let mut found = objects_of_frm_server(planner.root, is_wanted)?;
    // A partial backup has the databases that were chosen for it, and not the server's own.
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
        let reason = format!("nothing in it can be read: {error}");
        planner.offline.ledger.set(&item, State::NotDumped(reason));
    }
    Ok(())
}

fn database(planner: &mut Planner<'_>, schema: &str, entries: &[PathBuf]) -> Result<()> {
    tables_in(schema, entries).into_iter().try_for_each(|table| self::table(planner, table))
}

fn table(planner: &mut Planner<'_>, table: TableFiles) -> Result<()> {
    // Sequences are objects.
    if table.is_sequence() {
        return Ok(());
    }
    let TableName { schema, table: name } = &table.name;
    let listed = match table.def() {
        Some(def) => Listed::of_table(def),
        None => Listed::table(schema, name, None),
    };
    planner.table(listed, |planner| open(planner, table))
}

/// Finds what is needed to dump a table.
fn open(planner: &mut Planner<'_>, table: TableFiles) -> Result<()> {
    let TableFiles { name, definition } = table;
    match definition {
        Definition::Ibd => planner.open_innodb(&name),
        Definition::Unread(error) => Err(error),
        Definition::Frm(def, _) if def.options.engine == "InnoDB" => planner.open_innodb(&name),
        Definition::Frm(def, frm) => planner.open_other(*def, &frm.with_extension("")),
    }
}
