//! Requests to an engine, and their results.

use std::sync::Arc;
use std::time::Duration;

use crate::{File, Frame, ReadError};

/// The reason for a read; it determines the counter, and whether a limit that exempts foreground
/// reads delays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A read that a caller waits for.
    Demand,
    /// A read ahead of any request.
    Ahead,
    /// A read that another job waits for, not the one that the engine serves.
    Foreground,
}

/// A read of adjacent bytes into frames.
#[derive(Debug)]
pub struct Read {
    /// The caller's number of the read.
    pub token: u64,
    /// The file to read.
    pub file: Arc<File>,
    /// Offset in the file, a multiple of [`crate::ALIGNMENT`].
    pub offset: u64,
    /// Frames to fill, in the order of the file; at least one.
    pub frames: Vec<Frame>,
    /// The reason for the read.
    pub kind: Kind,
}

impl Read {
    /// Returns the bytes to read.
    pub fn len_bytes(&self) -> usize {
        self.frames.iter().map(|frame| frame.len()).sum()
    }
}

/// A completed read.
#[derive(Debug)]
pub struct Completion {
    /// The caller's number of the read.
    pub token: u64,
    /// Frames of the read; the first `good_bytes` of them hold the file's bytes.
    pub frames: Vec<Frame>,
    /// Bytes read.
    pub good_bytes: usize,
    /// The error, if not all bytes were read.
    pub error: Option<ReadError>,
    /// The reason for the read.
    pub kind: Kind,
    /// Attempts beyond the first.
    pub resumed: u32,
    /// Time since the read was pushed.
    pub service: Duration,
}
