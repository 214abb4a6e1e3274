//! The export lock, `FLUSH TABLES ... FOR EXPORT`, and a thread that checks that it is still held.
//!
//! The lock belongs to the connection: when innoscan ends, the connection ends, and the server releases
//! the lock. While a session waits for a lock, however, the server does not notice that the client is
//! gone, and other sessions queue up behind it. So each attempt lasts at most one second
//! (`lock_wait_timeout`), and between two attempts the blocked sessions go first.
//!
//! Files read without the lock cannot be trusted. The server is asked every quarter of a second whether
//! the connection is alive; if it is not, the dump is cancelled.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use innoscan_catalog::catalog::TableName;
use innoscan_engine::{Error, Remedy, Result, Table};

use crate::consistent_snapshot::ConsistentSnapshot;
use crate::lock_holders::LockHolders;
use crate::lock_statement::is_locked;
use crate::others_lock::OthersLock;
use crate::session::{Session, qualified};

/// Interval of the checks that the connection is alive.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// Pause between two attempts: as long as an attempt may block others.
const REST: Duration = Duration::from_secs(1);

/// The timeouts of the lock.
#[derive(Clone, Copy, Debug)]
pub struct LockOptions {
    /// How long to keep trying.
    pub wait: Duration,
    /// Running time from which on a statement that could delay the lock makes the attempt fail.
    pub long_query: Duration,
    /// Called after the first failed attempt, with the sessions that hold the lock.
    pub on_wait: fn(&LockHolders),
}

/// The tables to lock.
pub struct ToLock<'a> {
    /// The InnoDB tables.
    pub tables: &'a [TableName],
    /// The tables of other engines.
    pub others: Option<&'a mut ReadLock>,
    /// The connections that share the snapshot taken while everything is locked.
    pub snapshot: Option<&'a mut ConsistentSnapshot>,
    /// Whether each table is flushed before all are locked, which shortens the lock.
    pub flushes_first: bool,
    /// The id of the connection for queries, which never counts as a holder.
    pub control: u32,
}

/// The binary log position and the GTIDs while the tables were locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coordinates {
    /// File and position in the binary log; `None` if there is none or the account lacks the privilege.
    pub binlog: Option<(String, u64)>,
    /// The GTID set as the server prints it; empty if there is none.
    pub gtid: String,
    /// The error if the position could not be read.
    pub unread: Option<String>,
}

/// Requests to the thread that holds the lock.
enum Ask {
    /// Answer whether the lock is still held.
    Confirm(SyncSender<bool>),
    /// Answer whether the lock is still held, then release it.
    Conclude(SyncSender<bool>),
    /// Release the lock.
    Release,
}

/// A check that tables are still locked.
#[derive(Clone)]
pub enum Confirmation {
    /// Locked by a connection of innoscan.
    Own(OwnLock),
    /// Locked by another connection.
    Others(Arc<OthersLock>),
}

impl Confirmation {
    /// Checks that the tables are locked.
    ///
    /// # Errors
    /// If they are not.
    pub fn confirm(&self) -> Result<()> {
        match self {
            Confirmation::Own(held) => held.ask(Ask::Confirm),
            Confirmation::Others(held) => held.confirm(),
        }
    }

    /// Checks that the tables are locked, and releases a lock of innoscan's own: all was read.
    ///
    /// # Errors
    /// If they are not locked.
    pub fn conclude(&self) -> Result<()> {
        match self {
            Confirmation::Own(held) => held.ask(Ask::Conclude),
            Confirmation::Others(held) => held.confirm(),
        }
    }
}

/// A handle to the thread that holds the export lock.
#[derive(Clone)]
pub struct OwnLock {
    asks: Sender<Ask>,
}

impl OwnLock {
    fn ask(&self, ask: impl FnOnce(SyncSender<bool>) -> Ask) -> Result<()> {
        let (answer, answered) = mpsc::sync_channel(1);
        let is_asked = self.asks.send(ask(answer)).is_ok();
        match is_asked && answered.recv().unwrap_or(false) {
            true => Ok(()),
            false => Err(Error::server("the export lock was lost", "the connection was closed")),
        }
    }
}

