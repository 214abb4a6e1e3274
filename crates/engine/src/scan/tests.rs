//! Scans of small real files with 4 KiB pages and three levels, sound and damaged.

use std::ops::Range;
use std::path::{Path, PathBuf};

use innoscan_format::PageNo;
use innoscan_format::layout::Layout;
use innoscan_format::page::IndexPage;
use innoscan_format::schema::{Family, RowFormat, ServerVersion};
use innoscan_io::engine::memory::{Memory, Script};
use innoscan_io::{Direct, EngineKind};
use innoscan_testkit::page::open_plain;

use super::*;
use crate::space_reader::SpaceReader;
use crate::testing::{self, MYSQL, PAGE, POLICIES, small};
use crate::{ErrorKind, Remedy, RowShape};

const MARIADB: ServerVersion = ServerVersion { family: Family::MariaDb, number: 101_100 };

fn fixture(server: ServerVersion) -> PathBuf {
    let name = if server == MYSQL { "mysql-8.0.33" } else { "mariadb-10.11" };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name).join("tree-4k")
}

fn table_of(server: ServerVersion, file: &Path) -> Table {
    let create = std::fs::read_to_string(fixture(server).join("tree.create.sql")).unwrap();
    testing::table(&create, server, file)
}

fn table(server: ServerVersion) -> Table {
    table_of(server, &fixture(server).join("tree.ibd"))
}

fn expected(server: ServerVersion) -> Vec<u8> {
    std::fs::read(fixture(server).join("tree.txt")).unwrap()
}

/// Rows as `INTO OUTFILE` writes them, where no value needs an escape.
struct Lines(RowShape);

impl Lines {
    fn of(table: &Table) -> Lines {
        Lines(RowShape::named(&table.def, ["k", "n", "t", "b"]).unwrap())
    }
}

impl RowSink for Lines {
    type Batch = Vec<u8>;

    fn new_batch(&self) -> Vec<u8> {
        Vec::new()
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Vec<u8>) -> Result<()> {
        let start = batch.len();
        for column in self.0.columns() {
            let written = match row[column.position()] {
                Some(stored) => column.codec().write_text(stored, batch),
                None => {
                    batch.extend_from_slice(b"\\N");
                    Ok(())
                }
            };
            if let Err(error) = written {
                batch.truncate(start);
                return Err(error.into());
            }
            batch.push(b'\t');
        }
        batch.pop();
        batch.push(b'\n');
        Ok(())
    }
}

/// The rows delivered, and how the scan ended.
fn run(
    table: &Table,
    options: &ScanOptions,
    engine: Option<Script>,
) -> (Vec<u8>, Result<ScanOutcome>) {
    let sink = Lines::of(table);
    let mut text = Vec::new();
    let take = |batch: Vec<u8>, _: Option<LeafId>| {
        text.extend_from_slice(&batch);
        Ok(())
    };
    let outcome = match engine {
        Some(script) => {
            scan_with_engine(table, options, Box::new(Memory::new(script)), &sink, take)
        }
        None => {
            let engine = options.open_engine().unwrap();
            scan_with_engine(table, options, engine, &sink, take)
        }
    };
    (text, outcome)
}

/// All policies, which give rows in key order, and the one that gives them in another.
fn policies_and_orders() -> impl Iterator<Item = (ReadAheadPolicy, RowOrder)> {
    let in_key_order = POLICIES.into_iter().map(|policy| (policy, RowOrder::Key));
    in_key_order.chain([(ReadAheadPolicy::Segment, RowOrder::Any)])
}

/// The rows in the order they came, or sorted where they come in any order.
fn lines(text: &[u8], order: RowOrder) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    if order == RowOrder::Any {
        lines.sort_unstable();
    }
    lines
}

fn are_same(text: &[u8], expected: &[u8], order: RowOrder) -> bool {
    lines(text, order) == lines(expected, order)
}

/// Whether these are the first of the rows expected, or where the order is free some of them.
fn is_begun(text: &[u8], expected: &[u8], order: RowOrder) -> bool {
    match order {
        RowOrder::Any => {
            let mut all = lines(expected, order).into_iter();
            lines(text, order).into_iter().all(|line| all.any(|other| other == line))
        }
        RowOrder::Key => expected.starts_with(text),
    }
}

