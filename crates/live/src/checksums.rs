//! Checksums of a running server's tables.

use std::collections::BTreeSet;

use innoscan_catalog::catalog::{SYSTEM_DATABASES, TableName};
use innoscan_engine::Result;
use innoscan_engine::checksum_sink::ChecksumKind;
use innoscan_format::schema::quoted_name;
use innoscan_format::types::stored_checksum;

use crate::session::{Session, cell, qualified, quoted_text};

/// The tables of a server that the account sees, without those of system databases.
///
/// # Errors
/// The server's error.
pub fn tables(session: &mut Session) -> Result<BTreeSet<TableName>> {
    let system: Vec<String> = SYSTEM_DATABASES.iter().map(|name| quoted_text(name)).collect();
    let rows = session.rows(&format!(
        "SELECT table_schema, table_name FROM information_schema.tables \
         WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') AND table_schema NOT IN ({})",
        system.join(", ")
    ))?;
    Ok(rows.iter().map(|row| TableName { schema: cell(row, 0), table: cell(row, 1) }).collect())
}

/// A checksum of a table: the result of `CHECKSUM TABLE ... EXTENDED`, or of a query over the stored columns; `None` if
/// the server gives no checksum.
///
/// # Errors
/// The server's error.
pub fn checksum(
    session: &mut Session,
    name: &TableName,
    kind: ChecksumKind,
) -> Result<Option<u32>> {
    let place = qualified(&name.schema, &name.table);
    let (statement, nth) = match kind {
        ChecksumKind::Table => (format!("CHECKSUM TABLE {place} EXTENDED"), 1),
        // Its values are those of a session in UTC, without modes of SQL, as all of ours are.
        ChecksumKind::StoredColumns => {
            (stored_checksum::query(&stored_columns(session, name)?, &place), 0)
        }
    };
    let rows = session.rows(&statement)?;
    Ok(rows.first().and_then(|row| cell(row, nth).parse().ok()))
}

/// The names of a table's columns, quoted, without virtual ones.
fn stored_columns(session: &mut Session, name: &TableName) -> Result<Vec<String>> {
    let rows = session.rows(&format!(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = {} AND table_name = {} \
         AND extra NOT LIKE '%VIRTUAL%' ORDER BY ordinal_position",
        quoted_text(&name.schema),
        quoted_text(&name.table)
    ))?;
    Ok(rows.iter().map(|row| quoted_name(&cell(row, 0))).collect())
}
