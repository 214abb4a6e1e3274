//! Which parts of the log change a page: for each page the chain of its runs of records, in the order
//! of the log. The records stay in the file.

use std::collections::HashMap;

use innoscan_format::redo::mysql::Kind;
use innoscan_format::redo::{Record, RecordKind, Records};
use innoscan_format::{Lsn, PageNo, SpaceId};

use super::group_log::GroupRecord;
use crate::{Error, Result};

/// The most memory for an index: enough for some 15 GB of log.
const BYTES_MAX: usize = 1 << 30;

/// Bits of a run's distance from the start of its mini-transaction, which has at most 2 MiB.
const DISTANCE_BITS: u32 = 22;

/// The end of a chain.
const NONE: u32 = u32::MAX;

/// The changes of all pages in a log.
#[derive(Debug)]
pub(super) struct Index {
    start: Lsn,
    chains: HashMap<(SpaceId, PageNo), Chain>,
    /// Where each run begins: its distance from `start`, and from its mini-transaction.
    places: Vec<u64>,
    /// The run after each run of the same page.
    next: Vec<u32>,
    /// The page behind the last one that has changes, by tablespace.
    ends: HashMap<SpaceId, u32>,
    /// Where tablespaces were cut, and when: their pages from there on were void then.
    trims: HashMap<SpaceId, Vec<(PageNo, Lsn)>>,
}

/// The changes of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    first: u32,
    last: u32,
    /// What the changes start from.
    pub base: Base,
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

impl Index {
    /// An empty index of a log that begins at `start`.
    pub fn new(start: Lsn) -> Index {
        Index {
            start,
            chains: HashMap::new(),
            places: Vec::new(),
            next: Vec::new(),
            ends: HashMap::new(),
            trims: HashMap::new(),
        }
    }

    /// Adds the page records of the mini-transaction at `lsn`; passes the others to `take_file`.
    pub fn add<'r>(
        &mut self,
        lsn: Lsn,
        mut records: Records<'r>,
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
            match record.kind {
                RecordKind::FreePage => {
                    self.chains.insert(key, Chain { first: NONE, last: NONE, base: Base::Freed });
                    page = None;
                }
                RecordKind::InitPage => {
                    self.chains.insert(key, Chain { first: NONE, last: NONE, base: Base::Nothing });
                    self.append(key, lsn, record.at)?;
                    page = Some(key);
                }
                RecordKind::Option if page != Some(key) => {}
                _ if record.is_same_page && page == Some(key) => {}
                _ => {
                    self.append(key, lsn, record.at)?;
                    page = Some(key);
                }
            }
        }
        Ok(())
    }

    /// Adds the page records of a group. No change makes earlier ones void: a page may be in the file with
    /// changes that the log does not have.
    pub fn add_group(&mut self, records: &[GroupRecord<'_>]) -> Result<()> {
        let mut page = None;
        for record in records {
            match record.kind {
                Kind::Page { is_init } if is_init || page != Some(record.page) => {
                    self.append(record.page, record.at, 0)?;
                    page = Some(record.page);
                }
                Kind::Page { .. } => {}
                _ => page = None,
            }
        }
        Ok(())
    }

    fn append(&mut self, key: (SpaceId, PageNo), mtr: Lsn, distance: usize) -> Result<()> {
        let number = u32::try_from(self.places.len()).unwrap_or(NONE);
        if number == NONE || self.len_bytes() > BYTES_MAX {
            return Err(Error::resources(format!(
                "the redo log after the checkpoint has changes of more pages than {BYTES_MAX} bytes \
                 of memory can index"
            ))
            .with_remedy("start the server on a copy of the directory, and shut it down cleanly"));
        }
        let distance_bytes = distance as u64;
        let from_start = mtr.0 - self.start.0 + distance_bytes;
        self.places.push(from_start << DISTANCE_BITS | distance_bytes);
        self.next.push(NONE);
        let fresh = Chain { first: NONE, last: NONE, base: Base::File };
        let chain = self.chains.entry(key).or_insert(fresh);
        if chain.base == Base::Freed {
            *chain = fresh;
        }
        match chain.last {
            NONE => chain.first = number,
            last => self.next[last as usize] = number,
        }
        chain.last = number;
        Ok(())
    }

    /// Ends the index, after all of the log was added.
    pub fn finish(&mut self) {
        for &(space, page) in self.chains.keys() {
            let end = self.ends.entry(space).or_default();
            *end = (*end).max(page.0.saturating_add(1));
        }
    }

    /// Memory that the index takes.
    fn len_bytes(&self) -> usize {
        self.places.len() * 12 + self.chains.capacity() * 24
    }

    /// The changes of a page, if it has any.
    pub fn chain(&self, space: SpaceId, page: PageNo) -> Option<Chain> {
        self.chains.get(&(space, page)).copied()
    }

    /// The runs of a chain, without those from before the page's tablespace was cut.
    pub fn runs(
        &self,
        space: SpaceId,
        page: PageNo,
        chain: Chain,
    ) -> impl Iterator<Item = Run> + '_ {
        let trims = self.trims.get(&space).map(Vec::as_slice).unwrap_or_default();
        let cut = trims.iter().filter(|(first, _)| page >= *first).map(|(_, lsn)| *lsn).max();
        let from = |number: u32| (number != NONE).then_some(number);
        let numbers = std::iter::successors(from(chain.first), move |number| {
            from(self.next[*number as usize])
        });
        numbers.map(|number| self.run(number)).filter(move |run| Some(run.mtr) >= cut)
    }

    /// Whether the tablespace was cut before a page, whose former changes are void.
    pub fn is_cut(&self, space: SpaceId, page: PageNo) -> bool {
        let trims = self.trims.get(&space).map(Vec::as_slice).unwrap_or_default();
        trims.iter().any(|(first, _)| page >= *first)
    }

    fn run(&self, number: u32) -> Run {
        let place = self.places[number as usize];
        let at = self.start.0 + (place >> DISTANCE_BITS);
        Run { mtr: Lsn(at - (place & ((1 << DISTANCE_BITS) - 1))), at: Lsn(at) }
    }

    /// The number of the page behind the last one that has changes.
    pub fn end(&self, space: SpaceId) -> u32 {
        self.ends.get(&space).copied().unwrap_or_default()
    }
}
