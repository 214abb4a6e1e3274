//! The entries of the index of a log, sorted by page: in memory if they fit, otherwise in a temporary file.
//!
//! ```text
//! log --> EntrySorter: full? sort, drop what is void, spill --> Entries::{InMemory, Spilled}
//! ```
//!
//! The spilled entries are in blocks, and memory has the first page of each block. The file has no name, so it
//! vanishes with the process, however that ends.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

use innoscan_format::{PageNo, SpaceId};

use crate::spill::Spill;
use crate::{Error, Remedy, Result};

/// Bytes of an entry.
const ENTRY_BYTES: usize = 16;

/// Entries of a block: 4 KiB.
const BLOCK_ENTRIES: usize = 256;

/// Bits of a run's distance from the start of its mini-transaction, which has at most 2 MiB.
const DISTANCE_BITS: u32 = 22;

/// Bits of a [`Change`].
const CHANGE_BITS: u32 = 2;

/// Bytes that are read at a time of each sorted part while the parts are merged.
const PART_READ_BYTES: usize = 64 << 10;

/// What a run of records does to its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It changes the page as it was before.
    Changed,
    /// It makes the page anew; earlier changes are void.
    Made,
    /// It frees the page; earlier changes are void.
    Freed,
}

/// A run of records of a page. The order of entries is that of pages, and then of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Tablespace, and page.
    key: u64,
    /// Where the mini-transaction is, in bytes behind the start of the log; the distance of the run from there; the
    /// change.
    place: u64,
}

impl Entry {
    pub fn new(
        SpaceId(space): SpaceId,
        PageNo(page): PageNo,
        mtr: u64,
        distance: u64,
        change: Change,
    ) -> Entry {
        let change = match change {
            Change::Changed => 0,
            Change::Made => 1,
            Change::Freed => 2,
        };
        let place = (mtr << DISTANCE_BITS | distance) << CHANGE_BITS | change;
        Entry { key: key(space, page), place }
    }

    pub fn space(self) -> SpaceId {
        SpaceId((self.key >> 32) as u32)
    }

    pub fn page(self) -> PageNo {
        PageNo(self.key as u32)
    }

    /// Where the mini-transaction is, and the distance of the run from there.
    pub fn place(self) -> (u64, u64) {
        let place = self.place >> CHANGE_BITS;
        (place >> DISTANCE_BITS, place & ((1 << DISTANCE_BITS) - 1))
    }

    pub fn change(self) -> Change {
        match self.place & ((1 << CHANGE_BITS) - 1) {
            0 => Change::Changed,
            1 => Change::Made,
            _ => Change::Freed,
        }
    }

    fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..].copy_from_slice(&self.place.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: [u8; ENTRY_BYTES]) -> Entry {
        let bits = u128::from_le_bytes(bytes);
        Entry { key: bits as u64, place: (bits >> 64) as u64 }
    }
}

fn key(space: u32, page: u32) -> u64 {
    u64::from(space) << 32 | u64::from(page)
}

/// Memory for the index of a redo log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexMemory {
    /// The most bytes for entries, before they are spilled.
    pub bytes: usize,
    /// Where they are spilled.
    pub spill: Spill,
}

impl Default for IndexMemory {
    /// Enough for about a gigabyte of log.
    fn default() -> IndexMemory {
        IndexMemory { bytes: 128 << 20, spill: Spill::default() }
    }
}

/// Entries while they are added.
#[derive(Debug)]
pub(super) struct EntrySorter {
    memory: IndexMemory,
    held: Vec<Entry>,
    spilled: Option<Spilled>,
}

/// Sorted parts of the entries in a temporary file.
#[derive(Debug)]
struct Spilled {
    file: File,
    /// The entries of each part.
    parts: Vec<usize>,
}

impl EntrySorter {
    pub fn new(memory: &IndexMemory) -> EntrySorter {
        EntrySorter { memory: memory.clone(), held: Vec::new(), spilled: None }
    }

