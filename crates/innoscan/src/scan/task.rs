//! A task of the decode workers: some leaves, and what decoding needs to know of their tablespace.

use std::ops::{Deref, Range};
use std::path::PathBuf;
use std::sync::Arc;

use innoscan_format::layout::Layout;
use innoscan_format::page::{PageContext, PageFormat};
use innoscan_format::{IndexId, Lsn, PageNo};
use innoscan_io::{self as io, File};

use super::key_columns::KeyColumns;
use super::leaf_sort::PackedLeaf;
use crate::condition::RowFilter;
use crate::key_ranges::KeyRanges;
use crate::pool::{FileSlot, PageRef, unreadable};
use crate::walk::Sibling;
use crate::{Error, Result};

/// Some consecutive leaves.
pub(super) struct Task {
    /// Counts up in key order.
    pub number: u64,
    pub space: Arc<SpaceContext>,
    pub items: Vec<Item>,
}

/// A leaf, or what is wrong in its place.
pub(super) enum Item {
    Leaf {
        page_no: PageNo,
        page: LeafBytes,
        prev: Sibling,
        next: Sibling,
    },
    /// One that was sorted.
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

/// A leaf's bytes, in a frame of the pool or out of it.
pub(super) enum LeafBytes {
    Frame(PageRef),
    Unpacked(Box<[u8]>),
    /// These bytes of a file that is in memory.
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

/// Where a tablespace's pages come from.
pub(super) enum PageSource {
    /// The pool's file of this number.
    Pool(FileSlot),
    /// Memory, in which all of the file is.
    Memory(Arc<File>),
}

/// What decoding needs to know of a tablespace.
pub(super) struct SpaceContext {
    pub path: PathBuf,
    /// Its number among the table's.
    pub number: usize,
    pub source: PageSource,
    pub page_context: PageContext,
    pub index: IndexId,
    pub layout: Layout,
    pub keys: KeyColumns,
    /// The keys that are wanted; `None`: all.
    pub wanted: Option<Arc<KeyRanges>>,
    /// The rows that are wanted of those; `None`: all.
    pub filter: Option<RowFilter>,
    pub newest_lsn: Option<Lsn>,
    /// The definition is the user's own: each leaf is held against it.
    pub is_definition_given: bool,
}

impl SpaceContext {
    /// What its pages are like once they are opened.
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
        let at_byte = file.size_bytes().max(start as u64);
        let error = unreadable(page_no, io::ReadError::EndOfFile { at_byte });
        return Err(error.in_file(file.path()));
    }
    Ok(LeafBytes::Head(Arc::clone(file), place))
}
