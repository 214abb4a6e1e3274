//! Prints the ledger of a dump: the plan of a dry run, the last lines of a dump.

use std::collections::HashSet;

use innoscan_catalog::ledger::{
    DumpMethod, Entry, Item, ItemKind, Ledger, Listed, State, counted_kinds,
};
use innoscan_engine::counted;
use innoscan_export::dump::Summary;
use serde_json::json;

use super::seconds;
use crate::args::{DumpArgs, DumpOutput};
use crate::messages::Exit;
use crate::sizes::bytes;
use crate::{log, remedies};

/// Objects not dumped that are listed on stderr, at most; `innoscan.json` lists all.
const LISTED_MAX: usize = 20;

/// Prints the plan of a dry run, and returns the exit code that a dump would have, as far as it is known
/// before rows are read.
pub fn print(ledger: &Ledger) -> Exit {
    for Entry { listed, state } in ledger.entries() {
        let what = described(listed);
        match state {
            State::Planned(DumpMethod::Definition) if listed.item.kind == ItemKind::Table => {
                out!("{what}: to be dumped without rows: it has none of its own")
            }
            State::Planned(method) => out!("{what}: {method}"),
            State::Dumped { .. } => out!("{what}: dumped"),
            State::LeftOut(rule) => {
                out!("{what}: left out ({})", remedies::filter_rule(*rule))
            }
            State::NotDumped(reason) => {
                out!("{what}: CANNOT BE DUMPED: {}", remedies::reason(reason))
            }
        }
    }
    for unlisted in ledger.unlisted() {
        out!("CANNOT BE DUMPED: {}", remedies::reason(&unlisted.to_reason()));
    }
    match ledger.is_complete() {
        true => Exit::Done,
        false => Exit::Refused,
    }
}

/// `table shop.orders (InnoDB, 4 partitions)`.
fn described(listed: &Listed) -> String {
    let mut facts = Vec::new();
    facts.extend(listed.engine.clone());
    facts.extend(listed.table.as_ref().map(|table| format!("of table {table}")));
    if !listed.partitions.is_empty() {
        facts.push(counted(listed.partitions.len() as u64, "partition"));
    }
    let facts = match &facts[..] {
        [] => String::new(),
        facts => format!(" ({})", facts.join(", ")),
    };
    format!("{}{facts}", listed.item)
}

/// Prints the last lines of a dump: the objects that were dumped, left out, and not dumped.
pub fn summarize(summary: &Summary, args: &DumpArgs) {
    let ledger = &summary.ledger;
    if !args.report.quiet {
        report_dumped(summary);
        if args.verbose {
            note!("innoscan: {}", summary.phases);
        }
        for (rule, counts) in ledger.left_out() {
            let rule = remedies::filter_rule(rule);
            note!("innoscan: left out: {} ({rule})", counted_kinds(&counts));
        }
    }
    // Tables that failed while they were read have been reported already.
    let failed = summary.failed().map(|table| (&*table.database, &*table.table));
    let failed: HashSet<(&str, &str)> = failed.collect();
    let unreported = || {
        ledger.not_dumped().filter(|(Listed { item, .. }, _)| {
            item.kind != ItemKind::Table || !failed.contains(&(&*item.database, &*item.name))
        })
    };
    let count = unreported().count();
    for (nth, (listed, reason)) in unreported().enumerate() {
        let reason = remedies::reason(reason);
        if !log_not_dumped(&listed.item, &reason) && nth < LISTED_MAX {
            note!("innoscan: NOT DUMPED: {}: {reason}", described(listed));
        }
    }
    if count > LISTED_MAX && !log::is_json() {
        note!("innoscan: NOT DUMPED: {} more", count - LISTED_MAX);
    }
    for unlisted in ledger.unlisted() {
        note!("innoscan: NOT DUMPED: {}", remedies::reason(&unlisted.to_reason()));
    }
    if let Some(missing) = ledger.what_is_missing() {
        let list = match args.output() {
            DumpOutput::Directory(directory) => {
                format!(" ({}/innoscan.json lists them)", directory.display())
            }
            _ => String::new(),
        };
        note!("innoscan: the dump is NOT complete: {missing}{list}");
    }
}

/// Logs an object that was not dumped, if JSON is logged; returns whether it is.
pub fn log_not_dumped(item: &Item, reason: &str) -> bool {
    let fields = json!({
        "kind": item.kind.to_string(),
        "database": item.database,
        "name": item.name,
        "reason": reason,
    });
    log::event("not_dumped", fields)
}

/// Logs the end of a dump.
pub fn log_ended(summary: &Summary, exit: Exit) {
    let fields = json!({
        "exit_code": exit as i32,
        "complete": summary.ledger.is_complete(),
        "tables": summary.tables.len(),
        "rows": summary.rows(),
        "bytes": summary.plain_bytes(),
        "seconds": summary.elapsed.as_secs_f64(),
    });
    log::event("ended", fields);
}

fn report_dumped(summary: &Summary) {
    let dumped = summary.ledger.counts(|state| matches!(state, State::Dumped { .. }));
    if dumped.is_empty() {
        return;
    }
    let plain_bytes = summary.plain_bytes();
    let rate = plain_bytes as f64 / summary.elapsed.as_secs_f64().max(1e-9);
    note!(
        "innoscan: dumped {}: {}, {} in {}, {}/s",
        counted_kinds(&dumped),
        counted(summary.rows(), "row"),
        bytes(plain_bytes),
        seconds(summary.elapsed),
        bytes(rate as u64),
    );
}
