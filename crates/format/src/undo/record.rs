//! One undo record: what a transaction replaced in a row of a clustered index.
//!
//! ```text
//!  0 offset of the next record (2); before that, the offset of this one (2)
//!  2 type: bits 0-3; 0x40 (MySQL 8) a flag byte follows; 0x80 a column off its page was changed
//!    number in its transaction, table id        much compressed
//!    info bits (1), DB_TRX_ID, DB_ROLL_PTR      of the older version; compressed 64 bits
//!    each column of the key: length, bytes
//!    number of columns; each: field, length, bytes      types 12 and 13
//! ```
//!
//! A length of `FFFFFFFF` is NULL, one from `FFFFBFFF` on belongs to an off-page column. With both bits of the type, this
//! follows an off-page column:
//!
//! ```text
//!    0 (1), number of changes; if there are any: first page, version of the LOB,
//!    its last transaction, the number of its change                                    much compressed
//!    each: offset, length, bytes; number of index entries, each: transaction, number of its change
//! ```
//!
//! What comes after the columns is for purge only. `trx_undo_page_report_modify`,
//! `trx_undo_update_rec_get_update`, `trx_undo_rec_get_col_val` (`trx0rec.cc`, MariaDB 10.11;
//! for virtual columns and LOBs also `trx_undo_read_blob_update` and others, MySQL 8.0).

use super::RollPointer;
use super::compressed::Cursor;
use crate::lob_ref::LobRef;
use crate::page::{DATA, Page, PageKind};
use crate::record::DELETED;
use crate::{Error, PageNo, Remedy, Result, bytes};

/// `TRX_UNDO_PAGE_START`: the first record of the newest undo log on the page.
const START_AT: usize = DATA + 2;
/// `TRX_UNDO_PAGE_FREE`: the first byte after the last record.
const FREE_AT: usize = DATA + 4;
/// The end of an undo page's header.
const HEADER_END: usize = DATA + 18;

/// `TRX_UNDO_INSERT_METADATA` of MariaDB.
const INSERT_METADATA: u8 = 10;
/// `TRX_UNDO_UPD_EXIST_REC`.
const UPDATE: u8 = 12;
/// `TRX_UNDO_UPD_DEL_REC`: an update of a delete-marked row.
const UPDATE_DELETED: u8 = 13;
/// `TRX_UNDO_DEL_MARK_REC`.
const DELETE_MARK: u8 = 14;
/// `TRX_UNDO_MODIFY_BLOB`, MySQL 8.
const HAS_FLAGS: u8 = 0x40;
/// `TRX_UNDO_UPD_EXTERN`.
const CHANGES_EXTERNAL: u8 = 0x80;

/// `UNIV_SQL_NULL`.
const NULL: u32 = u32::MAX;
/// `UNIV_EXTERN_STORAGE_FIELD`.
const EXTERNAL: u32 = 0xFFFF_BFFF;
/// `SPATIAL_STATUS_MASK`: bits of a length that say how a geometry is indexed.
const SPATIAL_STATUS: u32 = 3 << 12;
/// `REC_MAX_N_FIELDS`: greater field numbers are those of virtual columns.
const FIELDS_MAX: u32 = 1023;
/// `VIRTUAL_COL_UNDO_FORMAT_1`.
const VIRTUAL_FORMAT: u8 = 0xF1;
/// The mark of a multi-valued virtual column's value (`Multi_value_logger`, `data0data.cc`, MySQL 8.0).
const MULTI_VALUE: u8 = 0xFF;

/// The older value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldValue<'a> {
    /// A NULL.
    Null,
    /// The bytes in the record.
    Inline(&'a [u8]),
    /// An off-page column.
    External {
        /// The part in the record.
        prefix: &'a [u8],
        /// The reference to the rest, [`LobRef::LEN`] bytes.
        reference: &'a [u8],
    },
}

/// An undo record of an update, or of a delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoRecord<'a> {
    /// The number of the change in its transaction.
    pub number: u64,
    /// The table's id.
    pub table_id: u64,
    /// Whether the older version was delete-marked.
    pub is_delete_marked: bool,
    /// The transaction that wrote the older version.
    pub trx_id: u64,
    /// The undo record with what that one replaced.
    pub roll_pointer: RollPointer,
    /// The bytes of each field of the key, in the older version.
    pub key: Vec<&'a [u8]>,
    /// The fields that were replaced, by their place in the records of the clustered index.
    pub old: Vec<(u16, OldValue<'a>)>,
    /// The bytes that were replaced in off-page columns.
    pub lob_changes: Vec<LobChange<'a>>,
}

