//! Tables that are locked one at a time, each when it is read (`--consistency table`).

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use innoscan_catalog::catalog::{Catalog, TableName};
use innoscan_engine::keys::Keys;
use innoscan_engine::{Result, Table};
use innoscan_export::dump::{DeferredTable, LockedTable};

use crate::account::Account;
use crate::clone;
use crate::lock::{ExportLock, LockOptions, ToLock};
use crate::session::Session;
use crate::table::open_table;

/// Locks tables one at a time.
#[derive(Clone)]
pub(crate) struct LockQueue {
    pub account: Account,
    pub directory: PathBuf,
    pub options: LockOptions,
    pub is_cloned: bool,
    pub cancel: Arc<AtomicBool>,
    pub keys: Keys,
    /// The longest time that one table was locked.
    pub longest: Rc<Cell<Duration>>,
}

impl LockQueue {
    /// A table that is locked when it is read.
    pub fn deferred(&self, name: &TableName) -> DeferredTable<'static> {
        let (queue, wanted) = (self.clone(), name.clone());
        DeferredTable {
            database: name.schema.clone(),
            name: name.table.clone(),
            lock: Box::new(move || Ok(Box::new(queue.lock(&wanted)?))),
        }
    }

    fn lock(self, name: &TableName) -> Result<Locked> {
        let mut control = Session::connect(&self.account)?;
        let tables = std::slice::from_ref(name);
        let (flushes_first, control_id) = (self.is_cloned, control.id());
        let to_lock =
            ToLock { tables, others: None, snapshot: None, flushes_first, control: control_id };
        let session = Session::connect(&self.account)?;
        let lock = ExportLock::acquire(session, to_lock, self.options, &self.cancel)?;
        let catalog = Catalog::new(Some(self.directory)).with_keys(self.keys);
        // Without the lock there are no `.cfg` files: then that is the error.
        let table = open_table(&catalog, name, &mut control)
            .or_else(|error| lock.confirmation().confirm().and(Err(error)))?;
        let mut locked = Locked { table, lock: Some(lock), longest: self.longest };
        if self.is_cloned {
            clone::require_room(std::slice::from_ref(&locked.table))?;
            clone::clone_table(&mut locked.table)?;
            locked.release()?;
        }
        Ok(locked)
    }
}

/// A table that is locked, or was copied under the lock.
struct Locked {
    table: Table,
    lock: Option<ExportLock>,
    longest: Rc<Cell<Duration>>,
}

impl Locked {
    fn release(&mut self) -> Result<()> {
        let Some(lock) = self.lock.take() else { return Ok(()) };
        let held = lock.release()?;
        self.longest.set(self.longest.get().max(held));
        Ok(())
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // `confirm` has checked that the lock was held to the end.
        _ = self.release();
    }
}

impl LockedTable for Locked {
    fn table(&self) -> &Table {
        &self.table
    }

    fn confirm(&self) -> Result<()> {
        self.lock.as_ref().map_or(Ok(()), |lock| lock.confirmation().confirm())
    }
}
