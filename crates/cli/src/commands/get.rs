//! `innoscan get`.

use std::io::BufRead;
use std::sync::Arc;

use anyhow::Context;
use innoscan_engine::checksum_sink::Checksum;
use innoscan_engine::condition::RowCondition;
use innoscan_engine::scan::{ScanOptions, scan};
use innoscan_engine::{Table, counted};
use innoscan_export::dump::{Dump, DumpOptions, TableOutcome, to_stream};
use innoscan_export::sink::Format;

use super::dump;
use crate::args::GetArgs;
use crate::messages::{self, Exit};
use crate::stats;

/// Keys that are looked up one by one to name those without a row, at most.
const KEYS_MAX: usize = 1000;

pub fn run(args: &GetArgs) -> anyhow::Result<Exit> {
    dump::refuse_terminal(&args.format)?;
    let typed = typed_keys(args)?;
    let condition = wanted(args, &typed)?;
    let table = super::catalog(&args.from, &args.key_files)?.table(&args.source)?;
    messages::row_notes(&table);
    if !condition.may_use_key(&table.def) && !args.report.quiet {
        note!(
            "innoscan: {}: note: reading the whole table: the condition does not start with the \
             primary key",
            table.qualified_name()
        );
    }
    let cancel = crate::signals::cancel_on_signal()?;
    let mut read = super::scan_options(&args.read, Some(&table), None, cancel)?;
    read.rows.on_corrupt = super::on_corrupt(&args.report);
    read.rows.condition = Some(Arc::new(condition));
    let options = DumpOptions { definitions: false, scan: read, ..DumpOptions::new(format(args)) };
    let finished = |outcome: &TableOutcome| {
        if outcome.error.is_some() {
            return;
        }
        dump::report_table(outcome, false);
        if let Some(form) = args.report.stats {
            stats::print(form, &table.qualified_name(), &outcome.scan, None);
        }
    };
    let mut summary =
        to_stream(Dump::of([&table]), &mut std::io::stdout().lock(), &options, finished)?;
    match summary.tables.pop() {
        Some(TableOutcome { error: Some(error), .. }) => Err(error.into()),
        Some(outcome) => {
            if !args.report.quiet {
                note_missing(&table, &options.scan, &typed, outcome.rows)?;
            }
            let is_key_missing = outcome.rows == 0 && !typed.is_empty();
            Ok(match outcome.is_damaged() {
                true => Exit::Skipped,
                // The exit code of grep without a match.
                false if is_key_missing => Exit::Usage,
                false => Exit::Done,
            })
        }
        None => Ok(Exit::Done),
    }
}

/// Prints which of the keys have no row; `rows` were found.
fn note_missing(
    table: &Table,
    options: &ScanOptions,
    keys: &[String],
    rows: u64,
) -> anyhow::Result<()> {
    let name = table.qualified_name();
    if rows == 0 && keys.len() != 1 {
        match keys {
            [] => note!("innoscan: {name}: no row matches"),
            _ => note!("innoscan: {name}: no row has any of these keys"),
        }
        return Ok(());
    }
    if keys.len() > KEYS_MAX {
        let were = if rows == 1 { "was" } else { "were" };
        let (rows, keys) = (counted(rows, "row"), keys.len());
        note!("innoscan: {name}: {rows} {were} found for {keys} keys");
        return Ok(());
    }
    for key in keys {
        let condition = RowCondition::parse_keys([key.as_str()])?;
        let options = options.clone().with(|scan| {
            scan.rows.condition = Some(Arc::new(condition));
            scan.hooks.progress = None;
        });
        if rows == 0 || scan(table, &options, &Checksum::count_only(), |_| Ok(()))?.rows == 0 {
            note!("innoscan: {name}: no row has the key {key}");
        }
    }
    Ok(())
}

fn wanted(args: &GetArgs, typed: &[String]) -> anyhow::Result<RowCondition> {
    Ok(match (&args.range, &args.condition) {
        (Some(range), _) => RowCondition::parse_range(range)?,
        (None, Some(condition)) => RowCondition::parse_where(condition)?,
        (None, None) => RowCondition::parse_keys(typed.iter().map(String::as_str))?,
    })
}

/// The keys on the command line or on stdin.
fn typed_keys(args: &GetArgs) -> anyhow::Result<Vec<String>> {
    let mut keys = Vec::new();
    for key in &args.keys {
        if key == "-" {
            let lines: Result<Vec<String>, _> = std::io::stdin().lock().lines().collect();
            keys.extend(lines.context("cannot read keys from stdin")?);
        } else {
            keys.push(key.clone());
        }
    }
    Ok(keys)
}

fn format(args: &GetArgs) -> Format {
    let mut format = args.format.clone();
    if args.include_invisible {
        format.include_invisible();
    }
    format
}
