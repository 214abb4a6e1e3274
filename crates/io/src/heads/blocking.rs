//! Heads read by blocking calls: one file after the other on each of several threads.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::fs::{Advice, Mode, OFlags};

use super::open_mode::OpenMode;
use super::shared::Shared;
use super::{HEAD_BYTES, HeadCounters, HeadFile, HeadMethod, HeadOptions};
use crate::{Frame, Result, Slab};

/// Runs one thread's share of the work.
pub(super) fn work(options: &HeadOptions, shared: &Shared<'_>) -> Result<HeadCounters> {
    let slab = Slab::new(1, options.method.frame_bytes())?;
    let mut counters = HeadCounters::default();
    let Some(mut frame) = slab.take() else { return Ok(counters) };
    loop {
        let files = shared.next_files();
        if files.is_empty() {
            return Ok(counters);
        }
        for file in files {
            let head = head_of(options, &file, &mut frame, &mut counters);
            shared.give(file.token, head.map(|bytes| &frame[..bytes.min(HEAD_BYTES)]));
        }
    }
}

/// Reads a file's first bytes; returns their number.
fn head_of(
    options: &HeadOptions,
    file: &HeadFile,
    frame: &mut Frame,
    counters: &mut HeadCounters,
) -> io::Result<usize> {
    let begun = Instant::now();
    let (descriptor, mode) = open(options.method, file)?;
    let opened = Instant::now();
    counters.files += 1;
    counters.open += opened - begun;
    let bytes =
        rustix::io::retry_on_intr(|| rustix::io::pread(&descriptor, &mut frame[..mode.bytes], 0))?;
    std::thread::sleep(options.latency.saturating_sub(opened.elapsed()));
    counters.read += opened.elapsed();
    counters.read_bytes += bytes as u64;
    if options.method == HeadMethod::FullPage {
        // Servers do this, so that their pool does not share memory with the page cache.
        _ = rustix::fs::fadvise(&descriptor, 0, None, Advice::DontNeed);
    }
    Ok(bytes)
}

/// Opens a file; returns the mode in which it is to be read.
fn open(method: HeadMethod, file: &HeadFile) -> io::Result<(OwnedFd, OpenMode)> {
    let mut mode = OpenMode::first(method);
    let descriptor = loop {
        match rustix::fs::open(file.path.as_c_str(), mode.flags() | OFlags::CLOEXEC, Mode::empty())
        {
            Ok(descriptor) => break descriptor,
            Err(error) => mode = mode.after(error).ok_or(error)?,
        }
    };
    if matches!(method, HeadMethod::Fadvise | HeadMethod::Light) {
        rustix::fs::fadvise(&descriptor, 0, None, Advice::Random)?;
    }
    Ok((descriptor, mode))
}