/// Bytes of an off-page column that were replaced in their place, as MySQL 8 does for small changes of JSON documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LobChange<'a> {
    /// The field, by its place in the records of the clustered index.
    pub field: u16,
    /// The first page of the column.
    pub page_no: PageNo,
    /// The offset in the whole column.
    pub offset: u32,
    /// The bytes that were there.
    pub old: &'a [u8],
}

impl<'a> UndoRecord<'a> {
    /// Parses the record at `offset` of an undo page. `key_fields`: the fields of the table's key.
    ///
    /// # Errors
    /// Damage, and changes of kinds that this version does not take back.
    pub fn parse(page: &Page<'a>, offset: u16, key_fields: usize) -> Result<UndoRecord<'a>> {
        let at = usize::from(offset);
        let parsed = record_bytes(page, at).and_then(|bytes| parse(bytes, at, key_fields));
        parsed.map_err(|error| page.locate_error(error.at_offset(u32::from(offset))))
    }
}

/// The page up to the end of the record at `at`, whose ends agree with each other.
pub(super) fn record_bytes<'a>(page: &Page<'a>, at: usize) -> Result<&'a [u8]> {
    if page.kind() != PageKind::UndoLog {
        return Err(Error::corrupt(format!(
            "a roll pointer leads to a page of kind {}, not an undo log's",
            page.kind()
        )));
    }
    let bytes = page.bytes();
    let (start, free) = (bytes::u16_at(bytes, START_AT)?, bytes::u16_at(bytes, FREE_AT)?);
    let (start, free) = (usize::from(start).max(HEADER_END), usize::from(free));
    if at < start || at >= free {
        return Err(Error::corrupt(format!(
            "a roll pointer leads to {at}, and the page's undo records are from {start} to {free}"
        )));
    }
    let next = usize::from(bytes::u16_at(bytes, at)?);
    let end = next.checked_sub(2).filter(|&end| end > at + 2 && next <= free);
    let end = end.ok_or_else(|| {
        Error::corrupt(format!("the undo record at {at} is said to end at {next}"))
    })?;
    let own = bytes::u16_at(bytes, end)?;
    if usize::from(own) != at {
        return Err(Error::corrupt(format!(
            "the undo record at {at} ends with {own} in place of its own offset"
        )));
    }
    bytes::slice(bytes, 0, end)
}

fn parse(bytes: &[u8], at: usize, key_fields: usize) -> Result<UndoRecord<'_>> {
    let mut cursor = Cursor::new(bytes, at + 2);
    let type_byte = cursor.byte()?;
    let kind = type_byte & 0x0F;
    if kind == INSERT_METADATA {
        return Err(alter_under_way());
    }
    if !matches!(kind, UPDATE | UPDATE_DELETED | DELETE_MARK) {
        return Err(Error::corrupt(format!(
            "an undo record of type {kind} where that of an update or delete should be"
        )));
    }
    if type_byte & HAS_FLAGS != 0 {
        let flags = cursor.byte()?;
        if flags != 0 {
            return Err(Error::corrupt(format!("an undo record with unknown flags {flags:#x}")));
        }
    }
    let number = cursor.small_long()?;
    let table_id = cursor.small_long()?;
    let info_bits = cursor.byte()?;
    let trx_id = cursor.long()?;
    let roll_pointer = RollPointer::new(cursor.long()?);
    let mut key = Vec::with_capacity(key_fields);
    for _ in 0..key_fields {
        match value(&mut cursor)? {
            OldValue::Inline(bytes) => key.push(bytes),
            _ => return Err(Error::corrupt("an undo record's key has a NULL or off-page column")),
        }
    }
    let has_lob_changes =
        type_byte & (HAS_FLAGS | CHANGES_EXTERNAL) == HAS_FLAGS | CHANGES_EXTERNAL;
    let (old, lob_changes) = match kind {
        DELETE_MARK => (Vec::new(), Vec::new()),
        _ => old_values(&mut cursor, has_lob_changes)?,
    };
    let is_delete_marked = info_bits & DELETED != 0;
    Ok(UndoRecord {
        number,
        table_id,
        is_delete_marked,
        trx_id,
        roll_pointer,
        key,
        old,
        lob_changes,
    })
}

type OldValues<'a> = (Vec<(u16, OldValue<'a>)>, Vec<LobChange<'a>>);

