//! Reads in flight: their progress, and whether another attempt is needed.
//!
//! Every engine passes the kernel's results to [`Flight::advance`], so short reads, interruptions
//! and the file's end have the same meaning in each.

use std::io::IoSliceMut;
use std::time::Instant;

use rustix::io::Errno;

use crate::{Completion, Read, ReadError};

/// The maximum number of consecutive attempts without progress before the read fails.
const STALLS_MAX: u32 = 100;

/// A read that was pushed and is not complete.
#[derive(Debug)]
pub(crate) struct Flight {
    read: Read,
    pushed: Instant,
    done_bytes: usize,
    resumed: u32,
    stalls: u32,
}

/// The action after an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another attempt, for the rest.
    Again,
    /// Completion of the read.
    Over(Option<ReadError>),
}

impl Flight {
    pub(crate) fn new(read: Read) -> Flight {
        assert!(!read.frames.is_empty(), "a read fills at least one frame");
        Flight { read, pushed: Instant::now(), done_bytes: 0, resumed: 0, stalls: 0 }
    }

    pub(crate) fn read(&self) -> &Read {
        &self.read
    }

    /// Returns the offset of the next attempt.
    pub(crate) fn offset(&self) -> u64 {
        self.read.offset + self.done_bytes as u64
    }

    /// Fills `buffers` with the destinations of the next attempt, which ends where the next of
    /// several joined files begins.
    pub(crate) fn rest<'a>(&'a mut self, buffers: &mut Vec<IoSliceMut<'a>>) {
        let mut skip = self.done_bytes;
        let mut left = self.read.file.adjacent_bytes(self.offset());
        for frame in &mut self.read.frames {
            if skip >= frame.len() {
                skip -= frame.len();
                continue;
            }
            let end = frame.len().min(skip.saturating_add(left));
            left -= end - skip;
            if end > skip {
                buffers.push(IoSliceMut::new(&mut frame[skip..end]));
            }
            skip = 0;
        }
    }

    /// Fills `parts` with the destinations of the next attempt for the kernel: address and length
    /// of each part. It ends like that of [`Flight::rest`].
    pub(crate) fn rest_raw(&mut self, parts: &mut Vec<RawPart>) {
        let mut skip = self.done_bytes;
        let mut left = self.read.file.adjacent_bytes(self.offset());
        for frame in &mut self.read.frames {
            let len = frame.len();
            if skip >= len {
                skip -= len;
                continue;
            }
            let start = frame.as_raw().wrapping_add(skip);
            let len = (len - skip).min(left);
            left -= len;
            skip = 0;
            if len == 0 {
                break;
            }
            match parts.last_mut() {
                // Adjacent frames form one part, which shortens the kernel's list.
                Some(last) if last.start.wrapping_add(last.len) == start => last.len += len,
                _ => parts.push(RawPart { start, len }),
            }
        }
    }

    /// Processes the result of an attempt.
    pub(crate) fn advance(&mut self, answer: Result<usize, Errno>) -> Next {
        let before = self.done_bytes;
        match answer {
            Ok(0) => return Next::Over(Some(self.read.file.end_before(self.offset()))),
            Ok(read_bytes) => self.done_bytes += read_bytes,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(errno) => return Next::Over(Some(self.refused(errno))),
        }
        if self.done_bytes >= self.read.len_bytes() {
            return Next::Over(None);
        }
        if self.done_bytes > before && self.offset() >= self.read.file.size_bytes() {
            return Next::Over(Some(self.read.file.end_before(self.offset())));
        }
        self.done_bytes -= self.done_bytes % self.read.file.alignment();
        self.resumed += 1;
        self.stalls = if self.done_bytes > before { 0 } else { self.stalls + 1 };
        if self.stalls > STALLS_MAX {
            return Next::Over(Some(self.refused(answer.err().unwrap_or(Errno::IO))));
        }
        Next::Again
    }

    fn refused(&self, errno: Errno) -> ReadError {
        ReadError::Device { errno: errno.raw_os_error(), at_byte: self.offset() }
    }

    pub(crate) fn complete(self, error: Option<ReadError>) -> Completion {
        Completion {
            token: self.read.token,
            frames: self.read.frames,
            good_bytes: self.done_bytes,
            error,
            kind: self.read.kind,
            resumed: self.resumed,
            service: self.pushed.elapsed(),
        }
    }
}

/// A range of memory for the kernel to fill; the same bytes as C's `struct iovec`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct RawPart {
    pub(crate) start: *mut u8,
    pub(crate) len: usize,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{File, Kind, Slab};

    fn flight(frames: usize) -> Flight {
        let slab = Slab::new(frames, 4096).unwrap();
        let file = Arc::new(File::memory("t", vec![0; 3 * 4096 + 100]));
        let frames = std::iter::from_fn(|| slab.take()).collect();
        Flight::new(Read { token: 0, file, offset: 4096, frames, kind: Kind::Demand })
    }

    #[test]
    fn short_reads_are_taken_up_where_they_ended() {
        let mut flight = flight(2);
        assert_eq!(flight.advance(Ok(1000)), Next::Again);
        assert_eq!(flight.offset(), 5096);
        let mut parts = Vec::new();
        flight.rest(&mut parts);
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [3096, 4096]);
        assert_eq!(flight.advance(Err(Errno::INTR)), Next::Again);
        assert_eq!(flight.advance(Ok(3096 + 4096)), Next::Over(None));
        let done = flight.complete(None);
        assert_eq!((done.good_bytes, done.resumed), (8192, 2));
    }

    #[test]
    fn the_files_end_is_named_by_its_byte() {
        let mut flight = flight(3);
        let end = Next::Over(Some(ReadError::EndOfFile { at_byte: 3 * 4096 + 100 }));
        assert_eq!(flight.advance(Ok(2 * 4096 + 100)), end);
        assert_eq!(flight.complete(None).good_bytes, 2 * 4096 + 100);
    }

    #[test]
    fn a_device_that_only_says_again_is_given_up() {
        let mut flight = flight(1);
        let over = (0..1000).map(|_| flight.advance(Err(Errno::AGAIN))).find(|n| *n != Next::Again);
        let errno = Errno::AGAIN.raw_os_error();
        assert_eq!(over, Some(Next::Over(Some(ReadError::Device { errno, at_byte: 4096 }))));
    }
}
