//! `innoscan bench --foreground`: latencies of point lookups during scans, and the scans' times.

use std::sync::Arc;
use std::time::Duration;

use innoscan_engine::Table;
use innoscan_engine::scan::ScanOptions;
use innoscan_io::KindCounters;
use innoscan_tools::bench::{
    Beside, Latencies, LookupOptions, Lookups, lookups_alone, scan_beside,
};
use serde_json::{Value, json};

use crate::args::BenchArgs;
use crate::sizes::MIB;

/// How long lookups run without a scan.
const ALONE: Duration = Duration::from_secs(5);

/// Measures lookups alone, then during each scan.
pub fn run(
    table: &Table,
    args: &BenchArgs,
    threads: u32,
    options: &ScanOptions,
    variants: Vec<(String, ScanOptions)>,
) -> anyhow::Result<()> {
    let lookup_options = LookupOptions {
        threads: threads as usize,
        rate: args.lookup_rate.map(f64::from),
        zipf: args.zipf,
    };
    let lookups = Arc::new(Lookups::new(table, options, lookup_options)?);
    if !args.json {
        print_head(table, &lookup_options);
    }
    let (felt, reads) = lookups_alone(table, options, &lookups, ALONE)?;
    let mut rows = Vec::new();
    let mut measured = |row: Row| {
        if !args.json {
            row.print();
        }
        rows.push(row.to_json());
    };
    measured(Row::alone(felt, reads));
    for (name, options) in variants {
        measured(Row::beside(name, scan_beside(table, &options, &lookups)?));
    }
    if args.json {
        let name = table.qualified_name();
        out!("{}", json!({ "format": super::FORMAT, "table": name, "rows": rows }));
    }
    Ok(())
}

struct Row {
    name: String,
    /// Duration of the scan, or of the lookups alone.
    seconds: f64,
    /// Requests of the scan: those it waited for, and read-ahead.
    demand_requests: u64,
    ahead_requests: u64,
    read_bytes: u64,
    /// Share of the pages read ahead that were used; `None` if there were none.
    useful_share: Option<f64>,
    foreground: KindCounters,
    felt: Latencies,
}

impl Row {
    fn alone(felt: Latencies, foreground: KindCounters) -> Row {
        Row {
            name: "(no scan)".to_owned(),
            seconds: ALONE.as_secs_f64(),
            demand_requests: 0,
            ahead_requests: 0,
            read_bytes: 0,
            useful_share: None,
            foreground,
            felt,
        }
    }

    fn beside(name: String, Beside { outcome, felt }: Beside) -> Row {
        let pool = &outcome.pool;
        let ahead_pages = pool.ahead_pages + pool.gap_pages;
        Row {
            name,
            seconds: outcome.elapsed.as_secs_f64(),
            demand_requests: outcome.reads.demand.requests,
            ahead_requests: outcome.reads.ahead.requests,
            read_bytes: outcome.read_bytes,
            useful_share: (ahead_pages > 0).then(|| pool.ahead_used as f64 / ahead_pages as f64),
            foreground: outcome.reads.foreground,
            felt,
        }
    }

    fn sync_ms(&self) -> f64 {
        1e3 * self.foreground.service.as_secs_f64() / self.foreground.requests.max(1) as f64
    }

    fn print(&self) {
        let useful =
            self.useful_share.map_or("-".to_owned(), |share| format!("{:.1}", 100.0 * share));
        out!(
            "{:<9} {:>8.2} {:>9} {:>9} {:>8.0} {useful:>8} {:>9} {:>8.2} {:>9} {:>8.2} {:>8.2} {:>8.2} {:>8.2}",
            self.name,
            self.seconds,
            self.demand_requests,
            self.ahead_requests,
            self.read_bytes as f64 / MIB,
            self.foreground.requests,
            self.sync_ms(),
            self.felt.lookups,
            ms(self.felt.mean),
            ms(self.felt.p50),
            ms(self.felt.p99),
            ms(self.felt.most),
        );
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "seconds": self.seconds,
            "demand_requests": self.demand_requests,
            "ahead_requests": self.ahead_requests,
            "read_bytes": self.read_bytes,
            "useful_share": self.useful_share,
            "foreground_requests": self.foreground.requests,
            "foreground_ms": self.sync_ms(),
            "lookups": self.felt.lookups,
            "mean_ms": ms(self.felt.mean),
            "p50_ms": ms(self.felt.p50),
            "p99_ms": ms(self.felt.p99),
            "max_ms": ms(self.felt.most),
        })
    }
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

fn print_head(table: &Table, lookups: &LookupOptions) {
    let rate = match lookups.rate {
        Some(rate) => format!("{rate} a second"),
        None => "back to back".to_owned(),
    };
    out!("table       {}, read around the page cache", table.qualified_name());
    out!(
        "lookups     {} threads, {rate}, Zipf {}; latencies in milliseconds\n",
        lookups.threads,
        lookups.zipf
    );
    out!(
        "{:<9} {:>8} {:>9} {:>9} {:>8} {:>8} {:>9} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8}",
        "policy",
        "scan s",
        "demand",
        "ahead",
        "MiB",
        "useful %",
        "sync",
        "ms each",
        "lookups",
        "mean",
        "p50",
        "p99",
        "max"
    );
}
