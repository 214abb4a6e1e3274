//! Changes of a page with ROW_FORMAT=COMPRESSED, which the server makes in memory and in the compressed form
//! (`page_cur_insert_rec_zip`, `page0cur.cc`; `page_delete_rec_list_end`, `page0page.cc`; `page0zip.cc`, MySQL 9.7).

use super::description::{Description, Descriptions};
use super::entry::IndexRedo;
use super::record::{Entry, PageChange, ZipChange, ZipImage};
use super::{index_page, physical};
use crate::bytes::{fill, put, u16_at};
use crate::page::BothForms;
use crate::redo::apply::directory::{DATA, HEAP_TOP_AT};
use crate::{Error, PageNo, Result, SpaceId};

/// `FIL_PAGE_PREV`, and `FIL_PAGE_NEXT` behind it.
const LINKS_AT: usize = 8;
/// `FIL_PAGE_TYPE`.
const TYPE_AT: usize = 24;

/// What is kept of a page with ROW_FORMAT=COMPRESSED between its records: both of its forms, if it is a B-tree page
/// that was changed.
#[derive(Debug)]
pub struct ZipPage {
    forms: BothForms,
    is_open: bool,
    /// Bytes of the page in memory.
    page_bytes: usize,
}

impl Default for ZipPage {
    fn default() -> ZipPage {
        ZipPage { forms: BothForms::new(), is_open: false, page_bytes: 0 }
    }
}

impl ZipPage {
    /// Prepares for the records of another page, which has so many bytes in memory.
    pub fn begin(&mut self, page_bytes: usize) {
        (self.is_open, self.page_bytes) = (false, page_bytes);
    }

    /// Ends the records of a page: what they changed in memory is written to its compressed form, `raw`.
    ///
    /// # Errors
    /// The records made a page that no server makes.
    pub fn finish(&mut self, raw: &mut [u8]) -> Result<()> {
        match std::mem::take(&mut self.is_open) {
            true => self.forms.store(raw),
            false => Ok(()),
        }
    }

    pub(super) fn apply(
        &mut self,
        raw: &mut [u8],
        place: (SpaceId, PageNo),
        change: &PageChange<'_>,
        (descriptions, buffer): (&mut Descriptions, &mut Vec<u8>),
    ) -> Result<()> {
        match *change {
            PageChange::Number { at, bytes, value } => {
                return self.write(raw, at, physical::number(&value.to_be_bytes(), bytes));
            }
            PageChange::WriteString { at, data } => return self.write(raw, at, data),
            PageChange::Zip(ZipChange::Header { at, data }) => {
                return self.write(raw, at.into(), data);
            }
            PageChange::Init => {
                self.is_open = false;
                return physical::init(raw, place.0, place.1);
            }
            PageChange::IbufBitmapInit => return physical::init_bitmap(raw),
            PageChange::Zip(ZipChange::Image(image)) => {
                self.is_open = false;
                return image.store(raw);
            }
            PageChange::Zip(ZipChange::Compress) | PageChange::Reorganize { .. } => {
                return Err(compressed_again());
            }
            _ => {}
        }
        if !self.is_open {
            self.forms.open(raw, self.page_bytes)?;
            self.is_open = true;
        }
        match *change {
            PageChange::Zip(ZipChange::Column { at, value }) => self.write_column(at, value),
            PageChange::Insert { index, before, entry } => {
                let description = descriptions.get(index)?;
                self.insert(raw, (description, buffer), before, &entry)
            }
            PageChange::Delete { index, at } => {
                self.delete(descriptions.get(index)?, buffer, |page, deleted| {
                    page.delete(at.into())?;
                    deleted(at.into());
                    Ok(())
                })
            }
            PageChange::DeleteListEnd { index, at } => {
                self.delete(descriptions.get(index)?, buffer, |page, deleted| {
                    let end = page.page.format.supremum();
                    page.delete_between(at.into(), end, deleted)
                })
            }
            PageChange::DeleteListStart { index, at } => {
                self.delete(descriptions.get(index)?, buffer, |page, deleted| {
                    page.delete_list_start(at.into(), deleted)
                })
            }
            PageChange::UpdateInPlace { at, .. } => {
                index_page::change(self.forms.page(), change, descriptions, buffer)?;
                self.forms.log(raw, at.into(), false)
            }
            PageChange::DeleteMark { .. }
            | PageChange::DeleteMarkSecondary { .. }
            | PageChange::MinRecMark { .. } => {
                index_page::change(self.forms.page(), change, descriptions, buffer)
            }
            _ => Err(Error::corrupt("the page is one with ROW_FORMAT=COMPRESSED")),
        }
    }

