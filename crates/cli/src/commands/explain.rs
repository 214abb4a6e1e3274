//! `innoscan explain`.

use anyhow::Error;
use innoscan_engine::Table;
use innoscan_engine::counted;
use innoscan_engine::scan::{ReadAheadPolicy, RowOrder, ScanOptions};
use innoscan_io::Device;
use innoscan_tools::explain::{Cost, Explanation, choose, explain};

use crate::args::ExplainArgs;
use crate::messages::Exit;
use crate::sizes::{ByteSize, MIB};

/// The devices that are shown if none is named.
const DEVICES: [&str; 3] = ["hdd", "gp3", "nvme"];

pub fn run(args: &ExplainArgs) -> anyhow::Result<Exit> {
    let table = super::catalog_to_read(&args.table.from, &args.table.key_files, &args.table.read)?
        .table(&args.table.source)?;
    let options = super::scan_options(
        &args.table.read,
        Some(&table),
        None,
        crate::signals::cancel_on_signal()?,
    )?;
    let explanation = explain(&table, &options)?;
    let mut devices: Vec<(String, Device)> = match options.io.device {
        Some(device) => vec![(device.to_string(), device)],
        None => {
            let named = |name: &str| {
                let device: Device = name.parse()?;
                Ok((format!("{name}: {device}"), device))
            };
            DEVICES.into_iter().map(named).collect::<Result<_, String>>().map_err(Error::msg)?
        }
    };
    if let Some(device) = here(&table, &explanation, &options) {
        devices.insert(0, (format!("here: {device}"), device));
    }
    let mut by_device = Vec::new();
    for (name, device) in devices {
        by_device.push((name, device, explanation.costs(&device)?));
    }
    let name = table.qualified_name();
    if args.json {
        let costs =
            by_device.iter().map(|(name, device, costs)| (short(name), *device, &costs[..]));
        out!("{}", explanation.to_json(&name, costs, &options));
        return Ok(Exit::Done);
    }
    out!("table         {name}");
    for (device, model, costs) in &by_device {
        out!("{:<13} {}", short(device), verdict(&explanation, model, costs, &options)?);
    }
    out!("");
    print_layout(&explanation);
    for (name, _, costs) in &by_device {
        print_costs(name, &explanation, costs, &options);
    }
    Ok(Exit::Done)
}

/// The device that the files are on, where the caller did not name it: as it is known from earlier scans, or
/// as the reads of branch pages show it.
fn here(table: &Table, explanation: &Explanation, options: &ScanOptions) -> Option<Device> {
    if options.io.device.is_some() {
        return None;
    }
    let file = table.files.first()?;
    let known = || options.io.known_devices.get(file.open(options.io.direct).ok()?.file());
    known().or(explanation.device)
}

/// The name of a device; `here` for that of the files.
fn short(device: &str) -> &str {
    match device.split_once(": ") {
        Some((name, _)) => name,
        None => "here",
    }
}

/// A line with the time of a scan with the current options, the time page by page, and the options
/// that would make it faster.
fn verdict(
    explanation: &Explanation,
    device: &Device,
    costs: &[Cost],
    options: &ScanOptions,
) -> anyhow::Result<String> {
    let cost = explanation.cost_of(options, device)?;
    let now = cost.scan_time.as_secs_f64();
    let none = costs.iter().find(|cost| cost.plan.policy == ReadAheadPolicy::None);
    let mut verdict = format!("{} s by {}", seconds(now), cost.plan.policy);
    if let Some(none) = none {
        let none = seconds(none.scan_time.as_secs_f64());
        verdict += &format!("; page by page, as a server reads, {none} s");
    }
    let worth = |cost: &&Cost| WORTH_SETTING * cost.scan_time.as_secs_f64() < now;
    let best = costs.iter().filter(worth).min_by_key(|cost| cost.scan_time);
    verdict += &match best {
        None => "; no option would help".to_owned(),
        Some(best) => format!(
            "; {} s with --read-ahead {}{}",
            seconds(best.scan_time.as_secs_f64()),
            best.plan.policy,
            what_it_wants(best, options)
        ),
    };
    Ok(verdict)
}

/// Options are worth naming if they make a scan this many times as fast.
const WORTH_SETTING: f64 = 1.25;

fn seconds(seconds: f64) -> String {
    let decimals = if seconds < 10.0 { 1 } else { 0 };
    format!("{seconds:.decimals$}")
}

/// Shares of a file, in percent.
struct Shares {
    leaves: f64,
    free: f64,
    /// Secondary indexes.
    other_indexes: f64,
    /// Off-page columns.
    lobs: f64,
    /// Pages that belong to segments and are not used.
    reserve: f64,
}

fn shares(explanation: &Explanation) -> Shares {
    let of_file = |pages: u64| 100.0 * pages as f64 / explanation.file_pages.max(1) as f64;
    Shares {
        leaves: of_file(explanation.leaves()),
        free: of_file(explanation.free_pages),
        other_indexes: of_file(explanation.owners.other_index_pages),
        lobs: of_file(explanation.lob_pages()),
        reserve: of_file(explanation.owners.reserve_pages),
    }
}

