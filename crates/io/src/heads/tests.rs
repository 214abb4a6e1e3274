//! Every method reads the same heads.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::*;

/// Creates files of many sizes, and returns them with a missing one, a directory, and a link to
/// itself.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for (number, bytes) in
        [0, 1, 100, 4095, 4096, 4097, 16384, 70_000].repeat(40).iter().enumerate()
    {
        let path = dir.join(format!("f{number}"));
        std::fs::write(&path, content(number, *bytes)).unwrap();
        paths.push(path);
    }
    paths.push(dir.join("missing"));
    std::fs::create_dir(dir.join("directory")).unwrap();
    paths.push(dir.join("directory"));
    std::os::unix::fs::symlink(dir.join("loop"), dir.join("loop")).unwrap();
    paths.push(dir.join("loop"));
    paths
}

fn content(number: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 31 + number) as u8).collect()
}

fn heads(
    options: &HeadOptions,
    paths: &[PathBuf],
) -> (HeadCounters, BTreeMap<u64, std::result::Result<Vec<u8>, i32>>) {
    let mut wanted = paths.iter().enumerate().map(|(token, path)| HeadFile {
        token: token as u64,
        path: CString::new(path.as_os_str().as_bytes()).unwrap(),
    });
    let mut told = BTreeMap::new();
    let mut take = |token: u64, head: io::Result<&[u8]>| {
        let head = head.map(<[u8]>::to_vec).map_err(|error| error.raw_os_error().unwrap());
        assert!(told.insert(token, head).is_none(), "{token} was told twice");
        true
    };
    let counters = read_heads(options, &mut wanted, &mut take).unwrap();
    (counters, told)
}

#[test]
fn every_way_gives_every_head_once() {
    let on_disk = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let in_memory = tempfile::tempdir_in("/dev/shm").unwrap();
    for dir in [on_disk.path(), in_memory.path()] {
        let paths = files(dir);
        for method in HeadMethod::ALL {
            for (threads, depth) in [(1, 1), (3, 7), (8, 512)] {
                let options = HeadOptions { method, threads, depth, ..HeadOptions::default() };
                let (counters, told) = heads(&options, &paths);
                assert_eq!(told.len(), paths.len(), "{options:?}");
                for (token, path) in paths.iter().enumerate() {
                    let head = &told[&(token as u64)];
                    match std::fs::read(path) {
                        Ok(content) => {
                            let expected = &content[..content.len().min(HEAD_BYTES)];
                            assert_eq!(head.as_deref(), Ok(expected), "{options:?} {token}");
                        }
                        Err(error) => {
                            assert_eq!(
                                head,
                                &Err(error.raw_os_error().unwrap()),
                                "{options:?} {token}"
                            );
                        }
                    }
                }
                // The directory can be opened, but not read.
                assert!(counters.files >= 320 && counters.files <= 321, "{counters:?}");
            }
        }
    }
}

#[test]
fn a_caller_that_has_enough_is_told_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let paths = files(dir.path());
    for method in HeadMethod::ALL {
        let mut wanted = paths.iter().map(|path| HeadFile {
            token: 0,
            path: CString::new(path.as_os_str().as_bytes()).unwrap(),
        });
        let mut told = 0;
        let mut take = |_: u64, _: io::Result<&[u8]>| {
            told += 1;
            told < 5
        };
        let options = HeadOptions { method, threads: 2, depth: 16, ..HeadOptions::default() };
        read_heads(&options, &mut wanted, &mut take).unwrap();
        assert_eq!(told, 5, "{method}");
    }
}

#[test]
fn latency_is_waited_for_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let paths = files(dir.path());
    let latency = Duration::from_millis(20);
    let took = |method, threads, depth| {
        let begun = Instant::now();
        heads(&HeadOptions { method, threads, depth, latency }, &paths);
        begun.elapsed()
    };
    // 320 readable files: at least this long where few are in flight at once.
    assert!(took(HeadMethod::Batched, 0, 32) >= latency * 10);
    assert!(took(HeadMethod::Light, 32, 0) >= latency * 10);
}
