//! Reflink copies of files: they share their blocks with the original, and take no time to make
//! (`FICLONE`: XFS, btrfs).
//!
//! A copy has no name (`O_TMPFILE`). It is on the file system of its original, in no directory, and is
//! freed when the process ends, however it ends.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use innoscan_engine::{Error, FileCopy, Remedy, Result, Table};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};

/// Free space that is required, as a share of the bytes copied: as long as a copy exists, each page that
/// the server writes takes new space.
const FREE_SHARE: f64 = 0.05;

/// Whether the file system of a directory supports reflink copies.
pub fn is_possible(directory: &Path) -> bool {
    let original = nameless(directory);
    original.and_then(|original| clone_of(&original, directory)).is_ok()
}

/// Replaces each file of a table by a reflink copy.
///
/// # Errors
/// If the file system does not support it, or is not writable.
pub fn clone_table(table: &mut Table) -> Result<()> {
    for file in &mut table.files {
        let stamp = file.stamp()?;
        let directory = file.path.parent().unwrap_or(Path::new("."));
        let cloned = File::open(&file.path).and_then(|original| clone_of(&original, directory));
        let cloned = cloned
            .map_err(|error| Error::read("cannot copy by reflink", error).in_file(&file.path))?;
        file.copy = Some(FileCopy { file: Arc::new(cloned), stamp });
    }
    Ok(())
}

/// Checks that there is space for the pages that the server writes while the copies exist.
///
/// # Errors
/// If there is not enough, with the amounts and the directory.
pub fn require_room(tables: &[Table]) -> Result<()> {
    let bytes: u64 = tables.iter().map(Table::size_bytes).sum();
    let mut files = tables.iter().flat_map(|table| &table.files);
    let Some(directory) = files.find_map(|file| file.path.parent()) else { return Ok(()) };
    let room = rustix::fs::statvfs(directory).map_err(|error| {
        Error::read("cannot determine the free space", error.into()).in_file(directory)
    })?;
    let free = room.f_bavail * room.f_frsize;
    let wanted = (bytes as f64 * FREE_SHARE) as u64;
    if free < wanted {
        return Err(Error::refused(
            format!(
                "{} MiB are free, and the server may want {} while {} MiB are copied by reflink",
                free >> 20,
                wanted >> 20,
                bytes >> 20
            ),
            ["free some".into(), Remedy::LockForExport],
        )
        .in_file(directory));
    }
    Ok(())
}

/// Raises the limit of open files to its maximum: each copy is an open file.
pub fn raise_file_limit() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // If this fails, opening files reports it.
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
}

fn nameless(directory: &Path) -> std::io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)?;
    Ok(File::from(file))
}

fn clone_of(original: &File, directory: &Path) -> std::io::Result<File> {
    let copy = nameless(directory)?;
    match rustix::fs::ioctl_ficlone(&copy, original) {
        Ok(()) => Ok(copy),
        Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOTTY) => Err(std::io::Error::new(
            ErrorKind::Unsupported,
            "the file system cannot make copies that share bytes (XFS and btrfs can)",
        )),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_is_possible_a_copy_has_the_bytes_and_no_name() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), [7; 100_000]).unwrap();
        let original = File::open(dir.path().join("a")).unwrap();
        match clone_of(&original, dir.path()) {
            Ok(copy) => {
                assert!(is_possible(dir.path()));
                assert_eq!(copy.metadata().unwrap().len(), 100_000);
            }
            Err(error) => {
                assert!(!is_possible(dir.path()));
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            }
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
