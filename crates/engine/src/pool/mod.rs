//! The buffer pool: the only place into which pages are read.
//!
//! A page is absent, being read, or resident. Each entry records whether the page was requested or
//! read ahead, so that the use of a policy's reads can be counted. Frames come from one slab: when
//! all are in use, nothing more is read until one is free. A [`PageRef`] pins its frame wherever it
//! goes, even after the pool has evicted the page.
//!
//! The unit of reading is a *block*: one page, or where pages are smaller than a block device's
//! (1 and 2 KiB with ROW_FORMAT=COMPRESSED) the neighbours that fill [`io::ALIGNMENT`] bytes. Pages are
//! looked up, kept and evicted one by one; a block's frame is free when none of its pages is kept.
//! Pages are in the form that the file stores; their users open them ([`innoscan_format::page::open`]).
//!
//! A scan takes each page when it reaches it ([`Pool::take`]), and the pool releases the page: a full
//! scan never needs it again. With [`PoolOptions::keeps_used`] the pool keeps the page, like a
//! server's, until its frame is needed ([`Pool::reserve_frames`]). Readers that may return to a page
//! use [`Pool::get`].

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use innoscan_format::PageNo;
use innoscan_io::{self as io, Completion, Engine, File, Frame, Kind, Read, Slab, Wait, Wake};

use crate::page_status::PageStatus;
use crate::recovery::{Settling, SpaceRedo};
use crate::stats::PoolStats;
use crate::{Error, Result};

mod lru;
mod options;
mod page_ref;
mod request;
mod runs;
mod settled;
#[cfg(test)]
mod tests;

use lru::{Lru, Place};
pub use options::{Evictable, PoolOptions};
pub use page_ref::PageRef;
use page_ref::{Block, Blocks};
pub use request::{Presence, Request, Retention};
pub use runs::{RunReader, runs_in_file_order};
use settled::Settled;

/// The time within which the kernel accepts reads, unless the device's queue is full or throttled: then the
/// thread is blocked.
const ACCEPTED_AT_ONCE: Duration = Duration::from_millis(1);

/// A file of the pool: its number, in the order of [`Pool::add_file`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileSlot(u32);

/// The key of a page in the pool: its file and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageKey {
    /// The file of the page.
    pub file: FileSlot,
    /// The number of the page in its file.
    pub page: PageNo,
}

/// The presence of a page in the pool.
#[derive(Debug)]
pub enum Lookup {
    /// Not in the pool, and not being read.
    Absent,
    /// Being read.
    InFlight,
    /// In the pool.
    Resident,
    /// Requested, but could not be read; [`Pool::take`] returns the error.
    Failed,
}

/// A buffer pool: pages by key, and the reads that fetch them.
pub struct Pool {
    options: PoolOptions,
    slab: Slab,
    blocks: Blocks,
    engine: Box<dyn Engine>,
    files: Vec<PoolFile>,
    settling: Settling,
    pages: HashMap<PageKey, Entry>,
    lru: Lru<PageKey>,
    /// The number of pages evicted because their frames were needed: InnoDB's `freed_page_clock`.
    evicted: u64,
    /// The number of first accesses so far.
    accesses: u64,
    reads: HashMap<u64, Pending>,
    pending_pages: usize,
    /// The start of the times in [`Pool::progress`].
    created: Instant,
    /// The time that the kernel took to accept reads, beyond [`ACCEPTED_AT_ONCE`].
    blocked: Duration,
    /// The bytes of all reads in flight, with those of gaps.
    pending_bytes: usize,
    next_token: u64,
    done: Vec<Completion>,
    counters: io::Counters,
    stats: PoolStats,
}

/// A file of a pool, and the redo log through which its pages are read.
struct PoolFile {
    file: Arc<File>,
    redo: Option<SpaceRedo>,
}

struct Entry {
    state: State,
    kind: Kind,
    first_access: Option<Access>,
    /// The pool's count of evictions when the page came to the head of the list.
    evicted_before: u64,
}

#[derive(Clone, Copy)]
struct Access {
    number: u64,
    at: Instant,
}

