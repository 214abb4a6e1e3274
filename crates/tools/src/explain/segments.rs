//! Owners of the pages of a file, from the counts of its file segments.

use innoscan_engine::Result;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_format::PageNo;
use innoscan_format::page::{FileAddr, IndexPage, InodePage, Segment};

/// The pages of a file by owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// Pages of the clustered index: branch pages, leaves, and off-page columns, which are in the
    /// leaves' segment.
    pub clustered_pages: u64,
    /// Pages of other indexes.
    pub other_index_pages: u64,
    /// Unused pages reserved by segments.
    pub reserve_pages: u64,
}

impl Owners {
    pub(super) fn add(&mut self, other: Owners) {
        self.clustered_pages += other.clustered_pages;
        self.other_index_pages += other.other_index_pages;
        self.reserve_pages += other.reserve_pages;
    }
}

/// Reads a file's segments. `root`: that of the clustered index.
pub(super) fn owners(reader: &mut SpaceReader, root: PageNo) -> Result<Owners> {
    let space = reader.space().clone();
    let header = space.header();
    let clustered = segments_of(reader, root)?;
    let sdi = match header.sdi_root {
        Some(root) => segments_of(reader, root)?,
        None => Vec::new(),
    };
    let extent_pages = u64::from(space.page_size().extent_pages());
    let mut owners = Owners::default();
    for list in [&header.full_inodes, &header.free_inodes] {
        let mut next = list.first;
        // A list is followed no further than its own length, in case it is corrupt.
        for _ in 0..list.len {
            let Some(FileAddr { page_no, .. }) = next else { break };
            let (segments, node) = reader.with_page(page_no, |page| {
                let inodes = InodePage::parse(page)?;
                Ok((inodes.segments()?, inodes.list_node()?.1))
            })?;
            next = node.next;
            for segment in segments {
                let used = used_pages(&segment, extent_pages);
                let reserved = segment.reserved_pages(space.page_size());
                owners.reserve_pages += reserved.saturating_sub(used);
                if clustered.contains(&segment.addr) {
                    owners.clustered_pages += used;
                } else if !sdi.contains(&segment.addr) {
                    owners.other_index_pages += used;
                }
            }
        }
    }
    Ok(owners)
}

fn used_pages(segment: &Segment, extent_pages: u64) -> u64 {
    let in_full = u64::from(segment.full.len) * extent_pages;
    segment.fragments.len() as u64 + in_full + u64::from(segment.not_full_n_used)
}

/// The addresses of the descriptions of the segments of the tree with this root.
fn segments_of(reader: &mut SpaceReader, root: PageNo) -> Result<Vec<FileAddr>> {
    reader.with_page(root, |page| {
        let root = IndexPage::parse(page)?;
        Ok([root.leaf_segment()?, root.branch_segment()?].into_iter().flatten().collect())
    })
}
