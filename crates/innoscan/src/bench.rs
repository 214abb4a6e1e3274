//! Policies side by side: the same table read under each, one after the other.

use std::sync::Arc;

use innoscan_io::{self as io, Direct, File, Submissions};

use crate::scan::{ScanOptions, ScanOutcome, scan};
use crate::sink::checksum::Checksum;
use crate::warm::{Warmed, read_in_order};
use crate::{Error, Result, Table};

/// Reads around the page cache, or each run would find what the one before it read.
fn around_the_cache(options: &ScanOptions) -> ScanOptions {
    ScanOptions { direct: Direct::Required, ..options.clone() }
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

/// What it is worth to submit requests together and to join them.
pub fn submissions(table: &Table, options: &ScanOptions) -> Result<Submissions> {
    let file =
        table.files.first().ok_or_else(|| Error::refused("it has no file", "name another"))?;
    let options = around_the_cache(options);
    let opened = Arc::new(File::open(&file.path, options.direct)?);
    Ok(io::measure_submissions(&opened, &mut *options.open_engine()?)?)
}