enum State {
    InFlight,
    Resident(PageRef, Place),
    Failed(Error),
}

impl Entry {
    fn in_flight(kind: Kind) -> Entry {
        Entry { state: State::InFlight, kind, first_access: None, evicted_before: 0 }
    }
}

/// A read in flight: its first block, and its pages that will be kept, ascending.
struct Pending {
    file: FileSlot,
    first: u32,
    keep: Vec<PageNo>,
}

impl Pool {
    /// A pool of `frames` blocks, for files whose pages take `page_bytes` each.
    ///
    /// # Errors
    /// The system has no memory for the frames.
    pub fn new(
        frames: usize,
        page_bytes: usize,
        engine: Box<dyn Engine>,
        options: PoolOptions,
    ) -> Result<Pool> {
        let blocks = Blocks::new(page_bytes);
        Ok(Pool {
            options,
            slab: Slab::new(frames, blocks.block_bytes())?,
            blocks,
            engine,
            files: Vec::new(),
            settling: Settling::default(),
            pages: HashMap::new(),
            lru: Lru::new(options.old_blocks_pct),
            evicted: 0,
            accesses: 0,
            pending_pages: 0,
            created: Instant::now(),
            blocked: Duration::ZERO,
            pending_bytes: 0,
            reads: HashMap::new(),
            next_token: 0,
            done: Vec::new(),
            counters: io::Counters::default(),
            stats: PoolStats::default(),
        })
    }

    /// Adds a file, whose pages have the pool's page size; `redo`: the redo log through which they are read,
    /// for a file of a killed server.
    pub fn add_file(&mut self, file: Arc<File>, redo: Option<SpaceRedo>) -> FileSlot {
        let slot = FileSlot(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(PoolFile { file, redo });
        slot
    }

    /// The size of a page in its file, in bytes.
    pub fn page_bytes(&self) -> usize {
        self.blocks.page_bytes()
    }

    /// The number of free frames.
    pub fn free_frames(&self) -> usize {
        self.slab.free_frames()
    }

    /// The frames needed to read a run of ascending pages by one request.
    fn frames_for(&self, run: &[PageNo]) -> usize {
        match (run.first(), run.last()) {
            (Some(first), Some(last)) => {
                (self.blocks.block_of(*last) - self.blocks.block_of(*first)) as usize + 1
            }
            _ => 0,
        }
    }

    /// A file that was added.
    pub fn file(&self, slot: FileSlot) -> &File {
        &self.files[slot.0 as usize].file
    }

    /// The pages that the frames used so far hold: the memory that they take.
    pub fn touched_pages(&self) -> usize {
        self.slab.touched_frames() * self.blocks.pages() as usize
    }

    /// The number of all frames.
    pub fn frames(&self) -> usize {
        self.slab.frames()
    }

    /// The number of pages being read.
    pub fn pending_pages(&self) -> usize {
        self.pending_pages
    }

    /// The number of reads in flight.
    pub fn pending_reads(&self) -> usize {
        self.reads.len()
    }

    /// The bytes of all reads in flight, with those of gaps.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// The reads completed so far, and those in flight.
    pub fn progress(&self) -> io::Progress {
        io::Progress {
            at: self.created.elapsed(),
            completed: self.counters.total(),
            in_flight_reads: self.pending_reads(),
            in_flight_bytes: self.pending_bytes,
        }
    }

    /// The time that the thread has waited for reads, and for the kernel to accept them.
    pub fn waited(&self) -> Duration {
        self.stats.wait + self.blocked
    }

    /// The number of reads that the engine could start now.
    pub fn engine_room(&self) -> usize {
        self.engine.depth() - self.engine.in_flight()
    }

    /// Whether reads are in flight.
    pub fn is_reading(&self) -> bool {
        self.engine.in_flight() > 0
    }

    /// A waker, which makes a waiting [`Pool::poll`] return.
    pub fn waker(&self) -> Arc<dyn Wake> {
        self.engine.waker()
    }

    /// The engine's name.
    pub fn engine_name(&self) -> &'static str {
        self.engine.name()
    }

