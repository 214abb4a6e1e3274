//! Off-page columns, as a worker gets them: it asks the scan thread for pages and is answered in
//! order.
//!
//! A chain of BLOB pages names each page on the one before it, which would make every page a wait
//! of its own. But the length is known from the start, and servers put a value's pages side by
//! side where they can. So the pages that would follow are asked for with the one that is needed;
//! those that turn out to be others are dropped when they come.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded};
use innoscan_format::PageNo;
use innoscan_format::lob::{LobReader, LobRef};
use innoscan_format::page::Need;
use innoscan_io::File;

use super::Shared;
use super::decode::{PageSource, SpaceContext};
use super::small::page_in_memory;
use crate::pool::{FileSlot, PageRef};
use crate::{Error, Result};

/// Pages of an off-page column.
pub(super) struct LobRequest {
    pub file: FileSlot,
    /// In the order they are answered.
    pub pages: Vec<PageNo>,
    pub reply: Sender<Result<PageRef>>,
    /// Set when no further page is wanted. Pages sent and not received stay in the channel until
    /// both its ends are gone, so the scan thread has to know.
    pub is_over: Arc<AtomicBool>,
}

/// The worker's end of a request; dropped, it gives back what was sent and not received.
struct Asked<'s> {
    replies: Option<Receiver<Result<PageRef>>>,
    is_over: Arc<AtomicBool>,
    shared: &'s Shared,
}

impl Asked<'_> {
    fn next(&self) -> Result<Result<PageRef>> {
        let reply = self.replies.as_ref().and_then(|replies| replies.recv().ok());
        reply.ok_or_else(Error::interrupted)
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.replies = None;
        self.is_over.store(true, Ordering::SeqCst);
        self.shared.wake_driver();
    }
}

/// The most pages asked for at once.
const PAGES_MOST: usize = 64;
/// Pages asked for at first, of a value that has so many.
const PAGES_FIRST: usize = 16;
/// Bytes of a page that hold nothing of a value, at least: the BLOB page's own.
const PAGE_OVERHEAD: usize = 54;

/// A worker's way to off-page columns.
pub(super) struct LobFetcher<'s> {
    requests: Sender<LobRequest>,
    shared: &'s Shared,
    bytes_most: u64,
    pages_in_memory: Cell<u64>,
}

impl<'s> LobFetcher<'s> {
    pub fn new(
        requests: Sender<LobRequest>,
        shared: &'s Shared,
        bytes_most: u64,
    ) -> LobFetcher<'s> {
        LobFetcher { requests, shared, bytes_most, pages_in_memory: Cell::new(0) }
    }

    /// Appends what `lob` refers to. A page is given back as soon as its bytes are copied.
    pub fn fetch(&self, space: &SpaceContext, lob: LobRef, value: &mut Vec<u8>) -> Result<()> {
        if u64::from(lob.len) > self.bytes_most {
            return Err(Error::refused(
                format!(
                    "an off-page value of {} bytes is larger than {}",
                    lob.len, self.bytes_most
                ),
                "raise the limit for off-page values",
            ));
        }
        let whole_len = value.len() + lob.len as usize;
        let mut reader = LobReader::new(space.format, lob)?;
        let slot = match &space.source {
            PageSource::Pool(slot) => *slot,
            PageSource::Memory(file) => return self.feed_from(file, space, reader, value),
        };
        let mut most = PAGES_FIRST;
        while let Need::Pages(needed) = reader.need() {
            let missing_bytes = whole_len.saturating_sub(value.len());
            let pages = likely_pages(needed, missing_bytes, space, most);
            let asked = self.ask(slot, &pages)?;
            let is_as_guessed = self.feed(&mut reader, &pages, &asked, value)?;
            most = if is_as_guessed { (2 * most).min(PAGES_MOST) } else { 1 };
        }
        Ok(())
    }

    /// Pages that were looked into in memory.
    pub fn pages_in_memory(&self) -> u64 {
        self.pages_in_memory.get()
    }

    /// Feeds all pages that are needed out of a file that is in memory.
    fn feed_from(
        &self,
        file: &Arc<File>,
        space: &SpaceContext,
        mut reader: LobReader,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        while let Need::Pages(&[page_no, ..]) = reader.need() {
            let page = page_in_memory(file, space.format.page_size, page_no)?;
            reader.feed(page_no, &page, value)?;
            self.pages_in_memory.set(self.pages_in_memory.get() + 1);
        }
        Ok(())
    }

    fn ask(&self, file: FileSlot, pages: &[PageNo]) -> Result<Asked<'_>> {
        let (reply, replies) = bounded(pages.len());
        let is_over = Arc::new(AtomicBool::new(false));
        let asked =
            Asked { replies: Some(replies), is_over: Arc::clone(&is_over), shared: self.shared };
        let request = LobRequest { file, pages: pages.to_vec(), reply, is_over };
        self.requests.send(request).map_err(|_| Error::interrupted())?;
        self.shared.wake_driver();
        Ok(asked)
    }

    /// Feeds the pages asked for as far as they are needed; whether that was all of them.
    fn feed(
        &self,
        reader: &mut LobReader,
        pages: &[PageNo],
        asked: &Asked<'_>,
        value: &mut Vec<u8>,
    ) -> Result<bool> {
        let mut is_as_guessed = true;
        for (number, &page_no) in pages.iter().enumerate() {
            let needed = match reader.need() {
                Need::Pages([needed, ..]) => *needed,
                _ => return Ok(false),
            };
            if !pages[number..].contains(&needed) {
                return Ok(false);
            }
            let page = asked.next()?;
            if needed == page_no {
                let page = page?;
                let fed = reader.feed(page_no, &page, value);
                drop(page);
                self.shared.wake_driver();
                fed?;
            } else {
                drop(page);
                self.shared.wake_driver();
                is_as_guessed = false;
            }
        }
        Ok(is_as_guessed)
    }
}

/// The pages needed, and after them those that would follow if the value's pages lay side by side.
fn likely_pages(
    needed: &[PageNo],
    missing_bytes: usize,
    space: &SpaceContext,
    most: usize,
) -> Vec<PageNo> {
    let mut pages = needed[..needed.len().min(PAGES_MOST)].to_vec();
    let page_bytes = space.format.page_size.len() - PAGE_OVERHEAD;
    let likely = missing_bytes.div_ceil(page_bytes).min(most);
    if let [only] = needed {
        let end = only.0.saturating_add(likely as u32).min(space.format.size_pages);
        pages.extend((only.0.saturating_add(1)..end).map(PageNo));
    }
    pages
}
