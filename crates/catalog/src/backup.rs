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

mod chain;
mod files;

use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Remedy, Result};
use innoscan_format::Lsn;
use innoscan_format::redo;

pub(crate) use self::chain::Chain;

/// A backup, from its checkpoint file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backup {
    path: PathBuf,
    kind: String,
    from: Option<Lsn>,
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
            let from = lsn("from_lsn");
            Some(Backup { kind, from, to: lsn("to_lsn"), last: lsn("last_lsn"), path })
        })
    }

    /// Whether a directory is that of a backup that was not prepared.
    pub fn is_unprepared_in(root: &Path) -> bool {
        Backup::of(root).is_some_and(|backup| backup.is_unprepared())
    }

    /// Whether its redo log was not applied: its files are from different times.
    pub fn is_unprepared(&self) -> bool {
        matches!(&*self.kind, "full-backuped" | "incremental")
    }

    /// Whether it has only the pages that changed since another backup.
    pub fn is_incremental(&self) -> bool {
        self.kind == "incremental"
    }

    /// The LSN since which an incremental backup has changed pages; of a full one 0.
    pub fn since(&self) -> Lsn {
        self.from.unwrap_or(Lsn(0))
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

    /// The refusal of an incremental backup without its base.
    pub fn is_no_base(&self) -> Error {
        let since = self.since();
        Error::refused_directory(
            format!("it is an incremental backup, and has only what changed since LSN {since}"),
            Remedy::NameBase,
        )
        .in_file(&self.path)
    }

    /// The refusal of a base that was prepared, with the incremental backup `next`.
    fn prepared_already(&self, next: &Path) -> Error {
        Error::refused_directory(
            "the base was prepared already, and its incremental backups were not",
            format!(
                "let mariadb-backup prepare it with {} and those after that too, or name a copy of the base that was not \
                 prepared",
                next.display()
            ),
        )
        .in_file(&self.path)
    }

    /// Requires that `next` is the incremental backup that follows this backup.
    fn require_before(&self, next: &Backup) -> Result<()> {
        let refused = |why: String| {
            let remedy =
                "name the base, then its incremental backups, oldest first, and leave out none";
            Err(Error::refused_directory(why, remedy).in_file(&next.path))
        };
        let kind = &next.kind;
        match (self.to, next.from) {
            _ if !next.is_incremental() => {
                refused(format!("it is no incremental backup (backup_type = {kind})"))
            }
            (Some(to), Some(from)) if to == from => Ok(()),
            (Some(to), Some(from)) => refused(format!(
                "the incremental backup begins at LSN {from}, and the backup before it ends at LSN {to} ({})",
                self.path.display()
            )),
            _ => refused(
                "it does not say at which LSN it begins, or the backup before where it ends".into(),
            ),
        }
    }

    /// Requires that the redo log of a backup that was not prepared, which has these LSNs, is whole.
    fn require_log(&self, (checkpoint, end): (Lsn, Lsn)) -> Result<()> {
        let (Some(to), Some(last)) = (self.to, self.last) else { return Err(self.not_prepared()) };
        if self.since() <= checkpoint && checkpoint <= to && to <= last && last <= end {
            return Ok(());
        }
        Err(Error::refused_directory(
            format!(
                "its redo log has LSN {checkpoint} to {end}, and the backup is of LSN {} to {to} and needs the log up \
                 to {last}: the log was cut short, or is of another backup",
                self.since()
            ),
            "read another copy of the backup",
        )
        .in_file(&self.path))
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
        assert!(backup("full-backuped").is_unprepared() && backup("incremental").is_unprepared());
        let backup = backup("full-backuped");
        for range in [(1, 9000), (5000, 9001)] {
            backup.require_log((Lsn(range.0), Lsn(range.1))).unwrap();
        }
        for range in [(1, 8999), (5001, 9000)] {
            let error = backup.require_log((Lsn(range.0), Lsn(range.1))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::RefusedDirectory);
        }
        assert_eq!(Backup::of(Path::new("/")), None);
    }

    #[test]
    fn backups_have_to_follow_each_other() {
        let dirs = [(0, 5000), (5000, 6000), (6000, 7000)].map(|(from, to)| {
            let kind = if from == 0 { "full-backuped" } else { "incremental" };
            let text = format!(
                "backup_type = {kind}\nfrom_lsn = {from}\nto_lsn = {to}\nlast_lsn = 9000\n"
            );
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("mariadb_backup_checkpoints"), text).unwrap();
            dir
        });
        let path = |nth: usize| dirs[nth].path().to_owned();
        let chain = |base: usize, others: &[usize]| {
            let others: Vec<PathBuf> = others.iter().map(|nth| path(*nth)).collect();
            Chain::of(&path(base), &others).map(|chain| chain.is_some())
        };
        assert!(chain(0, &[]).unwrap() && chain(0, &[1]).unwrap() && chain(0, &[1, 2]).unwrap());
        for (base, others, what) in [
            (1, &[][..], "has only what changed since LSN 5000"),
            (1, &[2], "has only what changed since LSN 5000"),
            (0, &[2], "begins at LSN 6000, and the backup before it ends at LSN 5000"),
            (0, &[2, 1], "begins at LSN 6000"),
            (0, &[1, 1], "begins at LSN 5000, and the backup before it ends at LSN 6000"),
            (0, &[0], "it is no incremental backup"),
        ] {
            let error = chain(base, others).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::RefusedDirectory);
            assert!(error.to_string().contains(what), "{error}");
        }
        let none = tempfile::tempdir().unwrap();
        assert!(Chain::of(none.path(), &[]).unwrap().is_none());
        assert!(Chain::of(none.path(), &[path(1)]).is_err());
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
