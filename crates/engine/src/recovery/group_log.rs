//! The redo log of MySQL 8.0.30 and later, as its files: read once from its checkpoint to its end, and then in
//! pieces. Groups of records are its mini-transactions.

use std::path::{Path, PathBuf};

use innoscan_format::page::encryption::{MySqlCipher, MySqlEncryption};
use innoscan_format::redo::mysql::{
    EncryptedBlock, Input, Kind, LogFile, LogFlaw, Stop, group_bytes, run_bytes,
};
use innoscan_format::redo::{BLOCK_BYTES, Block, HEAD_BYTES, advance};
use innoscan_format::{Error as FormatError, Lsn, PageNo, Result as FormatResult, SpaceId};
use innoscan_io::{Direct, File};

use super::read_until::read_until;
use super::ring_file::failed;
use crate::{Error, Result};

/// Bytes of a block.
const BLOCK: usize = BLOCK_BYTES as usize;
/// Blocks that are read at a time while the log is read through.
const WINDOW_BLOCKS: usize = 4096;
/// The most bytes of a group; the server's log buffer, which must hold one, has 64 MiB by default.
const GROUP_BYTES_MAX: usize = 256 << 20;

/// Gives the cipher of an encrypted log.
pub type GroupLogCipher<'c> = dyn Fn(&MySqlEncryption) -> FormatResult<MySqlCipher> + 'c;

/// The log, as a group of files.
#[derive(Debug)]
pub(super) struct GroupLog {
    /// In the order of their LSNs.
    files: Vec<(LogFile, File)>,
    checkpoint: Lsn,
    /// Of its encrypted blocks, if it may have some. The error of a key that is not known, or is wrong, is that of each.
    cipher: Option<FormatResult<Box<MySqlCipher>>>,
}

/// A group of records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'r, 'a> {
    /// Its records, in the log's order.
    pub records: &'r [GroupRecord<'a>],
    /// Whether the log has all of it. The server dismisses the changes of the last group if it was cut off.
    pub is_whole: bool,
}

/// A record of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupRecord<'a> {
    /// Where it begins.
    pub at: Lsn,
    pub page: (SpaceId, PageNo),
    pub kind: Kind<'a>,
}

