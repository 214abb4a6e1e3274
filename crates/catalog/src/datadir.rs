//! Data directories and backups, and the checks that their files hold every row.
//!
//! A running server has newer pages in its memory than in its files: it is refused, and recognized
//! by its locks on the system tablespace, the redo log and others (`os0file.cc, os_file_lock`).
//! A server that was not shut down cleanly has newer changes in its redo log
//! ([`format::redo`](innoscan_format::redo)). The files of MariaDB 10.5 and later, and of MySQL
//! 8.0.30 and later, are then read through the log ([`Recovery`]); those of others are refused.

use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use innoscan_engine::keys::Keys;
use innoscan_engine::recovery::{self, CircularLog, LogReading, Recovery, ServerFiles};
use innoscan_engine::space::Space;
use innoscan_engine::system_tablespace::SystemTablespace;
use innoscan_engine::undo_logs::UndoLogs;
use innoscan_engine::{Error, ErrorKind, Remedy, Result};
use innoscan_format::page::UNRECOVERED;
use innoscan_format::redo::{self, Block, Blocks, Circular, RedoHead};
use innoscan_format::{Error as FormatError, IndexId, Lsn};
use innoscan_io::{Direct, directory_with};
use rustix::process::{Flock, FlockType, fcntl_getlk};

use crate::backup::{Backup, Chain};
use crate::data_files::DataFiles;
use crate::file_bytes::read_at;
use crate::prepared::Prepared;
use crate::system_files;
use crate::undo::{self, Found, Settled};

/// Files in the data directory that MySQL 8 and MariaDB lock (`ma_control_file.c`), wherever their system tablespace is.
/// MariaDB does not lock its redo log (10.11).
const LOCKED: [&str; 2] = ["mysql.ibd", "aria_log_control"];

/// Files and directories by which a data directory is recognized. The system tablespace may be elsewhere.
const SIGNS: [&str; 4] = [system_files::FIRST, "mysql.ibd", "ib_logfile0", "#innodb_redo"];

/// A directory that holds databases.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
    shutdown: Shutdown,
    trust: Trust,
    system: Option<Arc<SystemTablespace>>,
    undo_unread: Option<String>,
    settled: Settled,
    /// Incremental backups that it is read with.
    incrementals: usize,
}

/// The state in which the server left the directory's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Every change up to this LSN is in the data files, and there are none after it.
    Clean {
        /// The end of the redo log; no page can be newer.
        end: Lsn,
    },
    /// The server was killed, or the backup was not prepared, and the files are read through the redo log: as they
    /// were at its end.
    Crashed {
        /// The end of the redo log; no page can be newer.
        end: Lsn,
    },
    /// The state is unknown, for this reason, which the user should see.
    Unknown(String),
}

/// The strictness with which a directory is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Refuse a directory whose server is running or was not shut down cleanly, and take back the changes of
    /// unfinished transactions; of prepared ones by the user's choice.
    Verify(Prepared),
    /// Allow a running server: the tables read are locked by `FLUSH TABLES ... FOR EXPORT`.
    Exported,
    /// Read any directory (`--force`): rows may be missing, old or torn.
    Force,
}

