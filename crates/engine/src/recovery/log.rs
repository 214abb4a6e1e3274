//! The redo log as a file: read once from its checkpoint to its end, and then in pieces.

use std::path::Path;

use innoscan_format::Lsn;
use innoscan_format::redo::{Circular, MTR_BYTES_MAX, MiniTransaction, run_len};
use innoscan_io::{Direct, File, ReadError};

use crate::{Error, Result};

/// Bytes that are read at a time while the log is read through.
const WINDOW_BYTES: usize = 4 << 20;

/// More bytes than the longest mini-transaction has, with its end.
const LONGEST_BYTES: usize = MTR_BYTES_MAX + 64;

/// The most bytes of two logs that are compared.
const AGREEING_BYTES: usize = 1 << 20;

/// Bytes of the first read of a page's records: most have fewer.
const RUN_BYTES: usize = 512;

/// The log of MariaDB 10.8 and later.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    circular: Circular,
}

impl Log {
    /// Opens the log whose head is `circular`.
    pub fn open(path: &Path, circular: Circular) -> Result<Log> {
        Ok(Log { file: File::open(path, Direct::Off)?, circular })
    }

    /// Passes each mini-transaction after the checkpoint to `take`, with its LSN; returns the LSN of the
    /// end.
    pub fn read_through(
        &self,
        mut take: impl FnMut(Lsn, &MiniTransaction<'_>) -> Result<()>,
    ) -> Result<Lsn> {
        let start = self.circular.checkpoint;
        let mut window = vec![0; WINDOW_BYTES + LONGEST_BYTES];
        // The bytes from `at` to `end` are those of the log at `lsn`.
        let (mut lsn, mut at, mut end) = (start, 0, 0);
        let mut left_bytes = self.circular.capacity_bytes();
        loop {
            if end - at < LONGEST_BYTES && left_bytes > 0 {
                window.copy_within(at..end, 0);
                (at, end) = (0, end - at);
                let room = usize::try_from(left_bytes).unwrap_or(usize::MAX);
                let wanted = room.min(window.len() - end);
                let from = Lsn(lsn.0 + end as u64);
                let read_bytes = self.read(from, &mut window[end..end + wanted])?;
                left_bytes = if read_bytes < wanted { 0 } else { left_bytes - wanted as u64 };
                end += read_bytes;
            }
            let Some(mtr) = self.circular.mini_transaction(&window[..end], at, lsn) else {
                return Ok(lsn);
            };
            take(lsn, &mtr)?;
            at += mtr.len;
            lsn = Lsn(lsn.0 + mtr.len as u64);
        }
    }

    /// Reads the records of a page that begin at an LSN, into `buffer`.
    pub fn run<'b>(&self, lsn: Lsn, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let len = self.read_until(lsn, buffer, run_len)?;
        Ok(&buffer[..len])
    }

    /// The end of the mini-transaction that has a record at an LSN.
    pub fn end_of_mini_transaction(&self, lsn: Lsn, buffer: &mut Vec<u8>) -> Result<Lsn> {
        let len = self.read_until(lsn, buffer, |bytes| Circular::len_to_end(bytes, 0))?;
        Ok(Lsn(lsn.0 + len as u64))
    }

    /// Whether another log has the same bytes from an LSN to another, as far as [`AGREEING_BYTES`]: both have them, and
    /// neither has gone around its ring.
    pub fn agrees(&self, other: &Log, from: Lsn, end: Lsn) -> Result<bool> {
        let wanted = usize::try_from(end.0 - from.0).unwrap_or(usize::MAX).min(AGREEING_BYTES);
        let (mut ours, mut theirs) = (vec![0; wanted], vec![0; wanted]);
        Ok(self.read(from, &mut ours)? == other.read(from, &mut theirs)? && ours == theirs)
    }

    /// Reads as many bytes from an LSN as `len` needs to find a length.
    fn read_until(
        &self,
        lsn: Lsn,
        buffer: &mut Vec<u8>,
        len: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<usize> {
        let mut wanted = RUN_BYTES;
        loop {
            buffer.resize(wanted, 0);
            let read_bytes = self.read(lsn, buffer)?;
            buffer.truncate(read_bytes);
            if let Some(len) = len(buffer) {
                return Ok(len);
            }
            if wanted >= LONGEST_BYTES || read_bytes < wanted {
                let what = format!("the redo log was changed: no whole record is at LSN {lsn}");
                return Err(self.located(innoscan_format::Error::corrupt(what).into()));
            }
            wanted = (wanted * 8).min(LONGEST_BYTES);
        }
    }

    /// Reads the log from an LSN on, around the end of the ring; fewer bytes where the file is cut.
    fn read(&self, lsn: Lsn, bytes: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let (offset, to_end) = self.circular.place_of(Lsn(lsn.0 + done as u64));
            let to_end = usize::try_from(to_end).unwrap_or(usize::MAX);
            let part_end = bytes.len().min(done.saturating_add(to_end));
            let part = &mut bytes[done..part_end];
            let wanted = part.len();
            let read_bytes = self.file.read_at(offset, part).map_err(|error| self.failed(error))?;
            done += read_bytes;
            if read_bytes < wanted {
                break;
            }
        }
        Ok(done)
    }

    fn failed(&self, error: ReadError) -> Error {
        let source = match error {
            ReadError::Device { errno, .. } => std::io::Error::from_raw_os_error(errno),
            ReadError::EndOfFile { .. } => std::io::ErrorKind::UnexpectedEof.into(),
        };
        self.located(Error::read("reading the redo log", source))
    }

    /// Adds the log's file to an error.
    pub fn located(&self, error: Error) -> Error {
        error.in_file(self.file.path())
    }
}
