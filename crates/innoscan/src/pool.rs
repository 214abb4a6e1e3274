//! The buffer pool: the one place pages are read into and read from.
//!
//! A page is absent, on its way, or resident; each entry remembers whether it was asked for or
//! read ahead, so that what a policy's reads were worth can be counted. Frames come from one slab:
//! when it is used up nothing more is read until a page is given back. A [`PageRef`] pins its
//! frame wherever it goes, also after the pool has let go of the page.
//!
//! A scan is handed each page as it comes to it ([`Pool::hand_out`]), and the pool lets go of it:
//! in a full scan nobody will ask for it again. A pool made with [`PoolOptions::keeps_used`] keeps
//! it, as a server's does, until its frame is needed ([`Pool::make_room`]). Readers that may come
//! back use [`Pool::get`].

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use innoscan_format::PageNo;
use innoscan_io::{self as io, Completion, Engine, File, Frame, Kind, Read, Slab, Wait, Wake};

use crate::stats::PoolStats;
use crate::{Error, Result};

mod lru;
#[cfg(test)]
mod tests;

use lru::{Lru, Place};

/// A page in memory; its frame stays as long as a clone of this does.
pub type PageRef = Arc<Frame>;

/// A file of the pool, by the order of [`Pool::add_file`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileSlot(u32);

/// A page of a file of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageKey {
    /// The file.
    pub file: FileSlot,
    /// The page.
    pub page: PageNo,
}

/// Where a page is.
#[derive(Debug)]
pub enum Lookup {
    /// Nowhere: it has to be read.
    Absent,
    /// Being read.
    InFlight,
    /// Here.
    Resident,
    /// It was read on demand and could not be; [`Pool::hand_out`] tells why.
    Failed,
}

/// How a pool goes about pages that were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    /// Pages that were handed out stay until their frames are needed.
    pub keeps_used: bool,
    /// Others than a scan use the pool: pages that [`Pool::get`] gave stay, whoever they are handed
    /// out to, until their frames are needed.
    pub is_shared: bool,
    /// Which pages make room for others.
    pub expendable: Expendable,
    /// Share of the LRU list that new pages pass through, in percent: `innodb_old_blocks_pct`.
    pub old_blocks_pct: usize,
    /// A page that is accessed again so long after its first access is promoted:
    /// `innodb_old_blocks_time`.
    pub old_blocks_time: Duration,
}

impl Default for PoolOptions {
    fn default() -> PoolOptions {
        PoolOptions {
            keeps_used: false,
            is_shared: false,
            expendable: Expendable::Used,
            old_blocks_pct: 37,
            old_blocks_time: Duration::from_secs(1),
        }
    }
}

/// Which pages may be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expendable {
    /// Those that were used.
    Used,
    /// Those, and those read ahead: not what somebody waits for.
    ReadAhead,
    /// All.
    Any,
}

/// What is known of a page that is in the pool or on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residence {
    /// When it was first accessed, as a number that grows with each first access of any page.
    pub first_access: Option<u64>,
    /// Whether it is far from being evicted (`buf_page_peek_if_young`, MySQL 8.0).
    pub is_young: bool,
}

/// Pages by number, and the reads that bring them.
pub struct Pool {
    options: PoolOptions,
    slab: Slab,
    engine: Box<dyn Engine>,
    files: Vec<Arc<File>>,
    pages: HashMap<PageKey, Entry>,
    lru: Lru<PageKey>,
    /// Pages whose frames were needed: InnoDB's `freed_page_clock`.
    evicted: u64,
    /// First accesses so far.
    accesses: u64,
    reads: HashMap<u64, Pending>,
    pending_pages: usize,
    next_token: u64,
    done: Vec<Completion>,
    counters: io::Counters,
    stats: PoolStats,
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

/// A read under way: its pages that are to be kept, ascending.
struct Pending {
    file: FileSlot,
    first: PageNo,
    keep: Vec<PageNo>,
}

impl Pool {
    /// A pool over a slab whose frames are pages, and an engine.
    pub fn new(slab: Slab, engine: Box<dyn Engine>) -> Pool {
        Pool::with_options(slab, engine, PoolOptions::default())
    }

    /// [`Pool::new`] with options.
    pub fn with_options(slab: Slab, engine: Box<dyn Engine>, options: PoolOptions) -> Pool {
        Pool {
            options,
            slab,
            engine,
            files: Vec::new(),
            pages: HashMap::new(),
            lru: Lru::new(options.old_blocks_pct),
            evicted: 0,
            accesses: 0,
            pending_pages: 0,
            reads: HashMap::new(),
            next_token: 0,
            done: Vec::new(),
            counters: io::Counters::default(),
            stats: PoolStats::default(),
        }
    }

