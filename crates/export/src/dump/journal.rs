//! What is done of a dump, noted in its directory as it goes on: what `--resume` goes by.
//!
//! ```text
//! {"dump":"innoscan 0.1.0","outline":{"layout":"MyDumper",...}}       how it is dumped
//! {"file":"shop.orders.00000.sql.zst"}                                it is about to be made
//! {"table":["shop","orders"],"definition":123,"stamps":["..."]}       a table begins
//! {"chunk":["shop","orders"],"name":"...","crc32":...,"after":[0,7]}  a file of its rows is done
//! {"kept":[["shop","orders",3]]}                                      it was gone on with these
//! ```
//!
//! A line a note; a line without an end was being written when the dump was killed. Who writes into
//! the directory holds a lock on the journal. It goes when the dump is complete.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use innoscan_engine::scan::LeafId;
use innoscan_engine::{Error, Result};
use innoscan_format::PageNo;
use rustix::fs::FlockOperation;
use serde_json::{Value, json};

use super::done::DumpedFile;

/// Its name in the dump's directory.
pub(super) const NAME: &str = "innoscan.journal";

/// It is on the disk after so many bytes of chunks at the latest, as the chunks themselves are: a
/// dump of many small tables does not wait for it at each.
const SYNC_BYTES: u64 = 8 << 20;

/// Database and table.
pub(super) type TableKey = (String, String);

/// What two runs must have in common, by what it is called.
pub(super) type Outline = BTreeMap<String, String>;

/// A table's definition and files as they were when it was dumped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TableVersion {
    /// The CRC-32 of its `CREATE TABLE`.
    pub definition: u32,
    /// Its files' stamps.
    pub stamps: Vec<String>,
}

/// A file of rows that is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DoneChunk {
    /// What it is called until the whole table is done.
    pub partial: String,
    /// The file, and what it is called then.
    pub file: DumpedFile,
    /// Bytes of its rows before compression, without what each file begins with.
    pub rows_bytes: u64,
    /// Characters that became U+FFFD.
    pub unmapped_characters: u64,
    /// The sum of its rows.
    pub sum: u32,
    /// Where its table is to be gone on with, if that can be said.
    pub after: Option<LeafId>,
    /// No row follows.
    pub is_last: bool,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Who dumps, and how.
    Head { dumper: String, outline: Outline },
    /// A file is about to be made.
    File(String),
    /// A table begins, whatever was done of it before.
    Table { table: TableKey, version: TableVersion },
    /// A file of its rows is done.
    Chunk { table: TableKey, chunk: DoneChunk },
    /// The dump is gone on with: how many files of rows are kept of each table.
    Kept(Vec<(TableKey, usize)>),
}

/// The journal of a dump, which nobody else writes to.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    sync: bool,
    unsynced_bytes: u64,
}

