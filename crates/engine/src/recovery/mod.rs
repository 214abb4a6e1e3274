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
mod entries;
mod files;
mod group_log;
mod index;
mod log;
mod parts;
mod redo_log;
mod sense;
mod settle;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_format::page::SpaceHeader;
use innoscan_format::redo::mysql::{Counter, Kind};
use innoscan_format::redo::{Circular, FileOperation, Records};
use innoscan_format::{Error as FormatError, Lsn, PageNo, PageSize, SpaceId};

use self::doublewrite::Doublewrite;
pub use self::entries::IndexMemory;
use self::files::Files;
use self::group_log::GroupLog;
use self::index::{Index, Indexing};
use self::log::Log;
pub use self::log::LogCiphers;
use self::parts::Deltas;
pub use self::parts::{BackupFiles, DeltaFile, Parts};
use self::redo_log::RedoLog;
pub use self::settle::{Settling, SpaceRedo};
use crate::{Error, Result};

/// The redo log of a killed server, read and indexed; or those of a backup and the incremental backups on it.
#[derive(Debug)]
pub struct Recovery {
    root: PathBuf,
    /// Other directories with files of the server.
    homes: Vec<PathBuf>,
    page_size: PageSize,
    /// At least one; of backups those of the base and of each incremental backup, oldest first.
    logs: Vec<IndexedLog>,
    doublewrite: Doublewrite,
    /// The last AUTO_INCREMENT values that the log has, by the table's id and version.
    counters: HashMap<(u64, u64), u64>,
    /// The files of tablespaces, where they are not simply at their paths.
    backup_files: Option<BackupFiles>,
}

/// A redo log and what it changes.
#[derive(Debug)]
struct IndexedLog {
    log: RedoLog,
    index: Index,
    files: Files,
    checkpoint: Lsn,
    end: Lsn,
}

/// A redo log of MariaDB 10.8 or later that is to be read.
#[derive(Debug)]
pub struct CircularLog<'l> {
    /// The directory whose files its changes are of.
    pub root: &'l Path,
    /// The path of the log.
    pub path: &'l Path,
    /// The head of the log.
    pub circular: Circular,
}

/// What is needed to read a log.
#[derive(Clone, Copy)]
pub struct LogReading<'l> {
    /// Memory for its index.
    pub memory: &'l IndexMemory,
    /// The ciphers of an encrypted one.
    pub ciphers: &'l LogCiphers<'l>,
}

