//! Damage by seed: nothing panics, nothing hangs, and no row is wrong without an error.
//!
//! `INNOSCAN_DAMAGE_CASES` says how many cases each file gets.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use innoscan_engine::keys::{FoundKeys, Keys};
use innoscan_engine::scan::{OnCorrupt, ScanOptions, scan};
use innoscan_engine::{RowSink, Table, TableFile};
use innoscan_format::PageNo;
use innoscan_format::keys::Keys as PageKeys;
use innoscan_format::schema::{ServerVersion, TableDef, from_create_table};
use innoscan_io::{Direct, EngineKind};
use innoscan_testkit::damage::Random;
use innoscan_testkit::fixture::Fixture;
use innoscan_testkit::tablespace::{Consequence, damage_file};
use innoscan_tools::check::{Checker, Known};
use innoscan_tools::inspect::{self, InspectOptions};

use crate::check::{Head, index_of, layout_of};

/// Cases for each file, unless `INNOSCAN_DAMAGE_CASES` says otherwise (`make test-all`: 3000).
const CASES: u64 = 150;
/// A case that takes longer goes on for ever.
const CASE_SECONDS: u64 = 30;

/// Keeps a hash of each row.
pub(crate) struct Hashes;

impl RowSink for Hashes {
    type Batch = Vec<u64>;

    fn new_batch(&self) -> Vec<u64> {
        Vec::new()
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Vec<u64>) -> innoscan_engine::Result<()> {
        let mut hasher = DefaultHasher::new();
        row.hash(&mut hasher);
        batch.push(hasher.finish());
        Ok(())
    }
}

/// The rows that came, and whether anything was reported.
fn rows(
    path: &Path,
    def: &TableDef,
    keys: &Keys,
    on_corrupt: OnCorrupt,
) -> (Vec<u64>, Result<u64, String>) {
    let table =
        Table::new(def.clone(), vec![TableFile::whole(path.to_owned()).with_keys(keys.clone())]);
    let options = ScanOptions::default().with(|scan| {
        scan.plan.memory_bytes = 1 << 20;
        scan.plan.threads = 2;
        scan.io.direct = Direct::Off;
        scan.io.engine = EngineKind::Pread;
        scan.io.depth = 2;
        scan.rows.on_corrupt = on_corrupt;
    });
    let mut rows = Vec::new();
    let scanned = scan(&table, &options, &Hashes, |batch| {
        rows.extend(batch);
        Ok(())
    });
    (rows, scanned.map(|outcome| outcome.damaged).map_err(|error| error.to_string()))
}

/// Whether `part` is `whole` with some rows left out.
fn is_subsequence(part: &[u64], whole: &[u64]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|row| whole.any(|other| other == row))
}

/// Ends the process when a case does not.
pub fn watch(case: &Arc<AtomicU64>, name: &'static str) {
    let case = Arc::clone(case);
    std::thread::spawn(move || {
        loop {
            let before = case.load(Ordering::Relaxed);
            std::thread::sleep(Duration::from_secs(CASE_SECONDS));
            let after = case.load(Ordering::Relaxed);
            if after == u64::MAX {
                return;
            }
            if before == after {
                eprintln!("{name}: case {after} does not end");
                std::process::abort();
            }
        }
    });
}

/// The keys of an encrypted table, in both forms in which they are used.
struct Encrypted {
    pages: PageKeys,
    files: Keys,
}

impl Encrypted {
    fn of(name: &str) -> Encrypted {
        let (is_encrypted, is_mysql) = (name.starts_with("encrypted-"), name.contains("mysql"));
        let read = move || {
            let mut keys = PageKeys::default();
            let directory = crate::tests_dir("data/damage");
            let file = |name: &str| std::fs::read(directory.join(name)).unwrap();
            match (is_encrypted, is_mysql) {
                (false, _) => {}
                (true, true) => keys.add_keyring(&file("mysql.keyring")).unwrap(),
                (true, false) => keys.add_key_file(&file("mariadb.keys"), None).unwrap(),
            }
            keys
        };
        let files = Keys::new(move || FoundKeys { keys: read(), ..FoundKeys::default() });
        Encrypted { pages: read(), files }
    }
}

/// A sound file and its definition.
pub fn sound(name: &str, server: u32) -> (Vec<u8>, TableDef) {
    let fixture = Fixture::unpack(&format!("damage/{name}"));
    let bytes = std::fs::read(&fixture.file).unwrap();
    let def = from_create_table(&fixture.create_sql, ServerVersion::from_number(server)).unwrap();
    (bytes, def)
}

