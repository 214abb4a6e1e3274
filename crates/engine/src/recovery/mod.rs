//! Reading of a directory whose server was killed (MariaDB 10.5 and later, MySQL 8.0.30 and later): the redo log
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

mod block_log;
mod doublewrite;
mod entries;
mod files;
mod first_page;
mod group_log;
mod index;
mod log;
mod parts;
mod read_until;
mod redo_log;
mod ring_file;
mod sense;
mod settle;
mod torn;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_format::redo::mysql::{Counter, Kind};
use innoscan_format::redo::{BlockRing, Circular, FileOperation, Records};
use innoscan_format::{Lsn, PageNo, PageSize, SpaceId};

use self::block_log::BlockLog;
use self::doublewrite::Doublewrite;
pub use self::doublewrite::page_size_of;
pub use self::entries::IndexMemory;
use self::files::Files;
use self::group_log::GroupLog;
pub use self::group_log::GroupLogCipher;
use self::index::{Index, Indexing};
use self::log::Log;
pub use self::log::LogCiphers;
pub use self::parts::{BackupFiles, DeltaFile, Parts};
use self::redo_log::{MiniTransactions, RedoLog, RunBuffers};
pub use self::settle::{Settling, SpaceRedo};
use crate::{Error, Result};

/// Where the files of a killed server are.
#[derive(Clone, Copy, Debug)]
pub struct ServerFiles<'a> {
    /// The data directory.
    pub root: &'a Path,
    /// The other directories with files of its, as far as they exist.
    pub homes: &'a [PathBuf],
    /// The files of the system tablespace.
    pub system: &'a [PathBuf],
    /// The server's page size.
    pub page_size: PageSize,
}

