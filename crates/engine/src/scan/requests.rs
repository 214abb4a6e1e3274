//! Page requests by other threads of a scan: workers for off-page columns, and foreground readers.
//! Only the scan thread reads; a thread that needs pages requests them, and receives them in the
//! order of the request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use innoscan_format::PageNo;
use innoscan_io::Kind;

use super::Shared;
use crate::pool::{FileSlot, Lookup, PageKey, PageRef, Pool, Retention};
use crate::{Error, Result};

/// A request of a thread for pages.
struct PageRequest {
    file: FileSlot,
    pages: Vec<PageNo>,
    kind: Kind,
    retention: Retention,
    reply: Sender<Result<PageRef>>,
    /// Set when no further page is wanted. Pages sent and not received stay in the channel until
    /// both of its ends are gone, so the scan thread must know.
    is_over: Arc<AtomicBool>,
}

/// The sending end of page requests.
#[derive(Clone)]
pub(super) struct PageRequests<'s> {
    requests: Sender<PageRequest>,
    shared: &'s Shared,
    kind: Kind,
    retention: Retention,
}

/// Both ends: requests of workers, whose pages are needed only once, and the scan thread's service.
pub(super) fn page_requests(shared: &Shared) -> (PageRequests<'_>, PageService) {
    let (requests, served) = unbounded();
    let (kind, retention) = (Kind::Demand, Retention::Release);
    let requests = PageRequests { requests, shared, kind, retention };
    (requests, PageService { requests: served, open: Vec::new(), demand_pages: 0 })
}

impl<'s> PageRequests<'s> {
    /// The end for foreground readers, whose pages stay in the pool by its rules.
    pub fn of_foreground(&self) -> PageRequests<'s> {
        PageRequests { kind: Kind::Foreground, retention: Retention::Keep, ..self.clone() }
    }

    /// Requests pages of a file, which arrive in the order of `pages`.
    ///
    /// # Errors
    /// The scan is over.
    pub fn ask(&self, file: FileSlot, pages: Vec<PageNo>) -> Result<PageReplies<'s>> {
        let (reply, replies) = bounded(pages.len());
        let is_over = Arc::new(AtomicBool::new(false));
        let asked = PageReplies {
            replies: Some(replies),
            is_over: Arc::clone(&is_over),
            shared: self.shared,
        };
        let (kind, retention) = (self.kind, self.retention);
        let request = PageRequest { file, pages, kind, retention, reply, is_over };
        self.requests.send(request).map_err(|_| Error::interrupted())?;
        self.shared.wake_driver();
        Ok(asked)
    }

    /// Notifies the scan thread that a page was released.
    pub fn page_is_free(&self) {
        self.shared.wake_driver();
    }
}

/// The replies to a request; dropping it releases the pages that were sent and not received.
pub(super) struct PageReplies<'s> {
    replies: Option<Receiver<Result<PageRef>>>,
    is_over: Arc<AtomicBool>,
    shared: &'s Shared,
}

impl PageReplies<'_> {
    /// Waits for the next page.
    ///
    /// # Errors
    /// The scan is over. The page's own error is in the inner result.
    pub fn next(&self) -> Result<Result<PageRef>> {
        let reply = self.replies.as_ref().and_then(|replies| replies.recv().ok());
        reply.ok_or_else(Error::interrupted)
    }
}

impl Drop for PageReplies<'_> {
    fn drop(&mut self) {
        self.replies = None;
        self.is_over.store(true, Ordering::SeqCst);
        self.shared.wake_driver();
    }
}

/// The scan thread's end, with all requests being served.
pub(super) struct PageService {
    requests: Receiver<PageRequest>,
    open: Vec<OpenRequest>,
    /// The number of pages sent to workers; pages of requests that were dropped first are not counted.
    pub demand_pages: u64,
}

/// A request being served.
struct OpenRequest {
    file: FileSlot,
    pages: Vec<PageNo>,
    kind: Kind,
    retention: Retention,
    /// The channel for replies; `None` when the receiver is gone: pages in flight are awaited and
    /// dropped.
    reply: Option<Sender<Result<PageRef>>>,
    is_over: Arc<AtomicBool>,
    /// The number of pages that need no answer any more: they were sent, or the receiver is gone.
    answered: usize,
    /// The number of pages requested from the pool, as far as it accepted them.
    started: usize,
    /// Whether pages are read one by one, since a read of several failed.
    is_single: bool,
}

impl PageService {
    /// Whether no worker waits for a page.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.open.iter().all(|open| open.kind != Kind::Demand)
    }

    /// Answers requests with the pages that are present, and starts to read the others; whether there
    /// was any progress. Of `reserve` frames only a worker's next page may use one.
    pub fn serve(&mut self, pool: &mut Pool, reserve: usize) -> bool {
        let mut progress = false;
        for request in self.requests.try_iter() {
            progress = true;
            self.open.push(OpenRequest {
                file: request.file,
                pages: request.pages,
                kind: request.kind,
                retention: request.retention,
                reply: Some(request.reply),
                is_over: request.is_over,
                answered: 0,
                started: 0,
                is_single: false,
            });
        }
        self.open.retain_mut(|open| {
            let answer = open.answer(pool);
            if open.kind == Kind::Demand {
                self.demand_pages += answer.sent_pages;
            }
            progress |= answer.is_progress | open.start(pool, reserve);
            open.answered < open.pages.len()
        });
        progress
    }
}