/// Pages of memory a scan wants at least.
fn least_pages(threads: usize) -> u64 {
    threads as u64 + 4
}

#[test]
fn too_little_memory_is_refused() {
    let table = table(MYSQL);
    let (_, outcome) = run(&table, &small(least_pages(3) - 1, 3), None);
    let error = outcome.unwrap_err();
    assert!(error.kind() == ErrorKind::Resources, "{error}");
    assert!(matches!(error.remedies(), [Remedy::RaiseMemory { .. }, Remedy::LowerThreads]));
}

#[test]
fn every_way_of_reading_gives_the_servers_rows() {
    for server in [MYSQL, MARIADB] {
        let (table, expected) = (table(server), expected(server));
        for more_pages in [0, 5, 20, 100, 1000] {
            for threads in [1, 3] {
                let memory_pages = least_pages(threads) + more_pages;
                for (read_ahead, order) in policies_and_orders() {
                    for (engine, gap_pages) in [(EngineKind::Pread, 0), (EngineKind::Auto, 3)] {
                        let gap_bytes = gap_pages * PAGE as u64;
                        let small = small(memory_pages, threads);
                        let options = small.with(|scan| {
                            scan.plan.policy = Some(read_ahead);
                            scan.rows.order = order;
                            scan.io.engine = engine;
                            scan.io.gap_bytes = gap_bytes;
                        });
                        let (text, outcome) = run(&table, &options, None);
                        assert_eq!(outcome.unwrap().rows, 490);
                        assert!(are_same(&text, &expected, order));
                    }
                }
            }
        }
    }
}

#[test]
fn partitions_are_read_as_one_table() {
    let mut table = table(MARIADB);
    table.files = vec![table.files[0].clone(); 3];
    let (text, outcome) = run(&table, &small(40, 2), None);
    assert_eq!(outcome.unwrap().rows, 3 * 490);
    assert!(text == expected(MARIADB).repeat(3));
}

/// The most seeds a plain test run takes; all of them in release.
const SEEDS: u64 = if cfg!(debug_assertions) { 300 } else { 1000 };

#[test]
fn whatever_the_engine_does_rows_are_right_or_an_error_says_why() {
    let (table, expected) = (table(MYSQL), expected(MYSQL));
    let ways: Vec<_> = policies_and_orders().collect();
    let mut failed = 0;
    for seed in 0..SEEDS {
        let failing = if seed % 3 == 0 { (seed % 8) as u8 } else { 0 };
        let script = Script {
            depth: 1 + (seed % 9) as usize,
            short: (seed % 97) as u8,
            interrupted: (seed % 31) as u8,
            failing,
            ..Script::reordering(seed)
        };
        let (read_ahead, order) = ways[(seed / 3) as usize % ways.len()];
        let threads = 1 + (seed % 3) as usize;
        let options = small(least_pages(threads) + seed % 64, threads).with(|scan| {
            scan.plan.policy = Some(read_ahead);
            scan.rows.order = order;
        });
        let (text, outcome) = run(&table, &options, Some(script));
        match outcome {
            Ok(outcome) => {
                assert!(are_same(&text, &expected, order), "seed {seed}");
                assert_eq!(outcome.rows, 490, "seed {seed}");
            }
            Err(error) => {
                assert!(failing > 0 && error.kind() == ErrorKind::Read, "seed {seed}: {error}");
                assert!(is_begun(&text, &expected, order), "seed {seed}");
                failed += 1;
            }
        }
    }
    assert!(failed > 0, "some reads should have failed for good");
}