impl Journal {
    /// Opens the journal of a directory, or makes one, and locks it.
    pub fn open(directory: &Path, sync: bool) -> Result<Journal> {
        let path = directory.join(NAME);
        let mut options = OpenOptions::new();
        let file =
            options.read(true).write(true).create(true).truncate(false).open(&path).map_err(
                |error| Error::write("opening the dump's journal", error).in_file(&path),
            )?;
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Error::refused(
                "another innoscan is dumping into this directory",
                "wait for it, or give another directory",
            )
            .in_file(directory));
        }
        Ok(Journal { path, file, sync, unsynced_bytes: 0 })
    }

    /// Forgets all that was noted.
    pub fn clear(&mut self) -> Result<()> {
        self.cut(0)
    }

    /// What was noted. A line that was being written when its writer was killed is taken away.
    pub fn read(&mut self) -> Result<Vec<Entry>> {
        let mut text = Vec::new();
        self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.read_to_end(&mut text)).map_err(
            |error| Error::read("reading the dump's journal", error).in_file(&self.path),
        )?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        self.cut(whole as u64)?;
        let lines = text[..whole].split_inclusive(|&byte| byte == b'\n');
        let entries = lines.enumerate().map(|(number, line)| {
            let json = serde_json::from_slice(line).ok();
            json.as_ref().and_then(Entry::from_json).ok_or_else(|| {
                Error::refused(
                    format!("line {} is not a line of a dump's journal", number + 1),
                    "give another directory: this dump cannot be resumed",
                )
                .in_file(&self.path)
            })
        });
        entries.collect()
    }

    fn cut(&mut self, bytes: u64) -> Result<()> {
        let cut = self.file.set_len(bytes).and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map(|_| ()).map_err(|error| self.failed(error))
    }

    /// Adds a line.
    pub fn note(&mut self, entry: &Entry) -> Result<()> {
        let mut line = entry.to_json().to_string();
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(|error| self.failed(error))?;
        self.unsynced_bytes += match entry {
            Entry::Chunk { chunk, .. } => chunk.file.file_bytes,
            Entry::Kept(_) => SYNC_BYTES,
            _ => 0,
        };
        if self.sync && self.unsynced_bytes >= SYNC_BYTES {
            self.file.sync_data().map_err(|error| self.failed(error))?;
            self.unsynced_bytes = 0;
        }
        Ok(())
    }

    /// The dump is complete.
    pub fn remove(&self) -> Result<()> {
        std::fs::remove_file(&self.path)
            .map_err(|error| Error::write("removing the journal", error).in_file(&self.path))
    }

    fn failed(&self, error: std::io::Error) -> Error {
        Error::write("writing the dump's journal", error).in_file(&self.path)
    }
}

impl Entry {
    fn to_json(&self) -> Value {
        match self {
            Entry::Head { dumper, outline } => json!({ "dump": dumper, "outline": outline }),
            Entry::File(name) => json!({ "file": name }),
            Entry::Table { table, version } => json!({
                "table": table,
                "definition": version.definition,
                "stamps": version.stamps,
            }),
            Entry::Chunk { table, chunk } => json!({
                "chunk": table,
                "partial": chunk.partial,
                "name": chunk.file.name,
                "rows": chunk.file.rows,
                "plain_bytes": chunk.file.plain_bytes,
                "bytes": chunk.file.file_bytes,
                "crc32": chunk.file.crc32,
                "rows_bytes": chunk.rows_bytes,
                "unmapped_characters": chunk.unmapped_characters,
                "sum": chunk.sum,
                "after": chunk.after.map(|after| (after.file, after.page.0)),
                "is_last": chunk.is_last,
            }),
            Entry::Kept(tables) => {
                let kept = |((database, table), files): &(TableKey, usize)| {
                    json!([database, table, files])
                };
                json!({ "kept": tables.iter().map(kept).collect::<Vec<Value>>() })
            }
        }
    }

    fn from_json(json: &Value) -> Option<Entry> {
        let key = |json: &Value| Some((text(json.get(0)?)?, text(json.get(1)?)?));
        if let Some(dumper) = json.get("dump") {
            let outline = json.get("outline")?.as_object()?;
            let fields = outline.iter().map(|(name, value)| Some((name.clone(), text(value)?)));
            let (dumper, outline) = (text(dumper)?, fields.collect::<Option<Outline>>()?);
            return Some(Entry::Head { dumper, outline });
        }
        if let Some(file) = json.get("file") {
            return Some(Entry::File(file_name(file)?));
        }
        if let Some(table) = json.get("table") {
            let stamps = json.get("stamps")?.as_array()?.iter().map(text);
            let version = TableVersion {
                definition: number(json.get("definition")?)?,
                stamps: stamps.collect::<Option<_>>()?,
            };
            return Some(Entry::Table { table: key(table)?, version });
        }
        if let Some(table) = json.get("chunk") {
            return Some(Entry::Chunk { table: key(table)?, chunk: DoneChunk::from_json(json)? });
        }
        let kept = json.get("kept")?.as_array()?.iter();
        let kept = kept.map(|table| Some((key(table)?, number(table.get(2)?)?)));
        Some(Entry::Kept(kept.collect::<Option<_>>()?))
    }
}

