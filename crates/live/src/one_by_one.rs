//! Tables that are locked each by itself, when its turn has come to be read.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use innoscan::catalog::{Catalog, TableName};
use innoscan::dump::{HeldTable, LaterTable};
use innoscan::{Result, Table};

use crate::account::Account;
use crate::clone;
use crate::lock::{ExportLock, LockOptions, ToLock};
use crate::session::Session;
use crate::table::open_table;

/// How tables are locked when their turn comes.
#[derive(Clone)]
pub(crate) struct Turns {
    pub account: Account,
    pub directory: PathBuf,
    pub options: LockOptions,
    pub is_cloned: bool,
    pub cancel: Arc<AtomicBool>,
    /// The longest that one was locked.
    pub longest: Rc<Cell<Duration>>,
}

impl Turns {
    /// A table that is locked when it is wanted.
    pub fn later(&self, name: &TableName) -> LaterTable<'static> {
        let (turns, wanted) = (self.clone(), name.clone());
        LaterTable {
            database: name.schema.clone(),
            name: name.table.clone(),
            hold: Box::new(move || Ok(Box::new(turns.hold(&wanted)?))),
        }
    }

    fn hold(self, name: &TableName) -> Result<Held> {
        let mut control = Session::connect(&self.account)?;
        let tables = std::slice::from_ref(name);
        let (flushes_first, control_id) = (self.is_cloned, control.id());
        let to_lock =
            ToLock { tables, others: None, moment: None, flushes_first, control: control_id };
        let session = Session::connect(&self.account)?;
        let lock = ExportLock::acquire(session, to_lock, self.options, &self.cancel)?;
        let catalog = Catalog::new(Some(self.directory));
        let table = open_table(&catalog, name, &mut control)?;
        let mut held = Held { table, lock: Some(lock), longest: self.longest };
        if self.is_cloned {
            clone::require_room(std::slice::from_ref(&held.table))?;
            clone::clone_table(&mut held.table)?;
            held.let_go()?;
        }
        Ok(held)
    }
}

/// A table that is locked, or copied.
struct Held {
    table: Table,
    lock: Option<ExportLock>,
    longest: Rc<Cell<Duration>>,
}

impl Held {
    fn let_go(&mut self) -> Result<()> {
        let Some(lock) = self.lock.take() else { return Ok(()) };
        let held = lock.release()?;
        self.longest.set(self.longest.get().max(held));
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Whether it was held to the end was asked before.
        _ = self.let_go();
    }
}

impl HeldTable for Held {
    fn table(&self) -> &Table {
        &self.table
    }

    fn confirm(&self) -> Result<()> {
        self.lock.as_ref().map_or(Ok(()), |lock| lock.confirmation().confirm())
    }
}
