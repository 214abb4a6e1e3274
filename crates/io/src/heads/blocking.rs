//! One file after the other by each of some threads.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::fs::{Advice, Mode, OFlags};

use super::{HEAD_BYTES, HeadCounters, HeadFile, HeadOptions, HeadWay, TakeHead};
use crate::{Error, Frame, Result, Slab};

/// Files a thread takes at a time, so that threads seldom wait for each other.
const FILES_AT_ONCE: usize = 64;

/// What threads share.
struct Shared<'s> {
    files: Mutex<&'s mut (dyn Iterator<Item = HeadFile> + Send)>,
    taking: Mutex<Taking<'s>>,
}

struct Taking<'s> {
    take: &'s mut TakeHead<'s>,
    is_over: bool,
    counters: HeadCounters,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn read_heads(
    options: &HeadOptions,
    files: &mut (dyn Iterator<Item = HeadFile> + Send),
    take: &mut TakeHead<'_>,
) -> Result<HeadCounters> {
    let threads = options.threads.max(1);
    let slab = Slab::new(threads, options.way.frame_bytes())?;
    // The two borrows are of one life within the scope.
    let mut take = |token: u64, head: io::Result<&[u8]>| take(token, head);
    let taking = Taking { take: &mut take, is_over: false, counters: HeadCounters::default() };
    let shared = Shared { files: Mutex::new(files), taking: Mutex::new(taking) };
    std::thread::scope(|scope| {
        for number in 0..threads {
            let Some(frame) = slab.take() else { break };
            let thread = std::thread::Builder::new().name(format!("heads-{number}"));
            let shared = &shared;
            let spawned = thread.spawn_scoped(scope, move || work(options, shared, frame));
            spawned.map_err(|source| Error::Engine { engine: "threads", source })?;
        }
        Ok::<(), Error>(())
    })?;
    Ok(lock(&shared.taking).counters)
}

fn work(options: &HeadOptions, shared: &Shared<'_>, mut frame: Frame) {
    let mut counters = HeadCounters::default();
    loop {
        let files = take_some(&mut **lock(&shared.files));
        if files.is_empty() || lock(&shared.taking).is_over {
            break;
        }
        for file in files {
            let head = head_of(options, &file, &mut frame, &mut counters);
            let bytes = head.map(|bytes| &frame[..bytes.min(HEAD_BYTES)]);
            let mut taking = lock(&shared.taking);
            if !taking.is_over && !(taking.take)(file.token, bytes) {
                taking.is_over = true;
            }
        }
    }
    lock(&shared.taking).counters.add(&counters);
}

fn take_some(files: &mut (dyn Iterator<Item = HeadFile> + Send)) -> Vec<HeadFile> {
    files.take(FILES_AT_ONCE).collect()
}

/// Reads a file's first bytes; how many there are.
fn head_of(
    options: &HeadOptions,
    file: &HeadFile,
    frame: &mut Frame,
    counters: &mut HeadCounters,
) -> io::Result<usize> {
    let begun = Instant::now();
    let descriptor = open(options.way, file)?;
    let opened = Instant::now();
    counters.files += 1;
    counters.open += opened - begun;
    let wanted = options.way.read_bytes();
    let bytes =
        rustix::io::retry_on_intr(|| rustix::io::pread(&descriptor, &mut frame[..wanted], 0))?;
    std::thread::sleep(options.latency.saturating_sub(opened.elapsed()));
    counters.read += opened.elapsed();
    counters.read_bytes += bytes as u64;
    if options.way == HeadWay::FullPage {
        // As the servers do it, so that their pool need not share memory with the page cache.
        _ = rustix::fs::fadvise(&descriptor, 0, None, Advice::DontNeed);
    }
    Ok(bytes)
}

fn open(way: HeadWay, file: &HeadFile) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let path = file.path.as_c_str();
    let open = |flags| rustix::fs::open(path, flags, Mode::empty());
    if way.is_direct() {
        // Where the file system has no way around the page cache it is read through it.
        return match open(flags | OFlags::DIRECT) {
            Err(rustix::io::Errno::INVAL) => Ok(open(flags)?),
            opened => Ok(opened?),
        };
    }
    let descriptor = open(flags)?;
    if matches!(way, HeadWay::Fadvise | HeadWay::Light) {
        rustix::fs::fadvise(&descriptor, 0, None, Advice::Random)?;
    }
    Ok(descriptor)
}
