//! The redo logs of both families, as those who settle pages see them: runs of records at LSNs; and those of MariaDB, as
//! those who index them do: mini-transactions.

use innoscan_format::page::PageFormat;
use innoscan_format::redo::mysql::{Descriptions, PageChanges, ZipPage};
use innoscan_format::redo::{PageRedo, advance};
use innoscan_format::{Lsn, PageNo};

use super::block_log::BlockLog;
use super::group_log::GroupLog;
use super::index::Run;
use super::log::{Log, RunWindow};
use crate::{Error, Result};

/// A redo log.
#[derive(Debug)]
pub(super) enum RedoLog {
    /// MariaDB.
    MiniTransactions(MiniTransactions),
    /// MySQL 8.0.30 and later.
    Groups(GroupLog),
}

/// A redo log of MariaDB.
#[derive(Debug)]
pub(super) enum MiniTransactions {
    /// MariaDB 10.8 and later.
    Ring(Log),
    /// MariaDB 10.5 to 10.7.
    Blocks(BlockLog),
}

impl MiniTransactions {
    /// Passes the records of each mini-transaction after the checkpoint to `take`, with its LSN; returns the LSN of the
    /// end.
    pub fn read_through(&self, take: impl FnMut(Lsn, &[u8]) -> Result<()>) -> Result<Lsn> {
        match self {
            MiniTransactions::Ring(log) => log.read_through(take),
            MiniTransactions::Blocks(log) => log.read_through(take),
        }
    }

    /// The LSN of a record that lies some bytes behind the start of its mini-transaction.
    pub fn lsn_of(&self, mtr: Lsn, distance_bytes: usize) -> Lsn {
        match self {
            MiniTransactions::Ring(_) => Lsn(mtr.0.saturating_add(distance_bytes as u64)),
            MiniTransactions::Blocks(_) => advance(mtr, distance_bytes),
        }
    }

    fn run<'b>(
        &self,
        run: Run,
        window: &'b RunWindow,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        match self {
            MiniTransactions::Ring(log) => log.run(run, window, buffer),
            MiniTransactions::Blocks(log) => log.run(run.at, buffer),
        }
    }

    fn end_of_mini_transaction(&self, lsn: Lsn, buffer: &mut Vec<u8>) -> Result<Lsn> {
        match self {
            MiniTransactions::Ring(log) => log.end_of_mini_transaction(lsn, buffer),
            MiniTransactions::Blocks(log) => log.end_of_mini_transaction(lsn, buffer),
        }
    }

    /// Adds the log's file to an error.
    pub fn located(&self, error: Error) -> Error {
        match self {
            MiniTransactions::Ring(log) => log.located(error),
            MiniTransactions::Blocks(log) => log.located(error),
        }
    }
}

/// Buffers for reading and applying records.
#[derive(Debug, Default)]
pub(super) struct RunBuffers {
    bytes: Vec<u8>,
    window: RunWindow,
    descriptions: Descriptions,
    zip: ZipPage,
}

/// A page, and its bytes.
pub(super) struct PageBytes<'p> {
    pub format: PageFormat,
    pub page_no: PageNo,
    pub bytes: &'p mut [u8],
}

impl RedoLog {
    /// The log, if it is one of MariaDB 10.8 or later.
    pub fn ring(&self) -> Option<&Log> {
        match self {
            RedoLog::MiniTransactions(MiniTransactions::Ring(log)) => Some(log),
            RedoLog::MiniTransactions(MiniTransactions::Blocks(_)) | RedoLog::Groups(_) => None,
        }
    }

    /// Applies runs of records to their page.
    pub fn apply_all(
        &self,
        runs: &[Run],
        page: &mut PageBytes<'_>,
        buffers: &mut RunBuffers,
    ) -> Result<()> {
        buffers.window.clear();
        buffers.zip.begin(page.format.page_size.len());
        for (nth, run) in runs.iter().enumerate() {
            if let Some(log) = self.ring() {
                log.read_ahead(&runs[nth..], &mut buffers.window)?;
            }
            self.apply(*run, page, buffers)?;
        }
        let stored = buffers.zip.finish(page.bytes);
        Ok(stored.map_err(|error| error.at_page(page.format.space, page.page_no))?)
    }

    fn apply(&self, run: Run, page: &mut PageBytes<'_>, buffers: &mut RunBuffers) -> Result<()> {
        let PageBytes { format, page_no, bytes } = page;
        let RunBuffers { bytes: buffer, window, descriptions, zip } = buffers;
        let PageFormat { space, is_zip, .. } = *format;
        match self {
            RedoLog::MiniTransactions(log) => {
                let records = log.run(run, window, buffer)?;
                PageRedo::new(bytes, space, *page_no, is_zip).apply(records, run.mtr)?;
            }
            RedoLog::Groups(log) => {
                let records = log.run(run.at, buffer)?;
                let zip = is_zip.then_some(zip);
                PageChanges::new(bytes, space, *page_no, zip, descriptions)
                    .apply(records, run.at)?;
            }
        }
        Ok(())
    }

    /// The end of the mini-transaction that has a record at an LSN.
    pub fn end_of_mini_transaction(&self, lsn: Lsn, buffers: &mut RunBuffers) -> Result<Lsn> {
        match self {
            RedoLog::MiniTransactions(log) => log.end_of_mini_transaction(lsn, &mut buffers.bytes),
            RedoLog::Groups(log) => log.end_of_group(lsn, &mut buffers.bytes),
        }
    }

    /// Whether no page is changed without a record. MySQL builds indexes without.
    pub fn has_all_changes(&self) -> bool {
        matches!(self, RedoLog::MiniTransactions(_))
    }

    /// Whether an encrypted page names its key. In this place, one of a spatial index of MySQL has a number, which is
    /// part of it.
    pub fn has_keys_on_pages(&self) -> bool {
        matches!(self, RedoLog::MiniTransactions(_))
    }

    /// Whether the records of a page may start from zeroes without one that initialises it.
    pub fn starts_from_zeroes(&self) -> bool {
        matches!(self, RedoLog::Groups(_))
    }

    /// Whether a page may have an LSN of the log; `change`: its newest change before that. MySQL builds indexes without
    /// records of their pages, so any end of a group will do, and any LSN of a page that was only initialised; of
    /// MariaDB's log, only the end of that change.
    pub fn may_have_written(
        &self,
        lsn: Lsn,
        change: Option<Run>,
        buffers: &mut RunBuffers,
    ) -> Result<bool> {
        match (self, change) {
            (RedoLog::Groups(log), None) => log.has_end(lsn, &mut buffers.bytes),
            (RedoLog::Groups(log), Some(run)) => {
                Ok(log.has_end(lsn, &mut buffers.bytes)?
                    || log.is_init(run.at, &mut buffers.bytes)?)
            }
            (RedoLog::MiniTransactions(_), None) => Ok(false),
            (RedoLog::MiniTransactions(_), Some(run)) => {
                Ok(self.end_of_mini_transaction(run.at, buffers)? == lsn)
            }
        }
    }

    /// The newest of a page's runs that makes it anew, in a log that does not drop those before it, and has all changes
    /// of the page from an LSN on.
    pub fn newest_init(
        &self,
        runs: &[Run],
        from: Lsn,
        buffers: &mut RunBuffers,
    ) -> Result<Option<Lsn>> {
        let mut newest = None;
        if let RedoLog::Groups(log) = self {
            for run in runs.iter().filter(|run| run.at >= from) {
                if log.is_init(run.at, &mut buffers.bytes)? {
                    newest = Some(run.at);
                }
            }
        }
        Ok(newest)
    }
}
