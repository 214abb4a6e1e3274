//! Read statistics: `--stats`.

use innoscan_engine::scan::ScanOutcome;
use innoscan_tools::explain::Cost;
use serde_json::{Value, json};

use crate::args::StatsArg;
use crate::sizes::MIB;

/// The version of the JSON object.
const FORMAT: u32 = 1;

/// Prints the statistics of a scan on stderr, beside the estimate made before it.
pub fn print(form: StatsArg, name: &str, outcome: &ScanOutcome, estimate: Option<&Estimate>) {
    match form {
        StatsArg::Text => note!("{}", text(name, outcome, estimate).trim_end()),
        StatsArg::Json => note!("{}", to_json(name, outcome, estimate)),
    }
}

/// The estimate of `explain` for a scan.
pub struct Estimate {
    pub cost: Cost,
    pub page_bytes: u64,
    /// Whether the device is known; otherwise the time means nothing.
    pub is_timed: bool,
}

/// Share of the bytes read that the scan used.
fn useful_share(outcome: &ScanOutcome) -> f64 {
    let used = outcome.leaf_pages + outcome.branch_pages + outcome.lob_pages;
    let reads = outcome.reads.demand.read_bytes + outcome.reads.ahead.read_bytes;
    let page_bytes = outcome.page_bytes.max(1);
    (used * page_bytes) as f64 / reads.max(1) as f64
}

fn text(name: &str, outcome: &ScanOutcome, estimate: Option<&Estimate>) -> String {
    let rule = "-".repeat(72);
    let direct = if outcome.is_direct { ", O_DIRECT" } else { "" };
    let mut text = format!(
        "{rule}\nREAD STATISTICS {name} ({}, {}{direct})\n{rule}\n",
        outcome.read_ahead, outcome.engine
    );
    for (kind, reads) in [("sync", &outcome.reads.demand), ("async", &outcome.reads.ahead)] {
        let requests = reads.requests.max(1) as f64;
        text += &format!(
            "{kind:<6} reads: {} requests, {:.1} MiB, {:.1} KiB per request; {} failed, {} resumed\n\
             {:13} service {:.3} s, average {:.3} ms, maximum {:.3} ms\n",
            reads.requests,
            reads.read_bytes as f64 / MIB,
            reads.read_bytes as f64 / 1024.0 / requests,
            reads.failed,
            reads.resumed,
            "",
            reads.service.as_secs_f64(),
            1e3 * reads.service.as_secs_f64() / requests,
            1e3 * reads.service_max.as_secs_f64(),
        );
    }
    let pool = &outcome.pool;
    text += &format!(
        "waits:        {}, {:.3} s, average {:.3} ms, maximum {:.3} ms\n",
        pool.waits,
        pool.wait.as_secs_f64(),
        1e3 * pool.wait.as_secs_f64() / pool.waits.max(1) as f64,
        1e3 * pool.wait_max.as_secs_f64(),
    );
    text += &format!(
        "read ahead:   {} pages, {} used, {} evicted without access, {} in gaps, {} dropped\n",
        pool.ahead_pages, pool.ahead_used, pool.ahead_evicted, pool.gap_pages, pool.dropped_pages,
    );
    if outcome.spilled_bytes > 0 {
        text += &format!(
            "spilled:      {:.1} MiB of leaves to a temporary file\n",
            outcome.spilled_bytes as f64 / MIB
        );
    }
    text += &format!("useful:       {:.1} % of the bytes read\n", 100.0 * useful_share(outcome));
    if let Some(Estimate { cost, page_bytes, is_timed }) = estimate {
        let time = match is_timed {
            true => format!(", {:.3} s", cost.device_time.as_secs_f64()),
            false => String::new(),
        };
        // The branch pages say nothing of off-page columns.
        let without = if outcome.lob_pages > 0 { " without off-page columns" } else { "" };
        text += &format!(
            "estimated:    {} requests, {:.1} MiB{time}{without}; actual {} requests, {:.1} MiB, {:.3} s\n",
            cost.requests(),
            (cost.pages() * page_bytes) as f64 / MIB,
            outcome.requests,
            outcome.read_bytes as f64 / MIB,
            outcome.elapsed.as_secs_f64(),
        );
    }
    text + &rule + "\n"
}

fn to_json(name: &str, outcome: &ScanOutcome, estimate: Option<&Estimate>) -> Value {
    let kind = |reads: &innoscan_io::KindCounters| {
        json!({
            "requests": reads.requests,
            "read_bytes": reads.read_bytes,
            "failed": reads.failed,
            "resumed": reads.resumed,
            "service_seconds": reads.service.as_secs_f64(),
            "service_max_seconds": reads.service_max.as_secs_f64(),
        })
    };
    let pool = &outcome.pool;
    json!({
        "format": FORMAT,
        "table": name,
        "read_ahead": outcome.read_ahead.to_string(),
        "engine": outcome.engine,
        "direct": outcome.is_direct,
        "seconds": outcome.elapsed.as_secs_f64(),
        "sync": kind(&outcome.reads.demand),
        "async": kind(&outcome.reads.ahead),
        "waits": pool.waits,
        "wait_seconds": pool.wait.as_secs_f64(),
        "wait_max_seconds": pool.wait_max.as_secs_f64(),
        "ahead_pages": pool.ahead_pages,
        "ahead_used": pool.ahead_used,
        "ahead_evicted_unused": pool.ahead_evicted,
        "gap_pages": pool.gap_pages,
        "dropped_pages": pool.dropped_pages,
        "spilled_bytes": outcome.spilled_bytes,
        "useful_share": useful_share(outcome),
        "estimate": estimate.map(|Estimate { cost, page_bytes, is_timed }| json!({
            "requests": cost.requests(),
            "read_bytes": cost.pages() * page_bytes,
            "device_seconds": is_timed.then(|| cost.device_time.as_secs_f64()),
        })),
    })
}
