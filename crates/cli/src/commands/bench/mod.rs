//! `innoscan bench`.

mod beside;

use innoscan_engine::Table;
use innoscan_engine::scan::{ReadAheadPolicy, RowOrder, ScanOptions, ScanOutcome};
use innoscan_io::Submissions;
use innoscan_tools::bench::{in_file_order, scan_and_forget, submissions};
use innoscan_tools::explain::explain;
use innoscan_tools::warm::Warmed;
use serde_json::{Value, json};

use crate::args::BenchArgs;
use crate::messages::Exit;
use crate::sizes::MIB;

/// The version of the JSON object.
const FORMAT: u32 = 1;

pub fn run(args: &BenchArgs) -> anyhow::Result<Exit> {
    let table = super::catalog_to_read(&args.table.from, &args.table.key_files, &args.table.read)?
        .table(&args.table.source)?;
    let cancel = crate::signals::cancel_on_signal()?;
    let options = super::scan_options(&args.table.read, Some(&table), None, cancel)?;
    if let Some(threads) = args.foreground {
        beside::run(&table, args, threads, &options, variants(args, &options))?;
        return Ok(Exit::Done);
    }
    let rates = submissions(&table, &options)?;
    if !args.json {
        print_head(&table, &rates);
    }
    let mut rows = Vec::new();
    let mut measured = |row: Row| {
        if !args.json {
            row.print();
        }
        rows.push(row);
    };
    measured(Row::of_file(&in_file_order(&table, &options)?));
    let explanation = match options.io.device {
        Some(_) => Some(explain(&table, &options)?),
        None => None,
    };
    for (name, options) in variants(args, &options) {
        let expected = match (&explanation, options.io.device) {
            (Some(explanation), Some(device)) => Some(explanation.cost_of(&options, &device)?),
            _ => None,
        };
        let outcome = scan_and_forget(&table, &options)?;
        let expected_s = expected.map(|cost| cost.device_time.as_secs_f64());
        measured(Row { expected_s, ..Row::of_scan(name, &outcome) });
    }
    if args.json {
        out!("{}", to_json(&table, &rates, &rows));
    }
    Ok(Exit::Done)
}

/// The options of each policy to run; segment runs twice, with rows in any order and sorted.
fn variants(args: &BenchArgs, options: &ScanOptions) -> Vec<(String, ScanOptions)> {
    let mut variants = Vec::new();
    for &policy in &args.policies {
        let read_ahead = super::policy_of(policy, &args.table.read);
        let mut add = |name: String, order| {
            variants.push((
                name,
                options.clone().with(|scan| {
                    scan.plan.policy = read_ahead;
                    scan.rows.order = order;
                }),
            ));
        };
        match read_ahead {
            None => add("auto".to_owned(), options.rows.order),
            Some(ReadAheadPolicy::Segment) => {
                add("segment".to_owned(), RowOrder::Any);
                add("sorted".to_owned(), RowOrder::Key);
            }
            Some(named) => add(named.to_string(), RowOrder::Key),
        }
    }
    variants
}

/// The measurement of one run.
struct Row {
    name: String,
    /// The read-ahead policy; `None` for the plain read of the files.
    policy: Option<ReadAheadPolicy>,
    requests: u64,
    read_bytes: u64,
    waits: u64,
    wait_s: f64,
    seconds: f64,
    spilled_bytes: u64,
    expected_s: Option<f64>,
}

impl Row {
    fn of_file(file: &Warmed) -> Row {
        Row {
            name: "(file)".to_owned(),
            policy: None,
            requests: file.reads.requests(),
            read_bytes: file.reads.read_bytes(),
            waits: 0,
            wait_s: 0.0,
            seconds: file.elapsed.as_secs_f64(),
            spilled_bytes: 0,
            expected_s: None,
        }
    }

    fn of_scan(name: String, outcome: &ScanOutcome) -> Row {
        Row {
            name,
            policy: Some(outcome.read_ahead),
            requests: outcome.requests,
            read_bytes: outcome.read_bytes,
            waits: outcome.pool.waits,
            wait_s: outcome.pool.wait.as_secs_f64(),
            seconds: outcome.elapsed.as_secs_f64(),
            spilled_bytes: outcome.spilled_bytes,
            expected_s: None,
        }
    }

    fn print(&self) {
        let mib = self.read_bytes as f64 / MIB;
        let expected =
            self.expected_s.map_or(String::new(), |expected_s| format!("{expected_s:.3}"));
        out!(
            "{:<9} {:>10} {mib:>10.1} {:>9.1} {:>9} {:>10.3} {:>9.3} {:>8.1} {expected:>10}",
            self.name,
            self.requests,
            1024.0 * mib / self.requests.max(1) as f64,
            self.waits,
            self.wait_s,
            self.seconds,
            mib / self.seconds.max(1e-9),
        );
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "policy": self.policy.map(|policy| policy.to_string()),
            "requests": self.requests,
            "read_bytes": self.read_bytes,
            "waits": self.waits,
            "wait_seconds": self.wait_s,
            "seconds": self.seconds,
            "spilled_bytes": self.spilled_bytes,
            "estimated_seconds": self.expected_s,
        })
    }
}

fn print_head(table: &Table, rates: &Submissions) {
    out!("table       {}, read around the page cache", table.qualified_name());
    out!(
        "64 adjacent pages of 16 KiB: one by one {:.0} MiB/s; 64 requests in one submission {:.0} \
         MiB/s; one request {:.0} MiB/s\n",
        rates.one_by_one / MIB,
        rates.together / MIB,
        rates.joined / MIB,
    );
    out!(
        "{:<9} {:>10} {:>10} {:>9} {:>9} {:>10} {:>9} {:>8} {:>10}",
        "policy",
        "requests",
        "MiB",
        "KiB each",
        "waits",
        "wait s",
        "s",
        "MiB/s",
        "expected s"
    );
}

fn to_json(table: &Table, rates: &Submissions, rows: &[Row]) -> Value {
    json!({
        "format": FORMAT,
        "table": table.qualified_name(),
        "bytes_per_second_of_64_pages": {
            "one_by_one": rates.one_by_one,
            "together": rates.together,
            "joined": rates.joined,
        },
        "rows": rows.iter().map(Row::to_json).collect::<Vec<_>>(),
    })
}
