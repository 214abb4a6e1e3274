//! Functions and procedures, from the rows of `mysql.routines`. `SHOW CREATE` composes the statement
//! from name, parameters, type and body, which are stored separately (`create_string`, sp.cc, MySQL
//! 8.0).

use innoscan_format::schema::ServerVersion;
use innoscan_format::{Error, Result};

use super::text::{client_text, collation, comment_literal, definer, name_under, session};
use crate::mysql_ibd::Row;
use crate::object::{Object, ObjectKind};

/// The columns of `mysql.routines`.
pub(super) const COLUMNS: [&str; 19] = [
    "schema_id",
    "name",
    "type",
    "result_data_type_utf8",
    "result_collation_id",
    "definition",
    "parameter_str",
    "is_deterministic",
    "sql_data_access",
    "security_type",
    "definer",
    "sql_mode",
    "client_collation_id",
    "connection_collation_id",
    "schema_collation_id",
    "comment",
    "options",
    "external_language",
    "id",
];

/// The statement that creates a routine.
pub(super) fn statement(
    row: &Row,
    database: &str,
    kind: ObjectKind,
    server: ServerVersion,
) -> Result<Object> {
    refuse_other_languages(row)?;
    let name = row.text("name")?;
    let session = session(row, server)?;
    let mode = &session.sql_mode;
    let mut create = format!(
        "CREATE {}{} {}({})",
        definer(row, "definer", mode)?,
        row.text("type")?,
        name_under(name, mode),
        client_text(row, "parameter_str", "client_collation_id")?,
    );
    if kind == ObjectKind::Function {
        create += &format!(" RETURNS {}", returned_type(row, server)?);
    }
    create.push('\n');
    match row.text("sql_data_access")? {
        // The default for a routine without the clause.
        "CONTAINS SQL" => {}
        access => create += &format!("    {access}\n"),
    }
    if row.number::<u8>("is_deterministic")? != 0 {
        create += "    DETERMINISTIC\n";
    }
    if row.text("security_type")? == "INVOKER" {
        create += "    SQL SECURITY INVOKER\n";
    }
    let comment = row.text("comment")?;
    if !comment.is_empty() {
        create += &format!("    COMMENT {}\n", comment_literal(comment, mode));
    }
    create += &client_text(row, "definition", "client_collation_id")?;
    Ok(Object {
        database: database.to_owned(),
        kind,
        name: name.to_owned(),
        columns: Vec::new(),
        statements: vec![create],
        session: Some(session),
    })
}

/// Refuses routines in JavaScript (MySQL 9.0 and later), and those that use libraries (9.2 and later).
fn refuse_other_languages(row: &Row) -> Result<()> {
    let language = row.text_if_any("external_language")?.unwrap_or("SQL");
    if !language.eq_ignore_ascii_case("SQL") {
        return Err(Error::unsupported(
            format!("a routine in the language {language}"),
            "dump it from the running server",
        ));
    }
    match row.text_if_any("options")?.unwrap_or_default() {
        "" => Ok(()),
        options => Err(Error::unsupported(
            format!("a routine with the options `{options}`"),
            "dump it from the running server",
        )),
    }
}

/// The type of a function's result, with its charset if it has one (`sp_returns_type`, sp.cc,
/// MySQL 8.0).
fn returned_type(row: &Row, server: ServerVersion) -> Result<String> {
    const OF_CHARACTERS: [&str; 8] =
        ["char(", "varchar(", "tinytext", "text", "mediumtext", "longtext", "enum(", "set("];
    let ty = row.text("result_data_type_utf8")?;
    if !OF_CHARACTERS.iter().any(|begins| ty.starts_with(begins)) {
        return Ok(ty.to_owned());
    }
    let collation = collation(row, "result_collation_id")?;
    let charset = collation.charset()?.name_in(server);
    let mut printed = format!("{ty} CHARSET {charset}");
    if !collation.is_default(server) {
        let name = collation.name(server).unwrap_or_default();
        printed += &format!(" COLLATE {name}");
    }
    Ok(printed)
}
