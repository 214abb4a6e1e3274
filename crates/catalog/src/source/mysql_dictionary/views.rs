//! Views, from the rows of `mysql.tables`, whose `view_definition` is the server's own print of the
//! query with every name qualified. `SHOW CREATE VIEW` prints the query again
//! (`view_store_create_info`, sql_show.cc, MySQL 8.0): as the same text in a session whose database is
//! another, without the database's name in a session in the view's database.

use innoscan_format::schema::quoted_name;
use innoscan_format::schema::text_file::ViewNames;
use innoscan_format::schema::{Properties, ServerVersion};
use innoscan_format::{Error, Result};

use super::text::{client_text, definer, view_session};
use crate::mysql_ibd::Row;
use crate::object::{Object, ObjectKind};

/// The columns of `mysql.tables` from which a view's statement is composed.
pub(super) const COLUMNS: [&str; 14] = [
    "id",
    "schema_id",
    "name",
    "type",
    "hidden",
    "options",
    "view_definition",
    "view_check_option",
    "view_algorithm",
    "view_security_type",
    "view_definer",
    "view_client_collation_id",
    "view_connection_collation_id",
    "view_column_names",
];

/// The statement that creates a view. `columns`: the names of its columns.
pub(super) fn statement(
    row: &Row,
    database: &str,
    columns: Vec<String>,
    server: ServerVersion,
) -> Result<Object> {
    let name = row.text("name")?;
    let algorithm = row.text("view_algorithm")?;
    let definer = definer(row, "view_definer", "")?;
    // DEFAULT results from CREATE VIEW without the clause, and means DEFINER.
    let security = match row.text("view_security_type")? {
        "INVOKER" => "INVOKER",
        _ => "DEFINER",
    };
    let query = client_text(row, "view_definition", "view_client_collation_id")?;
    // The single column of a duality view has its own name, which is not printed.
    let (view, named) = match view_type(row)? {
        ViewType::Sql => ("VIEW", named_columns(row)?),
        ViewType::JsonDuality => ("JSON RELATIONAL DUALITY VIEW", String::new()),
    };
    let check = match row.text("view_check_option")? {
        "LOCAL" => " WITH LOCAL CHECK OPTION",
        "CASCADED" => " WITH CASCADED CHECK OPTION",
        _ => "",
    };
    let query = ViewNames::of(&query).without_database(&query, database);
    let create = format!(
        "CREATE ALGORITHM={algorithm} {definer}SQL SECURITY {security} {view} {}{named} AS \
         {query}{check}",
        quoted_name(name)
    );
    Ok(Object {
        database: database.to_owned(),
        kind: ObjectKind::View,
        name: name.to_owned(),
        columns,
        statements: vec![create],
        session: Some(view_session(row, server)?),
    })
}

/// The kinds of views.
enum ViewType {
    Sql,
    /// A duality view, of MySQL 9.4 and later.
    JsonDuality,
}

/// The property `view_type`, which servers without other kinds omit.
fn view_type(row: &Row) -> Result<ViewType> {
    let text = row.text_if_any("options")?.unwrap_or_default();
    let options = Properties::parse(text)
        .ok_or_else(|| Error::corrupt("a view's options are no list of properties"))?;
    match options.text("view_type") {
        None | Some("SQL") => Ok(ViewType::Sql),
        Some("JSON_DUALITY") => Ok(ViewType::JsonDuality),
        Some(other) => Err(Error::unsupported(
            format!("a view of the kind {other}"),
            "dump it from the running server",
        )),
    }
}

/// The names given to a view's columns before `AS`: a list of properties whose keys count from 1
fn named_columns(row: &Row) -> Result<String> {
    let Some(text) = row.text_if_any("view_column_names")?.filter(|text| !text.is_empty()) else {
        return Ok(String::new());
    };
    let wrong = || Error::corrupt("a view's list of column names is none");
    let names = Properties::parse(text).ok_or_else(wrong)?;
    let numbered = (1u32..).map_while(|number| names.text(&number.to_string()));
    let names: Vec<String> = numbered.map(quoted_name).collect();
    if names.is_empty() {
        return Err(wrong());
    }
    Ok(format!(" ({})", names.join(",")))
}
