//! Reading small tables in advance, several in parallel.
//!
//! For a table whose rows are read in a millisecond, creating the output file takes longer than reading.
//! So several threads read small tables before the writer needs them, with a limit on tables in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use innoscan_engine::cores::threads_or_cores;
use innoscan_engine::scan::{SMALL_TABLE_BYTES, spawn};
use innoscan_engine::{Result, Table};

use super::DumpOptions;
use super::rows::{self, ReadTable};

/// The number of tables that are read in advance, per thread.
const AHEAD_TABLES: usize = 8;

/// Small tables between the threads that read them and the writer.
pub(super) struct Ahead<'t> {
    tables: Vec<&'t Table>,
    options: &'t DumpOptions,
    window: usize,
    state: Mutex<State>,
    /// Signals that the table that the writer waits for was read.
    read: Condvar,
    /// Signals that more tables may be read.
    room: Condvar,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The next table for a thread to read.
    next: usize,
    /// The number of tables that the writer took.
    taken: usize,
    read: BTreeMap<usize, ReadTable>,
    /// The table that the writer waits for.
    awaited: Option<usize>,
    /// The number of threads that wait until more tables may be read.
    waiting: usize,
}

impl<'t> Ahead<'t> {
    /// Selects the small tables, in their order.
    pub fn new(tables: &[&'t Table], options: &'t DumpOptions) -> Ahead<'t> {
        let is_small = |table: &&&Table| table.size_bytes() <= SMALL_TABLE_BYTES;
        let reads = options.rows && options.scan.hooks.foreground.is_none();
        Ahead {
            tables: tables.iter().filter(|_| reads).filter(is_small).copied().collect(),
            options,
            window: AHEAD_TABLES * threads_or_cores(options.scan.plan.threads),
            state: Mutex::default(),
            read: Condvar::new(),
            room: Condvar::new(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Starts the threads. They end when all tables are read, or [`Ahead::end`] is called.
    pub fn start<'scope>(
        &'scope self,
        scope: &'scope std::thread::Scope<'scope, '_>,
    ) -> Result<()> {
        // A few tables are read as fast without threads.
        let threads = threads_or_cores(self.options.scan.plan.threads).min(self.tables.len() / 2);
        for number in 0..threads {
            spawn(scope, format!("table-{number}"), move || self.work())?;
        }
        if threads == 0 {
            self.end();
        }
        Ok(())
    }

    /// Takes a table that was read in advance; `None` if the caller has to read it. The caller asks for
    /// tables in their order.
    pub fn take(&self, table: &Table) -> Option<ReadTable> {
        let mut state = self.lock();
        let place = state.taken;
        if self.is_over.load(Ordering::SeqCst)
            || !self.tables.get(place).is_some_and(|next| std::ptr::eq(*next, table))
        {
            return None;
        }
        state.taken += 1;
        // Threads are woken when half of the tables are taken, not for each one.
        if state.waiting > 0 && state.next <= state.taken + self.window / 2 {
            self.room.notify_all();
        }
        state.awaited = Some(place);
        let is_missing = |state: &mut State| !state.read.contains_key(&place) && !self.is_over();
        let state = self.read.wait_while(state, is_missing);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.awaited = None;
        state.read.remove(&place)
    }

    /// Ends the threads: the writer takes no more tables.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        // The lock makes sure that no thread is between its check and its wait.
        let _state = self.lock();
        self.read.notify_all();
        self.room.notify_all();
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        // A panic must not leave the writer waiting.
        let _end = EndOnPanic(self);
        while let Some(place) = self.next() {
            let Some(table) = self.tables.get(place) else { return };
            let read = rows::read_whole(table, self.options);
            let mut state = self.lock();
            state.read.insert(place, read);
            if state.awaited == Some(place) {
                self.read.notify_all();
            }
        }
    }

    fn next(&self) -> Option<usize> {
        let is_full =
            |state: &mut State| state.next >= state.taken + self.window && !self.is_over();
        let mut state = self.lock();
        if is_full(&mut state) {
            state.waiting += 1;
            let waited = self.room.wait_while(state, is_full);
            state = waited.unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        if self.is_over() || state.next >= self.tables.len() {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }
}

struct EndOnPanic<'a, 't>(&'a Ahead<'t>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}
