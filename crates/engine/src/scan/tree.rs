//! The start of a tablespace's scan: its root, the metadata of instant `ALTER TABLE`, and the state
//! derived from both.

use std::sync::Arc;

use innoscan_format::PageNo;

use super::key_columns::KeyColumns;
use super::task::{LeafBytes, PageSource, SpaceContext};
use super::{RowOrder, ScanOptions};
use crate::clustered_index::ClusteredIndex;
use crate::condition::RowFilter;
use crate::key_ranges::KeyRanges;
use crate::space::Space;
use crate::undo_logs::Versions;
use crate::walk::Walk;
use crate::{Error, Result, Table};

/// A clustered index that is ready to be walked.
pub(super) struct Tree {
    pub context: SpaceContext,
    pub walk: Walk,
    /// The root, where it is a branch page, which is not needed again.
    pub root: Option<PageNo>,
}

impl Tree {
    /// Opens the tree of a table's tablespace with this index and these pages; `None` when a page is not available
    /// because the scan was stopped, and where all rows are of an unfinished transaction that found the table empty.
    pub fn open(
        table: &Table,
        options: &ScanOptions,
        space: &Space,
        (number, source): (usize, PageSource),
        fetch: impl FnMut(PageNo) -> Result<Option<LeafBytes>>,
    ) -> Result<Option<Tree>> {
        let file = &table.files[number];
        let root_no = file.clustered_root.unwrap_or(space.first_root());
        let def = table.def_of(file);
        let undo_logs = table.undo_logs.as_ref();
        let unfinished = undo_logs.map(|logs| logs.unfinished());
        let opened = ClusteredIndex::open(space, &def, root_no, unfinished, fetch)?;
        let Some(index) = opened else { return Ok(None) };
        if undo_logs.is_some_and(|logs| logs.was_empty(index.id)) {
            return Ok(None);
        }
        let root = index.root_page()?;
        let (filter, keys) = match &options.rows.condition {
            None => (None, None),
            Some(condition) => {
                let filter = RowFilter::new(condition, &def)?;
                (filter, KeyRanges::new(condition, &def, &index.layout)?.map(Arc::new))
            }
        };
        let after = options.rows.after.filter(|after| after.file == number);
        let (after, span) = (after.map(|after| after.page), file.span.clone());
        let walk = Walk::new(&root, &index.layout, keys.clone(), after, span)?;
        let branch = (!root.is_leaf()).then_some(root_no);
        let versions = undo_logs.map(|logs| Versions::new(Arc::clone(logs), &index.layout));
        let context = SpaceContext {
            path: space.file().path().to_owned(),
            number,
            source,
            page_context: space.page_context().clone(),
            index: index.id,
            keys: match options.rows.order {
                RowOrder::Key => KeyColumns::of(&def, &index.layout),
                RowOrder::Any => KeyColumns::none(),
            },
            layout: index.layout,
            wanted: keys,
            filter,
            newest_lsn: table.newest_lsn,
            versions: versions.transpose()?,
            is_definition_given: table.is_definition_given,
        };
        Ok(Some(Tree { context, walk, root: branch }))
    }
}

/// Requires that a finished walk has found the leaf after which it should start.
pub(super) fn require_met(walk: &Walk) -> Result<()> {
    match walk.looks_for() {
        None => Ok(()),
        Some(leaf) => Err(Error::refused(
            format!("page {leaf}, after which the scan should resume, is not a leaf of the table"),
            "the file has changed since: read it from its beginning",
        )),
    }
}
