//! All engines on the same file: the same bytes, the same errors.

use std::sync::Arc;

use super::memory::{Memory, Script};
use super::*;
use crate::{Direct, File, Kind, ReadError, Slab};

const FRAME: usize = 4096;

/// Creates a file of `pages` pages, each filled with its number.
fn numbered(dir: &tempfile::TempDir, pages: u32, extra_bytes: usize) -> std::path::PathBuf {
    let path = dir.path().join("numbered");
    let mut bytes = Vec::new();
    for page in 0..pages {
        bytes.extend(page.to_le_bytes().repeat(FRAME / 4));
    }
    bytes.extend(std::iter::repeat_n(0xee, extra_bytes));
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Copies the pages of a file into several, each from one of the numbers to the next.
fn cut(path: &std::path::Path, ends: &[usize]) -> Vec<std::path::PathBuf> {
    let bytes = std::fs::read(path).unwrap();
    let pieces = ends.windows(2).map(|ends| {
        let piece = path.with_extension(ends[0].to_string());
        std::fs::write(&piece, &bytes[ends[0] * FRAME..ends[1] * FRAME]).unwrap();
        piece
    });
    pieces.collect()
}

fn engines() -> Vec<Box<dyn Engine>> {
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(pread::Pread::new(5).unwrap())];
    for seed in 0..50 {
        let script = Script { short: 100, interrupted: 60, ..Script::reordering(seed) };
        engines.push(Box::new(Memory::new(script)));
    }
    let memory = Box::new(Memory::new(Script::reordering(50)));
    engines.push(Box::new(throttled::Throttled::new(
        memory,
        throttled::ThrottledReads::All,
        "iops=20000,latency=1ms".parse().unwrap(),
        throttled::Pauses::default(),
    )));
    // Where the kernel does not permit io_uring there is nothing to test.
    if let Ok(ring) = uring::Uring::new(7) {
        engines.push(Box::new(ring));
    }
    engines
}

/// Reads runs of pages, with as many reads in flight as possible.
fn read_all(
    engine: &mut dyn Engine,
    file: &Arc<File>,
    slab: &Slab,
    runs: &[(u32, usize)],
) -> Vec<Completion> {
    let mut over = Vec::new();
    let mut next = 0;
    while over.len() < runs.len() {
        while next < runs.len() && engine.in_flight() < engine.depth() {
            let (first, count) = runs[next];
            engine.push(Read {
                token: next as u64,
                file: Arc::clone(file),
                offset: u64::from(first) * FRAME as u64,
                frames: (0..count).map(|_| slab.take().unwrap()).collect(),
                kind: Kind::Ahead,
            });
            next += 1;
        }
        engine.poll(Wait::UntilSomething, &mut over).unwrap();
    }
    over.sort_by_key(|completion| completion.token);
    over
}

#[test]
fn every_engine_brings_the_bytes_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = numbered(&dir, 64, 0);
    let runs: Vec<(u32, usize)> = (0..40).map(|n| (n * 37 % 60, 1 + n as usize % 4)).collect();
    let joined = cut(&path, &[0, 5, 6, 30, 64]);
    let open =
        |direct| [File::open(&path, direct).unwrap(), File::open_joined(&joined, direct).unwrap()];
    for file in [Direct::Off, Direct::Optional].into_iter().flat_map(open) {
        let file = Arc::new(file);
        for mut engine in engines() {
            let slab = Slab::new(200, FRAME).unwrap();
            let mut shuffled: Vec<_> = (0..200).map(|_| slab.take().unwrap()).collect();
            shuffled.rotate_left(77);
            drop(shuffled);
            let over = read_all(engine.as_mut(), &file, &slab, &runs);
            for (done, (first, count)) in over.iter().zip(&runs) {
                assert_eq!((done.error, done.good_bytes), (None, count * FRAME));
                for (page, frame) in (*first..).zip(&done.frames) {
                    assert!(frame.chunks(4).all(|four| four == page.to_le_bytes()));
                }
            }
            assert_eq!(engine.in_flight(), 0);
        }
    }
}

#[test]
fn every_engine_names_the_byte_where_a_file_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = numbered(&dir, 3, 1000);
    for direct in [Direct::Off, Direct::Optional] {
        let file = Arc::new(File::open(&path, direct).unwrap());
        for mut engine in engines() {
            let slab = Slab::new(8, FRAME).unwrap();
            let over = read_all(engine.as_mut(), &file, &slab, &[(2, 3), (5, 1)]);
            let at_byte = 3 * FRAME as u64 + 1000;
            assert_eq!(over[0].error, Some(ReadError::EndOfFile { at_byte }));
            assert_eq!(over[0].good_bytes, FRAME + 1000);
            assert!(over[0].frames[0].chunks(4).all(|four| four == 2u32.to_le_bytes()));
            assert!(matches!(over[1].error, Some(ReadError::EndOfFile { .. })));
        }
    }
}

#[test]
fn a_wait_lasts_no_longer_than_it_may() {
    for mut engine in engines() {
        let until = Instant::now() + std::time::Duration::from_millis(5);
        let mut done = Vec::new();
        engine.poll(Wait::Until(until), &mut done).unwrap();
        assert!(done.is_empty() && Instant::now() >= until, "{}", engine.name());
    }
}

#[test]
fn a_wake_ends_the_wait_even_when_it_came_first() {
    for mut engine in engines() {
        let waker = engine.waker();
        waker.wake();
        engine.poll(Wait::No, &mut Vec::new()).unwrap();
        engine.poll(Wait::UntilSomething, &mut Vec::new()).unwrap();
        let late = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(1));
            waker.wake();
        });
        engine.poll(Wait::UntilSomething, &mut Vec::new()).unwrap();
        late.join().unwrap();
    }
}

#[test]
fn frames_come_back_when_an_engine_is_dropped_while_reading() {
    let dir = tempfile::tempdir().unwrap();
    let file = Arc::new(File::open(&numbered(&dir, 64, 0), Direct::Optional).unwrap());
    for mut engine in engines() {
        let slab = Slab::new(16, FRAME).unwrap();
        for token in 0..3 {
            let frames = (0..4).map(|_| slab.take().unwrap()).collect();
            let (file, offset) = (Arc::clone(&file), token * 16384);
            engine.push(Read { token, file, offset, frames, kind: Kind::Demand });
        }
        engine.submit().unwrap();
        drop(engine);
        assert_eq!(slab.free_frames(), 16);
    }
}

#[test]
fn bad_places_fail_every_time_and_what_is_before_them_is_good() {
    let file = Arc::new(File::memory("bad", vec![5; 8 * FRAME]));
    let page = FRAME as u64;
    let mut script = Script::reordering(1);
    script.bad.push(3 * page..4 * page);
    let mut engine = Memory::new(script);
    let slab = Slab::new(16, FRAME).unwrap();
    let over = read_all(&mut engine, &file, &slab, &[(1, 4), (3, 1), (4, 4)]);
    assert!(
        matches!(over[0].error, Some(ReadError::Device { at_byte, .. }) if at_byte == 3 * page)
    );
    assert_eq!(over[0].good_bytes, 2 * FRAME);
    assert_eq!((over[1].good_bytes, over[2].error), (0, None));
}
