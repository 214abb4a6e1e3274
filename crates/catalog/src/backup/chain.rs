//! A backup by `mariadb-backup` that was not prepared, and the incremental backups on it: read through their redo logs,
//! as `mariadb-backup --prepare` would leave them.
//!
//! Each backup's log begins at the server's checkpoint when that backup began, and ends at its `last_lsn`. All logs are
//! needed: a page that was copied early and not changed since `to_lsn` is in no later backup.

use std::path::{Path, PathBuf};

use innoscan_engine::keys::Keys;
use innoscan_engine::recovery::{CircularLog, LogReading, Recovery, ServerFiles};
use innoscan_engine::{Error, Result};
use innoscan_format::Lsn;
use innoscan_format::redo::{self, Circular, RedoHead};

use super::Backup;
use super::files::{Found, Link, backup_files};
use crate::file_bytes::read_at;

/// A backup and the incremental backups on it.
#[derive(Debug)]
pub(crate) struct Chain {
    /// Oldest first, at least one.
    links: Vec<Link>,
}

impl Chain {
    /// The chain of the directory `base` and of incremental backups on it, oldest first; `None` if it is no backup, or
    /// one that was prepared.
    ///
    /// # Errors
    /// The backups do not follow each other.
    pub fn of(base: &Path, incrementals: &[PathBuf]) -> Result<Option<Chain>> {
        let first = Backup::of(base);
        let Some(first) = first.filter(|first| first.is_unprepared() || !incrementals.is_empty())
        else {
            return match incrementals {
                [] => Ok(None),
                _ => Err(no_backup(base)),
            };
        };
        if first.is_incremental() {
            return Err(first.is_no_base());
        }
        if !first.is_unprepared() {
            return Err(first.prepared_already(incrementals.first().map_or(base, PathBuf::as_path)));
        }
        let mut links = vec![Link { root: base.to_owned(), backup: first }];
        for root in incrementals {
            let backup = Backup::of(root).ok_or_else(|| no_backup(root))?;
            if let Some(older) = links.last() {
                older.backup.require_before(&backup)?;
            }
            links.push(Link { root: root.clone(), backup });
        }
        Ok(Some(Chain { links }))
    }

    /// Reads the redo logs and lets the files be read through them, also by those who have a clone of `keys`; returns
    /// the LSN of the last log's end. `server`: where its files are.
    ///
    /// # Errors
    /// A log is missing, damaged, or none of `mariadb-backup`; a backup lacks a part of its log.
    pub fn read(&self, server: ServerFiles<'_>, keys: &Keys) -> Result<Lsn> {
        let Some(newest) = self.links.last() else { return Err(no_backup(Path::new(""))) };
        let paths: Vec<PathBuf> =
            self.links.iter().map(|link| link.root.join("ib_logfile0")).collect();
        let mut logs = Vec::with_capacity(paths.len());
        for (link, path) in self.links.iter().zip(&paths) {
            let circular = log_head(&link.backup, path)?;
            logs.push(CircularLog { root: &link.root, path, circular });
        }
        let reading =
            LogReading { memory: keys.index_memory(), ciphers: &|info| keys.redo_ciphers(info) };
        let server = ServerFiles { root: &newest.root, ..server };
        let mut recovery = Recovery::open(server, &logs, &reading)?;
        for (nth, link) in self.links.iter().enumerate() {
            if let Some(range) = recovery.range_of(nth) {
                link.backup.require_log(range)?;
            }
        }
        let found =
            self.links.iter().map(|link| Found::of(&link.root)).collect::<Result<Vec<_>>>()?;
        if found.len() > 1 || found.iter().any(Found::has_remains) {
            let files = backup_files(&self.links, found, &recovery)?;
            recovery = recovery.with_backup_files(files);
        }
        let end = recovery.end();
        keys.add_recovery(std::sync::Arc::new(recovery));
        Ok(end)
    }
}

/// The head of the redo log of a backup, at `path`.
fn log_head(backup: &Backup, path: &Path) -> Result<Circular> {
    let Ok(metadata) = std::fs::metadata(path) else { return Err(backup.not_prepared()) };
    let head = read_at(path, 0, redo::HEAD_BYTES)?;
    match RedoHead::parse(&head, metadata.len()) {
        Ok(RedoHead::Circular(circular)) => Ok(circular),
        Ok(RedoHead::Blocks(_)) => Err(backup.not_prepared()),
        Err(error) => Err(Error::from(error).in_file(path)),
    }
}

fn no_backup(root: &Path) -> Error {
    let order = "name the base, then its incremental backups, oldest first";
    let error = match root.is_dir() {
        true => Error::refused_directory(
            "it is no backup by mariadb-backup: it has no mariadb_backup_checkpoints and no xtrabackup_checkpoints",
            order,
        ),
        false => Error::not_found("there is no such directory", order),
    };
    error.in_file(root)
}
