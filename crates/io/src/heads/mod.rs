//! Heads: the first bytes of very many files, each opened, read once and closed.
//!
//! A server does this at its start. The methods are those of servers, and one that no server has:
//! hundreds of files at once, with the three calls of each chained in the kernel.

mod blocking;
mod open_mode;
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

/// The bytes of a file's head that a caller receives; a shorter file has fewer.
pub const HEAD_BYTES: usize = 512;

/// The bytes of a whole page, which servers read.
const PAGE_BYTES: usize = 16 << 10;

/// A method of reading heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadMethod {
    /// 16 KiB through the page cache, with the kernel's read-ahead: servers to MySQL 9.0.
    FullPage,
    /// 16 KiB through the page cache, with `fadvise` for random access: no read-ahead.
    Fadvise,
    /// 4 KiB, the first page of the page cache.
    Light,
    /// 16 KiB bypassing the page cache, like the newest servers.
    Direct,
    /// The device's block, 512 bytes or 4 KiB, bypassing the page cache; opening, reading and
    /// closing are chained in an io_uring, for hundreds of files at once.
    #[default]
    Batched,
}

impl HeadMethod {
    /// All methods.
    pub const ALL: [HeadMethod; 5] = [
        HeadMethod::FullPage,
        HeadMethod::Fadvise,
        HeadMethod::Light,
        HeadMethod::Direct,
        HeadMethod::Batched,
    ];

    /// Returns [`HeadMethod::Batched`], or [`HeadMethod::Light`] where the kernel does not permit
    /// io_uring.
    pub fn best() -> HeadMethod {
        if uring::check().is_ok() { HeadMethod::Batched } else { HeadMethod::Light }
    }

    /// Returns the bytes of a read.
    fn read_bytes(self) -> usize {
        match self {
            HeadMethod::FullPage | HeadMethod::Fadvise | HeadMethod::Direct => PAGE_BYTES,
            HeadMethod::Light | HeadMethod::Batched => HEAD_BYTES,
        }
    }

    /// Returns the bytes of memory for a read.
    fn frame_bytes(self) -> usize {
        self.read_bytes().next_multiple_of(ALIGNMENT)
    }

    fn is_direct(self) -> bool {
        matches!(self, HeadMethod::Direct | HeadMethod::Batched)
    }

    fn name(self) -> &'static str {
        match self {
            HeadMethod::FullPage => "full-page",
            HeadMethod::Fadvise => "fadvise",
            HeadMethod::Light => "light",
            HeadMethod::Direct => "direct",
            HeadMethod::Batched => "batched",
        }
    }
}

impl fmt::Display for HeadMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for HeadMethod {
    type Err = String;

    fn from_str(typed: &str) -> std::result::Result<HeadMethod, String> {
        let named = HeadMethod::ALL.into_iter().find(|method| method.name() == typed);
        named.ok_or_else(|| format!("`{typed}` is not a read method"))
    }
}

/// Options for reading heads.
#[derive(Clone, Copy, Debug)]
pub struct HeadOptions {
    /// The read method.
    pub method: HeadMethod,
    /// Number of threads. Each reads one file at a time; with [`HeadMethod::Batched`], each has its
    /// own ring.
    pub threads: usize,
    /// Files in flight on all threads together, with [`HeadMethod::Batched`].
    pub depth: usize,
    /// Minimum time of a read, which emulates a device.
    pub latency: Duration,
}

impl Default for HeadOptions {
    fn default() -> HeadOptions {
        HeadOptions {
            method: HeadMethod::default(),
            threads: 1,
            depth: 512,
            latency: Duration::ZERO,
        }
    }
}

/// A file whose head is to be read.
#[derive(Clone, Debug)]
pub struct HeadFile {
    /// The caller's number of the file.
    pub token: u64,
    /// Path of the file.
    pub path: CString,
}

/// Counters of the reads of heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadCounters {
    /// Files opened.
    pub files: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time for opening files, summed over the files.
    pub open: Duration,
    /// Time for reading heads, summed over the files.
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

/// A callback that receives heads, in any order: the file's token, and its first bytes or an error.
/// It returns whether to continue.
pub type TakeHead<'t> = dyn FnMut(u64, io::Result<&[u8]>) -> bool + Send + 't;

/// Reads the heads of files.
///
/// # Errors
/// When threads, memory or io_uring are not available. A file that cannot be read is an error
/// passed to `take`.
pub fn read_heads(
    options: &HeadOptions,
    files: &mut (dyn Iterator<Item = HeadFile> + Send),
    take: &mut TakeHead<'_>,
) -> Result<HeadCounters> {
    let work = match options.method {
        HeadMethod::Batched => {
            uring::check()?;
            uring::work
        }
        _ => blocking::work,
    };
    // The two borrows have the same lifetime within the scope.
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