impl GroupLog {
    /// Opens the files of a log; `None` if a file is of an older server. `cipher`: of an encrypted log.
    ///
    /// # Errors
    /// A file cannot be read or is damaged; no file has a checkpoint; the log was switched off.
    pub fn open(paths: &[PathBuf], cipher: &GroupLogCipher<'_>) -> Result<Option<GroupLog>> {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let file = File::open(path, Direct::Off)?;
            let head = head_of(&file)?;
            let parsed = LogFile::parse(&head, file.size_bytes());
            match parsed.map_err(|error| Error::from(error).in_file(path))? {
                Some(Ok(log_file)) => files.push((log_file, file)),
                Some(Err(LogFlaw::NoLogging)) => return Err(switched_off(path)),
                None => return Ok(None),
            }
        }
        let newest = files.iter().filter_map(|(file, _)| Some((file.checkpoint?, file.id))).max();
        let Some((checkpoint, id)) = newest else {
            let why = "no file of the redo log has a checkpoint";
            return Err(Error::refused_directory(why, "read another copy of the directory"));
        };
        if let Some((_, file)) = files.iter().find(|(file, _)| file.id != id) {
            let why = "a file of another redo log, of another directory or moment";
            let error = Error::refused_directory(why, "read another copy of the directory");
            return Err(error.in_file(file.path()));
        }
        files.sort_by_key(|(file, _)| file.start);
        for pair in files.windows(2) {
            let (end, start) = (pair[0].0.end, pair[1].0.start);
            if start != end {
                let why =
                    format!("the redo log's file before this one ends at LSN {end}, not {start}");
                let error = Error::refused_directory(why, "read another copy of the directory");
                return Err(error.in_file(pair[1].1.path()));
            }
        }
        let mut log = GroupLog { files, checkpoint, cipher: None };
        if let Some((_, file, _)) = log.place_of(checkpoint) {
            let info = LogFile::encryption(&head_of(file)?).transpose();
            log.cipher = info.map(|info| cipher(&info?).map(Box::new));
        }
        Ok(Some(log))
    }

    /// The newest checkpoint.
    pub fn checkpoint(&self) -> Lsn {
        self.checkpoint
    }

    /// Passes each group after the checkpoint to `take`; returns the LSN of the end of the last whole one.
    ///
    /// # Errors
    /// A record is none that a server writes; the log is encrypted, and its key is not known or is wrong; a file of it is
    /// missing.
    pub fn read_through(&self, mut take: impl FnMut(Group<'_, '_>) -> Result<()>) -> Result<Lsn> {
        let mut blocks = Blocks { log: self, next: block_of(self.checkpoint), is_ended: false };
        // The data from `at` on is that of the log at `lsn`.
        let (mut data, mut at) = (Vec::new(), 0);
        let Some(mut lsn) = blocks.start(&mut data)? else { return Ok(self.checkpoint) };
        if data.is_empty() && blocks.is_ended {
            return Err(self.located(Error::refused_directory(
                format!("the redo log does not have its checkpoint, LSN {}", self.checkpoint),
                "read another copy of the directory",
            )));
        }
        loop {
            let (len, taken) = {
                let mut records = Vec::new();
                let len = group(&data[at..], lsn, &mut records).map_err(|(error, lsn)| {
                    let prefix = format!("a record of the redo log at LSN {lsn}");
                    self.located(error.with_prefix(prefix).into())
                })?;
                // What lies before the checkpoint is in the data files.
                let is_known = len.is_some() || blocks.is_ended;
                let taken = match is_known && lsn >= self.checkpoint {
                    true => take(Group { records: &records, is_whole: len.is_some() }),
                    false => Ok(()),
                };
                (len, taken)
            };
            taken?;
            match len {
                Some(len) => {
                    at += len;
                    lsn = advance(lsn, len);
                }
                None if blocks.is_ended => return Ok(lsn.max(self.checkpoint)),
                None => {
                    data.drain(..at);
                    at = 0;
                    if data.len() > GROUP_BYTES_MAX {
                        let what =
                            format!("the group at LSN {lsn} has more than {GROUP_BYTES_MAX} bytes");
                        return Err(self.located(FormatError::corrupt(what).into()));
                    }
                    blocks.read(&mut data)?;
                }
            }
        }
    }

    /// Reads the records of a page that begin at an LSN, into `buffer`.
    pub fn run<'b>(&self, lsn: Lsn, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let len = self.read_until(lsn, buffer, run_bytes)?;
        Ok(&buffer[..len])
    }

    /// The end of the group that has a record at an LSN.
    pub fn end_of_group(&self, lsn: Lsn, buffer: &mut Vec<u8>) -> Result<Lsn> {
        let len = self.read_until(lsn, buffer, group_bytes)?;
        Ok(advance(lsn, len))
    }

    /// Whether the record at an LSN makes its page anew.
    pub fn is_init(&self, lsn: Lsn, buffer: &mut Vec<u8>) -> Result<bool> {
        let run = self.run(lsn, buffer)?;
        let first = Input::new(run).record();
        Ok(first.is_ok_and(|record| record.kind() == Kind::Page { is_init: true }))
    }

    /// Whether a group ends at an LSN of the log: pages have such LSNs only. Those that are changed without a record may
    /// also have the LSN at which a block begins, up to which the log was ready to be written.
    pub fn has_end(&self, lsn: Lsn, buffer: &mut Vec<u8>) -> Result<bool> {
        if lsn == block_of(lsn) {
            return Ok(true);
        }
        let Some(mut at) = self.group_before(lsn)? else { return Ok(true) };
        while at < lsn {
            let len = self.read_until(at, buffer, group_bytes)?;
            at = advance(at, len);
        }
        Ok(at == lsn)
    }

    /// Where the first group of a block begins, of the last block in which that is not behind `lsn`; `None` if
    /// there is none.
    fn group_before(&self, lsn: Lsn) -> Result<Option<Lsn>> {
        let mut block_lsn = block_of(lsn);
        while let Some((_, file, offset)) = self.place_of(block_lsn) {
            let mut bytes = [0; BLOCK];
            let block = self.read_block((file, offset), block_lsn, &mut bytes)?;
            let first = block.and_then(|block| block.first_group);
            let first = first.map(|first| advance(block_lsn, first));
            if let Some(first) = first.filter(|&first| first <= lsn) {
                return Ok(Some(first));
            }
            block_lsn = Lsn(block_lsn.0.saturating_sub(BLOCK_BYTES));
        }
        Ok(None)
    }

    /// Reads as many bytes from an LSN as `len` needs to find a length.
    fn read_until(
        &self,
        lsn: Lsn,
        buffer: &mut Vec<u8>,
        len: impl Fn(&[u8]) -> innoscan_format::Result<Option<usize>>,
    ) -> Result<usize> {
        let mut blocks = Blocks { log: self, next: block_of(lsn), is_ended: false };
        // The block has data from before the LSN.
        let mut skip_bytes = Block::data_offset(lsn);
        let add = |count: usize, data: &mut Vec<u8>| {
            blocks.read_some(count, data)?;
            data.drain(..std::mem::take(&mut skip_bytes).min(data.len()));
            Ok(blocks.is_ended)
        };
        read_until(lsn, GROUP_BYTES_MAX, buffer, add, len).map_err(|error| self.located(error))
    }

    /// Reads the block of an LSN, at an offset of a file; `None` if the log ends before.
    fn read_block<'b>(
        &self,
        (file, offset): (&File, u64),
        lsn: Lsn,
        bytes: &'b mut [u8; BLOCK],
    ) -> Result<Option<Block<'b>>> {
        let read_bytes = file.read_at(offset, bytes).map_err(|error| failed(file, error))?;
        self.parse_block(&mut bytes[..read_bytes], lsn)
    }

    /// Parses the block of an LSN, which is decrypted in place if it is encrypted; `None` if the log ends before.
    ///
    /// # Errors
    /// It is encrypted, and the key is not known or is wrong.
    fn parse_block<'b>(&self, bytes: &'b mut [u8], lsn: Lsn) -> Result<Option<Block<'b>>> {
        if let Some(block) = EncryptedBlock::of(bytes, lsn) {
            block.decrypt(self.known_cipher(lsn)?);
        }
        Ok(Block::parse(bytes, lsn))
    }

    /// The cipher of an encrypted block, which is that of an LSN.
    fn known_cipher(&self, lsn: Lsn) -> Result<&MySqlCipher> {
        let error = match &self.cipher {
            Some(Ok(cipher)) => return Ok(cipher),
            Some(Err(error)) => Error::from(error.clone()),
            None => Error::refused_directory(
                format!(
                    "the redo log is damaged: it is encrypted at LSN {lsn}, and its header does not say by which key"
                ),
                "read another copy of the directory",
            ),
        };
        // The file that should say it.
        Err(match self.place_of(self.checkpoint) {
            Some((_, file, _)) => error.in_file(file.path()),
            None => self.located(error),
        })
    }

    /// The file that has the block of an LSN, and the block's offset.
    fn place_of(&self, lsn: Lsn) -> Option<(&LogFile, &File, u64)> {
        let nth = self.files.partition_point(|(file, _)| file.start <= lsn).checked_sub(1)?;
        let (log_file, file) = self.files.get(nth)?;
        Some((log_file, file, log_file.offset_of(lsn)?))
    }

    /// Adds the log's directory to an error.
    pub fn located(&self, error: Error) -> Error {
        let directory = self.files.first().and_then(|(_, file)| file.path().parent());
        error.in_file(directory.unwrap_or(Path::new("#innodb_redo")))
    }
}