fn run(name: &'static str, server: u32, n_rows: usize) {
    let (sound, def) = sound(name, server);
    let keys = Encrypted::of(name);
    let header = Head::parse(&sound, &keys.pages).unwrap();
    let layout = layout_of(&sound, &header, &def).unwrap();
    let index = index_of(&sound, &header);
    let known = Known { table: None, def: &def, layout: &layout, index };

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows_.ibd");
    std::fs::write(&path, &sound).unwrap();
    let (originals, outcome) = rows(&path, &def, &keys.files, OnCorrupt::Fail);
    assert_eq!((originals.len(), outcome), (n_rows, Ok(0)));
    assert!(check(&sound, &header, known), "{name}: check finds the sound file unsound");

    let cases = std::env::var("INNOSCAN_DAMAGE_CASES").ok().and_then(|cases| cases.parse().ok());
    let running = Arc::new(AtomicU64::new(0));
    watch(&running, name);
    let mut errors = 0;
    for seed in 0..cases.unwrap_or(CASES) {
        running.store(seed, Ordering::Relaxed);
        let mut random = Random::new(seed);
        let mut bytes = sound.clone();
        let (what, consequence) = damage_file(&mut bytes, header.page_format(), &mut random);
        let place = format!("{name}, case {seed}: {what}");
        std::fs::write(&path, &bytes).unwrap();
        let case = || case(&path, &bytes, &def, &keys, known, &originals, consequence);
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(case)) {
            Ok(Ok(reported)) => errors += u64::from(reported),
            Ok(Err(wrong)) => panic!("{place}: {wrong}"),
            Err(_) => panic!("{place}: a panic, see above"),
        }
    }
    running.store(u64::MAX, Ordering::Relaxed);
    println!("{name}: {errors} cases were reported");
}

/// Everything that reads the file; whether the scan reported anything.
fn case(
    path: &Path,
    bytes: &[u8],
    def: &TableDef,
    keys: &Encrypted,
    known: Known<'_>,
    originals: &[u64],
    consequence: Consequence,
) -> Result<bool, String> {
    let (failed_rows, failed) = rows(path, def, &keys.files, OnCorrupt::Fail);
    let (skipped_rows, skipped) = rows(path, def, &keys.files, OnCorrupt::Skip);
    let reported = failed.is_err();
    if consequence == Consequence::Detectable {
        if !originals.starts_with(&failed_rows) {
            return Err(format!("wrong rows before the error {failed:?}"));
        }
        if !reported && failed_rows != originals {
            return Err("rows are missing without an error".into());
        }
        if !is_subsequence(&skipped_rows, originals) {
            return Err(format!("wrong rows among those not skipped: {skipped:?}"));
        }
        if skipped == Ok(0) && skipped_rows != originals {
            return Err("rows were skipped and not counted".into());
        }
    }
    let Ok(header) = Head::parse(bytes, &keys.pages) else { return Ok(reported) };
    let sound = check(bytes, &header, known);
    if reported && sound && consequence == Consequence::Detectable {
        return Err(format!("the scan says {failed:?}, check finds nothing"));
    }
    for (page_no, page) in bytes.chunks(header.page_context().physical_bytes()).enumerate() {
        let page_no = PageNo(page_no as u32);
        let text = inspect::page(
            page,
            &header,
            header.page_context(),
            page_no,
            &[known],
            InspectOptions::default(),
        );
        if text.len() > 1 << 20 {
            return Err(format!("page {page_no} is described in {} bytes", text.len()));
        }
    }
    Ok(reported)
}

fn check(bytes: &[u8], header: &Head, known: Known<'_>) -> bool {
    let mut checker = Checker::new(header, header.page_context(), bytes.len() as u64, &[known]);
    for (page_no, page) in bytes.chunks_exact(header.page_context().physical_bytes()).enumerate() {
        if checker.add(PageNo(page_no as u32), page).is_err() {
            return false;
        }
    }
    checker.finish().is_sound()
}

#[test]
fn a_dynamic_table_of_mariadb() {
    run("mariadb-10.11", 101_119, 697);
}

#[test]
fn a_compact_table_of_mysql_8() {
    run("mysql-8.0.33", 80_033, 697);
}

#[test]
fn a_redundant_table_of_mysql_5_6() {
    run("mysql-5.6.24", 50_624, 697);
}

#[test]
fn a_compressed_table_of_mariadb() {
    run("zip-mariadb-10.11", 101_119, 721);
}

#[test]
fn a_compressed_table_of_mysql_8() {
    run("zip-mysql-8.0.33", 80_033, 721);
}

#[test]
fn compressed_pages_of_mariadb() {
    run("pages-mariadb-10.11", 101_119, 721);
}

#[test]
fn compressed_pages_of_mariadb_without_full_crc32() {
    run("pages-mariadb-10.11-crc32", 101_119, 721);
}

#[test]
fn compressed_pages_of_mysql_8() {
    run("pages-mysql-8.0.33", 80_033, 721);
}

#[test]
fn encrypted_pages_of_mariadb() {
    run("encrypted-mariadb-10.11", 101_119, 721);
}

#[test]
fn encrypted_and_compressed_pages_of_mariadb_without_full_crc32() {
    run("encrypted-pages-mariadb-10.11-crc32", 101_119, 721);
}

#[test]
fn encrypted_pages_of_mysql_8() {
    run("encrypted-mysql-8.0.33", 80_033, 721);
}

#[test]
fn an_encrypted_compressed_table_of_mysql_8() {
    run("encrypted-zip-mysql-8.0.33", 80_033, 721);
}
