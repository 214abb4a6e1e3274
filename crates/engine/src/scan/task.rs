//! Tasks of the decode workers: some leaves, and the facts about their tablespace for decoding.

use std::ops::{Deref, Range};
use std::path::PathBuf;
use std::sync::Arc;

use innoscan_format::layout::Layout;
use innoscan_format::page::{PageContext, PageFormat};
use innoscan_format::{IndexId, Lsn, PageNo};
use innoscan_io::File;

use super::key_columns::KeyColumns;
use super::leaf_sorter::PackedLeaf;
use super::pooled_undo::PooledUndo;
use crate::condition::RowFilter;
use crate::key_ranges::KeyRanges;
use crate::pool::{FileSlot, PageRef, unreadable};
use crate::undo_logs::Versions;
use crate::walk::Sibling;
use crate::{Error, Result};

/// A task: some consecutive leaves.
pub(super) struct Task {
    /// The task's number; numbers ascend in key order.
    pub number: u64,
    pub space: Arc<SpaceContext>,
    pub items: Vec<Item>,
}

/// A leaf, or the damage in its place.
pub(super) enum Item {
    Leaf {
        page_no: PageNo,
        page: LeafBytes,
        prev: Sibling,
        next: Sibling,
    },
    /// A leaf that was sorted.
    Packed {
        page_no: PageNo,
        packed: PackedLeaf,
        prev: Sibling,
        next: Sibling,
    },
    Damaged {
        page_no: PageNo,
        error: Error,
    },
}

/// The bytes of a leaf, in a frame of the pool or elsewhere.
pub(super) enum LeafBytes {
    Frame(PageRef),
    Unpacked(Box<[u8]>),
    /// A range of bytes of a file that is in memory.
    Head(Arc<File>, Range<usize>),
}

impl Deref for LeafBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            LeafBytes::Frame(page) => page,
            LeafBytes::Unpacked(page) => page,
            LeafBytes::Head(file, place) => file.head().get(place.clone()).unwrap_or_default(),
        }
    }
}

/// The source of a tablespace's pages.
pub(super) enum PageSource {
    /// A file of the pool, with the tablespaces of the directory's undo logs.
    Pool(FileSlot, Arc<[PooledUndo]>),
    /// A file that is completely in memory.
    Memory(Arc<File>),
}

/// The facts about a tablespace for decoding.
pub(super) struct SpaceContext {
    pub path: PathBuf,
    /// The tablespace's index among the table's files.
    pub number: usize,
    pub source: PageSource,
    pub page_context: PageContext,
    pub index: IndexId,
    pub layout: Layout,
    pub keys: KeyColumns,
    /// The wanted keys; `None`: all.
    pub wanted: Option<Arc<KeyRanges>>,
    /// The condition on rows with wanted keys; `None`: all of them.
    pub filter: Option<RowFilter>,
    pub newest_lsn: Option<Lsn>,
    /// The versions of rows that unfinished transactions changed; `None` where there are no such transactions.
    pub versions: Option<Versions>,
    /// Whether the definition was given by the user: then each leaf is checked against it.
    pub is_definition_given: bool,
}

impl SpaceContext {
    /// The format of its pages once they are opened.
    pub fn format(&self) -> PageFormat {
        self.page_context.format()
    }
}

/// A page of a file that is in memory; not verified.
pub(super) fn page_in_memory(
    file: &Arc<File>,
    pages: &PageContext,
    page_no: PageNo,
) -> Result<LeafBytes> {
    let page_bytes = pages.physical_bytes();
    let start = page_no.0 as usize * page_bytes;
    let place = start..start.saturating_add(page_bytes);
    if place.end > file.head().len() {
        let error = unreadable(page_no, file.end_before(place.end as u64));
        return Err(error.in_file(file.path()));
    }
    Ok(LeafBytes::Head(Arc::clone(file), place))
}