/// The first bytes of a file of the log, as far as it has them.
fn head_of(file: &File) -> Result<Vec<u8>> {
    let mut head = vec![0; HEAD_BYTES];
    let read_bytes = file.read_at(0, &mut head).map_err(|error| failed(file, error))?;
    head.truncate(read_bytes);
    Ok(head)
}

/// The LSN of the block that has an LSN.
fn block_of(lsn: Lsn) -> Lsn {
    Lsn(lsn.0 / BLOCK_BYTES * BLOCK_BYTES)
}

/// Reads the records of the group at the start of `data`, which begins at `lsn`; returns its bytes, or `None` if
/// it ends behind them.
fn group<'a>(
    data: &'a [u8],
    lsn: Lsn,
    records: &mut Vec<GroupRecord<'a>>,
) -> std::result::Result<Option<usize>, (FormatError, Lsn)> {
    let mut input = Input::new(data);
    loop {
        let at = advance(lsn, input.at());
        let record = match input.record() {
            Ok(record) => record,
            Err(Stop::Cut) => return Ok(None),
            Err(Stop::Lie(error)) => return Err((error, at)),
        };
        let kind = record.kind();
        records.push(GroupRecord { at, page: record.page, kind });
        let is_padding = records.len() == 1 && record.is_padding();
        if record.is_single || kind == Kind::GroupEnd || is_padding {
            return Ok(Some(input.at()));
        }
    }
}