    /// The counters of all reads so far.
    pub fn counters(&self) -> io::Counters {
        self.counters
    }

    /// The statistics of the pool so far.
    pub fn stats(&self) -> PoolStats {
        self.stats
    }

    /// The presence of a page.
    pub fn lookup(&self, key: PageKey) -> Lookup {
        match self.pages.get(&key).map(|entry| &entry.state) {
            None => Lookup::Absent,
            Some(State::InFlight) => Lookup::InFlight,
            Some(State::Resident(..)) => Lookup::Resident,
            Some(State::Failed(_)) => Lookup::Failed,
        }
    }

    /// The state of a page that is resident or being read.
    pub fn status(&self, key: PageKey) -> Option<PageStatus> {
        let entry = self.pages.get(&key)?;
        let first_access = entry.first_access.map(|access| access.number);
        Some(PageStatus { first_access, is_young: self.is_young(entry) })
    }

    /// Whether fewer pages were evicted since the page came to the head of the list than a quarter of
    /// the young ones.
    fn is_young(&self, entry: &Entry) -> bool {
        let young_pct = 100 - self.options.old_blocks_pct.min(100);
        let quarter = (self.lru.len() * young_pct / 400) as u64;
        self.evicted < entry.evicted_before + quarter
    }

    /// A resident page, which stays in the pool.
    pub fn get(&mut self, key: PageKey) -> Option<PageRef> {
        let entry = self.pages.get(&key)?;
        let State::Resident(page, place) = &entry.state else { return None };
        let (page, place) = (page.clone(), *place);
        let is_promoted = match entry.first_access {
            // Before the first eviction, no page needs to be protected by promotion.
            Some(_) if self.evicted == 0 => false,
            Some(first) if self.lru.is_old(place) => {
                first.at.elapsed() >= self.options.old_blocks_time
            }
            Some(_) => !self.is_young(entry),
            None => false,
        };
        if is_promoted {
            self.lru.promote(place);
        }
        let evicted = self.evicted;
        let entry = self.pages.get_mut(&key)?;
        if is_promoted {
            entry.evicted_before = evicted;
        }
        if entry.first_access.is_none() {
            self.accesses += 1;
            entry.first_access = Some(Access { number: self.accesses, at: Instant::now() });
            self.stats.ahead_used += u64::from(entry.kind == Kind::Ahead);
        }
        Some(page)
    }

    /// Takes a resident page, or the error of one that could not be read, for a caller that will not
    /// return to it: unless the pool keeps used pages, the page is released. `None` when it is
    /// absent or being read.
    pub fn take(&mut self, key: PageKey) -> Option<Result<PageRef>> {
        let is_kept = self.options.keeps_used || self.options.is_shared && self.is_used(key);
        if is_kept && matches!(self.lookup(key), Lookup::Resident) {
            return self.get(key).map(Ok);
        }
        let MapEntry::Occupied(entry) = self.pages.entry(key) else { return None };
        if matches!(entry.get().state, State::InFlight) {
            return None;
        }
        let entry = entry.remove();
        let is_first = entry.first_access.is_none();
        self.stats.ahead_used += u64::from(entry.kind == Kind::Ahead && is_first);
        match entry.state {
            State::Resident(page, place) => {
                self.lru.remove(place);
                Some(Ok(page.released()))
            }
            State::Failed(error) => Some(Err(error)),
            State::InFlight => None,
        }
    }

    fn is_used(&self, key: PageKey) -> bool {
        self.pages.get(&key).is_some_and(|entry| entry.first_access.is_some())
    }

    /// Evicts a resident page; `false` when it is not resident.
    pub fn evict(&mut self, key: PageKey) -> bool {
        let MapEntry::Occupied(entry) = self.pages.entry(key) else { return false };
        let State::Resident(_, place) = entry.get().state else { return false };
        let entry = entry.remove();
        self.lru.remove(place);
        if let State::Resident(page, _) = entry.state {
            drop(page.released());
        }
        let is_unused = entry.first_access.is_none();
        self.stats.ahead_evicted += u64::from(entry.kind == Kind::Ahead && is_unused);
        true
    }

