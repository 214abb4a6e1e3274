//! Seeded damage of undo pages: a directory gives the right rows or an error, and in no case a panic.

use std::path::{Path, PathBuf};

use innoscan_format::page::PageFormat;
use innoscan_format::{PageSize, SpaceId};
use innoscan_testkit::damage::{Random, damage};
use innoscan_testkit::server::Server;
use innoscan_testkit::tablespace::seal_page;

use super::load::Load;
use super::{path, server_text};
use crate::parity::command;

const PAGE_BYTES: usize = 16 << 10;
/// Cases of each kind for each seed of the load.
const CASES: u64 = 6;
/// Tables that are read in each case: their undo records have off-page columns, and keys of any length.
const TABLES: [&str; 2] = ["dynamic", "text_key"];

/// Damages undo pages of a copy of the server's files, one after the other.
pub fn undo_pages_lie(server: &Server, copy: &Server, load: &Load) {
    let tables = load.tables().iter().filter(|table| TABLES.contains(&table.name));
    let expected: Vec<(String, Vec<u8>)> =
        tables.map(|table| (format!("d.{}", table.name), server_text(server, table))).collect();
    let pages = undo_pages(&copy.data());
    assert!(!pages.is_empty());
    let mut random = Random::new(load.seed);
    for case in 0..2 * CASES {
        let (file, at) = &pages[random.below(pages.len())];
        let whole = std::fs::read(file).unwrap();
        let mut damaged = whole.clone();
        let page = &mut damaged[*at..*at + PAGE_BYTES];
        damage(page, &mut random);
        // Half of the cases pass the checksum: then an old value may be another, but nothing breaks.
        let is_sealed = case % 2 == 1;
        if is_sealed {
            seal(page, server.version().starts_with("mariadb"));
        }
        std::fs::write(file, &damaged).unwrap();
        for (name, rows) in &expected {
            let what = format!(
                "seed {}, case {case}, page at {at} of {}: {name}",
                load.seed,
                file.display()
            );
            is_right_or_refused(&copy.data(), name, (!is_sealed).then_some(rows), &what);
        }
        std::fs::write(file, &whole).unwrap();
    }
}

/// The undo pages of a directory that hold records.
fn undo_pages(data: &Path) -> Vec<(PathBuf, usize)> {
    let mut pages = Vec::new();
    for name in ["ibdata1", "undo001", "undo002", "undo003", "undo_001", "undo_002"] {
        let file = data.join(name);
        let Ok(bytes) = std::fs::read(&file) else { continue };
        let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let starts = (0..bytes.len() / PAGE_BYTES).map(|page| page * PAGE_BYTES);
        // Type 2; the free space begins behind the newest log's records.
        let found = starts.filter(|at| number(at + 24) == 2 && number(at + 42) > number(at + 40));
        pages.extend(found.map(|at| (file.clone(), at)));
    }
    pages
}

fn seal(page: &mut [u8], full_crc32: bool) {
    let space = u32::from_be_bytes([page[34], page[35], page[36], page[37]]);
    let format = PageFormat {
        space: SpaceId(space),
        page_size: PageSize::new(PAGE_BYTES as u32).unwrap(),
        physical_bytes: PAGE_BYTES as u32,
        is_zip: false,
        full_crc32,
        sdi: false,
        size_pages: u32::MAX,
    };
    seal_page(page, format);
}

/// Reads a table; `rows`: what it must have if it can be read.
fn is_right_or_refused(data: &Path, name: &str, rows: Option<&Vec<u8>>, what: &str) {
    let dumped = command()
        .args(["dump", name, "--quiet", "--format", "text", "--datadir", path(data)])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&dumped.stderr);
    assert!(!said.contains("panicked"), "{what}: {said}");
    match dumped.status.code() {
        Some(0) => assert!(rows.is_none_or(|rows| *rows == dumped.stdout), "{what}: wrong rows"),
        Some(1 | 2) => assert!(!said.is_empty(), "{what}"),
        other => panic!("{what}: {other:?}: {said}"),
    }
}
