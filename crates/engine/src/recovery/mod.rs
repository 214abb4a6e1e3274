//! Reading of a directory whose server was killed (MariaDB 10.8 and later, MySQL 8.0.30 and later): the redo log
//! after the checkpoint is indexed by page, and applied in memory to each page as it is read. Nothing is written.
//!
//! ```text
//! redo log --> Log --mini-transactions--> Index: page -> where its records are in the log
//!                                                |
//! file --> Engine --> Frame --> SpaceRedo::settle: apply, seal --> page::open   (as without a log)
//! ```
//!
//! A page that has records in the log leaves the pool settled, or not at all. It is settled each time it
//! is read, so an evicted page costs no more than another. Pages without records cost one look-up.
//!
//! Whether a transaction was committed is not known here: a page holds the changes of all.

mod doublewrite;
mod files;
mod group_log;
mod index;
mod log;
mod redo_log;
mod settle;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_format::page::SpaceHeader;
use innoscan_format::redo::mysql::{Counter, Kind};
use innoscan_format::redo::{Circular, FileOperation, Records};
use innoscan_format::{Error as FormatError, Lsn, PageNo, PageSize, SpaceId};

use self::doublewrite::Doublewrite;
use self::files::Files;
use self::group_log::GroupLog;
use self::index::Index;
use self::log::Log;
use self::redo_log::RedoLog;
pub use self::settle::{Settling, SpaceRedo};
use crate::{Error, Result};

/// The redo log of a killed server, read and indexed.
#[derive(Debug)]
pub struct Recovery {
    root: PathBuf,
    /// Other directories with files of the server.
    homes: Vec<PathBuf>,
    page_size: PageSize,
    log: RedoLog,
    index: Index,
    files: Files,
    doublewrite: Doublewrite,
    /// The last AUTO_INCREMENT values that the log has, by the table's id and version.
    counters: HashMap<(u64, u64), u64>,
    checkpoint: Lsn,
    end: Lsn,
}

impl Recovery {
    /// Reads the log at `path`, whose head is `circular`, of the server with the data directory `root`;
    /// `homes`: the other directories with files of its, as far as they exist; `page_size`: the server's.
    ///
    /// # Errors
    /// The log is encrypted, cannot be read, does not begin as a log does after a checkpoint, or has
    /// changes of more pages than can be indexed.
    pub fn open(
        root: &Path,
        homes: &[PathBuf],
        path: &Path,
        circular: Circular,
        page_size: PageSize,
    ) -> Result<Recovery> {
        if circular.is_encrypted() {
            let what = "an encrypted redo log with changes after its checkpoint";
            let remedy = "start the server on this directory (or a copy), and shut it down cleanly";
            return Err(Error::from(FormatError::unsupported(what, remedy)).in_file(path));
        }
        let root = std::fs::canonicalize(root)
            .map_err(|error| Error::read("cannot open the data directory", error).in_file(root))?;
        let log = Log::open(path, circular)?;
        let checkpoint = circular.checkpoint;
        let mut index = Index::new(checkpoint);
        let mut files = Files::default();
        let mut is_confirmed = false;
        let end = log.read_through(|lsn, mtr| {
            let added = index.add(lsn, Records::new(mtr.records), |record| {
                is_confirmed |= record.operation == FileOperation::Checkpoint(checkpoint);
                files.add(&root, record);
            });
            added.map_err(|error| {
                let prefix = format!("the mini-transaction at LSN {lsn}");
                log.located(error.map_format(|error| error.with_prefix(prefix)))
            })
        })?;
        if !is_confirmed {
            return Err(log.located(Error::refused_directory(
                format!(
                    "the redo log ends at LSN {end}, before the record that confirms its checkpoint \
                     {checkpoint}: it is damaged, or was cut short"
                ),
                "read another copy of the directory",
            )));
        }
        index.finish();
        Ok(Recovery {
            root,
            homes: canonical(homes),
            page_size,
            log: RedoLog::Ring(log),
            index,
            files,
            doublewrite: Doublewrite::default(),
            counters: HashMap::new(),
            checkpoint,
            end,
        })
    }

