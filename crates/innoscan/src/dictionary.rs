//! Reads InnoDB's own dictionary out of the system tablespace: MySQL 5.x's and MariaDB's only
//! record of foreign keys and index roots.
//!
//! The trees are small and read leaf by leaf; the meaning of their rows is
//! [`innoscan_format::schema::dictionary`]'s.

use std::path::Path;

use innoscan_format::PageNo;
use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located, Row};
use innoscan_format::page::IndexPage;
use innoscan_format::schema::RowFormat;
use innoscan_format::schema::dictionary::{
    self as format, Dictionary, DictionaryHeader, SystemTable,
};
use innoscan_format::{Error as FormatError, tree};
use innoscan_io::Direct;

use crate::space::{Space, SpaceReader};
use crate::{Error, Result};

/// Reads the dictionary of `system`, the system tablespace.
pub fn read(system: &Path) -> Result<Dictionary> {
    let mut trees = Trees {
        reader: SpaceReader::new(Space::open(system, Direct::Off)?)?,
        dictionary: Dictionary::new(),
    };
    let header =
        trees.reader.with_page(format::HEADER_PAGE, |page| DictionaryHeader::parse(&page))?;
    trees.read(SystemTable::Tables, header.tables)?;
    trees.read(SystemTable::Indexes, header.indexes)?;
    let late = [
        (SystemTable::Foreign, format::SYS_FOREIGN),
        (SystemTable::ForeignCols, format::SYS_FOREIGN_COLS),
    ];
    for (table, name) in late {
        // A server without foreign keys may never have made them.
        let known = trees.dictionary.table(name);
        let root = known.and_then(|table| table.clustered().and_then(|index| index.root));
        if let Some(root) = root {
            trees.read(table, root)?;
        }
    }
    Ok(trees.dictionary)
}

struct Trees {
    reader: SpaceReader,
    dictionary: Dictionary,
}

impl Trees {
    /// Adds the rows of a system table, leaf after leaf.
    fn read(&mut self, table: SystemTable, root: PageNo) -> Result<()> {
        let path = self.reader.space().file().path().to_owned();
        let layout = Layout::compile(&table.def(), RowFormat::Redundant, None)
            .map_err(|error| Error::from(error).in_file(&path))?;
        let mut leaf = Some(self.leftmost_leaf(root, &layout)?);
        let mut fields = Fields::default();
        let mut leaves_left = self.reader.space().file_pages();
        while let Some(page_no) = leaf {
            leaves_left = leaves_left.checked_sub(1).ok_or_else(|| {
                Error::from(FormatError::corrupt("the dictionary's leaves link in a circle"))
                    .in_file(&path)
            })?;
            let dictionary = &mut self.dictionary;
            leaf = self.reader.with_page(page_no, |page| {
                let page = IndexPage::parse(page)?;
                for record in page.records() {
                    let record = record?;
                    if record.is_row() && !record.is_delete_marked() {
                        let row = layout.locate(&record, &mut fields)?;
                        let row: Vec<_> = (0..row.len())
                            .map(|place| inline(&row, place))
                            .collect::<innoscan_format::Result<_>>()?;
                        dictionary.add(table, &row)?;
                    }
                }
                Ok(page.next())
            })?;
        }
        Ok(())
    }

    fn leftmost_leaf(&mut self, root: PageNo, layout: &Layout) -> Result<PageNo> {
        let mut page_no = root;
        let mut above: Option<u16> = None;
        let mut children = Vec::new();
        loop {
            children.clear();
            let level = self.reader.with_page(page_no, |page| {
                let page = IndexPage::parse(page)?;
                if above.is_some_and(|above| page.level() + 1 != above) {
                    return Err(FormatError::corrupt("a child is not one level below its parent"));
                }
                if !page.is_leaf() {
                    tree::children(&page, layout, &mut children)?;
                }
                Ok(page.level())
            })?;
            match children.first() {
                None => return Ok(page_no),
                Some(first) => page_no = *first,
            }
            above = Some(level);
        }
    }
}

/// A column of the dictionary; none is long enough to be off the page.
fn inline<'d>(row: &Row<'_, 'd>, place: usize) -> innoscan_format::Result<Option<&'d [u8]>> {
    match row.get(place)? {
        Located::Null => Ok(None),
        Located::Inline(bytes) | Located::Default(bytes) => Ok(Some(bytes)),
        Located::External { .. } => {
            Err(FormatError::corrupt("a column of the dictionary is said to be off its page"))
        }
    }
}
