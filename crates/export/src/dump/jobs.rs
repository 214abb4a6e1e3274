//! Writes tables to an output, one after the other.

use std::time::Instant;

use innoscan_engine::{Error, ErrorKind, Result, Table};
use innoscan_format::schema::TableDef;

use super::ahead::Ahead;
use super::fetched::Fetching;
use super::objects::SelectedTable;
use super::rows::{ReadTable, Rows};
use super::{Dump, DumpOptions, SmallTable, SmallTables, TableOutcome};
use crate::phases::Phase;

/// A table that is locked when its turn comes, and only while it is read.
pub struct DeferredTable<'a> {
    /// The database.
    pub database: String,
    /// The name of the table.
    pub name: String,
    /// Locks the table.
    pub lock: Box<dyn FnOnce() -> Result<Box<dyn LockedTable>> + 'a>,
}

/// A table that is locked as long as this value lives.
pub trait LockedTable {
    /// The table under the lock.
    fn table(&self) -> &Table;

    /// Checks that the lock has been held all the time.
    ///
    /// # Errors
    /// If it was lost.
    fn confirm(&self) -> Result<()>;
}

/// A table to be written, and its rows if they were read before its turn.
pub(super) struct Source<'s> {
    pub table: &'s Table,
    pub ahead: Option<ReadTable>,
    /// Asks whether the table was held while it was read, when all of it was.
    pub confirm: &'s dyn Fn() -> Result<()>,
}

/// Where tables are written to.
pub(super) trait Target {
    /// Reads a table's files, unless they were read before, and writes its definition and rows.
    fn read(&mut self, source: Source<'_>, out: &mut TableOutcome) -> Result<()>;

    /// Writes a table whose rows a server gives.
    fn select(&mut self, table: &mut SelectedTable<'_>, out: &mut TableOutcome) -> Result<()>;

    /// Writes a table's definition and the rows that are given.
    fn write(&mut self, table: &mut dyn Rows, out: &mut TableOutcome) -> Result<()>;

    /// Writes the definition of a table that has no rows.
    fn define(&mut self, def: &TableDef, out: &mut TableOutcome) -> Result<()>;

    /// A table is done, or could not be dumped.
    fn end(&mut self, out: &TableOutcome) -> Result<()> {
        let _ = out;
        Ok(())
    }
}

/// Writes all tables of a dump to a target; `finished` is called with each outcome. What took how long
/// is added to the dump's phases.
pub(super) fn run(
    dump: &mut Dump<'_>,
    target: &mut dyn Target,
    options: &DumpOptions,
    mut finished: impl FnMut(&TableOutcome),
) -> Result<Vec<TableOutcome>> {
    let mut outcomes = Vec::new();
    let mut end = |target: &mut dyn Target, outcome: TableOutcome| -> Result<()> {
        target.end(&outcome)?;
        finished(&outcome);
        outcomes.push(outcome);
        Ok(())
    };
    let begun = Instant::now();
    write_locked(dump, target, options, &mut end)?;
    // Nothing more is read of what is locked.
    options.confirmed()?;
    if let Some(since) = dump.locked_since {
        dump.phases.add(Phase::Locked, since.elapsed());
    }
    write_small(dump, target, options, &mut end)?;
    write_others(dump, target, &mut end)?;
    dump.phases.add(Phase::Reading, begun.elapsed());
    Ok(outcomes)
}

/// Writes the tables that may be locked until they are read.
fn write_locked(
    dump: &mut Dump<'_>,
    target: &mut dyn Target,
    options: &DumpOptions,
    end: &mut EndFn<'_>,
) -> Result<()> {
    let tables = dump.tables.clone();
    let ahead = Ahead::new(&tables, options);
    std::thread::scope(|scope| {
        let written = ahead.start(scope).and_then(|()| {
            for &table in &tables {
                let source = Source { table, ahead: ahead.take(table), confirm: &|| Ok(()) };
                let TableDef { schema, name, .. } = &table.def;
                let outcome = attempt(schema, name, |out| target.read(source, out))?;
                end(target, outcome)?;
            }
            Ok(())
        });
        ahead.end();
        written
    })?;
    for deferred in dump.deferred.drain(..) {
        let outcome = deferred.attempt(target)?;
        end(target, outcome)?;
    }
    for table in &mut dump.selected {
        let (database, name) = (table.database.clone(), table.name.clone());
        let outcome = attempt(&database, &name, |out| target.select(table, out))?;
        end(target, outcome)?;
    }
    // Whoever holds them still for the server lets go.
    dump.selected.clear();
    Ok(())
}

/// Writes the small tables that a server sends.
fn write_small(
    dump: &mut Dump<'_>,
    target: &mut dyn Target,
    options: &DumpOptions,
    end: &mut EndFn<'_>,
) -> Result<()> {
    let SmallTables { tables, sessions } = std::mem::take(&mut dump.small);
    std::thread::scope(|scope| {
        let mut fetching = Fetching::start(scope, sessions, &tables, options)?;
        for SmallTable { name, .. } in &tables {
            if options.scan.is_cancelled() {
                return Err(Error::interrupted());
            }
            let mut lost = None;
            let outcome = attempt(&name.schema, &name.table, |out| {
                let written = fetching.next(|rows| target.write(rows, out));
                written.unwrap_or_else(|error| {
                    lost = Some(error);
                    Ok(())
                })
            })?;
            lost.map_or(Ok(()), Err)?;
            end(target, outcome)?;
        }
        Ok(())
    })
}

/// Called with each outcome.
type EndFn<'a> = dyn FnMut(&mut dyn Target, TableOutcome) -> Result<()> + 'a;

/// Writes what is no table of InnoDB.
fn write_others(dump: &Dump<'_>, target: &mut dyn Target, end: &mut EndFn<'_>) -> Result<()> {
    for mut table in dump.engine_tables.iter().copied() {
        let TableDef { schema, name, .. } = &table.def;
        let outcome = attempt(schema, name, |out| target.write(&mut table, out))?;
        end(target, outcome)?;
    }
    for &def in &dump.without_rows {
        let outcome = attempt(&def.schema, &def.name, |out| target.define(def, out))?;
        end(target, outcome)?;
    }
    Ok(())
}

impl DeferredTable<'_> {
    /// Locks the table while the target reads it. An error if the lock was lost: no further table is
    /// read then.
    fn attempt(self, target: &mut dyn Target) -> Result<TableOutcome> {
        let mut lost = None;
        let outcome = attempt(&self.database, &self.name, |out| {
            let locked = (self.lock)()?;
            let confirm = || locked.confirm();
            let source = Source { table: locked.table(), ahead: None, confirm: &confirm };
            let read = target.read(source, out);
            lost = locked.confirm().err();
            read
        });
        lost.map_or(outcome, Err)
    }
}

/// Dumps a table, and keeps an error with it unless it concerns all.
fn attempt(
    database: &str,
    table: &str,
    dump: impl FnOnce(&mut TableOutcome) -> Result<()>,
) -> Result<TableOutcome> {
    let begun = Instant::now();
    let mut outcome = TableOutcome::new(database, table);
    let dumped = dump(&mut outcome);
    outcome.elapsed = begun.elapsed();
    match dumped {
        Err(error) if concerns_all(&error) => Err(error),
        Err(error) => {
            outcome.checksum = None;
            outcome.error = Some(error);
            Ok(outcome)
        }
        Ok(()) => Ok(outcome),
    }
}

/// Whether what kept a table from being dumped keeps the others too.
pub(super) fn concerns_all(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Write | ErrorKind::BrokenPipe | ErrorKind::Interrupted)
}
