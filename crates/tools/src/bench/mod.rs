//! Comparison of policies: the same table is read under each, one after the other, with or without
//! concurrent point lookups.

mod lookups;

use std::sync::Arc;
use std::time::Duration;

use innoscan_engine::checksum_sink::Checksum;
use innoscan_engine::scan::alone::run_alone;
use innoscan_engine::scan::{Foreground, ScanOptions, ScanOutcome, scan};
use innoscan_engine::{Error, Result, Table, TableFile};
use innoscan_io::{self as io, Direct, File, Submissions};

pub use self::lookups::{Latencies, LookupOptions, Lookups};
use crate::warm::{Warmed, read_in_order};

/// Options that bypass the page cache; otherwise each run would find the pages of the one before.
fn around_the_cache(options: &ScanOptions) -> ScanOptions {
    options.clone().with(|scan| {
        scan.io.direct = Direct::Required;
    })
}

/// Reads the table's files from the first page to the last in large requests, like `dd`: the lower
/// bound for any scan that reads all pages.
pub fn in_file_order(table: &Table, options: &ScanOptions) -> Result<Warmed> {
    read_in_order(table, &around_the_cache(options))
}

/// A scan whose rows are only counted.
pub fn scan_and_forget(table: &Table, options: &ScanOptions) -> Result<ScanOutcome> {
    scan(table, &around_the_cache(options), &Checksum::count_only(), |_| Ok(()))
}

/// A scan, and the latencies of the lookups during it.
#[derive(Debug)]
pub struct Beside {
    /// The outcome of the scan.
    pub outcome: ScanOutcome,
    /// The latencies of the lookups.
    pub felt: Latencies,
}

/// Runs [`scan_and_forget`] with concurrent lookups on the same pool.
pub fn scan_beside(table: &Table, options: &ScanOptions, lookups: &Arc<Lookups>) -> Result<Beside> {
    let foreground: Arc<dyn Foreground> = Arc::clone(lookups) as Arc<dyn Foreground>;
    let options = options.clone().with(|scan| {
        scan.hooks.foreground = Some(foreground);
    });
    let outcome = scan_and_forget(table, &options)?;
    Ok(Beside { outcome, felt: lookups.take()? })
}

/// Lookups without a scan, for a time, and their reads.
pub fn lookups_alone(
    table: &Table,
    options: &ScanOptions,
    lookups: &Lookups,
    duration: Duration,
) -> Result<(Latencies, io::KindCounters)> {
    let reads = run_alone(table, &around_the_cache(options), lookups, duration)?;
    Ok((lookups.take()?, reads.foreground))
}

/// Measures the benefit of submitting requests together and of joining them.
pub fn submissions(table: &Table, options: &ScanOptions) -> Result<Submissions> {
    let files = table.files.first().map(TableFile::stored_paths).unwrap_or_default();
    let file = files.first().ok_or_else(|| Error::refused("it has no file", "name another"))?;
    let options = around_the_cache(options);
    let opened = Arc::new(File::open(file, options.io.direct)?);
    Ok(io::measure_submissions(&opened, &mut *options.open_engine()?)?)
}
