//! Tables as they were at one moment: locked, or copied while they were.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use innoscan::catalog::{Catalog, TableName};
use innoscan::dump::{Object, SelectedTable};
use innoscan::{Error, Result, Table, Wanted};

use crate::account::Account;
use crate::clone;
use crate::inventory::{Entry, Inventory, Kind};
use crate::lock::{
    Confirmation, Coordinates, ExportLock, LockOptions, ReadLock, ToLock, require_exported,
};
use crate::objects::{Which, objects};
use crate::place::data_directory;
use crate::selected::Selector;
use crate::session::{Session, cell};
use innoscan::sink::sql::quoted_name;

/// Engines whose rows are another table's, or another server's, or nowhere.
const ENGINES_WITHOUT_ROWS: [&str; 4] = ["MRG_MyISAM", "FEDERATED", "BLACKHOLE", "CONNECT"];

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
}

/// Which tables, and how they are held.
#[derive(Clone, Debug)]
pub struct SnapshotOptions {
    /// Which tables.
    pub wanted: Wanted,
    /// How they are held.
    pub mode: LockMode,
    /// How the lock is gone about.
    pub lock: LockOptions,
    /// Which of what is no table.
    pub which: Which,
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
        let inventory = Inventory::take(control, &options.wanted)?;
        let is_cloned = clones(options.mode, &directory)?;
        Ok(Plan { directory, inventory, is_cloned })
    }
}

/// Tables as they were at one moment.
pub struct Snapshot {
    /// What the server has of what was wanted.
    pub inventory: Inventory,
    /// The tables of InnoDB, as they can be read.
    pub tables: Vec<Table>,
    /// Those that cannot, and why; they are among `selected`.
    pub unread: Vec<(TableName, Error)>,
    /// The tables whose rows the server gives.
    pub selected: Vec<SelectedTable<'static>>,
    /// What is no table.
    pub objects: Vec<Object>,
    /// Where the server's log of changes stood.
    pub coordinates: Coordinates,
    /// Whether the tables are copied, and locked no more.
    pub is_cloned: bool,
    /// How long the lock was waited for.
    pub waited: Duration,
    /// How long it was held, where it is no longer.
    held: Option<Duration>,
    lock: Option<ExportLock>,
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
        let Plan { directory, inventory, is_cloned } = Plan::make(&mut control, account, options)?;
        let mut snapshot = Snapshot {
            inventory,
            tables: Vec::new(),
            unread: Vec::new(),
            selected: Vec::new(),
            objects: Vec::new(),
            coordinates: Coordinates::default(),
            is_cloned,
            waited: Duration::ZERO,
            held: None,
            lock: None,
            control,
        };
        clone::raise_file_limit();
        let names: Vec<TableName> = snapshot.inventory.of_kind(Kind::InnoDb).cloned().collect();
        let reader = snapshot.lock(account, options, &names, cancel)?;
        snapshot.open_tables(&directory, names)?;
        let unread = snapshot.unread_selector(account)?;
        if is_cloned {
            snapshot.copy_tables()?;
        }
        // While the reader holds the sequences.
        snapshot.objects = objects(&mut snapshot.control, &snapshot.inventory, options.which)?;
        snapshot.select(reader, unread)?;
        Ok(snapshot)
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
        let others = reader.as_mut();
        let to_lock = ToLock { tables: names, others, flushes_first: self.is_cloned };
        let lock = ExportLock::acquire(locking, to_lock, options.lock, cancel)?;
        self.coordinates = lock.coordinates.clone();
        self.waited = lock.waited;
        self.lock = Some(lock);
        Ok(reader.map(ReadLock::into_session))
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

    fn select(&mut self, reader: Option<Session>, unread: Option<Selector>) -> Result<()> {
        if let Some(selector) = unread {
            for (name, _) in &self.unread {
                self.selected.push(selector.table(&mut self.control, name, true)?);
            }
        }
        let Some(reader) = reader else { return Ok(()) };
        let selector = Selector::new(reader)?;
        for entry in &self.inventory.entries {
            let Kind::Other(engine) = &entry.kind else { continue };
            let has_rows = !ENGINES_WITHOUT_ROWS.contains(&&**engine);
            self.selected.push(selector.table(&mut self.control, &entry.name, has_rows)?);
        }
        Ok(())
    }

    /// The connection that is free to ask.
    pub fn control(&mut self) -> &mut Session {
        &mut self.control
    }

    /// Who tells whether the tables are still held; `None` where they need not be.
    pub fn confirmation(&self) -> Option<Confirmation> {
        self.lock.as_ref().map(ExportLock::confirmation)
    }

    /// Lets go, where that was not done yet; how long the tables were locked.
    ///
    /// # Errors
    /// When the lock was lost before: why.
    pub fn release(&mut self) -> Result<Duration> {
        if let Some(lock) = self.lock.take() {
            self.held = Some(lock.release()?);
        }
        Ok(self.held.unwrap_or_default())
    }

    fn open_tables(&mut self, directory: &Path, names: Vec<TableName>) -> Result<()> {
        let catalog = Catalog::new(Some(directory.to_owned()));
        for name in names {
            match open_table(&catalog, &name, &mut self.control) {
                Ok(table) => self.tables.push(table),
                // Where the system keeps one file from being read it is not the table's fault.
                Err(error) if error.is_server() || error.is_read() => return Err(error),
                Err(error) => self.unread.push((name, error)),
            }
        }
        Ok(())
    }

    fn copy_tables(&mut self) -> Result<()> {
        clone::require_room(&self.tables)?;
        self.tables.iter_mut().try_for_each(clone::clone_table)?;
        self.release().map(|_| ())
    }
}

fn clones(mode: LockMode, directory: &Path) -> Result<bool> {
    let is_possible = || clone::is_possible(directory);
    match mode {
        LockMode::Auto => Ok(is_possible()),
        LockMode::Export => Ok(false),
        LockMode::Clone if is_possible() => Ok(true),
        LockMode::Clone => Err(Error::refused(
            "files cannot be copied by reflink there: the file system cannot (XFS and btrfs can), \
             or you may not write on it",
            "use --lock-mode export",
        )
        .in_file(directory)),
    }
}

fn open_table(catalog: &Catalog, name: &TableName, control: &mut Session) -> Result<Table> {
    let mut table = catalog.named(name)?;
    require_exported(&table)?;
    let sql =
        format!("SHOW CREATE TABLE {}.{}", quoted_name(&name.schema), quoted_name(&name.table));
    table.create_sql = control.rows(&sql)?.first().map(|row| cell(row, 1));
    // They are of directories whose servers nobody asked.
    table.notes = Default::default();
    Ok(table)
}
