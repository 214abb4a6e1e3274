//! Navigation from a branch page to its children.
//!
//! The records of a branch page are node pointers: the key's fields, then the child's page number,
//! 4 bytes. Damage here would send a scan to wrong pages or into a cycle, so a pointer to the page
//! itself, a null pointer and one past the end of the file are refused at once. The caller checks
//! with [`IndexPage::require`] that the level decreases by one from page to child, which makes
//! cycles impossible.

use crate::layout::Layout;
use crate::locate::Ends;
use crate::page::IndexPage;
use crate::record::Record;
use crate::{Error, PageNo, Result, bytes};

/// Appends a branch page's children to `out`, in key order.
pub fn children(page: &IndexPage<'_>, layout: &Layout, out: &mut Vec<PageNo>) -> Result<()> {
    let at_page = |error: Error| page.page().locate_error(error);
    if page.is_leaf() {
        return Err(at_page(Error::corrupt("a leaf where a branch page should be")));
    }
    if page.is_compact() != layout.is_compact() {
        return Err(at_page(Error::corrupt("the page has another row format than the table")));
    }
    if page.n_recs() == 0 {
        return Err(at_page(Error::corrupt("a branch page without children")));
    }
    out.reserve(page.n_recs() as usize);
    for (place, record) in page.records().enumerate() {
        let record = record?;
        let pointer = node_pointer(page, layout, &record, place)
            .map_err(|error| at_page(record.locate_error(error)))?;
        out.push(pointer.child);
    }
    Ok(())
}

/// A node pointer: the least key of a child, and the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodePointer<'a> {
    /// The key's fields, concatenated.
    pub key: &'a [u8],
    /// Page number of the child.
    pub child: PageNo,
}

/// Reads the node pointer in a branch page's record; `place` is the record's index on the page.
pub fn node_pointer<'a>(
    page: &IndexPage<'_>,
    layout: &Layout,
    record: &Record<'a>,
    place: usize,
) -> Result<NodePointer<'a>> {
    // Only the leftmost node pointer of a level is marked as less than any key.
    if record.is_min_rec() && (place > 0 || page.prev().is_some()) {
        return Err(Error::corrupt("a node pointer is marked as its level's first, but is not"));
    }
    let key_len = match layout.key_len {
        Some(key_len) if layout.compact => key_len,
        _ => layout.node_key_len(record)?,
    };
    let at = record.origin() + key_len;
    if at + 4 > record.limit() {
        return Err(Error::corrupt("a node pointer reaches past the heap"));
    }
    let child = PageNo(bytes::u32_at(record.page(), at)?);
    if child == page.page_no() {
        return Err(Error::corrupt("the page has itself for a child"));
    }
    page.page().format().require_inside(child, "a node pointer")?;
    Ok(NodePointer { key: bytes::slice(record.page(), record.origin(), key_len)?, child })
}

/// Returns the fields of a node pointer's key, in the order of [`Layout::key_parts`].
///
/// # Errors
/// When the record is no node pointer of this index.
pub fn key_fields<'a>(record: &Record<'a>, layout: &Layout) -> Result<Vec<&'a [u8]>> {
    let mut fields = Vec::new();
    layout.for_each_key_field(record, |start, len| {
        fields.push(bytes::slice(record.page(), record.origin() + start, len)?);
        Ok(())
    })?;
    Ok(fields)
}

impl Layout {
    /// Returns the bytes of a node pointer's key, for keys of variable length.
    fn node_key_len(&self, record: &Record<'_>) -> Result<usize> {
        let mut key_len = 0;
        self.for_each_key_field(record, |start, len| {
            key_len = start + len;
            Ok(())
        })?;
        Ok(key_len)
    }

    /// Calls back with the begin (relative to the origin) and the bytes of each field of a node
    /// pointer's key.
    pub(crate) fn for_each_key_field(
        &self,
        record: &Record<'_>,
        mut found: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        if !self.compact {
            return self.for_each_redundant_key_field(record, found);
        }
        // The null bitmap is that of core rows, though keys are never NULL.
        let mut at = record.origin().wrapping_sub(6).wrapping_sub(self.core_null_bytes);
        let mut start = 0;
        for field in self.fields.iter().take(self.key_fields) {
            let mut len = usize::from(field.fixed_len);
            if field.variable {
                let first = bytes::u8_at(record.page(), at)?;
                at = at.wrapping_sub(1);
                len = usize::from(first);
                if field.big && first & 0x80 != 0 {
                    let second = bytes::u8_at(record.page(), at)?;
                    at = at.wrapping_sub(1);
                    len = usize::from(first & 0x3F) << 8 | usize::from(second);
                }
            }
            found(start, len)?;
            start += len;
        }
        Ok(())
    }

    fn for_each_redundant_key_field(
        &self,
        record: &Record<'_>,
        mut found: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        let ends = Ends::from_record(record)?;
        if ends.n_fields != self.key_fields + 1 {
            return Err(Error::corrupt(format!(
                "a node pointer of {} fields, where the key has {}",
                ends.n_fields, self.key_fields
            )));
        }
        let mut start = 0;
        for nth in 0..self.key_fields {
            let end = ends.end(nth)?;
            let len = end
                .checked_sub(start)
                .ok_or_else(|| Error::corrupt("a field of a node pointer ends before it begins"))?;
            found(start, len)?;
            start = end;
        }
        Ok(())
    }
}
