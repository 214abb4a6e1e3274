//! Tablespaces with undo logs in the pool of a scan.

use std::path::Path;

use innoscan_format::page::{self, OwnedPage, PageContext, Scratch};
use innoscan_format::{Error as FormatError, PageNo};

use super::requests::PageRequests;
use crate::pool::FileSlot;
use crate::space::Space;
use crate::{Error, Result};

/// A tablespace with undo logs in the scan's pool, whose frames have the size of the table's pages.
pub(super) struct PooledUndo {
    slot: FileSlot,
    space: Space,
    /// Frames of a page.
    frames: u32,
}

impl PooledUndo {
    /// The tablespace in a pool with frames of `frame_bytes`. The pages of a table of ROW_FORMAT=COMPRESSED are
    /// smaller than those of undo logs.
    ///
    /// # Errors
    /// Its pages do not consist of frames, which is not possible in one server.
    pub fn new(space: &Space, slot: FileSlot, frame_bytes: usize) -> Result<PooledUndo> {
        let page_bytes = space.page_bytes();
        if frame_bytes == 0 || !page_bytes.is_multiple_of(frame_bytes) {
            let what = format!(
                "undo logs have pages of {page_bytes} bytes, the table {frame_bytes}: they are not of one server"
            );
            let error = Error::from(FormatError::schema(what));
            return Err(error.in_file(space.file().path()));
        }
        let frames = (page_bytes / frame_bytes) as u32;
        Ok(PooledUndo { slot, space: space.clone(), frames })
    }

    /// The path of its file.
    pub fn path(&self) -> &Path {
        self.space.file().path()
    }

    fn context(&self) -> &PageContext {
        self.space.page_context()
    }

    /// Reads a page by way of the scan thread; on this thread where frames are parts of a page that the redo log of a
    /// killed server changes, for only whole pages can be settled.
    ///
    /// # Errors
    /// The scan is over, or the page cannot be read or is damaged.
    pub fn read(&self, requests: &PageRequests<'_>, page_no: PageNo) -> Result<OwnedPage> {
        self.space.format().require_inside(page_no, "a roll pointer")?;
        let mut scratch = Scratch::default();
        let redo = self.space.redo().filter(|_| self.frames > 1);
        if redo.map(|redo| redo.has_page(page_no)).transpose()? == Some(true) {
            let bytes = self.space.read_page(page_no)?;
            return Ok(page::open(&bytes, self.context(), page_no, &mut scratch)?.to_owned());
        }
        let first = page_no.0.checked_mul(self.frames);
        let last = first.and_then(|first| first.checked_add(self.frames));
        let (first, last) = first.zip(last).ok_or_else(|| {
            Error::from(FormatError::corrupt(format!("an undo tablespace has no page {page_no}")))
        })?;
        let replies = requests.ask(self.slot, (first..last).map(PageNo).collect())?;
        let mut bytes = Vec::with_capacity(self.space.page_bytes());
        for _ in first..last {
            let frame = replies.next()?;
            if let Ok(frame) = &frame {
                bytes.extend_from_slice(frame);
            }
            let read = frame.map(drop);
            requests.page_is_free();
            read?;
        }
        Ok(page::open(&bytes, self.context(), page_no, &mut scratch)?.to_owned())
    }
}
