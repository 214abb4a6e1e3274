//! The numbered files of a table's rows.
//!
//! A finished file is noted in the journal. The files of a table get their names together, when all of
//! them are finished.

use std::io::Write;

use innoscan_engine::scan::LeafId;
use innoscan_engine::{Error, Losses, Result};
use innoscan_io::Output;

use super::DumpOptions;
use super::dumped_file::{DumpedFile, partial_name};
use super::files::{Directory, Partial};
use super::interrupted_dump::FinishedChunks;
use super::journal::{Entry, FinishedChunk, TableKey, TableVersion};
use crate::sink::{ChunkOutput, ChunkWriter, Compression, Encoded};

/// The names of a table's files of rows, from the number of a file (from 0) and whether it is the last.
pub(super) type ChunkNames = Box<dyn Fn(usize, bool) -> String>;

/// The common properties of a table's files of rows.
pub(super) struct ChunkOptions {
    pub names: ChunkNames,
    pub writer: Box<dyn ChunkWriter>,
    pub compression: Compression,
    /// The size at which a new file begins, in bytes before compression.
    pub chunk_bytes: u64,
}

impl ChunkOptions {
    pub fn new(
        names: ChunkNames,
        writer: Box<dyn ChunkWriter>,
        options: &DumpOptions,
    ) -> ChunkOptions {
        let chunk_bytes = options.chunk_bytes.unwrap_or(u64::MAX);
        ChunkOptions { names, writer, compression: options.compression, chunk_bytes }
    }
}

/// The files of a table's rows while they are written.
pub(super) struct Chunks<'a> {
    directory: &'a Directory,
    table: TableKey,
    options: ChunkOptions,
    open: Option<Open>,
    done: Vec<FinishedChunk>,
}

/// The file that is being written.
#[derive(Debug)]
struct Open {
    partial: Partial,
    output: Output,
    crc32: crc32fast::Hasher,
    written: FinishedChunk,
}

impl<'a> Chunks<'a> {
    /// Begins a table. Finished files are kept by a later run only if the table still has this version.
    pub fn begin(
        directory: &'a Directory,
        table: TableKey,
        version: TableVersion,
        options: ChunkOptions,
    ) -> Result<Chunks<'a>> {
        directory.note(&Entry::Table { table: table.clone(), version })?;
        Ok(Chunks { directory, table, options, open: None, done: Vec::new() })
    }

    /// Resumes a table some of whose files are finished.
    pub fn resume(
        directory: &'a Directory,
        table: TableKey,
        begun: FinishedChunks,
        options: ChunkOptions,
    ) -> Chunks<'a> {
        Chunks { directory, table, options, open: None, done: begun.chunks }
    }

    /// The finished files.
    pub fn done(&self) -> &[FinishedChunk] {
        &self.done
    }

    /// Adds a batch, which is never split, and its checksum. `end` is the leaf after which the table can
    /// be resumed.
    pub fn write(&mut self, batch: &Encoded, sum: u32, end: Option<LeafId>) -> Result<()> {
        if batch.plain_bytes() == 0 {
            return Ok(());
        }
        let bytes = self.options.chunk_bytes;
        if self.open.as_ref().is_some_and(|open| open.is_full(bytes)) {
            self.close(false)?;
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.open_next()?,
        };
        self.options.writer.write(batch, &mut open)?;
        open.written.file.rows += batch.rows();
        open.written.rows_bytes += batch.plain_bytes();
        open.written.losses += batch.losses();
        open.written.sum = open.written.sum.wrapping_add(sum);
        open.written.after = end;
        self.open = Some(open);
        Ok(())
    }

    /// Ends the last file, and gives all files their names. A table without rows has one file.
    pub fn finish(mut self) -> Result<Vec<DumpedFile>> {
        let is_whole = self.done.last().is_some_and(|chunk| chunk.is_last);
        if self.open.is_none() && !is_whole {
            let mut open = self.open_next()?;
            let nothing = Encoded::without_rows(self.options.compression)?;
            self.options.writer.write(&nothing, &mut open)?;
            self.open = Some(open);
        }
        self.close(true)?;
        for chunk in &self.done {
            self.directory.rename(&chunk.partial, &chunk.file.name)?;
        }
        Ok(self.done.into_iter().map(|chunk| chunk.file).collect())
    }

    /// Removes the finished files, because the table cannot be dumped.
    pub fn discard(self) {
        for chunk in &self.done {
            self.directory.remove(&chunk.partial);
        }
    }

    fn open_next(&mut self) -> Result<Open> {
        let name = (self.options.names)(self.done.len(), false);
        let (partial, output) = Partial::create(self.directory, &name)?;
        let written = FinishedChunk {
            partial: partial_name(&name),
            file: DumpedFile { name, rows: 0, plain_bytes: 0, file_bytes: 0, crc32: 0 },
            rows_bytes: 0,
            losses: Losses::default(),
            sum: 0,
            after: None,
            is_last: false,
        };
        let mut open = Open { partial, output, crc32: crc32fast::Hasher::new(), written };
        self.options.writer.begin(&mut open)?;
        Ok(open)
    }

    fn close(&mut self, is_last: bool) -> Result<()> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        self.options.writer.finish(&mut open)?;
        let Open { partial, mut output, crc32, mut written } = open;
        let name = (self.options.names)(self.done.len(), is_last);
        let is_only = is_last && self.done.is_empty();
        let small = if is_only { self.directory.take_small(&mut output) } else { None };
        if small.is_some() {
            written.partial.clone_from(&name);
        }
        written.file.crc32 = crc32.finalize();
        written.file.name = name;
        written.is_last = is_last;
        let entry = Entry::Chunk { table: self.table.clone(), chunk: written.clone() };
        match small {
            Some(bytes) => {
                partial.write_small(&written.file.name, bytes, Some(entry), self.directory)?;
            }
            None => {
                partial.finish(output, written.file.file_bytes, self.directory)?;
                self.directory.note(&entry)?;
                partial.keep();
            }
        }
        self.done.push(written);
        Ok(())
    }
}

