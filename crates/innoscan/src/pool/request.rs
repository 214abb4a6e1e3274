//! Asking for a page: it is looked up, else its read is started, else the caller waits.

use innoscan_io::{Kind, Wait};

use super::{Evictable, Lookup, PageKey, PageRef, Pool};
use crate::{Error, Result};

/// How a page is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Who asks, for the counters.
    pub kind: Kind,
    /// What becomes of the page once the caller has it.
    pub retention: Retention,
    /// Frames that a read leaves free for others.
    pub spare_frames: usize,
}

/// What becomes of a page in the pool once a caller has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// It stays until its frame is needed.
    Keep,
    /// It is released, unless the pool keeps used pages.
    Release,
}

/// Where a page is, after it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// In the pool, or failed to be read.
    Here,
    /// It was being read already.
    Pending,
    /// Its read was started now.
    Started,
    /// It is absent, and there is neither a frame nor a request for it.
    NoRoom,
}

impl Pool {
    /// Starts to read a page, unless it is here or being read, or there is no room for it.
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

    /// A page if it is here, or why it could not be read; else [`Pool::ensure`], whose answer is the
    /// error.
    pub fn request(
        &mut self,
        key: PageKey,
        request: Request,
    ) -> std::result::Result<Result<PageRef>, Presence> {
        let presence = self.ensure(key, request.kind, request.spare_frames);
        self.collect(key, request.retention).ok_or(presence)
    }

    /// A page that is here, or why it could not be read.
    pub fn collect(&mut self, key: PageKey, retention: Retention) -> Option<Result<PageRef>> {
        match (retention, self.lookup(key)) {
            (Retention::Keep, Lookup::Resident) => self.get(key).map(Ok),
            _ => self.take(key),
        }
    }

    /// Waits for a page, with nothing else going on.
    ///
    /// # Errors
    /// When it cannot be read, or all frames are pinned.
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

    /// Evicts pages that nobody else holds, from the end of the LRU list, until one more frame is free;
    /// `false` when there is none.
    pub(crate) fn evict_any(&mut self) -> bool {
        let free_frames = self.free_frames();
        self.evict_until(free_frames + 1, Evictable::Any);
        self.free_frames() > free_frames
    }
}
