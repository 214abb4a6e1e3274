//! Files that appear only when they are complete.
//!
//! A file is written as `NAME.partial`, and renamed when all files of its table are written. A small file
//! that is the only one, in a directory that was empty, is written at once and by one write, so it has its
//! name from the beginning. The layouts choose the names. The directory's journal has every name before
//! its file exists.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use innoscan_engine::{Error, Remedy, Result};
use innoscan_io::{Direct, Output};
use rustix::fs::syncfs;

use super::dumped_file::{DumpedFile, partial_name};
use super::interrupted_dump::{self, is_interrupted};
use super::journal::{self, Entry, Journal};
use super::small_files::{SmallFile, SmallFiles};
use super::{DumpOptions, Layout, MANIFEST_NAME};

/// The size from which a file is synced by itself, in bytes, so that not all of a dump is in memory
/// before the first sync.
const SYNCED_FROM_BYTES: u64 = 8 << 20;

/// A file under its temporary name; it is removed unless it is [`kept`](Partial::keep).
#[derive(Debug)]
pub(super) struct Partial {
    /// The name that the journal has.
    name: String,
    path: PathBuf,
    is_kept: bool,
}

impl Partial {
    pub fn create(directory: &Directory, name: &str) -> Result<(Partial, Output)> {
        directory.note(&Entry::File(name.to_owned()))?;
        let path = directory.path.join(partial_name(name));
        let output = Output::new(&path, directory.around_cache);
        Ok((Partial { name: name.to_owned(), path, is_kept: false }, output))
    }

    /// Writes a small file under its final name, then its entry in the journal.
    pub fn write_small(
        mut self,
        name: &str,
        bytes: Vec<u8>,
        entry: Option<Entry>,
        directory: &Directory,
    ) -> Result<()> {
        // There is no file under the temporary name.
        self.is_kept = true;
        if self.name != name {
            directory.note(&Entry::File(name.to_owned()))?;
        }
        directory.small_files.write(SmallFile { path: directory.path.join(name), bytes, entry })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn fill(&self, output: &mut Output, content: &[u8]) -> Result<()> {
        let written = output.write_all(content);
        written.map_err(|error| Error::write("writing", error).in_file(&self.path))
    }

    /// Ends the file after its last byte. A large file is synced, if files are to be synced; small ones
    /// are synced together ([`Directory::flush`]).
    pub fn finish(&self, output: Output, bytes: u64, directory: &Directory) -> Result<()> {
        output
            .finish(directory.sync && bytes >= SYNCED_FROM_BYTES)
            .map_err(|error| Error::write("writing", error).in_file(&self.path))
    }

    /// Keeps the file when this value is dropped.
    pub fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nothing more can be done about a file that cannot be removed.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The output directory of a dump.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    journal: Arc<Mutex<Journal>>,
    small_files: SmallFiles,
    /// Whether files of an earlier dump are replaced.
    replaces: bool,
    /// Whether files are synced to disk before they get their names.
    sync: bool,
    /// Whether rows bypass the page cache, if the file system supports that.
    around_cache: bool,
    /// The files that were written as a whole, by their names.
    whole: RefCell<BTreeMap<String, DumpedFile>>,
}

impl Directory {
    /// Creates the directory if it does not exist, and begins a journal. A directory that is not empty is
    /// refused unless its files may be overwritten, and always in the layouts of loaders, which read every
    /// file.
    pub fn prepare(path: &Path, options: &DumpOptions) -> Result<Directory> {
        if is_interrupted(path) && !options.overwrite {
            return Err(Error::refused(
                "it has a dump that is not complete",
                [Remedy::Resume, Remedy::EmptyDirectory],
            )
            .in_file(path));
        }
        let failed = |error| Error::write("preparing the output directory", error).in_file(path);
        if path.exists() && !path.is_dir() {
            return Err(failed(ErrorKind::NotADirectory.into()));
        }
        std::fs::create_dir_all(path).map_err(failed)?;
        let holds_any = std::fs::read_dir(path).map_err(failed)?.next().is_some();
        if holds_any && !options.overwrite {
            let error = match options.layout {
                Layout::Files => Error::refused(
                    "the output directory is not empty",
                    [Remedy::EmptyDirectory, Remedy::Overwrite],
                ),
                _ => Error::refused(
                    "the output directory is not empty, and has no interrupted dump to resume",
                    Remedy::EmptyDirectory,
                ),
            };
            return Err(error.in_file(path));
        }
        if holds_any && options.layout != Layout::Files {
            return Err(Error::refused(
                "the output directory is not empty, and a loader would take what is there for a \
                 part of this dump",
                [Remedy::EmptyDirectory, Remedy::ChooseLayout("files")],
            )
            .in_file(path));
        }
        let mut journal = Journal::open(path, options.sync)?;
        journal.clear()?;
        // The files of a complete dump are replaced one by one, so it is no longer complete.
        match std::fs::remove_file(path.join(MANIFEST_NAME)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        journal.note(&interrupted_dump::head(options))?;
        Ok(Directory::of(path, journal, options))
    }

    /// The directory of an open journal.
    pub fn of(path: &Path, journal: Journal, options: &DumpOptions) -> Directory {
        let journal = Arc::new(Mutex::new(journal));
        Directory {
            path: path.to_owned(),
            small_files: SmallFiles::new(Arc::clone(&journal)),
            journal,
            replaces: options.overwrite,
            sync: options.sync,
            around_cache: options.scan.io.direct != Direct::Off,
            whole: RefCell::default(),
        }
    }

    /// Takes the bytes of a file that may have its final name at once: it is small, so it is written by
    /// one write, and it replaces no other.
    pub fn take_small(&self, output: &mut Output) -> Option<Vec<u8>> {
        if self.replaces { None } else { output.take_small() }
    }

    /// The files that were written as a whole, including those of tables' definitions.
    pub fn whole_files(&self) -> Vec<DumpedFile> {
        self.whole.borrow().values().cloned().collect()
    }

    /// Adds an entry to the journal.
    pub fn note(&self, entry: &Entry) -> Result<()> {
        journal::locked(&self.journal).note(entry)
    }

    /// Gives a file its name, unless it has the name already.
    pub fn rename(&self, partial: &str, name: &str) -> Result<()> {
        if partial == name {
            return Ok(());
        }
        let name = self.path.join(name);
        match std::fs::rename(self.path.join(partial), &name) {
            Err(error) if error.kind() == ErrorKind::NotFound && name.exists() => Ok(()),
            renamed => renamed
                .map_err(|error| Error::write("renaming the finished file", error).in_file(&name)),
        }
    }

    /// Gives a finished file its name.
    pub fn publish(&self, name: &str, partial: Partial) -> Result<()> {
        self.rename(&partial_name(name), name)?;
        partial.keep();
        Ok(())
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) {
        // Nothing more can be done about a file that cannot be removed.
        let _ = std::fs::remove_file(self.path.join(name));
    }

    /// Waits until all small files are written, and syncs all files that were written.
    pub fn flush(&self) -> Result<()> {
        self.small_files.finish()?;
        if !self.sync {
            return Ok(());
        }
        let flushed = File::open(&self.path).and_then(|directory| Ok(syncfs(&directory)?));
        flushed.map_err(|error| {
            Error::write("putting the files on the disk", error).in_file(&self.path)
        })
    }

    /// Removes the journal of a complete dump.
    pub fn complete(self) -> Result<()> {
        journal::locked(&self.journal).remove()?;
        self.sync()
    }

    /// Writes a whole file.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<DumpedFile> {
        let (partial, mut output) = Partial::create(self, name)?;
        partial.fill(&mut output, content)?;
        match self.take_small(&mut output) {
            Some(bytes) => partial.write_small(name, bytes, None, self)?,
            None => {
                partial.finish(output, content.len() as u64, self)?;
                self.publish(name, partial)?;
            }
        }
        let file = whole_file(name, content);
        self.whole.borrow_mut().insert(name.to_owned(), file.clone());
        Ok(file)
    }

