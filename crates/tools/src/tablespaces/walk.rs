//! The tablespace files of directories, found by their names alone.
//!
//! Ten million files need little memory: names are concatenated, and each directory is stored once.

use std::collections::HashSet;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use innoscan_engine::side_by_side::side_by_side;
use innoscan_engine::{Error, Result};

use super::findings::Finding;

/// The kind of a file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceKind {
    /// A file of a table, a partition, or a general tablespace: `.ibd`.
    Table,
    /// A file of the system tablespace: `ibdata1` and following.
    System,
    /// An undo tablespace: `undo_001`, `undo001`, `.ibu`.
    Undo,
    /// A temporary tablespace: `ibtmp1`, `.ibt`; created at each start.
    Temporary,
}

impl SpaceKind {
    fn of(name: &OsStr) -> Option<SpaceKind> {
        let bytes = name.as_bytes();
        let is_numbered = |prefix: &[u8]| {
            let rest = bytes.strip_prefix(prefix).unwrap_or_default();
            !rest.is_empty() && rest.iter().all(u8::is_ascii_digit)
        };
        match bytes {
            _ if bytes.ends_with(b".ibd") => Some(SpaceKind::Table),
            _ if is_numbered(b"ibdata") => Some(SpaceKind::System),
            _ if is_numbered(b"undo_") || is_numbered(b"undo") || bytes.ends_with(b".ibu") => {
                Some(SpaceKind::Undo)
            }
            _ if is_numbered(b"ibtmp") || bytes.ends_with(b".ibt") => Some(SpaceKind::Temporary),
            _ => None,
        }
    }
}

/// Directories listed concurrently: while one waits for the device another is processed.
const LISTED_AT_ONCE: usize = 8;

/// A file; its name is a part of the concatenated names.
#[derive(Clone, Copy, Debug)]
struct Entry {
    inode: u64,
    directory: u32,
    name_at: u32,
    name_bytes: u8,
    kind: SpaceKind,
}

/// All files, in the order of their inodes: on a rotating disk they are then opened in the order
/// in which their inodes lie.
#[derive(Debug, Default)]
pub struct Files {
    directories: Vec<PathBuf>,
    names: Vec<u8>,
    entries: Vec<Entry>,
}

