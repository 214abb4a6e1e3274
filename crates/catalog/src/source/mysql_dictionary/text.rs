//! Common parts of statements of several kinds of objects: names, texts, definers, and the
//! sessions in which objects were created.

use innoscan_format::charset::CollationId;
use innoscan_format::schema::ServerVersion;
use innoscan_format::{Error, Result};

use crate::mysql_ibd::Row;
use crate::object::ObjectSession;

/// A name in the quotes of a session's `sql_mode` (`append_identifier`, sql_show.cc,
/// MySQL 8.0).
pub(super) fn name_under(name: &str, sql_mode: &str) -> String {
    let quote = match is_in_mode(sql_mode, "ANSI_QUOTES") {
        true => "\"",
        false => "`",
    };
    format!("{quote}{}{quote}", name.replace(quote, &quote.repeat(2)))
}

/// Whether a `sql_mode` contains a mode.
fn is_in_mode(sql_mode: &str, mode: &str) -> bool {
    sql_mode.split(',').any(|set| set == mode)
}

/// The clause `DEFINER=name@host ` from the dictionary's unquoted `name@host`: the host is the part
/// after the last `@`.
pub(super) fn definer(row: &Row, column: &str, sql_mode: &str) -> Result<String> {
    let definer = row.text(column)?;
    let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
    Ok(format!("DEFINER={}@{} ", name_under(user, sql_mode), name_under(host, sql_mode)))
}

/// A comment as a string literal under `sql_mode` (`append_unescaped`, unireg.cc, MySQL 8.0). The
/// server itself also escapes under `NO_BACKSLASH_ESCAPES`, which changes the comment.
pub(super) fn comment_literal(text: &str, sql_mode: &str) -> String {
    let text = text.replace('\'', "''");
    if is_in_mode(sql_mode, "NO_BACKSLASH_ESCAPES") {
        return format!("'{text}'");
    }
    let text = text.replace('\\', "\\\\").replace('\0', "\\0");
    format!("'{}'", text.replace('\n', "\\n").replace('\r', "\\r"))
}

/// The collation whose number is in a column.
pub(super) fn collation(row: &Row, column: &str) -> Result<CollationId> {
    let collation = CollationId(row.number(column)?);
    collation.charset().map(|_| collation)
}

fn collation_name(row: &Row, column: &str, server: ServerVersion) -> Result<String> {
    let collation = collation(row, column)?;
    collation
        .name(server)
        .ok_or_else(|| Error::schema(format!("collation number {} has no known name", collation.0)))
}

/// The text of a statement, which the dictionary stores in the charset of its client.
pub(super) fn client_text(row: &Row, column: &str, client: &str) -> Result<String> {
    let charset = collation(row, client)?.charset()?;
    let bytes = row.bytes(column).unwrap_or_default();
    let mut text = Vec::with_capacity(bytes.len());
    let lost = charset.decode(bytes, &mut text);
    String::from_utf8(text).ok().filter(|_| lost == 0).ok_or_else(|| {
        Error::unsupported(
            format!("bytes in its `{column}` that are no text of {}", charset.name()),
            "dump it from the running server",
        )
    })
}

/// The session in which a trigger, routine or event was created.
pub(super) fn session(row: &Row, server: ServerVersion) -> Result<ObjectSession> {
    Ok(ObjectSession {
        sql_mode: sql_mode(row)?,
        character_set_client: client_charset(row, "client_collation_id", server)?,
        collation_connection: collation_name(row, "connection_collation_id", server)?,
        database_collation: collation_name(row, "schema_collation_id", server)?,
        time_zone: String::new(),
    })
}

/// The `sql_mode`, whose members are stored by the names of the variable, in its order, with one
/// exception: the column of MySQL 8.0.12 has `INVALID_DATES`.
fn sql_mode(row: &Row) -> Result<String> {
    let modes = row.text("sql_mode")?.split(',').map(|mode| match mode {
        "INVALID_DATES" => "ALLOW_INVALID_DATES",
        mode => mode,
    });
    // Bits without a mode, in rows that came from MySQL 5.7.
    let modes = modes.filter(|mode| !mode.starts_with("NOT_USED"));
    Ok(modes.collect::<Vec<_>>().join(","))
}

/// The session in which a view was created.
pub(super) fn view_session(row: &Row, server: ServerVersion) -> Result<ObjectSession> {
    Ok(ObjectSession {
        character_set_client: client_charset(row, "view_client_collation_id", server)?,
        collation_connection: collation_name(row, "view_connection_collation_id", server)?,
        ..ObjectSession::default()
    })
}

fn client_charset(row: &Row, column: &str, server: ServerVersion) -> Result<String> {
    Ok(collation(row, column)?.charset()?.name_in(server).to_owned())
}