impl Open {
    /// Whether a new file should begin: at a leaf after which the table can be resumed, unless such a leaf
    /// does not come before twice the size.
    fn is_full(&self, bytes: u64) -> bool {
        let FinishedChunk { file, after, .. } = &self.written;
        let most_bytes = if after.is_some() { bytes } else { bytes.saturating_mul(2) };
        file.plain_bytes >= most_bytes
    }
}

impl ChunkOutput for Open {
    fn append(&mut self, bytes: &[u8], plain_bytes: u64) -> Result<()> {
        self.output
            .write_all(bytes)
            .map_err(|error| Error::write("writing", error).in_file(self.partial.path()))?;
        self.crc32.update(bytes);
        self.written.file.plain_bytes += plain_bytes;
        self.written.file.file_bytes += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::Format;

    /// Writes files with a head and a footer, as those of columnar formats.
    struct WithFooter(u64);

    impl ChunkWriter for WithFooter {
        fn begin(&mut self, out: &mut dyn ChunkOutput) -> Result<()> {
            self.0 = 0;
            out.append(b"head\n", 5)
        }

        fn write(&mut self, batch: &Encoded, _out: &mut dyn ChunkOutput) -> Result<()> {
            self.0 += batch.rows();
            Ok(())
        }

        fn finish(&mut self, out: &mut dyn ChunkOutput) -> Result<()> {
            out.append(format!("{} rows\n", self.0).as_bytes(), 7)
        }
    }

    fn chunks(directory: &Directory) -> Chunks<'_> {
        let names: ChunkNames = Box::new(|number, _| format!("t.{number:05}.csv"));
        let dump_options = DumpOptions::new(Format::default());
        let options = ChunkOptions::new(names, Box::new(WithFooter(0)), &dump_options);
        let table = ("d".to_owned(), "t".to_owned());
        Chunks::begin(directory, table, TableVersion::default(), options).unwrap()
    }

    fn directory(path: &std::path::Path) -> Directory {
        Directory::prepare(path, &DumpOptions::new(Format::default())).unwrap()
    }

    #[test]
    fn a_file_that_is_not_finished_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let directory = directory(dir.path());
        let mut chunks = chunks(&directory);
        let mut open = chunks.open_next().unwrap();
        let path = dir.path().join("t.00000.csv.partial");
        assert!(!path.exists());
        // A file exists as soon as it is no longer small.
        open.append(&[b'x'; 1 << 20], 1 << 20).unwrap();
        chunks.open = Some(open);
        assert!(path.exists());
        drop(chunks);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_is_done_waits_for_its_table() {
        let dir = tempfile::tempdir().unwrap();
        let directory = directory(dir.path());
        let done = || {
            let mut chunks = chunks(&directory);
            let open = chunks.open_next().unwrap();
            chunks.open = Some(open);
            chunks.close(false).unwrap();
            chunks
        };
        let path = dir.path().join("t.00000.csv.partial");
        drop(done());
        assert!(path.exists());
        done().discard();
        assert!(!path.exists());
    }

    #[test]
    fn a_small_file_replaces_another_only_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.00000.csv");
        std::fs::write(&path, "of before").unwrap();
        let options = DumpOptions { overwrite: true, ..DumpOptions::new(Format::default()) };
        let directory = Directory::prepare(dir.path(), &options).unwrap();
        let mut chunks = chunks(&directory);
        chunks.open = Some(chunks.open_next().unwrap());
        chunks.close(true).unwrap();
        directory.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"of before");
        chunks.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"head\n0 rows\n");
    }

    #[test]
    fn an_empty_table_has_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let directory = directory(dir.path());
        let files = chunks(&directory).finish().unwrap();
        directory.flush().unwrap();
        assert_eq!(files[0].name, "t.00000.csv");
        assert_eq!(files[0].crc32, crc32fast::hash(b"head\n0 rows\n"));
        assert_eq!(std::fs::read(dir.path().join("t.00000.csv")).unwrap(), b"head\n0 rows\n");
    }
}
