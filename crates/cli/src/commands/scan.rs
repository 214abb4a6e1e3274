//! `innoscan scan`.

use innoscan_engine::checksum_sink::{Checksum, ChecksumKind, Sum, TableChecksum};
use innoscan_engine::scan::{ScanOptions, ScanOutcome, scan};
use innoscan_engine::{Result, Table};
use innoscan_tools::explain::explain;
use serde_json::json;

use crate::args::{ChecksumArg, ScanArgs};
use crate::messages::{self, Exit};
use crate::progress::{Bar, Whole};
use crate::sizes::MIB;
use crate::stats::{self, Estimate};

/// The version of the JSON object.
const FORMAT: u32 = 1;

pub fn run(args: &ScanArgs) -> anyhow::Result<Exit> {
    let table = super::catalog_to_read(&args.table.from, &args.table.key_files, &args.table.read)?
        .table(&args.table.source)?;
    messages::row_notes(&table);
    let bar =
        Bar::new(args.report.quiet, Whole::new(vec![(table.qualified_name(), table.size_bytes())]));
    let cancel = crate::signals::cancel_on_signal()?;
    let mut options = super::scan_options(&args.table.read, Some(&table), bar.callback(), cancel)?;
    options.rows.on_corrupt = super::on_corrupt(&args.report);
    options.rows.condition = super::condition(args.condition.as_deref())?;
    let sink = sink(args, &table)?;
    // Before the scan, which fills the page cache if it reads through it.
    let is_whole = options.rows.condition.is_none();
    let estimate = args.report.stats.filter(|_| is_whole).and_then(|_| estimate(&table, &options));
    let mut total = Sum::default();
    let outcome = scan(&table, &options, &sink, |sum| {
        total.add(&sum);
        Ok(())
    })?;
    let checksum = sink.kind().map(|kind| TableChecksum { kind, sum: total.sum });
    bar.clear();
    super::report_damage(&outcome.damage, outcome.damaged);
    print(args, &table.qualified_name(), &outcome, checksum);
    if let Some(form) = args.report.stats {
        stats::print(form, &table.qualified_name(), &outcome, estimate.as_ref());
    }
    Ok(if outcome.damaged > 0 { Exit::Skipped } else { Exit::Done })
}

fn sink(args: &ScanArgs, table: &Table) -> Result<Checksum> {
    let kind = match args.checksum {
        None => return Ok(Checksum::count_only()),
        Some(ChecksumArg::Table) => ChecksumKind::Table,
        Some(ChecksumArg::Stored) => ChecksumKind::StoredColumns,
    };
    Ok(Checksum::of_kind(&table.def, kind)?)
}

/// The estimate of `explain` for this scan; `None` if the tree is damaged.
fn estimate(table: &Table, options: &ScanOptions) -> Option<Estimate> {
    let explanation = explain(table, options).ok()?;
    let device = options.io.device.unwrap_or_default();
    let cost = explanation.cost_of(options, &device).ok()?;
    let is_timed = options.io.device.is_some();
    Some(Estimate { cost, page_bytes: explanation.page_bytes, is_timed })
}

fn print(args: &ScanArgs, name: &str, outcome: &ScanOutcome, checksum: Option<TableChecksum>) {
    let of_kind = |kind| checksum.and_then(|found| found.of_kind(kind));
    let stored_columns = of_kind(ChecksumKind::StoredColumns);
    let checksum = of_kind(ChecksumKind::Table);
    let seconds = outcome.elapsed.as_secs_f64();
    if args.json {
        let object = json!({
            "format": FORMAT,
            "table": name,
            "rows": outcome.rows,
            "checksum": checksum,
            "stored_columns_checksum": stored_columns,
            "leaf_pages": outcome.leaf_pages,
            "branch_pages": outcome.branch_pages,
            "lob_pages": outcome.lob_pages,
            "read_bytes": outcome.read_bytes,
            "requests": outcome.requests,
            "seconds": seconds,
            "wait_seconds": outcome.pool.wait.as_secs_f64(),
            "decrypt_seconds": outcome.opening.decrypt.as_secs_f64(),
            "decompress_seconds": outcome.opening.decompress.as_secs_f64(),
            "engine": outcome.engine,
            "direct": outcome.is_direct,
            "damaged": outcome.damaged,
        });
        out!("{object}");
        return;
    }
    out!("table       {name}");
    out!("rows        {}", outcome.rows);
    if let Some(checksum) = checksum {
        out!("checksum    {checksum}");
    }
    if let Some(checksum) = stored_columns {
        out!("checksum    {checksum} of the stored columns");
    }
    out!("leaf pages  {}", outcome.leaf_pages);
    out!(
        "read        {:.1} MiB in {} requests, {:.1} KiB each ({}{})",
        outcome.read_bytes as f64 / MIB,
        outcome.requests,
        outcome.read_bytes as f64 / 1024.0 / outcome.requests.max(1) as f64,
        outcome.engine,
        if outcome.is_direct { ", O_DIRECT" } else { "" },
    );
    out!(
        "time        {seconds:.3} s, {:.0} rows/s, {:.1} MiB/s; waited for reads {:.3} s",
        outcome.rows as f64 / seconds,
        outcome.read_bytes as f64 / MIB / seconds,
        outcome.pool.wait.as_secs_f64(),
    );
    let opening = outcome.opening;
    for (name, time) in [("decrypt", opening.decrypt), ("decompress", opening.decompress)] {
        if !time.is_zero() {
            let seconds = time.as_secs_f64();
            out!("{name:<12}{seconds:.3} s of the processors, divided among the threads");
        }
    }
}