    fn insert(
        &mut self,
        raw: &mut [u8],
        (description, buffer): (&Description, &mut Vec<u8>),
        before: u16,
        entry: &Entry<'_>,
    ) -> Result<()> {
        let mut page = IndexRedo::of_zip(self.forms.page(), description, buffer)?;
        let header = page.compose(before.into(), entry)?;
        if !self.forms.has_room(raw, buffer.len())? {
            return Err(compressed_again());
        }
        let mut page = IndexRedo::of_zip(self.forms.page(), description, buffer)?;
        let record = page.place(before.into(), header)?;
        self.forms.log(raw, record, true)
    }

    /// Deletes records in memory by `delete`, which passes on each of them.
    fn delete(
        &mut self,
        description: &Description,
        buffer: &mut Vec<u8>,
        delete: impl FnOnce(&mut IndexRedo<'_, '_>, &mut dyn FnMut(usize)) -> Result<()>,
    ) -> Result<()> {
        let mut deleted = Vec::new();
        let mut page = IndexRedo::of_zip(self.forms.page(), description, buffer)?;
        delete(&mut page, &mut |record| deleted.push(record))?;
        deleted.into_iter().try_for_each(|record| self.forms.clear(record))
    }

    /// Writes bytes that both forms have at the same place: those of the header, or of a page with one form.
    fn write(&mut self, raw: &mut [u8], at: u16, data: &[u8]) -> Result<()> {
        physical::write(raw, at, data)?;
        if !self.is_open {
            return Ok(());
        }
        match usize::from(at) + data.len() <= DATA {
            true => put(self.forms.page(), at.into(), data),
            false => Err(Error::corrupt(format!("it writes at offset {at} of a B-tree page"))),
        }
    }

    /// Writes a part of a record that its compressed form stores apart.
    fn write_column(&mut self, at: u16, value: &[u8]) -> Result<()> {
        let page = self.forms.page();
        let top = u16_at(page, HEAP_TOP_AT)?;
        match usize::from(at) >= DATA && usize::from(at) + value.len() <= usize::from(top) {
            true => put(page, at.into(), value),
            false => Err(Error::corrupt(format!("there is no record at offset {at}"))),
        }
    }
}

impl ZipImage<'_> {
    /// Writes the compressed form of a page (`page_zip_parse_compress`).
    fn store(&self, raw: &mut [u8]) -> Result<()> {
        let head_end = TYPE_AT + self.head.len();
        let between = raw.len().checked_sub(head_end + self.trailer.len());
        let between = between.ok_or_else(|| Error::corrupt("it has more bytes than the page"))?;
        put(raw, LINKS_AT, self.links)?;
        put(raw, TYPE_AT, self.head)?;
        fill(raw, head_end, between, 0)?;
        put(raw, head_end + between, self.trailer)
    }
}

/// The error of a page that the server would compress again, to an unknown number of bytes.
#[cold]
fn compressed_again() -> Error {
    Error::unsupported(
        "a page with ROW_FORMAT=COMPRESSED that recovery compresses again \
         (innodb_log_compressed_pages=OFF)",
        "start the server on a copy of the directory, and shut it down cleanly",
    )
}
