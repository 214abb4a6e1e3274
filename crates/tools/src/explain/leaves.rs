//! The leaves of a tree in key order, from its branch pages alone.

use std::sync::Arc;
use std::time::Duration;

use innoscan_engine::pool::{PageKey, Pool, PoolOptions, Retention};
use innoscan_engine::scan::ScanOptions;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::walk::{Step, Walk};
use innoscan_engine::{Error, Result, Table, TableFile};
use innoscan_format::PageNo;
use innoscan_format::page::{self, Scratch};
use innoscan_io::{self as io, Kind, Wait};

/// The most branch pages read at once.
const BRANCHES_AT_ONCE: usize = 256;

/// The leaves of a tree, and the cost of finding them.
#[derive(Clone, Debug)]
pub(crate) struct Leaves {
    /// The leaves in key order.
    pub pages: Vec<PageNo>,
    /// The number of branch pages above the leaves.
    pub branch_pages: u64,
    /// The counters of the reads of branch pages.
    pub reads: io::Counters,
    /// The time in which nothing was done but to wait for them.
    pub wait: Duration,
}

/// Reads the branch pages of one of a table's tablespaces, to which `reader` belongs.
pub(crate) fn leaves(
    table: &Table,
    file: &TableFile,
    reader: &mut SpaceReader,
    options: &ScanOptions,
) -> Result<Leaves> {
    let space = reader.space().clone();
    let root_no = file.clustered_root.unwrap_or(space.first_root());
    let index = reader.clustered(&table.def_of(file), root_no)?;
    let context = space.page_context();
    let page_bytes = context.physical_bytes();
    let engine = io::engine::open(options.io.engine, options.io.depth)?;
    let frames = 4 * BRANCHES_AT_ONCE;
    let mut pool = Pool::new(frames, page_bytes, engine, PoolOptions::default())?;
    let slot = pool.add_file(Arc::clone(space.file()), space.redo().cloned());
    // The scan reads the root too: one of the branch pages, and counted.
    pool.wait_for(PageKey { file: slot, page: root_no }, Retention::Keep)?;
    let span = file.span();
    let mut walk = Walk::new(&index.root_page()?, &index.layout, None, None, span)?;
    let mut scratch = Scratch::default();

    let run_pages = options.io.run_pages(options.io.device, page_bytes);
    let (mut pages, mut found, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        loop {
            let fronts: Vec<PageNo> = walk.fronts().collect();
            let ready = fronts.into_iter().find_map(|page| {
                let read = pool.take(PageKey { file: slot, page })?;
                Some((page, read))
            });
            let Some((page, read)) = ready else { break };
            let bytes = read?;
            let opened = page::open(&bytes, context, page, &mut scratch);
            walk.feed(page, opened.map_err(Error::from), &index.layout);
        }
        while let Some(step) = walk.next_step() {
            if let Step::Damaged { error, .. } = step {
                return Err(error);
            }
        }
        walk.take_found_leaves(&mut found);
        pages.append(&mut found);
        if walk.is_done() {
            break;
        }
        walk.wanted(BRANCHES_AT_ONCE, &mut wanted);
        for run in pool.absent_runs(slot, &wanted, run_pages) {
            pool.read(slot, &run, Kind::Demand);
        }
        pool.poll(Wait::UntilSomething)?;
    }
    Ok(Leaves {
        pages,
        branch_pages: walk.branch_pages(),
        reads: pool.counters(),
        wait: pool.stats().wait,
    })
}
