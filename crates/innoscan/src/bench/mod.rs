//! Policies side by side: the same table read under each, one after the other, alone or beside point
//! lookups.

mod lookups;

use std::sync::Arc;
use std::time::Duration;

use innoscan_io::{self as io, Direct, File, Submissions};

pub use self::lookups::{Latencies, LookupOptions, Lookups};
use crate::scan::alone::run_alone;
use crate::scan::{Foreground, ScanOptions, ScanOutcome, scan};
use crate::sink::checksum::Checksum;
use crate::warm::{Warmed, read_in_order};
use crate::{Error, Result, Table};

/// Reads around the page cache, or each run would find what the one before it read.
fn around_the_cache(options: &ScanOptions) -> ScanOptions {
    options.clone().with(|scan| {
        scan.io.direct = Direct::Required;
    })
}

/// The table's files from their first page to their last in large requests, as `dd` reads them: what
/// no scan can beat that reads all of them.
pub fn in_file_order(table: &Table, options: &ScanOptions) -> Result<Warmed> {
    read_in_order(table, &around_the_cache(options))
}

/// A scan whose rows are counted and forgotten.
pub fn scan_and_forget(table: &Table, options: &ScanOptions) -> Result<ScanOutcome> {
    scan(table, &around_the_cache(options), &Checksum::count_only(), |_| Ok(()))
}

/// A scan, and what was felt beside it.
#[derive(Debug)]
pub struct Beside {
    /// The scan.
    pub outcome: ScanOutcome,
    /// The lookups.
    pub felt: Latencies,
}

/// [`scan_and_forget`] with lookups beside it, on the same pool.
pub fn scan_beside(table: &Table, options: &ScanOptions, lookups: &Arc<Lookups>) -> Result<Beside> {
    let foreground: Arc<dyn Foreground> = Arc::clone(lookups) as Arc<dyn Foreground>;
    let options = options.clone().with(|scan| {
        scan.hooks.foreground = Some(foreground);
    });
    let outcome = scan_and_forget(table, &options)?;
    Ok(Beside { outcome, felt: lookups.take()? })
}

/// Lookups with no scan beside them, for so long; and their reads.
pub fn lookups_alone(
    table: &Table,
    options: &ScanOptions,
    lookups: &Lookups,
    duration: Duration,
) -> Result<(Latencies, io::KindCounters)> {
    let reads = run_alone(table, &around_the_cache(options), lookups, duration)?;
    Ok((lookups.take()?, reads.foreground))
}

/// What it is worth to submit requests together and to join them.
pub fn submissions(table: &Table, options: &ScanOptions) -> Result<Submissions> {
    let file =
        table.files.first().ok_or_else(|| Error::refused("it has no file", "name another"))?;
    let options = around_the_cache(options);
    let opened = Arc::new(File::open(&file.path, options.io.direct)?);
    Ok(io::measure_submissions(&opened, &mut *options.open_engine()?)?)
}
