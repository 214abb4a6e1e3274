//! What statements that lock have in common.

use innoscan_catalog::catalog::TableName;
use innoscan_engine::Result;
use innoscan_format::schema::quoted_name;

use crate::session::Session;

/// `ER_LOCK_WAIT_TIMEOUT`.
const LOCK_WAIT_TIMEOUT: u16 = 1205;

/// Runs a statement that locks; `false` when it waited for too long.
pub(crate) fn is_locked(session: &mut Session, sql: &str) -> Result<bool> {
    match session.try_run(sql) {
        Ok(()) => Ok(true),
        Err(mysql::Error::MySqlError(error)) if error.code == LOCK_WAIT_TIMEOUT => Ok(false),
        Err(error) => Err(session.failed(sql, &error)),
    }
}

/// `` `db`.`table` ``.
pub(crate) fn qualified(name: &TableName) -> String {
    format!("{}.{}", quoted_name(&name.schema), quoted_name(&name.table))
}
