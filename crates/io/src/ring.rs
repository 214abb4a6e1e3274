//! Common operations on an `io_uring`: to build one, to enter it, and to drain it before it is
//! dropped.

use std::io;
use std::time::Instant;

use io_uring::{Builder, IoUring, cqueue, types};
use rustix::io::Errno;

use crate::{Error, Result};

pub(crate) const NAME: &str = "io_uring";

pub(crate) fn failed(source: impl Into<io::Error>) -> Error {
    Error::Engine { engine: NAME, source: source.into() }
}

/// Builds a ring with the requested features, or a plain one where the kernel is too old for them.
pub(crate) fn build(wished: &mut Builder, entries: usize) -> Result<IoUring> {
    let entries = u32::try_from(entries).map_err(|_| failed(Errno::INVAL))?;
    let ring = wished.setup_clamp().build(entries);
    ring.or_else(|_| IoUring::builder().setup_clamp().build(entries)).map_err(failed)
}

/// Submits the queued entries and waits for completions. They may be fewer: the caller loops.
pub(crate) fn enter(ring: &IoUring, wait_for: usize) -> Result<()> {
    match ring.submit_and_wait(wait_for) {
        Ok(_) => Ok(()),
        Err(error) => match Errno::from_io_error(&error) {
            // Interrupted, or the completions must be collected first.
            Some(Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
            _ => Err(failed(error)),
        },
    }
}

/// Submits the queued entries and waits for a completion, no longer than until `deadline`.
pub(crate) fn enter_until(ring: &IoUring, deadline: Instant) -> Result<()> {
    let left = types::Timespec::from(deadline.saturating_duration_since(Instant::now()));
    let arguments = types::SubmitArgs::new().timespec(&left);
    match ring.submitter().submit_with_args(1, &arguments) {
        Ok(_) => Ok(()),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
            _ => Err(failed(error)),
        },
    }
}

/// Waits for `out` completions that count. If that fails, the state of the others is unknown: the
/// memory passed to them may never be reused.
pub(crate) fn drain(
    ring: &mut IoUring,
    mut out: usize,
    counts: impl Fn(&cqueue::Entry) -> bool,
) -> Result<()> {
    while out > 0 {
        enter(ring, 1)?;
        out = out.saturating_sub(ring.completion().filter(&counts).count());
    }
    Ok(())
}
