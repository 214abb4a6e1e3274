//! What the users of an `io_uring` have in common: to build one, to enter it, and to leave it with
//! nothing in it.

use std::io;

use io_uring::{Builder, IoUring, cqueue};
use rustix::io::Errno;

use crate::{Error, Result};

pub(crate) const NAME: &str = "io_uring";

pub(crate) fn failed(source: impl Into<io::Error>) -> Error {
    Error::Engine { engine: NAME, source: source.into() }
}

/// A ring as it is wished, or where the kernel is too old for the wishes a plain one.
pub(crate) fn build(wished: &mut Builder, entries: usize) -> Result<IoUring> {
    let entries = u32::try_from(entries).map_err(|_| failed(Errno::INVAL))?;
    let ring = wished.setup_clamp().build(entries);
    ring.or_else(|_| IoUring::builder().setup_clamp().build(entries)).map_err(failed)
}

/// Submits what is queued and waits for completions. They may be fewer: the caller loops.
pub(crate) fn enter(ring: &IoUring, wait_for: usize) -> Result<()> {
    match ring.submit_and_wait(wait_for) {
        Ok(_) => Ok(()),
        Err(error) => match Errno::from_io_error(&error) {
            // Interrupted, or the completions must be taken in first.
            Some(Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
            _ => Err(failed(error)),
        },
    }
}

/// Waits until `out` completions that count have come. Where that fails nothing is known of the
/// others: the memory they were given may never be used again.
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