impl DataDir {
    /// Checks the directory at `base`, or the newest of the incremental backups on it; `files`: which those are, and where
    /// its server's other files are.
    pub fn open(base: &Path, files: &DataFiles, trust: Trust, keys: &Keys) -> Result<DataDir> {
        let backup = match trust {
            Trust::Exported => Ok(None),
            Trust::Verify(_) | Trust::Force => read_backup(base, files, keys),
        };
        // Without its logs, an incremental backup has no tablespaces.
        let backup = match backup {
            Err(error) if !files.incrementals.is_empty() => return Err(error),
            backup => backup,
        };
        let root = files.newest(base);
        let system = files.system.find(root, keys).map(Arc::new);
        let judge = || judge(root, files, system.as_deref(), backup, keys);
        let shutdown = match trust {
            Trust::Verify(_) => judge()?,
            Trust::Exported => Shutdown::Unknown("its tables are flushed for export".to_owned()),
            Trust::Force => match judge() {
                Ok(shutdown) => shutdown,
                Err(error) => Shutdown::Unknown(error.to_string()),
            },
        };
        let root_path = root.to_owned();
        let (undo_unread, settled) = (None, Settled::default());
        let incrementals = files.incrementals.len();
        let mut datadir = DataDir {
            root: root_path,
            shutdown,
            trust,
            system,
            undo_unread,
            settled,
            incrementals,
        };
        if let (Some(_), Some(system)) = (datadir.newest_lsn(), datadir.system_tablespace()) {
            match (undo::unfinished(root, files, system, keys), trust) {
                (Err(error), Trust::Verify(_)) if error.kind() == ErrorKind::Corrupt => {
                    return Err(unfinished_unknown(root, &error.to_string()));
                }
                // What a killed server left unfinished must be known.
                (Err(error), Trust::Verify(_)) if datadir.is_crashed() => return Err(error),
                (Err(error), _) => datadir.undo_unread = Some(error.to_string()),
                (Ok(found), Trust::Verify(prepared)) => {
                    datadir.undo_unread = found.unread();
                    if let (true, Some(why)) = (datadir.is_crashed(), found.unread()) {
                        return Err(unfinished_unknown(root, &why));
                    }
                    if !found.is_none() {
                        datadir.settled = settle(root, found, prepared)?;
                    }
                }
                (Ok(found), Trust::Force) => {
                    datadir.undo_unread = found.unread();
                    datadir.settled.notes.extend(found.read_as_committed());
                }
                // Transactions of a running server.
                (Ok(_), Trust::Exported) => {}
            }
        }
        Ok(datadir)
    }

    /// Whether it is a backup.
    pub(crate) fn is_backup(&self) -> bool {
        Backup::of(&self.root).is_some()
    }

    /// The number of incremental backups that it is read with.
    pub(crate) fn incrementals(&self) -> usize {
        self.incrementals
    }

    /// The reason why it is unknown whether transactions were left unfinished, if it is.
    pub fn undo_unread(&self) -> Option<&str> {
        self.undo_unread.as_deref()
    }

    /// The undo logs of unfinished transactions whose changes are taken back; `None` if there are none.
    pub fn undo_logs(&self) -> Option<&Arc<UndoLogs>> {
        self.settled.logs.as_ref()
    }

    /// The ids of tables that were empty before unfinished transactions.
    pub(crate) fn emptied(&self) -> &[u64] {
        &self.settled.emptied
    }

    /// The same directory, whose tables with these clustered indexes were empty before unfinished transactions.
    pub(crate) fn with_emptied(mut self, indexes: HashSet<IndexId>) -> DataDir {
        let logs = self.settled.logs.as_ref();
        self.settled.logs = logs.map(|logs| Arc::new(logs.with_emptied(indexes)));
        self
    }

    /// What becomes of unfinished transactions, in sentences for the user.
    pub fn settled_notes(&self) -> &[String] {
        &self.settled.notes
    }

    /// The data directory of a server that contains an `.ibd` file in one of its databases, if any.
    pub fn root_of(ibd: &Path) -> Option<PathBuf> {
        let root = std::fs::canonicalize(directory_with(ibd)).ok()?.parent()?.to_owned();
        DataDir::is_one(&root).then_some(root)
    }

    /// Whether a directory is a server's data directory, or a backup of one.
    pub fn is_one(root: &Path) -> bool {
        SIGNS.iter().any(|sign| root.join(sign).exists()) || Backup::of(root).is_some()
    }

    /// The path of the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The state in which the server left the files.
    pub fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }

    /// Whether its server is running, and only tables that it flushed for export may be read.
    pub fn is_exported(&self) -> bool {
        self.trust == Trust::Exported
    }

    /// Whether its server was killed, and its files are read through the redo log.
    pub fn is_crashed(&self) -> bool {
        matches!(self.shutdown, Shutdown::Crashed { .. })
    }

    /// The greatest LSN that a page can have, if known.
    pub fn newest_lsn(&self) -> Option<Lsn> {
        match self.shutdown {
            Shutdown::Clean { end } | Shutdown::Crashed { end } => Some(end),
            Shutdown::Unknown(_) => None,
        }
    }

    /// The system tablespace, if there is one.
    pub fn system_tablespace(&self) -> Option<&Arc<SystemTablespace>> {
        self.system.as_ref()
    }
}

/// Requires that a directory has tablespaces, and not only those of their pages that changed.
///
/// # Errors
/// It is that of an incremental backup.
pub fn require_tablespaces(root: &Path) -> Result<()> {
    match Backup::of(root) {
        Some(backup) if backup.is_incremental() => Err(backup.is_no_base()),
        _ => Ok(()),
    }
}

