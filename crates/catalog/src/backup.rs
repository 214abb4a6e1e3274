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

    /// Refuses a backup whose redo log was not applied: its files are from different times.
    pub fn require_prepared(&self) -> Result<()> {
        if !matches!(&*self.kind, "full-backuped" | "incremental") {
            return Ok(());
        }
        Err(Error::refused_directory(
            format!("this is a backup that was not prepared (backup_type = {})", self.kind),
            [
                "run `xtrabackup --prepare` or `mariadb-backup --prepare --export` on it first"
                    .into(),
                Remedy::ReadAnyway,
            ],
        )
        .in_file(&self.path))
    }

    /// Compares the redo log left by the preparation with the amount that was copied from the server:
    /// a log that ends earlier belongs to another backup, or was not applied completely.
    pub fn require_applied(&self, checkpoint: Lsn) -> Result<()> {
        let applied = |wanted: Lsn| checkpoint.0.saturating_add(redo::BLOCK_BYTES) >= wanted.0;
        let missing = [self.to, self.last].into_iter().flatten().find(|wanted| !applied(*wanted));
        let Some(wanted) = missing else { return Ok(()) };
        Err(Error::refused_directory(
            format!(
                "this is a backup of what was done up to LSN {wanted}, and its redo log ends at \
                 {checkpoint}: it was not prepared to its end, or files of another one are in it"
            ),
            ["prepare a fresh copy of it".into(), Remedy::ReadAnyway],
        )
        .in_file(&self.path))
    }
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
    fn what_was_not_prepared_is_refused() {
        for kind in ["full-backuped", "incremental"] {
            let error = backup(kind).require_prepared().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::RefusedDirectory);
        }
        for kind in ["full-prepared", "log-applied", ""] {
            backup(kind).require_prepared().unwrap();
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