fn print_layout(explanation: &Explanation) {
    let shares = shares(explanation);
    let page_kib = explanation.page_bytes / 1024;
    out!(
        "files         {:.1} MiB, {} pages of {page_kib} KiB",
        (explanation.file_pages * explanation.page_bytes) as f64 / MIB,
        explanation.file_pages,
    );
    out!(
        "leaf pages    {}, {:.1} % of the files; secondary indexes {:.1} %, off-page columns {:.1} %, \
         reserved {:.1} %, free {:.1} %",
        explanation.leaves(),
        shares.leaves,
        shares.other_indexes,
        shares.lobs,
        shares.reserve,
        shares.free,
    );
    out!(
        "non-leaf      {}, read in {}",
        counted(explanation.branch_pages, "page"),
        counted(explanation.branch_reads.requests(), "request"),
    );
    out!(
        "order         {:.1} % of the leaf pages are followed in the file by the next one in key order",
        100.0 * explanation.adjacent_share(),
    );
    let unzip_seconds = explanation.unzip_time().as_secs_f64();
    if unzip_seconds > 0.0 {
        out!("unzipping     {unzip_seconds:.1} s of one core, which the threads of a scan share");
    }
    let runs: Vec<String> = explanation
        .windows_bytes()
        .into_iter()
        .map(|window| format!("{:.1} with {}", explanation.mean_run(window), ByteSize(window)))
        .collect();
    out!(
        "runs          average number of adjacent leaf pages, by size of the sorted window: {}",
        runs.join(", ")
    );
}

fn print_costs(device: &str, explanation: &Explanation, costs: &[Cost], options: &ScanOptions) {
    out!("\n{device}");
    out!(
        "{:<9} {:>5} {:>7} {:>10} {:>10} {:>9} {:>8} {:>11} {:>8} {:>11}",
        "policy",
        "order",
        "window",
        "requests",
        "MiB",
        "KiB each",
        "useful %",
        "device s",
        "memory",
        "spilled"
    );
    for cost in costs {
        let bytes = (cost.pages() * explanation.page_bytes) as f64;
        let window =
            cost.plan.window().map_or("-".to_owned(), |window| ByteSize(window).to_string());
        out!(
            "{:<9} {:>5} {window:>7} {:>10} {:>10.1} {:>9.1} {:>8.1} {:>11.2} {:>8} {:>7.0} MiB",
            cost.plan.policy,
            cost.plan.order.name(),
            cost.requests(),
            bytes / MIB,
            bytes / 1024.0 / cost.requests().max(1) as f64,
            100.0 * explanation.leaves() as f64 / cost.pages().max(1) as f64,
            cost.device_time.as_secs_f64(),
            mib_of(cost.plan.memory_bytes),
            cost.spilled_bytes as f64 / MIB,
        );
    }
    if let Some(best) = choose(costs, options) {
        let none = costs.iter().find(|cost| cost.plan.policy == ReadAheadPolicy::None);
        let gain = none.map_or(1.0, |none| {
            none.scan_time.as_secs_f64() / best.scan_time.as_secs_f64().max(1e-9)
        });
        let window = best
            .plan
            .window()
            .map_or(String::new(), |window| format!(" with a window of {}", ByteSize(window)));
        out!(
            "--read-ahead auto, with --memory {}: {}{window}, {gain:.1} times as fast as page by page",
            ByteSize(options.plan.memory_bytes),
            best.plan.policy,
        );
        let fastest = costs.iter().filter(|cost| is_twice_as_fast(cost, best));
        if let Some(cost) = fastest.min_by_key(|cost| cost.scan_time) {
            out!(
                "{:.1} times as fast as that: --read-ahead {}{}",
                best.scan_time.as_secs_f64() / cost.scan_time.as_secs_f64().max(1e-9),
                cost.plan.policy,
                what_it_wants(cost, options),
            );
        }
    }
}

fn is_twice_as_fast(cost: &Cost, best: &Cost) -> bool {
    2 * cost.scan_time < best.scan_time
}

/// The other options that a plan needs.
fn what_it_wants(cost: &Cost, options: &ScanOptions) -> String {
    if cost.plan.memory_bytes > options.plan.memory_bytes {
        return format!(" and --memory {}", mib_of(cost.plan.memory_bytes));
    }
    match cost.plan.order {
        RowOrder::Any => " and --order any".to_owned(),
        RowOrder::Key => {
            format!(", spilling {:.0} MiB of leaves to --tmpdir", cost.spilled_bytes as f64 / MIB)
        }
    }
}

/// A size in whole MiB, as `--memory` takes it.
fn mib_of(bytes: u64) -> String {
    ByteSize(bytes.next_multiple_of(1 << 20)).to_string()
}
