//! The redo log of MariaDB 10.5 to 10.7 as a file: read once from its checkpoint to its end, and then in pieces.

use std::path::Path;

use innoscan_format::redo::{BLOCK_BYTES, Block, BlockRing, MTR_BYTES_MAX, advance, run_len};
use innoscan_format::{Error as FormatError, Lsn};

use super::read_until::read_until;
use super::ring_file::RingFile;
use crate::{Error, Result};

/// Bytes of a block.
const BLOCK: usize = BLOCK_BYTES as usize;
/// Blocks that are read at a time while the log is read through.
const WINDOW_BLOCKS: usize = 4096;

/// The log of MariaDB 10.5 to 10.7.
#[derive(Debug)]
pub(super) struct BlockLog {
    file: RingFile,
    ring: BlockRing,
}

impl BlockLog {
    /// Opens the log.
    pub fn open(path: &Path, ring: BlockRing) -> Result<BlockLog> {
        Ok(BlockLog { file: RingFile::open(path)?, ring })
    }

    /// Passes the records of each mini-transaction after the checkpoint to `take`, with its LSN; returns the LSN of the
    /// end.
    pub fn read_through(&self, mut take: impl FnMut(Lsn, &[u8]) -> Result<()>) -> Result<Lsn> {
        // The data from `at` on is that of the log at `lsn`.
        let (mut lsn, mut data, mut at) = (self.ring.checkpoint, Vec::new(), 0);
        let mut blocks = Blocks::from(self, lsn);
        blocks.add(WINDOW_BLOCKS, &mut data)?;
        loop {
            let mtr = BlockRing::mini_transaction(&data[at..]).map_err(|error| {
                self.located(error.with_prefix(format!("the redo log at LSN {lsn}")).into())
            })?;
            // One that fills its block is whole with the head of the next one (`recv_sys_t::parse`).
            match mtr.filter(|mtr| advance(lsn, mtr.len) <= blocks.end) {
                Some(mtr) => {
                    take(lsn, mtr.records)?;
                    at += mtr.len;
                    lsn = advance(lsn, mtr.len);
                }
                None if blocks.is_ended => return Ok(lsn),
                None => {
                    data.drain(..at);
                    at = 0;
                    if data.len() > MTR_BYTES_MAX {
                        let what = format!("the mini-transaction at LSN {lsn} is too long");
                        return Err(self.located(FormatError::corrupt(what).into()));
                    }
                    blocks.add(WINDOW_BLOCKS, &mut data)?;
                }
            }
        }
    }

    /// Reads the records of a page that begin at an LSN, into `buffer`.
    pub fn run<'b>(&self, lsn: Lsn, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let len = self.read_until(lsn, buffer, |data| Ok(run_len(data)))?;
        Ok(&buffer[..len])
    }

    /// The end of the mini-transaction that has a record at an LSN.
    pub fn end_of_mini_transaction(&self, lsn: Lsn, buffer: &mut Vec<u8>) -> Result<Lsn> {
        let len_of = |data: &[u8]| Ok(BlockRing::mini_transaction(data)?.map(|mtr| mtr.len));
        Ok(advance(lsn, self.read_until(lsn, buffer, len_of)?))
    }

    /// Reads as much data from an LSN as `len` needs to find a length.
    fn read_until(
        &self,
        lsn: Lsn,
        buffer: &mut Vec<u8>,
        len: impl Fn(&[u8]) -> innoscan_format::Result<Option<usize>>,
    ) -> Result<usize> {
        let mut blocks = Blocks::from(self, lsn);
        let add = |count: usize, data: &mut Vec<u8>| {
            blocks.add(count, data)?;
            Ok(blocks.is_ended)
        };
        read_until(lsn, MTR_BYTES_MAX, buffer, add, len).map_err(|error| self.located(error))
    }

    /// Reads the log from an LSN on; fewer bytes where the file is cut.
    fn read(&self, lsn: Lsn, bytes: &mut [u8]) -> Result<usize> {
        self.file.read(lsn, bytes, |lsn| self.ring.place_of(lsn))
    }

    /// Adds the log's file to an error.
    pub fn located(&self, error: Error) -> Error {
        self.file.located(error)
    }
}

/// The blocks of a log, one after another.
struct Blocks<'l> {
    log: &'l BlockLog,
    /// The LSN of the next one.
    next: Lsn,
    /// Bytes of the next one that are not wanted: it has data from before the first LSN.
    skip_bytes: usize,
    /// The LSN behind the data of the last one.
    end: Lsn,
    left_bytes: u64,
    is_ended: bool,
}

impl Blocks<'_> {
    /// The blocks from that of an LSN on, whose data begins at the LSN.
    fn from(log: &BlockLog, lsn: Lsn) -> Blocks<'_> {
        Blocks {
            log,
            next: Lsn(lsn.0 / BLOCK_BYTES * BLOCK_BYTES),
            skip_bytes: Block::data_offset(lsn),
            end: lsn,
            left_bytes: log.ring.capacity_bytes(),
            is_ended: false,
        }
    }

    /// Adds the data of the next `count` blocks, or up to the end of the log.
    fn add(&mut self, count: usize, data: &mut Vec<u8>) -> Result<()> {
        let room = usize::try_from(self.left_bytes).unwrap_or(usize::MAX);
        let mut bytes = vec![0; (BLOCK * count).min(room)];
        let read_bytes = self.log.read(self.next, &mut bytes)?;
        self.left_bytes -= bytes.len() as u64;
        for bytes in bytes[..read_bytes].chunks_exact(BLOCK) {
            let Some(block) = Block::parse_without_epoch(bytes, self.next) else {
                self.is_ended = true;
                return Ok(());
            };
            let skipped = std::mem::take(&mut self.skip_bytes).min(block.data.len());
            data.extend_from_slice(&block.data[skipped..]);
            self.end = block.end(self.next);
            if !block.is_whole {
                self.is_ended = true;
                return Ok(());
            }
            self.next = self.end;
        }
        self.is_ended |= read_bytes < bytes.len() || self.left_bytes == 0;
        Ok(())
    }
}
