//! What an engine is asked, and what it answers.

use std::sync::Arc;
use std::time::Duration;

use crate::{File, Frame, ReadError};

/// Why something is read; it decides under which heading it is counted, and whether a limit that
/// spares foreground reads holds it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Somebody waits for it.
    Demand,
    /// Nobody has asked yet.
    Ahead,
    /// Somebody waits for it who is not of the job whose reads these are.
    Foreground,
}

/// A read of adjacent bytes into frames.
#[derive(Debug)]
pub struct Read {
    /// The caller's own number for it.
    pub token: u64,
    /// The file.
    pub file: Arc<File>,
    /// Where to start: a multiple of [`crate::ALIGNMENT`].
    pub offset: u64,
    /// What to fill, in the order of the file; at least one.
    pub frames: Vec<Frame>,
    /// Why it is read.
    pub kind: Kind,
}

impl Read {
    /// Bytes to read.
    pub fn len_bytes(&self) -> usize {
        self.frames.iter().map(|frame| frame.len()).sum()
    }
}

/// A read that is over.
#[derive(Debug)]
pub struct Completion {
    /// The caller's number of the read.
    pub token: u64,
    /// The read's frames; the first `good_bytes` of them hold what the file holds.
    pub frames: Vec<Frame>,
    /// Bytes read.
    pub good_bytes: usize,
    /// Why not all of them were.
    pub error: Option<ReadError>,
    /// Why it was read.
    pub kind: Kind,
    /// Attempts beyond the first.
    pub resumed: u32,
    /// Time since the read was pushed.
    pub service: Duration,
}
