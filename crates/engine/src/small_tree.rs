//! Reading of a whole small B-tree, leaf by leaf and row by row: InnoDB's own tables, whose rows
//! have no off-page columns. Users' tables are read by [`scan`](crate::scan()).

use std::sync::Arc;

use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located, Row};
use innoscan_format::page::{self, IndexPage, Scratch};
use innoscan_format::record::Record;
use innoscan_format::undo::{SystemColumns, Version};
use innoscan_format::{Error as FormatError, PageNo, tree};

use crate::space_reader::SpaceReader;
use crate::undo_logs::{UndoLogs, UndoReader, Versions};
use crate::{Error, Result};

/// A row of a tree.
#[derive(Clone, Copy, Debug)]
pub struct TreeRow<'r> {
    /// The columns, as stored.
    pub columns: &'r [Option<&'r [u8]>],
    /// The transaction that wrote it, or deleted it.
    pub trx_id: u64,
    /// Whether it is deleted, and not purged yet.
    pub is_deleted: bool,
}

/// Passes each row of the tree at `root` to `add`, in key order, without the deleted ones. `undo_logs`: those of
/// the directory's unfinished transactions, whose changes are taken back.
pub fn for_each_row(
    reader: &mut SpaceReader,
    layout: &Layout,
    root: PageNo,
    undo_logs: Option<&Arc<UndoLogs>>,
    mut add: impl FnMut(&[Option<&[u8]>]) -> innoscan_format::Result<()>,
) -> Result<()> {
    for_each_row_or_deleted(reader, layout, root, undo_logs, |row| match row.is_deleted {
        true => Ok(()),
        false => add(row.columns),
    })
}

/// Passes each row of the tree at `root` to `add`, like [`for_each_row`], also those that were deleted.
pub fn for_each_row_or_deleted(
    reader: &mut SpaceReader,
    layout: &Layout,
    root: PageNo,
    undo_logs: Option<&Arc<UndoLogs>>,
    mut add: impl FnMut(TreeRow<'_>) -> innoscan_format::Result<()>,
) -> Result<()> {
    let mut leaf = Some(edge_leaf(reader, layout, root, Edge::First)?);
    let mut before = match undo_logs {
        Some(logs) => Some(Before::new(logs, layout)?),
        None => None,
    };
    let mut scratch = Scratch::default();
    let mut leaves_left = reader.space().file_pages();
    while let Some(page_no) = leaf {
        leaves_left = leaves_left.checked_sub(1).ok_or_else(|| circle(reader))?;
        let bytes = reader.read_page(page_no)?;
        let context = reader.space().page_context();
        leaf = page::open(&bytes, context, page_no, &mut scratch)
            .map_err(Error::from)
            .and_then(|page| add_leaf(&IndexPage::parse(page)?, layout, before.as_mut(), &mut add))
            .map_err(|error| error.in_file(reader.space().file().path()))?;
    }
    Ok(())
}

/// Passes each row of a leaf to `add`; returns the next leaf.
fn add_leaf(
    page: &IndexPage<'_>,
    layout: &Layout,
    mut before: Option<&mut Before>,
    add: &mut impl FnMut(TreeRow<'_>) -> innoscan_format::Result<()>,
) -> Result<Option<PageNo>> {
    let mut fields = Fields::default();
    for record in page.records() {
        let record = record?;
        if record.is_metadata() {
            continue;
        }
        let system = layout.system_columns(&record)?;
        match before.as_mut().filter(|before| before.versions.is_unfinished(&system)) {
            Some(before) => {
                if let Some(version) = before.row(&record, system)? {
                    let columns = &inline_columns(&version.row(layout))?;
                    add(TreeRow { columns, trx_id: version.trx_id(), is_deleted: false })?;
                }
            }
            None => {
                let columns = &inline_columns(&layout.locate(&record, &mut fields)?)?;
                let is_deleted = !record.is_row();
                add(TreeRow { columns, trx_id: system.trx_id, is_deleted })?;
            }
        }
    }
    Ok(page.next())
}

/// A tree's rows before unfinished transactions.
struct Before {
    versions: Versions,
    pages: UndoReader,
}

impl Before {
    fn new(logs: &Arc<UndoLogs>, layout: &Layout) -> Result<Before> {
        let versions = Versions::new(Arc::clone(logs), layout)?;
        Ok(Before { versions, pages: UndoReader::new(Arc::clone(logs)) })
    }

    fn row(&mut self, record: &Record<'_>, system: SystemColumns) -> Result<Option<Version>> {
        let pages = &mut self.pages;
        self.versions.before(record, system, |wanted, reader| {
            pages.with_page(wanted, |page| reader.feed(page))
        })
    }
}

/// An end of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The end with the least keys.
    First,
    /// The end with the greatest keys.
    Last,
}

/// The leaf at an end of the tree.
pub fn edge_leaf(
    reader: &mut SpaceReader,
    layout: &Layout,
    root: PageNo,
    edge: Edge,
) -> Result<PageNo> {
    let mut page_no = root;
    let mut above: Option<u16> = None;
    let mut children = Vec::new();
    loop {
        children.clear();
        let level = reader.with_page(page_no, |page| {
            let page = IndexPage::parse(page)?;
            if above.is_some_and(|above| page.level().checked_add(1) != Some(above)) {
                return Err(FormatError::corrupt("a child is not one level below its parent"));
            }
            if !page.is_leaf() {
                tree::children(&page, layout, &mut children)?;
            }
            Ok(page.level())
        })?;
        let child = match edge {
            Edge::First => children.first(),
            Edge::Last => children.last(),
        };
        match child {
            None => return Ok(page_no),
            Some(child) => page_no = *child,
        }
        above = Some(level);
    }
}

/// The error for leaves whose links form a cycle.
pub fn circle(reader: &SpaceReader) -> Error {
    let error = FormatError::corrupt("the leaves link in a circle");
    Error::from(error).in_file(reader.space().file().path())
}

fn inline_columns<'d>(row: &Row<'_, 'd>) -> innoscan_format::Result<Vec<Option<&'d [u8]>>> {
    (0..row.len()).map(|place| inline(row, place)).collect()
}

fn inline<'d>(row: &Row<'_, 'd>, place: usize) -> innoscan_format::Result<Option<&'d [u8]>> {
    match row.get(place)? {
        Located::Null => Ok(None),
        Located::Inline(bytes) | Located::Default(bytes) => Ok(Some(bytes)),
        Located::External { .. } => {
            Err(FormatError::corrupt("a column of InnoDB's own table is said to be off its page"))
        }
    }
}
