//! Changes of an index page as it is in memory.

use super::description::Descriptions;
use super::entry::IndexRedo;
use super::physical;
use super::record::PageChange;
use crate::{Error, Result};

/// Changes an index page in memory.
pub(super) fn change(
    page: &mut [u8],
    change: &PageChange<'_>,
    descriptions: &mut Descriptions,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    match *change {
        PageChange::DeleteMarkSecondary { value, at } => {
            physical::delete_mark(page, at, value, None)
        }
        PageChange::MinRecMark { at, is_compact } => physical::min_rec_mark(page, at, is_compact),
        PageChange::DeleteMark { index, system, value, at } => {
            let description = descriptions.get(index)?;
            physical::delete_mark(page, at, value, Some(description.is_compact))?;
            physical::system_fields(page, description, at, &system)
        }
        PageChange::UpdateInPlace { index, system, at, info_bits, updates } => {
            let description = descriptions.get(index)?;
            physical::system_fields(page, description, at, &system)?;
            physical::update(page, description, at, info_bits, updates)
        }
        PageChange::Insert { index, before, entry } => {
            let mut page = IndexRedo::new(page, descriptions.get(index)?, buffer)?;
            page.insert(before.into(), &entry).map(drop)
        }
        PageChange::Delete { index, at } => {
            IndexRedo::new(page, descriptions.get(index)?, buffer)?.delete(at.into())
        }
        PageChange::DeleteListEnd { index, at } => {
            IndexRedo::new(page, descriptions.get(index)?, buffer)?.delete_list_end(at.into())
        }
        PageChange::DeleteListStart { index, at } => {
            let mut page = IndexRedo::new(page, descriptions.get(index)?, buffer)?;
            page.delete_list_start(at.into(), |_| {})
        }
        PageChange::CopyList { index, entries } => {
            IndexRedo::new(page, descriptions.get(index)?, buffer)?.copy_list(entries)
        }
        PageChange::Reorganize { index } => {
            IndexRedo::new(page, descriptions.get(index)?, buffer)?.reorganize()
        }
        _ => Err(Error::corrupt("the page is not with ROW_FORMAT=COMPRESSED")),
    }
}
