//! Interrupted dumps that are resumed.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use innoscan_engine::scan::RowOrder;
use innoscan_engine::{Error, ErrorKind};
use tempfile::TempDir;

use super::journal::NAME;
use super::tests::{expected, names, table, text};
use super::*;
use crate::sink::shell_tsv::ShellTsvOptions;

/// Two tables whose file is the test's own.
struct Two {
    dir: TempDir,
    tables: [Table; 2],
    options: DumpOptions,
}

impl Two {
    fn new(layout: Layout, format: Format) -> Two {
        let dir = tempfile::tempdir().unwrap();
        let mut tables = [table("shop", "one"), table("shop", "two")];
        for table in &mut tables {
            let path = dir.path().join(format!("{}.ibd", table.def.name));
            fs::copy(&table.files[0].path, &path).unwrap();
            table.files[0].path = path;
        }
        let mut options = DumpOptions::in_layout(layout, format);
        options.chunk_bytes = Some(64 << 10);
        options.scan.plan.threads = 1;
        // Tasks of few leaves, so that files end where leaves do.
        options.scan.plan.memory_bytes = 20 * 4096;
        Two { dir, tables, options }
    }

    fn out(&self) -> std::path::PathBuf {
        self.dir.path().join("out")
    }

    fn dump(&self, options: &DumpOptions, unfinished: Option<InterruptedDump>) -> Result<Summary> {
        let dump = Dump { unfinished, ..Dump::of(&self.tables) };
        to_directory(dump, &self.out(), options, |_| {})
    }