/// The redo log of a killed server, read and indexed; or those of a backup and the incremental backups on it.
#[derive(Debug)]
pub struct Recovery {
    root: PathBuf,
    /// The first file of the system tablespace.
    system: PathBuf,
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
    /// Reads the log of a server of MariaDB 10.8 or later; or the logs of a backup and the incremental backups on it,
    /// oldest first, the last of which is the one that `server` describes.
    ///
    /// # Errors
    /// A log's key is not known or wrong, it cannot be read, does not begin as a log does after a checkpoint, or has
    /// changes of more pages than can be indexed; two logs contradict each other.
    pub fn open(
        server: ServerFiles<'_>,
        logs: &[CircularLog<'_>],
        reading: &LogReading<'_>,
    ) -> Result<Recovery> {
        let mut read: Vec<IndexedLog> = Vec::with_capacity(logs.len());
        for &CircularLog { root, path, circular } in logs {
            let log = MiniTransactions::Ring(Log::open(path, circular, reading.ciphers)?);
            let newer = IndexedLog::read(root, log, circular.checkpoint, reading.memory)?;
            if let Some(older) = read.last() {
                older.require_same_server(&newer)?;
            }
            read.push(newer);
        }
        // A backup has no page whose write was not finished.
        let doublewrite = match &read[..] {
            [log] => server.doublewrite(log)?,
            _ => Doublewrite::empty(server.page_size, (Lsn(0), Lsn(0))),
        };
        Recovery::of(server, read, doublewrite)
    }

    /// Reads the log at `path` of a server of MariaDB 10.5 to 10.7, as [`Recovery::open`] does.
    ///
    /// # Errors
    /// As for [`Recovery::open`].
    pub fn open_blocks(
        server: ServerFiles<'_>,
        path: &Path,
        ring: BlockRing,
        memory: &IndexMemory,
    ) -> Result<Recovery> {
        let log = MiniTransactions::Blocks(BlockLog::open(path, ring)?);
        let log = IndexedLog::read(server.root, log, ring.checkpoint, memory)?;
        let doublewrite = server.doublewrite(&log)?;
        Recovery::of(server, vec![log], doublewrite)
    }

    /// Reads the log of a MySQL server, whose files are at `paths`, as [`Recovery::open`] does; `None` if the
    /// log is of a version before 8.0.30. `cipher`: of an encrypted one.
    ///
    /// # Errors
    /// As for [`Recovery::open`]; a file of the log is missing; the log was switched off.
    pub fn open_mysql(
        server: ServerFiles<'_>,
        paths: &[PathBuf],
        memory: &IndexMemory,
        cipher: &GroupLogCipher<'_>,
    ) -> Result<Option<Recovery>> {
        let root = canonical_root(server.root)?;
        let Some(log) = GroupLog::open(paths, cipher)? else { return Ok(None) };
        let checkpoint = log.checkpoint();
        let mut index = Indexing::new(checkpoint, memory);
        let mut files = Files::default();
        let mut counters = HashMap::new();
        let end = log.read_through(|group| {
            for record in group.records {
                match &record.kind {
                    Kind::File(record) if group.is_whole => files.add(&root, record),
                    // The server takes those of the group that was cut off too (`recv_parse_log_rec`, MySQL 8.0).
                    Kind::Counter(Counter { table, version, last }) => {
                        counters.insert((*table, *version), *last);
                    }
                    _ => {}
                }
            }
            match group.is_whole {
                true => index.add_group(group.records),
                false => Ok(()),
            }
        })?;
        let index = index.finish()?;
        let homes = canonical(server.homes);
        let directories = std::iter::once(&root).chain(homes.iter().filter(|home| **home != root));
        let doublewrite = Doublewrite::of_files(directories, server.page_size, (checkpoint, end))?;
        let log = IndexedLog { log: RedoLog::Groups(log), index, files, checkpoint, end };
        let recovery = Recovery::of(server, vec![log], doublewrite)?;
        Ok(Some(Recovery { counters, ..recovery }))
    }

    fn of(
        server: ServerFiles<'_>,
        logs: Vec<IndexedLog>,
        doublewrite: Doublewrite,
    ) -> Result<Recovery> {
        Ok(Recovery {
            root: canonical_root(server.root)?,
            system: server.canonical_system(),
            homes: canonical(server.homes),
            page_size: server.page_size,
            logs,
            doublewrite,
            counters: HashMap::new(),
            backup_files: None,
        })
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

    /// The LSN of the newest log's checkpoint: older changes are in the data files.
    pub fn checkpoint(&self) -> Lsn {
        self.newest().checkpoint
    }

    /// The newest name that the log has for the file of a tablespace.
    pub fn name_of(&self, space: SpaceId) -> Option<&Path> {
        self.newest().files.name_of(space)
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

    /// Whether the newest log has all of a page, from a record on that initialises it.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn initialises(&self, space: SpaceId, page: PageNo) -> Result<bool> {
        let IndexedLog { index, log, .. } = self.newest();
        let Some(chain) = index.chain(space, page)? else { return Ok(false) };
        let from = index.complete_from(space);
        let newest = log.newest_init(&chain.runs, from, &mut RunBuffers::default())?;
        Ok(chain.base == index::Base::Nothing || newest.is_some())
    }

    /// Memory that the indexes of the logs take.
    pub fn memory_bytes(&self) -> usize {
        self.logs.iter().map(|log| log.index.memory_bytes()).sum()
    }
}

impl IndexedLog {
    /// Reads a log of MariaDB, of changes of files in the directory `root`.
    fn read(
        root: &Path,
        log: MiniTransactions,
        checkpoint: Lsn,
        memory: &IndexMemory,
    ) -> Result<IndexedLog> {
        let root = canonical_root(root)?;
        let mut index = Indexing::new(checkpoint, memory);
        let mut files = Files::default();
        let mut is_confirmed = false;
        let end = log.read_through(|lsn, records| {
            let lsn_of = |at| log.lsn_of(lsn, at);
            let added = index.add(lsn, Records::new(records), lsn_of, |record| {
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
        Ok(IndexedLog { log: RedoLog::MiniTransactions(log), index, files, checkpoint, end })
    }

    /// Requires that the log of the next backup is one of the same server, as far as this one reaches into it.
    fn require_same_server(&self, newer: &IndexedLog) -> Result<()> {
        let (from, end) = (newer.checkpoint, self.end.min(newer.end));
        let (Some(older_log), Some(newer_log)) = (self.log.ring(), newer.log.ring()) else {
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

impl ServerFiles<'_> {
    fn canonical_system(&self) -> PathBuf {
        let first = self.system.first().map_or(Path::new(""), PathBuf::as_path);
        std::fs::canonicalize(first).unwrap_or_else(|_| first.to_owned())
    }

    /// The doublewrite buffer of MariaDB.
    fn doublewrite(&self, log: &IndexedLog) -> Result<Doublewrite> {
        Doublewrite::of_system(self.system, self.page_size, (log.checkpoint, log.end))
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
