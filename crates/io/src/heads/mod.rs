//! The first bytes of very many files, each opened, read once and closed.
//!
//! What a server does at its start, in the ways servers have done it and in one that they have not:
//! hundreds of files at once, each of whose three calls follows the one before in the kernel alone.

mod blocking;
mod how;
mod shared;
mod uring;

use std::ffi::CString;
use std::fmt;
use std::io;
use std::panic::resume_unwind;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use self::shared::Shared;
use crate::{ALIGNMENT, Error, Result};

/// The bytes of a file's head that are given to whoever asked; a shorter file has fewer.
pub const HEAD_BYTES: usize = 512;

/// The bytes of a whole page, which servers read.
const PAGE_BYTES: usize = 16 << 10;

/// How heads are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadWay {
    /// 16 KiB through the page cache, with the kernel's read-ahead: servers to MySQL 9.0.
    FullPage,
    /// The same, with the kernel told that access is random: no read-ahead.
    Fadvise,
    /// The beginning's page of the page cache alone, 4 KiB.
    Light,
    /// 16 KiB around the page cache, as the newest servers do.
    Direct,
    /// The device's block, 512 bytes or 4 KiB, around the page cache; opening, reading and closing
    /// are chained in an io_uring, hundreds of files at once.
    #[default]
    Batched,
}

impl HeadWay {
    /// All of them.
    pub const ALL: [HeadWay; 5] =
        [HeadWay::FullPage, HeadWay::Fadvise, HeadWay::Light, HeadWay::Direct, HeadWay::Batched];

    /// [`HeadWay::Batched`], or where the kernel permits no io_uring [`HeadWay::Light`].
    pub fn best() -> HeadWay {
        if uring::check().is_ok() { HeadWay::Batched } else { HeadWay::Light }
    }

    /// Bytes of a read.
    fn read_bytes(self) -> usize {
        match self {
            HeadWay::FullPage | HeadWay::Fadvise | HeadWay::Direct => PAGE_BYTES,
            HeadWay::Light | HeadWay::Batched => HEAD_BYTES,
        }
    }

    /// Bytes of memory for it.
    fn frame_bytes(self) -> usize {
        self.read_bytes().next_multiple_of(ALIGNMENT)
    }

    fn is_direct(self) -> bool {
        matches!(self, HeadWay::Direct | HeadWay::Batched)
    }

    fn name(self) -> &'static str {
        match self {
            HeadWay::FullPage => "full-page",
            HeadWay::Fadvise => "fadvise",
            HeadWay::Light => "light",
            HeadWay::Direct => "direct",
            HeadWay::Batched => "batched",
        }
    }
}

impl fmt::Display for HeadWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for HeadWay {
    type Err = String;

    fn from_str(typed: &str) -> std::result::Result<HeadWay, String> {
        let named = HeadWay::ALL.into_iter().find(|way| way.name() == typed);
        named.ok_or_else(|| format!("no way to read is called `{typed}`"))
    }
}

/// How to read heads.
#[derive(Clone, Copy, Debug)]
pub struct HeadOptions {
    /// Which way.
    pub way: HeadWay,
    /// Threads. Each has one file at a time, or of [`HeadWay::Batched`] a ring of its own.
    pub threads: usize,
    /// Files at once of all threads together, of [`HeadWay::Batched`].
    pub depth: usize,
    /// No read is over before so long.
    pub latency: Duration,
}

impl Default for HeadOptions {
    fn default() -> HeadOptions {
        HeadOptions { way: HeadWay::default(), threads: 1, depth: 512, latency: Duration::ZERO }
    }
}

/// A file whose head is wanted.
#[derive(Clone, Debug)]
pub struct HeadFile {
    /// The caller's own number for it.
    pub token: u64,
    /// Where it is.
    pub path: CString,
}

/// What it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadCounters {
    /// Files that were opened.
    pub files: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Time from asking to open a file until it was open, of all files together.
    pub open: Duration,
    /// Time from then until its head was there.
    pub read: Duration,
}

impl HeadCounters {
    fn add(&mut self, other: &HeadCounters) {
        self.files += other.files;
        self.read_bytes += other.read_bytes;
        self.open += other.open;
        self.read += other.read;
    }
}

/// Takes heads, in any order: the file's token, and its first bytes or why there are none. Says
/// whether to go on.
pub type TakeHead<'t> = dyn FnMut(u64, io::Result<&[u8]>) -> bool + Send + 't;

/// Reads the heads of files.
///
/// # Errors
/// When no thread, no memory or no io_uring can be had; a file that cannot be read is told to `take`.
pub fn read_heads(
    options: &HeadOptions,
    files: &mut (dyn Iterator<Item = HeadFile> + Send),
    take: &mut TakeHead<'_>,
) -> Result<HeadCounters> {
    let work = match options.way {
        HeadWay::Batched => {
            uring::check()?;
            uring::work
        }
        _ => blocking::work,
    };
    // The two borrows are of one life within the scope.
    let mut take = |token: u64, head: io::Result<&[u8]>| take(token, head);
    let shared = Shared::new(files, &mut take);
    let work = || work(options, &shared).inspect_err(|_| shared.end());
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..options.threads.max(1) {
            let thread = thread::Builder::new().name(format!("heads-{number}"));
            let spawned = thread.spawn_scoped(scope, work).inspect_err(|_| shared.end());
            threads.push(spawned.map_err(|source| Error::Engine { engine: "threads", source })?);
        }
        let mut counters = HeadCounters::default();
        for thread in threads {
            counters.add(&thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(counters)
    })
}

#[cfg(test)]
mod tests;