    fn held_max(&self) -> usize {
        (self.memory.bytes / ENTRY_BYTES).max(BLOCK_ENTRIES)
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Memory is full, and there is no place to spill to.
    pub fn add(&mut self, entry: Entry) -> Result<()> {
        if self.held.len() == self.held.capacity() {
            self.make_room()?;
        }
        self.held.push(entry);
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        let max = self.held_max();
        if self.held.len() >= max {
            sort(&mut self.held);
            // Of pages that are made and freed again and again, most entries are void.
            if self.held.len() > max / 4 * 3 {
                self.spill()?;
            }
        }
        let more = self.held.len().clamp(BLOCK_ENTRIES, max - self.held.len());
        self.held.reserve_exact(more);
        Ok(())
    }

    /// Moves the held entries, which are sorted, to the file.
    fn spill(&mut self) -> Result<()> {
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            spilled => {
                spilled.insert(Spilled { file: spill_file(&self.memory)?, parts: Vec::new() })
            }
        };
        let mut writer = BufWriter::with_capacity(1 << 20, &spilled.file);
        let written = self.held.iter().try_for_each(|entry| writer.write_all(&entry.to_bytes()));
        written.and_then(|()| writer.flush()).map_err(spilling)?;
        drop(writer);
        spilled.parts.push(self.held.len());
        self.held.clear();
        Ok(())
    }

    /// Ends the sort; passes the last entry of each page to `take`.
    ///
    /// # Errors
    /// The spilled entries cannot be read or written.
    pub fn finish(mut self, mut take: impl FnMut(&Entry)) -> Result<Entries> {
        sort(&mut self.held);
        if self.spilled.is_some() {
            self.spill()?;
        }
        match self.spilled {
            None => {
                self.held.shrink_to_fit();
                let pages = self.held.chunk_by(|one, other| one.key == other.key);
                pages.filter_map(<[_]>::last).for_each(take);
                Ok(Entries::InMemory(self.held))
            }
            Some(spilled) => {
                drop(self.held);
                let file = spill_file(&self.memory)?;
                spilled.merge(file, &mut take).map_err(spilling)
            }
        }
    }
}

/// Sorts entries, and drops those of each page that a later one makes void.
fn sort(entries: &mut Vec<Entry>) {
    entries.sort_unstable();
    let mut kept = 0;
    for at in 0..entries.len() {
        let entry = entries[at];
        if entry.change() != Change::Changed {
            while kept > 0 && entries[kept - 1].key == entry.key {
                kept -= 1;
            }
        }
        entries[kept] = entry;
        kept += 1;
    }
    entries.truncate(kept);
}

impl Spilled {
    /// Merges the parts into another file.
    fn merge(self, file: File, take: &mut impl FnMut(&Entry)) -> io::Result<Entries> {
        let mut parts = Vec::with_capacity(self.parts.len());
        let mut begin_bytes = 0;
        for entries in &self.parts {
            let len_bytes = (entries * ENTRY_BYTES) as u64;
            parts.push(Part {
                file: &self.file,
                at_bytes: begin_bytes,
                left_bytes: len_bytes,
                read: Vec::new(),
                next: 0,
            });
            begin_bytes += len_bytes;
        }
        let mut heads = BinaryHeap::with_capacity(parts.len());
        for (number, part) in parts.iter_mut().enumerate() {
            heads.extend(part.next()?.map(|entry| Reverse((entry, number))));
        }
        let mut blocks = BlockWriter {
            writer: BufWriter::with_capacity(1 << 20, file),
            firsts: Vec::new(),
            len: 0,
        };
        let mut page: Vec<Entry> = Vec::new();
        while let Some(Reverse((entry, number))) = heads.pop() {
            heads.extend(parts[number].next()?.map(|entry| Reverse((entry, number))));
            if page.first().is_some_and(|first| first.key != entry.key) {
                blocks.write(&page, take)?;
                page.clear();
            }
            if entry.change() != Change::Changed {
                page.clear();
            }
            page.push(entry);
        }
        blocks.write(&page, take)?;
        let BlockWriter { writer, firsts, len } = blocks;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Entries::Spilled { file, firsts, len })
    }
}

/// A sorted part while the parts are merged.
struct Part<'f> {
    file: &'f File,
    at_bytes: u64,
    left_bytes: u64,
    read: Vec<u8>,
    next: usize,
}

