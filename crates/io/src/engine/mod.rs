//! The engines: reads go in by [`Engine::push`], completions come out of [`Engine::poll`].
//!
//! | engine | how | for |
//! |---|---|---|
//! | [`uring`] | one thread, `io_uring` | wherever the kernel permits it |
//! | [`pread`] | a pool of threads calling `preadv` | everywhere else |
//! | [`inline`] | the caller's own thread | small files |
//! | [`memory`] | by script: reordered, short, failing | tests |
//! | [`paced`] | another engine, slowed down to a device's limits | rate limits, comparisons |

pub mod inline;
pub mod memory;
pub mod paced;
pub mod pread;
pub mod uring;

use std::sync::Arc;

use crate::{Completion, Error, Read, Result};

/// Something that does reads, several at a time.
pub trait Engine: Send {
    /// Its name in statistics.
    fn name(&self) -> &'static str;

    /// The most reads it keeps in flight.
    fn depth(&self) -> usize;

    /// Reads pushed and not yet polled.
    fn in_flight(&self) -> usize;

    /// Takes a read. It may wait for [`Engine::submit`] before it starts, so that many start
    /// together.
    ///
    /// # Panics
    /// When `depth` reads are in flight.
    fn push(&mut self, read: Read);

    /// Starts all reads pushed so far.
    fn submit(&mut self) -> Result<()>;

    /// Appends the reads that are over to `done`, in whatever order they ended. Submits first.
    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<()>;

    /// What makes a waiting [`Engine::poll`] return, from any thread.
    fn waker(&self) -> Arc<dyn Wake>;
}

/// Whether [`Engine::poll`] waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Takes what is there.
    No,
    /// Until a read is over or the engine is woken. A wake that came before counts, once.
    UntilSomething,
}

/// Wakes an engine's waiting poll.
pub trait Wake: Send + Sync {
    /// The poll that waits now, or else the next one that would, returns at once. Polls that do
    /// not wait leave the wake to the next one that does.
    fn wake(&self);
}

/// Which engine is wished for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// `io_uring` where the kernel permits it, else a pool of threads.
    #[default]
    Auto,
    /// `io_uring` or an error.
    Uring,
    /// A pool of threads.
    Pread,
    /// The caller's own thread.
    Inline,
}

/// Threads of a [`pread::Pread`] pool: enough to keep a disk busy, few enough to start fast.
const PREAD_THREADS_MOST: usize = 32;

/// Makes an engine that keeps up to `depth` reads in flight.
pub fn open(kind: EngineKind, depth: usize) -> Result<Box<dyn Engine>> {
    let pread = || -> Result<Box<dyn Engine>> {
        Ok(Box::new(pread::Pread::new(depth.min(PREAD_THREADS_MOST))?))
    };
    match kind {
        EngineKind::Pread => pread(),
        EngineKind::Inline => Ok(Box::new(inline::Inline::new(depth))),
        EngineKind::Uring => Ok(Box::new(uring::Uring::new(depth)?)),
        EngineKind::Auto => match uring::Uring::new(depth) {
            Ok(ring) => Ok(Box::new(ring)),
            // Seccomp, `kernel.io_uring_disabled` and old kernels all end here.
            Err(Error::Engine { .. }) => pread(),
            Err(error) => Err(error),
        },
    }
}

#[cfg(test)]
mod tests;
