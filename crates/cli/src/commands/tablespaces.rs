//! `innoscan tablespaces`.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::datadir::{DataDir, Shutdown, Trust, require_tablespaces};
use innoscan_engine::keys::Keys;
use innoscan_live::spaces::spaces;
use innoscan_tools::tablespaces::{
    CheckOptions, Finding, HeadMethod, HeadOptions, ListedSpace, Report, Step, check, listed_in,
};
use serde_json::{Value, json};

use crate::args::{ServerListArg, TablespacesArgs};
use crate::messages::Exit;
use crate::progress::Count;
use crate::sizes::MIB;

/// The version of the JSON object.
const FORMAT: u32 = 1;

pub fn run(args: &TablespacesArgs) -> anyhow::Result<Exit> {
    let cancel = crate::signals::cancel_on_signal()?;
    let heads = HeadOptions {
        method: args.method.unwrap_or_else(HeadMethod::best),
        threads: args.threads.map_or(0, usize::from),
        depth: usize::from(args.depth),
        latency: args.latency,
    };
    let directories = [&args.directories[..], &args.innodb_directories[..]].concat();
    let keys = super::keys(&args.key_args())?;
    for root in &args.directories {
        require_tablespaces(root)?;
        read_redo(root, &keys);
    }
    let listed = listed(args, &keys)?;
    let options = CheckOptions { heads, listed, checks_names: args.sdi, keys };
    let mut count = Count::new(args.quiet);
    let report = check(&directories, &options, |step| {
        match step {
            Step::Walk(found) => count.show("listing directories", found, None),
            Step::Read(read, all) => count.show("reading", read, Some(all)),
            Step::Names(checked, all) => count.show("checking names", checked, Some(all)),
        }
        !cancel.load(Ordering::Relaxed)
    })?;
    count.clear();
    if args.json {
        out!("{:#}", to_json(&report, heads.method));
    } else {
        print(&report);
    }
    if args.stats {
        stats(&report, heads.method);
    }
    // Faults have an exit code of their own, so that scripts notice them.
    Ok(if report.has_faults() { Exit::Skipped } else { Exit::Done })
}

/// Lets the files of a killed server be read through its redo log; other directories are read as they are.
fn read_redo(root: &Path, keys: &Keys) {
    if let Ok(datadir) = DataDir::open(root, &DataFiles::default(), Trust::Force, keys)
        && let Shutdown::Crashed { end } = datadir.shutdown()
    {
        note!(
            "{}: its server was not shut down; read through the redo log, as of LSN {end}",
            root.display()
        );
    }
}

fn listed(args: &TablespacesArgs, keys: &Keys) -> anyhow::Result<Option<Vec<ListedSpace>>> {
    Ok(match (args.server_list, args.directories.first()) {
        (Some(ServerListArg::Dictionary), Some(root)) => Some(listed_in(root, keys)?),
        (Some(ServerListArg::Server), _) => Some(spaces(&super::account(&args.server)?)?),
        _ => None,
    })
}

fn print(report: &Report) {
    for finding in &report.findings {
        out!("{finding}");
    }
    let faults = report.findings.iter().filter(|finding| finding.is_fault()).count();
    out!(
        "files        {} of tables, {} system, {} undo, {} temporary",
        report.tables,
        report.system,
        report.undo,
        report.temporary
    );
    out!("faults       {faults}");
    let phases = report.phases;
    let row = |name: &str, time: Duration| out!("{name:<12} {:.3} s", time.as_secs_f64());
    row("walk", phases.walk);
    out!(
        "read         {:.3} s, {:.0} % of it opening files",
        phases.read.as_secs_f64(),
        100.0 * opening(report)
    );
    if !phases.names.is_zero() {
        row("names", phases.names);
    }
    row("compare", phases.compare);
}

/// Opening files, as a share of the time spent on all files.
fn opening(report: &Report) -> f64 {
    let (open, read) = (report.heads.open.as_secs_f64(), report.heads.read.as_secs_f64());
    open / (open + read).max(f64::MIN_POSITIVE)
}

fn to_json(report: &Report, method: HeadMethod) -> Value {
    let findings: Vec<Value> = report.findings.iter().map(Finding::to_json).collect();
    json!({
        "format": FORMAT,
        "tables": report.tables,
        "system": report.system,
        "undo": report.undo,
        "temporary": report.temporary,
        "findings": findings,
        "method": method.to_string(),
        "read_bytes": report.heads.read_bytes,
        "walk_s": report.phases.walk.as_secs_f64(),
        "read_s": report.phases.read.as_secs_f64(),
        "names_s": report.phases.names.as_secs_f64(),
        "compare_s": report.phases.compare.as_secs_f64(),
        "open_mean_s": mean(report.heads.open.as_secs_f64(), report),
        "read_mean_s": mean(report.heads.read.as_secs_f64(), report),
    })
}

fn mean(seconds: f64, report: &Report) -> f64 {
    seconds / report.heads.files.max(1) as f64
}

fn stats(report: &Report, method: HeadMethod) {
    let heads = report.heads;
    note!(
        "{}: {} files, {:.1} MiB; opening one took {:.3} ms, reading it {:.3} ms",
        method,
        heads.files,
        heads.read_bytes as f64 / MIB,
        1e3 * mean(heads.open.as_secs_f64(), report),
        1e3 * mean(heads.read.as_secs_f64(), report),
    );
}
