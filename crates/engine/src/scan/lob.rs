//! Off-page columns in a worker: it requests pages from the scan thread and receives them in
//! order.
//!
//! Each page of a BLOB chain names the next one, so reading page by page would wait for each.
//! But the length is known from the start, and servers put a value's pages next to each other
//! where they can. So the adjacent pages are requested together with the needed one;
//! those that turn out to be of something else are dropped when they arrive.

use std::cell::Cell;
use std::sync::Arc;

use innoscan_format::page::{self, Scratch};
use innoscan_format::read::{LobReader, Need};
use innoscan_format::types::decompress_column;
use innoscan_format::{LobRef, PageNo};
use innoscan_io::File;

use super::requests::{PageReplies, PageRequests};
use super::task::{PageSource, SpaceContext, page_in_memory};
use crate::{Error, Result};

/// The most pages requested at once.
const PAGES_MAX: usize = 64;
/// The pages requested at first, for a value that has as many.
const PAGES_FIRST: usize = 16;
/// The least bytes of a page that hold no data: the overhead of a BLOB page.
const PAGE_OVERHEAD: usize = 54;

/// A worker's access to off-page columns.
pub(super) struct LobFetcher<'s> {
    /// The channel for requests; `None` where all pages are in memory.
    requests: Option<PageRequests<'s>>,
    bytes_max: u64,
    pages_in_memory: Cell<u64>,
}

impl<'s> LobFetcher<'s> {
    pub fn new(requests: Option<PageRequests<'s>>, bytes_max: u64) -> LobFetcher<'s> {
        LobFetcher { requests, bytes_max, pages_in_memory: Cell::new(0) }
    }

    /// Appends the value of `lob`. Each page is released as soon as its bytes are copied.
    pub fn fetch(&self, space: &SpaceContext, lob: LobRef, value: &mut Vec<u8>) -> Result<()> {
        if u64::from(lob.len) > self.bytes_max {
            return Err(Error::refused(
                format!("an off-page value of {} bytes is larger than {}", lob.len, self.bytes_max),
                "raise the limit for off-page values",
            ));
        }
        let whole_len = value.len() + lob.len as usize;
        let mut reader = LobReader::new(space.format(), lob)?;
        let (slot, requests) = match (&space.source, &self.requests) {
            (PageSource::Pool(slot, _), Some(requests)) => (*slot, requests),
            (PageSource::Pool(..), None) => return Err(Error::interrupted()),
            (PageSource::Memory(file), _) => return self.feed_from(file, space, reader, value),
        };
        let mut most = PAGES_FIRST;
        while let Need::Pages(needed) = reader.need() {
            let missing_bytes = whole_len.saturating_sub(value.len());
            let pages = likely_pages(needed, missing_bytes, space, most);
            let asked = requests.ask(slot, pages.clone())?;
            let is_as_guessed = feed(&mut reader, space, &pages, (&asked, requests), value)?;
            most = if is_as_guessed { (2 * most).min(PAGES_MAX) } else { 1 };
        }
        Ok(())
    }

    /// The value of a compressed column, with the same limit.
    pub fn decompress(&self, stored: &[u8]) -> Result<Vec<u8>> {
        let mut value = Vec::new();
        decompress_column(stored, self.bytes_max, &mut value)?;
        Ok(value)
    }

    /// The number of pages read from memory.
    pub fn pages_in_memory(&self) -> u64 {
        self.pages_in_memory.get()
    }

    /// Feeds all needed pages from a file that is in memory.
    fn feed_from(
        &self,
        file: &Arc<File>,
        space: &SpaceContext,
        mut reader: LobReader,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        while let Need::Pages(&[page_no, ..]) = reader.need() {
            let bytes = page_in_memory(file, &space.page_context, page_no)?;
            reader.feed(page::open(&bytes, &space.page_context, page_no, &mut scratch)?, value)?;
            self.pages_in_memory.set(self.pages_in_memory.get() + 1);
        }
        Ok(())
    }
}

/// Feeds the requested pages as long as they are needed; whether all of them were.
fn feed(
    reader: &mut LobReader,
    space: &SpaceContext,
    pages: &[PageNo],
    (asked, requests): (&PageReplies<'_>, &PageRequests<'_>),
    value: &mut Vec<u8>,
) -> Result<bool> {
    let mut scratch = Scratch::default();
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
            let opened = page::open(&page, &space.page_context, page_no, &mut scratch);
            let fed = opened.and_then(|page| reader.feed(page, value));
            drop(page);
            requests.page_is_free();
            fed?;
        } else {
            drop(page);
            requests.page_is_free();
            is_as_guessed = false;
        }
    }
    Ok(is_as_guessed)
}

/// The needed pages, followed by those that come next if the value's pages are adjacent.
fn likely_pages(
    needed: &[PageNo],
    missing_bytes: usize,
    space: &SpaceContext,
    most: usize,
) -> Vec<PageNo> {
    let mut pages = needed[..needed.len().min(PAGES_MAX)].to_vec();
    let page_bytes = space.format().physical_len() - PAGE_OVERHEAD;
    let likely = missing_bytes.div_ceil(page_bytes).min(most);
    if let [only] = needed {
        let end = only.0.saturating_add(likely as u32).min(space.format().size_pages);
        pages.extend((only.0.saturating_add(1)..end).map(PageNo));
    }
    pages
}
