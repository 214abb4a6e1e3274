//! A table's rows, from where they are to whoever writes the batches.

use super::objects::SelectedTable;
use super::{DumpOptions, Format, TableOutcome};
use crate::scan::scan;
use crate::sink::checksum::{Checksum, Sum};
use crate::sink::selected::SelectedRows;
use crate::sink::summed::Summed;
use crate::sink::{Encoded, Encoder, Form};
use crate::{Error, Result, Table};

/// Reads a table's files and gives its rows on, in order.
pub(super) fn read(
    table: &Table,
    form: Form,
    options: &DumpOptions,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded) -> Result<()>,
) -> Result<()> {
    let batch_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
    let encoder = Encoder::new(form, options.compression).with_batch_bytes(batch_bytes);
    // The sum of a versioned table is of its history too, which no dump has. A table whose sum
    // cannot be told has none.
    let summed = options.checksums && !table.def.versioned;
    let checksum = summed.then(|| Checksum::new(&table.def).ok()).flatten();
    let sink = Summed::new(encoder, checksum);
    let mut total = Sum::default();
    outcome.scan = scan(table, &options.scan, &sink, |(batch, sum)| {
        outcome.count(&batch);
        total.add(&sum);
        write(&batch)?;
        sink.encoder().recycle(batch);
        Ok(())
    })?;
    outcome.checksum = sink.has_sum().then_some(total.sum);
    Ok(())
}

/// The form of rows that a server gives. Only forms that can be loaded have one.
pub(super) fn selected_form(
    table: &SelectedTable<'_>,
    options: &DumpOptions,
) -> Result<SelectedRows> {
    match &options.format {
        Format::Sql(sql) => Ok(SelectedRows::sql(&table.name, &table.columns, sql)),
        Format::Load => Ok(SelectedRows::load(&table.columns)),
        Format::Text(_) | Format::Csv(_) | Format::Ndjson { .. } => Err(Error::refused(
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
            outcome.count(&batch);
            write(&batch)?;
            batch = Encoded::default();
        }
    }
    form.finish(&mut batch)?;
    outcome.count(&batch);
    write(&batch)
}
