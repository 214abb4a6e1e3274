//! The connections that keep tables from being locked, as far as the server shows them to the account.
//!
//! MySQL lists locks in `performance_schema.metadata_locks` (5.7 if the instrument is enabled, 8.0 by
//! default), MariaDB in `information_schema.metadata_lock_info` (a plugin). Without them, the
//! transactions that have changed or locked rows are listed (`innodb_trx`, which requires PROCESS), and
//! without these the other connections.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use innoscan_catalog::catalog::TableName;
use innoscan_engine::{Remedies, Remedy, Result};

use crate::session::{Session, TextRow, cell};

/// Maximum number of connections in a message.
const NAMED_MAX: usize = 3;

/// The connections that keep tables from being locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockHolders {
    /// Connections that hold a conflicting lock, or may hold one.
    pub connections: Vec<Connection>,
    how: How,
}

/// How the connections were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum How {
    /// The server lists their locks on these tables.
    Locks,
    /// They are in transactions, possibly on other tables.
    Transactions,
    /// All other connections.
    #[default]
    Others,
}

/// A connection to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// The connection id, as `KILL` takes it.
    pub id: u64,
    /// The account, as `user@host`.
    pub account: String,
    /// The command: `Query`, `Sleep`.
    pub command: String,
    /// Seconds since the command started.
    pub seconds: u64,
    /// The age of its transaction, in seconds.
    pub transaction_seconds: Option<u64>,
    /// The start of its statement.
    pub statement: String,
}

impl LockHolders {
    /// Finds the connections that keep `tables` from being locked, without those in `own`.
    ///
    /// # Errors
    /// If the connection is lost.
    pub fn ask(session: &mut Session, tables: &[TableName], own: &[u32]) -> Result<LockHolders> {
        let own: HashSet<u64> =
            own.iter().map(|id| u64::from(*id)).chain([u64::from(session.id())]).collect();
        let mut known = connections(session)?;
        known.retain(|connection| !own.contains(&connection.id));
        let transactions = add_transactions(session, &mut known);
        let holding = holding(session, tables);
        let mut found = known.clone();
        found.retain(|connection| holding.contains(&connection.id));
        if !found.is_empty() {
            return Ok(LockHolders { connections: found, how: How::Locks });
        }
        let mut found = known.clone();
        found.retain(|connection| transactions.contains(&connection.id));
        found.sort_by_key(|connection| std::cmp::Reverse(connection.transaction_seconds));
        if !found.is_empty() {
            return Ok(LockHolders { connections: found, how: How::Transactions });
        }
        Ok(LockHolders { connections: known, how: How::Others })
    }

    /// The remedies: which connection to end, or to wait for longer.
    pub fn remedies(&self) -> Remedies {
        let end = match (self.how, self.connections.first()) {
            (How::Locks | How::Transactions, Some(first)) => {
                format!("end it (KILL {})", first.id).into()
            }
            _ => "end what holds them (LOCK TABLES, FLUSH TABLES ... FOR EXPORT, a transaction)"
                .into(),
        };
        [end, Remedy::RaiseLockWait].into()
    }
}

impl fmt::Display for LockHolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (how, connections) = (self.how, &self.connections);
        if how == How::Others && connections.is_empty() {
            return f
                .write_str("which connection holds them is not visible to this account (PROCESS)");
        }
        if how == How::Others {
            f.write_str("which connection holds them is not visible; ")?;
            if connections.len() > NAMED_MAX {
                return write!(f, "there are {} others", connections.len());
            }
            f.write_str("the others are: ")?;
        }
        for (nth, connection) in connections.iter().take(NAMED_MAX).enumerate() {
            let separator = if nth > 0 { "; " } else { "" };
            write!(f, "{separator}{connection}")?;
            if how == How::Locks && connection.transaction_seconds.is_none() {
                f.write_str(", holds a lock on them")?;
            }
        }
        match connections.len().saturating_sub(NAMED_MAX) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {} of {}", self.id, self.account)?;
        if let Some(seconds) = self.transaction_seconds {
            write!(f, " has been in a transaction for {seconds} s")?;
        }
        match &*self.statement {
            "" => write!(f, " ({}, {} s)", self.command, self.seconds),
            statement => write!(f, " ({} s: {statement})", self.seconds),
        }
    }
}

fn number(row: &TextRow, nth: usize) -> Option<u64> {
    cell(row, nth).parse().ok()
}