/// The result of answering a request with the pages that are present.
struct Answer {
    /// The number of pages that the receiver of the replies got.
    sent_pages: u64,
    /// Whether any page was answered: sent, or passed over because the receiver is gone.
    is_progress: bool,
}

impl OpenRequest {
    /// Sends the pages that are present, in order.
    fn answer(&mut self, pool: &mut Pool) -> Answer {
        let before = self.answered;
        let mut sent_pages = 0;
        if self.is_over.load(Ordering::SeqCst) {
            self.reply = None;
        }
        while let Some(&page) = self.pages.get(self.answered) {
            match pool.collect(PageKey { file: self.file, page }, self.retention) {
                Some(page) => {
                    let is_read = page.is_ok();
                    match self.reply.as_ref().map(|reply| reply.send(page)) {
                        Some(Ok(())) => sent_pages += u64::from(is_read),
                        Some(Err(_)) => self.reply = None,
                        None => {}
                    }
                }
                None if self.reply.is_none() && self.answered >= self.started => {}
                None => break,
            }
            self.answered += 1;
        }
        if self.answered < self.started {
            let key = PageKey { file: self.file, page: self.pages[self.answered] };
            if matches!(pool.lookup(key), Lookup::Absent) {
                // The page was read with others and failed, or another worker took it.
                self.started = self.answered;
                self.is_single = true;
            }
        }
        Answer { sent_pages, is_progress: self.answered > before }
    }

    /// Starts to read the absent pages; whether any read was started.
    fn start(&mut self, pool: &mut Pool, reserve: usize) -> bool {
        self.started = self.started.max(self.answered);
        let before = self.started;
        while self.reply.is_some() && self.started < self.pages.len() {
            pool.reserve_frames(reserve + 1);
            let spare = pool.free_frames().saturating_sub(reserve);
            // The page that a worker needs next may always be read.
            let is_next = self.kind == Kind::Demand && self.started == self.answered;
            let most = if is_next { spare.max(1) } else { spare };
            let most = if self.is_single { most.min(1) } else { most };
            let rest = &self.pages[self.started..];
            let run = rest.iter().zip(rest[0].0..).take_while(|(page, next)| page.0 == *next);
            let run = run.take(most).count();
            let dealt = pool.read(self.file, &rest[..run], self.kind);
            self.started += dealt;
            if dealt == 0 {
                break;
            }
        }
        self.started > before
    }
}

#[cfg(test)]
mod tests {
    use innoscan_io::engine::memory::{Memory, Script};
    use innoscan_io::{File, Wait};

    use super::*;
    use crate::pool::PoolOptions;

    const PAGE: usize = 4096;

    fn serve_all(service: &mut PageService, pool: &mut Pool) {
        while service.serve(pool, 0) || pool.is_reading() {
            if pool.is_reading() {
                pool.poll(Wait::UntilSomething).unwrap();
            }
        }
        assert!(service.is_idle() && service.open.is_empty());
    }

    #[test]
    fn only_pages_that_a_worker_got_are_counted() {
        let bytes: Vec<u8> = (0..64u8).flat_map(|page| [page; PAGE]).collect();
        let engine = Box::new(Memory::new(Script::reordering(1)));
        let mut pool = Pool::new(16, PAGE, engine, PoolOptions::default()).unwrap();
        let file = pool.add_file(Arc::new(File::memory("t.ibd", bytes)), None);
        let shared = Shared::new(pool.waker());
        let (requests, mut service) = page_requests(&shared);
        let pages = |pages: &[u32]| pages.iter().copied().map(PageNo).collect::<Vec<_>>();

        let replies = requests.ask(file, pages(&[3, 4, 9])).unwrap();
        serve_all(&mut service, &mut pool);
        for page in [3, 4, 9] {
            assert_eq!(replies.next().unwrap().unwrap()[0], page);
        }
        assert_eq!(service.demand_pages, 3);

        // Dropped before any page is read, and while its pages are read.
        drop(requests.ask(file, pages(&[10, 11, 12])).unwrap());
        serve_all(&mut service, &mut pool);
        let replies = requests.ask(file, pages(&[20, 21])).unwrap();
        assert!(service.serve(&mut pool, 0) && pool.is_reading());
        drop(replies);
        serve_all(&mut service, &mut pool);
        assert_eq!((service.demand_pages, pool.free_frames()), (3, 16));

        // A page beyond the end of the file is an error, not a page.
        let replies = requests.ask(file, pages(&[63, 64])).unwrap();
        serve_all(&mut service, &mut pool);
        assert_eq!(replies.next().unwrap().unwrap()[0], 63);
        assert!(replies.next().unwrap().is_err());
        assert_eq!(service.demand_pages, 4);

        let replies = requests.of_foreground().ask(file, pages(&[30])).unwrap();
        serve_all(&mut service, &mut pool);
        assert_eq!(replies.next().unwrap().unwrap()[0], 30);
        assert_eq!(service.demand_pages, 4);
    }
}
