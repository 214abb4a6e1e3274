//! Applying of records to the bytes of a page (`log_phys_t::apply`, `log0recv.cc`, MariaDB 10.11).
//!
//! Nothing of a record is believed: every offset is checked before it is used, so a record that does
//! not fit the page is an error, and no more.

pub(super) mod create;
pub(super) mod directory;
pub(super) mod rows;

use super::record::{PageRecord, Record, RecordKind, Records};
use super::varint::varint;
use crate::{Error, Lsn, PageNo, Result, SpaceId, bytes};

/// `FIL_PAGE_OFFSET`.
const PAGE_NO_AT: usize = 4;
/// `FIL_PAGE_PREV`, followed by `FIL_PAGE_NEXT`.
const LINKS_AT: usize = 8;
/// `FIL_PAGE_TYPE`: the base of offsets after a record that is no write.
const TYPE_AT: usize = 24;
/// `FIL_PAGE_SPACE_ID`.
const SPACE_AT: usize = 34;

/// A page to which records are applied.
#[derive(Debug)]
pub struct PageRedo<'p> {
    page: &'p mut [u8],
    space: SpaceId,
    page_no: PageNo,
    is_zip: bool,
}

/// The base of the offset of the next record of the same page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    At(usize),
    /// No record of the same page may follow.
    None,
}

impl<'p> PageRedo<'p> {
    /// Prepares the bytes of a page as they are in memory, or as the file stores them with
    /// ROW_FORMAT=COMPRESSED (`is_zip`).
    pub fn new(page: &'p mut [u8], space: SpaceId, page_no: PageNo, is_zip: bool) -> PageRedo<'p> {
        PageRedo { page, space, page_no, is_zip }
    }

    /// Applies a run of records of this page ([`super::run_len`]) from the mini-transaction at `lsn`.
    ///
    /// # Errors
    /// A record does not fit the page; the message names its type and the LSN. The page may have been
    /// changed.
    pub fn apply(&mut self, run: &[u8], lsn: Lsn) -> Result<()> {
        let mut records = Records::of_page(run, self.space, self.page_no);
        let mut base = Base::None;
        while let Some(record) = records.next_record().map_err(|error| self.locate(error, lsn))? {
            let Record::Page(record) = record else {
                let error = Error::corrupt("an operation on a file among the records of a page");
                return Err(self.locate(error, lsn));
            };
            base = self
                .apply_record(&record, base)
                .map_err(|error| self.locate(error.with_prefix(name_of(&record)), lsn))?;
        }
        Ok(())
    }

    fn locate(&self, error: Error, lsn: Lsn) -> Error {
        let prefix = format!("the redo log does not fit at LSN {lsn}");
        error.with_prefix(prefix).at_page(self.space, self.page_no)
    }

    fn apply_record(&mut self, record: &PageRecord<'_>, base: Base) -> Result<Base> {
        if (record.space, record.page) != (self.space, self.page_no) {
            return Err(Error::corrupt("it is of another page"));
        }
        let base = if record.is_same_page { base } else { Base::At(0) };
        match record.kind {
            RecordKind::FreePage => Ok(Base::None),
            RecordKind::InitPage => self.init(record.body),
            RecordKind::Extended => self.extended(record.body),
            RecordKind::Write => self.write(record.body, base),
            RecordKind::Memset => self.memset(record.body, base),
            RecordKind::Memmove => self.memmove(record.body, base),
            RecordKind::Option => Ok(base),
            RecordKind::Reserved => Err(Error::corrupt("no server writes it")),
        }
    }

    fn init(&mut self, body: &[u8]) -> Result<Base> {
        if !body.is_empty() {
            return Err(Error::corrupt("it has a body"));
        }
        self.page.fill(0);
        bytes::put(self.page, PAGE_NO_AT, &self.page_no.0.to_be_bytes())?;
        bytes::fill(self.page, LINKS_AT, 8, 0xff)?;
        bytes::put(self.page, SPACE_AT, &self.space.0.to_be_bytes())?;
        Ok(Base::At(TYPE_AT))
    }

    fn extended(&mut self, body: &[u8]) -> Result<Base> {
        if self.is_zip || self.page_no.0 < 3 {
            return Err(Error::corrupt("it is for another kind of page"));
        }
        let (&subtype, rest) =
            body.split_first().ok_or_else(|| Error::corrupt("it has no subtype"))?;
        match subtype {
            0 => create::redundant(self.page)?,
            1 => create::dynamic(self.page)?,
            2 => create::undo(self.page)?,
            3 => create::append_undo(self.page, rest)?,
            4..=9 => rows::apply(self.page, subtype, rest)?,
            _ => return Err(Error::corrupt(format!("subtype {subtype} is unknown"))),
        }
        Ok(Base::At(TYPE_AT))
    }

    /// The offset of a write, and the body behind it.
    fn offset<'b>(&self, body: &'b [u8], base: Base) -> Result<(usize, &'b [u8])> {
        let Base::At(base) = base else {
            return Err(Error::corrupt("its offset has no base"));
        };
        let (relative, rest) = number(body)?;
        let at = base.saturating_add(relative);
        // The checksum and the page number are never logged.
        if at < LINKS_AT || at >= self.page.len() {
            return Err(Error::corrupt(format!("offset {at} is not within the page")));
        }
        Ok((at, rest))
    }

