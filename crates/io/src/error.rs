//! Errors before and during reads.

use std::fmt;
use std::path::PathBuf;

/// The result of all operations except a single read.
pub type Result<T> = std::result::Result<T, Error>;

/// A file that cannot be opened, memory that cannot be allocated, or an engine that cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file system without `O_DIRECT`, which was required.
    #[error("{}: the file system refuses O_DIRECT: {source}", path.display())]
    NoDirect {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A device that cannot be measured.
    #[error("{}: its device cannot be measured: {what}", path.display())]
    Unmeasured {
        /// Path of the file that was read.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// Memory for the slab that cannot be allocated.
    #[error("cannot get {bytes} bytes of memory for page frames: {source}")]
    Memory {
        /// Bytes requested.
        bytes: usize,
        /// The system's error.
        source: std::io::Error,
    },
    /// An engine that cannot be set up, or has failed.
    #[error("{engine}: {source}")]
    Engine {
        /// Name of the engine.
        engine: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

/// The reason for which a read did not fill all its frames. The bytes before are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The end of the file.
    EndOfFile {
        /// Offset of the first missing byte.
        at_byte: u64,
    },
    /// An error of the device or file system (`EIO` and the like).
    Device {
        /// The system's error number.
        errno: i32,
        /// Offset from which nothing could be read.
        at_byte: u64,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ReadError::EndOfFile { at_byte } => write!(f, "the file ends at byte {at_byte}"),
            ReadError::Device { errno, at_byte } => {
                let reason = std::io::Error::from_raw_os_error(errno);
                write!(f, "reading at byte {at_byte}: {reason}")
            }
        }
    }
}

impl std::error::Error for ReadError {}
