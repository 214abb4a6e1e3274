use std::time::Duration;

use innoscan_io::engine::memory::{Memory, Script};

use super::*;
use crate::ErrorKind;

const PAGE: usize = 4096;

fn pool(frames: usize, script: Script) -> (Pool, FileSlot) {
    let bytes: Vec<u8> = (0..64u8).flat_map(|page| [page; PAGE]).collect();
    let engine = Box::new(Memory::new(script));
    let mut pool = Pool::new(frames, PAGE, engine, PoolOptions::default()).unwrap();
    let file = pool.add_file(Arc::new(File::memory("t.ibd", bytes)), None);
    (pool, file)
}

fn numbers(pages: &[u32]) -> Vec<PageNo> {
    pages.iter().copied().map(PageNo).collect()
}

fn drain(pool: &mut Pool) {
    while pool.is_reading() {
        pool.poll(Wait::UntilSomething).unwrap();
    }
}

#[test]
fn reads_over_gaps_keeps_what_was_named_and_counts_its_use() {
    let (mut pool, file) = pool(16, Script::reordering(1));
    assert_eq!(pool.read(file, &numbers(&[3, 4, 7]), Kind::Ahead), 3);
    drain(&mut pool);
    assert_eq!(pool.free_frames(), 13);
    assert_eq!(pool.counters().requests(), 1);
    assert_eq!(pool.counters().read_bytes(), 5 * PAGE as u64);
    let key = |page| PageKey { file, page: PageNo(page) };
    assert!(matches!(pool.lookup(key(5)), Lookup::Absent));
    assert_eq!(pool.get(key(7)).unwrap()[0], 7);
    assert_eq!(pool.take(key(7)).unwrap().unwrap()[0], 7);
    assert!(pool.evict(key(3)) && !pool.evict(key(3)));
    let stats = pool.stats();
    assert_eq!((stats.ahead_pages, stats.gap_pages), (3, 2));
    assert_eq!((stats.ahead_used, stats.ahead_evicted), (1, 1));
}

#[test]
fn small_pages_are_read_by_blocks_and_kept_one_by_one() {
    const SMALL: usize = 1024;
    let bytes: Vec<u8> = (0..63u8).flat_map(|page| [page; SMALL]).collect();
    let engine = Box::new(Memory::new(Script::reordering(5)));
    let mut pool = Pool::new(4, SMALL, engine, PoolOptions::default()).unwrap();
    let file = pool.add_file(Arc::new(File::memory("t.ibd", bytes)), None);
    let key = |page| PageKey { file, page: PageNo(page) };
    assert_eq!(pool.read(file, &numbers(&[6, 7, 8]), Kind::Ahead), 3);
    drain(&mut pool);
    assert_eq!((pool.counters().requests(), pool.counters().read_bytes()), (1, 8192));
    assert_eq!((pool.stats().gap_pages, pool.free_frames()), (5, 2));
    // The frame of pages 6 and 7 is free when both are gone.
    let six = pool.take(key(6)).unwrap().unwrap();
    assert_eq!((&*six, pool.free_frames()), (&[6; SMALL][..], 2));
    assert!(pool.evict(key(7)));
    assert_eq!(pool.free_frames(), 2);
    drop(six);
    assert_eq!(pool.free_frames(), 3);
    // All pages of a block are evicted before its frame is free.
    pool.read(file, &numbers(&[0, 1, 2, 3]), Kind::Demand);
    pool.read(file, &numbers(&[13, 14]), Kind::Demand);
    drain(&mut pool);
    for page in [0, 1, 2, 3, 13, 14] {
        pool.get(key(page)).unwrap();
    }
    assert!(pool.evict_any() && pool.evict_any());
    let held = pool.wait_for(key(9), Retention::Keep).unwrap();
    assert_eq!(held[0], 9);
    while pool.evict_any() {}
    assert_eq!(pool.free_frames(), 3);
    // The last block of a file whose size is not a multiple of the block size.
    assert_eq!(pool.wait_for(key(62), Retention::Keep).unwrap()[0], 62);
    let error = pool.wait_for(key(63), Retention::Keep).unwrap_err();
    assert!(error.kind() == ErrorKind::Corrupt, "{error}");
}

#[test]
fn runs_are_given_in_their_order() {
    let mut script = Script::reordering(6);
    script.bad.push(9 * PAGE as u64..10 * PAGE as u64);
    let (mut pool, file) = pool(6, script);
    let runs = [vec![40, 41], vec![8, 9, 11], vec![3], (20..30).collect()];
    let wanted: Vec<u32> = runs.concat();
    let mut reader =
        RunReader::new(file, Kind::Ahead, runs.iter().map(|run: &Vec<u32>| numbers(run)));
    let mut read = Vec::new();
    while let Some((page, bytes)) = reader.next(&mut pool) {
        match bytes {
            Ok(bytes) => assert_eq!(u32::from(bytes[0]), page.0),
            Err(error) => assert!(page.0 == 9 && error.to_string().contains("page 9"), "{error}"),
        }
        read.push(page.0);
    }
    assert_eq!((read, pool.free_frames()), (wanted, 6));
}

