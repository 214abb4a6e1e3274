//! What files do not hold: databases, views, triggers, routines, events, sequences, accounts.

use innoscan::dump::{Object, ObjectKind, ObjectSession};
use innoscan::{Error, Result};

use crate::inventory::{Inventory, Kind};
use crate::session::{Session, TextRow, cell, quoted_text};
use crate::users::users;
use innoscan::sink::sql::quoted_name;

/// Which objects are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// Views.
    pub views: bool,
    /// Triggers of wanted tables.
    pub triggers: bool,
    /// Functions, procedures and packages of whole databases.
    pub routines: bool,
    /// Events of whole databases.
    pub events: bool,
    /// Accounts and what they may do.
    pub users: bool,
}

/// Asks for all of them.
///
/// # Errors
/// When the server does not show one, with what it says.
pub fn objects(session: &mut Session, inventory: &Inventory, which: Which) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for database in &inventory.databases {
        let name = &database.name;
        let create = format!("SHOW CREATE DATABASE {}", quoted_name(name));
        let row = shown(session, &create)?;
        objects.push(object(name, ObjectKind::Database, name, vec![cell(&row, 1)]));
        for sequence in inventory.of_kind(Kind::Sequence).filter(|entry| entry.schema == *name) {
            objects.push(self::sequence(session, name, &sequence.table)?);
        }
        for view in inventory.of_kind(Kind::View).filter(|entry| entry.schema == *name) {
            if which.views {
                objects.push(self::view(session, name, &view.table)?);
            }
        }
        if which.triggers {
            triggers(session, inventory, name, &mut objects)?;
        }
        if which.routines && database.is_whole {
            routines(session, name, &mut objects)?;
        }
        if which.events && database.is_whole {
            events(session, name, &mut objects)?;
        }
    }
    if which.users {
        users(session, &mut objects)?;
    }
    Ok(objects)
}

pub(crate) fn object(
    database: &str,
    kind: ObjectKind,
    name: &str,
    statements: Vec<String>,
) -> Object {
    Object {
        database: database.to_owned(),
        kind,
        name: name.to_owned(),
        columns: Vec::new(),
        statements,
        session: None,
    }
}

/// The session a routine was made in: `sql_mode` behind its name, three others from `charsets_at` on.
fn made_in(row: &TextRow, charsets_at: usize) -> ObjectSession {
    ObjectSession {
        sql_mode: cell(row, 1),
        character_set_client: cell(row, charsets_at),
        collation_connection: cell(row, charsets_at + 1),
        database_collation: cell(row, charsets_at + 2),
        time_zone: String::new(),
    }
}

/// The row a `SHOW CREATE` answers with.
pub(crate) fn shown(session: &mut Session, sql: &str) -> Result<TextRow> {
    let row = session.rows(sql)?.into_iter().next();
    row.ok_or_else(|| Error::server(sql, "there is no answer"))
}

fn qualified(database: &str, name: &str) -> String {
    format!("{}.{}", quoted_name(database), quoted_name(name))
}

fn sequence(session: &mut Session, database: &str, name: &str) -> Result<Object> {
    let place = qualified(database, name);
    let create = cell(&shown(session, &format!("SHOW CREATE TABLE {place}"))?, 1);
    // That of a sequence as a table would make a table; the two differ in their first words.
    let create = match create.starts_with("CREATE SEQUENCE") {
        true => create,
        false => cell(&shown(session, &format!("SHOW CREATE SEQUENCE {place}"))?, 1),
    };
    let state = format!("SELECT next_not_cached_value, cycle_count FROM {place}");
    let state = shown(session, &state)?;
    let [next, round] = [cell(&state, 0), cell(&state, 1)];
    let set = format!("DO SETVAL({}, {next}, 0, {round})", quoted_name(name));
    Ok(object(database, ObjectKind::Sequence, name, vec![create, set]))
}

fn view(session: &mut Session, database: &str, name: &str) -> Result<Object> {
    let row = shown(session, &format!("SHOW CREATE VIEW {}", qualified(database, name)))?;
    let columns = format!(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = {} AND \
         table_name = {} ORDER BY ordinal_position",
        quoted_text(database),
        quoted_text(name)
    );
    let columns = session.rows(&columns)?.iter().map(|row| cell(row, 0)).collect();
    let made_in = ObjectSession {
        character_set_client: cell(&row, 2),
        collation_connection: cell(&row, 3),
        ..ObjectSession::default()
    };
    let view = object(database, ObjectKind::View, name, vec![cell(&row, 1)]);
    Ok(Object { columns, session: Some(made_in), ..view })
}

fn triggers(
    session: &mut Session,
    inventory: &Inventory,
    database: &str,
    objects: &mut Vec<Object>,
) -> Result<()> {
    let rows = session.rows(&format!("SHOW TRIGGERS FROM {}", quoted_name(database)))?;
    for row in rows {
        let (name, table) = (cell(&row, 0), cell(&row, 2));
        let is_wanted = |entry: &crate::inventory::Entry| {
            entry.name.schema == database && entry.name.table == table
        };
        if !inventory.entries.iter().any(is_wanted) {
            continue;
        }
        let sql = format!("SHOW CREATE TRIGGER {}", qualified(database, &name));
        let row = shown(session, &sql)?;
        let made_in = made_in(&row, 3);
        let trigger = object(database, ObjectKind::Trigger { table }, &name, vec![cell(&row, 2)]);
        objects.push(Object { session: Some(made_in), ..trigger });
    }
    Ok(())
}

fn routines(session: &mut Session, database: &str, objects: &mut Vec<Object>) -> Result<()> {
    let sql = format!(
        "SELECT routine_type, routine_name FROM information_schema.routines \
         WHERE routine_schema = {} ORDER BY routine_type, routine_name",
        quoted_text(database)
    );
    for row in session.rows(&sql)? {
        let (typed, name) = (cell(&row, 0), cell(&row, 1));
        let kind = match &*typed {
            "FUNCTION" => ObjectKind::Function,
            "PROCEDURE" => ObjectKind::Procedure,
            "PACKAGE" => ObjectKind::Package,
            "PACKAGE BODY" => ObjectKind::PackageBody,
            _ => continue,
        };
        let sql = format!("SHOW CREATE {typed} {}", qualified(database, &name));
        let row = shown(session, &sql)?;
        if row.get(2).is_none_or(Option::is_none) {
            return Err(Error::refused(
                format!("the account may not see the body of {typed} `{database}`.`{name}`"),
                "grant it SELECT on *.* (or SHOW_ROUTINE), or leave routines out by --no-routines",
            ));
        }
        let made_in = made_in(&row, 3);
        let routine = object(database, kind, &name, vec![cell(&row, 2)]);
        objects.push(Object { session: Some(made_in), ..routine });
    }
    Ok(())
}

fn events(session: &mut Session, database: &str, objects: &mut Vec<Object>) -> Result<()> {
    let rows = session.rows(&format!("SHOW EVENTS FROM {}", quoted_name(database)))?;
    for row in rows {
        let name = cell(&row, 1);
        let row = shown(session, &format!("SHOW CREATE EVENT {}", qualified(database, &name)))?;
        let made_in = ObjectSession { time_zone: cell(&row, 2), ..made_in(&row, 4) };
        let event = object(database, ObjectKind::Event, &name, vec![cell(&row, 3)]);
        objects.push(Object { session: Some(made_in), ..event });
    }
    Ok(())
}