    /// Reads the log of a MySQL server, whose files are at `paths`, as [`Recovery::open`] does; `None` if the
    /// log is of a version before 8.0.30.
    ///
    /// # Errors
    /// As for [`Recovery::open`]; a file of the log is missing; the log was switched off.
    pub fn open_mysql(
        root: &Path,
        homes: &[PathBuf],
        paths: &[PathBuf],
        page_size: PageSize,
    ) -> Result<Option<Recovery>> {
        let root = std::fs::canonicalize(root)
            .map_err(|error| Error::read("cannot open the data directory", error).in_file(root))?;
        let Some(log) = GroupLog::open(paths)? else { return Ok(None) };
        let checkpoint = log.checkpoint();
        let mut index = Index::new(checkpoint);
        let mut files = Files::default();
        let mut counters = HashMap::new();
        let end = log.read_through(|records| {
            for record in records {
                match &record.kind {
                    Kind::File(record) => files.add(&root, record),
                    Kind::Counter(Counter { table, version, last }) => {
                        counters.insert((*table, *version), *last);
                    }
                    _ => {}
                }
            }
            index.add_group(records)
        })?;
        index.finish();
        let homes = canonical(homes);
        let directories = std::iter::once(&root).chain(homes.iter().filter(|home| **home != root));
        let doublewrite = Doublewrite::open(directories, page_size, (checkpoint, end))?;
        Ok(Some(Recovery {
            homes,
            root,
            page_size,
            log: RedoLog::Groups(log),
            index,
            files,
            doublewrite,
            counters,
            checkpoint,
            end,
        }))
    }

    /// The data directory, as a canonical path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The LSN of the log's end: pages are as they were then.
    pub fn end(&self) -> Lsn {
        self.end
    }

    /// Whether a file, by its canonical path, is of this server.
    pub fn has_file(&self, path: &Path) -> bool {
        let is_below = |directory: &PathBuf| path.starts_with(directory);
        is_below(&self.root) || self.homes.iter().any(is_below) || self.files.has(path)
    }

    /// The last AUTO_INCREMENT values that the log has, by the table's id and version (MySQL).
    pub fn counters(&self) -> &HashMap<(u64, u64), u64> {
        &self.counters
    }

    /// Whether the log says that the page was freed, and not used again.
    pub fn is_freed(&self, space: SpaceId, page: PageNo) -> bool {
        self.index.chain(space, page).is_some_and(|chain| chain.base == index::Base::Freed)
    }

    /// The header of the file at `path`, whose first bytes are `head` (`read_bytes` of them; the rest may
    /// hold anything): settled, if its first page has records in the log.
    pub(crate) fn header(
        &self,
        path: &Path,
        head: &mut [u8],
        read_bytes: usize,
    ) -> Result<SpaceHeader> {
        head[read_bytes..].fill(0);
        let page_bytes = (self.page_size.bytes() as usize).min(head.len());
        let is_written = head[..page_bytes].iter().any(|&byte| byte != 0);
        let space = match is_written {
            true => SpaceId(innoscan_format::bytes::u32_at(head, 34)?),
            false => self.files.space_at(path).ok_or_else(|| {
                let what = "page 0 is all zeroes, and the redo log does not say whose it is";
                Error::from(FormatError::corrupt(what))
            })?,
        };
        if self.files.is_deleted(space) {
            return Err(Error::refused(
                "its tablespace was dropped, by the redo log",
                "the file is a remainder; a server would delete it",
            ));
        }
        settle::header(self, space, head, page_bytes)
    }
}

/// The canonical paths of those that exist.
fn canonical(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| std::fs::canonicalize(path).ok()).collect()
}