/// The connections of clients that the account may see.
fn connections(session: &mut Session) -> Result<Vec<Connection>> {
    let rows = session.rows(
        "SELECT id, user, host, command, time, LEFT(info, 60) FROM information_schema.processlist \
         WHERE command NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID', 'Slave_IO', 'Slave_SQL') \
         ORDER BY time DESC",
    )?;
    let connection = |row: &TextRow| {
        let host = cell(row, 2);
        // Without the client's port.
        let host = host.split(':').next().unwrap_or_default();
        Some(Connection {
            id: number(row, 0)?,
            account: match host {
                // A server without privilege checks.
                "" => cell(row, 1),
                host => format!("{}@{host}", cell(row, 1)),
            },
            command: cell(row, 3),
            seconds: number(row, 4).unwrap_or_default(),
            transaction_seconds: None,
            statement: cell(row, 5).split_whitespace().collect::<Vec<_>>().join(" "),
        })
    };
    Ok(rows.iter().filter_map(connection).collect())
}

/// Adds the age of each connection's transaction; returns the connections that have changed or locked
/// rows.
fn add_transactions(session: &mut Session, known: &mut [Connection]) -> HashSet<u64> {
    // The times are in the server's system time zone (`field_store_time_t`, i_s.cc, MySQL 8.0 and
    // MariaDB 10.11).
    let sql = "SELECT trx_mysql_thread_id, \
               TIMESTAMPDIFF(SECOND, CONVERT_TZ(trx_started, 'SYSTEM', @@time_zone), NOW()), \
               trx_tables_locked + trx_rows_modified > 0 FROM information_schema.innodb_trx";
    // Requires PROCESS.
    let rows = session.rows(sql).unwrap_or_default();
    let mut changing = HashSet::new();
    for row in &rows {
        let Some(id) = number(row, 0) else { continue };
        if let Some(connection) = known.iter_mut().find(|connection| connection.id == id) {
            connection.transaction_seconds = number(row, 1);
        }
        if cell(row, 2) == "1" {
            changing.insert(id);
        }
    }
    changing
}

/// The connections with a lock on one of the tables that FLUSH TABLES ... FOR EXPORT waits for.
fn holding(session: &mut Session, tables: &[TableName]) -> HashSet<u64> {
    let sql = match session.is_mariadb() {
        true => {
            "SELECT thread_id, table_schema, table_name, lock_mode \
             FROM information_schema.metadata_lock_info"
        }
        false => {
            "SELECT t.processlist_id, l.object_schema, l.object_name, l.lock_type \
             FROM performance_schema.metadata_locks l \
             JOIN performance_schema.threads t ON t.thread_id = l.owner_thread_id \
             WHERE l.object_type = 'TABLE' AND l.lock_status = 'GRANTED'"
        }
    };
    let tables: BTreeSet<&TableName> = tables.iter().collect();
    // Neither is always available, nor readable for every account.
    let rows = session.rows(sql).unwrap_or_default();
    let in_the_way = |row: &&TextRow| {
        let name = TableName { schema: cell(row, 1), table: cell(row, 2) };
        let reads = ["SHARED", "SHARED_HIGH_PRIO", "SHARED_READ", "SHARED_READ_ONLY"];
        tables.contains(&name) && !reads.contains(&cell(row, 3).trim_start_matches("MDL_"))
    };
    rows.iter().filter(in_the_way).filter_map(|row| number(row, 0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(id: u64) -> Connection {
        Connection {
            id,
            account: "app@localhost".to_owned(),
            command: "Sleep".to_owned(),
            seconds: 3,
            ..Connection::default()
        }
    }

    #[test]
    fn holders_are_named_as_far_as_they_are_known() {
        let idle = Connection { transaction_seconds: Some(12), ..connection(7) };
        let busy = Connection { statement: "UPDATE t SET a = 1".to_owned(), ..idle.clone() };
        let of = |connections, how| LockHolders { connections, how };
        for (holders, text) in [
            (
                of(vec![idle], How::Transactions),
                "connection 7 of app@localhost has been in a transaction for 12 s (Sleep, 3 s)",
            ),
            (
                of(vec![busy], How::Locks),
                "connection 7 of app@localhost has been in a transaction for 12 s (3 s: UPDATE t SET \
                 a = 1)",
            ),
            (
                of(vec![connection(7), connection(8)], How::Locks),
                "connection 7 of app@localhost (Sleep, 3 s), holds a lock on them; connection 8 of \
                 app@localhost (Sleep, 3 s), holds a lock on them",
            ),
            (
                of((0..9).map(connection).collect(), How::Others),
                "which connection holds them is not visible; there are 9 others",
            ),
            (
                of(Vec::new(), How::Others),
                "which connection holds them is not visible to this account (PROCESS)",
            ),
        ] {
            assert_eq!(holders.to_string(), text);
        }
    }
}