/// The export lock on a set of tables.
pub struct ExportLock {
    asks: Sender<Ask>,
    watch: Option<JoinHandle<Result<()>>>,
    since: Instant,
    /// When it was released.
    released: Arc<OnceLock<Instant>>,
    /// Time spent on failed attempts and pauses.
    pub waited: Duration,
    /// The binary log position under the lock.
    pub coordinates: Coordinates,
}

impl ExportLock {
    /// Locks the InnoDB tables in one statement, after those of other engines. `cancel` is set if the lock
    /// is lost; if it is set elsewhere, waiting for the lock ends.
    ///
    /// # Errors
    /// If the lock is not granted in time, or the account lacks the privilege.
    pub fn acquire(
        mut session: Session,
        to_lock: ToLock<'_>,
        options: LockOptions,
        cancel: &Arc<AtomicBool>,
    ) -> Result<ExportLock> {
        let begun = Instant::now();
        let mut to_lock = to_lock;
        let since = wait_for_lock(&mut session, &mut to_lock, options, cancel)?;
        refuse_prepared(&mut session)?;
        let coordinates = coordinates(&mut session)?;
        if let Some(snapshot) = to_lock.snapshot {
            snapshot.start()?;
            snapshot.unlock()?;
        }
        let (asks, asked) = mpsc::channel();
        let released = Arc::new(OnceLock::new());
        let watch = {
            let (cancel, released) = (Arc::clone(cancel), Arc::clone(&released));
            let body = move || {
                watch(session, &asked, &cancel)?;
                _ = released.set(Instant::now());
                Ok(())
            };
            let thread = std::thread::Builder::new().name("lock".to_owned());
            thread.spawn(body).map_err(Error::no_thread)?
        };
        let waited = since - begun;
        Ok(ExportLock { asks, watch: Some(watch), since, released, waited, coordinates })
    }

    /// Releases the lock; returns how long it was held.
    ///
    /// # Errors
    /// If the lock had been lost, with the cause.
    pub fn release(mut self) -> Result<Duration> {
        self.end()?;
        let released = self.released.get().copied().unwrap_or_else(Instant::now);
        Ok(released - self.since)
    }

    /// When the tables were locked.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// The check that the tables are still locked.
    pub fn confirmation(&self) -> Confirmation {
        Confirmation::Own(OwnLock { asks: self.asks.clone() })
    }

