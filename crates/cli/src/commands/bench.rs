//! `innoscan bench`.

use innoscan::bench::{in_file_order, submissions, under};
use innoscan::explain::explain;

use crate::args::BenchArgs;
use crate::messages::Exit;
use crate::sizes::MIB;

pub fn run(args: &BenchArgs) -> anyhow::Result<Exit> {
    let table = super::catalog(&args.table.from)?.table(&args.table.source)?;
    let cancel = super::cancel_on_signal()?;
    let options = super::scan_options(&args.table.read, Some(&table), None, cancel)?;

    let asked = submissions(&table, &options)?;
    println!("table       {}, read around the page cache", table.qualified_name());
    println!(
        "64 adjacent pages of 16 KiB: one by one {:.0} MiB/s; 64 requests in one submission {:.0} \
         MiB/s; one request {:.0} MiB/s\n",
        asked.one_by_one / MIB,
        asked.together / MIB,
        asked.joined / MIB,
    );

    println!(
        "{:<9} {:>10} {:>10} {:>9} {:>9} {:>10} {:>9} {:>8} {:>10}",
        "policy", "requests", "MiB", "KiB each", "waits", "wait s", "s", "MiB/s", "told s"
    );
    let file = in_file_order(&table, &options)?;
    let row = |name: &str,
               requests: u64,
               bytes: u64,
               waits: (u64, f64),
               seconds: f64,
               told: &str| {
        let (mib, requests_or_one) = (bytes as f64 / MIB, requests.max(1) as f64);
        println!(
            "{name:<9} {requests:>10} {mib:>10.1} {:>9.1} {:>9} {:>10.3} {seconds:>9.3} {:>8.1} {told:>10}",
            1024.0 * mib / requests_or_one,
            waits.0,
            waits.1,
            mib / seconds.max(1e-9),
        );
    };
    let file_s = file.elapsed.as_secs_f64();
    row("(file)", file.reads.requests(), file.reads.read_bytes(), (0, 0.0), file_s, "");

    let known = match options.device {
        Some(device) => Some((explain(&table, &options)?, device)),
        None => None,
    };
    for policy in &args.policies {
        let policy = super::policy_of(*policy, &args.table.read);
        let told = match &known {
            Some((explanation, device)) => {
                let cost = explanation.cost(policy, None, device)?;
                format!("{:.3}", cost.device_time.as_secs_f64())
            }
            None => String::new(),
        };
        let outcome = under(policy, &table, &options)?;
        let waits = (outcome.pool.waits, outcome.pool.wait.as_secs_f64());
        let seconds = outcome.elapsed.as_secs_f64();
        let name = policy.to_string();
        row(&name, outcome.requests, outcome.read_bytes, waits, seconds, &told);
    }
    Ok(Exit::Done)
}
