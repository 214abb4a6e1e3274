//! The journal of a dump in its directory: its finished files, from which `--resume` continues.
//!
//! ```text
//! {"dump":"innoscan 0.1.0","outline":{"layout":"mydumper",...}}       the options of the dump
//! {"file":"shop.orders.00000.sql.zst"}                                a file will be created
//! {"table":["shop","orders"],"definition":123,"stamps":["..."]}       a table begins
//! {"chunk":["shop","orders"],"name":"...","crc32":...,"after":[0,7]}  a file of its rows is finished
//! {"kept":[["shop","orders",3]]}                                      resumed with these files
//! ```
//!
//! Each line is an entry. A line without an end was being written when the dump was killed. The process
//! that writes into the directory holds a lock on the journal. The journal is removed when the dump is
//! complete.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use innoscan_engine::scan::LeafId;
use innoscan_engine::{Error, Losses, Result};
use innoscan_format::PageNo;
use rustix::fs::FlockOperation;
use serde_json::{Value, json};

use super::dumped_file::DumpedFile;

/// The name of the journal in the dump's directory.
pub(super) const NAME: &str = "innoscan.journal";

/// The size of finished files after which the journal is synced, in bytes: the size from which files are
/// synced by themselves. A dump of many small tables does not wait for a sync per table.
const SYNC_BYTES: u64 = 8 << 20;

/// The names of a database and a table.
pub(super) type TableKey = (String, String);

/// The properties that must be the same in the interrupted and the resuming run, by name.
pub(super) type Outline = BTreeMap<String, String>;

/// The state of a table's definition and files when it was dumped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TableVersion {
    /// The CRC-32 of its `CREATE TABLE`.
    pub definition: u32,
    /// The stamps of its files.
    pub stamps: Vec<String>,
}

/// A finished file of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FinishedChunk {
    /// The name until all files of the table are finished.
    pub partial: String,
    /// The file, with its final name.
    pub file: DumpedFile,
    /// The size of its rows in bytes before compression, without the head of the file.
    pub rows_bytes: u64,
    /// What it does not hold of its rows' values.
    pub losses: Losses,
    /// The checksum of its rows.
    pub sum: u32,
    /// The leaf after which the table can be resumed, if there is one.
    pub after: Option<LeafId>,
    /// Whether this is the last file of the table.
    pub is_last: bool,
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The program and the options of the dump.
    Head { dumper: String, outline: Outline },
    /// A file will be created.
    File(String),
    /// A table begins; its earlier files no longer count.
    Table { table: TableKey, version: TableVersion },
    /// A file of a table's rows is finished.
    Chunk { table: TableKey, chunk: FinishedChunk },
    /// The dump was resumed with this number of files of rows per table.
    Kept(Vec<(TableKey, usize)>),
}

/// The journal of a dump, locked by this process.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    sync: bool,
    unsynced_bytes: u64,
}

/// The journal that several threads write to.
pub(super) fn locked(journal: &Mutex<Journal>) -> MutexGuard<'_, Journal> {
    // An entry is one write, so a panic elsewhere leaves the journal intact.
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal {
    /// Opens or creates the journal of a directory, and locks it.
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

    /// Removes all entries.
    pub fn clear(&mut self) -> Result<()> {
        self.cut(0)
    }

    /// Reads all entries. Removes a last line without an end, whose writer was killed.
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

    /// Adds an entry.
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

    /// Removes the journal of a complete dump.
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
                "losses": losses_json(chunk.losses),
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
            return Some(Entry::Chunk {
                table: key(table)?,
                chunk: FinishedChunk::from_json(json)?,
            });
        }
        let kept = json.get("kept")?.as_array()?.iter();
        let kept = kept.map(|table| Some((key(table)?, number(table.get(2)?)?)));
        Some(Entry::Kept(kept.collect::<Option<_>>()?))
    }
}

impl FinishedChunk {
    fn from_json(json: &Value) -> Option<FinishedChunk> {
        let after = match json.get("after")? {
            Value::Null => None,
            place => {
                Some(LeafId { file: number(place.get(0)?)?, page: PageNo(number(place.get(1)?)?) })
            }
        };
        Some(FinishedChunk {
            partial: file_name(json.get("partial")?)?,
            file: DumpedFile {
                name: file_name(json.get("name")?)?,
                rows: number(json.get("rows")?)?,
                plain_bytes: number(json.get("plain_bytes")?)?,
                file_bytes: number(json.get("bytes")?)?,
                crc32: number(json.get("crc32")?)?,
            },
            rows_bytes: number(json.get("rows_bytes")?)?,
            losses: losses_from(json.get("losses")?)?,
            sum: number(json.get("sum")?)?,
            after,
            is_last: json.get("is_last")?.as_bool()?,
        })
    }
}

/// Counts of what an output does not hold, as in the journal and in `innoscan.json`.
pub(super) fn losses_json(losses: Losses) -> Value {
    json!({
        "replaced_characters": losses.replaced_characters,
        "dates_as_null": losses.dates_as_null,
        "srids_left_out": losses.srids_left_out,
    })
}

fn losses_from(json: &Value) -> Option<Losses> {
    Some(Losses {
        replaced_characters: number(json.get("replaced_characters")?)?,
        dates_as_null: number(json.get("dates_as_null")?)?,
        srids_left_out: number(json.get("srids_left_out")?)?,
    })
}

fn text(json: &Value) -> Option<String> {
    json.as_str().map(str::to_owned)
}

/// A name that cannot leave the directory.
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
        let chunk = FinishedChunk {
            partial: "t.00001.sql.partial".to_owned(),
            file,
            rows_bytes: 2,
            losses: Losses { replaced_characters: 1, ..Losses::default() },
            sum: 5,
            after: Some(LeafId { file: 2, page: PageNo(9) }),
            is_last: false,
        };
        let last = FinishedChunk { after: None, is_last: true, ..chunk.clone() };
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
