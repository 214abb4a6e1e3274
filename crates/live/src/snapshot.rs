//! Tables as they were at one moment: locked, or copied while they were.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use innoscan::catalog::{Catalog, TableName};
use innoscan::condition::RowCondition;
use innoscan::dump::{LaterTable, Object, SelectedTable, SmallTable, SmallTables};
use innoscan::ledger::Filter;
use innoscan::phases::{Phase, Phases};
use innoscan::{Error, ErrorKind, Remedy, Result, Table};

use crate::account::Account;
use crate::clone;
use crate::held::HeldByOthers;
use crate::inventory::{Entry, Inventory, Kind, engine_has_rows};
use crate::lock::{
    Confirmation, Coordinates, ExportLock, LockOptions, ReadLock, ToLock, coordinates,
    refuse_prepared,
};
use crate::lock_statement::qualified;
use crate::moment::Moment;
use crate::objects::objects;
use crate::one_by_one::Turns;
use crate::place::data_directory;
use crate::selected::Selector;
use crate::session::Session;
use crate::small_tables::{self, SmallTablesBy};
use crate::table::open_table;

/// How tables are held still while they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockMode {
    /// `Clone` where the file system can, else `Export`.
    #[default]
    Auto,
    /// Locked until they are read.
    Export,
    /// Locked until they are copied by reflink.
    Clone,
    /// Not locked: somebody else holds them, and does until they are read.
    Others,
}

/// Of which moment tables are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// All of one.
    #[default]
    All,
    /// Each of its own: it is locked when its turn comes.
    Table,
}

/// Which tables, and how they are held.
#[derive(Clone, Debug)]
pub struct SnapshotOptions {
    /// Which tables and other objects.
    pub filter: Filter,
    /// How they are held.
    pub mode: LockMode,
    /// Of which moment they are.
    pub consistency: Consistency,
    /// How the lock is gone about.
    pub lock: LockOptions,
    /// What is done about small tables.
    pub small: SmallTablesBy,
    /// How many connections fetch them.
    pub sessions: usize,
    /// The rows that are wanted of tables the server gives; `None`: all.
    pub condition: Option<Arc<RowCondition>>,
}

/// What a snapshot would hold, and how it would be taken.
#[derive(Debug)]
pub struct Plan {
    /// The server's data directory.
    pub directory: PathBuf,
    /// What it has of what is wanted.
    pub inventory: Inventory,
    /// Whether files would be copied by reflink.
    pub is_cloned: bool,
    /// The tables that would be fetched by `SELECT` in one snapshot, and not locked.
    pub small: Vec<SmallTable>,
}

impl Plan {
    /// Looks around, and locks nothing.
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

    /// Looks which tables of InnoDB cannot be read from their files, as they are now, and enters them.
    pub fn look_at_files(&mut self, options: &SnapshotOptions) {
        let catalog = Catalog::new(Some(self.directory.clone())).with_force(true);
        for name in self.names_to_lock() {
            // A table that is new may not be in its file yet.
            let is_unread = |error: Error| {
                use ErrorKind::{NotFound, Refused, RefusedDirectory, Unsupported};
                matches!(error.kind(), Unsupported | Refused | RefusedDirectory | NotFound)
            };
            let has_file = catalog.has_own_file(&name).unwrap_or(true);
            if !has_file || catalog.named(&name).is_err_and(is_unread) {
                self.inventory.enter_unread(&name, &options.filter);
            }
        }
    }

    /// The tables of InnoDB that are not fetched.
    fn names_to_lock(&self) -> Vec<TableName> {
        let small: BTreeSet<&TableName> = self.small.iter().map(|table| &table.name).collect();
        let names = self.inventory.of_kind(Kind::InnoDb);
        names.filter(|name| !small.contains(name)).cloned().collect()
    }
}

/// Tables as they were at one moment.
pub struct Snapshot {
    /// What the server has of what was wanted.
    pub inventory: Inventory,
    /// The tables of InnoDB, as they can be read.
    pub tables: Vec<Table>,
    /// The tables of InnoDB that are locked when their turn comes.
    pub later: Vec<LaterTable<'static>>,
    /// Those that cannot, and why; they are among `selected`.
    pub unread: Vec<(TableName, Error)>,
    /// The tables whose rows the server gives.
    pub selected: Vec<SelectedTable<'static>>,
    /// The small tables of InnoDB, and the connections that fetch them.
    pub small: SmallTables,
    /// How long nobody could commit, for these connections to see one moment.
    pub stopped: Duration,
    /// What is no table.
    pub objects: Vec<Object>,
    /// Where the server's log of changes stood.
    pub coordinates: Coordinates,
    /// Whether the tables are copied, and locked no more.
    pub is_cloned: bool,
    /// How long the lock was waited for.
    pub waited: Duration,
    /// What has taken time so far.
    pub phases: Phases,
    /// How long it was held, where it is no longer.
    held: Option<Duration>,
    lock: Option<ExportLock>,
    held_by_others: Option<Arc<HeldByOthers>>,
    /// The longest that one of `later` was locked.
    longest: Rc<Cell<Duration>>,
    control: Session,
}

