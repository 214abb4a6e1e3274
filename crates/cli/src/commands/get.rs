//! `innoscan get`.

use std::io::BufRead;
use std::sync::Arc;

use anyhow::Context;
use innoscan::dump::{Dump, DumpOptions, Format, TableOutcome, to_stream};
use innoscan::key_ranges::KeyCondition;
use innoscan::sink::csv::CsvOptions;
use innoscan::sink::ndjson::NdjsonOptions;
use innoscan::sink::sql::SqlOptions;
use innoscan::sink::text::TextOptions;

use super::dump;
use crate::args::{FormatArg, GetArgs};
use crate::messages::{self, Exit};
use crate::stats;

pub fn run(args: &GetArgs) -> anyhow::Result<Exit> {
    let keys = wanted(args)?;
    let table = super::catalog(&args.from)?.table(&args.source)?;
    messages::row_notes(&table);
    let cancel = crate::signals::cancel_on_signal()?;
    let mut scan = super::scan_options(&args.read, Some(&table), None, cancel)?;
    scan.on_corrupt = super::on_corrupt(&args.tell);
    scan.keys = Some(Arc::new(keys));
    let options = DumpOptions { definitions: false, scan, ..DumpOptions::new(format(args)) };
    let finished = |outcome: &TableOutcome| {
        if outcome.error.is_some() {
            return;
        }
        dump::tell(outcome, true);
        if outcome.rows == 0 && !args.tell.quiet {
            note!("innoscan: {}: no row has such a key", table.qualified_name());
        }
        if let Some(form) = args.tell.stats {
            stats::print(form, &table.qualified_name(), &outcome.scan, None);
        }
    };
    let mut summary =
        to_stream(Dump::of([&table]), &mut std::io::stdout().lock(), &options, finished)?;
    match summary.tables.pop() {
        Some(TableOutcome { error: Some(error), .. }) => Err(error.into()),
        Some(outcome) if outcome.is_damaged() => Ok(Exit::Skipped),
        _ => Ok(Exit::Done),
    }
}

fn wanted(args: &GetArgs) -> anyhow::Result<KeyCondition> {
    if let Some(range) = &args.range {
        return Ok(KeyCondition::of_range(range)?);
    }
    if let Some(condition) = &args.condition {
        return Ok(KeyCondition::of_where(condition)?);
    }
    let mut keys = Vec::new();
    for key in &args.keys {
        if key == "-" {
            let lines: Result<Vec<String>, _> = std::io::stdin().lock().lines().collect();
            keys.extend(lines.context("reading keys from stdin")?);
        } else {
            keys.push(key.clone());
        }
    }
    Ok(KeyCondition::of_keys(keys.iter().map(String::as_str))?)
}

fn format(args: &GetArgs) -> Format {
    let include_invisible = args.include_invisible;
    match args.format {
        FormatArg::Sql => Format::Sql(SqlOptions::default()),
        FormatArg::Text => {
            Format::Text(TextOptions { include_invisible, ..TextOptions::default() })
        }
        FormatArg::Csv => Format::Csv(CsvOptions { include_invisible, ..CsvOptions::default() }),
        FormatArg::Ndjson => {
            Format::Ndjson(NdjsonOptions { include_invisible, ..NdjsonOptions::default() })
        }
    }
}
