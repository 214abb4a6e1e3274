//! Resuming an interrupted dump.
//!
//! Finished files are kept only of tables that have not changed since, so the resumed dump has the current
//! state of all tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use innoscan_engine::scan::{OnCorrupt, RowOrder};
use innoscan_engine::{Error, Remedy, Result, Table};

use super::dumped_file::partial_name;
use super::journal::{self, Entry, FinishedChunk, Journal, Outline, TableKey, TableVersion};
use super::{DUMPER, Dump, DumpOptions, SmallTable};
use crate::sink::{Compression, sql};

/// The way to resume if a table with finished files has changed since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnChange {
    /// Refuse to resume the dump.
    #[default]
    Refuse,
    /// Dump the table again.
    Redo,
}

/// An interrupted dump, read from its journal.
#[derive(Debug)]
pub struct InterruptedDump {
    directory: PathBuf,
    journal: Journal,
    on_change: OnChange,
    head: Option<(String, Outline)>,
    /// The names of all files that the journal has.
    files: BTreeSet<String>,
    tables: BTreeMap<TableKey, FinishedChunks>,
    /// Finished files that have changed since they were written, and how.
    spoiled: Vec<(String, String)>,
}

/// The finished files of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FinishedChunks {
    pub version: TableVersion,
    pub chunks: Vec<FinishedChunk>,
}

impl FinishedChunks {
    /// Keeps at most the first `files` files, up to the last one after which the table can be resumed.
    fn keep(&mut self, files: usize) {
        self.chunks.truncate(files);
        let can_go_on = |chunk: &FinishedChunk| chunk.is_last || chunk.after.is_some();
        let kept = self.chunks.iter().rposition(can_go_on).map_or(0, |last| last + 1);
        self.chunks.truncate(kept);
    }
}

