//! Functions, procedures and packages, from the rows of `mysql.proc`.

use innoscan_engine::{Error, Result};
use innoscan_format::charset::Charset;
use innoscan_format::schema::{ServerVersion, sql_mode};

use super::super::{FoundObject, Item, ItemKind};
use super::rows::SystemRow;
use super::text::{Quoting, decoded, split_account};
use crate::object::{ObjectKind, ObjectSession};

/// The routines of a database from their rows, in the order of their types and names.
pub(super) fn routines(
    server: ServerVersion,
    rows: &[SystemRow<'_>],
    database: &str,
) -> Vec<FoundObject> {
    let mut found = Vec::new();
    for &row in rows {
        let typed = row.text("type");
        let (item_kind, kind) = match &*typed {
            "FUNCTION" => (ItemKind::Function, ObjectKind::Function),
            "PACKAGE" => (ItemKind::Package, ObjectKind::Package),
            "PACKAGE BODY" => (ItemKind::PackageBody, ObjectKind::PackageBody),
            _ => (ItemKind::Procedure, ObjectKind::Procedure),
        };
        let item = Item::new(database, item_kind, &row.text("name"));
        let object = super::found(item, kind, routine(server, row, &typed));
        found.push((typed, object));
    }
    found.sort_by(|a, b| (&a.0, &a.1.item.name).cmp(&(&b.0, &b.1.item.name)));
    found.into_iter().map(|(_, routine)| routine).collect()
}

/// The session in the columns of `mysql.proc` and `mysql.event`.
pub(super) fn session_of(row: SystemRow<'_>) -> ObjectSession {
    ObjectSession {
        sql_mode: sql_mode::of_set(&row.text("sql_mode")),
        character_set_client: row.text("character_set_client"),
        collation_connection: row.text("collation_connection"),
        database_collation: row.text("db_collation"),
        time_zone: String::new(),
    }
}

/// The charset of a row's body.
pub(super) fn charset_of(session: &ObjectSession) -> Result<Charset> {
    match &*session.character_set_client {
        "" => Ok(Charset::Utf8Mb3),
        name => Charset::by_name(name).ok_or_else(|| {
            let why = format!("its character_set_client {name} is not a known charset");
            Error::refused(why, "dump it from a running server")
        }),
    }
}

/// `SHOW CREATE PROCEDURE` and similar (`Sp_handler::show_create_sp` in sql/sp.cc, MariaDB 10.11;
/// `create_string` in sql/sp.cc, MySQL 5.7), except for comments with non-ASCII letters, which
/// the servers show in the wrong charset where the client's is not UTF-8.
fn routine(
    server: ServerVersion,
    row: SystemRow<'_>,
    typed: &str,
) -> Result<(String, ObjectSession)> {
    let session = session_of(row);
    let charset = charset_of(&session)?;
    let quoting = Quoting::of_mode(&session.sql_mode, server.family);
    let is_package = typed.starts_with("PACKAGE");
    let definer = row.text("definer");
    let (user, host) = split_account(&definer);
    let aggregate = if row.text("aggregate") == "GROUP" { "AGGREGATE " } else { "" };
    let mut create = format!(
        "CREATE {} {aggregate}{typed} {}",
        quoting.definer(user, host, server.family),
        quoting.name(&row.text("name")),
    );
    if !is_package {
        let params = decoded(row.bytes("param_list"), charset, "parameters")?;
        create += &format!("({params})");
    }
    if typed == "FUNCTION" {
        let verb = if quoting.is_oracle { "RETURN" } else { "RETURNS" };
        // The server's own text, in its own charset.
        create += &format!(" {verb} {}", decoded(row.bytes("returns"), Charset::Utf8Mb3, "type")?);
    }
    if !is_package {
        create.push('\n');
    }
    append_characteristics(row, quoting, &mut create);
    if is_package {
        create.push(' ');
    }
    create += &decoded(row.bytes("body"), charset, "body")?;
    Ok((create, session))
}

fn append_characteristics(row: SystemRow<'_>, quoting: Quoting, create: &mut String) {
    match &*row.text("sql_data_access") {
        "NO_SQL" => create.push_str("    NO SQL\n"),
        "READS_SQL_DATA" => create.push_str("    READS SQL DATA\n"),
        "MODIFIES_SQL_DATA" => create.push_str("    MODIFIES SQL DATA\n"),
        _ => {}
    }
    if row.text("is_deterministic") == "YES" {
        create.push_str("    DETERMINISTIC\n");
    }
    if row.text("security_type") == "INVOKER" {
        create.push_str("    SQL SECURITY INVOKER\n");
    }
    let comment = row.text("comment");
    if !comment.is_empty() {
        *create += &format!("    COMMENT {}\n", quoting.text(&comment));
    }
}
