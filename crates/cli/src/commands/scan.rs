//! `innoscan scan`.

use innoscan::scan::{ScanOutcome, scan};
use innoscan::sink::checksum::{Checksum, Sum};
use serde_json::json;

use crate::args::ScanArgs;
use crate::messages::{self, Exit};
use crate::progress::Bar;

pub fn run(args: &ScanArgs) -> anyhow::Result<Exit> {
    let table = super::catalog(&args.from)?.table(&args.source)?;
    messages::row_notes(&table);
    let bar = Bar::new(args.read.quiet, &table.qualified_name());
    let options = super::scan_options(&args.read, bar.callback(), super::cancel_on_signal()?)?;
    let sink = if args.checksum {
        Checksum::new(&table.def).map_err(innoscan::Error::from)?
    } else {
        Checksum::count_only()
    };
    let mut total = Sum::default();
    let outcome = scan(&table, &options, &sink, |sum| {
        total.add(&sum);
        Ok(())
    })?;
    let checksum = args.checksum.then_some(total.sum);
    bar.clear();
    super::report_damage(&outcome.damage, outcome.damaged);
    print(args, &table.qualified_name(), &outcome, checksum);
    Ok(if outcome.damaged > 0 { Exit::Skipped } else { Exit::Done })
}

fn print(args: &ScanArgs, name: &str, outcome: &ScanOutcome, checksum: Option<u32>) {
    let seconds = outcome.elapsed.as_secs_f64();
    if args.json {
        let object = json!({
            "table": name,
            "rows": outcome.rows,
            "checksum": checksum,
            "leaf_pages": outcome.leaf_pages,
            "branch_pages": outcome.branch_pages,
            "lob_pages": outcome.lob_pages,
            "read_bytes": outcome.read_bytes,
            "requests": outcome.requests,
            "seconds": seconds,
            "wait_seconds": outcome.pool.wait.as_secs_f64(),
            "engine": outcome.engine,
            "direct": outcome.is_direct,
            "damaged": outcome.damaged,
        });
        println!("{object}");
        return;
    }
    println!("table       {name}");
    println!("rows        {}", outcome.rows);
    if let Some(checksum) = checksum {
        println!("checksum    {checksum}");
    }
    println!("leaf pages  {}", outcome.leaf_pages);
    println!(
        "read        {:.1} MiB in {} requests, {:.1} KiB each ({}{})",
        outcome.read_bytes as f64 / f64::from(1 << 20),
        outcome.requests,
        outcome.read_bytes as f64 / 1024.0 / outcome.requests.max(1) as f64,
        outcome.engine,
        if outcome.is_direct { ", O_DIRECT" } else { "" },
    );
    println!(
        "time        {seconds:.3} s, {:.0} rows/s, {:.1} MiB/s; waited for reads {:.3} s",
        outcome.rows as f64 / seconds,
        outcome.read_bytes as f64 / f64::from(1 << 20) / seconds,
        outcome.pool.wait.as_secs_f64(),
    );
}
