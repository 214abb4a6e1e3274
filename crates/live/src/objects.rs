//! Objects other than tables: databases, views, triggers, routines, events, sequences, accounts.

use innoscan_catalog::ledger::{Filter, Item, ItemKind, Listed, State, Unlisted};
use innoscan_catalog::object::{Object, ObjectKind, ObjectSession};
use innoscan_engine::{Error, Remedy, Result};
use innoscan_format::schema::quoted_name;

use crate::inventory::{Inventory, Kind};
use crate::session::{Session, TextRow, cell, qualified, quoted_text};
use crate::users::users;

/// Fetches the statements of all planned objects of an inventory. Objects that the server does not show
/// are entered in the ledger.
///
/// # Errors
/// If the connection is lost.
pub fn objects(
    session: &mut Session,
    inventory: &mut Inventory,
    filter: &Filter,
) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for listed in wanted(inventory) {
        match one(session, &listed) {
            Ok(object) => objects.push(object),
            Err(error) => {
                // An error here means that the connection is lost.
                session.run("DO 1")?;
                inventory.ledger.set(&listed.item, State::NotDumped(error.reason()));
            }
        }
    }
    if filter.may_select(ItemKind::User)
        && let Err(error) = users(session, &mut objects)
    {
        session.run("DO 1")?;
        objects.retain(|object| !object.kind.is_of_accounts());
        let kinds = vec![ItemKind::User, ItemKind::Role];
        inventory.ledger.enter_unlisted(Unlisted { kinds, reason: error.reason() });
    }
    Ok(objects)
}

/// The objects to fetch, database by database.
fn wanted(inventory: &Inventory) -> Vec<Listed> {
    let mut wanted = Vec::new();
    for database in &inventory.databases {
        wanted.push(Listed::new(database, ItemKind::Database, database));
        for (kind, of_kind) in [(Kind::Sequence, ItemKind::Sequence), (Kind::View, ItemKind::View)]
        {
            let names = inventory.of_kind(kind).filter(|name| name.schema == *database);
            wanted.extend(names.map(|name| Listed::new(database, of_kind, &name.table)));
        }
        let of_database = |listed: &&Listed| listed.item.database == *database;
        wanted.extend(inventory.objects.iter().filter(of_database).cloned());
    }
    wanted
}

fn one(session: &mut Session, listed: &Listed) -> Result<Object> {
    let Item { database, kind, name } = &listed.item;
    let routine = |session: &mut Session, of: ObjectKind| routine(session, database, of, name);
    match kind {
        ItemKind::Database => {
            let row = session.show_create("DATABASE", &quoted_name(name))?;
            Ok(Object::new(name, ObjectKind::Database, name, vec![cell(&row, 1)]))
        }
        ItemKind::Sequence => sequence(session, database, name),
        ItemKind::View => view(session, database, name),
        ItemKind::Trigger => trigger(session, listed),
        ItemKind::Function => routine(session, ObjectKind::Function),
        ItemKind::Procedure => routine(session, ObjectKind::Procedure),
        ItemKind::Package => routine(session, ObjectKind::Package),
        ItemKind::PackageBody => routine(session, ObjectKind::PackageBody),
        ItemKind::Event => event(session, database, name),
        ItemKind::Table | ItemKind::User | ItemKind::Role => Err(Error::server(
            "cannot fetch its statement",
            format!("{} has no SHOW CREATE statement", listed.item),
        )),
    }
}

/// The session settings that a routine was created with: `sql_mode` after its name, and three character
/// set columns from `charsets_at` on.
fn made_in(row: &TextRow, charsets_at: usize) -> ObjectSession {
    ObjectSession {
        sql_mode: cell(row, 1),
        character_set_client: cell(row, charsets_at),
        collation_connection: cell(row, charsets_at + 1),
        database_collation: cell(row, charsets_at + 2),
        time_zone: String::new(),
    }
}

fn sequence(session: &mut Session, database: &str, name: &str) -> Result<Object> {
    let place = qualified(database, name);
    let create = cell(&session.show_create("TABLE", &place)?, 1);
    // The statement for a sequence as a table would create a table; only the first words differ.
    let create = match create.starts_with("CREATE SEQUENCE") {
        true => create,
        false => cell(&session.show_create("SEQUENCE", &place)?, 1),
    };
    let state = format!("SELECT next_not_cached_value, cycle_count FROM {place}");
    let state = session.first_row(&state)?;
    let [next, round] = [cell(&state, 0), cell(&state, 1)];
    let set = format!("DO SETVAL({}, {next}, 0, {round})", quoted_name(name));
    Ok(Object::new(database, ObjectKind::Sequence, name, vec![create, set]))
}

/// Fetches a view in a session of its own database: the server then leaves the database name out, so that
/// the view can be loaded into another database, as with `mysqldump`.
fn view(session: &mut Session, database: &str, name: &str) -> Result<Object> {
    session.run(&format!("USE {}", quoted_name(database)))?;
    let row = session.show_create("VIEW", &quoted_name(name))?;
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
    let view = Object::new(database, ObjectKind::View, name, vec![cell(&row, 1)]);
    Ok(Object { columns, session: Some(made_in), ..view })
}

fn trigger(session: &mut Session, listed: &Listed) -> Result<Object> {
    let Item { database, name, .. } = &listed.item;
    let row = session.show_create("TRIGGER", &qualified(database, name))?;
    let kind = ObjectKind::Trigger { table: listed.table.clone().unwrap_or_default() };
    let trigger = Object::new(database, kind, name, vec![cell(&row, 2)]);
    Ok(Object { session: Some(made_in(&row, 3)), ..trigger })
}

fn routine(session: &mut Session, database: &str, kind: ObjectKind, name: &str) -> Result<Object> {
    let typed = match kind {
        ObjectKind::Function => "FUNCTION",
        ObjectKind::Package => "PACKAGE",
        ObjectKind::PackageBody => "PACKAGE BODY",
        _ => "PROCEDURE",
    };
    let row = session.show_create(typed, &qualified(database, name))?;
    if row.get(2).is_none_or(Option::is_none) {
        return Err(Error::refused(
            format!("the account may not see the body of {typed} `{database}`.`{name}`"),
            ["grant it SELECT on *.* (or SHOW_ROUTINE)".into(), Remedy::LeaveOutRoutines],
        ));
    }
    let routine = Object::new(database, kind, name, vec![cell(&row, 2)]);
    Ok(Object { session: Some(made_in(&row, 3)), ..routine })
}

fn event(session: &mut Session, database: &str, name: &str) -> Result<Object> {
    let row = session.show_create("EVENT", &qualified(database, name))?;
    let made_in = ObjectSession { time_zone: cell(&row, 2), ..made_in(&row, 4) };
    let event = Object::new(database, ObjectKind::Event, name, vec![cell(&row, 3)]);
    Ok(Object { session: Some(made_in), ..event })
}
