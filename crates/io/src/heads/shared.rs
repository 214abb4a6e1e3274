//! The shared state of the reading threads: the remaining files, and the callback for their heads.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{HeadFile, TakeHead};

/// The number of files that a thread takes at a time, so that threads rarely wait for each other.
const FILES_AT_ONCE: usize = 64;

pub(super) struct Shared<'s> {
    files: Mutex<&'s mut (dyn Iterator<Item = HeadFile> + Send)>,
    take: Mutex<&'s mut TakeHead<'s>>,
    is_over: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'s> Shared<'s> {
    pub(super) fn new(
        files: &'s mut (dyn Iterator<Item = HeadFile> + Send),
        take: &'s mut TakeHead<'s>,
    ) -> Shared<'s> {
        Shared { files: Mutex::new(files), take: Mutex::new(take), is_over: AtomicBool::new(false) }
    }

    /// Takes some of the remaining files; none when all are taken, or the callback wants no more.
    pub(super) fn next_files(&self) -> Vec<HeadFile> {
        let mut files = lock(&self.files);
        if self.is_over() { Vec::new() } else { files.take(FILES_AT_ONCE).collect() }
    }

    /// Passes a head to the callback, unless it wants no more.
    pub(super) fn give(&self, token: u64, head: io::Result<&[u8]>) {
        let mut take = lock(&self.take);
        if !self.is_over() && !take(token, head) {
            self.end();
        }
    }

    /// Stops the reading of further heads.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}
