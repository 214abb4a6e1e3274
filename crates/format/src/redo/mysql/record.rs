//! Records: each type's form (`mtr0types.h`, and the `parse` functions that `log0recv.cc` calls, MySQL
//! 9.7).
//!
//! ```text
//! 1   type; bit 7: the only record of its group
//!     tablespace and page number, compressed (not all types)
//!     body, by the type
//! ```
//!
//! A group of more than one record ends with one of type 31. Groups are applied whole or not at all.

use super::compressed::{Input, Read, Stop};
use crate::lob_ref::LobRef;
use crate::redo::record::{FileOperation, FileRecord};
use crate::{PageNo, SpaceId};

/// A record, read over to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Whether it is the only one of its group.
    pub is_single: bool,
    /// The tablespace and page, of types that name them.
    pub page: (SpaceId, PageNo),
    pub(super) change: Change<'a>,
}

/// The kinds of records, for those who apply none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A change of a page; `is_init`: of which nothing that was there before remains.
    Page {
        /// Whether the page is made anew.
        is_init: bool,
    },
    /// An operation on a file.
    File(FileRecord<'a>),
    /// The end of a group.
    GroupEnd,
    /// The last AUTO_INCREMENT value of a table.
    Counter(Counter),
    /// An index was built whose pages were written without records.
    IndexLoad,
    /// Neither pages nor names of files change.
    Other,
}

