//! The way of a table's rows from their source, in batches, to the output.

use innoscan_catalog::source::EngineTable;
use innoscan_engine::checksum_sink::{Checksum, Sum, TableChecksum};
use innoscan_engine::condition::RowFilter;
use innoscan_engine::scan::{LeafId, ScanOptions, ScanOutcome, scan_sized};
use innoscan_engine::{Error, Result, RowSink, Table};
use innoscan_format::schema::TableDef;

use super::objects::SelectedTable;
use super::{DumpOptions, TableOutcome};
use crate::sink::summed::Summed;
use crate::sink::{Encoded, EncodingSink, SelectedRows, TableEncoder};

/// A table that was read as a whole: its rows, the outcome, and the error that ended it.
pub(super) struct ReadTable {
    /// Batches, each with its checksum, and the leaf after which the table can be resumed.
    batches: Vec<(Encoded, u32, Option<LeafId>)>,
    outcome: TableOutcome,
    error: Option<Error>,
}

/// Reads a table's files, and passes the batches to `write` in order.
pub(super) fn read(
    table: &Table,
    encoder: TableEncoder,
    options: &DumpOptions,
    after: Option<LeafId>,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded, u32, Option<LeafId>) -> Result<()>,
) -> Result<()> {
    let batch_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
    let sink = sink(&table.def, encoder, options, batch_bytes, outcome);
    let how = options.scan.clone().with(|scan| {
        scan.rows.after = after;
    });
    outcome.scan = scan(table, &how, &sink, |(batch, sum), end| {
        outcome.count(&batch, sum.sum);
        write(&batch, sum.sum, end)?;
        sink.encoder().recycle(batch);
        Ok(())
    })?;
    Ok(())
}

/// Reads all rows of a table into memory.
pub(super) fn read_whole(table: &Table, options: &DumpOptions) -> ReadTable {
    let mut outcome = TableOutcome::new(&table.def.schema, &table.def.name);
    let mut batches = Vec::new();
    let read = options.format.encoder(&table.def).map_err(Error::from).and_then(|encoder| {
        let batch_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
        let sink = sink(&table.def, encoder, options, batch_bytes, &mut outcome);
        // Progress is that of one table, and several are read at once.
        let how = options.scan.clone().with(|scan| {
            scan.hooks.progress = None;
        });
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

/// Passes the batches of a table that was read before to `write`.
pub(super) fn replay(
    read: ReadTable,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded, u32, Option<LeafId>) -> Result<()>,
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
    deliver: impl FnMut((Encoded, Sum), Option<LeafId>) -> Result<()>,
) -> Result<ScanOutcome> {
    scan_sized(table, table.size_bytes(), how, sink, deliver)
}

/// Rows from a source other than InnoDB's files, in order.
pub(super) trait Rows {
    /// The table's definition.
    fn def(&self) -> &TableDef;

    /// The running server's `SHOW CREATE TABLE`, if there is one.
    fn create_sql(&self) -> Option<&str>;

    /// Encodes the rows, and passes each batch with its checksum to `write`.
    fn give(
        &mut self,
        encoder: TableEncoder,
        options: &DumpOptions,
        outcome: &mut TableOutcome,
        write: &mut dyn FnMut(&Encoded, u32) -> Result<()>,
    ) -> Result<()>;
}

impl Rows for &EngineTable {
    fn def(&self) -> &TableDef {
        &self.def
    }

    fn create_sql(&self) -> Option<&str> {
        None
    }

    fn give(
        &mut self,
        encoder: TableEncoder,
        options: &DumpOptions,
        outcome: &mut TableOutcome,
        write: &mut dyn FnMut(&Encoded, u32) -> Result<()>,
    ) -> Result<()> {
        let batch_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
        let mut batches = Batches::new(&self.def, encoder, options, batch_bytes, outcome)?;
        let mut deliver = |batch: Encoded, sum| {
            outcome.count(&batch, sum);
            write(&batch, sum)
        };
        self.for_each_row(|row| batches.row(row, &mut deliver))?;
        batches.end(&mut deliver)
    }
}

/// Batches of rows that come one by one: filters, encodes and sums them.
pub(super) struct Batches<'o> {
    sink: Summed,
    filter: Option<RowFilter>,
    options: &'o DumpOptions,
    batch: (Encoded, Sum),
    /// A buffer for the value that is compared.
    room: Vec<u8>,
}

impl<'o> Batches<'o> {
    /// Batches of about `batch_bytes`.
    pub fn new(
        def: &TableDef,
        encoder: TableEncoder,
        options: &'o DumpOptions,
        batch_bytes: u64,
        outcome: &mut TableOutcome,
    ) -> Result<Batches<'o>> {
        let condition = options.scan.rows.condition.as_deref();
        let filter = condition.map(|condition| RowFilter::new(condition, def)).transpose()?;
        let sink = sink(def, encoder, options, batch_bytes, outcome);
        let batch = sink.new_batch();
        Ok(Batches { sink, filter: filter.flatten(), options, batch, room: Vec::new() })
    }

    /// Adds a row, if it satisfies the condition. Passes a full batch to `deliver`, with its checksum.
    pub fn row(
        &mut self,
        row: &[Option<&[u8]>],
        deliver: &mut dyn FnMut(Encoded, u32) -> Result<()>,
    ) -> Result<()> {
        if let Some(filter) = &self.filter
            && !filter.has_values(row, &mut self.room)?
        {
            return Ok(());
        }
        self.sink.row(row, &mut self.batch)?;
        if !self.sink.is_full(&self.batch) {
            return Ok(());
        }
        if self.options.scan.is_cancelled() {
            return Err(Error::interrupted());
        }
        self.deliver(deliver)
    }

    /// Delivers the remaining rows.
    pub fn end(mut self, deliver: &mut dyn FnMut(Encoded, u32) -> Result<()>) -> Result<()> {
        self.deliver(deliver)
    }

    fn deliver(&mut self, deliver: &mut dyn FnMut(Encoded, u32) -> Result<()>) -> Result<()> {
        let mut batch = std::mem::replace(&mut self.batch, self.sink.new_batch());
        self.sink.finish(&mut batch)?;
        deliver(batch.0, batch.1.sum)
    }
}

