//! The change buffer: a B-tree in the system tablespace that names no segments in its root, and has a list of free pages
//! which keep the type and the links of pages of the tree (`ibuf0ibuf.cc`, MySQL 8.0).

use std::collections::HashMap;

use innoscan_format::page::{FileAddr, IndexPage, ListBase, ListNode, Page, PageKind, system};
use innoscan_format::{IndexId, PageNo, Result};

use super::report::{Area, Report};

/// The pages of the change buffer.
#[derive(Default)]
pub(super) struct ChangeBuffer {
    /// The segment of all pages.
    pub segment: Option<FileAddr>,
    free: Option<ListBase>,
    nodes: HashMap<PageNo, Node>,
}

/// A page of the tree or of the list, and its place in the list if it has one.
struct Node {
    next: Option<FileAddr>,
    records: u64,
}

impl ChangeBuffer {
    /// Adds the page that names the segment.
    pub fn add_header(&mut self, page: &Page<'_>) -> Result<()> {
        self.segment = system::change_buffer_segment(page)?;
        Ok(())
    }

    /// Adds a page of the tree, with its number of records.
    pub fn add_index(&mut self, index: &IndexPage<'_>, records: u64) -> Result<()> {
        if index.index_id() != IndexId::CHANGE_BUFFER {
            return Ok(());
        }
        if index.page_no() == system::IBUF_TREE_ROOT_PAGE {
            self.free = Some(ListBase::read(index.page().bytes(), system::IBUF_FREE_LIST_AT)?);
            return Ok(());
        }
        self.add(&index.page(), records)
    }

    /// Adds a page that never was in the tree.
    pub fn add_unused(&mut self, page: &Page<'_>) -> Result<()> {
        match page.kind() == PageKind::IbufFreeList {
            true => self.add(page, 0),
            false => Ok(()),
        }
    }

    fn add(&mut self, page: &Page<'_>, records: u64) -> Result<()> {
        let node = ListNode::read(page.bytes(), system::IBUF_FREE_LIST_AT)?;
        self.nodes.insert(page.page_no(), Node { next: node.next, records });
        Ok(())
    }

    /// The pages of the list of free pages, with the records that they had.
    pub fn free_pages(&self, report: &mut Report) -> Vec<(PageNo, u64)> {
        let Some(base) = self.free else { return Vec::new() };
        let mut pages = Vec::new();
        let mut at = base.first;
        while let Some(addr) = at {
            let node = self.nodes.get(&addr.page_no);
            let Some(node) = node.filter(|_| pages.len() < base.len as usize) else { break };
            pages.push((addr.page_no, node.records));
            at = node.next;
        }
        if pages.len() != base.len as usize || at.is_some() {
            let what = format!(
                "the list of free pages of the change buffer has {} pages, not {}",
                pages.len(),
                base.len
            );
            report.add(Area::Links, Some(system::IBUF_TREE_ROOT_PAGE), what);
        }
        pages
    }
}
