//! A snapshot of the tables of a server: locked while they are read, or copied under the lock.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use innoscan_catalog::catalog::{Catalog, TableName};
use innoscan_catalog::ledger::Filter;
use innoscan_catalog::object::Object;
use innoscan_engine::condition::RowCondition;
use innoscan_engine::keys::Keys;
use innoscan_engine::{Error, ErrorKind, Remedy, Result, Table};
use innoscan_export::dump::{DeferredTable, SelectedTable, SmallTable, SmallTables};
use innoscan_export::phases::{Phase, Phases};

use crate::account::Account;
use crate::clone;
use crate::consistent_snapshot::ConsistentSnapshot;
use crate::inventory::{Entry, Inventory, Kind, engine_has_rows};
use crate::lock::{
    Confirmation, Coordinates, ExportLock, LockOptions, ReadLock, ToLock, coordinates,
    refuse_prepared,
};
use crate::lock_queue::LockQueue;
use crate::objects::objects;
use crate::others_lock::OthersLock;
use crate::place::data_directory;
use crate::selected::Selector;
use crate::session::{Session, qualified};
use crate::small_tables::{self, SmallTablesMode};
use crate::table::{lacks_key_file, open_table};

/// How tables are kept from changing while they are read (`--lock-mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockMode {
    /// `Clone` if the file system supports it, otherwise `Export`.
    #[default]
    Auto,
    /// Locked until they are read.
    Export,
    /// Locked until they are copied by reflink.
    Clone,
    /// Not locked by innoscan: another connection holds the lock until they are read.
    Others,
}

/// Whether all tables are from one consistent snapshot (`--consistency`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// One snapshot of all tables.
    #[default]
    All,
    /// Each table is locked when it is read; tables may be from different times.
    Table,
}

/// The options of a snapshot.
#[derive(Clone, Debug)]
pub struct SnapshotOptions {
    /// The tables and other objects.
    pub filter: Filter,
    /// How the tables are locked.
    pub mode: LockMode,
    /// Whether all tables are from one consistent snapshot.
    pub consistency: Consistency,
    /// The timeouts of the lock.
    pub lock: LockOptions,
    /// How small tables are read.
    pub small: SmallTablesMode,
    /// The number of connections that fetch them.
    pub sessions: usize,
    /// The condition on rows that the server sends; `None` for all rows.
    pub condition: Option<Arc<RowCondition>>,
    /// The keys of encrypted tables. Those of MySQL are beside the tables while they are locked for export.
    pub keys: Keys,
}

/// The plan of a snapshot: its objects, and how it would be taken.
#[derive(Debug)]
pub struct Plan {
    /// The server's data directory.
    pub directory: PathBuf,
    /// The objects of the server, and which of them are selected.
    pub inventory: Inventory,
    /// Whether files would be copied by reflink.
    pub is_cloned: bool,
    /// The tables that would be fetched by `SELECT` in one consistent snapshot, without the export lock.
    pub small: Vec<SmallTable>,
}

impl Plan {
    /// Makes the plan, without a lock.
    ///
    /// # Errors
    /// As [`Snapshot::take`] before it locks.
    pub fn make(
        control: &mut Session,
        account: &Account,
        options: &SnapshotOptions,
    ) -> Result<Plan> {
        let directory = data_directory(control, account)?;
        let mut inventory = Inventory::take(control, &options.filter)?;
        let is_cloned = clones(options.mode, &directory)?;
        let small = match (options.mode, options.consistency) {
            (LockMode::Others, _) | (_, Consistency::Table) => Vec::new(),
            _ => small_tables::choose(control, &directory, &inventory, options.small)?,
        };
        small.iter().for_each(|table| inventory.enter_small(&table.name));
        Ok(Plan { directory, inventory, is_cloned, small })
    }