/// An AUTO_INCREMENT value, which is not in a page before the next checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The id of the table.
    pub table: u64,
    /// The version of the table's definition.
    pub version: u64,
    /// The last value that was assigned.
    pub last: u64,
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change<'a> {
    /// A change of a page.
    Page(PageChange<'a>),
    /// An operation on a file.
    File(FileRecord<'a>),
    /// An index was built without redo.
    IndexLoad,
    /// What is known of a table beside its definition, which is no change of a page.
    Metadata(Option<Counter>),
    /// A file was lengthened.
    FileExtend,
    /// The end of a group.
    GroupEnd,
    /// Nothing.
    Padding,
}

/// A change of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageChange<'a> {
    /// 1, 2, 4, 8: a number of so many bytes.
    Number { at: u16, bytes: u8, value: u64 },
    /// 30
    WriteString { at: u16, data: &'a [u8] },
    /// 29, 59: zeroes, with the page's own place.
    Init,
    /// 20
    UndoInsert(&'a [u8]),
    /// 21
    UndoEraseEnd,
    /// 22: the type of the undo log.
    UndoInit(u32),
    /// 24: the transaction.
    UndoReuse(u64),
    /// 25: the transaction.
    UndoCreate(u64),
    /// 11: of a secondary index.
    DeleteMarkSecondary { value: u8, at: u16 },
    /// 26, 36
    MinRecMark { at: u16, is_compact: bool },
    /// 27
    IbufBitmapInit,
    /// 19, 37, 57, 58, 63, 64: an empty page of a `FIL_PAGE_` type.
    Create { kind: u16, is_compact: bool },
    /// 68
    DeleteMark { index: &'a [u8], system: SystemFields, value: u8, at: u16 },
    /// 70
    UpdateInPlace {
        index: &'a [u8],
        system: SystemFields,
        at: u16,
        info_bits: u8,
        updates: &'a [u8],
    },
    /// 67
    Insert { index: &'a [u8], before: u16, entry: Entry<'a> },
    /// 69
    Delete { index: &'a [u8], at: u16 },
    /// 75: the record and all behind it.
    DeleteListEnd { index: &'a [u8], at: u16 },
    /// 76: all before the record.
    DeleteListStart { index: &'a [u8], at: u16 },
    /// 71: entries, each behind the last record.
    CopyList { index: &'a [u8], entries: &'a [u8] },
    /// 72
    Reorganize { index: &'a [u8] },
    /// 48 to 53, 73, 74: of a page with ROW_FORMAT=COMPRESSED.
    Zip(ZipChange<'a>),
}

/// A change of a page with ROW_FORMAT=COMPRESSED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZipChange<'a> {
    /// 48: a child's page number, 49: a reference to an off-page column, at an offset in memory.
    Column { at: u16, value: &'a [u8] },
    /// 50: at an offset in both forms.
    Header { at: u8, data: &'a [u8] },
    /// 51: all of the compressed form.
    Image(ZipImage<'a>),
    /// 52, 73: the form in memory is compressed anew; 53, 74: after the page is made anew from its records.
    Compress,
}

/// The compressed form of a page, without its place, its LSN and what is all zeroes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ZipImage<'a> {
    /// The previous and the next page.
    pub links: &'a [u8],
    /// The bytes from the type on.
    pub head: &'a [u8],
    /// The bytes before the end.
    pub trailer: &'a [u8],
}

/// DB_TRX_ID and DB_ROLL_PTR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SystemFields {
    /// Whether they are written.
    pub are_set: bool,
    /// The number of DB_TRX_ID among the fields of the index.
    pub field: u32,
    pub roll_ptr: [u8; 7],
    pub trx_id: u64,
}

/// A new entry of a page, as it differs from the record before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// Info and status bits, bytes before the origin, bytes that are the former record's; without them, they
    /// are as that record's.
    pub header: Option<(u8, u32, u32)>,
    /// The bytes behind those.
    pub end: &'a [u8],
}

/// Bytes of the page number in a record of a branch page.
pub(super) const CHILD_BYTES: usize = 4;
/// `BTR_KEEP_SYS_FLAG`.
const KEEP_SYSTEM_FIELDS: u8 = 4;
/// `MLOG_SINGLE_REC_FLAG`.
const SINGLE: u8 = 0x80;
/// `FIL_PAGE_INDEX`, `FIL_PAGE_RTREE`, `FIL_PAGE_SDI`.
const INDEX: u16 = 17855;
const RTREE: u16 = 17854;
const SDI: u16 = 17853;
/// `UNIV_SQL_NULL`.
pub(super) const NULL: u32 = u32::MAX;

impl<'a> Input<'a> {
    /// Reads the next record.
    ///
    /// # Errors
    /// The bytes end within it, or it is of a type that no server since MySQL 8.0.30 writes.
    pub fn record(&mut self) -> Read<Record<'a>> {
        let first = self.u8()?;
        let kind = first & !SINGLE;
        let mut record = Record {
            is_single: first & SINGLE != 0,
            page: (SpaceId(0), PageNo(0)),
            change: Change::Padding,
        };
        match kind {
            31 => record.change = Change::GroupEnd,
            32 => {}
            62 => {
                record.change = Change::Metadata(self.metadata()?);
            }
            _ => {
                let (space, page) = (SpaceId(self.compressed()?), PageNo(self.compressed()?));
                record.page = (space, page);
                record.change = self.change(kind, space)?;
            }
        }
        Ok(record)
    }

    fn change(&mut self, kind: u8, space: SpaceId) -> Read<Change<'a>> {
        Ok(match kind {
            33..=35 => Change::File(FileRecord { space, operation: self.file_operation(kind)? }),
            61 => {
                self.take(8)?;
                Change::IndexLoad
            }
            65 => {
                self.take(16)?;
                Change::FileExtend
            }
            _ => Change::Page(self.page_change(kind)?),
        })
    }

    fn page_change(&mut self, kind: u8) -> Read<PageChange<'a>> {
        Ok(match kind {
            1 | 2 | 4 | 8 => {
                let at = self.u16()?;
                let value =
                    if kind == 8 { self.compressed_u64()? } else { self.compressed()?.into() };
                if kind < 4 && value >> (8 * kind) != 0 {
                    return Err(Stop::lie(format!("{value} has more than {kind} bytes")));
                }
                PageChange::Number { at, bytes: kind, value }
            }
            11 => PageChange::DeleteMarkSecondary { value: self.u8()?, at: self.u16()? },
            19 | 37 => PageChange::Create { kind: INDEX, is_compact: kind == 37 },
            57 | 58 => PageChange::Create { kind: RTREE, is_compact: kind == 58 },
            63 | 64 => PageChange::Create { kind: SDI, is_compact: kind == 64 },
            20 => PageChange::UndoInsert(self.sized()?),
            21 => PageChange::UndoEraseEnd,
            22 => PageChange::UndoInit(self.compressed()?),
            24 => PageChange::UndoReuse(self.compressed_u64()?),
            25 => PageChange::UndoCreate(self.compressed_u64()?),
            26 | 36 => PageChange::MinRecMark { at: self.u16()?, is_compact: kind == 36 },
            27 => PageChange::IbufBitmapInit,
            29 | 59 => PageChange::Init,
            30 => PageChange::WriteString { at: self.u16()?, data: self.sized()? },
            48..=53 | 73 | 74 => PageChange::Zip(self.zip(kind)?),
            67..=72 | 75 | 76 => self.index_change(kind)?,
            _ => return Err(Stop::lie(format!("its type, {kind}, is unknown"))),
        })
    }

    fn index_change(&mut self, kind: u8) -> Read<PageChange<'a>> {
        let index = self.description()?;
        Ok(match kind {
            67 => PageChange::Insert { index, before: self.u16()?, entry: self.entry()? },
            68 => {
                let (flags, value) = (self.u8()?, self.u8()?);
                let system = self.system_fields(flags)?;
                PageChange::DeleteMark { index, system, value, at: self.u16()? }
            }
            69 => PageChange::Delete { index, at: self.u16()? },
            70 => {
                let flags = self.u8()?;
                let system = self.system_fields(flags)?;
                let (at, info_bits) = (self.u16()?, self.u8()?);
                let start = self.at();
                for _ in 0..self.compressed()? {
                    self.update()?;
                }
                let updates = self.since(start);
                PageChange::UpdateInPlace { index, system, at, info_bits, updates }
            }
            71 => {
                let len = self.u32()? as usize;
                PageChange::CopyList { index, entries: self.take(len)? }
            }
            72 => PageChange::Reorganize { index },
            75 => PageChange::DeleteListEnd { index, at: self.u16()? },
            _ => PageChange::DeleteListStart { index, at: self.u16()? },
        })
    }

    /// A length of two bytes, and so many bytes.
    fn sized(&mut self) -> Read<&'a [u8]> {
        let len = self.u16()?;
        self.take(len.into())
    }

    fn system_fields(&mut self, flags: u8) -> Read<SystemFields> {
        let field = self.compressed()?;
        let roll_ptr = self.take(7)?.first_chunk::<7>().copied().ok_or(Stop::Cut)?;
        let trx_id = self.compressed_u64()?;
        Ok(SystemFields { are_set: flags & KEEP_SYSTEM_FIELDS == 0, field, roll_ptr, trx_id })
    }

    /// The number of a field and its new value; `None` for NULL.
    pub(super) fn update(&mut self) -> Read<(u32, Option<&'a [u8]>)> {
        let field = self.compressed()?;
        let value = match self.compressed()? {
            NULL => None,
            len => Some(self.take(len as usize)?),
        };
        Ok((field, value))
    }

    /// The entry of an insert.
    pub(super) fn entry(&mut self) -> Read<Entry<'a>> {
        let len = self.compressed()?;
        let header = match len & 1 {
            1 => Some((self.u8()?, self.compressed()?, self.compressed()?)),
            _ => None,
        };
        Ok(Entry { header, end: self.take((len >> 1) as usize)? })
    }

    fn zip(&mut self, kind: u8) -> Read<ZipChange<'a>> {
        Ok(match kind {
            48 | 49 => {
                let at = self.u16()?;
                let _in_compressed_form = self.u16()?;
                let len = if kind == 48 { CHILD_BYTES } else { LobRef::LEN };
                ZipChange::Column { at, value: self.take(len)? }
            }
            50 => {
                let (at, len) = (self.u8()?, self.u8()?);
                ZipChange::Header { at, data: self.take(len.into())? }
            }
            51 => {
                let (head, trailer) = (usize::from(self.u16()?), usize::from(self.u16()?));
                let links = self.take(8)?;
                let (head, trailer) = (self.take(head)?, self.take(trailer)?);
                ZipChange::Image(ZipImage { links, head, trailer })
            }
            _ => {
                self.description()?;
                self.u8()?;
                ZipChange::Compress
            }
        })
    }

    fn metadata(&mut self) -> Read<Option<Counter>> {
        let table = self.much_compressed()?;
        let version = self.much_compressed()?;
        match self.u8()? {
            // Damaged indexes.
            1 => {
                let n = self.u8()?;
                self.take(12 * usize::from(n))?;
                Ok(None)
            }
            // AUTO_INCREMENT
            2 => Ok(Some(Counter { table, version, last: self.much_compressed()? })),
            other => Err(Stop::lie(format!("metadata {other} is unknown"))),
        }
    }

    fn file_operation(&mut self, kind: u8) -> Read<FileOperation<'a>> {
        Ok(match kind {
            33 => {
                self.take(4)?;
                FileOperation::Create(self.file_name()?)
            }
            34 => FileOperation::Rename(self.file_name()?, self.file_name()?),
            _ => FileOperation::Delete(self.file_name()?),
        })
    }

    fn file_name(&mut self) -> Read<&'a [u8]> {
        let name = self.sized()?;
        name.strip_suffix(&[0]).ok_or_else(|| Stop::lie("the name of a file has no end"))
    }
}

