//! A table's rows, from where they are to whoever writes the batches.

use super::objects::SelectedTable;
use super::{DumpOptions, Format, TableOutcome};
use crate::scan::{LeafPlace, ScanOptions, scan_with_engine};
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
    after: Option<LeafPlace>,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded, u32, Option<LeafPlace>) -> Result<()>,
) -> Result<()> {
    let batch_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
    let encoder = Encoder::new(form, options.compression).with_batch_bytes(batch_bytes);
    let checksum = checksum(table, options);
    outcome.checksum = outcome.checksum.or(checksum.as_ref().map(|_| 0));
    let sink = Summed::new(encoder, checksum);
    let how = ScanOptions { after, ..options.scan.clone() };
    let deliver = |(batch, sum): (Encoded, Sum), end| {
        outcome.count(&batch, sum.sum);
        write(&batch, sum.sum, end)?;
        sink.encoder().recycle(batch);
        Ok(())
    };
    outcome.scan = scan_with_engine(table, &how, how.open_engine()?, &sink, deliver)?;
    Ok(())
}

/// What sums a table's rows, where their sum is wanted and can be told.
pub(super) fn checksum(table: &Table, options: &DumpOptions) -> Option<Checksum> {
    // The sum of a versioned table is of its history too, which no dump has.
    let is_summed = options.checksums && !table.def.versioned;
    is_summed.then(|| Checksum::new(&table.def).ok()).flatten()
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
            outcome.count(&batch, 0);
            write(&batch)?;
            batch = Encoded::default();
        }
    }
    form.finish(&mut batch)?;
    outcome.count(&batch, 0);
    write(&batch)
}
