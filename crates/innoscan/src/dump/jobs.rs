//! Tables on their way to an output, one after the other.

use std::time::Instant;

use innoscan_format::schema::TableDef;

use super::objects::SelectedTable;
use super::{Dump, TableOutcome};
use crate::{Error, Result, Table};

/// A table that is held only while it is read.
pub struct LaterTable<'a> {
    /// Its database.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Holds it.
    pub hold: Box<dyn FnOnce() -> Result<Box<dyn HeldTable>> + 'a>,
}

/// A table that is held still as long as this lasts.
pub trait HeldTable {
    /// As it is.
    fn table(&self) -> &Table;

    /// Whether it has been held since.
    ///
    /// # Errors
    /// When it has not.
    fn confirm(&self) -> Result<()>;
}

/// Whether a table was held while it was read; asked when all of it was.
pub(super) type Confirm<'c> = &'c dyn Fn() -> Result<()>;

/// Where tables are written to.
pub(super) trait Target {
    /// Reads a table's files and writes its definition and rows.
    fn read(&mut self, table: &Table, out: &mut TableOutcome, confirm: Confirm<'_>) -> Result<()>;

    /// Writes a table whose rows a server gives.
    fn select(&mut self, table: &mut SelectedTable<'_>, out: &mut TableOutcome) -> Result<()>;

    /// Writes the definition of a table that has no rows.
    fn define(&mut self, def: &TableDef, out: &mut TableOutcome) -> Result<()>;

    /// A table is done, or could not be dumped.
    fn end(&mut self, out: &TableOutcome) -> Result<()> {
        let _ = out;
        Ok(())
    }
}

/// Writes all tables of a dump to a target; `finished` is called with each outcome.
pub(super) fn run(
    dump: &mut Dump<'_>,
    target: &mut dyn Target,
    mut finished: impl FnMut(&TableOutcome),
) -> Result<Vec<TableOutcome>> {
    let mut outcomes = Vec::new();
    let mut end = |target: &mut dyn Target, outcome: TableOutcome| -> Result<()> {
        target.end(&outcome)?;
        finished(&outcome);
        outcomes.push(outcome);
        Ok(())
    };
    for &table in &dump.tables {
        let outcome =
            attempt(&table.def.schema, &table.def.name, |out| target.read(table, out, &|| Ok(())))?;
        end(target, outcome)?;
    }
    for later in dump.later.drain(..) {
        let outcome = later.attempt(target)?;
        end(target, outcome)?;
    }
    for table in &mut dump.selected {
        let (database, name) = (table.database.clone(), table.name.clone());
        let outcome = attempt(&database, &name, |out| target.select(table, out))?;
        end(target, outcome)?;
    }
    for &def in &dump.without_rows {
        let outcome = attempt(&def.schema, &def.name, |out| target.define(def, out))?;
        end(target, outcome)?;
    }
    Ok(outcomes)
}

impl LaterTable<'_> {
    /// Holds the table while the target reads it. When it was let go of meanwhile that is why nothing
    /// more is read, of this table or of others.
    fn attempt(self, target: &mut dyn Target) -> Result<TableOutcome> {
        let mut lost = None;
        let outcome = attempt(&self.database, &self.name, |out| {
            let held = (self.hold)()?;
            let read = target.read(held.table(), out, &|| held.confirm());
            lost = held.confirm().err();
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
    error.is_write() || error.is_interrupted()
}
