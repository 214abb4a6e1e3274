//! The pages that each policy requests, on real tables, in their order.

use std::collections::BTreeSet;

use innoscan_format::page::{IndexPage, PageKind};
use innoscan_format::{IndexId, PageNo};
use innoscan_io::Direct;
use innoscan_testkit::page::open_plain;

use super::{ReadAheadPolicy, ScanOptions};
use crate::Table;
use crate::space_reader::SpaceReader;
use crate::testing::{self, MYSQL, POLICIES, POOL_PAGES, small};

/// A table of `tests/data/read_ahead`.
struct Fixture {
    table: Table,
    checksum: u32,
    _unpacked: innoscan_testkit::fixture::Fixture,
}

fn fixture(name: &str) -> Fixture {
    let unpacked = innoscan_testkit::fixture::Fixture::unpack(&format!("read_ahead/{name}"));
    let table = testing::table(&unpacked.create_sql, MYSQL, &unpacked.file);
    Fixture { table, checksum: unpacked.checksum.unwrap(), _unpacked: unpacked }
}

fn requests(fixture: &Fixture, options: &ScanOptions) -> Vec<(u64, u64)> {
    let (requests, checksum) = testing::requests(&fixture.table, options);
    assert_eq!(checksum, fixture.checksum, "{:?}", options.plan.policy);
    requests
}

/// The requests as text: `7` is a page, `64..128` several, lines are cut at 100 columns.
fn trace(fixture: &Fixture, read_ahead: ReadAheadPolicy) -> String {
    let options = small(POOL_PAGES, 1).with(|scan| {
        scan.plan.policy = Some(read_ahead);
    });
    let mut lines = vec![String::new()];
    for (first, pages) in requests(fixture, &options) {
        let range = format!("{first}..{}", first + pages);
        let request = if pages == 1 { first.to_string() } else { range };
        if lines.last().unwrap().len() + request.len() > 99 {
            lines.push(String::new());
        }
        let line = lines.last_mut().unwrap();
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&request);
    }
    lines.join("\n")
}

#[test]
fn each_policy_asks_for_these_pages_in_this_order() {
    for name in ["ascending", "grown"] {
        let fixture = fixture(name);
        let traces = POLICIES.map(|policy| format!("{policy:?}\n{}\n", trace(&fixture, policy)));
        insta::assert_snapshot!(name, traces.join("\n"));
        for (policy, before) in POLICIES.iter().zip(&traces) {
            assert!(before.contains(&trace(&fixture, *policy)), "{policy:?}: the same each time");
        }
    }
}

#[test]
fn secondary_indexes_are_read_by_the_physical_policy_alone() {
    let fixture = fixture("grown");
    let space = fixture.table.files[0].open(Direct::Off).unwrap();
    let (format, root) = (space.format(), space.first_root());
    let mut reader = SpaceReader::new(space).unwrap();
    let mut index_of = |page: u32| -> Option<IndexId> {
        let bytes = reader.read_page(PageNo(page)).unwrap();
        let page = open_plain(&bytes, format, PageNo(page)).unwrap();
        let is_index = page.kind() == PageKind::Index;
        is_index.then(|| IndexPage::parse(page).unwrap().index_id())
    };
    let clustered = index_of(root.0);
    let is_secondary = |page: &u32| {
        let index = index_of(*page);
        index.is_some() && index != clustered
    };
    let secondary: BTreeSet<u32> = (0..format.size_pages).filter(is_secondary).collect();
    assert!(secondary.len() > 100);
    for (read_ahead, expected) in [
        (ReadAheadPolicy::None, 0),
        (ReadAheadPolicy::Logical, 0),
        (ReadAheadPolicy::Segment, 0),
        (ReadAheadPolicy::Physical, secondary.len()),
    ] {
        let options = small(POOL_PAGES, 1).with(|scan| {
            scan.plan.policy = Some(read_ahead);
            scan.io.gap_bytes = 0;
        });
        let read = requests(&fixture, &options);
        let pages = read.iter().flat_map(|(first, pages)| *first..first + pages);
        let read = pages.filter(|page| secondary.contains(&(*page as u32))).count();
        assert_eq!(read, expected, "{read_ahead:?}");
    }
}
