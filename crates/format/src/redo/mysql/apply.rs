//! Applying of records to the bytes of a page.
//!
//! Nothing of a record is believed: every offset is checked before it is used, so a record that does
//! not fit the page is an error, and no more.

use super::super::advance;
use super::compressed::{Input, Stop, whole};
use super::description::Descriptions;
use super::record::{Change, PageChange};
use super::zip::ZipPage;
use super::{index_page, list, physical, undo};
use crate::{Error, Lsn, PageNo, Result, SpaceId};

/// A page to which records are applied.
#[derive(Debug)]
pub struct PageChanges<'p> {
    page: &'p mut [u8],
    space: SpaceId,
    page_no: PageNo,
    zip: Option<&'p mut ZipPage>,
    descriptions: &'p mut Descriptions,
    /// A record that is being made.
    buffer: Vec<u8>,
}

impl<'p> PageChanges<'p> {
    /// Prepares the bytes of a page as they are in memory, or as the file stores them with ROW_FORMAT=COMPRESSED
    /// (`zip`).
    pub fn new(
        page: &'p mut [u8],
        space: SpaceId,
        page_no: PageNo,
        zip: Option<&'p mut ZipPage>,
        descriptions: &'p mut Descriptions,
    ) -> PageChanges<'p> {
        PageChanges { page, space, page_no, zip, descriptions, buffer: Vec::new() }
    }

    /// Applies the records of this page at the start of `bytes`, which begin at `lsn`, to the first one of
    /// another page, or to the end of their group.
    ///
    /// # Errors
    /// A record does not fit the page; the message names its type and the LSN. The page may have been
    /// changed.
    pub fn apply(&mut self, bytes: &[u8], lsn: Lsn) -> Result<()> {
        let mut input = Input::new(bytes);
        while !input.is_at_end() {
            let at = advance(lsn, input.at());
            let record = whole(input.record()).map_err(|error| self.locate(error, at))?;
            match record.change {
                Change::Page(change) if record.page == (self.space, self.page_no) => {
                    self.apply_change(&change)
                        .map_err(|error| self.locate(error.with_prefix(change.name()), at))?;
                }
                Change::Padding => continue,
                _ => break,
            }
            if record.is_single {
                break;
            }
        }
        Ok(())
    }

    fn locate(&self, error: Error, lsn: Lsn) -> Error {
        let prefix = format!("the redo log does not fit at LSN {lsn}");
        error.with_prefix(prefix).at_page(self.space, self.page_no)
    }

    fn apply_change(&mut self, change: &PageChange<'_>) -> Result<()> {
        let page = &mut *self.page;
        if let Some(zip) = &mut self.zip {
            let place = (self.space, self.page_no);
            return zip.apply(page, place, change, (self.descriptions, &mut self.buffer));
        }
        match *change {
            PageChange::Number { at, bytes, value } => {
                physical::write(page, at, physical::number(&value.to_be_bytes(), bytes))
            }
            PageChange::WriteString { at, data } => physical::write(page, at, data),
            PageChange::Init => physical::init(page, self.space, self.page_no),
            PageChange::IbufBitmapInit => physical::init_bitmap(page),
            PageChange::UndoInsert(data) => undo::append(page, data),
            PageChange::UndoEraseEnd => undo::erase_end(page),
            PageChange::UndoInit(kind) => undo::init(page, kind),
            PageChange::UndoReuse(trx_id) => undo::reuse_log(page, trx_id),
            PageChange::UndoCreate(trx_id) => undo::create_log(page, trx_id),
            PageChange::Create { kind, is_compact } => list::create(page, kind, is_compact),
            _ => index_page::change(page, change, self.descriptions, &mut self.buffer),
        }
    }
}

/// Returns the bytes of the records at the start of `bytes` that are of the same page and group;
/// `None` if they may continue behind the bytes.
pub fn run_bytes(bytes: &[u8]) -> Result<Option<usize>> {
    let mut input = Input::new(bytes);
    let mut page = None;
    loop {
        let before = input.at();
        match input.record() {
            Ok(record) if matches!(record.change, Change::Padding) => {}
            Ok(record) if !matches!(record.change, Change::Page(_)) => return Ok(Some(before)),
            Ok(record) if *page.get_or_insert(record.page) != record.page => {
                return Ok(Some(before));
            }
            Ok(record) if record.is_single => return Ok(Some(input.at())),
            Ok(_) => {}
            Err(Stop::Cut) => return Ok(None),
            Err(Stop::Lie(error)) => return Err(error),
        }
    }
}

/// Returns the bytes from a record, at the start of `bytes`, to the end of its group; `None` if that lies
/// behind the bytes.
pub fn group_bytes(bytes: &[u8]) -> Result<Option<usize>> {
    let mut input = Input::new(bytes);
    loop {
        match input.record() {
            Ok(record) if record.is_single || record.change == Change::GroupEnd => {
                return Ok(Some(input.at()));
            }
            Ok(_) => {}
            Err(Stop::Cut) => return Ok(None),
            Err(Stop::Lie(error)) => return Err(error),
        }
    }
}
