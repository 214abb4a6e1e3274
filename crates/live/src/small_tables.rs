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
use innoscan_engine::keys::Keys;
use innoscan_engine::scan::SMALL_TABLE_BYTES;
use innoscan_export::dump::SmallTable;
use innoscan_format::schema::filename::{decode, decode_table};

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
    let mut unfit = unfit(session, &inventory.databases)?;
    match instantly_altered(session) {
        Ok(tables) => unfit.extend(tables),
        Err(error) if how == SmallTablesMode::Select => return Err(error),
        // The account lacks PROCESS.
        Err(_) => return Ok(Vec::new()),
    }
    let mut small = Vec::new();
    for schema in &inventory.databases {
        // If the directory cannot be read, opening its tables reports it.
        let sizes =
            data_bytes(&directory_of(directory, schema), &Keys::default()).unwrap_or_default();
        for name in names.iter().filter(|name| name.schema == *schema) {
            let size = sizes.get(&name.table).filter(|size| **size <= SMALL_TABLE_BYTES);
            if let Some(&size_bytes) = size.filter(|_| !unfit.contains(*name)) {
                small.push(SmallTable { name: (*name).clone(), size_bytes });
            }
        }
    }
    Ok(small)
}

/// The version of MariaDB from which `SHOW CREATE TABLE` is known to show which temporal columns have the
/// format of before MySQL 5.6. The checksum depends on the format; 10.1 and 10.2 do not show it.
const SHOWS_OLD_TEMPORALS: u32 = 100_500;

/// Tables that cannot be fetched: those whose values the server sends in another form than they are
/// stored in, those with a history, of which it sends only a part, and those whose `SHOW CREATE TABLE` does
/// not show a foreign key in full (the parent's columns are not a unique key), or the format of temporal
/// columns.
fn unfit(session: &mut Session, databases: &[String]) -> Result<BTreeSet<TableName>> {
    let databases: Vec<String> = databases.iter().map(|schema| quoted_text(schema)).collect();
    let databases = databases.join(", ");
    let versioned = format!(
        "SELECT table_schema, table_name FROM information_schema.tables \
         WHERE table_type = 'SYSTEM VERSIONED' AND table_schema IN ({databases})"
    );
    let sql = match session.is_mariadb() {
        true if session.version().number >= SHOWS_OLD_TEMPORALS => versioned,
        true => format!(
            "{versioned} UNION SELECT table_schema, table_name FROM information_schema.columns \
             WHERE data_type IN ('time', 'datetime', 'timestamp') AND table_schema IN ({databases})"
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

/// Tables with columns that MySQL 8.0.12 to 8.0.28 added instantly. The checksums of such a table depend
/// on a flag of the dictionary (`TableDef::packs_records`), which no statement shows.
fn instantly_altered(session: &mut Session) -> Result<Vec<TableName>> {
    if session.is_mariadb() || session.version().number < 80_012 {
        return Ok(Vec::new());
    }
    let sql = "SELECT name FROM information_schema.innodb_tables WHERE instant_cols > 0";
    Ok(session.rows(sql)?.iter().filter_map(|row| table_of(&cell(row, 0))).collect())
}

/// The table of an InnoDB name, which is that of a file: `db/t@002d1#p#p0`.
fn table_of(name: &str) -> Option<TableName> {
    let (schema, file) = name.split_once('/')?;
    Some(TableName { schema: decode(schema), table: decode_table(file).table })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_innodb_are_those_of_tables() {
        let table = |schema: &str, table: &str| TableName {
            schema: schema.to_owned(),
            table: table.to_owned(),
        };
        assert_eq!(table_of("a@002db/t@0023"), Some(table("a-b", "t#")));
        assert_eq!(table_of("db/t#p#p0#sp#s1"), Some(table("db", "t")));
        assert_eq!(table_of("mysql"), None);
    }
}