#[test]
fn pages_that_cannot_be_read_are_passed_over_when_told_to() {
    let (table, expected) = (table(MYSQL), expected(MYSQL));
    let leaf = leaves(&table)[5];
    let mut script = Script::reordering(3);
    script.bad.push(byte_range(leaf));
    let options = small(100, 2).with(|scan| {
        scan.rows.on_corrupt = OnCorrupt::Skip;
    });
    let (text, outcome) = run(&table, &options, Some(script.clone()));
    let outcome = outcome.unwrap();
    assert_eq!(outcome.damaged, 1);
    assert_eq!((outcome.damage[0].page, outcome.damage[0].lost), (leaf, Lost::Page));
    check_range(&outcome.damage[0], &text, &expected);
    assert!(outcome.rows < 490 && is_subset(&text, &expected));
    let (text, outcome) = run(&table, &small(100, 2), Some(script));
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("tree.ibd: reading page") && error.contains("error"), "{error}");
    assert!(expected.starts_with(&text));
}

fn byte_range(page: PageNo) -> Range<u64> {
    let start = u64::from(page.0) * PAGE as u64;
    start..start + PAGE as u64
}

/// The rows between the two keys, and no other, are lost.
fn check_range(damage: &Damage, text: &[u8], expected: &[u8]) {
    // The key is binary, so it shows as hexadecimal digits.
    let key_of = |line: &[u8]| -> String {
        let key = line.split(|byte| *byte == b'\t').next().unwrap();
        key.iter().map(|byte| format!("{byte:02X}")).collect()
    };
    let keys = |text: &[u8]| text.split(|byte| *byte == b'\n').map(key_of).collect::<Vec<_>>();
    let (after, before) = (damage.after_key.as_ref().unwrap(), damage.before_key.as_ref().unwrap());
    let (kept, all) = (keys(text), keys(expected));
    for key in all.iter().filter(|key| !key.is_empty()) {
        let is_inside = key > after && key < before;
        assert_eq!(is_inside, !kept.contains(key), "{key} {:?}", damage.lost_range());
    }
}

/// Whether all lines of `part` are in `whole`, in the same order.
fn is_subset(part: &[u8], whole: &[u8]) -> bool {
    let mut whole = whole.split(|byte| *byte == b'\n');
    part.split(|byte| *byte == b'\n').all(|line| whole.any(|other| other == line))
}

/// The leaves in key order, and the branch pages below the root.
fn walk(table: &Table) -> (Vec<PageNo>, Vec<PageNo>) {
    let space = table.files[0].open(Direct::Off).unwrap();
    let root = space.first_root();
    let format = space.format();
    let mut reader = SpaceReader::new(space).unwrap();
    let layout = layout_of(table);
    let mut levels = vec![vec![root]];
    loop {
        let mut below = Vec::new();
        for page_no in levels.last().unwrap() {
            let bytes = reader.read_page(*page_no).unwrap();
            let page = IndexPage::parse(open_plain(&bytes, format, *page_no).unwrap()).unwrap();
            if page.is_leaf() {
                let leaves = levels.pop().unwrap();
                return (leaves, levels.split_off(1).concat());
            }
            innoscan_format::tree::children(&page, &layout, &mut below).unwrap();
        }
        levels.push(below);
    }
}

fn layout_of(table: &Table) -> Layout {
    Layout::compile(&table.def, RowFormat::Dynamic, None).unwrap()
}

fn leaves(table: &Table) -> Vec<PageNo> {
    walk(table).0
}

/// A copy of MySQL's file, changed. Pages are sealed with the checksum that is none.
struct Copy {
    dir: tempfile::TempDir,
    bytes: Vec<u8>,
}

impl Copy {
    fn new() -> Copy {
        let bytes = std::fs::read(fixture(MYSQL).join("tree.ibd")).unwrap();
        Copy { dir: tempfile::tempdir().unwrap(), bytes }
    }

    fn set(&mut self, page: PageNo, offset: usize, bytes: &[u8]) {
        let page = &mut self.bytes[page.0 as usize * PAGE..][..PAGE];
        page[offset..offset + bytes.len()].copy_from_slice(bytes);
        page[..4].copy_from_slice(&0xDEAD_BEEFu32.to_be_bytes());
        page[PAGE - 8..PAGE - 4].copy_from_slice(&0xDEAD_BEEFu32.to_be_bytes());
    }