    /// Adds a file; its pages have the size of the slab's frames.
    pub fn add_file(&mut self, file: Arc<File>) -> FileSlot {
        let slot = FileSlot(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(file);
        slot
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> usize {
        self.slab.frame_bytes()
    }

    /// Frames that are free now.
    pub fn free_frames(&self) -> usize {
        self.slab.free_frames()
    }

    /// Frames it has.
    pub fn frames(&self) -> usize {
        self.slab.frames()
    }

    /// Pages being read.
    pub fn pending_pages(&self) -> usize {
        self.pending_pages
    }

    /// Reads that could be started now, as far as the engine is concerned.
    pub fn engine_room(&self) -> usize {
        self.engine.depth() - self.engine.in_flight()
    }

    /// Whether reads are under way.
    pub fn is_reading(&self) -> bool {
        self.engine.in_flight() > 0
    }

    /// What makes a waiting [`Pool::poll`] return.
    pub fn waker(&self) -> Arc<dyn Wake> {
        self.engine.waker()
    }

    /// The engine's name.
    pub fn engine_name(&self) -> &'static str {
        self.engine.name()
    }

    /// What reading took so far.
    pub fn counters(&self) -> io::Counters {
        self.counters
    }

    /// What became of the pages so far.
    pub fn stats(&self) -> PoolStats {
        self.stats
    }

    /// Where a page is.
    pub fn lookup(&self, key: PageKey) -> Lookup {
        match self.pages.get(&key).map(|entry| &entry.state) {
            None => Lookup::Absent,
            Some(State::InFlight) => Lookup::InFlight,
            Some(State::Resident(..)) => Lookup::Resident,
            Some(State::Failed(_)) => Lookup::Failed,
        }
    }

    /// What is known of a page that is here or on its way.
    pub fn residence(&self, key: PageKey) -> Option<Residence> {
        let entry = self.pages.get(&key)?;
        let first_access = entry.first_access.map(|access| access.number);
        Some(Residence { first_access, is_young: self.is_young(entry) })
    }

    /// Whether fewer pages were evicted since it came to the head of the list than a quarter of the
    /// young ones.
    fn is_young(&self, entry: &Entry) -> bool {
        let young_pct = 100 - self.options.old_blocks_pct.min(100);
        let quarter = (self.lru.len() * young_pct / 400) as u64;
        self.evicted < entry.evicted_before + quarter
    }

    /// A resident page, which stays in the pool.
    pub fn get(&mut self, key: PageKey) -> Option<PageRef> {
        let entry = self.pages.get(&key)?;
        let State::Resident(page, place) = &entry.state else { return None };
        let (page, place) = (Arc::clone(page), *place);
        let is_promoted = match entry.first_access {
            // Before anything is evicted there is nothing to be kept from it.
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

    /// Gives a resident page, or why it could not be read, to somebody who will not come back for
    /// it: unless the pool keeps used pages, it lets go of it. `None` when it is neither.
    pub fn hand_out(&mut self, key: PageKey) -> Option<Result<PageRef>> {
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
                Some(Ok(page))
            }
            State::Failed(error) => Some(Err(error)),
            State::InFlight => None,
        }
    }

    fn is_used(&self, key: PageKey) -> bool {
        self.pages.get(&key).is_some_and(|entry| entry.first_access.is_some())
    }

    /// Lets go of a resident page; whether it was there.
    pub fn evict(&mut self, key: PageKey) -> bool {
        let MapEntry::Occupied(entry) = self.pages.entry(key) else { return false };
        let State::Resident(_, place) = entry.get().state else { return false };
        let entry = entry.remove();
        self.lru.remove(place);
        let is_unused = entry.first_access.is_none();
        self.stats.ahead_evicted += u64::from(entry.kind == Kind::Ahead && is_unused);
        true
    }

    /// Evicts pages from the end of the LRU list until so many frames are free, or no page is left
    /// that may go: of those that are expendable none that is pinned.
    pub fn make_room(&mut self, free_frames: usize) {
        let PoolOptions { keeps_used, is_shared, expendable, .. } = self.options;
        // Where pages do not stay after use, there are next to none of these to be found.
        if keeps_used || is_shared || expendable != Expendable::Used {
            self.evict_until(free_frames, expendable);
        }
    }

    fn evict_until(&mut self, free_frames: usize, expendable: Expendable) {
        let Some(wanted) = free_frames.checked_sub(self.free_frames()) else { return };
        let may_go = |key: &PageKey| {
            self.pages.get(key).is_some_and(|entry| {
                let is_pinned =
                    matches!(&entry.state, State::Resident(page, _) if Arc::strong_count(page) > 1);
                let is_expendable = match expendable {
                    Expendable::Used => entry.first_access.is_some(),
                    Expendable::ReadAhead => {
                        entry.first_access.is_some() || entry.kind == Kind::Ahead
                    }
                    Expendable::Any => true,
                };
                is_expendable && !is_pinned
            })
        };
        let leaving: Vec<PageKey> = self.lru.tail_first().filter(may_go).take(wanted).collect();
        for key in leaving {
            self.evicted += u64::from(self.evict(key));
        }
    }

    /// Starts to read `keep` (ascending) and whatever lies between its pages, in one request.
    /// Pages that are here or on their way split it; each part is a request. Returns how many
    /// of `keep`, from its start, are dealt with: fewer than all when the engine or the slab is
    /// full.
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

    /// Pages that are neither here nor on their way, in file order, as runs of neighbours.
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

    /// One request for as many of `keep` as there are frames for; all are absent.
    fn start_read(&mut self, file: FileSlot, keep: &[PageNo], kind: Kind) -> usize {
        if self.engine_room() == 0 {
            return 0;
        }
        let first = keep[0];
        let free = self.slab.free_frames();
        let fitting = keep.iter().take_while(|page| ((page.0 - first.0) as usize) < free).count();
        let Some(last) = fitting.checked_sub(1).map(|last| keep[last]) else { return 0 };
        let frames: Vec<Frame> = (first.0..=last.0).map_while(|_| self.slab.take()).collect();
        if frames.len() <= (last.0 - first.0) as usize {
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
        self.stats.gap_pages += (frames.len() - fitting) as u64;
        let token = self.next_token;
        self.next_token += 1;
        self.reads.insert(token, Pending { file, first, keep });
        let offset = u64::from(first.0) * self.page_bytes() as u64;
        let file = Arc::clone(&self.files[file.0 as usize]);
        self.engine.push(Read { token, file, offset, frames, kind });
        fitting
    }

    /// Starts what was asked for and takes in what has come; how many reads were over.
    /// Waiting is counted as time a scan stood still.
    pub fn poll(&mut self, wait: Wait) -> Result<usize> {
        let mut done = std::mem::take(&mut self.done);
        let started = (wait == Wait::UntilSomething).then(Instant::now);
        let polled = self.engine.poll(wait, &mut done);
        if let Some(started) = started {
            self.stats.waits += 1;
            self.stats.wait += started.elapsed();
            self.stats.wait_most = self.stats.wait_most.max(started.elapsed());
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
        let page_bytes = self.page_bytes();
        let good = done.good_bytes / page_bytes;
        let is_single = pending.keep.len() == 1;
        self.pending_pages -= pending.keep.len();
        let mut keep = pending.keep.into_iter().peekable();
        let pages = (pending.first.0..).map(PageNo).zip(done.frames).enumerate();
        for (number, (page, frame)) in pages {
            if keep.next_if_eq(&page).is_none() {
                continue;
            }
            let key = PageKey { file: pending.file, page };
            let Some(entry) = self.pages.get_mut(&key) else { continue };
            if number < good {
                entry.state = State::Resident(Arc::new(frame), self.lru.insert(key));
            } else if let (true, Kind::Demand | Kind::Foreground, Some(error)) =
                (is_single, done.kind, done.error)
            {
                let file = &self.files[pending.file.0 as usize];
                entry.state = State::Failed(unreadable(page, error).in_file(file.path()));
            } else {
                // One of many, or nobody has asked: whoever does will ask for it alone.
                self.pages.remove(&key);
                self.stats.dropped_pages += 1;
            }
        }
    }

    /// Waits for one page, with nothing else going on; it stays in the pool.
    pub fn read_now(&mut self, key: PageKey) -> Result<PageRef> {
        loop {
            match self.lookup(key) {
                Lookup::Resident => {
                    if let Some(page) = self.get(key) {
                        return Ok(page);
                    }
                }
                Lookup::Failed => {
                    if let Some(failed) = self.hand_out(key) {
                        return failed;
                    }
                }
                Lookup::InFlight => {
                    self.poll(Wait::UntilSomething)?;
                }
                Lookup::Absent => {
                    let is_started = self.read(key.file, &[key.page], Kind::Demand) == 1;
                    if !is_started && self.engine.in_flight() > 0 {
                        self.poll(Wait::UntilSomething)?;
                    } else if !is_started && !self.evict_any() {
                        return Err(Error::resources("all memory for pages is in use"));
                    }
                }
            }
        }
    }

    /// Lets go of the page nobody else holds that is nearest to its end; whether there was one.
    pub(crate) fn evict_any(&mut self) -> bool {
        let free_frames = self.free_frames();
        self.evict_until(free_frames + 1, Expendable::Any);
        self.free_frames() > free_frames
    }
}

/// A read error as the library's: a file that ends too early is damage, a device that refuses is
/// not.
pub(crate) fn unreadable(page: PageNo, error: io::ReadError) -> Error {
    match error {
        io::ReadError::EndOfFile { .. } => {
            let place = innoscan_format::Place { page: Some(page), ..Default::default() };
            let what = format!("{error}, before the end of the page");
            let corrupt =
                innoscan_format::Error::Corrupt { what: what.into(), place: place.into() };
            Error::from(corrupt)
        }
        io::ReadError::Device { errno, at_byte } => Error::read(
            format!("reading page {page} at byte {at_byte}"),
            std::io::Error::from_raw_os_error(errno),
        ),
    }
}
