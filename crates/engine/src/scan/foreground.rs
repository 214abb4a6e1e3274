//! Foreground readers on the scan's pool and device: they measure how a scan slows lookups, and lookups
//! a scan.
//!
//! A reader requests a page from the scan thread and waits for it, as a worker does for off-page
//! columns. The page stays in the pool, by the pool's rules, until its frame is needed.

use std::sync::atomic::Ordering;
use std::thread::Scope;

use innoscan_format::PageNo;

use super::Shared;
use super::requests::PageRequests;
use crate::Result;
use crate::pool::{FileSlot, PageRef};
use crate::space::Space;

/// A reader of the table's pages during a scan.
pub trait Foreground: Send + Sync {
    /// The number of concurrent reader threads.
    fn threads(&self) -> usize;

    /// Reads, on one of these threads, until [`Pages::is_over`] or an error.
    fn run(&self, pages: &Pages<'_>);
}

/// Access to the table's pages for a foreground reader.
#[derive(Clone)]
pub struct Pages<'s> {
    requests: PageRequests<'s>,
    shared: &'s Shared,
    spaces: &'s [Space],
    slots: &'s [FileSlot],
}

impl<'s> Pages<'s> {
    /// Access to pages. `slots`: the files of the spaces in the pool.
    pub(super) fn new(
        requests: &PageRequests<'s>,
        shared: &'s Shared,
        spaces: &'s [Space],
        slots: &'s [FileSlot],
    ) -> Pages<'s> {
        Pages { requests: requests.of_foreground(), shared, spaces, slots }
    }

    /// Starts the threads of a reader.
    pub(super) fn spawn_readers<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        foreground: &'scope dyn Foreground,
    ) -> Result<()>
    where
        's: 'scope,
    {
        for number in 0..foreground.threads() {
            let pages = self.clone();
            super::spawn(scope, format!("foreground-{number}"), move || foreground.run(&pages))?;
        }
        Ok(())
    }

    /// Whether the scan is over.
    pub fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed) || self.shared.is_stopped()
    }

    /// The table's tablespaces.
    pub fn spaces(&self) -> &'s [Space] {
        self.spaces
    }

    /// Waits for a page of the tablespace at index `space`.
    ///
    /// # Errors
    /// The page cannot be read, or the scan is over.
    pub fn get(&self, space: usize, page: PageNo) -> Result<PageRef> {
        self.requests.ask(self.slots[space], vec![page])?.next()?
    }
}
