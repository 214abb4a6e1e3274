//! One consistent snapshot for several connections: their transactions start while commits are blocked.
//!
//! `FLUSH TABLES WITH READ LOCK` takes milliseconds, whatever the number of tables, and is released as
//! soon as the transactions have started. As with the export lock, each attempt lasts at most one second,
//! since writers wait meanwhile.

use std::time::{Duration, Instant};

use innoscan_catalog::catalog::TableName;
use innoscan_engine::Result;
use innoscan_export::dump::{SentRowFn, TableSession};

use crate::account::Account;
use crate::lock_statement::is_locked;
use crate::session::{Session, qualified};

/// The savepoint at the start of each transaction, before any table is read.
const SAVEPOINT: &str = "innoscan";

/// Connections that share one consistent snapshot, and the connection that blocks commits for it.
pub struct ConsistentSnapshot {
    lock: Session,
    sessions: Vec<Session>,
    since: Instant,
    /// How long commits were blocked.
    pub held: Duration,
}

impl ConsistentSnapshot {
    /// Opens the connections, without a lock.
    ///
    /// # Errors
    /// If the server refuses a connection.
    pub fn new(account: &Account, sessions: usize) -> Result<ConsistentSnapshot> {
        let mut lock = Session::connect(account)?;
        lock.run("SET SESSION lock_wait_timeout = 1")?;
        let connect = |_| {
            let mut session = Session::connect(account)?;
            session.set_repeatable_read()?;
            Ok(session)
        };
        let sessions = (0..sessions.max(1)).map(connect).collect::<Result<_>>()?;
        Ok(ConsistentSnapshot { lock, sessions, since: Instant::now(), held: Duration::ZERO })
    }

    /// The connection ids.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.sessions.iter().chain([&self.lock]).map(Session::id)
    }

    /// Blocks commits; `false` if the lock was not granted within a second.
    pub(crate) fn try_lock(&mut self) -> Result<bool> {
        let begun = Instant::now();
        let is_held = is_locked(&mut self.lock, "FLUSH TABLES WITH READ LOCK")?;
        self.since = begun;
        Ok(is_held)
    }

    /// Releases the lock.
    pub(crate) fn unlock(&mut self) -> Result<()> {
        self.lock.run("UNLOCK TABLES")?;
        self.held = self.since.elapsed();
        Ok(())
    }

    /// Starts the transactions, while commits are blocked.
    pub(crate) fn start(&mut self) -> Result<()> {
        for session in &mut self.sessions {
            session.start_snapshot()?;
        }
        Ok(())
    }

    /// The connections, each in a transaction with the snapshot.
    ///
    /// # Errors
    /// If a connection was lost.
    pub fn into_sessions(self) -> Result<Vec<Box<dyn TableSession>>> {
        let prepared = self.sessions.into_iter().map(|mut session| {
            // Values come in the charset they are stored in.
            session.run("SET SESSION character_set_results = binary")?;
            session.run(&format!("SAVEPOINT {SAVEPOINT}"))?;
            let session: Box<dyn TableSession> = Box::new(SnapshotSession(session));
            Ok(session)
        });
        prepared.collect()
    }
}

/// A connection in a transaction with the snapshot.
struct SnapshotSession(Session);

impl TableSession for SnapshotSession {
    fn version(&self) -> innoscan_format::schema::ServerVersion {
        self.0.version()
    }

    fn create_table(&mut self, name: &TableName) -> Result<String> {
        self.0.create_table(name)
    }

    fn for_each_row(
        &mut self,
        name: &TableName,
        expressions: &[String],
        row: &mut SentRowFn<'_>,
    ) -> Result<()> {
        // Without a secondary index the rows come in clustered index order.
        let place = qualified(&name.schema, &name.table);
        let sql = format!("SELECT {} FROM {place} USE INDEX ()", expressions.join(", "));
        self.0.for_each_row(&sql, |values| row(&values))?;
        // Releases the metadata lock, so that the table can be altered from now on.
        self.0.run(&format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))
    }

    fn confirm(&mut self) -> Result<()> {
        self.0.run("DO 1")
    }
}
