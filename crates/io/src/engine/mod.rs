//! The engines: reads go in by [`Engine::push`], completions come out of [`Engine::poll`].
//!
//! | engine | how | for |
//! |---|---|---|
//! | [`uring`] | one thread, `io_uring` | wherever the kernel permits it |
//! | [`pread`] | a pool of threads calling `preadv` | everywhere else |
//! | [`inline`] | the caller's own thread | small files |
//! | [`memory`] | by script: reordered, short, failing | tests |
//! | [`throttled`] | another engine, slowed down to a device's limits | rate limits, comparisons |

pub mod inline;
pub mod memory;
pub mod pread;
pub mod throttled;
pub mod uring;
mod wake_flag;
mod yielding;

use std::sync::Arc;
use std::time::Instant;

use crate::{Completion, Error, Read, Result};

/// An engine executes reads, several at a time.
pub trait Engine: Send {
    /// Name of the engine in statistics.
    fn name(&self) -> &'static str;

    /// Maximum number of reads in flight.
    fn depth(&self) -> usize;

    /// Number of reads pushed and not yet polled.
    fn in_flight(&self) -> usize;

    /// Accepts a read. The engine may wait for [`Engine::submit`] before it starts the read, so
    /// that many start together.
    ///
    /// # Panics
    /// When `depth` reads are in flight.
    fn push(&mut self, read: Read);

    /// Starts all reads pushed so far.
    fn submit(&mut self) -> Result<()>;

    /// Appends the completed reads to `done`, in the order of their completion. Submits first.
    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<()>;

    /// Returns a waker, which makes a waiting [`Engine::poll`] return, from any thread.
    fn waker(&self) -> Arc<dyn Wake>;
}

/// The mode of [`Engine::poll`]: with or without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Returns without waiting.
    No,
    /// Waits until a read completes or the engine is woken. An earlier wake counts, once.
    UntilSomething,
    /// Waits like [`Wait::UntilSomething`], but no longer than until this time.
    Until(Instant),
}

impl Wait {
    /// The time at which a wait ends in any case; `None` when it may last for ever.
    fn deadline(self) -> Option<Instant> {
        match self {
            Wait::No | Wait::UntilSomething => None,
            Wait::Until(at) => Some(at),
        }
    }

    /// Whether the wait is over, whatever has happened.
    fn is_over(self) -> bool {
        match self {
            Wait::No => true,
            Wait::UntilSomething => false,
            Wait::Until(at) => at <= Instant::now(),
        }
    }
}

/// A waker of an engine's waiting poll.
pub trait Wake: Send + Sync {
    /// Makes the present waiting poll return, or else the next waiting one. Polls that do not wait
    /// leave the wake to the next one that does.
    fn wake(&self);
}

/// The engine to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// `io_uring` where the kernel permits it, else a pool of threads.
    #[default]
    Auto,
    /// `io_uring`, or an error.
    Uring,
    /// A pool of threads with `preadv`.
    Pread,
    /// Reads on the caller's own thread.
    Inline,
}

/// The maximum number of threads of a [`pread::Pread`] pool: enough to keep a disk busy, few enough
/// to start fast.
const PREAD_THREADS_MAX: usize = 32;

/// Opens an engine that keeps up to `depth` reads in flight.
pub fn open(kind: EngineKind, depth: usize) -> Result<Box<dyn Engine>> {
    let pread = || -> Result<Box<dyn Engine>> {
        Ok(Box::new(pread::Pread::new(depth.min(PREAD_THREADS_MAX))?))
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
