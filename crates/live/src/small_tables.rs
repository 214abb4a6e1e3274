//! Which tables are fetched by `SELECT` in a snapshot, and not locked for the export of their files.
//!
//! `FLUSH TABLES ... FOR EXPORT` costs a server a millisecond a table and more, while all that write
//! them wait. Of thousands of tables most are small: the server reads such a one sooner than that.

use std::collections::BTreeSet;
use std::path::Path;

use innoscan::Result;
use innoscan::catalog::{TableName, directory_of};
use innoscan::dump::SmallTable;
use innoscan::scan::SMALL_TABLE_BYTES;
use innoscan::source::data_bytes;

use crate::inventory::{Inventory, Kind};
use crate::session::{Session, cell, quoted_text};

/// So many tables are locked for export without further ado.
const FEW_TABLES: usize = 256;

/// What is done about small tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallTablesBy {
    /// They are fetched where there are more than 256 tables.
    #[default]
    Auto,
    /// They are read from their files, as all others.
    Files,
    /// They are fetched.
    Select,
}

/// The tables to be fetched: those whose files are small and whose values the server sends as they
/// are stored.
pub(crate) fn choose(
    session: &mut Session,
    directory: &Path,
    inventory: &Inventory,
    how: SmallTablesBy,
) -> Result<Vec<SmallTable>> {
    let names: Vec<&TableName> = inventory.of_kind(Kind::InnoDb).collect();
    let is_wanted = match how {
        SmallTablesBy::Auto => names.len() > FEW_TABLES,
        SmallTablesBy::Files => false,
        SmallTablesBy::Select => !names.is_empty(),
    };
    if !is_wanted {
        return Ok(Vec::new());
    }
    let unfit = unfit(session, &inventory.databases)?;
    let mut small = Vec::new();
    for schema in &inventory.databases {
        // A directory that cannot be read is found out when its tables are opened.
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

/// Tables with values that a server sends in another form than they are stored in, those with a
/// history, of which it sends a part, and those with a foreign key of a kind that `SHOW CREATE TABLE`
/// does not tell (its parent's columns are no unique key).
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