impl Files {
    /// Lists directories and their subdirectories. Unreadable ones are among the findings.
    /// `step` receives the number of files so far, and returns whether to continue.
    ///
    /// # Errors
    /// One of the given directories cannot be listed, or `step` ends the walk.
    pub fn walk(
        roots: &[PathBuf],
        findings: &mut Vec<Finding>,
        mut step: impl FnMut(usize) -> bool,
    ) -> Result<Files> {
        let mut files = Files::default();
        let mut seen = HashSet::new();
        let mut level = roots.to_vec();
        while !level.is_empty() {
            // Links, and directories that are named twice, can lead to the same directory again.
            // Unreadable ones are reported when they are listed.
            level.retain(|directory| {
                let identity = directory.metadata().map(|data| (data.dev(), data.ino()));
                identity.map_or(true, |identity| seen.insert(identity))
            });
            let mut below = Vec::new();
            let list = |directory: &PathBuf| Listing::of(directory);
            side_by_side(&level, LISTED_AT_ONCE, list, |directory, listed| {
                match listed.and_then(|listing| files.add(directory, listing)) {
                    Ok((directories, found)) => {
                        below.extend(directories);
                        findings.extend(found);
                    }
                    Err(error) if roots.contains(directory) => {
                        return Err(Error::read("listing it", error).in_file(directory));
                    }
                    Err(error) => findings.push(Finding::of_error(directory.clone(), &error)),
                }
                if step(files.len()) { Ok(()) } else { Err(Error::interrupted()) }
            })?;
            level = below;
        }
        files.entries.sort_unstable_by_key(|entry| entry.inode);
        Ok(files)
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The kind of a file, by its number.
    pub fn kind(&self, number: usize) -> SpaceKind {
        self.entries[number].kind
    }

    /// The path of a file, by its number.
    pub fn path(&self, number: usize) -> PathBuf {
        let (directory, name) = self.parts(number);
        directory.join(name)
    }

    /// The path of a file, by its number, as a C string for the kernel.
    pub fn c_path(&self, number: usize) -> CString {
        let (directory, name) = self.parts(number);
        let bytes = [directory.as_os_str().as_bytes(), b"/", name.as_bytes()].concat();
        // Both came from the kernel, whose names contain no zero byte.
        CString::new(bytes).unwrap_or_default()
    }

    fn parts(&self, number: usize) -> (&Path, &OsStr) {
        let entry = &self.entries[number];
        let from = entry.name_at as usize;
        let name = &self.names[from..from + usize::from(entry.name_bytes)];
        (&self.directories[entry.directory as usize], OsStr::from_bytes(name))
    }

    /// Adds a directory's files. Its subdirectories and findings are returned.
    fn add(
        &mut self,
        directory: &Path,
        listing: Listing,
    ) -> io::Result<(Vec<PathBuf>, Vec<Finding>)> {
        let number = self.directories.len() as u32;
        let names_before = self.names.len();
        u32::try_from(names_before + listing.names.len())
            .map_err(|_| io::Error::other("the files' names have more than 4 GiB together"))?;
        self.directories.push(directory.to_owned());
        self.names.extend(listing.names);
        self.entries.extend(listing.entries.into_iter().map(|entry| Entry {
            directory: number,
            name_at: entry.name_at + names_before as u32,
            ..entry
        }));
        Ok((listing.directories, listing.findings))
    }
}

/// The contents of a directory.
#[derive(Debug, Default)]
struct Listing {
    directories: Vec<PathBuf>,
    names: Vec<u8>,
    /// The files, as if of directory 0, with names among those of the listing.
    entries: Vec<Entry>,
    findings: Vec<Finding>,
}

impl Listing {
    fn of(directory: &Path) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let path = || entry.path();
            let leads_to_directory = kind.is_symlink() && path().is_dir();
            let name = entry.file_name();
            let space = SpaceKind::of(&name);
            if kind.is_symlink() && (leads_to_directory || space.is_some()) {
                let target = std::fs::read_link(path()).unwrap_or_default();
                listing.findings.push(Finding::Symlink { path: path(), target });
            }
            match space {
                _ if kind.is_dir() || leads_to_directory => listing.directories.push(path()),
                Some(space) => listing.add(&name, entry.ino(), space)?,
                None => {}
            }
        }
        Ok(listing)
    }

    fn add(&mut self, name: &OsStr, inode: u64, kind: SpaceKind) -> io::Result<()> {
        let too_many = |_| io::Error::other("its files' names have more than 4 GiB together");
        let name_at = u32::try_from(self.names.len()).map_err(too_many)?;
        let name_bytes = u8::try_from(name.len()).map_err(too_many)?;
        self.names.extend_from_slice(name.as_bytes());
        self.entries.push(Entry { inode, directory: 0, name_at, name_bytes, kind });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_names() {
        let kind = |name: &str| SpaceKind::of(OsStr::new(name));
        for (name, expected) in [
            ("t.ibd", Some(SpaceKind::Table)),
            ("t#p#p0.ibd", Some(SpaceKind::Table)),
            ("ibdata1", Some(SpaceKind::System)),
            ("ibdata", None),
            ("undo_001", Some(SpaceKind::Undo)),
            ("undo001", Some(SpaceKind::Undo)),
            ("more.ibu", Some(SpaceKind::Undo)),
            ("undo_log.txt", None),
            ("ibtmp1", Some(SpaceKind::Temporary)),
            ("temp_3.ibt", Some(SpaceKind::Temporary)),
            ("t.frm", None),
            ("t.ibd.bak", None),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
    }
}
