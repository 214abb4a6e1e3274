//! Records of MariaDB 10.5 and later (`mtr0types.h`, `mtr0log.h`, MariaDB 10.11).
//!
//! ```text
//! first byte      bit 7 same page as the record before   bits 4-6 type   bits 0-3 bytes of the rest
//!                 (0: a varint follows, and the rest is that plus 15, with the varint's own bytes)
//! page            unless it is the same: tablespace and page number, two varints
//! body            by the type
//! ```
//!
//! In a mini-transaction that has changed no page yet, bit 7 means an operation on a file.

use super::varint::varint;
use crate::bytes::{array, u8_at};
use crate::{Error, Lsn, PageNo, Result, SpaceId};

/// The types of records that concern a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The page was freed: its content is void.
    FreePage,
    /// The page was initialised: its former content is void.
    InitPage,
    /// One of the subtypes in the first byte of the body.
    Extended,
    /// Bytes are written.
    Write,
    /// A range is filled with a pattern.
    Memset,
    /// A range is copied within the page.
    Memmove,
    /// Not in use.
    Reserved,
    /// Information that changes nothing (`OPT_PAGE_CHECKSUM` of debug builds).
    Option,
}

/// A record of a mini-transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A change of a page.
    Page(PageRecord<'a>),
    /// An operation on a file.
    File(FileRecord<'a>),
}

/// A change of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRecord<'a> {
    /// The offset of the record in the bytes.
    pub at: usize,
    /// The type.
    pub kind: RecordKind,
    /// The tablespace of the page.
    pub space: SpaceId,
    /// The page.
    pub page: PageNo,
    /// Whether the record before is of the same page, to whose last offset this one is relative.
    pub is_same_page: bool,
    /// The rest of the record.
    pub body: &'a [u8],
}

impl PageRecord<'_> {
    /// Returns the new size of the tablespace, where the record says that it was cut
    /// (`EXTENDED`, `TRIM_PAGES`): all pages from [`PageRecord::page`] on are void.
    pub fn trims(&self) -> bool {
        self.kind == RecordKind::Extended && self.body.first() == Some(&TRIM_PAGES)
    }
}

/// `TRIM_PAGES`.
pub(super) const TRIM_PAGES: u8 = 10;

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRecord<'a> {
    /// The tablespace; of no meaning with a checkpoint.
    pub space: SpaceId,
    /// The operation.
    pub operation: FileOperation<'a>,
}

/// What happened to a file; names are relative to the data directory, or absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOperation<'a> {
    /// `FILE_CREATE`: its name.
    Create(&'a [u8]),
    /// `FILE_DELETE`: its name.
    Delete(&'a [u8]),
    /// `FILE_RENAME`: the old and the new name.
    Rename(&'a [u8], &'a [u8]),
    /// `FILE_MODIFY`: the name of a file that was changed since the checkpoint.
    Modify(&'a [u8]),
    /// `FILE_CHECKPOINT`: the LSN of the checkpoint.
    Checkpoint(Lsn),
    /// Another type.
    Unknown(u8),
}

/// The records of a mini-transaction, or from one of its records on.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    page: Option<(SpaceId, PageNo)>,
}

impl<'a> Records<'a> {
    /// Reads the records of a mini-transaction without its end marker.
    pub fn new(bytes: &'a [u8]) -> Records<'a> {
        Records { bytes, at: 0, page: None }
    }

    /// Reads records of which the first is of this page, whether or not it names it.
    pub fn of_page(bytes: &'a [u8], space: SpaceId, page: PageNo) -> Records<'a> {
        Records { bytes, at: 0, page: Some((space, page)) }
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// A record contradicts the format. There is none after it.
    pub fn next_record(&mut self) -> Result<Option<Record<'a>>> {
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let at = self.at;
        match self.parse(at) {
            Some(record) => Ok(Some(record)),
            None => {
                self.at = self.bytes.len();
                Err(Error::corrupt(format!("a record at byte {at} of a mini-transaction is cut")))
            }
        }
    }

    fn parse(&mut self, at: usize) -> Option<Record<'a>> {
        let first = u8_at(self.bytes, at).ok()?;
        let (rest, end) = extent(self.bytes, at)?;
        let bytes = self.bytes.get(..end)?;
        self.at = end;
        let is_same_page = first & 0x80 != 0;
        if let (true, Some((space, page))) = (is_same_page, self.page) {
            let body = bytes.get(rest..)?;
            return Some(Record::Page(PageRecord {
                at,
                kind: RecordKind::of(first),
                space,
                page,
                is_same_page,
                body,
            }));
        }
        let (space, behind) = varint(bytes, rest)?;
        let (page, behind) = varint(bytes, behind)?;
        let body = bytes.get(behind..)?;
        if is_same_page {
            let operation = FileOperation::parse(first, body)?;
            return Some(Record::File(FileRecord { space: SpaceId(space), operation }));
        }
        self.page = Some((SpaceId(space), PageNo(page)));
        Some(Record::Page(PageRecord {
            at,
            kind: RecordKind::of(first),
            space: SpaceId(space),
            page: PageNo(page),
            is_same_page,
            body,
        }))
    }
}

impl RecordKind {
    fn of(first: u8) -> RecordKind {
        match first >> 4 & 7 {
            0 => RecordKind::FreePage,
            1 => RecordKind::InitPage,
            2 => RecordKind::Extended,
            3 => RecordKind::Write,
            4 => RecordKind::Memset,
            5 => RecordKind::Memmove,
            6 => RecordKind::Reserved,
            _ => RecordKind::Option,
        }
    }
}

impl<'a> FileOperation<'a> {
    fn parse(first: u8, body: &'a [u8]) -> Option<FileOperation<'a>> {
        Some(match first & 0xf0 {
            0x80 => FileOperation::Create(body),
            0x90 => FileOperation::Delete(body),
            0xa0 => {
                let nul = body.iter().position(|&byte| byte == 0)?;
                FileOperation::Rename(body.get(..nul)?, body.get(nul + 1..)?)
            }
            0xb0 => FileOperation::Modify(body),
            0xf0 => FileOperation::Checkpoint(Lsn(u64::from_be_bytes(array(body, 0).ok()?))),
            other => FileOperation::Unknown(other),
        })
    }
}

/// Returns where the record at `at` continues behind its length, and where it ends; the end may lie
/// behind the bytes.
pub(super) fn extent(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let first = u8_at(bytes, at).ok()?;
    match usize::from(first & 0x0f) {
        0 => {
            let (more, rest) = varint(bytes, at + 1)?;
            let end = at.checked_add(1)?.checked_add(more as usize)?.checked_add(15)?;
            (rest <= end).then_some((rest, end))
        }
        len => Some((at + 1, at + 1 + len)),
    }
}

/// Returns the bytes of a run: the record at the start of `bytes`, and those after it that are of the
/// same page. `None` if it may continue behind the bytes.
pub fn run_len(bytes: &[u8]) -> Option<usize> {
    let mut at = extent(bytes, 0)?.1;
    while *bytes.get(at)? & 0x80 != 0 {
        at = extent(bytes, at)?.1;
    }
    Some(at)
}
