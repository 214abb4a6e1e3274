//! Names in SQL.

/// A name in backticks.
pub fn quoted_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