/// Lets the files of a backup that was not prepared, and of the incremental backups on it, be read through their redo
/// logs; returns the LSN of their end, or `None` if it is no such backup.
fn read_backup(base: &Path, files: &DataFiles, keys: &Keys) -> Result<Option<Lsn>> {
    let Some(chain) = Chain::of(base, &files.incrementals)? else { return Ok(None) };
    let unread = || {
        Error::refused_directory("the backup has no system tablespace", "name a whole backup")
            .in_file(base)
    };
    let system = files.system.find(base, &Keys::default()).ok_or_else(unread)?;
    if let (false, [_, _, ..]) = (files.incrementals.is_empty(), system.files()) {
        let what = "incremental backups of a server whose system tablespace has several files";
        let error = FormatError::unsupported(what, "let mariadb-backup prepare them");
        return Err(Error::from(error).in_file(base));
    }
    let root = files.newest(base);
    let homes = homes(root, files, &system);
    chain.read(server_files(root, &homes, &system)?, keys).map(Some)
}

/// Judges a directory by its redo log. `files`: where its server's other files are; `system`: its system
/// tablespace, if that exists; `unprepared`: the end of its logs, if it is a backup that was not prepared.
fn judge(
    root: &Path,
    files: &DataFiles,
    system: Option<&SystemTablespace>,
    unprepared: Result<Option<Lsn>>,
    keys: &Keys,
) -> Result<Shutdown> {
    if !root.is_dir() {
        let error = std::io::Error::from(IoErrorKind::NotADirectory);
        return Err(Error::read("cannot open the data directory", error).in_file(root));
    }
    let logs = redo_logs(root)?;
    let of_system = system.map(SystemTablespace::files).unwrap_or_default();
    for file in logs.iter().chain(of_system).chain(&LOCKED.map(|name| root.join(name))) {
        refuse_locked(root, file)?;
    }
    if let Some(end) = unprepared? {
        return Ok(Shutdown::Crashed { end });
    }
    let Some(system) = system else {
        let first = files.system.first(root);
        let (name, home) = (first.file_name().unwrap_or_default(), first.parent());
        let (name, home) = (name.display(), home.unwrap_or(root).display());
        return Ok(Shutdown::Unknown(format!("there is no {name} in {home}")));
    };
    if logs.is_empty() {
        return Ok(Shutdown::Unknown(format!("there is no redo log in {}", root.display())));
    }
    let shutdown = judge_logs(root, &logs, (files, system), keys)?;
    if let (Some(backup), Shutdown::Clean { end }) = (Backup::of(root), &shutdown) {
        backup.require_applied(*end)?;
    }
    Ok(shutdown)
}

/// The files of the redo log group (`ib_logfile0`, ...) in their order, or the active ones in
/// `#innodb_redo` of MySQL 8.0.30 and later.
fn redo_logs(root: &Path) -> Result<Vec<PathBuf>> {
    let redo = root.join("#innodb_redo");
    if !redo.is_dir() {
        let group = (0..100).map(|n| root.join(format!("ib_logfile{n}")));
        return Ok(group.take_while(|log| log.is_file()).collect());
    }
    let entries = std::fs::read_dir(&redo)
        .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
        .map_err(|error| Error::read("cannot list the redo log", error).in_file(&redo))?;
    let in_use = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix("#ib_redo").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    Ok(entries.into_iter().map(|entry| entry.path()).filter(in_use).collect())
}

/// The holder of the lock that a server keeps on every open InnoDB file (`os_file_lock`, os0file.cc);
/// `None` if there is none.
///
/// # Errors
/// The file cannot be opened, or the lock cannot be queried.
pub fn lock_holder(file: &Path) -> std::io::Result<Option<Flock>> {
    Ok(fcntl_getlk(&File::open(file)?, &Flock::from(FlockType::WriteLock))?)
}

/// The server that runs on a data directory, by its lock on one of the files that it keeps locked; `system`: the first
/// file of the system tablespace.
pub fn running_server(root: &Path, system: &Path) -> Option<Flock> {
    let others = LOCKED.map(|name| root.join(name));
    let mut files = std::iter::once(system).chain(others.iter().map(PathBuf::as_path));
    files.find_map(|file| lock_holder(file).ok().flatten())
}

