//! The directory for spilled leaves: those read in file order that memory cannot hold until they are
//! next in key order.

use std::path::{Path, PathBuf};

/// Where leaves may be spilled to a temporary file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spill {
    /// Nowhere: a plan that may spill is not chosen, and one that was named fails when memory is full.
    Never,
    /// In this directory.
    In(PathBuf),
    /// In the first of these directories that is on a disk with room, and is no server's data directory.
    FirstWithRoom(Vec<PathBuf>),
}

/// Free bytes that a file system must have for each byte of leaves: a spill must not fill it up.
const FREE_SHARE: u64 = 2;

impl Default for Spill {
    /// The system's directory for temporary files, or `/var/tmp`, which is on a disk where `/tmp` is not.
    fn default() -> Spill {
        Spill::FirstWithRoom(vec![std::env::temp_dir(), PathBuf::from("/var/tmp")])
    }
}

impl Spill {
    /// The same places, after another one: `directory` is the first choice.
    #[must_use]
    pub fn preferring(self, directory: PathBuf) -> Spill {
        match self {
            Spill::FirstWithRoom(mut directories) => {
                directories.insert(0, directory);
                Spill::FirstWithRoom(directories)
            }
            named => named,
        }
    }

    /// The directory for at most so many bytes of leaves; `None` where they may not be spilled.
    pub fn directory(&self, leaf_bytes: u64) -> Option<&Path> {
        match self {
            Spill::Never => None,
            Spill::In(directory) => Some(directory),
            Spill::FirstWithRoom(directories) => {
                let free_bytes = leaf_bytes.saturating_mul(FREE_SHARE);
                directories.iter().map(PathBuf::as_path).find(|dir| has_room(dir, free_bytes))
            }
        }
    }
}

/// Whether a directory is on a disk with so much room, and no server's data directory.
fn has_room(directory: &Path, free_bytes: u64) -> bool {
    let (Ok(volume), Ok(kind)) = (rustix::fs::statvfs(directory), rustix::fs::statfs(directory))
    else {
        return false;
    };
    let is_memory = matches!(u64::try_from(kind.f_type), Ok(TMPFS_MAGIC | RAMFS_MAGIC));
    !is_memory
        && volume.f_bavail.saturating_mul(volume.f_frsize) >= free_bytes
        && !directory.join("ibdata1").exists()
}

/// The kinds of file systems in memory (`linux/magic.h`).
const TMPFS_MAGIC: u64 = 0x0102_1994;
const RAMFS_MAGIC: u64 = 0x8584_58f6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_directory_with_room_is_taken() {
        let (data, disk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(data.path().join("ibdata1"), b"").unwrap();
        let places = ["/nowhere".into(), data.path().to_owned(), disk.path().to_owned()];
        let spill = Spill::FirstWithRoom(places.to_vec());
        assert_eq!(spill.directory(1), Some(disk.path()));
        assert_eq!(spill.directory(u64::MAX), None);
        let preferred = tempfile::tempdir().unwrap();
        let spill = spill.preferring(preferred.path().to_owned());
        assert_eq!(spill.directory(1), Some(preferred.path()));
    }

    #[test]
    fn memory_is_no_place_to_spill_to() {
        assert_eq!(Spill::FirstWithRoom(vec!["/dev/shm".into()]).directory(1), None);
    }

    #[test]
    fn a_named_directory_is_taken_as_it_is() {
        let named = Spill::In("/nowhere".into());
        assert_eq!(named.directory(u64::MAX), Some(Path::new("/nowhere")));
        assert_eq!(named.clone().preferring("/tmp".into()), named);
        assert_eq!(Spill::Never.preferring("/tmp".into()).directory(0), None);
    }
}
