//! Opening of a clustered index: its root, the metadata of instant `ALTER TABLE`, and the layout of
//! records, which follows from both.

use std::ops::Deref;

use innoscan_format::layout::Layout;
use innoscan_format::page::{self, IndexPage, OwnedPage, Scratch};
use innoscan_format::read::{MetadataReader, Need};
use innoscan_format::schema::TableDef;
use innoscan_format::undo::Unfinished;
use innoscan_format::{IndexId, PageNo};

use crate::Result;
use crate::space::Space;

/// A clustered index whose records can be parsed.
pub struct ClusteredIndex {
    /// The number of the index.
    pub id: IndexId,
    /// The root page.
    pub root: OwnedPage,
    /// The layout of the records' fields.
    pub layout: Layout,
}

impl ClusteredIndex {
    /// Opens the index of `def` whose root is `root_no`. `fetch` returns the bytes of a page as the file
    /// stores them, or `None` to give up, which this function then returns too. `unfinished`: the directory's
    /// unfinished transactions, if there are any.
    ///
    /// # Errors
    /// The error of `fetch`; damage; a definition that does not belong to the file.
    pub fn open<B: Deref<Target = [u8]>>(
        space: &Space,
        def: &TableDef,
        root_no: PageNo,
        unfinished: Option<&Unfinished>,
        mut fetch: impl FnMut(PageNo) -> Result<Option<B>>,
    ) -> Result<Option<ClusteredIndex>> {
        let context = space.page_context();
        let mut scratch = Scratch::default();
        let Some(bytes) = fetch(root_no)? else { return Ok(None) };
        let root = page::open(&bytes, context, root_no, &mut scratch)?.to_owned();
        drop(bytes);
        let index = IndexPage::parse(root.as_page())?;
        let row_format = space.header().flags.row_format(index.is_compact());
        let mut metadata =
            MetadataReader::new(def, row_format, context.format(), root_no).without(unfinished);
        metadata.feed(root.as_page())?;
        while let Need::Pages(&[page_no, ..]) = metadata.need() {
            let Some(bytes) = fetch(page_no)? else { return Ok(None) };
            metadata.feed(page::open(&bytes, context, page_no, &mut scratch)?)?;
        }
        let layout = Layout::compile(def, row_format, metadata.finish().as_ref())?;
        Ok(Some(ClusteredIndex { id: index.index_id(), layout, root }))
    }

    /// The root as a page of the index.
    ///
    /// # Errors
    /// None in practice: the page was verified when the index was opened.
    pub fn root_page(&self) -> innoscan_format::Result<IndexPage<'_>> {
        IndexPage::parse(self.root.as_page())
    }
}
