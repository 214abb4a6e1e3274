//! Serialized dictionary information (SDI): the definitions that MySQL 8 stores in each tablespace.
//!
//! SDI is a B-tree in DYNAMIC form, whose root is stored on page 0
//! ([`crate::page::SpaceHeader::sdi_root`]):
//!
//! ```text
//! key   4 type: 1 table, 2 tablespace   8 object id
//! then  6 DB_TRX_ID   7 DB_ROLL_PTR   4 length   4 compressed length   zlib's bytes, maybe off-page
//! ```
//!
//! `dict0sdi.cc`, `ibd2sdi.cc`, MySQL 9.7.

use super::{LobReader, Need};
use crate::inflate::inflate;
use crate::layout::Layout;
use crate::locate::{Fields, Located};
use crate::page::{IndexPage, Page, PageFormat, PageKind};
use crate::tree::children;
use crate::undo::Unfinished;
use crate::{Error, IndexId, PageNo, Result, bytes};

/// A dictionary object and its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdiObject {
    /// Type of the object, 1: a table; 2: a tablespace.
    pub kind: u32,
    /// Id of the object in the dictionary.
    pub id: u64,
    /// The definition as JSON text.
    pub json: Vec<u8>,
}

impl AsRef<[u8]> for SdiObject {
    /// Returns the definition.
    fn as_ref(&self) -> &[u8] {
        &self.json
    }
}

impl SdiObject {
    /// Returns whether the object is a table.
    pub fn is_table(&self) -> bool {
        self.kind == 1
    }
}

/// A reader of all definitions of a tablespace: a state machine that asks for pages.
#[derive(Debug)]
pub struct SdiReader<'u> {
    format: PageFormat,
    unfinished: Option<&'u Unfinished>,
    has_unfinished: bool,
    layout: Layout,
    /// Pages of the current level, from the left; those before `fed` were passed.
    level_pages: Vec<PageNo>,
    fed: usize,
    next_level: Vec<PageNo>,
    /// Index id and level that the pages of the level must have; `None` for the root.
    expect: Option<(IndexId, u16)>,
    /// Definitions whose bytes are off-page.
    lobs: Vec<(SdiObject, u32, LobReader)>,
    objects: Vec<SdiObject>,
}

impl<'u> SdiReader<'u> {
    /// Creates a reader that starts at the root.
    pub fn new(format: PageFormat, root: PageNo) -> Result<SdiReader<'u>> {
        format.require_inside(root, "page 0's SDI root")?;
        Ok(SdiReader {
            format,
            unfinished: None,
            has_unfinished: false,
            layout: Layout::internal(&[4, 8, 6, 7, 4, 4], 2, 1),
            level_pages: vec![root],
            fed: 0,
            next_level: Vec::new(),
            expect: None,
            lobs: Vec::new(),
            objects: Vec::new(),
        })
    }

    /// Notes definitions that one of these transactions wrote or deleted: an `ALTER TABLE` was under way.
    #[must_use]
    pub fn noting(self, unfinished: &'u Unfinished) -> SdiReader<'u> {
        SdiReader { unfinished: Some(unfinished), ..self }
    }

    /// Whether one of the noted transactions wrote or deleted a definition.
    pub fn has_unfinished(&self) -> bool {
        self.has_unfinished
    }

    /// Returns the next needed pages.
    pub fn need(&self) -> Need<'_> {
        match (self.level_pages.get(self.fed..), self.lobs.first()) {
            (Some(pages), _) if !pages.is_empty() => Need::Pages(pages),
            (_, Some((_, _, reader))) => reader.need(),
            _ => Need::Done,
        }
    }

    /// Passes the first needed page to the reader.
    pub fn feed(&mut self, page: Page<'_>) -> Result<()> {
        let page_no = page.page_no();
        if let Some(expected) = self.level_pages.get(self.fed) {
            if *expected != page_no {
                return Err(Error::corrupt(format!("page {page_no} was not requested")));
            }
            self.fed += 1;
            self.take_index_page(page)?;
            if self.fed == self.level_pages.len() {
                self.level_pages = std::mem::take(&mut self.next_level);
                self.fed = 0;
                self.expect = self.expect.map(|(index, level)| (index, level.saturating_sub(1)));
            }
            return Ok(());
        }
        let Some((object, len, reader)) = self.lobs.first_mut() else {
            return Err(Error::corrupt(format!("page {page_no} was not requested")));
        };
        reader.feed(page, &mut object.json)?;
        if reader.need() == Need::Done {
            object.json = inflated(&object.json, *len)?;
            let (object, _, _) = self.lobs.remove(0);
            self.objects.push(object);
        }
        Ok(())
    }

    /// Returns the definitions; those that were off-page come last.
    pub fn finish(self) -> Vec<SdiObject> {
        self.objects
    }

    fn take_index_page(&mut self, page: Page<'_>) -> Result<()> {
        if page.kind() != PageKind::Sdi {
            return Err(page.corrupt(format!("a page of kind {} in the SDI tree", page.kind())));
        }
        let page = IndexPage::parse(page)?;
        let (index, level) = *self.expect.get_or_insert((page.index_id(), page.level()));
        page.require(index, level)?;
        if !page.is_leaf() {
            children(&page, &self.layout, &mut self.next_level)?;
            if self.next_level.len() > self.format.size_pages as usize {
                return Err(page.page().corrupt("the SDI tree has more pages than its file"));
            }
            return Ok(());
        }
        self.take_leaf(&page).map_err(|error| page.page().locate_error(error))
    }

    fn take_leaf(&mut self, page: &IndexPage<'_>) -> Result<()> {
        let mut fields = Fields::default();
        for record in page.records() {
            let record = record?;
            if let Some(unfinished) = self.unfinished
                && unfinished.contains(self.layout.system_columns(&record)?.trx_id)
            {
                self.has_unfinished = true;
            }
            if !record.is_row() {
                continue;
            }
            let row = self.layout.locate(&record, &mut fields)?;
            let fixed = |place: usize| match row.get(place)? {
                Located::Inline(bytes) => Ok(bytes),
                _ => Err(Error::corrupt("an SDI record without its fixed fields")),
            };
            let mut object = SdiObject {
                kind: bytes::u32_at(fixed(0)?, 0)?,
                id: bytes::u64_at(fixed(1)?, 0)?,
                json: Vec::new(),
            };
            let len = bytes::u32_at(fixed(4)?, 0)?;
            match row.get(6)? {
                Located::Inline(compressed) => {
                    object.json = inflated(compressed, len)?;
                    self.objects.push(object);
                }
                Located::External { prefix, lob } => {
                    object.json = prefix.to_vec();
                    let reader = LobReader::new(self.format, lob)?;
                    self.lobs.push((object, len, reader));
                }
                _ => return Err(Error::corrupt("an SDI record without its definition")),
            }
        }
        Ok(())
    }
}

fn inflated(compressed: &[u8], len: u32) -> Result<Vec<u8>> {
    let mut json = Vec::new();
    inflate(compressed, len as usize, &mut json).map_err(|error| error.with_prefix("SDI"))?;
    Ok(json)
}
