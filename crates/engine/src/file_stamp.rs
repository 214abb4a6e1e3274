//! Stamps that show whether a file has changed.

use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use innoscan_format::Lsn;

/// The step of the kernel's clock for files, which is 10 ms at most (`CONFIG_HZ`).
const CLOCK_STEP: Duration = Duration::from_millis(20);

/// The stamp of a file: its identity, size and times, which any write changes; of a killed server also the end of the
/// redo log through which the file is read. Compared and kept as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    /// The log may have other changes in another snapshot, without a write to the file.
    log_end: Option<Lsn>,
}

impl FileStamp {
    /// The stamp of files that are read as one, and are not being written.
    pub(crate) fn of_all(paths: &[PathBuf]) -> io::Result<FileStamp> {
        let (first, others) = paths.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut stamp = FileStamp::of(first)?;
        for path in others {
            let other = FileStamp::of(path)?;
            stamp.bytes += other.bytes;
            stamp.modified = stamp.modified.max(other.modified);
            stamp.changed = stamp.changed.max(other.changed);
        }
        Ok(stamp)
    }

    /// The stamp of a file that is not being written. Any write after this function has returned changes
    /// the stamp.
    ///
    /// # Errors
    /// The file's metadata cannot be read.
    pub fn of(path: &Path) -> io::Result<FileStamp> {
        let metadata = std::fs::metadata(path)?;
        let stamp = FileStamp {
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            log_end: None,
        };
        // A write in the same step of the clock would not change the times.
        let age = SystemTime::now().duration_since(stamp.written_at()).unwrap_or_default();
        sleep(CLOCK_STEP.saturating_sub(age));
        Ok(stamp)
    }

    /// The stamp of a file that is read through a redo log up to `log_end`.
    pub(crate) fn with_log_end(self, log_end: Option<Lsn>) -> FileStamp {
        FileStamp { log_end, ..self }
    }

    /// The time of the last change to the file.
    fn written_at(&self) -> SystemTime {
        let (seconds, nanoseconds) = self.modified.max(self.changed);
        let nanoseconds = u32::try_from(nanoseconds).unwrap_or_default();
        UNIX_EPOCH + Duration::new(u64::try_from(seconds).unwrap_or_default(), nanoseconds)
    }
}

impl fmt::Display for FileStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileStamp { inode, bytes, modified, changed, log_end } = self;
        let (modified_s, modified_ns) = modified;
        let (changed_s, changed_ns) = changed;
        write!(f, "{inode} {bytes} {modified_s}.{modified_ns:09} {changed_s}.{changed_ns:09}")?;
        match log_end {
            Some(end) => write!(f, " log {end}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn any_write_changes_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let mut file = std::fs::File::create(&path).unwrap();
        let mut last = FileStamp::of(&path).unwrap();
        for _ in 0..20 {
            assert_eq!(FileStamp::of(&path).unwrap(), last);
            std::os::unix::fs::FileExt::write_all_at(&file, b"x", 0).unwrap();
            file.flush().unwrap();
            let now = FileStamp::of(&path).unwrap();
            assert_ne!(now.to_string(), last.to_string());
            last = now;
        }
    }
}