    /// Evicts pages from the end of the LRU list until `frames` frames are free, or no evictable page is
    /// left. Pinned pages stay.
    pub fn reserve_frames(&mut self, frames: usize) {
        let PoolOptions { keeps_used, is_shared, evictable, .. } = self.options;
        // Where pages do not stay after use, the list has next to no used pages.
        if keeps_used || is_shared || evictable != Evictable::Used {
            self.evict_until(frames, evictable);
        }
    }

    fn evict_until(&mut self, free_frames: usize, evictable: Evictable) {
        let Some(wanted) = free_frames.checked_sub(self.free_frames()) else { return };
        let may_go = |key: &PageKey| {
            self.pages.get(key).is_some_and(|entry| {
                let is_pinned =
                    matches!(&entry.state, State::Resident(page, _) if page.is_pinned());
                let is_evictable = match evictable {
                    Evictable::Used => entry.first_access.is_some(),
                    Evictable::ReadAhead => {
                        entry.first_access.is_some() || entry.kind == Kind::Ahead
                    }
                    Evictable::Any => true,
                };
                is_evictable && !is_pinned
            })
        };
        // A frame is free when all pages of its block are gone.
        let most = wanted.saturating_mul(self.blocks.pages() as usize);
        let leaving: Vec<PageKey> = self.lru.tail_first().filter(may_go).take(most).collect();
        for key in leaving {
            if self.free_frames() >= free_frames {
                return;
            }
            self.evicted += u64::from(self.evict(key));
        }
    }

    /// Starts to read `keep` (ascending) and all pages between by one request. Pages that are resident
    /// or being read split the request. Returns the number of pages of `keep`, from its start, that are
    /// resident or being read: fewer than all when the engine or the slab is full.
    pub fn read(&mut self, file: FileSlot, keep: &[PageNo], kind: Kind) -> usize {
        let mut start = 0;
        while let Some(&first) = keep.get(start) {
            if self.pages.contains_key(&PageKey { file, page: first }) {
                start += 1;
                continue;
            }
            let absent = |page: &&PageNo| !self.pages.contains_key(&PageKey { file, page: **page });
            let part = keep[start..].iter().take_while(absent).count();
            let started = self.start_read(file, &keep[start..start + part], kind);
            start += started;
            if started < part {
                break;
            }
        }
        start
    }

    /// The pages that are neither resident nor being read, in file order, as runs of neighbours.
    pub fn absent_runs(
        &self,
        file: FileSlot,
        pages: &[PageNo],
        run_pages: u32,
    ) -> Vec<Vec<PageNo>> {
        let is_absent = |page: &&PageNo| !self.pages.contains_key(&PageKey { file, page: **page });
        let mut absent: Vec<u32> = pages.iter().filter(is_absent).map(|page| page.0).collect();
        absent.sort_unstable();
        io::coalesce(&absent, 0, run_pages)
            .map(|run| (run.first..run.first + run.count).map(PageNo).collect())
            .collect()
    }

    /// Starts one request for as many pages of `keep` as there are frames for; all are absent.
    fn start_read(&mut self, file: FileSlot, keep: &[PageNo], kind: Kind) -> usize {
        if self.engine_room() == 0 {
            return 0;
        }
        let first = self.blocks.block_of(keep[0]);
        let blocks_to = |page: PageNo| (self.blocks.block_of(page) - first) as usize + 1;
        let free = self.slab.free_frames();
        let fitting = keep.iter().take_while(|page| blocks_to(**page) <= free).count();
        let Some(last) = fitting.checked_sub(1).map(|last| keep[last]) else { return 0 };
        let wanted = blocks_to(last);
        let frames: Vec<Frame> = (0..wanted).map_while(|_| self.slab.take()).collect();
        if frames.len() < wanted {
            return 0;
        }
        let keep = keep[..fitting].to_vec();
        for &page in &keep {
            self.pages.insert(PageKey { file, page }, Entry::in_flight(kind));
        }
        self.pending_pages += fitting;
        if kind == Kind::Ahead {
            self.stats.ahead_pages += fitting as u64;
        }
        self.pending_bytes += frames.len() * self.blocks.block_bytes();
        let read_pages = frames.len() * self.blocks.pages() as usize;
        self.stats.gap_pages += (read_pages - fitting) as u64;
        let token = self.next_token;
        self.next_token += 1;
        self.reads.insert(token, Pending { file, first, keep });
        let offset = u64::from(first) * self.blocks.block_bytes() as u64;
        let file = Arc::clone(&self.files[file.0 as usize].file);
        self.engine.push(Read { token, file, offset, frames, kind });
        fitting
    }

