//! `innoscan verify`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use innoscan_catalog::catalog::Catalog;
use innoscan_engine::counted;
use innoscan_engine::scan::{ReadAheadPolicy, RowOrder, ScanOptions};
use innoscan_export::verify::against::{Comparison, compare, compare_with_files};
use innoscan_export::verify::{Manifest, Report, verify};
use innoscan_live::{Session, checksums};
use serde_json::{Value, json};

use crate::args::VerifyArgs;
use crate::messages::Exit;
use crate::progress::Count;
use crate::remedies;
use crate::sizes::bytes;

/// The version of the JSON object.
const FORMAT: u32 = 1;

pub fn run(args: &VerifyArgs) -> anyhow::Result<Exit> {
    let cancel = crate::signals::cancel_on_signal()?;
    let manifest = Manifest::read(&args.directory)?;
    let mut count = Count::new(args.quiet);
    let report = verify(&args.directory, &manifest, args.decompress, |read, all| {
        count.show("verifying", read, Some(all));
        !cancel.load(Ordering::Relaxed)
    });
    count.clear();
    let report = report?;
    for fault in &report.faults {
        note!("innoscan: {}", remedies::reason(&fault.reason()));
    }
    let comparison = comparison(args, &manifest, &cancel)?;
    if let Some(comparison) = &comparison {
        for (name, difference) in &comparison.differences {
            note!("innoscan: {name}: {}", remedies::reason(&difference.reason()));
        }
    }
    let is_same = comparison.as_ref().is_none_or(|comparison| comparison.differences.is_empty());
    let is_whole = report.faults.is_empty() && is_same;
    match args.json {
        true => out!("{:#}", to_json(&manifest, &report, comparison.as_ref(), is_whole)),
        false => print(&args.directory, &manifest, &report, comparison.as_ref()),
    }
    Ok(if is_whole { Exit::Done } else { Exit::Refused })
}

/// Compares the tables with those of `--against`, if given.
fn comparison(
    args: &VerifyArgs,
    manifest: &Manifest,
    cancel: &Arc<AtomicBool>,
) -> anyhow::Result<Option<Comparison>> {
    let Some(source) = &args.against else { return Ok(None) };
    let mut count = Count::new(args.quiet);
    if args.is_against_server() {
        let mut session = Session::connect(&super::account(&args.server)?)?;
        let tables = checksums::tables(&mut session)?;
        let mut done = 0;
        let compared = compare(manifest, &tables, |name, kind| {
            if cancel.load(Ordering::Relaxed) {
                return Err(innoscan_engine::Error::interrupted());
            }
            count.show("comparing", done, Some(manifest.tables.len()));
            done += 1;
            checksums::checksum(&mut session, name, kind)
        });
        count.clear();
        return Ok(Some(compared?));
    }
    let catalog = Catalog::new(Some(source.clone())).with_force(args.force);
    let catalog = catalog.with_keys(super::keys(&args.key_args())?);
    let catalog = catalog.with_files(args.data_files.files(), args.key_args().option_files.files());
    let catalog = catalog.with_prepared(args.data_files.prepared);
    let options = ScanOptions::default().with(|scan| {
        scan.plan.policy = Some(ReadAheadPolicy::Segment);
        scan.rows.order = RowOrder::Any;
        scan.plan.memory_bytes = args.memory.0;
        scan.plan.threads = args.threads.unwrap_or(0);
        scan.hooks.cancel = Some(Arc::clone(cancel));
    });
    let compared = compare_with_files(manifest, &catalog, &options, |done, all| {
        count.show("comparing", done, Some(all));
    });
    count.clear();
    Ok(Some(compared?))
}

fn print(directory: &Path, manifest: &Manifest, report: &Report, comparison: Option<&Comparison>) {
    let directory = directory.display();
    let what = format!(
        "{}, {}, {}",
        counted(report.files, "file"),
        bytes(report.bytes),
        counted(manifest.tables.len() as u64, "table"),
    );
    match report.faults.len() {
        0 => out!("{directory}: complete and unchanged: {what}"),
        faults => {
            out!("{directory}: NOT INTACT: {}; unchanged: {what}", counted(faults as u64, "fault"))
        }
    }
    let Some(comparison) = comparison else { return };
    let without = match comparison.without_checksum.len() {
        0 => String::new(),
        1 => "; 1 has no checksum in the dump and was not compared".to_owned(),
        count => format!("; {count} have no checksum in the dump and were not compared"),
    };
    match comparison.differences.len() {
        0 => out!(
            "{} with the same rows as in the source{without}",
            counted(comparison.same, "table")
        ),
        count => out!(
            "{} from the source; {} with the same rows{without}",
            if count == 1 {
                "1 table DIFFERS".to_owned()
            } else {
                format!("{count} tables DIFFER")
            },
            counted(comparison.same, "table")
        ),
    }
}

fn to_json(
    manifest: &Manifest,
    report: &Report,
    comparison: Option<&Comparison>,
    is_whole: bool,
) -> Value {
    let faults: Vec<Value> = report.faults.iter().map(|fault| fault.to_json()).collect();
    json!({
        "format": FORMAT,
        "sound": is_whole,
        "dumper": manifest.dumper,
        "layout": manifest.layout.name(),
        "complete": manifest.is_complete,
        "tables": manifest.tables.len(),
        "files": report.files,
        "bytes": report.bytes,
        "faults": faults,
        "against": comparison.map(Comparison::to_json),
    })
}