    /// Dumps all but the last file, and gives back the journal.
    fn begin(&self) -> Vec<u8> {
        let confirm: Arc<ConfirmFn> = Arc::new(|| Err(Error::interrupted()));
        let options = DumpOptions { confirm: Some(confirm), ..self.options.clone() };
        let error = self.dump(&options, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        fs::read(self.out().join(NAME)).unwrap()
    }

    /// Restores the directory to its state when the journal had this text.
    fn cut_short(&self, journal: &[u8]) {
        let out = self.out();
        let whole = journal.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(&journal[..whole]).into_owned();
        for name in names(&out) {
            // The files that were made by then were noted.
            if name != NAME && !text.contains(&format!("\"{name}\"")) {
                fs::remove_file(out.join(name)).unwrap();
            }
        }
        fs::write(out.join(NAME), journal).unwrap();
    }

    fn resume(&self, on_change: OnChange) -> Result<Summary> {
        let unfinished = InterruptedDump::open(&self.out(), on_change)?;
        self.dump(&self.options, unfinished)
    }

    /// Rows of each table, in the order of its files, and the names of all files.
    fn content(&self) -> (BTreeMap<String, Vec<u8>>, Vec<String>) {
        let mut rows: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let names = names(&self.out());
        for name in &names {
            let bytes = fs::read(self.out().join(name)).unwrap();
            if name.ends_with(".zst") {
                let table = if name.contains("one") { "one" } else { "two" };
                let plain = zstd::decode_all(&bytes[..]).unwrap();
                rows.entry(table.to_owned()).or_default().extend(plain);
            }
        }
        (rows, names)
    }
}

fn sql() -> Format {
    Format::default()
}

#[test]
fn wherever_it_was_cut_short_it_ends_as_if_it_had_not_been() {
    let shell = Format::ShellTsv(ShellTsvOptions);
    for (layout, format) in [(Layout::MyDumper, sql()), (Layout::MySqlShell, shell)] {
        let two = Two::new(layout, format);
        let whole = two.dump(&two.options, None).unwrap();
        let expected = two.content();
        let facts = |summary: &Summary| {
            let of = |table: &TableOutcome| {
                (table.rows, table.plain_bytes, table.checksum, table.files.clone())
            };
            summary.tables.iter().map(of).collect::<Vec<_>>()
        };
        fs::remove_dir_all(two.out()).unwrap();
        let journal = two.begin();
        let lines = (0..journal.len()).filter(|&at| journal[at] == b'\n');
        let ends: Vec<usize> = lines.flat_map(|line| [line, line + 1]).collect();
        assert!(ends.len() > 30, "{}", ends.len());
        let mut kept_most = 0;
        for end in ends {
            two.cut_short(&journal[..end]);
            let summary = two.resume(OnChange::Refuse).unwrap();
            assert!(two.content() == expected, "{layout:?}, {end} bytes");
            assert_eq!(facts(&summary), facts(&whole), "{layout:?}, {end} bytes");
            kept_most = summary.tables.iter().map(|table| table.kept_files).sum();
            fs::remove_dir_all(two.out()).unwrap();
            two.begin();
        }
        assert_eq!(kept_most, expected.1.iter().filter(|name| name.ends_with(".zst")).count());
    }
}

#[test]
fn files_that_are_not_as_they_were_written_are_dumped_anew() {
    let two = Two::new(Layout::MyDumper, sql());
    two.dump(&two.options, None).unwrap();
    let expected = two.content();
    type Spoil = fn(&Path);
    let spoil: [(&str, Spoil); 3] = [
        ("its checksum", |path| {
            let mut bytes = fs::read(path).unwrap();
            bytes[20] ^= 1;
            fs::write(path, bytes).unwrap();
        }),
        ("were written", |path| fs::write(path, b"short").unwrap()),
        ("it is missing", |path| fs::remove_file(path).unwrap()),
    ];
    for (wrong, spoil) in spoil {
        fs::remove_dir_all(two.out()).unwrap();
        two.begin();
        spoil(&two.out().join("shop.one.00001.sql.zst"));
        let unfinished = InterruptedDump::open(&two.out(), OnChange::Refuse).unwrap().unwrap();
        let [(file, said)] = unfinished.spoiled() else { panic!("one file") };
        assert!(file == "shop.one.00001.sql.zst" && said.contains(wrong), "{said}");
        let summary = two.dump(&two.options, Some(unfinished)).unwrap();
        assert_eq!(summary.tables[0].kept_files, 1);
        assert!(two.content() == expected);
    }
}

#[test]
fn what_is_done_of_a_table_that_changed_is_not_kept() {
    let mut two = Two::new(Layout::MyDumper, sql());
    two.begin();
    let ibd = two.tables[0].files[0].path.clone();
    let bytes = fs::read(&ibd).unwrap();
    fs::write(&ibd, &bytes).unwrap();
    let error = two.resume(OnChange::Refuse).unwrap_err().to_string();
    assert!(
        error.contains("some files of shop.one are finished, but its files have been written to"),
        "{error}"
    );
    let summary = two.resume(OnChange::Redo).unwrap();
    let kept: Vec<bool> = summary.tables.iter().map(|table| table.kept_files > 0).collect();
    assert_eq!(kept, [false, true]);
    let error = two.resume(OnChange::Redo).unwrap_err().to_string();
    assert!(error.contains("there is no interrupted dump in it"), "{error}");

    fs::remove_dir_all(two.out()).unwrap();
    two.begin();
    two.tables[1].def.columns[0].name.push('x');
    let error = two.resume(OnChange::Refuse).unwrap_err().to_string();
    assert!(
        error.contains("some files of shop.two are finished, but its definition has changed"),
        "{error}"
    );
    two.tables[1].def.name = "three".to_owned();
    let error = two.resume(OnChange::Refuse).unwrap_err().to_string();
    assert!(error.contains("it is not selected by the current options"), "{error}");
    two.resume(OnChange::Redo).unwrap();
    assert!(!names(&two.out()).iter().any(|name| name.starts_with("shop.two")));
}

#[test]
fn it_is_gone_on_with_in_the_same_way_and_place() {
    let two = Two::new(Layout::MyDumper, sql());
    let error = InterruptedDump::open(Path::new("/"), OnChange::Redo).unwrap_err().to_string();
    assert!(error.contains("there is no interrupted dump in it"), "{error}");
    assert!(InterruptedDump::open(&two.out(), OnChange::Redo).unwrap().is_none());
    two.begin();
    let error = two.dump(&two.options, None).unwrap_err().to_string();
    assert!(error.contains("resume the dump with the same options"), "{error}");
    let open = || InterruptedDump::open(&two.out(), OnChange::Redo).unwrap();
    let options = DumpOptions { drop_tables: true, ..two.options.clone() };
    let error = two.dump(&options, open()).unwrap_err().to_string();
    assert!(error.contains("its drop tables was off, and is now on"), "{error}");
    fs::write(two.out().join("shop.other.00000.sql"), "").unwrap();
    let error = two.dump(&two.options, open()).unwrap_err().to_string();
    assert!(error.contains("`shop.other.00000.sql` in it does not belong to the dump"), "{error}");
    fs::remove_file(two.out().join("shop.other.00000.sql")).unwrap();
    two.dump(&two.options, open()).unwrap();
}

#[test]
fn rows_in_any_order_are_kept_by_whole_tables() {
    let mut two = Two::new(Layout::Files, text().format);
    two.options.chunk_bytes = Some(64 << 10);
    two.options.scan.rows.order = RowOrder::Any;
    two.options.scan.plan.policy = Some(innoscan_engine::ahead::ReadAheadPolicy::Segment);
    let journal = two.begin();
    let chunk = b"\"chunk\"";
    let last = journal.windows(chunk.len()).rposition(|window| window == chunk).unwrap();
    two.cut_short(&journal[..last]);
    let summary = two.resume(OnChange::Refuse).unwrap();
    let kept: Vec<bool> = summary.tables.iter().map(|table| table.kept_files > 0).collect();
    assert_eq!(kept, [true, false]);
    let rows = expected().split(|&byte| byte == b'\n').count() as u64 - 1;
    assert!(summary.tables.iter().all(|table| table.rows == rows));
}
