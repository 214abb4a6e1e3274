//! The buffer pool: the one place pages are read into and read from.
//!
//! A page is absent, on its way, or resident; each entry remembers whether it was asked for or
//! read ahead, so that what a policy's reads were worth can be counted. Frames come from one slab:
//! when it is used up nothing more is read until a page is given back. A [`PageRef`] pins its
//! frame wherever it goes, also after the pool has let go of the page.
//!
//! A scan takes each page out as it comes to it ([`Pool::take`]): in a full scan nobody will ask
//! for it again. Readers that may come back use [`Pool::get`].

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::sync::Arc;
use std::time::Instant;

use innoscan_format::PageNo;
use innoscan_io::{self as io, Completion, Engine, File, Frame, Kind, Read, Slab, Wait, Wake};

use crate::stats::PoolStats;
use crate::{Error, Result};

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
    /// It was read on demand and could not be; [`Pool::take`] tells why.
    Failed,
}

/// Pages by number, and the reads that bring them.
pub struct Pool {
    slab: Slab,
    engine: Box<dyn Engine>,
    files: Vec<Arc<File>>,
    pages: HashMap<PageKey, Entry>,
    reads: HashMap<u64, Pending>,
    next_token: u64,
    done: Vec<Completion>,
    counters: io::Counters,
    stats: PoolStats,
}

struct Entry {
    state: State,
    kind: Kind,
}

