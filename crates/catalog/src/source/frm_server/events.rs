//! Events, from the rows of `mysql.event`.

use innoscan_engine::{Error, Result};
use innoscan_format::schema::ServerVersion;

use super::super::{FoundObject, Item, ItemKind};
use super::routines::{charset_of, session_of};
use super::rows::SystemRow;
use super::text::{Quoting, decoded, split_account};
use super::utc;
use crate::object::{ObjectKind, ObjectSession};

/// The events of a database from their rows, in the order of their names.
pub(super) fn events(
    server: ServerVersion,
    rows: &[SystemRow<'_>],
    database: &str,
) -> Vec<FoundObject> {
    let mut found = Vec::new();
    for &row in rows {
        let item = Item::new(database, ItemKind::Event, &row.text("name"));
        found.push(super::found(item, ObjectKind::Event, event(server, row)));
    }
    found.sort_by(|a, b| a.item.cmp(&b.item));
    found
}

/// `SHOW CREATE EVENT` (`Event_timed::get_create_event`, sql/event_data_objects.cc, MariaDB 10.11 and
/// MySQL 5.7), except for times in zones that only the server knows: see [`time`].
fn event(server: ServerVersion, row: SystemRow<'_>) -> Result<(String, ObjectSession)> {
    let mut session = session_of(row);
    session.time_zone = row.text("time_zone");
    let charset = charset_of(&session)?;
    // Names are in backticks whatever the event's own mode is.
    let quoting =
        Quoting { has_ansi_quotes: false, ..Quoting::of_mode(&session.sql_mode, server.family) };
    let definer = row.text("definer");
    let (user, host) = split_account(&definer);
    let mut create = format!(
        "CREATE {} EVENT {} ON SCHEDULE ",
        quoting.definer(user, host, server.family),
        quoting.name(&row.text("name")),
    );
    let zone = &session.time_zone;
    match row.bytes("execute_at") {
        Some(_) => create += &format!("AT {}", time(&row.text("execute_at"), zone)?),
        None => {
            create += &format!("EVERY {}", interval(row)?);
            for (word, column) in [("STARTS", "starts"), ("ENDS", "ends")] {
                if row.bytes(column).is_some() {
                    create += &format!(" {word} {}", time(&row.text(column), zone)?);
                }
            }
        }
    }
    create += match &*row.text("on_completion") {
        "PRESERVE" => " ON COMPLETION PRESERVE",
        _ => " ON COMPLETION NOT PRESERVE",
    };
    create += match &*row.text("status") {
        "ENABLED" => " ENABLE",
        "DISABLED" => " DISABLE",
        _ => " DISABLE ON SLAVE",
    };
    let comment = row.text("comment");
    if !comment.is_empty() {
        create += &format!(" COMMENT {}", quoting.text(&comment));
    }
    create += &format!(" DO {}", decoded(row.bytes("body"), charset, "body")?);
    Ok((create, session))
}

/// A time that the table stores in UTC, for a statement that runs in the event's time zone.
///
/// The files do not define `SYSTEM` and named zones; for them the statement lets the server
/// compute the time (`CONVERT_TZ`), which the grammar allows, since it accepts an expression.
fn time(utc: &str, zone: &str) -> Result<String> {
    let local = match utc::offset_minutes(zone) {
        Some(0) => Some(utc.to_owned()),
        Some(minutes) => Some(utc::plus_minutes(utc, minutes).ok_or_else(|| {
            let why = format!("its time {utc} is not a date and time");
            Error::refused(why, "dump it from a running server")
        })?),
        None => None,
    };
    let quoted = |text: &str| format!("'{}'", text.replace(['\\', '\''], ""));
    Ok(match local {
        Some(local) => quoted(&local),
        None => format!("CONVERT_TZ({},'+00:00',{})", quoted(utc), quoted(zone)),
    })
}

/// The clause `EVERY ...`; the table stores a number of the smallest unit
/// (`Events::reconstruct_interval_expression`, sql/events.cc, MariaDB 10.11).
fn interval(row: SystemRow<'_>) -> Result<String> {
    let (count, unit) = (row.number("interval_value"), row.text("interval_field"));
    let parts = |sizes: &[u64], separators: &[char]| {
        let mut rest = count;
        let mut text = String::from("'");
        for (at, size) in sizes.iter().enumerate() {
            text += &(rest / size).to_string();
            rest %= size;
            text.extend(separators.get(at));
        }
        text.push('\'');
        text
    };
    let text = match &*unit {
        "YEAR" | "MONTH" | "DAY" | "HOUR" | "MINUTE" | "SECOND" => count.to_string(),
        "QUARTER" => (count / 3).to_string(),
        "WEEK" => (count / 7).to_string(),
        "YEAR_MONTH" => parts(&[12, 1], &['-']),
        "DAY_HOUR" => parts(&[24, 1], &[' ']),
        "DAY_MINUTE" => parts(&[24 * 60, 60, 1], &[' ', ':']),
        "DAY_SECOND" => parts(&[24 * 3600, 3600, 60, 1], &[' ', ':', ':']),
        "HOUR_MINUTE" | "MINUTE_SECOND" => parts(&[60, 1], &[':']),
        "HOUR_SECOND" => parts(&[3600, 60, 1], &[':', ':']),
        other => {
            let why = format!("its schedule counts in {other}, which no server runs");
            return Err(Error::refused(why, "make the event again"));
        }
    };
    Ok(format!("{text} {unit}"))
}
