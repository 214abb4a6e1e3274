//! The directory of a killed server in `tests/data/killed`, with what the server said of its tables.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use innoscan_format::Lsn;
use innoscan_format::ddl_log::Action;
use innoscan_format::redo::{HEAD_BYTES, Record, Records, RedoHead, run_len};
use tempfile::TempDir;

use super::checksums;
use super::rows::checksum;

const NAME: &str = "mariadb-10.11-4k";

/// The same of the server whose log consists of blocks.
pub(super) const OF_BLOCKS: &str = "mariadb-10.5.23-4k";

/// The same of a server of MySQL, with an open transaction.
pub(crate) const OF_MYSQL: &str = "mysql-8.0.33-4k";

/// Bytes of a page in it.
const PAGE_BYTES: usize = 4096;

/// The most changes that [`changes`] gives.
const CHANGES: usize = 300;

/// The directory, unpacked.
pub(crate) fn unpacked() -> (TempDir, PathBuf) {
    unpacked_of(NAME)
}

/// The directory of this name, unpacked.
pub(crate) fn unpacked_of(name: &str) -> (TempDir, PathBuf) {
    let archive = crate::tests_dir("data/killed").join(format!("{name}.tar.zst"));
    let bytes = zstd::decode_all(&std::fs::read(archive).unwrap()[..]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut tar = Command::new("tar")
        .args(["-x", "-S", "-C"])
        .arg(dir.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(tar.stdin.as_mut().unwrap(), &bytes).unwrap();
    drop(tar.stdin.take());
    assert!(tar.wait().unwrap().success());
    let root = dir.path().join(name);
    (dir, root)
}

#[test]
fn the_rows_of_a_killed_server_are_read_and_nothing_is_written() {
    for (name, count) in [(NAME, 4), (OF_BLOCKS, 4), (OF_MYSQL, 5)] {
        let (_dir, root) = unpacked_of(name);
        let before = checksums(&root);
        let tables = std::fs::read_to_string(root.join("checksums.tsv")).unwrap();
        for line in tables.lines() {
            let (table, sum) = line.split_once('\t').unwrap();
            assert_eq!(checksum(&root, table), Ok(sum.to_owned()), "{name}: {table}");
        }
        assert_eq!(tables.lines().count(), count);
        assert_eq!(checksums(&root), before);
    }
}

#[test]
fn a_killed_servers_directory_is_checked_and_listed() {
    let (_dir, root) = unpacked();
    let run = |args: &[&str]| {
        let output = crate::parity::command().args(args).arg(&root).output().unwrap();
        let text = [&output.stdout[..], &output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    let (is_sound, text) = run(&["check"]);
    assert!(is_sound && text.contains("sound"), "{text}");
    assert!(text.contains("its server was not shut down; read through the redo log"), "{text}");
    let (is_sound, text) = run(&["tablespaces"]);
    assert!(is_sound && text.contains("faults       0"), "{text}");
    let (is_sound, text) = run(&["ls"]);
    assert!(is_sound && text.contains("d.young"), "{text}");
}

#[test]
fn a_directory_is_judged_once_by_whatever_path_it_is_named() {
    let (dir, root) = unpacked();
    let out = tempfile::tempdir().unwrap();
    let mut dump = crate::parity::command();
    dump.current_dir(dir.path()).arg("dump").arg(root.file_name().unwrap());
    let output = dump.arg("-o").arg(out.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("read through the redo log").count(), 1, "{said}");
}

/// The redo log's head, and the log behind its checkpoint.
pub(crate) fn log() -> Vec<u8> {
    let (_dir, root) = unpacked();
    let log = std::fs::read(root.join("ib_logfile0")).unwrap();
    let RedoHead::Circular(circular) = RedoHead::parse(&log, log.len() as u64).unwrap() else {
        panic!("a log of blocks");
    };
    [&log[..HEAD_BYTES], &log[circular.checkpoint_offset() as usize..]].concat()
}

/// The DDL log of a server that was killed while it altered a table.
pub(crate) fn ddl_log() -> Vec<u8> {
    let archive = crate::tests_dir("data/killed/ddl_recovery.log.zst");
    zstd::decode_all(&std::fs::read(archive).unwrap()[..]).unwrap()
}

#[test]
fn the_unfinished_statement_is_read_from_the_ddl_log() {
    let actions = innoscan_format::ddl_log::unfinished(&ddl_log()).unwrap();
    let [Action::Other, Action::Alter(alter)] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!((&*alter.table.schema, &*alter.table.table), ("d", "t"));
}

/// Pages, each with a run of records that changes it.
pub(crate) fn changes(page_bytes: usize) -> Vec<Vec<u8>> {
    assert_eq!(page_bytes, PAGE_BYTES);
    let (_dir, root) = unpacked();
    let mut spaces = HashMap::new();
    for name in ["ibdata1", "d/dyn.ibd", "d/red.ibd", "d/young.ibd", "d/zip.ibd"] {
        let bytes = std::fs::read(root.join(name)).unwrap();
        spaces.insert(u32::from_be_bytes(bytes[34..38].try_into().unwrap()), bytes);
    }
    let log = log();
    let RedoHead::Circular(circular) = RedoHead::parse(&log, 4 << 20).unwrap() else {
        panic!("a log of blocks");
    };
    let (mut lsn, mut at) = (circular.checkpoint, HEAD_BYTES);
    let mut changes = Vec::new();
    while let Some(mtr) = circular.mini_transaction(&log, at, lsn) {
        let mut records = Records::new(mtr.records);
        while let Some(record) = records.next_record().unwrap() {
            let Record::Page(record) = record else { continue };
            let run = &mtr.records[record.at..];
            let run = &run[..run_len(run).unwrap_or(run.len())];
            let start = record.page.0 as usize * PAGE_BYTES;
            let page =
                spaces.get(&record.space.0).and_then(|bytes| bytes.get(start..start + PAGE_BYTES));
            if let (Some(page), false) = (page, record.is_same_page) {
                changes.push([page, run].concat());
            }
        }
        at += mtr.len;
        lsn = Lsn(lsn.0 + mtr.len as u64);
    }
    let step = (changes.len() / CHANGES).max(1);
    changes.into_iter().step_by(step).collect()
}
