//! Files that appear only when they are complete.
//!
//! A file is written as `NAME.partial`, and renamed when all of its table is on disk. What the
//! names are is the layouts' business. The directory's journal knows every name before its file is
//! there.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use innoscan_io::{Direct, Output};
use rustix::fs::syncfs;

use super::done::{DumpedFile, partial_name};
use super::journal::{Entry, Journal};
use super::unfinished::{self, is_begun};
use super::{DumpOptions, Layout};
use crate::{Error, Remedy, Result};

/// A file of so many bytes is put on the disk by itself, so that not all of a dump waits in memory
/// for that.
const SYNCED_FROM_BYTES: u64 = 8 << 20;

/// A file under its temporary name; it is removed unless it is [`kept`](Partial::keep).
#[derive(Debug)]
pub(super) struct Partial {
    path: PathBuf,
    is_kept: bool,
}

impl Partial {
    pub fn create(directory: &Directory, name: &str) -> Result<(Partial, Output)> {
        directory.note(&Entry::File(name.to_owned()))?;
        let path = directory.path.join(partial_name(name));
        let output = Output::create(&path, directory.around_cache)
            .map_err(|error| Error::write("creating the file", error).in_file(&path))?;
        Ok((Partial { path, is_kept: false }, output))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of its bytes were written. A large file is on the disk now, if files are to be; small ones
    /// are put there all at once ([`Directory::flush`]).
    pub fn finish(&self, output: Output, bytes: u64, directory: &Directory) -> Result<()> {
        output
            .finish(directory.sync && bytes >= SYNCED_FROM_BYTES)
            .map_err(|error| Error::write("writing", error).in_file(&self.path))
    }

    /// Leaves it where it is.
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

/// A directory that output is written to.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    journal: RefCell<Journal>,
    /// Whether files are on the disk before they get their names.
    sync: bool,
    /// Whether rows are written around the page cache, where the file system can.
    around_cache: bool,
    /// The files that were written whole, by their names.
    whole: RefCell<BTreeMap<String, DumpedFile>>,
}

impl Directory {
    /// Makes the directory if it is not there, and begins a journal. Refuses one that holds anything,
    /// unless its files may be overwritten; in a layout of a loader, which reads all there is, always.
    pub fn prepare(path: &Path, options: &DumpOptions) -> Result<Directory> {
        if is_begun(path) && !options.overwrite {
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
        // Files of a dump that is complete are replaced one by one: it is complete no longer.
        match std::fs::remove_file(path.join("innoscan.json")) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        journal.note(&unfinished::head(options))?;
        Ok(Directory::of(path, journal, options))
    }

    /// The directory of a journal.
    pub fn of(path: &Path, journal: Journal, options: &DumpOptions) -> Directory {
        Directory {
            path: path.to_owned(),
            journal: RefCell::new(journal),
            sync: options.sync,
            around_cache: options.scan.io.direct != Direct::Off,
            whole: RefCell::default(),
        }
    }

    /// The files that were written whole, those of tables' definitions among them.
    pub fn whole_files(&self) -> Vec<DumpedFile> {
        self.whole.borrow().values().cloned().collect()
    }

    /// Notes in the journal what is done.
    pub fn note(&self, entry: &Entry) -> Result<()> {
        self.journal.borrow_mut().note(entry)
    }

    /// Gives a file its name, unless it has it.
    pub fn rename(&self, partial: &str, name: &str) -> Result<()> {
        let name = self.path.join(name);
        match std::fs::rename(self.path.join(partial), &name) {
            Err(error) if error.kind() == ErrorKind::NotFound && name.exists() => Ok(()),
            renamed => renamed
                .map_err(|error| Error::write("renaming the finished file", error).in_file(&name)),
        }
    }

    /// Takes a file away.
    pub fn remove(&self, name: &str) {
        // Nothing more can be done about a file that cannot be removed.
        let _ = std::fs::remove_file(self.path.join(name));
    }

    /// Puts all files that were written on the disk.
    pub fn flush(&self) -> Result<()> {
        if !self.sync {
            return Ok(());
        }
        let flushed = File::open(&self.path).and_then(|directory| Ok(syncfs(&directory)?));
        flushed.map_err(|error| {
            Error::write("putting the files on the disk", error).in_file(&self.path)
        })
    }

    /// The dump is complete.
    pub fn complete(self) -> Result<()> {
        self.journal.borrow().remove()?;
        self.sync()
    }

    /// Writes a whole file.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<DumpedFile> {
        let (file, partial) = self.write_partial(name, content)?;
        self.rename(&partial_name(name), name)?;
        partial.keep();
        self.whole.borrow_mut().insert(name.to_owned(), file.clone());
        Ok(file)
    }

    /// Writes all of a file, which does not get its name yet.
    pub fn write_partial(&self, name: &str, content: &[u8]) -> Result<(DumpedFile, Partial)> {
        let (partial, mut output) = Partial::create(self, name)?;
        output
            .write_all(content)
            .map_err(|error| Error::write("writing", error).in_file(&partial.path))?;
        let bytes = content.len() as u64;
        partial.finish(output, bytes, self)?;
        let file = DumpedFile {
            name: name.to_owned(),
            rows: 0,
            plain_bytes: bytes,
            file_bytes: bytes,
            crc32: crc32fast::hash(content),
        };
        Ok((file, partial))
    }

    /// Puts the names themselves on the disk.
    pub fn sync(&self) -> Result<()> {
        File::open(&self.path)
            .and_then(|directory| if self.sync { directory.sync_all() } else { Ok(()) })
            .map_err(|error| {
                Error::write("syncing the output directory", error).in_file(&self.path)
            })
    }
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
