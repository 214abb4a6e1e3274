//! Identifiers in SQL.

/// A database's, table's or column's name in backticks.
pub fn quoted_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
