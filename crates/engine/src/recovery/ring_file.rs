//! A redo log of MariaDB as one file, whose LSNs lie on a ring.

use std::path::Path;

use innoscan_format::Lsn;
use innoscan_io::{Direct, File, ReadError};

use crate::{Error, Result};

/// The file of a log.
#[derive(Debug)]
pub(super) struct RingFile(File);

impl RingFile {
    /// Opens the file.
    pub fn open(path: &Path) -> Result<RingFile> {
        Ok(RingFile(File::open(path, Direct::Off)?))
    }

    /// Reads the log from an LSN on, around the end of the ring; fewer bytes where the file is cut. `place_of`: the
    /// offset of an LSN, and the bytes from there to the end of the ring.
    pub fn read(
        &self,
        lsn: Lsn,
        bytes: &mut [u8],
        place_of: impl Fn(Lsn) -> (u64, u64),
    ) -> Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let (offset, to_end) = place_of(Lsn(lsn.0.saturating_add(done as u64)));
            let to_end = usize::try_from(to_end).unwrap_or(usize::MAX);
            let part_end = bytes.len().min(done.saturating_add(to_end));
            let part = &mut bytes[done..part_end];
            let wanted = part.len();
            let read_bytes =
                self.0.read_at(offset, part).map_err(|error| failed(&self.0, error))?;
            done += read_bytes;
            if read_bytes < wanted {
                break;
            }
        }
        Ok(done)
    }

    /// Adds the file to an error.
    pub fn located(&self, error: Error) -> Error {
        error.in_file(self.0.path())
    }
}

/// The error of reading a file of a redo log.
pub(super) fn failed(file: &File, error: ReadError) -> Error {
    let source = match error {
        ReadError::Device { errno, .. } => std::io::Error::from_raw_os_error(errno),
        ReadError::EndOfFile { .. } => std::io::ErrorKind::UnexpectedEof.into(),
    };
    Error::read("reading the redo log", source).in_file(file.path())
}
