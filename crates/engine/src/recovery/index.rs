//! Which parts of the log change a page: for each page its runs of records, in the order of the log. The records
//! stay in the file.

use std::collections::HashMap;

use innoscan_format::redo::mysql::Kind;
use innoscan_format::redo::{Record, RecordKind, Records};
use innoscan_format::{Lsn, PageNo, SpaceId};

use super::entries::IndexMemory;
use super::entries::{Change, Entries, Entry, EntrySorter};
use super::group_log::GroupRecord;
use crate::Result;

/// The changes of all pages in a log.
#[derive(Debug)]
pub(super) struct Index {
    start: Lsn,
    entries: Entries,
    /// The page behind the last one that has changes, by tablespace.
    ends: HashMap<SpaceId, u32>,
    trims: Trims,
    loads: Loads,
}

/// The newest build of an index in a tablespace, the pages of which have no records (MySQL).
type Loads = HashMap<SpaceId, Lsn>;

/// Where tablespaces were cut, and when: their pages from there on were void then.
type Trims = HashMap<SpaceId, Vec<(PageNo, Lsn)>>;

/// The changes of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    /// What the changes start from.
    pub base: Base,
    /// The runs of records, oldest first; none of a page that was freed.
    pub runs: Vec<Run>,
}

/// The content to which the changes of a page are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The page in the file.
    File,
    /// None: the first record initialises the page.
    Nothing,
    /// None, and there is no change: the page was freed.
    Freed,
}

/// A run of records of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The LSN of the mini-transaction.
    pub mtr: Lsn,
    /// The LSN of the first record.
    pub at: Lsn,
}

/// An index while the log is read.
#[derive(Debug)]
pub(super) struct Indexing {
    start: Lsn,
    sorter: EntrySorter,
    trims: Trims,
    loads: Loads,
}

impl Indexing {
    /// The index of a log that begins at `start`.
    pub fn new(start: Lsn, memory: &IndexMemory) -> Indexing {
        let sorter = EntrySorter::new(memory);
        Indexing { start, sorter, trims: HashMap::new(), loads: HashMap::new() }
    }

    /// Adds the page records of the mini-transaction at `lsn`; passes the others to `take_file`. `lsn_of`: the LSN of a
    /// record at an offset in the mini-transaction.
    ///
    /// # Errors
    /// A record cannot be read; memory is full, and there is no place to spill to.
    pub fn add<'r>(
        &mut self,
        lsn: Lsn,
        mut records: Records<'r>,
        lsn_of: impl Fn(usize) -> Lsn,
        mut take_file: impl FnMut(&innoscan_format::redo::FileRecord<'r>),
    ) -> Result<()> {
        let mut page = None;
        while let Some(record) = records.next_record()? {
            let record = match record {
                Record::Page(record) => record,
                Record::File(record) => {
                    take_file(&record);
                    continue;
                }
            };
            let key = (record.space, record.page);
            if record.trims() {
                self.trims.entry(record.space).or_default().push((record.page, lsn));
                page = None;
                continue;
            }
            let change = match record.kind {
                RecordKind::FreePage => Change::Freed,
                RecordKind::InitPage => Change::Made,
                RecordKind::Option if page != Some(key) => continue,
                _ if record.is_same_page && page == Some(key) => continue,
                _ => Change::Changed,
            };
            self.append(key, lsn, lsn_of(record.at), change)?;
            page = (change != Change::Freed).then_some(key);
        }
        Ok(())
    }

    /// Adds the page records of a group. No change makes earlier ones void: a page may be in the file with
    /// changes that the log does not have.
    ///
    /// # Errors
    /// Memory is full, and there is no place to spill to.
    pub fn add_group(&mut self, records: &[GroupRecord<'_>]) -> Result<()> {
        let mut page = None;
        for record in records {
            match record.kind {
                Kind::Page { is_init } if is_init || page != Some(record.page) => {
                    self.append(record.page, record.at, record.at, Change::Changed)?;
                    page = Some(record.page);
                }
                Kind::Page { .. } => {}
                Kind::IndexLoad => {
                    self.loads.insert(record.page.0, record.at);
                    page = None;
                }
                _ => page = None,
            }
        }
        Ok(())
    }

    fn append(
        &mut self,
        (space, page): (SpaceId, PageNo),
        mtr: Lsn,
        at: Lsn,
        change: Change,
    ) -> Result<()> {
        self.sorter.add(Entry::new(space, page, mtr.0 - self.start.0, at.0 - mtr.0, change))
    }

    /// Ends the index, after all of the log was added.
    ///
    /// # Errors
    /// The spilled entries cannot be read or written.
    pub fn finish(self) -> Result<Index> {
        let mut ends: HashMap<SpaceId, u32> = HashMap::new();
        let entries = self.sorter.finish(|entry| {
            let end = ends.entry(entry.space()).or_default();
            *end = (*end).max(entry.page().0.saturating_add(1));
        })?;
        Ok(Index { start: self.start, entries, ends, trims: self.trims, loads: self.loads })
    }
}

impl Index {
    /// Memory that the index takes.
    pub fn memory_bytes(&self) -> usize {
        self.entries.memory_bytes()
    }

    /// The changes of a page, if it has any, without those from before its tablespace was cut.
    ///
    /// # Errors
    /// The spilled entries cannot be read.
    pub fn chain(&self, space: SpaceId, page: PageNo) -> Result<Option<Chain>> {
        let entries = self.entries.of_page(space, page)?;
        let Some(first) = entries.first() else { return Ok(None) };
        let base = match first.change() {
            Change::Changed => Base::File,
            Change::Made => Base::Nothing,
            Change::Freed => Base::Freed,
        };
        let cut = self.trims_of(space).iter().filter(|(first, _)| page >= *first);
        let cut = cut.map(|(_, lsn)| *lsn).max();
        let runs = entries.iter().filter(|entry| entry.change() != Change::Freed);
        let runs = runs.map(|entry| self.run(entry)).filter(|run| Some(run.mtr) >= cut).collect();
        Ok(Some(Chain { base, runs }))
    }

    /// Whether the tablespace was cut before a page, whose former changes are void.
    pub fn is_cut(&self, space: SpaceId, page: PageNo) -> bool {
        self.trims_of(space).iter().any(|(first, _)| page >= *first)
    }

    /// From which LSN on the log has all changes of pages of a tablespace.
    pub fn complete_from(&self, space: SpaceId) -> Lsn {
        self.loads.get(&space).copied().unwrap_or(Lsn(0))
    }

    fn trims_of(&self, space: SpaceId) -> &[(PageNo, Lsn)] {
        self.trims.get(&space).map(Vec::as_slice).unwrap_or_default()
    }

    fn run(&self, entry: &Entry) -> Run {
        let (mtr, distance) = entry.place();
        Run { mtr: Lsn(self.start.0 + mtr), at: Lsn(self.start.0 + mtr + distance) }
    }

    /// The number of the page behind the last one that has changes.
    pub fn end(&self, space: SpaceId) -> u32 {
        self.ends.get(&space).copied().unwrap_or_default()
    }
}