impl Recovery {
    /// Reads the log of the server with the data directory `root`, which is that of the log; or the logs of a backup
    /// and the incremental backups on it, oldest first, the last of which is `root`. `homes`: the other directories
    /// with files of the server, as far as they exist; `page_size`: the server's.
    ///
    /// # Errors
    /// A log's key is not known or wrong, it cannot be read, does not begin as a log does after a checkpoint, or has
    /// changes of more pages than can be indexed; two logs contradict each other.
    pub fn open(
        root: &Path,
        homes: &[PathBuf],
        logs: &[CircularLog<'_>],
        page_size: PageSize,
        reading: &LogReading<'_>,
    ) -> Result<Recovery> {
        let root = canonical_root(root)?;
        let mut read: Vec<IndexedLog> = Vec::with_capacity(logs.len());
        for log in logs {
            let newer = IndexedLog::read(log, reading)?;
            if let Some(older) = read.last() {
                older.require_same_server(&newer)?;
            }
            read.push(newer);
        }
        Ok(Recovery {
            root,
            homes: canonical(homes),
            page_size,
            logs: read,
            doublewrite: Doublewrite::default(),
            counters: HashMap::new(),
            backup_files: None,
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
        memory: &IndexMemory,
    ) -> Result<Option<Recovery>> {
        let root = canonical_root(root)?;
        let Some(log) = GroupLog::open(paths)? else { return Ok(None) };
        let checkpoint = log.checkpoint();
        let mut index = Indexing::new(checkpoint, memory);
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
        let index = index.finish()?;
        let homes = canonical(homes);
        let directories = std::iter::once(&root).chain(homes.iter().filter(|home| **home != root));
        let doublewrite = Doublewrite::open(directories, page_size, (checkpoint, end))?;
        Ok(Some(Recovery {
            homes,
            root,
            page_size,
            logs: vec![IndexedLog { log: RedoLog::Groups(log), index, files, checkpoint, end }],
            doublewrite,
            counters,
            backup_files: None,
        }))
    }

    /// The data directory, as a canonical path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The newest log.
    fn newest(&self) -> &IndexedLog {
        // There is at least one.
        &self.logs[self.logs.len() - 1]
    }

    /// The LSN of the newest log's end: pages are as they were then.
    pub fn end(&self) -> Lsn {
        self.newest().end
    }

    /// The range of a log: its checkpoint and its end.
    pub fn range_of(&self, backup: usize) -> Option<(Lsn, Lsn)> {
        self.logs.get(backup).map(|log| (log.checkpoint, log.end))
    }

    /// The tablespace that the log of a backup names by a path.
    pub fn space_at(&self, backup: usize, path: &Path) -> Option<SpaceId> {
        self.logs.get(backup)?.files.space_at(path)
    }

    /// The same logs, of a directory whose tablespaces consist of these files; there are no others.
    #[must_use]
    pub fn with_backup_files(self, files: BackupFiles) -> Recovery {
        Recovery { backup_files: Some(files), ..self }
    }

    /// The files that tablespaces consist of, where they are not simply at their paths.
    pub(crate) fn backup_files(&self) -> Option<&BackupFiles> {
        self.backup_files.as_ref()
    }

    /// Whether a file, by its canonical path, is of this server.
    pub fn has_file(&self, path: &Path) -> bool {
        let is_below = |directory: &PathBuf| path.starts_with(directory);
        is_below(&self.root)
            || self.homes.iter().any(is_below)
            || self.logs.iter().any(|log| log.files.has(path))
    }

    /// The last AUTO_INCREMENT values that the log has, by the table's id and version (MySQL).
    pub fn counters(&self) -> &HashMap<(u64, u64), u64> {
        &self.counters
    }

    /// Whether the log says that the page was freed, and not used again.
    ///
    /// # Errors
    /// The spilled index cannot be read.
    pub fn is_freed(&self, space: SpaceId, page: PageNo) -> Result<bool> {
        for log in self.logs.iter().rev() {
            if let Some(chain) = log.index.chain(space, page)? {
                return Ok(chain.base == index::Base::Freed);
            }
        }
        Ok(false)
    }

    /// Memory that the indexes of the logs take.
    pub fn memory_bytes(&self) -> usize {
        self.logs.iter().map(|log| log.index.memory_bytes()).sum()
    }

    /// The tablespace at `path`: its header, from its first bytes in `head` (`read_bytes` of them; the rest may hold
    /// anything), settled if its first page has records in a log; and its deltas.
    fn open_space(
        &self,
        path: &Path,
        head: &mut [u8],
        read_bytes: usize,
    ) -> Result<(SpaceHeader, Deltas)> {
        head[read_bytes..].fill(0);
        let parts = self.backup_files.as_ref().and_then(|files| files.get(path));
        let deltas = parts.map_or(Ok(Deltas::none()), Deltas::open)?;
        let page_bytes = match parts.and_then(|parts| parts.deltas.first()) {
            Some(delta) => delta.page_bytes,
            None => self.page_size.bytes() as usize,
        };
        let page_bytes = page_bytes.min(head.len());
        let first = deltas.read(PageNo(0), &mut head[..page_bytes], false)?;
        let is_written = head[..page_bytes].iter().any(|&byte| byte != 0);
        let named = parts.map_or(path, |parts| &parts.named);
        let space = match is_written {
            true => SpaceId(innoscan_format::bytes::u32_at(head, 34)?),
            false => parts
                .and_then(|parts| parts.space)
                .or_else(|| self.space_at(first, named))
                .ok_or_else(|| {
                    let what = "page 0 is all zeroes, and the redo log does not say whose it is";
                    Error::from(FormatError::corrupt(what))
                })?,
        };
        // Damage in a page 0 that was never written would make it one of the system tablespace.
        if space == SpaceId::SYSTEM && path.extension().is_some_and(|ending| ending == "ibd") {
            let what = "page 0 is damaged: it says that this is the system tablespace";
            return Err(FormatError::corrupt(what).into());
        }
        if self.newest().files.is_deleted(space) {
            return Err(Error::refused(
                "its tablespace was dropped, by the redo log",
                "the file is a remainder; a server would delete it",
            ));
        }
        let header = settle::header(self, space, first, head, page_bytes)?;
        Ok((header, deltas))
    }
}

impl IndexedLog {
    fn read(file: &CircularLog<'_>, reading: &LogReading<'_>) -> Result<IndexedLog> {
        let &CircularLog { path, circular, .. } = file;
        let root = canonical_root(file.root)?;
        let log = Log::open(path, circular, reading.ciphers)?;
        let checkpoint = circular.checkpoint;
        let mut index = Indexing::new(checkpoint, reading.memory);
        let mut files = Files::default();
        let mut is_confirmed = false;
        let end = log.read_through(|lsn, records| {
            let added = index.add(lsn, Records::new(records), |record| {
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
        let index = index.finish()?;
        Ok(IndexedLog { log: RedoLog::Ring(log), index, files, checkpoint, end })
    }

    /// Requires that the log of the next backup is one of the same server, as far as this one reaches into it.
    fn require_same_server(&self, newer: &IndexedLog) -> Result<()> {
        let (from, end) = (newer.checkpoint, self.end.min(newer.end));
        let (RedoLog::Ring(older_log), RedoLog::Ring(newer_log)) = (&self.log, &newer.log) else {
            return Ok(());
        };
        if from < self.checkpoint || (from < end && !older_log.agrees(newer_log, from, end)?) {
            return Err(newer_log.located(Error::refused_directory(
                format!(
                    "the redo log from LSN {from} on is another one than that of the backup before, which has LSN {} \
                     to {}: they are not of one server, or not in order",
                    self.checkpoint, self.end
                ),
                "name the base, then its incremental backups, oldest first",
            )));
        }
        Ok(())
    }
}

/// The canonical path of a data directory.
fn canonical_root(root: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(root)
        .map_err(|error| Error::read("cannot open the data directory", error).in_file(root))
}

/// The canonical paths of those that exist.
fn canonical(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| std::fs::canonicalize(path).ok()).collect()
}