    /// Checks which InnoDB tables cannot be read from their files at present, and enters them.
    pub fn check_files(&mut self, options: &SnapshotOptions) {
        let catalog = Catalog::new(Some(self.directory.clone())).with_force(true);
        let catalog = catalog.with_keys(options.keys.clone());
        for name in self.names_to_lock() {
            // A new table may not have been written to its file yet.
            let is_unread = |error: Error| {
                use ErrorKind::{NotFound, Refused, RefusedDirectory, Unsupported};
                matches!(error.kind(), Unsupported | Refused | RefusedDirectory | NotFound)
            };
            let has_file = catalog.has_own_file(&name).unwrap_or(true);
            let opened = catalog.named(&name).and_then(|table| table.require_keys());
            let is_unread = |error: Error| lacks_key_file(&error) || is_unread(error);
            if !has_file || opened.is_err_and(is_unread) {
                self.inventory.enter_unread(&name, &options.filter);
            }
        }
    }

    /// The InnoDB tables that are read from their files.
    fn names_to_lock(&self) -> Vec<TableName> {
        let small: BTreeSet<&TableName> = self.small.iter().map(|table| &table.name).collect();
        let names = self.inventory.of_kind(Kind::InnoDb);
        names.filter(|name| !small.contains(name)).cloned().collect()
    }
}

/// A snapshot of the selected tables and objects of a server.
pub struct Snapshot {
    /// The objects of the server, and which of them are selected.
    pub inventory: Inventory,
    /// The InnoDB tables that are read from their files.
    pub tables: Vec<Table>,
    /// The InnoDB tables that are locked when they are read.
    pub deferred: Vec<DeferredTable<'static>>,
    /// The InnoDB tables whose files cannot be read, with the errors; they are among `selected`.
    pub unread: Vec<(TableName, Error)>,
    /// The tables that are read by `SELECT`.
    pub selected: Vec<SelectedTable<'static>>,
    /// The small InnoDB tables, and the connections that fetch them.
    pub small: SmallTables,
    /// How long commits were blocked to give these connections one snapshot.
    pub stopped: Duration,
    /// The objects other than tables.
    pub objects: Vec<Object>,
    /// The binary log position and the GTIDs of the snapshot.
    pub coordinates: Coordinates,
    /// Whether the tables were copied and are no longer locked.
    pub is_cloned: bool,
    /// The time spent waiting for the lock.
    pub waited: Duration,
    /// The time spent so far, by phase.
    pub phases: Phases,
    /// How long the lock was held, once it is released.
    held: Option<Duration>,
    lock: Option<ExportLock>,
    held_by_others: Option<Arc<OthersLock>>,
    /// The longest time that one of `deferred` was locked.
    longest: Rc<Cell<Duration>>,
    control: Session,
}

