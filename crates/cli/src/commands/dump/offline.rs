//! `innoscan dump` of files: a directory, or tables named one by one.

use std::path::Path;

use innoscan_catalog::ledger::{DumpMethod, Ledger, Listed, State};
use innoscan_catalog::source::Offline;
use innoscan_engine::ErrorKind;
use innoscan_export::dump::Dump;
use innoscan_export::phases::{Phase, Phases};

use super::sources::{self, Source};
use super::{OfServer, ledger, unfinished, write};
use crate::args::DumpArgs;
use crate::messages::Exit;

pub fn run(args: &DumpArgs) -> anyhow::Result<Exit> {
    let mut phases = Phases::default();
    let offline = phases.time(Phase::Planning, || match &args.sources[..] {
        [one] if Path::new(one).is_dir() => directory(args, Path::new(one)),
        _ => tables(args),
    })?;
    let nothing = sources::nothing_in(Path::new(&args.sources[0]));
    super::require_something(&offline.ledger, args, nothing)?;
    for note in offline.ledger.notes() {
        note!("innoscan: note: {note}");
    }
    super::note_unmatched(&offline.ledger, args);
    if args.dry_run {
        return Ok(ledger::print(&offline.ledger));
    }
    let Offline { ledger, tables, engine_tables, without_rows, objects, .. } = &offline;
    let dump = Dump {
        tables: tables.iter().collect(),
        engine_tables: engine_tables.iter().collect(),
        without_rows: without_rows.iter().collect(),
        objects: objects.iter().collect(),
        unfinished: unfinished(args)?,
        ledger: ledger.clone(),
        phases,
        ..Dump::default()
    };
    let cancel = crate::signals::cancel_on_signal()?;
    let (summary, layout) = write(args, dump, OfServer::default(), cancel)?;
    Ok(super::end(&summary, layout, args))
}

fn directory(args: &DumpArgs, root: &Path) -> anyhow::Result<Offline> {
    let mut from = args.from.clone();
    from.datadir = Some(root.to_owned());
    let catalog = crate::commands::catalog_to_read(&from, &args.key_args(), &args.read)?;
    let mut offline = Offline::plan(&catalog, &super::filter(args)?)?;
    if args.dry_run {
        offline.check_heads();
    }
    Ok(offline)
}

/// Tables named one by one. If the only one cannot be read, that is an error; one of several is entered
/// in the ledger.
fn tables(args: &DumpArgs) -> anyhow::Result<Offline> {
    let catalog = crate::commands::catalog_to_read(&args.from, &args.key_args(), &args.read)?;
    let mut ledger = Ledger::default();
    let mut tables = Vec::new();
    for Source { named, table } in sources::tables(&catalog, &args.sources, args.report.quiet) {
        match table {
            Ok(table) => {
                let listed = Listed::of_table(&table.def);
                ledger.enter(listed, State::Planned(DumpMethod::Files));
                tables.push(table);
            }
            Err(error)
                if args.sources.len() == 1 || error.kind() == ErrorKind::RefusedDirectory =>
            {
                return Err(error.into());
            }
            Err(error) => {
                let listed = Listed::table("", &named, None);
                ledger.enter(listed, State::NotDumped(error.reason()));
            }
        }
    }
    Ok(Offline { ledger, tables, ..Offline::default() })
}
