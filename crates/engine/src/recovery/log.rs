//! The redo log as a file: read once from its checkpoint to its end, and then in pieces.

use std::path::Path;

use innoscan_format::Lsn;
use innoscan_format::redo::{Circular, LogCipher, LogEncryption, MTR_BYTES_MAX, run_len};

use super::index::Run;
use super::ring_file::RingFile;
use super::sense::Sense;
use crate::{Error, Result};

/// Bytes that are read at a time while the log is read through.
const WINDOW_BYTES: usize = 4 << 20;

/// More bytes than the longest mini-transaction has, with its end.
const LONGEST_BYTES: usize = MTR_BYTES_MAX + 64;

/// The most bytes of two logs that are compared.
const AGREEING_BYTES: usize = 1 << 20;

/// Bytes of the first read of a page's records: most have fewer.
const RUN_BYTES: usize = 512;

/// The most bytes between two runs of a page that are read at once.
const GAP_BYTES: u64 = 2 << 10;

/// The most bytes of runs of a page that are read at once.
const WINDOW_OF_RUNS_BYTES: u64 = 64 << 10;

/// A part of a log that has several runs of a page.
#[derive(Debug, Default)]
pub(super) struct RunWindow {
    /// The LSN of the first byte.
    at: u64,
    bytes: Vec<u8>,
}

impl RunWindow {
    /// The bytes from an LSN on, as far as they are here.
    fn from(&self, lsn: Lsn) -> &[u8] {
        let begin = lsn.0.checked_sub(self.at).and_then(|begin| usize::try_from(begin).ok());
        begin.and_then(|begin| self.bytes.get(begin..)).unwrap_or_default()
    }

    /// Forgets the bytes.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// Gives the ciphers of an encrypted log, one of which may be right.
pub type LogCiphers<'c> = dyn Fn(&LogEncryption) -> Result<Vec<LogCipher>> + 'c;

/// The log of MariaDB 10.8 and later.
#[derive(Debug)]
pub(super) struct Log {
    file: RingFile,
    circular: Circular,
    /// Of an encrypted log.
    cipher: Option<Box<LogCipher>>,
}

impl Log {
    /// Opens the log whose head is `circular`; `ciphers`: of an encrypted one.
    ///
    /// # Errors
    /// It cannot be opened; its key is not known, or is wrong.
    pub fn open(path: &Path, circular: Circular, ciphers: &LogCiphers<'_>) -> Result<Log> {
        let mut log = Log { file: RingFile::open(path)?, circular, cipher: None };
        let Some(info) = circular.encryption() else { return Ok(log) };
        let mut readable = Vec::new();
        let mut is_shown = false;
        for cipher in ciphers(info).map_err(|error| log.located(error))? {
            log.cipher = Some(Box::new(cipher));
            let mut sense = Sense::default();
            log.read_through(|lsn, records| {
                sense.add(lsn, records);
                Ok(())
            })?;
            is_shown |= sense.has_long;
            let cipher = log.cipher.take();
            readable.extend(cipher.filter(|_| sense.is_made()));
        }
        // Of the first block of a text, the algorithms make the same.
        let is_decided = readable.len() < 2 || !is_shown;
        log.cipher = readable.into_iter().next();
        match log.cipher {
            None => Err(log.located(info.wrong_key().into())),
            Some(_) if !is_decided => Err(log.located(Error::refused_directory(
                "the encrypted redo log is too short to show whether its algorithm is aes_cbc or aes_ctr",
                "name the server's file_key_management_encryption_algorithm",
            ))),
            Some(_) => Ok(log),
        }
    }

    /// Passes the records of each mini-transaction after the checkpoint to `take`, with its LSN; returns the LSN of the
    /// end.
    pub fn read_through(&self, mut take: impl FnMut(Lsn, &[u8]) -> Result<()>) -> Result<Lsn> {
        let start = self.circular.checkpoint;
        let mut plain = Vec::new();
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
            let records = match &self.cipher {
                None => mtr.records,
                Some(cipher) => {
                    plain.clear();
                    plain.extend_from_slice(mtr.records);
                    cipher
                        .decrypt(&mut plain, mtr.nonce)
                        .map_err(|error| self.located(error.into()))?;
                    &plain
                }
            };
            take(lsn, records)?;
            at += mtr.len;
            lsn = Lsn(lsn.0 + mtr.len as u64);
        }
    }

    /// Reads the next runs of a page at once, if they lie close to each other: a transaction often changes a page
    /// several times.
    pub fn read_ahead(&self, runs: &[Run], window: &mut RunWindow) -> Result<()> {
        let Some(first) = runs.first().filter(|_| self.cipher.is_none()) else { return Ok(()) };
        if !window.from(first.at).is_empty() {
            return Ok(());
        }
        let is_close = |pair: &&[Run]| {
            let (one, next) = (pair[0].at.0, pair[1].at.0);
            next - one <= GAP_BYTES && next - first.at.0 <= WINDOW_OF_RUNS_BYTES
        };
        let Some(last) = runs.windows(2).take_while(is_close).last() else { return Ok(()) };
        let len_bytes = (last[1].at.0 - first.at.0) as usize + RUN_BYTES;
        window.bytes.resize(len_bytes, 0);
        let read_bytes = self.read(first.at, &mut window.bytes)?;
        window.bytes.truncate(read_bytes);
        window.at = first.at.0;
        Ok(())
    }

    /// Reads a run of records, into `buffer` unless it is in the window.
    pub fn run<'b>(
        &self,
        run: Run,
        window: &'b RunWindow,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        let Some(cipher) = &self.cipher else {
            let here = window.from(run.at);
            if let Some(len) = run_len(here) {
                return Ok(&here[..len]);
            }
            let len = self.read_until(run.at, buffer, run_len)?;
            return Ok(&buffer[..len]);
        };
        // A mini-transaction is decrypted as a whole.
        let changed = || {
            let what = format!("the redo log was changed: no whole record is at LSN {}", run.at);
            self.located(innoscan_format::Error::corrupt(what).into())
        };
        let whole =
            |bytes: &[u8]| self.circular.mini_transaction(bytes, 0, run.mtr).map(|mtr| mtr.len);
        self.read_until(run.mtr, buffer, whole)?;
        let mtr = self.circular.mini_transaction(buffer, 0, run.mtr).ok_or_else(changed)?;
        let (len, nonce) = (mtr.records.len(), mtr.nonce);
        let records = buffer.get_mut(..len).ok_or_else(changed)?;
        cipher.decrypt(records, nonce).map_err(|error| self.located(error.into()))?;
        let distance = usize::try_from(run.at.0 - run.mtr.0).unwrap_or(usize::MAX);
        let records = records.get(distance..).ok_or_else(changed)?;
        Ok(&records[..run_len(records).unwrap_or(records.len())])
    }

    /// The end of the mini-transaction that has a record at an LSN.
    pub fn end_of_mini_transaction(&self, lsn: Lsn, buffer: &mut Vec<u8>) -> Result<Lsn> {
        let len = self.read_until(lsn, buffer, |bytes| self.circular.len_to_end(bytes, 0))?;
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

    /// Reads the log from an LSN on; fewer bytes where the file is cut.
    fn read(&self, lsn: Lsn, bytes: &mut [u8]) -> Result<usize> {
        self.file.read(lsn, bytes, |lsn| self.circular.place_of(lsn))
    }

    /// Adds the log's file to an error.
    pub fn located(&self, error: Error) -> Error {
        self.file.located(error)
    }
}