impl Part<'_> {
    fn next(&mut self) -> io::Result<Option<Entry>> {
        if self.next == self.read.len() {
            let len = self.left_bytes.min(PART_READ_BYTES as u64);
            self.read.resize(len as usize, 0);
            self.file.read_exact_at(&mut self.read, self.at_bytes)?;
            (self.at_bytes, self.left_bytes, self.next) =
                (self.at_bytes + len, self.left_bytes - len, 0);
        }
        let bytes = self.read[self.next..].first_chunk::<ENTRY_BYTES>();
        self.next += bytes.map_or(0, |bytes| bytes.len());
        Ok(bytes.map(|bytes| Entry::from_bytes(*bytes)))
    }
}

struct BlockWriter {
    writer: BufWriter<File>,
    firsts: Vec<u64>,
    len: usize,
}

impl BlockWriter {
    /// Writes the entries of a page.
    fn write(&mut self, page: &[Entry], take: &mut impl FnMut(&Entry)) -> io::Result<()> {
        for entry in page {
            if self.len.is_multiple_of(BLOCK_ENTRIES) {
                self.firsts.push(entry.key);
            }
            self.writer.write_all(&entry.to_bytes())?;
            self.len += 1;
        }
        page.last().into_iter().for_each(take);
        Ok(())
    }
}

/// Sorted entries.
#[derive(Debug)]
pub(super) enum Entries {
    /// In memory.
    InMemory(Vec<Entry>),
    /// In a file, in blocks.
    Spilled {
        /// A file without a name.
        file: File,
        /// The key of each block's first entry.
        firsts: Vec<u64>,
        /// The number of entries.
        len: usize,
    },
}

impl Entries {
    /// Memory that the entries take.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Entries::InMemory(entries) => entries.len() * ENTRY_BYTES,
            Entries::Spilled { firsts, .. } => firsts.len() * size_of::<u64>(),
        }
    }

    /// The entries of a page, in the order of the log. One that makes the page anew can only be the first, and one that
    /// frees it is the only one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_page(
        &self,
        SpaceId(space): SpaceId,
        PageNo(page): PageNo,
    ) -> Result<Cow<'_, [Entry]>> {
        let key = key(space, page);
        match self {
            Entries::InMemory(entries) => {
                let begin = entries.partition_point(|entry| entry.key < key);
                let len = entries[begin..].iter().take_while(|entry| entry.key == key).count();
                Ok(Cow::Borrowed(without_freeing(&entries[begin..begin + len])))
            }
            Entries::Spilled { file, firsts, len } => {
                let found = spilled_of_page(file, firsts, *len, key);
                let found = found.map_err(spilling)?;
                Ok(Cow::Owned(without_freeing(&found).to_vec()))
            }
        }
    }
}

/// The entries of a page without its freeing, if there are changes after it: these are of the page in the file.
fn without_freeing(entries: &[Entry]) -> &[Entry] {
    match entries {
        [first, rest @ ..] if !rest.is_empty() && first.change() == Change::Freed => rest,
        entries => entries,
    }
}

fn spilled_of_page(file: &File, firsts: &[u64], len: usize, key: u64) -> io::Result<Vec<Entry>> {
    // The entries of a page may begin at the end of the block before the first one that begins with the page.
    let mut block = firsts.partition_point(|first| *first < key).saturating_sub(1);
    let mut found = Vec::new();
    while firsts.get(block).is_some_and(|first| *first <= key) {
        let begin = block * BLOCK_ENTRIES;
        let mut bytes = [0; BLOCK_ENTRIES * ENTRY_BYTES];
        let bytes = &mut bytes[..(len - begin).min(BLOCK_ENTRIES) * ENTRY_BYTES];
        file.read_exact_at(bytes, (begin * ENTRY_BYTES) as u64)?;
        let (entries, _) = bytes.as_chunks::<ENTRY_BYTES>();
        let entries = entries.iter().map(|entry| Entry::from_bytes(*entry));
        found.extend(entries.filter(|entry| entry.key == key));
        block += 1;
    }
    Ok(found)
}