    /// Leaves read in key order; the same comes of leaves that were sorted.
    fn scan(&self, on_corrupt: OnCorrupt) -> (Vec<u8>, Result<ScanOutcome>) {
        let path = self.dir.path().join("copy.ibd");
        std::fs::write(&path, &self.bytes).unwrap();
        let table = table_of(MYSQL, &path);
        let options = small(50, 2).with(|scan| {
            scan.rows.on_corrupt = on_corrupt;
        });
        let sorting = options.clone().with(|scan| {
            scan.plan.policy = Some(ReadAheadPolicy::Segment);
        });
        let (in_key_order, sorted) = (run(&table, &options, None), run(&table, &sorting, None));
        assert!(in_key_order.0 == sorted.0, "other rows");
        assert_eq!(told(&in_key_order.1), told(&sorted.1));
        in_key_order
    }
}

/// The damage in an outcome, without the neighbouring keys, which depend on the division into tasks.
fn told(outcome: &Result<ScanOutcome>) -> Vec<String> {
    match outcome {
        Ok(outcome) => {
            let one =
                |damage: &Damage| format!("{} {:?} {}", damage.page, damage.lost, damage.error);
            outcome.damage.iter().map(one).collect()
        }
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn a_flipped_bit_in_a_leaf_is_found_and_placed() {
    let (table, expected) = (table(MYSQL), expected(MYSQL));
    let leaf = leaves(&table)[7];
    let mut copy = Copy::new();
    copy.bytes[leaf.0 as usize * PAGE + 2000] ^= 4;
    let (text, outcome) = copy.scan(OnCorrupt::Fail);
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let named = format!("page {leaf})");
    assert!(error.to_string().contains("copy.ibd") && error.to_string().contains(&named));
    assert!(expected.starts_with(&text));
    let (text, outcome) = copy.scan(OnCorrupt::Skip);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.damaged, outcome.damage[0].lost), (1, Lost::Page));
    assert!(is_subset(&text, &expected) && text.len() < expected.len());
}

#[test]
fn a_damaged_branch_page_loses_the_leaves_below_it_alone() {
    let (leaves, branches) = walk(&table(MYSQL));
    assert!(branches.len() >= 2, "three levels");
    let mut copy = Copy::new();
    copy.bytes[branches[1].0 as usize * PAGE + 1000] ^= 1;
    assert_eq!(copy.scan(OnCorrupt::Fail).1.unwrap_err().kind(), ErrorKind::Corrupt);
    let (text, outcome) = copy.scan(OnCorrupt::Skip);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.damaged, outcome.damage[0].page), (1, branches[1]));
    assert!(outcome.leaf_pages > 0 && outcome.leaf_pages < leaves.len() as u64);
    assert!(is_subset(&text, &expected(MYSQL)));
}

#[test]
fn sibling_links_are_held_against_key_order_both_ways() {
    let leaves = leaves(&table(MYSQL));
    for (offset, side) in [(8, "previous"), (12, "next")] {
        let mut copy = Copy::new();
        copy.set(leaves[3], offset, &leaves[9].0.to_be_bytes());
        let error = copy.scan(OnCorrupt::Fail).1.unwrap_err().to_string();
        assert!(error.contains(&format!("{side} sibling is {}", leaves[9])), "{error}");
        // No row depends on it.
        let (text, outcome) = copy.scan(OnCorrupt::Skip);
        assert_eq!(outcome.unwrap().damage[0].lost, Lost::Nothing);
        assert!(text == expected(MYSQL));
    }
}

/// Pointers of every branch page, bent to itself, to the root, to another leaf or past the file: the
/// scan ends, with an error.
#[test]
fn bent_child_pointers_end_in_errors() {
    let table = table(MYSQL);
    let root = table.files[0].open(Direct::Off).unwrap().first_root();
    let (leaves, branches) = walk(&table);
    for &parent in branches.iter().chain([&root]) {
        for &child in branches.iter().chain(&leaves) {
            let Some(at) = pointer_at(&table, parent, child) else { continue };
            for target in [parent, root, leaves[0], PageNo(2), PageNo(1 << 30), PageNo::NULL] {
                if target == child {
                    continue;
                }
                let mut copy = Copy::new();
                copy.set(parent, at, &target.0.to_be_bytes());
                assert!(copy.scan(OnCorrupt::Fail).1.is_err(), "{parent}: {child} -> {target}");
                let (text, outcome) = copy.scan(OnCorrupt::Skip);
                assert!(outcome.unwrap().damaged > 0);
                assert!(is_subset(&text, &expected(MYSQL)));
            }
        }
    }
}

