//! The size of a clustered index in a tablespace that several tables share.

use innoscan_format::page::{IndexPage, InodePage};
use innoscan_io::Direct;

use crate::space_reader::SpaceReader;
use crate::{Result, TableFile};

/// The bytes that the segments of a table's clustered index reserve: rows, off-page columns, branch pages, and free pages
/// of their extents. The server shows the same as `DATA_LENGTH` after `ANALYZE TABLE` (`dict_stats_update_transient`,
/// `fseg_n_reserved_pages`).
///
/// # Errors
/// The root or the page of its segments cannot be read.
pub fn clustered_bytes(file: &TableFile) -> Result<u64> {
    let root = file.root_head()?.page_no;
    let space = file.open(Direct::Off)?;
    let page_size = space.page_size();
    let page_bytes = space.page_bytes() as u64;
    let mut reader = SpaceReader::new(space)?;
    let segments = reader.with_page(root, |page| {
        let root = IndexPage::parse(page)?;
        Ok([root.leaf_segment()?, root.branch_segment()?])
    })?;
    let mut pages = 0;
    for addr in segments.into_iter().flatten() {
        let segment = reader
            .with_page(addr.page_no, |page| InodePage::parse(page)?.segment_at(addr.offset))?;
        pages += segment.reserved_pages(page_size);
    }
    Ok(pages * page_bytes)
}
