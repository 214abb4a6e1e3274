//! Directories made by `mariadb-backup` and `xtrabackup`, and their checkpoint file.
//!
//! ```text
//! backup_type = log-applied     full-backuped and incremental are not prepared
//! from_lsn = 0
//! to_lsn = 44744                the server's checkpoint when the backup ended
//! last_lsn = 30292901           the end of the redo log that was copied
//! ```
//!
//! (`write_metadata`, xtrabackup.cc, MariaDB 10.11.)

use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Remedy, Result};
use innoscan_format::Lsn;
use innoscan_format::redo;

/// A backup, from its checkpoint file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backup {
    path: PathBuf,
    kind: String,
    to: Option<Lsn>,
    last: Option<Lsn>,
}

impl Backup {
    /// The backup in a directory, if there is one.
    pub fn of(root: &Path) -> Option<Backup> {
        let names = ["xtrabackup_checkpoints", "mariadb_backup_checkpoints"];
        let paths = names.map(|name| root.join(name));
        paths.into_iter().find_map(|path| {
            let text = std::fs::read_to_string(&path).ok()?;
            let value = |name: &str| {
                let fields = text.lines().filter_map(|line| line.split_once('='));
                let mut named = fields.filter(|(key, _)| key.trim() == name);
                named.next().map(|(_, value)| value.trim())
            };
            let lsn = |name| value(name).and_then(|value| value.parse().ok()).map(Lsn);
            let kind = value("backup_type").unwrap_or_default().to_owned();
            Some(Backup { kind, to: lsn("to_lsn"), last: lsn("last_lsn"), path })
        })
    }

    /// Whether its redo log was not applied: its files are from different times.
    pub fn is_unprepared(&self) -> bool {
        matches!(&*self.kind, "full-backuped" | "incremental")
    }

    /// The refusal of a backup that was not prepared.
    pub fn not_prepared(&self) -> Error {
        Error::refused_directory(
            format!("this is a backup that was not prepared (backup_type = {})", self.kind),
            [
                "run `xtrabackup --prepare` or `mariadb-backup --prepare --export` on it first"
                    .into(),
                Remedy::ReadAnyway,
            ],
        )
        .in_file(&self.path)
    }

    /// Requires that a backup can be read through its redo log, which ends at `end`: that it is whole, and that no
    /// table was created, renamed or dropped while it was made.
    ///
    /// # Errors
    /// It is not so, or a directory cannot be listed.
    pub fn require_readable_unprepared(&self, root: &Path, end: Lsn) -> Result<()> {
        if self.kind != "full-backuped" || self.last.is_none_or(|last| end < last) {
            return Err(self.not_prepared());
        }
        match ddl_remains(root)? {
            None => Ok(()),
            Some(path) => Err(Error::refused_directory(
                format!(
                    "tables were created, renamed or dropped while the backup was made: {} is there",
                    path.display()
                ),
                "run `mariadb-backup --prepare --export` on it first",
            )
            .in_file(&self.path)),
        }
    }

    /// Compares the redo log left by the preparation with the amount that was copied from the server:
    /// a log that ends earlier belongs to another backup, or was not applied completely.
    pub fn require_applied(&self, end: Lsn) -> Result<()> {
        let applied = |wanted: Lsn| end.0.saturating_add(redo::BLOCK_BYTES) >= wanted.0;
        let missing = [self.to, self.last].into_iter().flatten().find(|wanted| !applied(*wanted));
        let Some(wanted) = missing else { return Ok(()) };
        Err(Error::refused_directory(
            format!(
                "this is a backup of what was done up to LSN {wanted}, and its redo log ends at \
                 {end}: it was not prepared to its end, or files of another one are in it"
            ),
            ["prepare a fresh copy of it".into(), Remedy::ReadAnyway],
        )
        .in_file(&self.path))
    }
}

/// A file by which `mariadb-backup` notes for its preparation what was done to a table while it copied
/// (`backup_fix_ddl`, xtrabackup.cc, MariaDB 10.11).
fn ddl_remains(root: &Path) -> Result<Option<PathBuf>> {
    let entries = |directory: &Path| {
        std::fs::read_dir(directory)
            .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
            .map_err(|error| Error::read("cannot list it", error).in_file(directory))
    };
    let is_remains = |path: &Path| {
        let ending = path.extension().unwrap_or_default();
        ["new", "ren", "del"].iter().any(|remains| ending == *remains)
    };
    for entry in entries(root)? {
        let path = entry.path();
        if is_remains(&path) {
            return Ok(Some(path));
        }
        let below = if path.is_dir() { entries(&path)? } else { Vec::new() };
        if let Some(found) = below.iter().map(std::fs::DirEntry::path).find(|path| is_remains(path))
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use innoscan_engine::ErrorKind;

    fn backup(kind: &str) -> Backup {
        let dir = tempfile::tempdir().unwrap();
        let text = format!(
            "backup_type = {kind}\nfrom_lsn = 0\nto_lsn = 5000\nlast_lsn = 9000\nrecover_binlog_info = 0\n"
        );
        std::fs::write(dir.path().join("xtrabackup_checkpoints"), text).unwrap();
        Backup::of(dir.path()).unwrap()
    }

    #[test]
    fn what_was_not_prepared_needs_its_whole_log() {
        let root = tempfile::tempdir().unwrap();
        let unprepared =
            |kind, end| backup(kind).require_readable_unprepared(root.path(), Lsn(end));
        assert!(backup("full-backuped").is_unprepared() && backup("incremental").is_unprepared());
        for (kind, end) in [("incremental", 9000), ("full-backuped", 8999)] {
            assert_eq!(unprepared(kind, end).unwrap_err().kind(), ErrorKind::RefusedDirectory);
        }
        unprepared("full-backuped", 9000).unwrap();
        std::fs::create_dir(root.path().join("d")).unwrap();
        std::fs::write(root.path().join("d/t.ren"), "").unwrap();
        let error = unprepared("full-backuped", 9000).unwrap_err();
        assert!(error.to_string().contains("d/t.ren is there"), "{error}");
        for kind in ["full-prepared", "log-applied", ""] {
            assert!(!backup(kind).is_unprepared());
        }
        assert_eq!(Backup::of(Path::new("/")), None);
    }

    #[test]
    fn a_log_that_ends_too_early_is_refused() {
        let backup = backup("log-applied");
        for checkpoint in [9000 - 16, 9000, u64::MAX] {
            backup.require_applied(Lsn(checkpoint)).unwrap();
        }
        for checkpoint in [0, 4000, 5000, 9000 - 513] {
            let error = backup.require_applied(Lsn(checkpoint)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::RefusedDirectory);
        }
    }
}
