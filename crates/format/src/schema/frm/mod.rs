//! `.frm` files: the definitions of MySQL 5.x and every MariaDB.

use super::TableDef;
use crate::{Error, Result};

/// Reads a table's definition from its `.frm` file. `schema` and `name` are the table's, which the
/// file does not say.
pub fn from_frm(bytes: &[u8], schema: &str, name: &str) -> Result<TableDef> {
    let _ = bytes;
    Err(Error::unsupported(
        format!("the .frm file of `{schema}`.`{name}`"),
        "give the definition as SQL text",
    ))
}