impl Snapshot {
    /// Locks the selected tables, and copies them in the clone mode. `cancel` ends the wait, and is set if
    /// the lock is lost.
    ///
    /// # Errors
    /// If the server or its directory is not accessible, or the tables cannot be locked in time.
    pub fn take(
        account: &Account,
        options: &SnapshotOptions,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Snapshot> {
        let mut control = Session::connect(account)?;
        let mut phases = Phases::default();
        let plan = phases.time(Phase::Planning, || Plan::make(&mut control, account, options))?;
        let mut names = plan.names_to_lock();
        let Plan { directory, inventory, is_cloned, small } = plan;
        let mut snapshot = Snapshot {
            inventory,
            small: SmallTables { tables: small, sessions: Vec::new() },
            stopped: Duration::ZERO,
            tables: Vec::new(),
            deferred: Vec::new(),
            unread: Vec::new(),
            selected: Vec::new(),
            objects: Vec::new(),
            coordinates: Coordinates::default(),
            is_cloned,
            waited: Duration::ZERO,
            phases,
            held: None,
            lock: None,
            held_by_others: None,
            longest: Rc::default(),
            control,
        };
        clone::raise_file_limit();
        let reader = match (options.mode, options.consistency) {
            (LockMode::Others, _) => snapshot.trust_others(&directory, names, options)?,
            (_, Consistency::Table) => {
                names = snapshot.with_keys(&directory, names, options);
                snapshot.defer(account, cancel, directory, &names, options);
                snapshot.others_reader(account)?
            }
            (_, Consistency::All) => {
                let reader = match snapshot.lock(account, options, &names, cancel) {
                    // One table that cannot be opened makes the whole statement fail.
                    Err(error)
                        if error.kind() == ErrorKind::Server
                            && snapshot.leave_out_broken()? > 0 =>
                    {
                        let Snapshot { inventory, small, .. } = &mut snapshot;
                        names.retain(|name| inventory.has(name));
                        small.tables.retain(|table| inventory.has(&table.name));
                        snapshot.lock(account, options, &names, cancel)?
                    }
                    reader => reader?,
                };
                snapshot.open_tables(&directory, names, options)?;
                reader
            }
        };
        let unread = snapshot.unread_selector(account)?;
        if is_cloned {
            snapshot.copy_tables()?;
        }
        // While the reader has the sequences locked.
        snapshot.objects =
            objects(&mut snapshot.control, &mut snapshot.inventory, &options.filter)?;
        snapshot.select(reader, unread, options)?;
        Ok(snapshot)
    }

    /// Has tables locked one at a time, each when it is read.
    fn defer(
        &mut self,
        account: &Account,
        cancel: &Arc<AtomicBool>,
        directory: PathBuf,
        names: &[TableName],
        options: &SnapshotOptions,
    ) {
        let queue = LockQueue {
            account: account.clone(),
            directory,
            options: options.lock,
            is_cloned: self.is_cloned,
            cancel: Arc::clone(cancel),
            keys: options.keys.clone(),
            longest: Rc::clone(&self.longest),
        };
        self.deferred = names.iter().map(|name| queue.deferred(name)).collect();
    }

    /// The tables whose keys are known or, with MySQL, will be beside them; the others are entered as unread.
    fn with_keys(
        &mut self,
        directory: &Path,
        mut names: Vec<TableName>,
        options: &SnapshotOptions,
    ) -> Vec<TableName> {
        let catalog = Catalog::new(Some(directory.to_owned())).with_force(true);
        let catalog = catalog.with_keys(options.keys.clone());
        names.retain(|name| {
            let opened = catalog.named(name).and_then(|table| table.require_keys());
            let Some(error) = opened.err().filter(lacks_key_file) else { return true };
            self.inventory.enter_unread(name, &options.filter);
            self.unread.push((name.clone(), error));
            false
        });
        names
    }

    /// Opens tables that another connection must keep locked until all are read.
    fn trust_others(
        &mut self,
        directory: &Path,
        names: Vec<TableName>,
        options: &SnapshotOptions,
    ) -> Result<Option<Session>> {
        let is_other = |entry: &&Entry| matches!(entry.kind, Kind::Other(_));
        if let Some(other) = self.inventory.entries.iter().find(is_other) {
            return Err(Error::refused(
                format!(
                    "it cannot be checked whether {} is locked: it is not an InnoDB table",
                    other.name
                ),
                [Remedy::LeaveOutTable, Remedy::ChangeLockMode],
            ));
        }
        refuse_prepared(&mut self.control)?;
        self.open_tables(directory, names.clone(), options)?;
        if let Some((name, error)) = self.unread.pop() {
            return Err(Error::refused(
                format!("{name} cannot be read from its files: {}", error.reason().what),
                [Remedy::LeaveOutTable, Remedy::ChangeLockMode],
            ));
        }
        let held = OthersLock::of(&self.tables)?;
        // Opened again, so that the definitions too are from under the lock that is checked from here on.
        self.tables.clear();
        self.open_tables(directory, names, options)?;
        self.held_by_others = Some(Arc::new(held));
        self.coordinates = coordinates(&mut self.control)?;
        Ok(None)
    }

    /// A connection for the tables of other engines, if there are any; each is read without a lock.
    fn others_reader(&self, account: &Account) -> Result<Option<Session>> {
        let is_other = |entry: &Entry| matches!(entry.kind, Kind::Other(_));
        let has_others = self.inventory.entries.iter().any(is_other);
        has_others.then(|| Session::connect(account)).transpose()
    }

    /// Locks all tables; returns the connection that has those of other engines locked.
    fn lock(
        &mut self,
        account: &Account,
        options: &SnapshotOptions,
        names: &[TableName],
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Session>> {
        let is_other = |entry: &&Entry| matches!(entry.kind, Kind::Other(_) | Kind::Sequence);
        let others = self.inventory.entries.iter().filter(is_other);
        let others: Vec<TableName> = others.map(|entry| entry.name.clone()).collect();
        let mut reader = match &others[..] {
            [] => None,
            others => Some(ReadLock::new(Session::connect(account)?, others)?),
        };
        let locking = Session::connect(account)?;
        let mut shared = match &self.small.tables[..] {
            [] => None,
            small => Some(ConsistentSnapshot::new(account, options.sessions.min(small.len()))?),
        };
        let to_lock = ToLock {
            tables: names,
            others: reader.as_mut(),
            snapshot: shared.as_mut(),
            // So that little is left to be flushed while everything is blocked.
            flushes_first: self.is_cloned || !self.small.tables.is_empty(),
            control: self.control.id(),
        };
        let lock = ExportLock::acquire(locking, to_lock, options.lock, cancel)?;
        self.coordinates = lock.coordinates.clone();
        self.waited = lock.waited;
        self.phases.add(Phase::WaitingForLock, lock.waited);
        if let Some(shared) = shared {
            self.stopped = shared.held;
            self.small.sessions = shared.into_sessions()?;
        }
        // If all tables are fetched, the lock is no longer needed.
        match names.is_empty() && !self.small.sessions.is_empty() {
            true => {
                drop(lock);
                self.phases.add(Phase::Locked, self.stopped);
            }
            false => self.lock = Some(lock),
        }
        Ok(reader.map(ReadLock::into_session))
    }

    /// Enters the tables that the server cannot open; returns their number.
    fn leave_out_broken(&mut self) -> Result<usize> {
        let mut count = 0;
        for entry in self.inventory.entries.clone() {
            if entry.kind == Kind::View {
                continue;
            }
            let place = qualified(&entry.name.schema, &entry.name.table);
            let sql = format!("SELECT 1 FROM {place} LIMIT 0");
            if let Err(error) = self.control.run(&sql) {
                self.control.run("DO 1")?;
                self.inventory.enter_broken(&entry.name, error.reason());
                count += 1;
            }
        }
        Ok(count)
    }

    /// A connection with a consistent read of InnoDB, for tables whose files cannot be read.
    fn unread_selector(&mut self, account: &Account) -> Result<Option<Selector>> {
        if self.unread.is_empty() {
            return Ok(None);
        }
        let mut session = Session::connect(account)?;
        session.set_repeatable_read()?;
        session.start_snapshot()?;
        Selector::new(session).map(Some)
    }

    fn select(
        &mut self,
        reader: Option<Session>,
        unread: Option<Selector>,
        options: &SnapshotOptions,
    ) -> Result<()> {
        if let Some(selector) = unread.filter(|_| options.filter.select_refusal.is_none()) {
            let names: Vec<TableName> = self.unread.iter().map(|(name, _)| name.clone()).collect();
            let condition = options.condition.as_deref();
            names
                .iter()
                .try_for_each(|name| self.select_table(&selector, name, true, condition))?;
        }
        let Some(reader) = reader else { return Ok(()) };
        let selector = Selector::new(reader)?;
        let entries = self.inventory.entries.clone();
        for entry in &entries {
            let Kind::Other(engine) = &entry.kind else { continue };
            let has_rows = engine_has_rows(engine);
            let condition = options.condition.as_deref();
            self.select_table(&selector, &entry.name, has_rows, condition)?;
        }
        Ok(())
    }

    fn select_table(
        &mut self,
        selector: &Selector,
        name: &TableName,
        has_rows: bool,
        condition: Option<&RowCondition>,
    ) -> Result<()> {
        match selector.table(&mut self.control, name, has_rows, condition) {
            Ok(table) => self.selected.push(table),
            Err(error) => {
                // An error here means that the connection is lost.
                self.control.run("DO 1")?;
                self.inventory.enter_broken(name, error.reason());
            }
        }
        Ok(())
    }

    /// When the tables were locked; `None` if they no longer are.
    pub fn locked_since(&self) -> Option<Instant> {
        self.lock.as_ref().map(ExportLock::since)
    }

    /// The connection for queries.
    pub fn control(&mut self) -> &mut Session {
        &mut self.control
    }

    /// The check that the tables are still locked; `None` if they need not be.
    pub fn confirmation(&self) -> Option<Confirmation> {
        let others = || self.held_by_others.clone().map(Confirmation::Others);
        self.lock.as_ref().map(ExportLock::confirmation).or_else(others)
    }

    /// Releases the lock, if it is still held; returns how long the tables were locked, or the longest
    /// time that one table was.
    ///
    /// # Errors
    /// If the lock was lost before, with the cause.
    pub fn release(&mut self) -> Result<Duration> {
        if let Some(lock) = self.lock.take() {
            self.held = Some(lock.release()?);
        }
        Ok(self.held.unwrap_or(self.longest.get()))
    }

    fn open_tables(
        &mut self,
        directory: &Path,
        names: Vec<TableName>,
        options: &SnapshotOptions,
    ) -> Result<()> {
        let catalog = Catalog::new(Some(directory.to_owned())).with_keys(options.keys.clone());
        for name in names {
            let opened = open_table(&catalog, &name, &mut self.control);
            if let (Err(_), Some(lock)) = (&opened, self.confirmation()) {
                // Without the lock there are no `.cfg` files: then that is the error.
                lock.confirm()?;
            }
            match opened {
                Ok(table) => self.tables.push(table),
                Err(error) if is_of_all(&error) => return Err(error),
                Err(error) => {
                    self.inventory.enter_unread(&name, &options.filter);
                    self.unread.push((name, error));
                }
            }
        }
        Ok(())
    }

    fn copy_tables(&mut self) -> Result<()> {
        clone::require_room(&self.tables)?;
        let begun = Instant::now();
        self.tables.iter_mut().try_for_each(clone::clone_table)?;
        self.phases.add(Phase::Copying, begun.elapsed());
        let held = self.release()?;
        self.phases.add(Phase::Locked, held);
        Ok(())
    }
}

/// Whether an error concerns all tables, not only the one being read.
fn is_of_all(error: &Error) -> bool {
    use ErrorKind::{NotFound, Permission, Read, RefusedDirectory, Server};
    match error.kind() {
        Server | Read | Permission | RefusedDirectory => true,
        // A file of a table that is locked: the directory may be another server's.
        NotFound => std::error::Error::source(error).is_some(),
        _ => false,
    }
}

fn clones(mode: LockMode, directory: &Path) -> Result<bool> {
    let is_possible = || clone::is_possible(directory);
    match mode {
        LockMode::Auto => Ok(is_possible()),
        LockMode::Export | LockMode::Others => Ok(false),
        LockMode::Clone if is_possible() => Ok(true),
        LockMode::Clone => Err(Error::refused(
            "files cannot be copied by reflink here: the file system does not support it (XFS and btrfs \
             do), or is not writable for you",
            Remedy::LockForExport,
        )
        .in_file(directory)),
    }
}
