//! Files that appear only when they are complete.
//!
//! A file is written as `NAME.partial`, and renamed when all of its table is on disk. What the
//! names are is the layouts' business.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use innoscan_io::{Direct, Output};

use super::{DumpOptions, Layout};
use crate::sink::{Compression, Encoded};
use crate::{Error, Result};

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedFile {
    /// Its name in the directory.
    pub name: String,
    /// Rows in it; 0 for definitions.
    pub rows: u64,
    /// Its size in bytes before compression.
    pub plain_bytes: u64,
    /// Its size in bytes.
    pub file_bytes: u64,
}

/// A file under its temporary name; it is removed unless it is [`committed`](Partial::commit).
#[derive(Debug)]
struct Partial {
    path: PathBuf,
    committed: bool,
}

impl Partial {
    fn create(directory: &Directory, name: &str) -> Result<(Partial, Output)> {
        let path = directory.path.join(format!("{name}.partial"));
        let output = Output::create(&path, directory.around_cache)
            .map_err(|error| Error::write("creating the file", error).in_file(&path))?;
        Ok((Partial { path, committed: false }, output))
    }

    /// Gives the file its name.
    fn commit(mut self, name: &str) -> Result<()> {
        let name = self.path.with_file_name(name);
        std::fs::rename(&self.path, &name)
            .map_err(|error| Error::write("renaming the finished file", error).in_file(&name))?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing more can be done about a file that cannot be removed.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A directory that output is written to.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    path: PathBuf,
    /// Whether files are on the disk before they get their names.
    sync: bool,
    /// Whether rows are written around the page cache, where the file system can.
    around_cache: bool,
}

impl Directory {
    /// Makes the directory if it is not there. Refuses one that holds anything, unless its files
    /// may be overwritten; in a layout of a loader, which reads all there is, always.
    pub fn prepare(path: &Path, options: &DumpOptions) -> Result<Directory> {
        let failed = |error| Error::write("preparing the output directory", error).in_file(path);
        if path.exists() && !path.is_dir() {
            return Err(failed(std::io::ErrorKind::NotADirectory.into()));
        }
        std::fs::create_dir_all(path).map_err(failed)?;
        let holds_any = std::fs::read_dir(path).map_err(failed)?.next().is_some();
        if holds_any && !options.overwrite {
            return Err(Error::refused(
                "the output directory is not empty",
                "give one that is empty or does not exist",
            )
            .in_file(path));
        }
        if holds_any && options.layout != Layout::Files {
            return Err(Error::refused(
                "the output directory is not empty, and a loader would take what is there for a \
                 part of this dump",
                "give one that is empty or does not exist, or use --layout files",
            )
            .in_file(path));
        }
        let around_cache = options.scan.direct != Direct::Off;
        Ok(Directory { path: path.to_owned(), sync: options.sync, around_cache })
    }

    /// Writes a whole file.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<DumpedFile> {
        let (partial, mut output) = Partial::create(self, name)?;
        output
            .write_all(content)
            .and_then(|()| output.finish(self.sync))
            .map_err(|error| Error::write("writing", error).in_file(&partial.path))?;
        partial.commit(name)?;
        let bytes = content.len() as u64;
        Ok(DumpedFile { name: name.to_owned(), rows: 0, plain_bytes: bytes, file_bytes: bytes })
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

/// What a table's files of rows are called: by their number, from 0, and whether it is the last.
pub(super) type ChunkNames = Box<dyn Fn(usize, bool) -> String>;

/// A table's rows on their way into numbered files.
pub(super) struct Chunks<'a> {
    directory: &'a Directory,
    names: ChunkNames,
    head: &'a [u8],
    compression: Compression,
    chunk_bytes: u64,
    open: Option<Open>,
    done: Vec<(Partial, DumpedFile)>,
}

#[derive(Debug)]
struct Open {
    partial: Partial,
    output: Output,
    written: DumpedFile,
}

impl<'a> Chunks<'a> {
    /// Files each beginning with `head`; a new one once a file has as many bytes before compression
    /// as the options say.
    pub fn new(
        directory: &'a Directory,
        names: ChunkNames,
        head: &'a [u8],
        options: &DumpOptions,
    ) -> Chunks<'a> {
        Chunks {
            directory,
            names,
            head,
            compression: options.compression,
            chunk_bytes: options.chunk_bytes.unwrap_or(u64::MAX),
            open: None,
            done: Vec::new(),
        }
    }

