//! `CHECKSUM TABLE` of a running server's tables.

use std::collections::BTreeSet;

use innoscan_catalog::catalog::{SYSTEM_DATABASES, TableName};
use innoscan_engine::Result;

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

/// The result of `CHECKSUM TABLE ... EXTENDED`; `None` if the server gives no checksum.
///
/// # Errors
/// The server's error.
pub fn checksum(session: &mut Session, name: &TableName) -> Result<Option<u32>> {
    let place = qualified(&name.schema, &name.table);
    let rows = session.rows(&format!("CHECKSUM TABLE {place} EXTENDED"))?;
    Ok(rows.first().and_then(|row| cell(row, 1).parse().ok()))
}