fn old_values<'a>(cursor: &mut Cursor<'a>, has_lob_changes: bool) -> Result<OldValues<'a>> {
    let count = cursor.number()?;
    let (mut old, mut changes) = (Vec::new(), Vec::new());
    // Each turn passes two bytes at least, so a count that lies ends at the record's end.
    let mut is_first_virtual = true;
    for _ in 0..count {
        let field = cursor.number()?;
        if field >= FIELDS_MAX {
            skip_virtual(cursor, std::mem::take(&mut is_first_virtual))?;
            continue;
        }
        let value = value(cursor)?;
        if has_lob_changes && matches!(value, OldValue::External { .. }) {
            lob_changes(cursor, field as u16, &mut changes)?;
        }
        old.push((field as u16, value));
    }
    Ok((old, changes))
}

/// Parses a length and the bytes.
fn value<'a>(cursor: &mut Cursor<'a>) -> Result<OldValue<'a>> {
    let len = cursor.number()?;
    if len == NULL {
        return Ok(OldValue::Null);
    }
    if len < EXTERNAL {
        return cursor.slice(len as usize).map(OldValue::Inline);
    }
    if len > EXTERNAL {
        let bytes = cursor.slice(((len - EXTERNAL) & !SPATIAL_STATUS) as usize)?;
        return external(bytes, bytes.len());
    }
    // More of the column than the record had: an index needs it, and the row does not.
    let in_record = cursor.number()?;
    let len = cursor.number()?;
    let bytes = cursor.slice((len & !SPATIAL_STATUS) as usize)?;
    external(bytes, in_record as usize)
}

/// An off-page column of `in_record` bytes in the record, with the reference; `bytes` has as many or
/// more before the reference.
fn external(bytes: &[u8], in_record: usize) -> Result<OldValue<'_>> {
    let split = |len: usize| bytes.split_at_checked(bytes.len().checked_sub(len)?);
    let parts = split(LobRef::LEN).and_then(|(before, reference)| {
        Some((before.get(..in_record.checked_sub(LobRef::LEN)?)?, reference))
    });
    let (prefix, reference) = parts.ok_or_else(|| {
        Error::corrupt(format!(
            "an off-page column of {in_record} bytes in its record, {} in its undo record",
            bytes.len()
        ))
    })?;
    Ok(OldValue::External { prefix, reference })
}

/// Passes a virtual column: its index, its older and its newer value (`trx_undo_read_v_idx`).
fn skip_virtual(cursor: &mut Cursor<'_>, is_first: bool) -> Result<()> {
    // Only the first one has the mark; without it the field's number alone says which column it is.
    if is_first {
        if cursor.peek()? != VIRTUAL_FORMAT {
            return Err(Error::unsupported(
                "an unfinished change of an indexed virtual column, in the form of MySQL 5.7.8",
                on_server(),
            ));
        }
        cursor.byte()?;
    }
    let start = cursor.at;
    let len = usize::from(cursor.u16()?);
    if len < 2 {
        return Err(Error::corrupt(format!("a virtual column's indexes take {len} bytes")));
    }
    cursor.at = start + len;
    for _ in 0..2 {
        if cursor.peek()? == MULTI_VALUE {
            skip_multi_value(cursor)?;
        } else {
            value(cursor)?;
        }
    }
    Ok(())
}

fn skip_multi_value(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.byte()?;
    let start = cursor.at;
    // 0 and 1: no value, and NULL.
    let len = usize::from(cursor.u16()?).max(2);
    cursor.at = start + len;
    Ok(())
}

/// Parses the changes in the place of an off-page column; none, if it was replaced as a whole, which its older reference
/// undoes.
fn lob_changes<'a>(
    cursor: &mut Cursor<'a>,
    field: u16,
    changes: &mut Vec<LobChange<'a>>,
) -> Result<()> {
    let flag = cursor.byte()?;
    if flag != 0 {
        return Err(Error::corrupt(format!(
            "an undo record has the unknown flag {flag:#x} of a LOB's change"
        )));
    }
    let count = cursor.number()?;
    if count == 0 {
        return Ok(());
    }
    let page_no = PageNo(cursor.number()?);
    let _version = cursor.number()?;
    let _last = (cursor.small_long()?, cursor.small_long()?);
    for _ in 0..count {
        let (offset, len) = (cursor.number()?, cursor.number()?);
        changes.push(LobChange { field, page_no, offset, old: cursor.slice(len as usize)? });
        for _ in 0..cursor.number()? {
            let _entry = (cursor.small_long()?, cursor.small_long()?);
        }
    }
    Ok(())
}

/// Returns the refusal of a table that an unfinished `ALTER TABLE` has changed.
pub(crate) fn alter_under_way() -> Error {
    Error::unsupported("a table whose ALTER TABLE was under way", on_server())
}

fn on_server() -> Remedy {
    "start the server on a copy of the directory, and read that".into()
}
