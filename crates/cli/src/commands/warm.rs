//! `innoscan warm`.

use anyhow::bail;
use innoscan_tools::warm::{WarmOrder, warm};

use crate::args::{ReadAheadArg, WarmArgs};
use crate::messages::Exit;
use crate::sizes::MIB;

pub fn run(args: &WarmArgs) -> anyhow::Result<Exit> {
    let order = match args.table.read.read_ahead {
        None | Some(ReadAheadArg::Physical) => WarmOrder::Physical,
        Some(ReadAheadArg::Logical) => WarmOrder::Logical,
        Some(_) => bail!(
            "warm reads all pages in file order (--read-ahead physical, the default) or the \
             clustered index in key order (--read-ahead logical)"
        ),
    };
    let table = super::catalog_to_read(&args.table.from, &args.table.key_files, &args.table.read)?
        .table(&args.table.source)?;
    let cancel = crate::signals::cancel_on_signal()?;
    let options = super::scan_options(&args.table.read, Some(&table), None, cancel)?;
    let warmed = warm(&table, order, &options)?;
    let reads = &warmed.reads;
    let (mib, seconds) = (reads.read_bytes() as f64 / MIB, warmed.elapsed.as_secs_f64());
    out!("table       {}", table.qualified_name());
    out!("read        {mib:.1} MiB in {} requests", reads.requests());
    out!("time        {seconds:.3} s, {:.1} MiB/s", mib / seconds.max(1e-9));
    let failed = reads.demand.failed + reads.ahead.failed;
    if failed > 0 {
        note!("innoscan: {failed} read requests failed; innoscan check shows where");
        return Ok(Exit::Skipped);
    }
    Ok(Exit::Done)
}