fn refuse_locked(root: &Path, file: &Path) -> Result<()> {
    let holder = match lock_holder(file) {
        Ok(holder) => holder,
        Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::read("cannot query its lock", error).in_file(file)),
    };
    let Some(holder) = holder else { return Ok(()) };
    let who = match holder.pid {
        Some(pid) => format!("process {}", pid.as_raw_nonzero()),
        None => "a process".to_owned(),
    };
    let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
    Err(Error::refused_directory(
        format!("{who} holds the lock on {name}: a server is running on this directory"),
        [
            Remedy::DumpLive,
            "shut it down".into(),
            "read a backup or snapshot of the directory".into(),
            "quiesce the tables with FLUSH TABLES ... FOR EXPORT and name their .ibd files".into(),
            Remedy::ReadAnyway,
        ],
    )
    .in_file(root))
}

fn judge_logs(
    root: &Path,
    logs: &[PathBuf],
    (files, system): (&DataFiles, &SystemTablespace),
    keys: &Keys,
) -> Result<Shutdown> {
    let mut group = Vec::with_capacity(logs.len());
    for log in logs {
        let file_bytes = std::fs::metadata(log)
            .map_err(|error| Error::read("cannot read its size", error).in_file(log))?
            .len();
        let head = read_at(log, 0, redo::HEAD_BYTES)?;
        match RedoHead::parse(&head, file_bytes).map_err(|error| Error::from(error).in_file(log))? {
            RedoHead::Blocks(blocks) => group.push((log, file_bytes, blocks)),
            RedoHead::Circular(circular) => {
                return judge_circular(root, log, circular, (files, system), keys);
            }
        }
    }
    let newest = group.iter().map(|(_, _, blocks)| blocks).max_by_key(|blocks| blocks.checkpoint);
    let Some((checkpoint, group_offset)) =
        newest.and_then(|blocks| Some((blocks.checkpoint?, blocks.group_offset)))
    else {
        return Err(not_clean(root, "its redo log holds no valid checkpoint".to_owned()));
    };
    let block_lsn = checkpoint.0 / redo::BLOCK_BYTES * redo::BLOCK_BYTES;
    let mut blocks = Vec::new();
    for nth in 0..2 {
        let place = match group_offset {
            Some(offset) => in_group(&group, offset / redo::BLOCK_BYTES + nth),
            None => in_files(&group, block_lsn + nth * redo::BLOCK_BYTES),
        };
        let Some((log, offset)) = place else { break };
        blocks.extend(read_at(log, offset, redo::BLOCK_BYTES as usize)?);
    }
    let empty = redo::is_empty_after_checkpoint(checkpoint, &blocks).map_err(Error::from)?;
    let ring = match group[..] {
        [(log, file_bytes, blocks)] => blocks.ring(file_bytes).map(|ring| (log, ring)),
        _ => None,
    };
    // What follows a damaged block is not known.
    let is_sound = ring.is_none() || Block::parse_without_epoch(&blocks, checkpoint).is_some();
    if empty && is_sound {
        return Ok(Shutdown::Clean { end: checkpoint });
    }
    let homes = homes(root, files, system);
    let server = server_files(root, &homes, system)?;
    if let Some((log, ring)) = ring {
        let recovery = Recovery::open_blocks(server, log, ring, keys.index_memory())?;
        return Ok(read_through(recovery, keys));
    }
    let cipher = |info: &_| keys.mysql_redo_cipher(info);
    match Recovery::open_mysql(server, logs, keys.index_memory(), &cipher)? {
        Some(recovery) => Ok(read_through(recovery, keys)),
        None => Err(changes_after(root, checkpoint)),
    }
}

/// The directories with files of a server.
fn homes(root: &Path, files: &DataFiles, system: &SystemTablespace) -> Vec<PathBuf> {
    let of_system = system.files().iter().filter_map(|file| file.parent()).map(Path::to_owned);
    files.of_undo(root).into_iter().chain(of_system).collect()
}

/// Lets the files of a killed server be read through its redo log.
fn read_through(recovery: Recovery, keys: &Keys) -> Shutdown {
    let end = recovery.end();
    keys.add_recovery(Arc::new(recovery));
    Shutdown::Crashed { end }
}

