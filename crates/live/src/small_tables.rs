//! Chooses the small tables that are fetched by `SELECT` in a consistent snapshot instead of being locked
//! for export.
//!
//! `FLUSH TABLES ... FOR EXPORT` takes the server a millisecond or more for each table, and blocks
//! writers all that time. Of thousands of tables most are small, and reading one takes the server less.

use std::collections::BTreeSet;
use std::path::Path;

use innoscan_catalog::catalog::{TableName, directory_of};
use innoscan_catalog::source::data_bytes;
use innoscan_engine::Result;
use innoscan_engine::scan::SMALL_TABLE_BYTES;
use innoscan_export::dump::SmallTable;

use crate::inventory::{Inventory, Kind};
use crate::session::{Session, cell, quoted_text};

/// Up to this many tables, `Auto` locks all of them for export.
const FEW_TABLES: usize = 256;

/// How small tables are read (`--small-tables`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallTablesMode {
    /// By `SELECT` if there are more than 256 InnoDB tables.
    #[default]
    Auto,
    /// From their files, like all others.
    Files,
    /// By `SELECT`.
    Select,
}

/// The tables to fetch: those with small files whose values the server sends as they are stored.
pub(crate) fn choose(
    session: &mut Session,
    directory: &Path,
    inventory: &Inventory,
    how: SmallTablesMode,
) -> Result<Vec<SmallTable>> {
    let names: Vec<&TableName> = inventory.of_kind(Kind::InnoDb).collect();
    let is_wanted = match how {
        SmallTablesMode::Auto => names.len() > FEW_TABLES,
        SmallTablesMode::Files => false,
        SmallTablesMode::Select => !names.is_empty(),
    };
    if !is_wanted {
        return Ok(Vec::new());
    }
    let unfit = unfit(session, &inventory.databases)?;
    let mut small = Vec::new();
    for schema in &inventory.databases {
        // If the directory cannot be read, opening its tables reports it.
        let sizes = data_bytes(&directory_of(directory, schema)).unwrap_or_default();
        for name in names.iter().filter(|name| name.schema == *schema) {
            let size = sizes.get(&name.table).filter(|size| **size <= SMALL_TABLE_BYTES);
            if let Some(&size_bytes) = size.filter(|_| !unfit.contains(*name)) {
                small.push(SmallTable { name: (*name).clone(), size_bytes });
            }
        }
    }
    Ok(small)
}

/// Tables that cannot be fetched: those whose values the server sends in another form than they are
/// stored in, those with a history, of which it sends only a part, and those with a foreign key that
/// `SHOW CREATE TABLE` does not show in full (the parent's columns are not a unique key).
fn unfit(session: &mut Session, databases: &[String]) -> Result<BTreeSet<TableName>> {
    let databases: Vec<String> = databases.iter().map(|schema| quoted_text(schema)).collect();
    let databases = databases.join(", ");
    let sql = match session.is_mariadb() {
        true => format!(
            "SELECT table_schema, table_name FROM information_schema.tables \
             WHERE table_type = 'SYSTEM VERSIONED' AND table_schema IN ({databases})"
        ),
        false => format!(
            "SELECT table_schema, table_name FROM information_schema.columns \
             WHERE data_type = 'json' AND table_schema IN ({databases}) \
             UNION SELECT constraint_schema, table_name \
             FROM information_schema.referential_constraints \
             WHERE unique_constraint_name IS NULL AND constraint_schema IN ({databases})"
        ),
    };
    let name = |row: &crate::TextRow| TableName { schema: cell(row, 0), table: cell(row, 1) };
    Ok(session.rows(&sql)?.iter().map(name).collect())
}
