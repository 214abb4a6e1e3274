//! Readers beside the scan, on the same pool and device: what lookups feel of a scan, and a scan of
//! them.
//!
//! A reader asks the scan thread for a page and waits for it, as a worker does for an off-page
//! column's. The page stays in the pool, by the pool's rules, until its frame is needed.

use std::sync::atomic::Ordering;
use std::thread::Scope;

use innoscan_format::PageNo;

use super::Shared;
use super::requests::PageRequests;
use crate::Result;
use crate::pool::{FileSlot, PageRef};
use crate::space::Space;

/// Somebody who reads pages of the table while it is scanned.
pub trait Foreground: Send + Sync {
    /// Threads that read at once.
    fn threads(&self) -> usize;

    /// Reads, on one of these threads, until [`Pages::is_over`] or an error.
    fn run(&self, pages: &Pages<'_>);
}

/// A foreground reader's way to the table's pages.
#[derive(Clone)]
pub struct Pages<'s> {
    requests: PageRequests<'s>,
    shared: &'s Shared,
    spaces: &'s [Space],
    slots: &'s [FileSlot],
}

impl<'s> Pages<'s> {
    /// A reader's end. `slots`: the spaces' files in the pool.
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

    /// Whether there is nobody left to read beside.
    pub fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed) || self.shared.is_stopped()
    }

    /// The table's tablespaces.
    pub fn spaces(&self) -> &'s [Space] {
        self.spaces
    }

    /// Waits for a page of one of them, by its place among them.
    ///
    /// # Errors
    /// When it cannot be read, or nobody is left to read it.
    pub fn get(&self, space: usize, page: PageNo) -> Result<PageRef> {
        self.requests.ask(self.slots[space], vec![page])?.next()?
    }
}
