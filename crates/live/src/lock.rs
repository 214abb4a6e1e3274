//! Tables held still: `FLUSH TABLES ... FOR EXPORT`, and a thread that knows whether it still holds.
//!
//! The lock is the connection's: whatever ends innoscan ends the connection, and the server lets go
//! at once. While the server makes it wait for the lock, though, it does not notice that the client
//! is gone, and others queue up behind; so each try lasts a second at most (`lock_wait_timeout`),
//! and between two tries those that were held up go first.
//!
//! Files read without the lock are not to be trusted. The server is asked every quarter of a second
//! whether it is there; when it is not, the dump is told to stop.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use innoscan::catalog::TableName;
use innoscan::{Error, Remedy, Result, Table};

use crate::held::HeldByOthers;
use crate::lock_holders::LockHolders;
use crate::lock_statement::{is_locked, qualified};
use crate::moment::Moment;
use crate::session::Session;

/// How often the server is asked whether it is still there.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// Between two tries: as long as a try may hold up others.
const REST: Duration = Duration::from_secs(1);

/// How to go about the lock.
#[derive(Clone, Copy, Debug)]
pub struct LockOptions {
    /// How long it is tried.
    pub wait: Duration,
    /// A statement that has run so long is not waited for.
    pub long_query: Duration,
    /// Hears, when the first try has failed, for whom the lock is waited.
    pub on_wait: fn(&LockHolders),
}

/// What is to be locked.
pub struct ToLock<'a> {
    /// Tables of InnoDB.
    pub tables: &'a [TableName],
    /// Those of other engines.
    pub others: Option<&'a mut ReadLock>,
    /// Connections that are to see the moment at which all are locked.
    pub moment: Option<&'a mut Moment>,
    /// Have each table's changed pages written before all are locked, so that they are locked for
    /// less.
    pub flushes_first: bool,
    /// The connection beside these that takes part.
    pub control: u32,
}

/// Where the server's log of changes stood while the tables were held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coordinates {
    /// The binary log's file and position; `None`: the server writes none, or it may not be asked.
    pub binlog: Option<(String, u64)>,
    /// The set of transactions, as the server writes it; empty where it has none.
    pub gtid: String,
    /// Why nothing is known of a log that the server writes.
    pub unread: Option<String>,
}

/// What the thread that holds the lock is asked.
enum Ask {
    /// Whether it holds it still.
    Confirm(SyncSender<bool>),
    /// Whether it holds it still, and then to let go.
    Conclude(SyncSender<bool>),
    /// To let go.
    Release,
}

/// Asks whether tables are still held.
#[derive(Clone)]
pub enum Confirmation {
    /// By a connection of ours.
    Own(HeldByUs),
    /// By somebody else.
    Others(Arc<HeldByOthers>),
}

impl Confirmation {
    /// Whether they are, at this moment.
    ///
    /// # Errors
    /// When they are not.
    pub fn confirm(&self) -> Result<()> {
        match self {
            Confirmation::Own(held) => held.ask(Ask::Confirm),
            Confirmation::Others(held) => held.confirm(),
        }
    }

    /// The same, and lets go of them where they are ours: all was read.
    ///
    /// # Errors
    /// When they are not held.
    pub fn conclude(&self) -> Result<()> {
        match self {
            Confirmation::Own(held) => held.ask(Ask::Conclude),
            Confirmation::Others(held) => held.confirm(),
        }
    }
}

/// Asks the thread that holds tables.
#[derive(Clone)]
pub struct HeldByUs {
    asks: Sender<Ask>,
}

impl HeldByUs {
    fn ask(&self, ask: impl FnOnce(SyncSender<bool>) -> Ask) -> Result<()> {
        let (answer, answered) = mpsc::sync_channel(1);
        let is_asked = self.asks.send(ask(answer)).is_ok();
        match is_asked && answered.recv().unwrap_or(false) {
            true => Ok(()),
            false => Err(Error::server("holding the lock", "the connection is gone")),
        }
    }
}

/// Tables that nobody can change.
pub struct ExportLock {
    asks: Sender<Ask>,
    watch: Option<JoinHandle<Result<()>>>,
    since: Instant,
    /// When it was let go of.
    released: Arc<OnceLock<Instant>>,
    /// Until the try that got it, tries and rests.
    pub waited: Duration,
    /// While it was held.
    pub coordinates: Coordinates,
}