impl InterruptedDump {
    /// Reads the journal of a directory, and compares each finished file of rows with its size and
    /// checksum. `None` if the directory is empty or does not exist.
    ///
    /// # Errors
    /// The directory is not that of an interrupted dump, or another innoscan dumps into it.
    pub fn open(directory: &Path, on_change: OnChange) -> Result<Option<InterruptedDump>> {
        let mut names = match std::fs::read_dir(directory) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Error::read("cannot list the directory", error).in_file(directory));
            }
        };
        if names.next().is_none() {
            return Ok(None);
        }
        if !is_interrupted(directory) {
            return Err(Error::refused(
                "there is no interrupted dump in it",
                ["give the directory of one".into(), Remedy::BeginAnew],
            )
            .in_file(directory));
        }
        let mut unfinished = InterruptedDump {
            directory: directory.to_owned(),
            journal: Journal::open(directory, true)?,
            on_change,
            head: None,
            files: BTreeSet::new(),
            tables: BTreeMap::new(),
            spoiled: Vec::new(),
        };
        for entry in unfinished.journal.read()? {
            unfinished.replay(entry);
        }
        unfinished.verify()?;
        Ok(Some(unfinished))
    }

    /// The finished files of rows that have changed since they were written, and how. These files, and
    /// those after them, are dumped again.
    pub fn spoiled(&self) -> &[(String, String)] {
        &self.spoiled
    }

    /// The number of finished files of rows, and their size in bytes.
    pub fn done(&self) -> (usize, u64) {
        let chunks = || self.tables.values().flat_map(|table| &table.chunks);
        (chunks().count(), chunks().map(|chunk| chunk.file.file_bytes).sum())
    }

    fn replay(&mut self, entry: Entry) {
        match entry {
            Entry::Head { dumper, outline } => self.head = Some((dumper, outline)),
            Entry::File(name) => _ = self.files.insert(name),
            Entry::Table { table, version } => {
                self.tables.insert(table, FinishedChunks { version, chunks: Vec::new() });
            }
            Entry::Chunk { table, chunk } => {
                self.files.insert(chunk.file.name.clone());
                self.tables.entry(table).or_default().chunks.push(chunk);
            }
            Entry::Kept(kept) => {
                let kept: BTreeMap<TableKey, usize> = kept.into_iter().collect();
                self.tables.retain(|key, _| kept.contains_key(key));
                for (key, table) in &mut self.tables {
                    table.chunks.truncate(kept.get(key).copied().unwrap_or_default());
                }
            }
        }
    }

    fn verify(&mut self) -> Result<()> {
        for table in self.tables.values_mut() {
            let mut sound = table.chunks.len();
            for (number, chunk) in table.chunks.iter().enumerate() {
                if let Some(wrong) = what_is_wrong(&self.directory, chunk)? {
                    self.spoiled.push((chunk.file.name.clone(), wrong));
                    sound = number;
                    break;
                }
            }
            table.keep(sound);
        }
        Ok(())
    }

    /// Decides which files are kept, and removes the others. `dump` and `options` are those of the
    /// resuming run.
    pub(super) fn resume(
        mut self,
        dump: &Dump<'_>,
        options: &DumpOptions,
    ) -> Result<(Journal, BTreeMap<TableKey, FinishedChunks>)> {
        self.require_outline(options)?;
        // These have no files to keep, whether they have changed or not.
        self.tables.retain(|_, finished| !finished.chunks.is_empty());
        let mut changed = Vec::new();
        for (key, finished) in &self.tables {
            if let Some(why) = change(dump, key, finished)? {
                changed.push((key.clone(), why));
            }
        }
        if let (OnChange::Refuse, Some(((database, table), why))) =
            (self.on_change, changed.iter().find(|(key, _)| !is_selected(dump, key)))
        {
            return Err(Error::refused(
                format!(
                    "the dump cannot be resumed: some files of {database}.{table} are finished, but \
                     {why}"
                ),
                [Remedy::RedoChanged, "start again in another directory".into()],
            )
            .in_file(&self.directory));
        }
        for (key, _) in changed {
            self.tables.remove(&key);
        }
        self.require_no_others(options)?;
        let kept = self.tables.iter().map(|(key, table)| (key.clone(), table.chunks.len()));
        let kept: Vec<(TableKey, usize)> = kept.collect();
        if self.head.is_none() {
            self.journal.note(&head(options))?;
        }
        self.journal.note(&Entry::Kept(kept))?;
        self.remove_others()?;
        Ok((self.journal, self.tables))
    }

    fn require_outline(&self, options: &DumpOptions) -> Result<()> {
        // A journal without a head has no finished files.
        let Some((dumper, started)) = &self.head else { return Ok(()) };
        let refused = |what: String| {
            Error::refused(
                format!("the dump in it was started differently: {what}"),
                "resume with the same version and the same options, or give another directory",
            )
            .in_file(&self.directory)
        };
        if dumper != DUMPER {
            return Err(refused(format!("by {dumper}; this is {DUMPER}")));
        }
        for (name, now) in outline(options) {
            let then = started.get(&name).map_or("not known", String::as_str);
            if then != now {
                return Err(refused(match &*name {
                    FORMAT | CONDITION => format!("its {name} was different"),
                    _ => format!("its {name} was {then}, and is now {now}"),
                }));
            }
        }
        Ok(())
    }

    /// Refuses files of others in the directory: a loader would load them.
    fn require_no_others(&self, options: &DumpOptions) -> Result<()> {
        if options.overwrite {
            return Ok(());
        }
        let listing =
            |error| Error::read("cannot list the directory", error).in_file(&self.directory);
        for name in std::fs::read_dir(&self.directory).map_err(listing)? {
            let name = name.map_err(listing)?.file_name().to_string_lossy().into_owned();
            let plain = name.strip_suffix(".partial").unwrap_or(&name);
            if name != journal::NAME && !self.files.contains(plain) {
                return Err(Error::refused(
                    format!("`{name}` in it does not belong to the dump that was started there"),
                    "move it away, or start again in another directory",
                )
                .in_file(&self.directory));
            }
        }
        Ok(())
    }

    fn remove_others(&self) -> Result<()> {
        let chunks = self.tables.values().flat_map(|table| &table.chunks);
        let kept: BTreeSet<&str> =
            chunks.flat_map(|chunk| [&*chunk.partial, &*chunk.file.name]).collect();
        for name in &self.files {
            for name in [partial_name(name), name.clone()] {
                if kept.contains(&*name) {
                    continue;
                }
                let path = self.directory.join(name);
                match std::fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(Error::write("removing what is not kept", error).in_file(&path));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Whether a directory has an interrupted dump, or one that is being written.
pub fn is_interrupted(directory: &Path) -> bool {
    directory.join(journal::NAME).is_file()
}

/// The first line of a journal.
pub(super) fn head(options: &DumpOptions) -> Entry {
    Entry::Head { dumper: DUMPER.to_owned(), outline: outline(options) }
}

/// All options that decide what is written of a table.
fn outline(options: &DumpOptions) -> Outline {
    let DumpOptions { layout, format, compression, chunk_bytes, checksums, .. } = options;
    let DumpOptions { definitions, rows, drop_tables, scan, .. } = options;
    let switch = |is_on: &bool| if *is_on { "on" } else { "off" }.to_owned();
    let parts = [
        ("layout", layout.name().to_owned()),
        (FORMAT, format.fingerprint()),
        ("compression", named_compression(*compression)),
        (
            "chunk size",
            chunk_bytes.map_or("unlimited".to_owned(), |bytes| format!("{bytes} bytes")),
        ),
        ("checksums", switch(checksums)),
        ("definitions", switch(definitions)),
        ("rows", switch(rows)),
        ("drop tables", switch(drop_tables)),
        (CONDITION, format!("{:?}", scan.rows.condition)),
        ("order", if scan.rows.order == RowOrder::Key { "key" } else { "any" }.to_owned()),
        (
            "on corrupt",
            if scan.rows.on_corrupt == OnCorrupt::Fail { "fail" } else { "skip" }.to_owned(),
        ),
    ];
    parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The properties whose text is not readable for users.
const FORMAT: &str = "format";
const CONDITION: &str = "condition";

fn named_compression(compression: Compression) -> String {
    match compression {
        Compression::None => "none".to_owned(),
        Compression::Zstd { level } => format!("zstd (level {level})"),
        Compression::Gzip { level } => format!("gzip (level {level})"),
    }
}

/// The current version of a table.
pub(super) fn version_of(table: &Table) -> Result<TableVersion> {
    let definition = sql::definition(&table.def, table.create_sql.as_deref());
    let stamp = |file: &innoscan_engine::TableFile| file.stamp().map(|stamp| stamp.to_string());
    Ok(TableVersion {
        definition: crc32fast::hash(definition.as_bytes()),
        stamps: table.files.iter().map(stamp).collect::<Result<_>>()?,
    })
}

/// Whether the table's rows are fetched by `SELECT`: such a table is always dumped again.
fn is_selected(dump: &Dump<'_>, (database, name): &TableKey) -> bool {
    let is_small = |small: &SmallTable| (&small.name.schema, &small.name.table) == (database, name);
    dump.selected.iter().any(|table| (&table.database, &table.name) == (database, name))
        || dump.small.tables.iter().any(is_small)
}

/// Why what is done of a table is not of what it is now.
fn change(
    dump: &Dump<'_>,
    key: &TableKey,
    finished: &FinishedChunks,
) -> Result<Option<&'static str>> {
    let (database, name) = key;
    let is_it = |table: &&&Table| (&table.def.schema, &table.def.name) == (database, name);
    let Some(table) = dump.tables.iter().find(is_it) else {
        return Ok(Some("it is not selected by the current options"));
    };
    let now = version_of(table)?;
    Ok(match () {
        () if now.stamps != finished.version.stamps => Some("its files have been written to since"),
        () if now.definition != finished.version.definition => {
            Some("its definition has changed since")
        }
        () => None,
    })
}

/// Compares a file with its entry in the journal; the difference, if there is one.
fn what_is_wrong(directory: &Path, chunk: &FinishedChunk) -> Result<Option<String>> {
    let open = |name: &str| File::open(directory.join(name));
    let opened = open(&chunk.partial).or_else(|_| open(&chunk.file.name));
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Some("it is missing".to_owned()));
        }
        Err(error) => {
            let path = directory.join(&chunk.file.name);
            return Err(Error::read("cannot read a finished file", error).in_file(&path));
        }
    };
    let mut buffer = vec![0; 1 << 20];
    let (mut bytes, mut crc32) = (0, crc32fast::Hasher::new());
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                bytes += read as u64;
                crc32.update(&buffer[..read]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
    let expected = chunk.file.file_bytes;
    Ok(match () {
        () if bytes != expected => Some(format!("it has {bytes} bytes, {expected} were written")),
        () if crc32.finalize() != chunk.file.crc32 => {
            Some("its checksum differs from that of the data written".to_owned())
        }
        () => None,
    })
}
