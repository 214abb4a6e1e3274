//! Directories of small files that begin like a server's.

use std::fs;
use std::path::Path;

use innoscan_engine::ErrorKind;
use innoscan_io::heads::HeadMethod;

use super::*;

/// A file that begins like a real one, of another tablespace.
fn file(path: &Path, space: u32, lsn: u64) {
    let real = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/mysql-8.0.33/tree-4k/tree.ibd");
    let mut bytes = fs::read(real).unwrap()[..16384].to_vec();
    bytes[16..24].copy_from_slice(&lsn.to_be_bytes());
    bytes[34..38].copy_from_slice(&space.to_be_bytes());
    bytes[38..42].copy_from_slice(&space.to_be_bytes());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn told(directory: &Path, method: HeadMethod) -> Report {
    let heads = HeadOptions { method, threads: 2, depth: 8, ..HeadOptions::default() };
    let options = CheckOptions { heads, ..CheckOptions::default() };
    check(&[directory.to_owned()], &options, |_| true).unwrap()
}

#[test]
fn whatever_is_wrong_is_found_in_every_way() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for number in 1..200 {
        file(&at(&format!("db{}/t{number}.ibd", number % 7)), number, 1000);
    }
    file(&at("ibdata1"), 0, 1);
    file(&at("undo_001"), 0xffff_ff70, 1);
    file(&at("#innodb_temp/temp_1.ibt"), 9, 1);
    assert!(!told(dir.path(), HeadMethod::Batched).has_faults());

    file(&at("other/copy.ibd"), 17, 2000);
    file(&at("other/older.ibd"), 17, 10);
    fs::write(at("other/empty.ibd"), "").unwrap();
    fs::write(at("other/short.ibd"), "x").unwrap();
    fs::write(at("other/zeroes.ibd"), [0; 16384]).unwrap();
    fs::write(at("other/text.ibd"), "no tablespace".repeat(100)).unwrap();
    fs::create_dir(at("other/directory.ibd")).unwrap();
    std::os::unix::fs::symlink("../db1/t1.ibd", at("other/link.ibd")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("other/broken.ibd")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    file(&elsewhere.path().join("moved.ibd"), 6000, 1);
    std::os::unix::fs::symlink(elsewhere.path(), at("away")).unwrap();
    std::os::unix::fs::symlink("..", at("other/round")).unwrap();
    let name = std::os::unix::ffi::OsStrExt::from_bytes(b"odd \xff\n name.ibd");
    file(&dir.path().join("other").join::<&std::ffi::OsStr>(name), 5000, 1);
    let expected: Vec<String> = [
        "tablespace 17 is claimed by 3 files, the newest first:",
        "away: a symbolic link to",
        "broken.ibd: a symbolic link to nowhere",
        "broken.ibd: the link leads nowhere",
        "empty.ibd: it has no bytes",
        "link.ibd: a symbolic link to ../db1/t1.ibd",
        "round: a symbolic link to ..",
        "short.ibd: the file has 1 bytes",
        "text.ibd: its first page says it is page",
        "zeroes.ibd: page 0 begins with zeroes",
    ]
    .map(str::to_owned)
    .to_vec();
    for method in HeadMethod::ALL {
        let report = told(dir.path(), method);
        assert_eq!((report.tables, report.system, report.undo, report.temporary), (209, 1, 1, 1));
        let said: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), expected.len(), "{method}: {said:#?}");
        for (said, expected) in said.iter().zip(&expected) {
            assert!(said.contains(expected), "{method}: {said}");
        }
        let Finding::Duplicate { files, .. } = &report.findings[0] else { panic!("{said:?}") };
        let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
        assert_eq!(paths, [at("other/copy.ibd"), at("db3/t17.ibd"), at("other/older.ibd")]);
    }
}

#[test]
fn it_ends_when_it_is_told_to() {
    let dir = tempfile::tempdir().unwrap();
    for number in 1..100 {
        file(&dir.path().join(format!("d/t{number}.ibd")), number, 1);
    }
    for method in HeadMethod::ALL {
        let heads = HeadOptions { method, threads: 2, depth: 8, ..HeadOptions::default() };
        let options = CheckOptions { heads, ..CheckOptions::default() };
        let step = |step| !matches!(step, Step::Read(told, _) if told > 10);
        let error = check(&[dir.path().to_owned()], &options, step).unwrap_err();
        assert!(error.kind() == ErrorKind::Interrupted, "{method}: {error}");
    }
    let missing = [dir.path().join("missing")];
    let error = check(&missing, &CheckOptions::default(), |_| true).unwrap_err();
    assert!(error.kind() == ErrorKind::NotFound && error.file() == Some(&*missing[0]), "{error}");
}
