//! A table's rows, from where they are to whoever writes the batches.

use std::sync::atomic::Ordering;

use innoscan_format::schema::TableDef;

use super::objects::SelectedTable;
use super::{DumpOptions, Format, TableOutcome};
use crate::condition::RowFilter;
use crate::scan::{LeafPlace, ScanOptions, ScanOutcome, scan_with_engine};
use crate::sink::checksum::{Checksum, Sum};
use crate::sink::selected::SelectedRows;
use crate::sink::summed::Summed;
use crate::sink::{Encoded, Encoder, Form, RowSink};
use crate::source::EngineTable;
use crate::{Error, Result, Table};

/// A table that was read: its rows, what is known of them, and what ended it.
pub(super) struct ReadTable {
    /// Consecutive rows, their sum, and the leaf after which the table can be resumed.
    batches: Vec<(Encoded, u32, Option<LeafPlace>)>,
    outcome: TableOutcome,
    error: Option<Error>,
}

/// Reads a table's files and gives its rows on, in order.
pub(super) fn read(
    table: &Table,
    form: Form,
    options: &DumpOptions,
    after: Option<LeafPlace>,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded, u32, Option<LeafPlace>) -> Result<()>,
) -> Result<()> {
    let sink = sink(&table.def, form, options, outcome);
    let how = ScanOptions { after, ..options.scan.sized_for(table.size_bytes()) };
    outcome.scan = scan(table, &how, &sink, |(batch, sum), end| {
        outcome.count(&batch, sum.sum);
        write(&batch, sum.sum, end)?;
        sink.encoder().recycle(batch);
        Ok(())
    })?;
    Ok(())
}

/// Reads all rows of a table and keeps them.
pub(super) fn read_whole(table: &Table, options: &DumpOptions) -> ReadTable {
    let mut outcome = TableOutcome::new(&table.def.schema, &table.def.name);
    let mut batches = Vec::new();
    let read = options.format.form(&table.def).map_err(Error::from).and_then(|form| {
        let sink = sink(&table.def, form, options, &mut outcome);
        // Several tables at once have no progress of one.
        let sized = options.scan.sized_for(table.size_bytes());
        let how = ScanOptions { progress: None, ..sized };
        scan(table, &how, &sink, |(batch, sum), end| {
            batches.push((batch, sum.sum, end));
            Ok(())
        })
    });
    let error = match read {
        Ok(scan) => {
            outcome.scan = scan;
            None
        }
        Err(error) => Some(error),
    };
    ReadTable { batches, outcome, error }
}

/// Gives the rows on that were read before.
pub(super) fn replay(
    read: ReadTable,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded, u32, Option<LeafPlace>) -> Result<()>,
) -> Result<()> {
    outcome.checksum = read.outcome.checksum;
    outcome.scan = read.outcome.scan;
    for (batch, sum, end) in &read.batches {
        outcome.count(batch, *sum);
        write(batch, *sum, *end)?;
    }
    read.error.map_or(Ok(()), Err)
}

fn scan(
    table: &Table,
    how: &ScanOptions,
    sink: &Summed,
    deliver: impl FnMut((Encoded, Sum), Option<LeafPlace>) -> Result<()>,
) -> Result<ScanOutcome> {
    scan_with_engine(table, how, how.open_engine()?, sink, deliver)
}

/// Reads the files of a table of another engine and gives its rows on, in order.
pub(super) fn read_engine(
    table: &EngineTable,
    form: Form,
    options: &DumpOptions,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded, u32) -> Result<()>,
) -> Result<()> {
    let condition = options.scan.condition.as_deref();
    let filter = condition.map(|condition| RowFilter::new(condition, &table.def)).transpose()?;
    let filter = filter.flatten();
    let mut room = Vec::new();
    let sink = sink(&table.def, form, options, outcome);
    let mut deliver = |mut batch: (Encoded, Sum)| {
        sink.finish(&mut batch)?;
        outcome.count(&batch.0, batch.1.sum);
        write(&batch.0, batch.1.sum)
    };
    let is_cancelled = || {
        let cancel = options.scan.cancel.as_ref();
        cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    };
    let mut batch = sink.new_batch();
    table.for_each_row(|row| {
        if let Some(filter) = &filter
            && !filter.has_values(row, &mut room)?
        {
            return Ok(());
        }
        sink.row(row, &mut batch)?;
        if !sink.is_full(&batch) {
            return Ok(());
        }
        if is_cancelled() {
            return Err(Error::interrupted());
        }
        deliver(std::mem::replace(&mut batch, sink.new_batch()))
    })?;
    deliver(batch)
}

/// What rows are encoded and summed by.
fn sink(def: &TableDef, form: Form, options: &DumpOptions, outcome: &mut TableOutcome) -> Summed {
    let batch_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
    let encoder = Encoder::new(form, options.compression).with_batch_bytes(batch_bytes);
    let checksum = checksum(def, options);
    outcome.checksum = outcome.checksum.or(checksum.as_ref().map(|_| 0));
    Summed::new(encoder, checksum)
}

/// What sums a table's rows, where their sum is wanted and can be told.
pub(super) fn checksum(def: &TableDef, options: &DumpOptions) -> Option<Checksum> {
    // The sum of a versioned table is of its history too, which no dump has.
    let is_summed = options.checksums && !def.versioned;
    is_summed.then(|| Checksum::new(def).ok()).flatten()
}

/// The form of rows that a server gives. Only forms that can be loaded have one.
pub(super) fn selected_form(
    table: &SelectedTable<'_>,
    options: &DumpOptions,
) -> Result<SelectedRows> {
    match &options.format {
        Format::Sql(sql) => Ok(SelectedRows::sql(&table.name, &table.columns, sql)),
        Format::Load => Ok(SelectedRows::load(&table.columns)),
        Format::Text(_) | Format::Csv(_) | Format::Ndjson(_) => Err(Error::refused(
            "rows that a server gives are not written in this format",
            "use --format sql, or leave the table out",
        )),
    }
}

/// Gives a server's rows on.
pub(super) fn select(
    table: &mut SelectedTable<'_>,
    form: &SelectedRows,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded) -> Result<()>,
) -> Result<()> {
    let mut batch = Encoded::default();
    for row in &mut table.rows {
        form.row(&row?, &mut batch)?;
        if form.is_full(&batch) {
            form.finish(&mut batch)?;
            outcome.count(&batch, 0);
            write(&batch)?;
            batch = Encoded::default();
        }
    }
    form.finish(&mut batch)?;
    outcome.count(&batch, 0);
    write(&batch)
}
