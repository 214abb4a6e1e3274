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

/// A table that is locked only while it is read.
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

/// A table to be written, and its rows if they were read in advance.
pub(super) struct Source<'s> {
    pub table: &'s Table,
    pub ahead: Option<ReadTable>,
    /// Checks, after the whole table was read, that it was locked all the time.
    pub confirm: &'s dyn Fn() -> Result<()>,
}

/// The output that tables are written to.
pub(super) trait Target {
    /// Writes a table's definition and rows; reads the rows unless they were read in advance.
    fn read(&mut self, source: Source<'_>, out: &mut TableOutcome) -> Result<()>;

    /// Writes a table whose rows are fetched by `SELECT`.
    fn select(&mut self, table: &mut SelectedTable<'_>, out: &mut TableOutcome) -> Result<()>;

    /// Writes a table's definition and rows from a source other than InnoDB's files.
    fn write(&mut self, table: &mut dyn Rows, out: &mut TableOutcome) -> Result<()>;

    /// Writes the definition of a table that has no rows.
    fn define(&mut self, def: &TableDef, out: &mut TableOutcome) -> Result<()>;

    /// Called when a table is finished or could not be dumped.
    fn end(&mut self, out: &TableOutcome) -> Result<()> {
        let _ = out;
        Ok(())
    }
}

/// Writes all tables of a dump to a target; `finished` is called with each outcome. The time is added to
/// the dump's phases.
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
    // All locked tables have been read.
    options.confirmed()?;
    if let Some(since) = dump.locked_since {
        dump.phases.add(Phase::Locked, since.elapsed());
    }
    write_small(dump, target, options, &mut end)?;
    write_others(dump, target, options, &mut end)?;
    dump.phases.add(Phase::Reading, begun.elapsed());
    Ok(outcomes)
}

/// Writes the tables that may be locked until they have been read.
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
                let outcome = attempt(options, (schema, name), |out| target.read(source, out))?;
                end(target, outcome)?;
            }
            Ok(())
        });
        ahead.end();
        written
    })?;
    for deferred in dump.deferred.drain(..) {
        let outcome = deferred.attempt(options, target)?;
        end(target, outcome)?;
    }
    for table in &mut dump.selected {
        let (database, name) = (table.database.clone(), table.name.clone());
        let outcome = attempt(options, (&database, &name), |out| target.select(table, out))?;
        end(target, outcome)?;
    }
    // Their locks are released.
    dump.selected.clear();
    Ok(())
}

/// Writes the small tables that are fetched from a server.
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
            let outcome = attempt(options, (&name.schema, &name.table), |out| {
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

/// The function that is called with each outcome.
type EndFn<'a> = dyn FnMut(&mut dyn Target, TableOutcome) -> Result<()> + 'a;

/// Writes tables of other engines, and tables without rows.
fn write_others(
    dump: &Dump<'_>,
    target: &mut dyn Target,
    options: &DumpOptions,
    end: &mut EndFn<'_>,
) -> Result<()> {
    for mut table in dump.engine_tables.iter().copied() {
        let TableDef { schema, name, .. } = &table.def;
        let outcome = attempt(options, (schema, name), |out| target.write(&mut table, out))?;
        end(target, outcome)?;
    }
    for &def in &dump.without_rows {
        let names = (&*def.schema, &*def.name);
        let outcome = attempt(options, names, |out| target.define(def, out))?;
        end(target, outcome)?;
    }
    Ok(())
}

impl DeferredTable<'_> {
    /// Locks the table while the target reads it.
    ///
    /// # Errors
    /// The lock was lost, which ends the dump.
    fn attempt(self, options: &DumpOptions, target: &mut dyn Target) -> Result<TableOutcome> {
        let mut lost = None;
        let outcome = attempt(options, (&self.database, &self.name), |out| {
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

/// Dumps a table. An error becomes a part of the outcome, unless it ends the dump.
fn attempt(
    options: &DumpOptions,
    (database, table): (&str, &str),
    dump: impl FnOnce(&mut TableOutcome) -> Result<()>,
) -> Result<TableOutcome> {
    let begun = Instant::now();
    options.begin(database, table);
    let mut outcome = TableOutcome::new(database, table);
    let dumped = dump(&mut outcome);
    outcome.elapsed = begun.elapsed();
    match dumped {
        Err(error) if ends_dump(&error) => Err(error),
        Err(error) => {
            outcome.checksum = None;
            outcome.error = Some(error);
            Ok(outcome)
        }
        Ok(()) => Ok(outcome),
    }
}

/// Whether an error ends the dump, because no other table can be dumped either.
pub(super) fn ends_dump(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Write | ErrorKind::BrokenPipe | ErrorKind::Interrupted)
}