    fn end(&mut self) -> Result<()> {
        // A thread that has ended has released the lock.
        let _ = self.asks.send(Ask::Release);
        match self.watch.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

impl Drop for ExportLock {
    fn drop(&mut self) {
        // The connection ends with its thread, and the lock with the connection.
        let _ = self.end();
    }
}

/// Keeps the connection open until a release is requested or the connection is lost.
fn watch(mut session: Session, asked: &mpsc::Receiver<Ask>, cancel: &AtomicBool) -> Result<()> {
    loop {
        let ask = asked.recv_timeout(ASK_EVERY);
        if matches!(ask, Ok(Ask::Release) | Err(RecvTimeoutError::Disconnected)) {
            return session.run("UNLOCK TABLES");
        }
        let is_there = session.run("DO 1");
        let is_last = matches!(ask, Ok(Ask::Conclude(_)));
        if let Ok(Ask::Confirm(answer) | Ask::Conclude(answer)) = ask {
            // The requester may be gone.
            let _ = answer.send(is_there.is_ok());
        }
        if let Err(error) = is_there {
            let what =
                format!("the tables are no longer locked, so the rows read are not kept: {error}");
            cancel.store(true, Ordering::SeqCst);
            return Err(Error::server("the export lock was lost", what));
        }
        if is_last {
            return session.run("UNLOCK TABLES");
        }
    }
}

/// Locks the tables; returns the start of the successful attempt, when it began to block others.
fn wait_for_lock(
    session: &mut Session,
    to_lock: &mut ToLock<'_>,
    options: LockOptions,
    cancel: &AtomicBool,
) -> Result<Instant> {
    let ToLock { tables, others, snapshot, flushes_first, control } = to_lock;
    let mut own = vec![*control];
    let mut wanted = tables.to_vec();
    if let Some(others) = others {
        own.push(others.session.id());
        wanted.extend_from_slice(&others.tables);
    }
    own.extend(snapshot.iter().flat_map(|snapshot| snapshot.ids()));
    let quoted = |name: &TableName| qualified(&name.schema, &name.table);
    let names: Vec<String> = tables.iter().map(quoted).collect();
    let sql = format!("FLUSH TABLES {} FOR EXPORT", names.join(", "));
    session.run("SET SESSION lock_wait_timeout = 1")?;
    let until = Instant::now() + options.wait;
    let mut is_first = true;
    loop {
        if cancel.load(Ordering::SeqCst) {
            return Err(Error::interrupted());
        }
        let schemas = tables.iter().map(|name| &*name.schema).collect();
        let of_schemas = if snapshot.is_some() { None } else { Some(schemas) };
        refuse_long_queries(session, of_schemas.as_ref(), options.long_query)?;
        if *flushes_first {
            flush_each(session, tables)?;
        }
        let begun = Instant::now();
        // MySQL refuses FLUSH TABLES WITH READ LOCK while tables are locked for export, but not the
        // other way round.
        let is_stopped = snapshot.as_mut().map_or(Ok(true), |snapshot| snapshot.try_lock())?;
        let are_held =
            is_stopped && others.as_mut().map_or(Ok(true), |others| others.try_lock())?;
        if are_held && (tables.is_empty() || is_locked(session, &sql)?) {
            return Ok(begun);
        }
        if let Some(others) = others {
            others.unlock()?;
        }
        if let Some(snapshot) = snapshot {
            snapshot.unlock()?;
        }
        let gives_up = Instant::now() + REST >= until;
        if is_first || gives_up {
            let holders = LockHolders::ask(session, &wanted, &own)?;
            if gives_up {
                return Err(not_locked(&holders, options.wait));
            }
            (options.on_wait)(&holders);
            is_first = false;
        }
        rest(cancel);
    }
}

fn not_locked(holders: &LockHolders, wait: Duration) -> Error {
    let seconds = wait.as_secs();
    let what = format!("the tables could not be locked within {seconds} s: {holders}");
    Error::refused(what, holders.remedies())
}

/// Flushes one table after the other, each under a lock of its own, so that little is left to flush when
/// all are locked at once.
fn flush_each(session: &mut Session, tables: &[TableName]) -> Result<()> {
    for table in tables {
        let place = qualified(&table.schema, &table.table);
        if !is_locked(session, &format!("FLUSH TABLES {place} FOR EXPORT"))? {
            // The lock on all of them would fail too.
            return Ok(());
        }
        session.run("UNLOCK TABLES")?;
    }
    Ok(())
}

/// Refuses prepared transactions (`XA PREPARE`): their changes are in the tables' files, and their locks
/// may be gone, since MariaDB drops them when the connection ends.
pub(crate) fn refuse_prepared(session: &mut Session) -> Result<()> {
    let prepared = match session.rows("XA RECOVER") {
        Ok(prepared) => prepared.len(),
        // MySQL 8 requires a privilege for it, and keeps the tables of such transactions locked.
        Err(_) => return Ok(()),
    };
    if prepared == 0 {
        return Ok(());
    }
    Err(Error::refused(
        format!(
            "{prepared} transactions are prepared and not ended: their changes are in the files as \
             if they were committed"
        ),
        "end them: XA RECOVER shows them; XA COMMIT or XA ROLLBACK",
    ))
}

/// A read lock on tables of other engines, held by the connection that selects their rows.
pub struct ReadLock {
    session: Session,
    tables: Vec<TableName>,
    sql: String,
}

impl ReadLock {
    /// Prepares the connection, without a lock.
    ///
    /// # Errors
    /// If the connection is lost.
    pub fn new(mut session: Session, tables: &[TableName]) -> Result<ReadLock> {
        session.run("SET SESSION lock_wait_timeout = 1")?;
        let read = |name: &TableName| format!("{} READ", qualified(&name.schema, &name.table));
        let names: Vec<String> = tables.iter().map(read).collect();
        let sql = format!("LOCK TABLES {}", names.join(", "));
        Ok(ReadLock { session, tables: tables.to_vec(), sql })
    }

    /// The connection, which keeps the tables locked as long as it lives.
    pub fn into_session(self) -> Session {
        self.session
    }

    fn try_lock(&mut self) -> Result<bool> {
        is_locked(&mut self.session, &self.sql)
    }

    fn unlock(&mut self) -> Result<()> {
        self.session.run("UNLOCK TABLES")
    }
}

/// Pauses, so that blocked sessions go first.
fn rest(cancel: &AtomicBool) {
    let until = Instant::now() + REST;
    while Instant::now() < until && !cancel.load(Ordering::SeqCst) {
        std::thread::sleep(ASK_EVERY);
    }
}

/// Refuses long-running statements in these databases, or in any for `None`, that could delay the lock.
/// Needs PROCESS to see the statements of others.
fn refuse_long_queries(
    session: &mut Session,
    schemas: Option<&HashSet<&str>>,
    long: Duration,
) -> Result<()> {
    let sql = format!(
        "SELECT id, user, db, time, info FROM information_schema.processlist \
         WHERE command IN ('Query', 'Execute') AND time >= {} AND id <> CONNECTION_ID()",
        long.as_secs().max(1)
    );
    for row in session.rows(&sql)? {
        let [id, user, db, time, info] = [0, 1, 2, 3, 4].map(|nth| crate::session::cell(&row, nth));
        // The list does not say which tables a statement uses, only its current database.
        let is_of = |schemas: &HashSet<&str>| {
            schemas.contains(&*db) || schemas.iter().any(|schema| info.contains(*schema))
        };
        if !schemas.is_none_or(is_of) {
            continue;
        }
        let info: String = info.chars().take(60).collect();
        return Err(Error::refused(
            format!(
                "a statement of {user} has been running for {time} s and may delay the lock: {info} \
                 (KILL QUERY {id} would end it)"
            ),
            ["wait for it".into(), "end it".into(), Remedy::RaiseQueryGuard],
        ));
    }
    Ok(())
}

pub(crate) fn coordinates(session: &mut Session) -> Result<Coordinates> {
    let is_mariadb = session.is_mariadb();
    let status = match is_mariadb || session.version().number < 80_200 {
        true => "SHOW MASTER STATUS",
        false => "SHOW BINARY LOG STATUS",
    };
    let row = match session.rows(status) {
        Ok(rows) => rows.into_iter().next(),
        // A dump without REPLICATION CLIENT is complete, but no replica can be set up from it.
        Err(error) => {
            let is_written = session.text("SELECT @@log_bin")?.is_some_and(|on| on == "1");
            let unread = is_written.then(|| error.to_string());
            return Ok(Coordinates { unread, ..Coordinates::default() });
        }
    };
    let Some(row) = row else { return Ok(Coordinates::default()) };
    let gtid = match is_mariadb {
        true => session.text("SELECT @@gtid_binlog_pos")?.unwrap_or_default(),
        false => crate::session::cell(&row, 4).replace('\n', ""),
    };
    let position = crate::session::cell(&row, 1).parse().unwrap_or_default();
    let binlog = Some((crate::session::cell(&row, 0), position));
    Ok(Coordinates { binlog, gtid, unread: None })
}

/// Checks that a table's files are those that the server has locked: it writes a `.cfg` beside each, and
/// removes it on release.
///
/// # Errors
/// If one is missing: the file belongs to another server, or the lock is not held.
pub fn require_exported(table: &Table) -> Result<()> {
    for file in &table.files {
        let note = file.path.with_extension("cfg");
        if !note.is_file() {
            return Err(not_exported(&file.path));
        }
    }
    Ok(())
}

fn not_exported(path: &Path) -> Error {
    Error::refused_directory(
        "the server has locked a table of this name, but left no .cfg beside this file: the file is \
         not that table's",
        "connect to the server whose data directory it is",
    )
    .in_file(path)
}
