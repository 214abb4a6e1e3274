//! What can go wrong before and while reading.

use std::fmt;
use std::path::PathBuf;

/// The result of everything here but a single read.
pub type Result<T> = std::result::Result<T, Error>;

/// A file that cannot be opened, memory that cannot be had, an engine that cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// `O_DIRECT` was required, and the file system does not have it.
    #[error("{}: the file system refuses O_DIRECT: {source}", path.display())]
    NoDirect {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// What a device gives cannot be found out.
    #[error("{}: its device cannot be measured: {what}", path.display())]
    Unmeasured {
        /// The file read from.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// The slab's memory cannot be had.
    #[error("cannot get {bytes} bytes of memory for page frames: {source}")]
    Memory {
        /// What was asked for.
        bytes: usize,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The engine cannot be set up, or broke down.
    #[error("{engine}: {source}")]
    Engine {
        /// Its name.
        engine: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// Why a read did not fill all of its frames. The bytes before are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The file ends at this byte.
    EndOfFile {
        /// The offset of the first byte that is not there.
        at_byte: u64,
    },
    /// The device or file system refused (`EIO` and its like).
    Device {
        /// The system's error number.
        errno: i32,
        /// The offset from which nothing could be read.
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
