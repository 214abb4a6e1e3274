//! Statements that lock, and give up when the lock is not granted in time.

use innoscan_engine::Result;

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
