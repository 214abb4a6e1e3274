//! One moment for several connections: transactions that begin while nobody can commit.
//!
//! `FLUSH TABLES WITH READ LOCK` takes a server milliseconds, whatever the number of its tables, and
//! is let go of as soon as the transactions see the moment. As with the tables' own lock, each try
//! lasts a second at most, for those that write wait meanwhile.

use std::time::{Duration, Instant};

use innoscan::Result;
use innoscan::catalog::TableName;
use innoscan::dump::{SentRowFn, TableSession};

use crate::account::Account;
use crate::lock_statement::{is_locked, qualified};
use crate::session::{Session, cell};

/// The place in a transaction before any table was read.
const SAVEPOINT: &str = "innoscan";

/// Connections that are to see one moment, and the one that stops the server for it.
pub struct Moment {
    lock: Session,
    sessions: Vec<Session>,
    since: Instant,
    /// How long nobody could commit.
    pub held: Duration,
}

impl Moment {
    /// Connects; locks nothing yet.
    ///
    /// # Errors
    /// When there are no more connections to be had.
    pub fn new(account: &Account, sessions: usize) -> Result<Moment> {
        let mut lock = Session::connect(account)?;
        lock.run("SET SESSION lock_wait_timeout = 1")?;
        let connect = |_| {
            let mut session = Session::connect(account)?;
            session.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
            Ok(session)
        };
        let sessions = (0..sessions.max(1)).map(connect).collect::<Result<_>>()?;
        Ok(Moment { lock, sessions, since: Instant::now(), held: Duration::ZERO })
    }

    /// The numbers of its connections.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.sessions.iter().chain([&self.lock]).map(Session::id)
    }

    /// Stops all that commit; `false` when that could not be had within a second.
    pub(crate) fn try_lock(&mut self) -> Result<bool> {
        let begun = Instant::now();
        let is_held = is_locked(&mut self.lock, "FLUSH TABLES WITH READ LOCK")?;
        self.since = begun;
        Ok(is_held)
    }

    /// Lets the others go on.
    pub(crate) fn unlock(&mut self) -> Result<()> {
        self.lock.run("UNLOCK TABLES")?;
        self.held = self.since.elapsed();
        Ok(())
    }

    /// Begins the transactions, while all is stopped.
    pub(crate) fn begin(&mut self) -> Result<()> {
        for session in &mut self.sessions {
            session.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
        }
        Ok(())
    }

    /// The connections, each in a transaction that sees the moment.
    ///
    /// # Errors
    /// When one is gone.
    pub fn into_sessions(self) -> Result<Vec<Box<dyn TableSession>>> {
        let prepared = self.sessions.into_iter().map(|mut session| {
            // What was stored, as it is stored.
            session.run("SET SESSION character_set_results = binary")?;
            session.run(&format!("SAVEPOINT {SAVEPOINT}"))?;
            let session: Box<dyn TableSession> = Box::new(SnapshotSession(session));
            Ok(session)
        });
        prepared.collect()
    }
}

/// A connection in a transaction that sees one moment.
struct SnapshotSession(Session);

impl TableSession for SnapshotSession {
    fn version(&self) -> innoscan::ServerVersion {
        self.0.version()
    }

    fn create_table(&mut self, name: &TableName) -> Result<String> {
        let rows = self.0.rows(&format!("SHOW CREATE TABLE {}", qualified(name)))?;
        Ok(rows.first().map(|row| cell(row, 1)).unwrap_or_default())
    }

    fn for_each_row(
        &mut self,
        name: &TableName,
        expressions: &[String],
        row: &mut SentRowFn<'_>,
    ) -> Result<()> {
        // Without a secondary index the rows come in the order of the clustered one.
        let place = qualified(name);
        let sql = format!("SELECT {} FROM {place} USE INDEX ()", expressions.join(", "));
        self.0.for_each_row(&sql, |values| row(&values))?;
        // Whoever wants to alter the table need not wait for the other tables.
        self.0.run(&format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))
    }

    fn confirm(&mut self) -> Result<()> {
        self.0.run("DO 1")
    }
}
