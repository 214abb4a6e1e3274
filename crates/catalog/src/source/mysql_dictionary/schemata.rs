//! Databases, from the rows of `mysql.schemata`.

use innoscan_format::schema::quoted_name;
use innoscan_format::schema::{Properties, ServerVersion};
use innoscan_format::{Error, Result};

use super::text::collation;
use crate::mysql_ibd::Row;
use crate::object::{Object, ObjectKind};

/// The columns of `mysql.schemata`.
pub(super) const COLUMNS: [&str; 5] =
    ["id", "name", "default_collation_id", "default_encryption", "options"];

/// The number of `utf8mb4_0900_ai_ci`, which is printed although it is its charset's default.
const ALWAYS_PRINTED: u16 = 255;

/// The statement that creates a database (`mysqld_show_create_db`, sql_show.cc, MySQL 8.0).
pub(super) fn statement(row: &Row, server: ServerVersion) -> Result<Object> {
    let name = row.text("name")?;
    let collation = collation(row, "default_collation_id")?;
    let charset = collation.charset()?.name_in(server);
    let mut create = format!("CREATE DATABASE {}", quoted_name(name));
    create += &format!(" /*!40100 DEFAULT CHARACTER SET {charset}");
    if collation.0 == ALWAYS_PRINTED || !collation.is_default(server) {
        let named = collation.name(server);
        let named = named.ok_or_else(|| Error::schema("a collation without a known name"))?;
        create += &format!(" COLLATE {named}");
    }
    create += " */";
    // Servers before 8.0.16 have no default for encryption.
    if row.has("default_encryption") {
        let encryption = if row.text("default_encryption")? == "YES" { 'Y' } else { 'N' };
        create += &format!(" /*!80016 DEFAULT ENCRYPTION='{encryption}' */");
    }
    let options = Properties::parse(row.text_if_any("options")?.unwrap_or_default());
    let is_read_only = options.unwrap_or_default().flag("read_only")?.unwrap_or(false);
    if is_read_only {
        create += " /* READ ONLY = 1 */";
    }
    Ok(Object {
        database: name.to_owned(),
        kind: ObjectKind::Database,
        name: name.to_owned(),
        columns: Vec::new(),
        statements: vec![create],
        session: None,
    })
}
