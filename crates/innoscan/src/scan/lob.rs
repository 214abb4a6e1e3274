//! Off-page columns, as a worker gets them: it asks the scan thread for pages and is answered in
//! order.
//!
//! A chain of BLOB pages names each page on the one before it, which would make every page a wait
//! of its own. But the length is known from the start, and servers put a value's pages side by
//! side where they can. So the pages that would follow are asked for with the one that is needed;
//! those that turn out to be others are dropped when they come.

use crossbeam_channel::{Receiver, Sender, bounded};
use innoscan_format::PageNo;
use innoscan_format::lob::{LobReader, LobRef};
use innoscan_format::page::Need;

use super::Shared;
use super::decode::SpaceContext;
use crate::pool::{FileSlot, PageRef};
use crate::{Error, Result};

/// Pages of an off-page column.
pub(super) struct LobRequest {
    pub file: FileSlot,
    /// In the order they are answered.
    pub pages: Vec<PageNo>,
    pub reply: Sender<Result<PageRef>>,
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
}

impl<'s> LobFetcher<'s> {
    pub fn new(
        requests: Sender<LobRequest>,
        shared: &'s Shared,
        bytes_most: u64,
    ) -> LobFetcher<'s> {
        LobFetcher { requests, shared, bytes_most }
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
        let mut most = PAGES_FIRST;
        while let Need::Pages(needed) = reader.need() {
            let missing_bytes = whole_len.saturating_sub(value.len());
            let pages = likely_pages(needed, missing_bytes, space, most);
            let replies = self.ask(space, &pages)?;
            let is_as_guessed = self.feed(&mut reader, &pages, &replies, value)?;
            most = if is_as_guessed { (2 * most).min(PAGES_MOST) } else { 1 };
        }
        Ok(())
    }

    fn ask(&self, space: &SpaceContext, pages: &[PageNo]) -> Result<Receiver<Result<PageRef>>> {
        let (reply, replies) = bounded(pages.len());
        let request = LobRequest { file: space.slot, pages: pages.to_vec(), reply };
        self.requests.send(request).map_err(|_| Error::interrupted())?;
        self.shared.wake_driver();
        Ok(replies)
    }

    /// Feeds the pages asked for as far as they are needed; whether that was all of them.
    fn feed(
        &self,
        reader: &mut LobReader,
        pages: &[PageNo],
        replies: &Receiver<Result<PageRef>>,
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
            let page = replies.recv().map_err(|_| Error::interrupted())?;
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