/// The offset of the pointer to a child on a branch page: changing it changes only that child.
fn pointer_at(table: &Table, parent: PageNo, child: PageNo) -> Option<usize> {
    let space = table.files[0].open(Direct::Off).unwrap();
    let children = |copy: &Copy| {
        let bytes = &copy.bytes[parent.0 as usize * PAGE..][..PAGE];
        let page = IndexPage::parse(open_plain(bytes, space.format(), parent)?)?;
        let mut children = Vec::new();
        innoscan_format::tree::children(&page, &layout_of(table), &mut children)?;
        innoscan_format::Result::Ok(children)
    };
    let sound = Copy::new();
    let mut bent = children(&sound).unwrap();
    *bent.iter_mut().find(|page| **page == child)? = PageNo(1);
    (120..PAGE - 16).find(|at| {
        let pointer = child.0.to_be_bytes();
        let is_alike = sound.bytes[parent.0 as usize * PAGE + at..].starts_with(&pointer);
        is_alike && {
            let mut copy = Copy::new();
            copy.set(parent, *at, &1u32.to_be_bytes());
            children(&copy).as_ref() == Ok(&bent)
        }
    })
}

#[test]
fn a_truncated_file_says_at_which_byte() {
    let mut copy = Copy::new();
    let last = *leaves(&table(MYSQL)).iter().max().unwrap();
    copy.bytes.truncate(last.0 as usize * PAGE + 100);
    let error = copy.scan(OnCorrupt::Fail).1.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let end = format!("ends at byte {}", copy.bytes.len());
    assert!(error.to_string().contains(&end), "{error}");
    let (text, outcome) = copy.scan(OnCorrupt::Skip);
    assert!(outcome.unwrap().damaged > 0 && is_subset(&text, &expected(MYSQL)));
}

#[test]
fn a_sink_or_caller_that_fails_ends_the_scan() {
    let table = table(MYSQL);
    let sink = Lines::of(&table);
    let mut batches = 0;
    let outcome = scan(&table, &small(30, 2), &sink, |_| {
        batches += 1;
        if batches == 3 { Err(Error::interrupted()) } else { Ok(()) }
    });
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Interrupted);
    let cancel = Arc::new(AtomicBool::new(true));
    let options = small(30, 2).with(|scan| {
        scan.hooks.cancel = Some(cancel);
    });
    let error = scan(&table, &options, &sink, |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}

#[test]
fn progress_ends_at_the_exact_number_of_leaves() {
    let table = table(MARIADB);
    let leaves = leaves(&table).len() as u64;
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let teller = Arc::clone(&told);
    let progress: Arc<ProgressFn> =
        Arc::new(move |progress: &Progress| teller.lock().unwrap().push(*progress));
    let options = small(100, 2).with(|scan| {
        scan.hooks.progress = Some(progress);
    });
    let outcome = run(&table, &options, None).1.unwrap();
    let last = *told.lock().unwrap().last().unwrap();
    assert_eq!((last.done_leaves, last.total_leaves, last.is_exact), (leaves, leaves, true));
    assert_eq!(outcome.leaf_pages, leaves);
    assert_eq!(outcome.requests, outcome.reads.requests());
}

#[test]
fn read_ahead_asks_for_less_and_uses_all_it_reads() {
    let table = table(MYSQL);
    let with = |read_ahead| {
        let options = small(400, 1).with(|scan| {
            scan.plan.policy = Some(read_ahead);
        });
        run(&table, &options, None).1.unwrap()
    };
    let (none, logical) = (with(ReadAheadPolicy::None), with(ReadAheadPolicy::Logical));
    assert_eq!(none.reads.ahead.requests, 0);
    assert!(logical.requests < none.requests / 2, "{} {}", logical.requests, none.requests);
    assert_eq!(logical.pool.ahead_used, logical.pool.ahead_pages);
    assert_eq!(logical.pool.ahead_pages, logical.leaf_pages);
    assert_eq!((none.rows, logical.rows), (490, 490));
}

