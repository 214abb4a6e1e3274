//! Which file is which tablespace, as the log names them. A file's own first page says so too, unless it
//! was never written.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use innoscan_format::SpaceId;
use innoscan_format::redo::{FileOperation, FileRecord};

/// The files that a log names.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// By tablespace: the newest name, and whether the file was deleted.
    named: HashMap<SpaceId, Named>,
    /// By path: the last tablespace that the log names by it, unless the file was deleted.
    by_path: HashMap<PathBuf, SpaceId>,
}

#[derive(Clone, Debug)]
struct Named {
    path: PathBuf,
    /// The name before the last record, if that gave it the newest one.
    renamed_from: Option<PathBuf>,
    is_deleted: bool,
}

impl Files {
    /// Adds a record of the log; `root`: the data directory.
    pub fn add(&mut self, root: &Path, record: &FileRecord<'_>) {
        let (name, old, is_deleted) = match record.operation {
            FileOperation::Create(name) | FileOperation::Modify(name) => (name, None, false),
            FileOperation::Rename(old, name) => (name, Some(old), false),
            FileOperation::Delete(name) => (name, None, true),
            FileOperation::Checkpoint(_) | FileOperation::Unknown(_) => return,
        };
        let path = path_of(root, name);
        let renamed_from = old.map(|old| path_of(root, old));
        if let Some(before) = self.named.get(&record.space) {
            for path in before.renamed_from.iter().chain([&before.path]) {
                if self.by_path.get(path) == Some(&record.space) {
                    self.by_path.remove(path);
                }
            }
        }
        for path in renamed_from.iter().chain((!is_deleted).then_some(&path)) {
            self.by_path.insert(path.clone(), record.space);
        }
        self.named.insert(record.space, Named { path, renamed_from, is_deleted });
    }

    /// The tablespace of a file whose first page does not say which it is. The server logs a new name before it
    /// renames the file.
    pub fn space_at(&self, path: &Path) -> Option<SpaceId> {
        let space = *self.by_path.get(path)?;
        let named = self.named.get(&space)?;
        let is_renamed = match &named.renamed_from {
            None => true,
            // Where another file has the old name, this one was renamed before that was logged.
            Some(old) => self.by_path.get(old) != Some(&space) || !old.exists(),
        };
        let is_new_name = named.path == path;
        (is_renamed == is_new_name).then_some(space)
    }

    /// Whether the log names a file of that path.
    pub fn has(&self, path: &Path) -> bool {
        self.by_path.contains_key(path)
    }

    /// The newest name of a tablespace's file.
    pub fn name_of(&self, space: SpaceId) -> Option<&Path> {
        self.named.get(&space).map(|named| &*named.path)
    }

    /// Whether the tablespace was dropped.
    pub fn is_deleted(&self, space: SpaceId) -> bool {
        self.named.get(&space).is_some_and(|named| named.is_deleted)
    }
}

/// The path of a name in the log, which is relative to the data directory or absolute.
fn path_of(root: &Path, name: &[u8]) -> PathBuf {
    let name = Path::new(OsStr::from_bytes(name));
    // Joined component by component, `./db/t.ibd` is the path that the catalog makes.
    root.join(name.strip_prefix(".").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_name_that_was_not_deleted_counts() {
        let root = Path::new("/data");
        let mut files = Files::default();
        let mut add = |space: u32, operation: FileOperation<'_>| {
            files.add(root, &FileRecord { space: SpaceId(space), operation });
        };
        add(5, FileOperation::Create(b"./d/t.ibd"));
        add(5, FileOperation::Rename(b"./d/t.ibd", b"./d/u.ibd"));
        add(6, FileOperation::Create(b"./d/t.ibd"));
        add(7, FileOperation::Create(b"./d/gone.ibd"));
        add(7, FileOperation::Delete(b"./d/gone.ibd"));
        add(8, FileOperation::Modify(b"/elsewhere/d/v.ibd"));
        assert_eq!(files.space_at(Path::new("/data/d/t.ibd")), Some(SpaceId(6)));
        assert_eq!(files.space_at(Path::new("/data/d/u.ibd")), Some(SpaceId(5)));
        assert_eq!(files.space_at(Path::new("/data/d/gone.ibd")), None);
        assert_eq!(files.space_at(Path::new("/elsewhere/d/v.ibd")), Some(SpaceId(8)));
        assert_eq!(files.name_of(SpaceId(5)), Some(Path::new("/data/d/u.ibd")));
        assert!(files.is_deleted(SpaceId(7)) && !files.is_deleted(SpaceId(5)));
    }

    #[test]
    fn a_file_may_not_have_its_new_name_yet() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = Files::default();
        let mut add = |space: u32, operation: FileOperation<'_>| {
            files.add(dir.path(), &FileRecord { space: SpaceId(space), operation });
        };
        add(5, FileOperation::Modify(b"./t.ibd"));
        add(6, FileOperation::Create(b"./new.ibd"));
        add(5, FileOperation::Rename(b"./t.ibd", b"./old.ibd"));
        let space_at = |files: &Files, name: &str| files.space_at(&dir.path().join(name));
        std::fs::write(dir.path().join("t.ibd"), b"").unwrap();
        assert_eq!(space_at(&files, "t.ibd"), Some(SpaceId(5)));
        std::fs::rename(dir.path().join("t.ibd"), dir.path().join("old.ibd")).unwrap();
        assert_eq!(space_at(&files, "old.ibd"), Some(SpaceId(5)));
        let rename = FileOperation::Rename(b"./new.ibd", b"./t.ibd");
        files.add(dir.path(), &FileRecord { space: SpaceId(6), operation: rename });
        std::fs::write(dir.path().join("new.ibd"), b"").unwrap();
        assert_eq!(space_at(&files, "new.ibd"), Some(SpaceId(6)));
        std::fs::rename(dir.path().join("new.ibd"), dir.path().join("t.ibd")).unwrap();
        assert_eq!(space_at(&files, "t.ibd"), Some(SpaceId(6)));
        assert_eq!(space_at(&files, "old.ibd"), Some(SpaceId(5)));
    }
}
