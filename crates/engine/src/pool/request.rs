//! Requests for a page: it is looked up, else its read is started, else the caller waits.

use innoscan_io::{Kind, Wait};

use super::{Evictable, Lookup, PageKey, PageRef, Pool};
use crate::{Error, Result};

/// The parameters of a page request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The kind of read, for the counters.
    pub kind: Kind,
    /// Whether the pool keeps the page once the caller has it.
    pub retention: Retention,
    /// The frames that a read must leave free for others.
    pub spare_frames: usize,
}

/// Whether the pool keeps a page once a caller has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// The page stays until its frame is needed.
    Keep,
    /// The page is released, unless the pool keeps used pages.
    Release,
}

/// The presence of a page after a request for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The page is in the pool, or failed to be read.
    Here,
    /// The page was being read already.
    Pending,
    /// The page's read was started now.
    Started,
    /// The page is absent, and its read cannot start: there is no frame or no room in the engine.
    NoRoom,
}

impl Pool {
    /// Starts to read a page, unless it is present or being read, or there is no room for it.
    pub fn ensure(&mut self, key: PageKey, kind: Kind, spare_frames: usize) -> Presence {
        match self.lookup(key) {
            Lookup::Resident | Lookup::Failed => Presence::Here,
            Lookup::InFlight => Presence::Pending,
            Lookup::Absent => {
                self.reserve_frames(spare_frames + 1);
                let is_room = self.free_frames() > spare_frames;
                match is_room && self.read(key.file, &[key.page], kind) == 1 {
                    true => Presence::Started,
                    false => Presence::NoRoom,
                }
            }
        }
    }

    /// A page that is present, or its read error; otherwise the result of [`Pool::ensure`], as the
    /// error.
    pub fn request(
        &mut self,
        key: PageKey,
        request: Request,
    ) -> std::result::Result<Result<PageRef>, Presence> {
        let presence = self.ensure(key, request.kind, request.spare_frames);
        self.collect(key, request.retention).ok_or(presence)
    }

    /// A page that is present, or its read error.
    pub fn collect(&mut self, key: PageKey, retention: Retention) -> Option<Result<PageRef>> {
        match (retention, self.lookup(key)) {
            (Retention::Keep, Lookup::Resident) => self.get(key).map(Ok),
            _ => self.take(key),
        }
    }

    /// Waits for a page, while nothing else proceeds.
    ///
    /// # Errors
    /// The page cannot be read, or all frames are pinned.
    pub fn wait_for(&mut self, key: PageKey, retention: Retention) -> Result<PageRef> {
        let request = Request { kind: Kind::Demand, retention, spare_frames: 0 };
        loop {
            match self.request(key, request) {
                Ok(page) => return page,
                Err(Presence::NoRoom) if !self.is_reading() => {
                    if !self.evict_any() {
                        return Err(Error::resources("all memory for pages is in use"));
                    }
                }
                Err(_) => _ = self.poll(Wait::UntilSomething)?,
            }
        }
    }

    /// Evicts unpinned pages from the end of the LRU list until one more frame is free;
    /// `false` when there is none.
    pub(crate) fn evict_any(&mut self) -> bool {
        let free_frames = self.free_frames();
        self.evict_until(free_frames + 1, Evictable::Any);
        self.free_frames() > free_frames
    }
}