    fn write(&mut self, body: &[u8], base: Base) -> Result<Base> {
        let (at, data) = self.offset(body, base)?;
        if data.is_empty() {
            return Err(Error::corrupt("it writes no bytes"));
        }
        bytes::put(self.page, at, data)?;
        Ok(Base::At(at + data.len()))
    }

    fn memset(&mut self, body: &[u8], base: Base) -> Result<Base> {
        let (at, rest) = self.offset(body, base)?;
        let (len, pattern) = number(rest)?;
        let end = at.saturating_add(len);
        let have = self.page.len();
        let place = self.page.get_mut(at..end).ok_or_else(|| {
            Error::corrupt(format!("{len} bytes at offset {at} reach past the end ({have} bytes)"))
        })?;
        match pattern {
            [] => return Err(Error::corrupt("it has no pattern")),
            [byte] => place.fill(*byte),
            _ => {
                for part in place.chunks_mut(pattern.len()) {
                    part.copy_from_slice(bytes::slice(pattern, 0, part.len())?);
                }
            }
        }
        Ok(Base::At(end))
    }

    fn memmove(&mut self, body: &[u8], base: Base) -> Result<Base> {
        let (at, rest) = self.offset(body, base)?;
        let (len, rest) = number(rest)?;
        let (distance, rest) = number(rest)?;
        // The sign is in the lowest bit, and there is no distance of zero.
        let steps = (distance >> 1) + 1;
        let from = match distance & 1 {
            0 => at.checked_add(steps),
            _ => at.checked_sub(steps),
        };
        let from = from.filter(|&from| from >= LINKS_AT && rest.is_empty());
        let from = from.ok_or_else(|| Error::corrupt("its source is not within the page"))?;
        bytes::copy_within(self.page, from, at, len)?;
        Ok(Base::At(at + len))
    }
}

/// A number at the start of a body, and what follows it.
fn number(body: &[u8]) -> Result<(usize, &[u8])> {
    let (value, rest) =
        varint(body, 0).ok_or_else(|| Error::corrupt("a number in its body is cut"))?;
    Ok((value as usize, body.get(rest..).unwrap_or_default()))
}

/// The name of a record's type (`mtr0types.h`).
fn name_of(record: &PageRecord<'_>) -> &'static str {
    match (record.kind, record.body.first()) {
        (RecordKind::FreePage, _) => "FREE_PAGE",
        (RecordKind::InitPage, _) => "INIT_PAGE",
        (RecordKind::Write, _) => "WRITE",
        (RecordKind::Memset, _) => "MEMSET",
        (RecordKind::Memmove, _) => "MEMMOVE",
        (RecordKind::Reserved, _) => "RESERVED",
        (RecordKind::Option, _) => "OPTION",
        (RecordKind::Extended, Some(0)) => "INIT_ROW_FORMAT_REDUNDANT",
        (RecordKind::Extended, Some(1)) => "INIT_ROW_FORMAT_DYNAMIC",
        (RecordKind::Extended, Some(2)) => "UNDO_INIT",
        (RecordKind::Extended, Some(3)) => "UNDO_APPEND",
        (RecordKind::Extended, Some(4)) => "INSERT_HEAP_REDUNDANT",
        (RecordKind::Extended, Some(5)) => "INSERT_REUSE_REDUNDANT",
        (RecordKind::Extended, Some(6)) => "INSERT_HEAP_DYNAMIC",
        (RecordKind::Extended, Some(7)) => "INSERT_REUSE_DYNAMIC",
        (RecordKind::Extended, Some(8)) => "DELETE_ROW_FORMAT_REDUNDANT",
        (RecordKind::Extended, Some(9)) => "DELETE_ROW_FORMAT_DYNAMIC",
        (RecordKind::Extended, _) => "EXTENDED",
    }
}