    /// Adds rows. A batch is never split.
    pub fn write(&mut self, batch: &Encoded) -> Result<()> {
        if batch.plain_bytes() == 0 {
            return Ok(());
        }
        if self.open.as_ref().is_some_and(|open| open.written.plain_bytes >= self.chunk_bytes) {
            self.close()?;
        }
        if self.open.is_none() {
            self.open = Some(self.begin()?);
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        open.append(batch.output(), batch.plain_bytes())?;
        open.written.rows += batch.rows();
        Ok(())
    }

    /// All rows were added: the files get their names. There is at least one, if only to say that
    /// the table has no rows.
    pub fn finish(mut self) -> Result<Vec<DumpedFile>> {
        if self.open.is_none() && self.done.is_empty() {
            let mut open = self.begin()?;
            // a compressed file of no bytes is one that no program reads
            let mut nothing = Vec::new();
            self.compression.append(b"", &mut nothing)?;
            open.append(&nothing, 0)?;
            self.open = Some(open);
        }
        self.close()?;
        let mut files = Vec::new();
        let done = std::mem::take(&mut self.done);
        let last = done.len().saturating_sub(1);
        for (number, (partial, mut file)) in done.into_iter().enumerate() {
            file.name = (self.names)(number, number == last);
            partial.commit(&file.name)?;
            files.push(file);
        }
        Ok(files)
    }

    fn begin(&self) -> Result<Open> {
        let name = (self.names)(self.done.len(), false);
        let (partial, output) = Partial::create(self.directory, &name)?;
        let written = DumpedFile { name, rows: 0, plain_bytes: 0, file_bytes: 0 };
        let mut open = Open { partial, output, written };
        if !self.head.is_empty() {
            let mut head = Vec::new();
            self.compression.append(self.head, &mut head)?;
            open.append(&head, self.head.len() as u64)?;
        }
        Ok(open)
    }

    fn close(&mut self) -> Result<()> {
        if let Some(Open { partial, output, written }) = self.open.take() {
            output
                .finish(self.directory.sync)
                .map_err(|error| Error::write("writing", error).in_file(&partial.path))?;
            self.done.push((partial, written));
        }
        Ok(())
    }
}

impl Open {
    fn append(&mut self, output: &[u8], plain_bytes: u64) -> Result<()> {
        self.output
            .write_all(output)
            .map_err(|error| Error::write("writing", error).in_file(&self.partial.path))?;
        self.written.plain_bytes += plain_bytes;
        self.written.file_bytes += output.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::Format;
    use crate::sink::csv::CsvOptions;

    fn options(overwrite: bool) -> DumpOptions {
        DumpOptions { overwrite, ..DumpOptions::new(Format::Csv(CsvOptions::default())) }
    }

    fn names() -> ChunkNames {
        Box::new(|number, _| format!("t.{number:05}.csv"))
    }

    #[test]
    fn a_file_that_is_not_finished_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::prepare(dir.path(), &options(false)).unwrap();
        let mut chunks = Chunks::new(&directory, names(), b"head\n", &options(false));
        chunks.open = Some(chunks.begin().unwrap());
        assert!(dir.path().join("t.00000.csv.partial").exists());
        drop(chunks);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_empty_table_has_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::prepare(dir.path(), &options(false)).unwrap();
        let chunks = Chunks::new(&directory, names(), b"head\n", &options(false));
        let files = chunks.finish().unwrap();
        assert_eq!(files[0].name, "t.00000.csv");
        assert_eq!(std::fs::read(dir.path().join("t.00000.csv")).unwrap(), b"head\n");
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
