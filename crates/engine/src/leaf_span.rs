//! A part of a clustered index: the leaves between two places of its tree.
//!
//! A place is named by the path of pages to it, from the root on. This needs no order of the keys,
//! which is not known for every type and collation; finding the place reads only the branch pages of
//! the path; and the path holds as long as nobody writes to the file. A path may end above the
//! leaves: it then stands for all of the subtree below its last page.

use std::collections::HashSet;

use innoscan_format::layout::Layout;
use innoscan_format::page::IndexPage;
use innoscan_format::{Error as FormatError, PageNo, tree};

use crate::{Error, Result};

/// The leaves between two places, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafSpan {
    /// The path to the first subtree; empty where the span begins with the tree.
    pub from: Vec<PageNo>,
    /// The path to the last subtree; empty where the span ends with the tree.
    pub to: Vec<PageNo>,
}

impl LeafSpan {
    /// Whether leaves come before the span.
    pub fn has_start(&self) -> bool {
        !self.from.is_empty()
    }

    /// Whether leaves come after the span.
    pub fn has_end(&self) -> bool {
        !self.to.is_empty()
    }

    /// Requires that both paths begin at a tree's root.
    pub fn require_root(&self, root: PageNo) -> Result<()> {
        let is_elsewhere = |path: &[PageNo]| path.first().is_some_and(|first| *first != root);
        if is_elsewhere(&self.from) || is_elsewhere(&self.to) {
            let why = format!("the split begins at another root than page {root}");
            return Err(Error::refused(why, "make the splits again"));
        }
        Ok(())
    }

    /// Removes the children of a branch page that lie outside the span.
    ///
    /// # Errors
    /// The page lies on a path whose next page is none of its children.
    pub fn narrow(
        &self,
        page: &IndexPage<'_>,
        layout: &Layout,
        children: &mut Vec<PageNo>,
    ) -> innoscan_format::Result<()> {
        let (from, to) = (next_on(&self.from, page.page_no()), next_on(&self.to, page.page_no()));
        if from.is_none() && to.is_none() {
            return Ok(());
        }
        let mut all = Vec::new();
        tree::children(page, layout, &mut all)?;
        let place = |child: PageNo| {
            all.iter().position(|found| *found == child).ok_or_else(|| {
                let what = format!("page {child}, which the split names, is not a child of it");
                page.page().locate_error(FormatError::corrupt(what))
            })
        };
        let first = from.map_or(Ok(0), place)?;
        let end = to.map_or(Ok(all.len()), |child| place(child).map(|last| last + 1))?;
        let inside: HashSet<PageNo> =
            all.get(first..end).unwrap_or_default().iter().copied().collect();
        children.retain(|child| inside.contains(child));
        Ok(())
    }
}

/// The page after another on a path.
fn next_on(path: &[PageNo], page: PageNo) -> Option<PageNo> {
    let at = path.iter().position(|found| *found == page)?;
    path.get(at + 1).copied()
}
