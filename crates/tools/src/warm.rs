//! Warming: a table is read into the operating system's page cache, for servers that read through it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use innoscan_engine::ahead::Sizes;
use innoscan_engine::pool::{Pool, PoolOptions, RunReader, runs_in_file_order};
use innoscan_engine::scan::read_plan::ReadPlan;
use innoscan_engine::scan::{Budget, ScanOptions, open_spaces};
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::{Error, ErrorKind, Result, Table};
use innoscan_format::PageNo;
use innoscan_io::{self as io, Direct, Kind};

use crate::explain::leaves::leaves;

/// The order in which a table is warmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmOrder {
    /// All pages of the files, from the first to the last.
    #[default]
    Physical,
    /// The branch pages and leaves of the clustered index, window by window in key order, each window in
    /// file order: the pages that a scan needs first are read first.
    Logical,
}

/// The result of warming.
#[derive(Clone, Copy, Debug, Default)]
pub struct Warmed {
    /// The counters of the requests.
    pub reads: io::Counters,
    /// The time from start to end.
    pub elapsed: Duration,
}

/// Reads a table's files through the page cache, regardless of `options.io.direct`; of the options,
/// only those about reading are used.
pub fn warm(table: &Table, order: WarmOrder, options: &ScanOptions) -> Result<Warmed> {
    let options = options.clone().with(|scan| {
        scan.io.direct = Direct::Off;
    });
    match order {
        WarmOrder::Physical => read_in_order(table, &options),
        WarmOrder::Logical => read_by_windows(table, &options),
    }
}

fn read_by_windows(table: &Table, options: &ScanOptions) -> Result<Warmed> {
    let started = Instant::now();
    let mut warmed = Warmed::default();
    for (space, file) in open_spaces(table, options)?.iter().zip(&table.files) {
        let in_file = |error: Error| error.in_file(&file.path);
        let sizes = sizes(space, options)?;
        let leaves =
            leaves(table, file, &mut SpaceReader::new(space.clone())?, options).map_err(in_file)?;
        warmed.reads.merge(&leaves.reads);
        let windows = leaves.pages.chunks(sizes.window_pages);
        let runs = windows.flat_map(|window| sorted_runs(window, &sizes));
        let reads = read(space, runs, options).map_err(in_file)?;
        warmed.reads.merge(&reads);
    }
    warmed.elapsed = started.elapsed();
    Ok(warmed)
}

/// Reads a table's files from the first page to the last, according to `options.io.direct`.
pub(crate) fn read_in_order(table: &Table, options: &ScanOptions) -> Result<Warmed> {
    let started = Instant::now();
    let mut warmed = Warmed::default();
    for file in &table.files {
        let in_file = |error: Error| error.in_file(&file.path);
        let space = file.open(options.io.direct)?;
        let sizes = sizes(&space, options)?;
        let runs = runs_in_file_order(whole_pages(&space), sizes.run_pages);
        let reads = read(&space, runs, options).map_err(in_file)?;
        warmed.reads.merge(&reads);
    }
    warmed.elapsed = started.elapsed();
    Ok(warmed)
}

fn sizes(space: &Space, options: &ScanOptions) -> Result<Sizes> {
    let page_bytes = space.page_bytes();
    let budget = Budget::new(&ReadPlan::of(options), options.plan.threads, page_bytes)?;
    Ok(budget.sizes(&options.io, options.io.device, space.format()))
}

fn whole_pages(space: &Space) -> u32 {
    let pages = space.file().size_bytes() / space.page_bytes() as u64;
    u32::try_from(pages).unwrap_or(u32::MAX)
}

fn sorted_runs(window: &[PageNo], sizes: &Sizes) -> Vec<Vec<PageNo>> {
    let mut pages: Vec<u32> = window.iter().map(|page| page.0).collect();
    pages.sort_unstable();
    io::coalesce(&pages, sizes.gap_pages, sizes.run_pages)
        .map(|run| (run.first..run.first + run.count).map(PageNo).collect())
        .collect()
}

/// Bytes of memory for pages on their way to the page cache.
const POOL_BYTES: usize = 32 << 20;

/// Reads the runs and releases their pages at once, since the page cache has them. Unreadable pages are
/// skipped.
fn read(
    space: &Space,
    runs: impl Iterator<Item = Vec<PageNo>>,
    options: &ScanOptions,
) -> Result<io::Counters> {
    let page_bytes = space.page_bytes();
    let run_bytes = usize::try_from(options.io.request_bytes_max).unwrap_or(usize::MAX);
    let frames = POOL_BYTES.max(run_bytes.saturating_mul(2)) / page_bytes;
    let engine = options.open_engine()?;
    let mut pool = Pool::new(frames, page_bytes, engine, PoolOptions::default())?;
    let file = pool.add_file(Arc::clone(space.file()), space.redo().cloned());
    let mut reader = RunReader::new(file, Kind::Demand, runs);
    while let Some((_, page)) = reader.next(&mut pool) {
        if options.is_cancelled() {
            return Err(Error::interrupted());
        }
        if let Err(error) = page
            && error.kind() == ErrorKind::Resources
        {
            return Err(error);
        }
    }
    Ok(pool.counters())
}

#[cfg(test)]
mod tests {
    use super::*;
    use innoscan_engine::testing::{MYSQL, POOL_PAGES, small, table};
    use innoscan_testkit::fixture::Fixture;

    #[test]
    fn each_page_is_read_once() {
        let fixture = Fixture::unpack("read_ahead/grown");
        let table = table(&fixture.create_sql, MYSQL, &fixture.file);
        let file_bytes = std::fs::metadata(&fixture.file).unwrap().len();
        let options = small(POOL_PAGES, 1).with(|scan| {
            scan.io.gap_bytes = 0;
        });
        let warm = |order| warm(&table, order, &options).unwrap().reads;
        let physical = warm(WarmOrder::Physical);
        assert_eq!(physical.read_bytes(), file_bytes);
        assert_eq!(physical.requests(), file_bytes.div_ceil(options.io.request_bytes_max));
        // 210 leaves of the clustered index, and the branch pages above them.
        let logical = warm(WarmOrder::Logical);
        assert!((200..230).contains(&(logical.read_bytes() / 4096)), "{logical:?}");
    }
}