/// The rows delivered, and the number of their bytes at each leaf after which a scan may resume.
fn with_places(table: &Table, options: &ScanOptions) -> (Vec<u8>, Vec<(usize, LeafId)>) {
    let (mut text, mut places) = (Vec::new(), Vec::new());
    let engine = options.open_engine().unwrap();
    scan_with_engine(table, options, engine, &Lines::of(table), |batch, end| {
        text.extend_from_slice(&batch);
        places.extend(end.map(|end| (text.len(), end)));
        Ok(())
    })
    .unwrap();
    (text, places)
}

#[test]
fn a_scan_goes_on_after_any_leaf_it_was_told_of() {
    let mut table = table(MYSQL);
    // Two tablespaces, as of a partitioned table.
    table.files.push(table.files[0].clone());
    for read_ahead in POLICIES {
        let options = small(20, 1).with(|scan| {
            scan.plan.policy = Some(read_ahead);
        });
        let (all, places) = with_places(&table, &options);
        assert!(places.len() > 10, "{read_ahead:?}: {}", places.len());
        assert_eq!(places.last().map(|(bytes, _)| *bytes), Some(all.len()));
        for (bytes, place) in places {
            let options = options.clone().with(|scan| {
                scan.rows.after = Some(place);
            });
            let (rest, _) = with_places(&table, &options);
            assert!(rest == all[bytes..], "{read_ahead:?}: after {place:?}");
        }
    }
    let any = small(20, 1).with(|scan| {
        scan.plan.policy = Some(ReadAheadPolicy::Segment);
        scan.rows.order = RowOrder::Any;
    });
    assert_eq!(with_places(&table, &any).1, []);
    let after = Some(LeafId { file: 0, page: PageNo(1) });
    let error = run(
        &table,
        &small(20, 1).with(|scan| {
            scan.rows.after = after;
        }),
        None,
    )
    .1
    .unwrap_err();
    assert!(error.to_string().contains("page 1, after which the scan"), "{error}");
}

/// Damages every page in turn; reading each file by one read gives what reading page by page does.
#[test]
fn small_tables_read_whole_are_as_those_read_page_by_page() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tree.ibd");
    for server in [MYSQL, MARIADB] {
        let sound = std::fs::read(fixture(server).join("tree.ibd")).unwrap();
        let pages = sound.len() / PAGE;
        let table = table_of(server, &path);
        for damaged in 0..=pages {
            let mut bytes = sound.clone();
            match damaged {
                // The last is not whole, and the one before it neither.
                0 => bytes.truncate(sound.len() - 3 * PAGE / 2),
                _ if damaged < pages => bytes[damaged * PAGE + 200] ^= 1,
                _ => {}
            }
            std::fs::write(&path, bytes).unwrap();
            for on_corrupt in [OnCorrupt::Fail, OnCorrupt::Skip] {
                let options = ScanOptions::default().with(|scan| {
                    scan.rows.on_corrupt = on_corrupt;
                    scan.plan.threads = 1;
                });
                let (text, outcome) = run(&table, &options.sized_for(0), None);
                let (whole_text, whole) = run_whole(&table, &options);
                assert!(whole_text == text, "page {damaged}");
                assert_eq!(told(&whole), told(&outcome), "page {damaged}");
                if let (Ok(whole), Ok(outcome)) = (whole, outcome) {
                    assert_eq!((whole.requests, whole.engine), (1, "whole files"));
                    assert_eq!((whole.rows, whole.leaf_pages), (outcome.rows, outcome.leaf_pages));
                    assert_eq!(whole.branch_pages, outcome.branch_pages);
                }
            }
        }
        assert_eq!(run_whole(&table, &ScanOptions::default()).0, expected(server));
    }
}

fn run_whole(table: &Table, options: &ScanOptions) -> (Vec<u8>, Result<ScanOutcome>) {
    let sink = Lines::of(table);
    let mut text = Vec::new();
    let outcome = scan_sized(table, table.size_bytes(), options, &sink, |batch: Vec<u8>, _| {
        text.extend_from_slice(&batch);
        Ok(())
    });
    (text, outcome)
}
