//! The tablespaces of a running server, from its `information_schema`.

use innoscan_engine::Result;
use innoscan_format::SpaceId;
use innoscan_format::schema::tablespaces::ListedSpace;

use crate::account::Account;
use crate::session::{Session, cell};

/// The tablespaces of tables.
///
/// # Errors
/// If the query fails; it requires the privilege `PROCESS`.
pub fn spaces(account: &Account) -> Result<Vec<ListedSpace>> {
    let mut session = Session::connect(account)?;
    let version = session.version().number;
    let from = match (session.is_mariadb(), version) {
        // Tablespaces of undo logs, temporary tables and the system have no slash in their names.
        (true, _) => "INNODB_SYS_TABLESPACES WHERE name LIKE '%/%'",
        (false, 80_000..) => "INNODB_TABLESPACES WHERE space_type IN ('Single', 'General')",
        (false, 50_700..) => "INNODB_SYS_TABLESPACES WHERE space_type IN ('Single', 'General')",
        (false, _) => "INNODB_SYS_TABLESPACES",
    };
    // Older servers have no such column, and MariaDB does not list discarded tablespaces.
    let has_state = !session.is_mariadb() && version >= 80_014;
    let is_discarded = if has_state { "state = 'discarded'" } else { "0" };
    let rows = session
        .rows(&format!("SELECT space, name, {is_discarded} FROM information_schema.{from}"))?;
    let listed = |row: &Vec<Option<Vec<u8>>>| {
        Some(ListedSpace {
            space: SpaceId(cell(row, 0).parse().ok()?),
            name: cell(row, 1),
            is_discarded: cell(row, 2) == "1",
        })
    };
    Ok(rows.iter().filter_map(listed).collect())
}
