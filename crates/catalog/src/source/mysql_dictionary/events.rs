//! Events, from the rows of `mysql.events`. Times are in UTC there, and in the event's own time zone in
//! its statement (`Event_timed::get_create_event`, event_data_objects.cc, MySQL 8.0).

use innoscan_format::schema::ServerVersion;
use innoscan_format::schema::quoted_name;
use innoscan_format::{Error, Result};

use super::clock::{in_zone, offset_minutes};
use super::text::{client_text, comment_literal, definer, session};
use crate::mysql_ibd::Row;
use crate::object::{Object, ObjectKind};

/// The columns of `mysql.events`.
pub(super) const COLUMNS: [&str; 18] = [
    "schema_id",
    "name",
    "definer",
    "time_zone",
    "definition",
    "execute_at",
    "interval_value",
    "interval_field",
    "sql_mode",
    "starts",
    "ends",
    "status",
    "on_completion",
    "comment",
    "client_collation_id",
    "connection_collation_id",
    "schema_collation_id",
    "options",
];

/// The first version that accepts offsets in literals of times.
const WITH_OFFSETS: u32 = 80_019;

/// The statement that creates an event.
pub(super) fn statement(row: &Row, database: &str, server: ServerVersion) -> Result<Object> {
    let name = row.text("name")?;
    let mut session = session(row, server)?;
    row.text("time_zone")?.clone_into(&mut session.time_zone);
    let mut create = format!(
        "CREATE {}EVENT {} ON SCHEDULE{}",
        definer(row, "definer", "")?,
        quoted_name(name),
        schedule(row, &session.time_zone, server)?,
    );
    create += match row.text("on_completion")? {
        "PRESERVE" => " ON COMPLETION PRESERVE",
        _ => " ON COMPLETION NOT PRESERVE",
    };
    create += match row.text("status")? {
        "ENABLED" => " ENABLE",
        "SLAVESIDE_DISABLED" => " DISABLE ON SLAVE",
        "REPLICA_SIDE_DISABLED" => " DISABLE ON REPLICA",
        _ => " DISABLE",
    };
    let comment = row.text("comment")?;
    if !comment.is_empty() {
        create += &format!(" COMMENT {}", comment_literal(comment, &session.sql_mode));
    }
    create += &format!(" DO {}", client_text(row, "definition", "client_collation_id")?);
    Ok(Object {
        database: database.to_owned(),
        kind: ObjectKind::Event,
        name: name.to_owned(),
        columns: Vec::new(),
        statements: vec![create],
        session: Some(session),
    })
}

fn schedule(row: &Row, zone: &str, server: ServerVersion) -> Result<String> {
    let time = |words: &str, column: &str| match row.text_if_any(column)? {
        None => Ok(String::new()),
        Some(utc) => Ok(format!(" {words} {}", time_expression(utc, zone, server)?)),
    };
    if row.text_if_any("execute_at")?.is_some() {
        return time("AT", "execute_at");
    }
    let field = row.text("interval_field")?;
    let every = interval(row.number("interval_value")?, field);
    let (starts, ends) = (time("STARTS", "starts")?, time("ENDS", "ends")?);
    Ok(format!(" EVERY {every} {}{starts}{ends}", field))
}

/// A time in the event's zone. Only the server knows the offset of a named zone at that time:
/// the time is written in UTC with its offset, which later servers understand; earlier ones
/// convert by a function.
fn time_expression(utc: &str, zone: &str, server: ServerVersion) -> Result<String> {
    let offset = offset_minutes(zone);
    let there = in_zone(utc, offset.unwrap_or(0))
        .ok_or_else(|| Error::corrupt(format!("`{utc}` in mysql.events is not a time")))?;
    Ok(match offset {
        Some(_) => format!("'{there}'"),
        None if server.number >= WITH_OFFSETS => format!("'{there}+00:00'"),
        None => {
            let zone = zone.replace('\\', "").replace('\'', "''");
            format!("CONVERT_TZ('{there}', '+00:00', '{zone}')")
        }
    })
}

/// An interval, which the dictionary stores in its smallest unit, quarters in months and weeks
/// in days (`Events::reconstruct_interval_expression`, events.cc, MySQL 8.0).
fn interval(value: i64, field: &str) -> String {
    let (minutes, hours) = (value / 60, value / 3600);
    match field {
        "QUARTER" => (value / 3).to_string(),
        "WEEK" => (value / 7).to_string(),
        "YEAR_MONTH" => format!("'{}-{}'", value / 12, value % 12),
        "DAY_HOUR" => format!("'{} {}'", value / 24, value % 24),
        "HOUR_MINUTE" | "MINUTE_SECOND" => format!("'{}:{}'", value / 60, value % 60),
        "DAY_MINUTE" => format!("'{} {}:{}'", minutes / 24, minutes % 24, value % 60),
        "HOUR_SECOND" => format!("'{}:{}:{}'", hours, minutes % 60, value % 60),
        "DAY_SECOND" => {
            format!("'{} {}:{}:{}'", hours / 24, hours % 24, minutes % 60, value % 60)
        }
        _ => value.to_string(),
    }
}