/// The files of a killed server, with its page size: by page 0 of its system tablespace, which is written when the
/// server is installed, or, if that is torn, by its doublewrite buffer.
fn server_files<'a>(
    root: &'a Path,
    homes: &'a [PathBuf],
    system: &'a SystemTablespace,
) -> Result<ServerFiles<'a>> {
    let page_size = match Space::open(system.first(), Direct::Off, &Keys::default()) {
        Ok(space) => space.page_size(),
        Err(error) => {
            let directory = root.to_owned();
            let directories = std::iter::once(&directory).chain(homes);
            recovery::page_size_of(system.files(), directories)?
                .ok_or_else(|| error.map_format(|error| error.with_prefix(UNRECOVERED)))?
        }
    };
    Ok(ServerFiles { root, homes, system: system.files(), page_size })
}

type LogFile<'a> = (&'a PathBuf, u64, Blocks);

/// The place of the block that comes `block` blocks after the group's start, with the files end to end;
/// a block that would fall into a file's header is the first one after the header.
fn in_group<'a>(files: &[LogFile<'a>], block: u64) -> Option<(&'a Path, u64)> {
    let (_, file_bytes, _) = files.first()?;
    let offset = block.checked_mul(redo::BLOCK_BYTES)?;
    let nth = offset.checked_div(*file_bytes)? as usize % files.len();
    let (log, _, _) = files.get(nth)?;
    Some((log, (offset % file_bytes).max(redo::BLOCKS_START)))
}

/// The place of the block of an LSN, by the start LSNs of the files.
fn in_files<'a>(files: &[LogFile<'a>], lsn: u64) -> Option<(&'a Path, u64)> {
    files.iter().find_map(|(log, file_bytes, blocks)| {
        let offset = lsn.checked_sub(blocks.start.0)? + redo::BLOCKS_START;
        (offset < *file_bytes).then_some((log.as_path(), offset))
    })
}

fn judge_circular(
    root: &Path,
    log: &Path,
    circular: Circular,
    (files, system): (&DataFiles, &SystemTablespace),
    keys: &Keys,
) -> Result<Shutdown> {
    let mut tail = read_at(log, circular.checkpoint_offset(), redo::TAIL_BYTES)?;
    if tail.len() < redo::TAIL_BYTES {
        tail.extend(read_at(log, redo::CIRCULAR_START, redo::TAIL_BYTES - tail.len())?);
    }
    if let Some(end) = circular.end_if_empty(&tail) {
        return Ok(Shutdown::Clean { end });
    }
    let homes = homes(root, files, system);
    let server = server_files(root, &homes, system)?;
    let log = CircularLog { root, path: log, circular };
    let reading =
        LogReading { memory: keys.index_memory(), ciphers: &|info| keys.redo_ciphers(info) };
    Ok(read_through(Recovery::open(server, &[log], &reading)?, keys))
}

fn changes_after(root: &Path, checkpoint: Lsn) -> Error {
    not_clean(root, format!("its redo log has changes after its checkpoint, {checkpoint}"))
}

fn not_clean(root: &Path, evidence: String) -> Error {
    Error::refused_directory(
        format!("the server was not shut down cleanly: {evidence}"),
        [Remedy::ShutDownServer, "prepare the backup, then read again".into(), Remedy::ReadAnyway],
    )
    .in_file(root)
}

fn settle(root: &Path, found: Found, prepared: Prepared) -> Result<Settled> {
    match found.can_be_settled() {
        true => found.settle(root, prepared),
        false => Err(not_ended(root, &found)),
    }
}

fn unfinished_unknown(root: &Path, why: &str) -> Error {
    Error::refused_directory(
        format!("which transactions were left unfinished is not known: {why}"),
        [Remedy::from("read a backup of the directory"), Remedy::ReadUnended],
    )
    .in_file(root)
}

fn not_ended(root: &Path, found: &Found) -> Error {
    let (prepared, active) = found.counts();
    let why = format!(
        "{prepared} prepared and {active} active transactions were left unfinished: their \
         changes are in the files as if they were committed"
    );
    let on_server = Remedy::from(
        "start the server on this directory (or a copy), end them (XA RECOVER shows them; XA COMMIT \
         or XA ROLLBACK), and shut it down cleanly",
    );
    // Preparing only applies the redo log; a server must roll back.
    let prepare = Remedy::from(
        "run `mariadb-backup --prepare --export` on it, which rolls back what is active",
    );
    let error = match Backup::of(root) {
        Some(_) => Error::refused_directory(why, [prepare, on_server, Remedy::ReadUnended]),
        None => Error::refused_directory(why, [on_server, Remedy::ReadUnended]),
    };
    error.in_file(root)
}
