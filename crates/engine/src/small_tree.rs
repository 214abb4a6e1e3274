//! Reading of a whole small B-tree, leaf by leaf and row by row: InnoDB's own tables, whose rows
//! have no off-page columns. Users' tables are read by [`scan`](crate::scan()).

use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located, Row};
use innoscan_format::page::IndexPage;
use innoscan_format::{Error as FormatError, PageNo, tree};

use crate::space_reader::SpaceReader;
use crate::{Error, Result};

/// Passes each row of the tree at `root` to `add`, in key order, without the deleted ones.
pub fn for_each_row(
    reader: &mut SpaceReader,
    layout: &Layout,
    root: PageNo,
    mut add: impl FnMut(&[Option<&[u8]>]) -> innoscan_format::Result<()>,
) -> Result<()> {
    let mut leaf = Some(edge_leaf(reader, layout, root, Edge::First)?);
    let mut fields = Fields::default();
    let mut leaves_left = reader.space().file_pages();
    while let Some(page_no) = leaf {
        leaves_left = leaves_left.checked_sub(1).ok_or_else(|| circle(reader))?;
        leaf = reader.with_page(page_no, |page| {
            let page = IndexPage::parse(page)?;
            for record in page.records() {
                let record = record?;
                if record.is_row() && !record.is_delete_marked() {
                    let row = layout.locate(&record, &mut fields)?;
                    let row: Vec<_> = (0..row.len())
                        .map(|place| inline(&row, place))
                        .collect::<innoscan_format::Result<_>>()?;
                    add(&row)?;
                }
            }
            Ok(page.next())
        })?;
    }
    Ok(())
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

fn inline<'d>(row: &Row<'_, 'd>, place: usize) -> innoscan_format::Result<Option<&'d [u8]>> {
    match row.get(place)? {
        Located::Null => Ok(None),
        Located::Inline(bytes) | Located::Default(bytes) => Ok(Some(bytes)),
        Located::External { .. } => {
            Err(FormatError::corrupt("a column of InnoDB's own table is said to be off its page"))
        }
    }
}