/// A file for entries.
fn spill_file(memory: &IndexMemory) -> Result<File> {
    let Some(directory) = memory.spill.directory(memory.bytes as u64) else {
        return Err(Error::resources(format!(
            "the index of the redo log needs more than {} bytes of memory, and may not be spilled: no directory for \
             temporary files is on a disk with room for it, or spilling is forbidden",
            memory.bytes
        ))
        .with_remedy(Remedy::SetTmpdir)
        .with_remedy(Remedy::ShutDownServer));
    };
    tempfile::tempfile_in(directory).map_err(|error| spilling(error).in_file(directory))
}

fn spilling(error: io::Error) -> Error {
    Error::write("cannot spill the index of the redo log to a temporary file", error)
        .with_remedy(Remedy::SetTmpdir)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use innoscan_io::engine::memory::splitmix64;

    use super::*;

    /// The entries of a log, added one by one, without a sort.
    fn one_by_one(entries: &[Entry]) -> BTreeMap<u64, Vec<Entry>> {
        let mut pages: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
        for entry in entries {
            let page = pages.entry(entry.key).or_default();
            let was_freed = page.last().is_some_and(|last| last.change() == Change::Freed);
            if entry.change() != Change::Changed || was_freed {
                page.clear();
            }
            page.push(*entry);
        }
        pages
    }

    fn random_entries(count: u64) -> Vec<Entry> {
        let mut seed = 5;
        let mut at = 0;
        let mut entry = || {
            let random = splitmix64(&mut seed);
            at += 20 + random % 50;
            // Some pages have many entries, over several blocks.
            let page = [(random >> 8) % 700, 3][usize::from(random.is_multiple_of(3))];
            let change = match random % 11 {
                0 => Change::Freed,
                1 => Change::Made,
                _ => Change::Changed,
            };
            let change = if page == 3 { Change::Changed } else { change };
            let space = SpaceId((random >> 40) as u32 % 4);
            Entry::new(space, PageNo(page as u32), at, random >> 50, change)
        };
        (0..count).map(|_| entry()).collect()
    }

    #[test]
    fn entries_in_a_file_are_those_in_memory() {
        let entries = random_entries(20_000);
        let expected = one_by_one(&entries);
        let directory = tempfile::tempdir().unwrap();
        for bytes in [64 << 20, 64 << 10, 8 << 10, 0] {
            let spill = Spill::In(directory.path().to_owned());
            let mut sorter = EntrySorter::new(&IndexMemory { bytes, spill });
            for entry in &entries {
                sorter.add(*entry).unwrap();
            }
            let mut last = BTreeMap::new();
            let sorted =
                sorter.finish(|entry| assert!(last.insert(entry.key, *entry).is_none())).unwrap();
            assert_eq!(matches!(sorted, Entries::Spilled { .. }), bytes < 64 << 20);
            assert!(bytes == 0 || sorted.memory_bytes() <= bytes);
            for space in 0..5 {
                for page in 0..701 {
                    let found = sorted.of_page(SpaceId(space), PageNo(page)).unwrap();
                    let expected = expected.get(&key(space, page)).map(Vec::as_slice);
                    assert_eq!(&*found, expected.unwrap_or_default(), "{space}:{page}");
                    assert_eq!(last.get(&key(space, page)), found.last());
                }
            }
        }
    }

    #[test]
    fn an_entry_keeps_what_it_is_made_of() {
        let entry =
            Entry::new(SpaceId(7), PageNo(u32::MAX - 1), 1 << 39, (2 << 20) - 1, Change::Freed);
        let entry = Entry::from_bytes(entry.to_bytes());
        assert_eq!((entry.space(), entry.page()), (SpaceId(7), PageNo(u32::MAX - 1)));
        assert_eq!((entry.place(), entry.change()), ((1 << 39, (2 << 20) - 1), Change::Freed));
    }

    #[test]
    fn without_a_place_to_spill_to_memory_is_the_limit() {
        let mut sorter = EntrySorter::new(&IndexMemory { bytes: 0, spill: Spill::Never });
        let added = random_entries(20_000).into_iter().try_for_each(|entry| sorter.add(entry));
        assert!(added.unwrap_err().to_string().contains("may not be spilled"));
    }
}