    /// Starts the requested reads and accepts the completed ones; returns the number of completed reads.
    /// Waiting counts as time that the scan was blocked.
    pub fn poll(&mut self, wait: Wait) -> Result<usize> {
        let mut done = std::mem::take(&mut self.done);
        let started = Instant::now();
        let polled = self.engine.poll(wait, &mut done);
        let took = started.elapsed();
        if wait == Wait::UntilSomething {
            self.stats.waits += 1;
            self.stats.wait += took;
            self.stats.wait_max = self.stats.wait_max.max(took);
        } else if took > ACCEPTED_AT_ONCE {
            self.blocked += took;
        }
        let over = done.len();
        for completion in done.drain(..) {
            self.counters.add(&completion);
            self.take_in(completion);
        }
        self.done = done;
        polled?;
        Ok(over)
    }

    fn take_in(&mut self, done: Completion) {
        let Some(pending) = self.reads.remove(&done.token) else { return };
        let is_single = pending.keep.len() == 1;
        self.pending_pages -= pending.keep.len();
        self.pending_bytes -= done.frames.len() * self.blocks.block_bytes();
        let mut keep = &pending.keep[..];
        for (number, mut frame) in done.frames.into_iter().enumerate() {
            let block_no = pending.first + number as u32;
            let good_bytes = done.good_bytes.saturating_sub(number * self.blocks.block_bytes());
            let is_in_block = |page: &&PageNo| self.blocks.block_of(**page) == block_no;
            let (here, rest) = keep.split_at(keep.iter().take_while(is_in_block).count());
            keep = rest;
            if here.is_empty() {
                continue;
            }
            let mut settled =
                self.settle(pending.file, here, &mut frame, (good_bytes, done.error)).into_iter();
            let block = Arc::new(Block::new(frame));
            for &page in here {
                let key = PageKey { file: pending.file, page };
                let Some(entry) = self.pages.get_mut(&key) else { continue };
                let place = self.blocks.place_of(page);
                let is_good = match settled.next() {
                    Some(Settled::Refused(error)) => {
                        entry.state = State::Failed(error);
                        continue;
                    }
                    Some(Settled::Good) => true,
                    Some(Settled::Untouched) | None => place.end <= good_bytes,
                };
                if is_good {
                    let page = PageRef::kept(&block, place);
                    entry.state = State::Resident(page, self.lru.insert(key));
                } else if let (true, Kind::Demand | Kind::Foreground, Some(error)) =
                    (is_single, done.kind, done.error)
                {
                    let file = &self.files[pending.file.0 as usize].file;
                    entry.state = State::Failed(unreadable(page, error).in_file(file.path()));
                } else {
                    // The page was read with others, or not requested: a caller that needs it will
                    // request it alone.
                    self.pages.remove(&key);
                    self.stats.dropped_pages += 1;
                }
            }
        }
    }
}

/// The library's error for a failed read: a file that ends too early is damage, a device that
/// fails is not.
pub(crate) fn unreadable(page: PageNo, error: io::ReadError) -> Error {
    match error {
        io::ReadError::EndOfFile { .. } => {
            let place = innoscan_format::Place { page: Some(page), ..Default::default() };
            let what = format!("{error}, before the end of the page");
            let corrupt = innoscan_format::Cause::Corrupt { what: what.into(), place };
            Error::from(innoscan_format::Error::new(corrupt))
        }
        io::ReadError::Device { errno, at_byte } => Error::read(
            format!("reading page {page} at byte {at_byte}"),
            std::io::Error::from_raw_os_error(errno),
        ),
    }
}
