//! Triggers, from the rows of `mysql.triggers`, which hold only the body. The server composes the rest
//! of `SHOW CREATE TRIGGER` from the other columns (`Trigger::create_from_dd`, trigger_loader.cc,
//! MySQL 8.0).

use innoscan_format::Result;
use innoscan_format::schema::ServerVersion;
use innoscan_format::schema::quoted_name;

use super::text::{client_text, definer, session};
use crate::mysql_ibd::Row;
use crate::object::{Object, ObjectKind};

/// The columns of `mysql.triggers`.
pub(super) const COLUMNS: [&str; 13] = [
    "schema_id",
    "name",
    "event_type",
    "table_id",
    "action_timing",
    "action_order",
    "action_statement",
    "sql_mode",
    "definer",
    "client_collation_id",
    "connection_collation_id",
    "schema_collation_id",
    "options",
];

/// The statement that creates a trigger.
pub(super) fn statement(
    row: &Row,
    database: &str,
    table: &str,
    server: ServerVersion,
) -> Result<Object> {
    let name = row.text("name")?;
    let session = session(row, server)?;
    let body = client_text(row, "action_statement", "client_collation_id")?;
    let create = format!(
        "CREATE {}TRIGGER {} {} {} ON {} FOR EACH ROW {body}",
        definer(row, "definer", "")?,
        quoted_name(name),
        row.text("action_timing")?,
        row.text("event_type")?,
        quoted_name(table),
    );
    Ok(Object {
        database: database.to_owned(),
        kind: ObjectKind::Trigger { table: table.to_owned() },
        name: name.to_owned(),
        columns: Vec::new(),
        statements: vec![create],
        session: Some(session),
    })
}

/// The sort key of a trigger among those of its database: its table, then the order in which those
/// of one event run, since without `FOLLOWS` triggers run in the order of their creation.
pub(super) fn order(row: &Row, table: &str) -> (String, String, String, u32) {
    let text = |column| row.text(column).unwrap_or_default().to_owned();
    let nth = row.number("action_order").unwrap_or(u32::MAX);
    (table.to_owned(), text("event_type"), text("action_timing"), nth)
}