    /// Writes a whole file, which keeps its temporary name for now.
    pub fn write_partial(&self, name: &str, content: &[u8]) -> Result<(DumpedFile, Partial)> {
        let (partial, mut output) = Partial::create(self, name)?;
        partial.fill(&mut output, content)?;
        partial.finish(output, content.len() as u64, self)?;
        Ok((whole_file(name, content), partial))
    }

    /// Syncs the directory, and so the names of its files.
    pub fn sync(&self) -> Result<()> {
        File::open(&self.path)
            .and_then(|directory| if self.sync { directory.sync_all() } else { Ok(()) })
            .map_err(|error| {
                Error::write("syncing the output directory", error).in_file(&self.path)
            })
    }
}

fn whole_file(name: &str, content: &[u8]) -> DumpedFile {
    let bytes = content.len() as u64;
    let crc32 = crc32fast::hash(content);
    DumpedFile { name: name.to_owned(), rows: 0, plain_bytes: bytes, file_bytes: bytes, crc32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::Format;

    fn options(overwrite: bool) -> DumpOptions {
        DumpOptions { overwrite, ..DumpOptions::new(Format::default()) }
    }

    #[test]
    fn a_directory_with_something_in_it_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("x"), "").unwrap();
        let error = Directory::prepare(dir.path(), &options(false)).unwrap_err();
        assert!(error.to_string().contains("not empty"), "{error}");
        Directory::prepare(dir.path(), &options(true)).unwrap();
        for layout in [Layout::MyDumper, Layout::MySqlShell] {
            let options = DumpOptions { layout, ..options(true) };
            let error = Directory::prepare(dir.path(), &options).unwrap_err();
            assert!(error.to_string().contains("a loader would take"), "{error}");
        }
    }
}