impl Snapshot {
    /// Locks the wanted tables, and copies them where that is the mode. `cancel` ends the wait, and
    /// is set when the lock is lost.
    ///
    /// # Errors
    /// When the server or its directory cannot be had, or the tables cannot be locked in time.
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
            later: Vec::new(),
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
                let longest = Rc::clone(&snapshot.longest);
                let (account, cancel) = (account.clone(), Arc::clone(cancel));
                let options = options.lock;
                let turns = Turns { account, directory, options, is_cloned, cancel, longest };
                snapshot.later = names.iter().map(|name| turns.later(name)).collect();
                snapshot.others_reader(&turns.account)?
            }
            (_, Consistency::All) => {
                let reader = match snapshot.lock(account, options, &names, cancel) {
                    // One table that cannot be opened keeps all from being locked.
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
        // While the reader holds the sequences.
        snapshot.objects =
            objects(&mut snapshot.control, &mut snapshot.inventory, &options.filter)?;
        snapshot.select(reader, unread, options)?;
        Ok(snapshot)
    }

    /// Opens tables that somebody else is to hold, until all are read.
    fn trust_others(
        &mut self,
        directory: &Path,
        names: Vec<TableName>,
        options: &SnapshotOptions,
    ) -> Result<Option<Session>> {
        let is_other = |entry: &&Entry| matches!(entry.kind, Kind::Other(_));
        if let Some(other) = self.inventory.entries.iter().find(is_other) {
            return Err(Error::refused(
                format!("nothing tells whether {} is locked: it is not of InnoDB", other.name),
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
        let held = HeldByOthers::of(&self.tables)?;
        // Their definitions too are those of the lock whose end would be seen from here on.
        self.tables.clear();
        self.open_tables(directory, names, options)?;
        self.held_by_others = Some(Arc::new(held));
        self.coordinates = coordinates(&mut self.control)?;
        Ok(None)
    }

    /// A connection for the tables of other engines, if there are any: each is of the moment it is
    /// selected.
    fn others_reader(&self, account: &Account) -> Result<Option<Session>> {
        let is_other = |entry: &Entry| matches!(entry.kind, Kind::Other(_));
        let has_others = self.inventory.entries.iter().any(is_other);
        has_others.then(|| Session::connect(account)).transpose()
    }

    /// Locks all tables; the connection that holds those of other engines.
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
        let mut moment = match &self.small.tables[..] {
            [] => None,
            small => Some(Moment::new(account, options.sessions.min(small.len()))?),
        };
        let to_lock = ToLock {
            tables: names,
            others: reader.as_mut(),
            moment: moment.as_mut(),
            // While all are stopped little should be left to be written.
            flushes_first: self.is_cloned || !self.small.tables.is_empty(),
            control: self.control.id(),
        };
        let lock = ExportLock::acquire(locking, to_lock, options.lock, cancel)?;
        self.coordinates = lock.coordinates.clone();
        self.waited = lock.waited;
        self.phases.add(Phase::WaitingForLock, lock.waited);
        if let Some(moment) = moment {
            self.stopped = moment.held;
            self.small.sessions = moment.into_sessions()?;
        }
        // Where none is locked there is nothing to hold on to.
        match names.is_empty() && !self.small.sessions.is_empty() {
            true => {
                drop(lock);
                self.phases.add(Phase::Locked, self.stopped);
            }
            false => self.lock = Some(lock),
        }
        Ok(reader.map(ReadLock::into_session))
    }

    /// Enters the tables that the server cannot open, and how many they are.
    fn leave_out_broken(&mut self) -> Result<usize> {
        let mut count = 0;
        for entry in self.inventory.entries.clone() {
            if entry.kind == Kind::View {
                continue;
            }
            let sql = format!("SELECT 1 FROM {} LIMIT 0", qualified(&entry.name));
            if let Err(error) = self.control.run(&sql) {
                self.control.run("DO 1")?;
                self.inventory.enter_broken(&entry.name, error.reason());
                count += 1;
            }
        }
        Ok(count)
    }

    /// A connection that sees InnoDB's tables as they are now, where some cannot be read from their
    /// files.
    fn unread_selector(&mut self, account: &Account) -> Result<Option<Selector>> {
        if self.unread.is_empty() {
            return Ok(None);
        }
        let mut session = Session::connect(account)?;
        session.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        session.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
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
                // Whether it is the table's fault or the connection's end.
                self.control.run("DO 1")?;
                self.inventory.enter_broken(name, error.reason());
            }
        }
        Ok(())
    }

    /// Since when the tables are locked, where they still are.
    pub fn locked_since(&self) -> Option<Instant> {
        self.lock.as_ref().map(ExportLock::since)
    }

    /// The connection that is free to ask.
    pub fn control(&mut self) -> &mut Session {
        &mut self.control
    }

    /// Who tells whether the tables are still held; `None` where they need not be.
    pub fn confirmation(&self) -> Option<Confirmation> {
        let others = || self.held_by_others.clone().map(Confirmation::Others);
        self.lock.as_ref().map(ExportLock::confirmation).or_else(others)
    }

    /// Lets go, where that was not done yet; how long the tables were locked, or the one that was
    /// locked the longest.
    ///
    /// # Errors
    /// When the lock was lost before: why.
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
        let catalog = Catalog::new(Some(directory.to_owned()));
        for name in names {
            match open_table(&catalog, &name, &mut self.control) {
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

/// Whether what keeps a table from being read keeps the others too.
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
            "files cannot be copied by reflink there: the file system cannot (XFS and btrfs can), \
             or you may not write on it",
            Remedy::LockForExport,
        )
        .in_file(directory)),
    }
}