/// The sink that encodes rows, in batches of about `batch_bytes`, and computes their checksum.
fn sink(
    def: &TableDef,
    encoder: TableEncoder,
    options: &DumpOptions,
    batch_bytes: u64,
    outcome: &mut TableOutcome,
) -> Summed {
    let sink = EncodingSink::new(encoder, options.compression).with_batch_bytes(batch_bytes);
    let checksum = checksum(def, options);
    outcome.checksum = outcome.checksum.or(begun(checksum.as_ref()));
    Summed::new(sink, checksum)
}

/// The sink of a table's checksum, if it is wanted and can be computed.
pub(super) fn checksum(def: &TableDef, options: &DumpOptions) -> Option<Checksum> {
    // The checksum of a system-versioned table includes old versions of rows, which no dump has.
    let is_summed = options.checksums && !def.versioned;
    is_summed.then(|| Checksum::of_manifest(def).ok()).flatten()
}

/// The checksum of no row.
pub(super) fn begun(checksum: Option<&Checksum>) -> Option<TableChecksum> {
    let kind = checksum?.kind()?;
    Some(TableChecksum { kind, sum: 0 })
}

/// Encodes the rows that a server's `SELECT` returned, and passes the batches to `write`.
pub(super) fn select(
    table: &mut SelectedTable<'_>,
    selected: &SelectedRows,
    outcome: &mut TableOutcome,
    mut write: impl FnMut(&Encoded) -> Result<()>,
) -> Result<()> {
    let mut batch = Encoded::default();
    for row in &mut table.rows {
        selected.row(&row?, &mut batch)?;
        if selected.is_full(&batch) {
            selected.finish(&mut batch)?;
            outcome.count(&batch, 0);
            write(&batch)?;
            batch = Encoded::default();
        }
    }
    selected.finish(&mut batch)?;
    outcome.count(&batch, 0);
    write(&batch)
}
