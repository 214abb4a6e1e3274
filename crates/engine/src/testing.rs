//! What the tests of this crate and of those above it share: small options, all policies, the
//! requests that a scan makes.

use std::path::Path;

use innoscan_format::schema::{Family, ServerVersion, from_create_table};
use innoscan_io::engine::memory::{Memory, Script};
use innoscan_io::{Direct, EngineKind};

use crate::checksum_sink::{Checksum, Sum};
use crate::scan::scan_with_engine;
use crate::{LeafId, ReadAheadPolicy, ScanOptions, Table, TableFile};

/// The page size of the files, in bytes.
pub const PAGE: usize = 4096;
/// The server that wrote most of the files.
pub const MYSQL: ServerVersion = ServerVersion { family: Family::MySql, number: 80033 };
/// Frames of a pool whose read-ahead areas have 64 pages.
pub const POOL_PAGES: u64 = 3000;

/// Options of a scan with little memory, by `pread`.
pub fn small(memory_pages: u64, threads: usize) -> ScanOptions {
    ScanOptions::default().with(|scan| {
        scan.plan.policy = Some(ReadAheadPolicy::Logical);
        scan.plan.memory_bytes = memory_pages * PAGE as u64;
        scan.plan.threads = threads;
        scan.io.direct = Direct::Off;
        scan.io.engine = EngineKind::Pread;
        scan.io.depth = 4;
    })
}

/// All policies.
pub const POLICIES: [ReadAheadPolicy; 7] = [
    ReadAheadPolicy::None,
    ReadAheadPolicy::Linear { threshold: 56 },
    ReadAheadPolicy::Linear { threshold: 1 },
    ReadAheadPolicy::Random,
    ReadAheadPolicy::Physical,
    ReadAheadPolicy::Logical,
    ReadAheadPolicy::Segment,
];

/// A table of one file.
pub fn table(create_sql: &str, server: ServerVersion, file: &Path) -> Table {
    let def = from_create_table(create_sql, server).unwrap();
    Table::new(def, vec![TableFile::whole(file.to_owned())])
}

/// The requests of a scan in their order, each as its first page and how many, and the checksum
/// of the rows.
pub fn requests(table: &Table, options: &ScanOptions) -> (Vec<(u64, u64)>, u32) {
    let engine = Memory::new(Script::immediate(64));
    let log = engine.log();
    let sink = Checksum::new(&table.def).unwrap();
    let mut total = Sum::default();
    let add = |sum: Sum, _: Option<LeafId>| {
        total.add(&sum);
        Ok(())
    };
    scan_with_engine(table, options, Box::new(engine), &sink, add).unwrap();
    let log = log.lock().unwrap();
    let pages = |(offset, bytes): &(u64, usize)| (offset / PAGE as u64, (bytes / PAGE) as u64);
    (log.iter().map(pages).collect(), total.sum)
}