impl DoneChunk {
    fn from_json(json: &Value) -> Option<DoneChunk> {
        let after = match json.get("after")? {
            Value::Null => None,
            place => {
                Some(LeafId { file: number(place.get(0)?)?, page: PageNo(number(place.get(1)?)?) })
            }
        };
        Some(DoneChunk {
            partial: file_name(json.get("partial")?)?,
            file: DumpedFile {
                name: file_name(json.get("name")?)?,
                rows: number(json.get("rows")?)?,
                plain_bytes: number(json.get("plain_bytes")?)?,
                file_bytes: number(json.get("bytes")?)?,
                crc32: number(json.get("crc32")?)?,
            },
            rows_bytes: number(json.get("rows_bytes")?)?,
            unmapped_characters: number(json.get("unmapped_characters")?)?,
            sum: number(json.get("sum")?)?,
            after,
            is_last: json.get("is_last")?.as_bool()?,
        })
    }
}

fn text(json: &Value) -> Option<String> {
    json.as_str().map(str::to_owned)
}

/// A name that stays in the directory.
fn file_name(json: &Value) -> Option<String> {
    let name = json.as_str()?;
    let is_plain = !name.contains(['/', '\0']) && !matches!(name, "" | "." | ".." | NAME);
    is_plain.then(|| name.to_owned())
}

fn number<N: TryFrom<u64>>(json: &Value) -> Option<N> {
    json.as_u64().and_then(|number| number.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let table = || ("a\"b".to_owned(), "ü\n".to_owned());
        let file = DumpedFile {
            name: "t.00001.sql".to_owned(),
            rows: 3,
            plain_bytes: u64::MAX,
            file_bytes: 7,
            crc32: u32::MAX,
        };
        let chunk = DoneChunk {
            partial: "t.00001.sql.partial".to_owned(),
            file,
            rows_bytes: 2,
            unmapped_characters: 1,
            sum: 5,
            after: Some(LeafId { file: 2, page: PageNo(9) }),
            is_last: false,
        };
        let last = DoneChunk { after: None, is_last: true, ..chunk.clone() };
        vec![
            Entry::Head {
                dumper: "innoscan".to_owned(),
                outline: Outline::from([("layout".to_owned(), "Files".to_owned())]),
            },
            Entry::File("t.00001.sql".to_owned()),
            Entry::Table {
                table: table(),
                version: TableVersion { definition: 4, stamps: vec!["1 2".to_owned()] },
            },
            Entry::Chunk { table: table(), chunk },
            Entry::Chunk { table: table(), chunk: last },
            Entry::Kept(vec![(table(), 2)]),
        ]
    }

    #[test]
    fn what_was_noted_is_read_but_for_a_line_cut_short() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), true).unwrap();
        entries().iter().for_each(|entry| journal.note(entry).unwrap());
        drop(journal);
        let path = dir.path().join(NAME);
        let whole = std::fs::read(&path).unwrap();
        for bytes in 0..=whole.len() {
            std::fs::write(&path, &whole[..bytes]).unwrap();
            let mut journal = Journal::open(dir.path(), true).unwrap();
            let lines = whole[..bytes].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(journal.read().unwrap(), entries()[..lines]);
            journal.note(&Entry::File("next".to_owned())).unwrap();
            assert_eq!(journal.read().unwrap().len(), lines + 1);
        }
    }

    #[test]
    fn it_is_one_innoscans_and_names_nothing_outside() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), false).unwrap();
        let error = Journal::open(dir.path(), false).unwrap_err();
        assert!(error.to_string().contains("another innoscan is dumping"), "{error}");
        for name in ["../x", "a/b", "", "..", NAME] {
            journal.note(&Entry::File(name.to_owned())).unwrap();
            let error = journal.read().unwrap_err();
            assert!(
                error.to_string().contains("line 1 is not a line of a dump's journal"),
                "{error}"
            );
            journal.clear().unwrap();
        }
    }
}
