//! Triggers: the `.TRG` files of tables and the `.TRN` files that name their triggers.

use std::collections::BTreeSet;
use std::path::Path;

use innoscan_engine::{Error, Result};
use innoscan_format::schema::text_file::{TriggerDefinition, TriggersFile, trigger_table};
use innoscan_format::schema::{ServerVersion, filename, sql_mode};

use super::super::{FoundObject, Item, ItemKind};
use super::{database_name, files_with, read};
use crate::object::{Object, ObjectKind, ObjectSession};

/// The triggers of a database's directory, those of a table in the order in which they run.
///
/// A table whose file of triggers cannot be read yields an entry for each trigger named by a `.TRN`
/// file, or one for the table.
///
/// # Errors
/// The directory cannot be listed.
pub(super) fn triggers(server: ServerVersion, dir: &Path) -> Result<Vec<FoundObject>> {
    let mut found = Vec::new();
    let database = database_name(dir);
    let mut unread = BTreeSet::new();
    for (stem, path) in files_with(dir, "TRG")? {
        let table = filename::decode(&stem);
        let triggers = read(&path).and_then(|bytes| Ok(TriggersFile::parse(&bytes)?.triggers));
        let triggers = match triggers {
            Ok(triggers) => triggers,
            Err(error) => {
                let name = format!("(those of table {table})");
                let statements = Err(error.in_file(&path));
                let item = Item::new(&database, ItemKind::Trigger, &name);
                found.push(FoundObject { item, statements });
                unread.insert(table);
                continue;
            }
        };
        let has_table = dir.join(format!("{stem}.frm")).is_file();
        for (at, trigger) in triggers.into_iter().enumerate() {
            let name = match &trigger {
                Ok(trigger) => trigger.name.clone(),
                Err(_) => format!("(number {} of table {table})", at + 1),
            };
            let trigger = trigger.map_err(Error::from).and_then(|trigger| match has_table {
                true => self::trigger(server, &database, &table, trigger),
                false => Err(Error::refused(
                    format!("there is no table {table} that the trigger could be of"),
                    "the server does not see it either",
                )),
            });
            let statements = trigger.map(|object| vec![object]);
            let statements = statements.map_err(|error| error.in_file(&path));
            let item = Item::new(&database, ItemKind::Trigger, &name);
            found.push(FoundObject { item, statements });
        }
    }
    add_lost(dir, &database, &unread, &mut found)?;
    Ok(found)
}

/// Adds triggers that a `.TRN` file names but no table's file holds.
fn add_lost(
    dir: &Path,
    database: &str,
    unread: &BTreeSet<String>,
    found: &mut Vec<FoundObject>,
) -> Result<()> {
    let held: BTreeSet<String> = found.iter().map(|trigger| trigger.item.name.clone()).collect();
    for (stem, path) in files_with(dir, "TRN")? {
        let name = filename::decode(&stem);
        if held.contains(&name) {
            continue;
        }
        let table = read(&path).and_then(|bytes| Ok(trigger_table(&bytes)?));
        let lost = |table: String| {
            let why = match unread.contains(&table) {
                true => format!("the triggers of table {table} cannot be read"),
                false => format!("its file names table {table}, whose .TRG file does not hold it"),
            };
            Error::refused(why, "dump it from a running server, or make it again")
        };
        let error = match table {
            Ok(table) => lost(table),
            Err(error) => error,
        };
        found.push(FoundObject {
            item: Item::new(database, ItemKind::Trigger, &name),
            statements: Err(error.in_file(&path)),
        });
    }
    Ok(())
}

fn trigger(
    server: ServerVersion,
    database: &str,
    table: &str,
    trigger: TriggerDefinition,
) -> Result<Object> {
    let mode = sql_mode::names(trigger.sql_mode, server.family).ok_or_else(|| {
        Error::refused(
            format!("its sql_mode {:#x} has bits that no known server has", trigger.sql_mode),
            "dump it from a running server",
        )
    })?;
    let session = ObjectSession {
        sql_mode: mode,
        character_set_client: trigger.character_set_client,
        collation_connection: trigger.collation_connection,
        database_collation: trigger.database_collation,
        time_zone: String::new(),
    };
    let kind = ObjectKind::Trigger { table: table.to_owned() };
    let object = Object::new(database, kind, &trigger.name, vec![trigger.statement]);
    Ok(object.made_in(session))
}