#[test]
fn pages_already_here_split_a_run() {
    let (mut pool, file) = pool(16, Script::reordering(2));
    pool.wait_for(PageKey { file, page: PageNo(5) }, Retention::Keep).unwrap();
    assert_eq!(pool.read(file, &numbers(&[4, 5, 6, 7]), Kind::Ahead), 4);
    drain(&mut pool);
    assert_eq!(pool.counters().ahead.requests, 2);
    assert_eq!(pool.counters().ahead.read_bytes, 3 * PAGE as u64);
}

#[test]
fn a_full_slab_or_engine_takes_part_of_a_run() {
    let (mut pool, file) = pool(3, Script { depth: 2, ..Script::reordering(3) });
    assert_eq!(pool.read(file, &numbers(&[1, 2, 3, 4]), Kind::Ahead), 3);
    assert_eq!(pool.read(file, &numbers(&[9]), Kind::Ahead), 0);
    drain(&mut pool);
    let page = pool.wait_for(PageKey { file, page: PageNo(9) }, Retention::Keep).unwrap();
    assert_eq!(page[0], 9);
}

#[test]
fn a_failed_run_is_dropped_and_a_failed_page_says_why() {
    let mut script = Script::reordering(4);
    script.bad.push(5 * PAGE as u64..6 * PAGE as u64);
    let (mut pool, file) = pool(16, script);
    pool.read(file, &numbers(&[4, 5, 6]), Kind::Ahead);
    drain(&mut pool);
    let key = |page| PageKey { file, page: PageNo(page) };
    assert!(matches!(pool.lookup(key(4)), Lookup::Resident));
    assert!(matches!(pool.lookup(key(6)), Lookup::Absent));
    assert_eq!(pool.wait_for(key(6), Retention::Keep).unwrap()[0], 6);
    let error = pool.wait_for(key(5), Retention::Keep).unwrap_err();
    assert!(error.to_string().contains("page 5 at byte 20480"), "{error}");
    let error = pool.wait_for(key(64), Retention::Keep).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Corrupt && error.to_string().contains("ends at byte 262144")
    );
    assert_eq!(pool.free_frames(), 14);
}

fn keeping(frames: usize, old_blocks_time: Duration) -> (Pool, FileSlot) {
    let bytes: Vec<u8> = (0..3000u32).flat_map(|page| [page as u8; PAGE]).collect();
    let options = PoolOptions { keeps_used: true, old_blocks_time, ..PoolOptions::default() };
    let script = Script::immediate(8);
    let mut pool = Pool::new(frames, PAGE, Box::new(Memory::new(script)), options).unwrap();
    let file = pool.add_file(Arc::new(File::memory("t.ibd", bytes)), None);
    (pool, file)
}

#[test]
fn room_is_made_from_the_end_of_the_list_by_those_that_may_go() {
    let (mut pool, file) = keeping(8, Duration::ZERO);
    let key = |page| PageKey { file, page: PageNo(page) };
    pool.read(file, &numbers(&[0, 1]), Kind::Ahead);
    pool.read(file, &numbers(&[2, 3, 4, 5]), Kind::Demand);
    drain(&mut pool);
    let pinned = pool.take(key(2)).unwrap().unwrap();
    for page in [3, 1] {
        drop(pool.take(key(page)).unwrap().unwrap());
    }
    let here = |pool: &Pool| -> Vec<u32> {
        (0..6).filter(|page| matches!(pool.lookup(key(*page)), Lookup::Resident)).collect()
    };
    pool.evict_until(2, Evictable::Used);
    assert_eq!(here(&pool), Vec::from_iter(0..6), "there was room");
    pool.evict_until(8, Evictable::Used);
    assert_eq!(here(&pool), [0, 2, 4, 5]);
    pool.evict_until(8, Evictable::ReadAhead);
    assert_eq!(here(&pool), [2, 4, 5]);
    pool.evict_until(8, Evictable::Any);
    assert_eq!(here(&pool), [2]);
    drop(pinned);
    pool.evict_until(8, Evictable::Used);
    assert_eq!((pool.free_frames(), pool.stats().ahead_evicted), (8, 1));
}

#[test]
fn a_page_accessed_again_outlives_a_scan() {
    let survives = |old_blocks_time| {
        let (mut pool, file) = keeping(600, old_blocks_time);
        let key = |page| PageKey { file, page: PageNo(page) };
        for page in 0..3000 {
            pool.evict_until(1, Evictable::Used);
            pool.wait_for(key(page), Retention::Keep).unwrap();
            if page == 610 {
                pool.get(key(605)).unwrap();
            }
        }
        matches!(pool.lookup(key(605)), Lookup::Resident)
    };
    assert!(survives(Duration::ZERO));
    assert!(!survives(Duration::from_secs(1000)), "it was accessed again too soon");
}