impl ExportLock {
    /// Locks tables of InnoDB, all in one statement, when those of other engines are locked. `cancel`
    /// is set when the lock is lost, and when it is set the lock is no longer waited for.
    ///
    /// # Errors
    /// When it cannot be had in time, or may not.
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
        if let Some(moment) = to_lock.moment {
            moment.begin()?;
            moment.unlock()?;
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
            thread
                .spawn(body)
                .map_err(|error| Error::resources(format!("cannot start a thread: {error}")))?
        };
        let waited = since - begun;
        Ok(ExportLock { asks, watch: Some(watch), since, released, waited, coordinates })
    }

    /// Lets go; how long they were held.
    ///
    /// # Errors
    /// When the lock had been lost: why.
    pub fn release(mut self) -> Result<Duration> {
        self.end()?;
        let released = self.released.get().copied().unwrap_or_else(Instant::now);
        Ok(released - self.since)
    }

    /// Since when they are held.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Who tells whether they are still held.
    pub fn confirmation(&self) -> Confirmation {
        Confirmation::Own(HeldByUs { asks: self.asks.clone() })
    }

    fn end(&mut self) -> Result<()> {
        // A thread that has ended has let go.
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

/// Keeps the connection until it is told to let go, or finds that it is gone.
fn watch(mut session: Session, asked: &mpsc::Receiver<Ask>, cancel: &AtomicBool) -> Result<()> {
    loop {
        let ask = asked.recv_timeout(ASK_EVERY);
        if matches!(ask, Ok(Ask::Release) | Err(RecvTimeoutError::Disconnected)) {
            return session.run("UNLOCK TABLES");
        }
        let is_there = session.run("DO 1");
        let is_last = matches!(ask, Ok(Ask::Conclude(_)));
        if let Ok(Ask::Confirm(answer) | Ask::Conclude(answer)) = ask {
            // Whoever asked may have gone.
            let _ = answer.send(is_there.is_ok());
        }
        if let Err(error) = is_there {
            let what =
                format!("the tables are no longer locked, so what was read is not kept: {error}");
            cancel.store(true, Ordering::SeqCst);
            return Err(Error::server("holding the lock", what));
        }
        if is_last {
            return session.run("UNLOCK TABLES");
        }
    }
}

/// Locks the tables; when it began to hold up others.
fn wait_for_lock(
    session: &mut Session,
    to_lock: &mut ToLock<'_>,
    options: LockOptions,
    cancel: &AtomicBool,
) -> Result<Instant> {
    let ToLock { tables, others, moment, flushes_first, control } = to_lock;
    let mut own = vec![*control];
    let mut wanted = tables.to_vec();
    if let Some(others) = others {
        own.push(others.session.id());
        wanted.extend_from_slice(&others.tables);
    }
    own.extend(moment.iter().flat_map(|moment| moment.ids()));
    let names: Vec<String> = tables.iter().map(qualified).collect();
    let sql = format!("FLUSH TABLES {} FOR EXPORT", names.join(", "));
    session.run("SET SESSION lock_wait_timeout = 1")?;
    let until = Instant::now() + options.wait;
    let mut is_first = true;
    loop {
        if cancel.load(Ordering::SeqCst) {
            return Err(Error::interrupted());
        }
        let schemas = tables.iter().map(|name| &*name.schema).collect();
        let of_schemas = if moment.is_some() { None } else { Some(schemas) };
        refuse_long_queries(session, of_schemas.as_ref(), options.long_query)?;
        if *flushes_first {
            flush_each(session, tables)?;
        }
        let begun = Instant::now();
        // MySQL has nobody stop all while tables are locked for export, but not the other way round.
        let is_stopped = moment.as_mut().map_or(Ok(true), |moment| moment.try_lock())?;
        let are_held =
            is_stopped && others.as_mut().map_or(Ok(true), |others| others.try_lock())?;
        if are_held && (tables.is_empty() || is_locked(session, &sql)?) {
            return Ok(begun);
        }
        if let Some(others) = others {
            others.unlock()?;
        }
        if let Some(moment) = moment {
            moment.unlock()?;
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

/// Has the server write the changed pages of one table after the other, each of which is locked
/// meanwhile; when all are to be locked at once little is left to be written.
fn flush_each(session: &mut Session, tables: &[TableName]) -> Result<()> {
    for table in tables {
        if !is_locked(session, &format!("FLUSH TABLES {} FOR EXPORT", qualified(table)))? {
            // Nor will all of them be had now.
            return Ok(());
        }
        session.run("UNLOCK TABLES")?;
    }
    Ok(())
}

/// Changes of a prepared transaction are in the tables' files, and its lock may be gone: MariaDB
/// keeps none once its connection has ended.
pub(crate) fn refuse_prepared(session: &mut Session) -> Result<()> {
    let prepared = match session.rows("XA RECOVER") {
        Ok(prepared) => prepared.len(),
        // MySQL 8 wants a privilege for it, and keeps the tables of such transactions locked.
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

/// Tables whose rows the server itself will give, locked by the connection that will ask for them.
pub struct ReadLock {
    session: Session,
    tables: Vec<TableName>,
    sql: String,
}

impl ReadLock {
    /// Locks nothing yet.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn new(mut session: Session, tables: &[TableName]) -> Result<ReadLock> {
        session.run("SET SESSION lock_wait_timeout = 1")?;
        let names: Vec<String> =
            tables.iter().map(|name| format!("{} READ", qualified(name))).collect();
        let sql = format!("LOCK TABLES {}", names.join(", "));
        Ok(ReadLock { session, tables: tables.to_vec(), sql })
    }

    /// The connection, with the tables locked as long as it lasts.
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

/// Lets those that were held up go first.
fn rest(cancel: &AtomicBool) {
    let until = Instant::now() + REST;
    while Instant::now() < until && !cancel.load(Ordering::SeqCst) {
        std::thread::sleep(ASK_EVERY);
    }
}

/// Whoever may see others' statements looks whether one of these databases, or of any, would keep the
/// lock away for long.
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
        // Of one that runs elsewhere it is not known which tables it uses.
        let is_of = |schemas: &HashSet<&str>| {
            schemas.contains(&*db) || schemas.iter().any(|schema| info.contains(*schema))
        };
        if !schemas.is_none_or(is_of) {
            continue;
        }
        let info: String = info.chars().take(60).collect();
        return Err(Error::refused(
            format!(
                "a statement of {user} has run for {time} s and may keep the lock away: {info} \
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
        // Without REPLICATION CLIENT a dump is as good, but nothing can follow on it.
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

/// Whether the locked tables' files are those the server has locked: it has left a `.cfg` beside
/// each, which it takes away when it lets go.
///
/// # Errors
/// When one is missing: that file is another server's, or the lock is not held.
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