/// The blocks of a log, one after another.
struct Blocks<'l> {
    log: &'l GroupLog,
    /// The LSN of the next one.
    next: Lsn,
    is_ended: bool,
}

impl Blocks<'_> {
    /// Reads the data from the first group on that begins in the checkpoint's block or behind it; returns
    /// the group's LSN.
    fn start(&mut self, data: &mut Vec<u8>) -> Result<Option<Lsn>> {
        loop {
            let lsn = self.next;
            let Some((_, file, offset)) = self.log.place_of(lsn) else { return Ok(None) };
            let mut bytes = [0; BLOCK];
            let block = self.log.read_block((file, offset), lsn, &mut bytes)?;
            let Some(block) = block else {
                self.is_ended = true;
                return match lsn == block_of(self.log.checkpoint) {
                    true => Ok(Some(lsn)),
                    false => self.require_end(lsn).map(|()| None),
                };
            };
            match block.first_group {
                None if block.is_whole => self.next = Lsn(lsn.0 + BLOCK_BYTES),
                None => return self.require_end(lsn).map(|()| None),
                Some(first) => {
                    self.read(data)?;
                    data.drain(..first.min(data.len()));
                    return Ok(Some(advance(lsn, first)));
                }
            }
        }
    }

    /// Adds the data of the next blocks.
    fn read(&mut self, data: &mut Vec<u8>) -> Result<()> {
        self.read_some(WINDOW_BLOCKS, data)
    }

    /// Adds the data of the next `count` blocks, or up to the end of the log.
    fn read_some(&mut self, count: usize, data: &mut Vec<u8>) -> Result<()> {
        let mut left = count;
        let mut bytes = vec![0; BLOCK * count];
        while left > 0 && !self.is_ended {
            let Some((log_file, file, offset)) = self.log.place_of(self.next) else {
                self.is_ended = true;
                return self.require_no_more_files();
            };
            let in_file = ((log_file.end.0 - self.next.0) / BLOCK_BYTES) as usize;
            let part = &mut bytes[..BLOCK * left.min(in_file)];
            let read_bytes = file.read_at(offset, part).map_err(|error| failed(file, error))?;
            left -= part.len() / BLOCK;
            let part_len = part.len();
            self.add(&mut bytes[..read_bytes], data)?;
            self.is_ended |= read_bytes < part_len;
        }
        match self.is_ended {
            true => self.require_end(self.next),
            false => Ok(()),
        }
    }

    fn add(&mut self, bytes: &mut [u8], data: &mut Vec<u8>) -> Result<()> {
        for bytes in bytes.chunks_exact_mut(BLOCK) {
            let Some(block) = self.log.parse_block(bytes, self.next)? else {
                self.is_ended = true;
                return Ok(());
            };
            data.extend_from_slice(block.data);
            if !block.is_whole {
                self.is_ended = true;
                return Ok(());
            }
            self.next = Lsn(self.next.0 + BLOCK_BYTES);
        }
        Ok(())
    }

    /// Requires that the log may end in the block of an LSN: no other file continues it.
    fn require_end(&self, lsn: Lsn) -> Result<()> {
        match self.log.place_of(lsn) {
            Some((log_file, file, _)) if log_file.is_full => Err(Error::refused_directory(
                format!(
                    "the redo log is damaged at LSN {lsn}: it ends before the next file begins"
                ),
                "read another copy of the directory",
            )
            .in_file(file.path())),
            _ => Ok(()),
        }
    }

    /// Requires that the log may end where its files do.
    fn require_no_more_files(&self) -> Result<()> {
        let before = self.log.files.iter().find(|(file, _)| file.end == self.next);
        match before {
            Some((file, _)) if !file.is_full => Ok(()),
            _ => Err(self.log.located(Error::refused_directory(
                format!("the file of the redo log that begins at LSN {} is missing", self.next),
                "read another copy of the directory",
            ))),
        }
    }
}

fn switched_off(path: &Path) -> Error {
    Error::refused_directory(
        "the server was killed while its redo log was switched off (ALTER INSTANCE DISABLE INNODB REDO_LOG): \
         its files cannot be recovered",
        "read a backup",
    )
    .in_file(path)
}
