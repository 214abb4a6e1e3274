//! The scan thread's end of [`super::lob`]: workers ask for the pages of off-page columns, and get them
//! in the order they named.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender};
use innoscan_format::PageNo;
use innoscan_io::Kind;

use super::lob::LobRequest;
use crate::Result;
use crate::pool::{FileSlot, Lookup, PageKey, PageRef, Pool};

/// All requests being served.
pub(super) struct LobServices {
    requests: Receiver<LobRequest>,
    open: Vec<LobService>,
    /// Pages found for workers so far.
    pub pages: u64,
}

/// A LOB request being served.
struct LobService {
    file: FileSlot,
    pages: Vec<PageNo>,
    /// `None` when nobody listens any more; what is on its way is awaited and dropped.
    reply: Option<Sender<Result<PageRef>>>,
    is_over: Arc<AtomicBool>,
    /// Pages answered.
    answered: usize,
    /// Pages asked of the pool, as far as it took them.
    started: usize,
    /// A read of several failed: one by one from here.
    is_single: bool,
}

impl LobServices {
    pub fn new(requests: Receiver<LobRequest>) -> LobServices {
        LobServices { requests, open: Vec::new(), pages: 0 }
    }

    /// Whether nobody asks for anything.
    pub fn is_idle(&self) -> bool {
        self.open.is_empty() && self.requests.is_empty()
    }

    /// Answers requests with the pages that are here, and asks for those that are not; whether
    /// anything was done. Of `reserve` frames only the page that is needed next may have one.
    pub fn serve(&mut self, pool: &mut Pool, reserve: usize) -> bool {
        let mut progress = false;
        for request in self.requests.try_iter() {
            progress = true;
            self.open.push(LobService {
                file: request.file,
                pages: request.pages,
                reply: Some(request.reply),
                is_over: request.is_over,
                answered: 0,
                started: 0,
                is_single: false,
            });
        }
        let mut lobs = std::mem::take(&mut self.open);
        lobs.retain_mut(|lob| {
            progress |= self.answer(lob, pool);
            progress |= lob.start(pool, reserve);
            lob.answered < lob.pages.len()
        });
        self.open = lobs;
        progress
    }

    fn answer(&mut self, lob: &mut LobService, pool: &mut Pool) -> bool {
        let before = lob.answered;
        if lob.is_over.load(Ordering::SeqCst) {
            lob.reply = None;
        }
        while let Some(&page) = lob.pages.get(lob.answered) {
            match pool.hand_out(PageKey { file: lob.file, page }) {
                Some(taken) => {
                    self.pages += 1;
                    if lob.reply.as_ref().is_some_and(|reply| reply.send(taken).is_err()) {
                        lob.reply = None;
                    }
                }
                None if lob.reply.is_none() && lob.answered >= lob.started => {}
                None => break,
            }
            lob.answered += 1;
        }
        if lob.answered < lob.started {
            let key = PageKey { file: lob.file, page: lob.pages[lob.answered] };
            if matches!(pool.lookup(key), Lookup::Absent) {
                // It was read with others and failed, or another worker took it.
                lob.started = lob.answered;
                lob.is_single = true;
            }
        }
        lob.answered > before
    }
}

impl LobService {
    /// Asks for pages that are not on their way; whether any.
    fn start(&mut self, pool: &mut Pool, reserve: usize) -> bool {
        self.started = self.started.max(self.answered);
        let before = self.started;
        while self.reply.is_some() && self.started < self.pages.len() {
            pool.make_room(reserve + 1);
            let spare = pool.free_frames().saturating_sub(reserve);
            // The page that is needed next may always be read.
            let most = if self.started == self.answered { spare.max(1) } else { spare };
            let most = if self.is_single { most.min(1) } else { most };
            let rest = &self.pages[self.started..];
            let run = rest.iter().zip(rest[0].0..).take_while(|(page, next)| page.0 == *next);
            let run = run.take(most).count();
            let dealt = pool.read(self.file, &rest[..run], Kind::Demand);
            self.started += dealt;
            if dealt == 0 {
                break;
            }
        }
        self.started > before
    }
}
