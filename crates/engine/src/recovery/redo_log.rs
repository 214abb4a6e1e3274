//! The redo logs of both families, as those who settle pages see them: runs of records at LSNs.

use innoscan_format::redo::PageRedo;
use innoscan_format::redo::mysql::{Descriptions, PageChanges};
use innoscan_format::{Lsn, PageNo, SpaceId};

use super::group_log::GroupLog;
use super::index::Run;
use super::log::{Log, RunWindow};
use crate::Result;

/// A redo log.
#[derive(Debug)]
pub(super) enum RedoLog {
    /// MariaDB 10.8 and later.
    Ring(Log),
    /// MySQL 8.0.30 and later.
    Groups(GroupLog),
}

/// Buffers for reading and applying records.
#[derive(Debug, Default)]
pub(super) struct RunBuffers {
    bytes: Vec<u8>,
    window: RunWindow,
    descriptions: Descriptions,
}

/// A page, and its bytes.
pub(super) struct PageBytes<'p> {
    pub space: SpaceId,
    pub page_no: PageNo,
    pub is_zip: bool,
    pub bytes: &'p mut [u8],
}

impl RedoLog {
    /// Applies runs of records to their page.
    pub fn apply_all(
        &self,
        runs: &[Run],
        page: &mut PageBytes<'_>,
        buffers: &mut RunBuffers,
    ) -> Result<()> {
        buffers.window.clear();
        for (nth, run) in runs.iter().enumerate() {
            if let RedoLog::Ring(log) = self {
                log.read_ahead(&runs[nth..], &mut buffers.window)?;
            }
            self.apply(*run, page, buffers)?;
        }
        Ok(())
    }

    fn apply(&self, run: Run, page: &mut PageBytes<'_>, buffers: &mut RunBuffers) -> Result<()> {
        let PageBytes { space, page_no, is_zip, bytes } = page;
        let RunBuffers { bytes: buffer, window, descriptions } = buffers;
        match self {
            RedoLog::Ring(log) => {
                let records = log.run(run, window, buffer)?;
                PageRedo::new(bytes, *space, *page_no, *is_zip).apply(records, run.mtr)?;
            }
            RedoLog::Groups(log) => {
                let records = log.run(run.at, buffer)?;
                PageChanges::new(bytes, *space, *page_no, *is_zip, descriptions)
                    .apply(records, run.at)?;
            }
        }
        Ok(())
    }

    /// The end of the mini-transaction that has a record at an LSN.
    pub fn end_of_mini_transaction(&self, lsn: Lsn, buffers: &mut RunBuffers) -> Result<Lsn> {
        match self {
            RedoLog::Ring(log) => log.end_of_mini_transaction(lsn, &mut buffers.bytes),
            RedoLog::Groups(log) => log.end_of_group(lsn, &mut buffers.bytes),
        }
    }

    /// Whether pages may be initialised by a record, and else start from zeroes if the file has nothing else.
    pub fn has_init_records(&self) -> bool {
        matches!(self, RedoLog::Groups(_))
    }

    /// Whether a page may have an LSN of the log. MySQL builds indexes without records of their pages, so any end of a
    /// group will do; of MariaDB's log, only the end of a change of that page, the last of which `change` is.
    pub fn may_have_written(
        &self,
        lsn: Lsn,
        change: Option<Run>,
        buffers: &mut RunBuffers,
    ) -> Result<bool> {
        match (self, change) {
            (RedoLog::Groups(log), _) => log.has_end(lsn, &mut buffers.bytes),
            (RedoLog::Ring(_), None) => Ok(false),
            (RedoLog::Ring(_), Some(run)) => {
                Ok(self.end_of_mini_transaction(run.at, buffers)? == lsn)
            }
        }
    }

    /// The newest of a page's runs that makes it anew, in a log that does not drop those before it.
    pub fn newest_init(&self, runs: &[Run], buffers: &mut RunBuffers) -> Result<Option<Lsn>> {
        let mut newest = None;
        if let RedoLog::Groups(log) = self {
            for run in runs {
                if log.is_init(run.at, &mut buffers.bytes)? {
                    newest = Some(run.at);
                }
            }
        }
        Ok(newest)
    }
}