enum State {
    InFlight,
    Resident(PageRef),
    Failed(Error),
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
        Pool {
            slab,
            engine,
            files: Vec::new(),
            pages: HashMap::new(),
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
            Some(State::Resident(_)) => Lookup::Resident,
            Some(State::Failed(_)) => Lookup::Failed,
        }
    }

    /// A resident page, which stays in the pool.
    pub fn get(&mut self, key: PageKey) -> Option<PageRef> {
        let entry = self.pages.get_mut(&key)?;
        let State::Resident(page) = &entry.state else { return None };
        if entry.kind == Kind::Ahead {
            entry.kind = Kind::Demand;
            self.stats.ahead_used += 1;
        }
        Some(Arc::clone(page))
    }

    /// Takes a resident page out, or why it could not be read. `None` when it is neither.
    pub fn take(&mut self, key: PageKey) -> Option<Result<PageRef>> {
        let MapEntry::Occupied(entry) = self.pages.entry(key) else { return None };
        if matches!(entry.get().state, State::InFlight) {
            return None;
        }
        let entry = entry.remove();
        self.stats.ahead_used += u64::from(entry.kind == Kind::Ahead);
        match entry.state {
            State::Resident(page) => Some(Ok(page)),
            State::Failed(error) => Some(Err(error)),
            State::InFlight => None,
        }
    }

    /// Lets go of a resident page nobody has used; whether it was there.
    pub fn evict(&mut self, key: PageKey) -> bool {
        let MapEntry::Occupied(entry) = self.pages.entry(key) else { return false };
        if !matches!(entry.get().state, State::Resident(_)) {
            return false;
        }
        let entry = entry.remove();
        self.stats.ahead_evicted += u64::from(entry.kind == Kind::Ahead);
        true
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
            self.pages.insert(PageKey { file, page }, Entry { state: State::InFlight, kind });
        }
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
        let mut keep = pending.keep.into_iter().peekable();
        let pages = (pending.first.0..).map(PageNo).zip(done.frames).enumerate();
        for (number, (page, frame)) in pages {
            if keep.next_if_eq(&page).is_none() {
                continue;
            }
            let key = PageKey { file: pending.file, page };
            let Some(entry) = self.pages.get_mut(&key) else { continue };
            if number < good {
                entry.state = State::Resident(Arc::new(frame));
            } else if let (true, Kind::Demand, Some(error)) = (is_single, done.kind, done.error) {
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
                    if let Some(taken) = self.take(key) {
                        return taken;
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

    /// Lets go of some page nobody else holds.
    pub(crate) fn evict_any(&mut self) -> bool {
        let unpinned = self.pages.iter().find_map(|(key, entry)| match &entry.state {
            State::Resident(page) if Arc::strong_count(page) == 1 => Some(*key),
            _ => None,
        });
        unpinned.is_some_and(|key| self.evict(key))
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

#[cfg(test)]
mod tests {
    use super::*;
    use innoscan_io::engine::memory::{Memory, Script};

    const PAGE: usize = 4096;

    fn pool(frames: usize, script: Script) -> (Pool, FileSlot) {
        let bytes: Vec<u8> = (0..64u8).flat_map(|page| [page; PAGE]).collect();
        let slab = Slab::new(frames, PAGE).unwrap();
        let mut pool = Pool::new(slab, Box::new(Memory::new(script)));
        let file = pool.add_file(Arc::new(File::memory("t.ibd", bytes)));
        (pool, file)
    }

    fn numbers(pages: &[u32]) -> Vec<PageNo> {
        pages.iter().copied().map(PageNo).collect()
    }

    fn drain(pool: &mut Pool) {
        while pool.is_reading() {
            pool.poll(Wait::UntilSomething).unwrap();
        }
    }

    #[test]
    fn reads_over_gaps_keeps_what_was_named_and_counts_its_use() {
        let (mut pool, file) = pool(16, Script::reordering(1));
        assert_eq!(pool.read(file, &numbers(&[3, 4, 7]), Kind::Ahead), 3);
        drain(&mut pool);
        assert_eq!(pool.free_frames(), 13);
        assert_eq!(pool.counters().requests(), 1);
        assert_eq!(pool.counters().read_bytes(), 5 * PAGE as u64);
        let key = |page| PageKey { file, page: PageNo(page) };
        assert!(matches!(pool.lookup(key(5)), Lookup::Absent));
        assert_eq!(pool.get(key(7)).unwrap()[0], 7);
        assert_eq!(pool.take(key(7)).unwrap().unwrap()[0], 7);
        assert!(pool.evict(key(3)) && !pool.evict(key(3)));
        let stats = pool.stats();
        assert_eq!((stats.ahead_pages, stats.gap_pages), (3, 2));
        assert_eq!((stats.ahead_used, stats.ahead_evicted), (1, 1));
    }

    #[test]
    fn pages_already_here_split_a_run() {
        let (mut pool, file) = pool(16, Script::reordering(2));
        pool.read_now(PageKey { file, page: PageNo(5) }).unwrap();
        assert_eq!(pool.read(file, &numbers(&[4, 5, 6, 7]), Kind::Ahead), 4);
        drain(&mut pool);
        assert_eq!(pool.counters().ahead.requests, 2);
        assert_eq!(pool.counters().ahead.read_bytes, 3 * PAGE as u64);
    }

    #[test]
    fn a_full_slab_or_engine_takes_part_of_a_run() {
        let (mut pool, file) = pool(3, Script { depth: 2, ..Script::reordering(3) });
        assert_eq!(pool.read(file, &numbers(&[1, 2, 3, 4]), Kind::Ahead), 3);
        assert_eq!(pool.read(file, &numbers(&[9]), Kind::Ahead), 0);
        drain(&mut pool);
        let page = pool.read_now(PageKey { file, page: PageNo(9) }).unwrap();
        assert_eq!(page[0], 9);
    }

    #[test]
    fn a_failed_run_is_dropped_and_a_failed_page_says_why() {
        let mut script = Script::reordering(4);
        script.bad.push(5 * PAGE as u64..6 * PAGE as u64);
        let (mut pool, file) = pool(16, script);
        pool.read(file, &numbers(&[4, 5, 6]), Kind::Ahead);
        drain(&mut pool);
        let key = |page| PageKey { file, page: PageNo(page) };
        assert!(matches!(pool.lookup(key(4)), Lookup::Resident));
        assert!(matches!(pool.lookup(key(6)), Lookup::Absent));
        assert_eq!(pool.read_now(key(6)).unwrap()[0], 6);
        let error = pool.read_now(key(5)).unwrap_err();
        assert!(error.to_string().contains("page 5 at byte 20480"), "{error}");
        let error = pool.read_now(key(64)).unwrap_err();
        assert!(error.is_corrupt() && error.to_string().contains("ends at byte 262144"));
        assert_eq!(pool.free_frames(), 14);
    }
}