impl<'a> Record<'a> {
    /// Whether the record is one byte that says nothing.
    pub fn is_padding(&self) -> bool {
        self.change == Change::Padding
    }

    /// The kind of the record.
    pub fn kind(&self) -> Kind<'a> {
        match self.change {
            Change::Page(change) => Kind::Page { is_init: change == PageChange::Init },
            Change::File(record) => Kind::File(record),
            Change::GroupEnd => Kind::GroupEnd,
            Change::Metadata(Some(counter)) => Kind::Counter(counter),
            Change::IndexLoad => Kind::IndexLoad,
            Change::Metadata(None) | Change::FileExtend | Change::Padding => Kind::Other,
        }
    }
}

impl PageChange<'_> {
    /// The name of the type.
    pub(super) fn name(&self) -> &'static str {
        match self {
            PageChange::Number { .. } => "NBYTES",
            PageChange::WriteString { .. } => "WRITE_STRING",
            PageChange::Init => "INIT_FILE_PAGE2",
            PageChange::UndoInsert(_) => "UNDO_INSERT",
            PageChange::UndoEraseEnd => "UNDO_ERASE_END",
            PageChange::UndoInit(_) => "UNDO_INIT",
            PageChange::UndoReuse(_) => "UNDO_HDR_REUSE",
            PageChange::UndoCreate(_) => "UNDO_HDR_CREATE",
            PageChange::DeleteMarkSecondary { .. } => "REC_SEC_DELETE_MARK",
            PageChange::MinRecMark { .. } => "REC_MIN_MARK",
            PageChange::IbufBitmapInit => "IBUF_BITMAP_INIT",
            PageChange::Create { .. } => "PAGE_CREATE",
            PageChange::DeleteMark { .. } => "REC_CLUST_DELETE_MARK",
            PageChange::UpdateInPlace { .. } => "REC_UPDATE_IN_PLACE",
            PageChange::Insert { .. } => "REC_INSERT",
            PageChange::Delete { .. } => "REC_DELETE",
            PageChange::DeleteListEnd { .. } => "LIST_END_DELETE",
            PageChange::DeleteListStart { .. } => "LIST_START_DELETE",
            PageChange::CopyList { .. } => "LIST_END_COPY_CREATED",
            PageChange::Reorganize { .. } => "PAGE_REORGANIZE",
            PageChange::Zip(change) => change.name(),
        }
    }
}

impl ZipChange<'_> {
    fn name(&self) -> &'static str {
        match self {
            ZipChange::Column { value, .. } if value.len() == CHILD_BYTES => "ZIP_WRITE_NODE_PTR",
            ZipChange::Column { .. } => "ZIP_WRITE_BLOB_PTR",
            ZipChange::Header { .. } => "ZIP_WRITE_HEADER",
            ZipChange::Image(_) => "ZIP_PAGE_COMPRESS",
            ZipChange::Compress => "ZIP_PAGE_COMPRESS_NO_DATA",
        }
    }
}
