//! Changes of bytes that need no description, and of fields of a record (`mtr0log.cc`, `btr0cur.cc`, MySQL
//! 9.7).

use super::compressed::{Input, whole};
use super::description::Description;
use super::record::SystemFields;
use crate::bytes::{fill, put, put_u16, slice, u8_at, u16_at};
use crate::record::{DELETED, INSTANT, MIN_REC, VERSION};
use crate::redo::apply::directory::{Format, IndexBytes, N_HEAP_AT};
use crate::{Error, PageNo, Result, SpaceId};

/// `FIL_PAGE_OFFSET`.
const PAGE_NO_AT: usize = 4;
/// `FIL_PAGE_TYPE`.
const TYPE_AT: usize = 24;
/// `FIL_PAGE_SPACE_ID`.
const SPACE_AT: usize = 34;
/// `FIL_PAGE_IBUF_BITMAP`.
const IBUF_BITMAP: u16 = 5;
/// `IBUF_BITMAP`: where the bits begin, four for each page.
const BITMAP_AT: usize = 94;

/// Makes a page of zeroes that names its place (`fsp_init_file_page_low`).
pub(super) fn init(page: &mut [u8], space: SpaceId, page_no: PageNo) -> Result<()> {
    page.fill(0);
    put(page, PAGE_NO_AT, &page_no.0.to_be_bytes())?;
    put(page, SPACE_AT, &space.0.to_be_bytes())
}

/// Makes an empty bitmap of the change buffer (`ibuf_bitmap_page_init`).
pub(super) fn init_bitmap(page: &mut [u8]) -> Result<()> {
    put_u16(page, TYPE_AT, IBUF_BITMAP)?;
    fill(page, BITMAP_AT, page.len() / 2, 0)
}

/// The lower bytes of a number, so many of them.
pub(super) fn number(value: &[u8; 8], bytes: u8) -> &[u8] {
    value.split_at(value.len() - usize::from(bytes.min(8))).1
}

/// Writes bytes where the log may write some.
pub(super) fn write(page: &mut [u8], at: u16, data: &[u8]) -> Result<()> {
    // The checksum and the page's LSN are never logged.
    match usize::from(at) >= PAGE_NO_AT {
        true => put(page, at.into(), data),
        false => Err(Error::corrupt(format!("it writes at offset {at}"))),
    }
}

/// The offset of the info bits of a user's record.
fn info_bits_at(page: &mut [u8], record: u16, is_compact: bool) -> Result<usize> {
    let format = if is_compact { Format::Dynamic } else { Format::Redundant };
    let page = IndexBytes::new(page, format)?;
    let record = usize::from(record);
    page.require_record(record)?;
    match record == format.infimum() || record == format.supremum() {
        true => Err(Error::corrupt(format!("the record at offset {record} is the page's own"))),
        false => Ok(record - format.extra_bytes()),
    }
}

/// Sets or removes the mark of a deleted record; `is_compact` is the page's own form if it is not known.
pub(super) fn delete_mark(
    page: &mut [u8],
    record: u16,
    value: u8,
    is_compact: Option<bool>,
) -> Result<()> {
    let of_page = u16_at(page, N_HEAP_AT)? & 0x8000 != 0;
    let at = info_bits_at(page, record, is_compact.unwrap_or(of_page))?;
    let others = u8_at(page, at)? & !DELETED;
    let mark = if value == 0 { 0 } else { DELETED };
    put(page, at, &[others | mark])
}

/// Marks the first record of a level.
pub(super) fn min_rec_mark(page: &mut [u8], record: u16, is_compact: bool) -> Result<()> {
    let at = info_bits_at(page, record, is_compact)?;
    let bits = u8_at(page, at)? | MIN_REC;
    put(page, at, &[bits])
}

/// Writes the system fields of a record.
pub(super) fn system_fields(
    page: &mut [u8],
    description: &Description,
    record: u16,
    system: &SystemFields,
) -> Result<()> {
    if !system.are_set {
        return Ok(());
    }
    let [_, _, trx_id @ ..] = system.trx_id.to_be_bytes();
    let place = description.field(page, record.into(), system.field as usize)?;
    put(page, place.at, &trx_id)?;
    put(page, place.at + trx_id.len(), &system.roll_ptr)
}

/// Writes new values of the same length over those of a record.
pub(super) fn update(
    page: &mut [u8],
    description: &Description,
    record: u16,
    info_bits: u8,
    updates: &[u8],
) -> Result<()> {
    let at = info_bits_at(page, record, description.is_compact)?;
    // How the record is stored does not change.
    let kept = u8_at(page, at)? & (VERSION | INSTANT | 0x0f);
    put(page, at, &[kept | info_bits & (MIN_REC | DELETED)])?;
    let mut updates = Input::new(updates);
    for _ in 0..whole(updates.compressed())? {
        let (number, value) = whole(updates.update())?;
        update_field(page, description, record, number as usize, value)?;
    }
    Ok(())
}

fn update_field(
    page: &mut [u8],
    description: &Description,
    record: u16,
    number: usize,
    value: Option<&[u8]>,
) -> Result<()> {
    let place = description.field(page, record.into(), number)?;
    let is_new_null = value.is_none();
    if let Some(value) = value {
        if value.len() != place.len {
            let lens = format!("{} bytes for {} of field {number}", value.len(), place.len);
            return Err(Error::corrupt(lens));
        }
        put(page, place.at, value)?;
    }
    if is_new_null == place.is_null {
        return Ok(());
    }
    // Only a field of a REDUNDANT record keeps its room when it becomes NULL.
    let (end_at, width) = place.end.ok_or_else(|| {
        Error::corrupt(format!("field {number} becomes NULL, or no longer is, in its place"))
    })?;
    if is_new_null {
        fill(page, place.at, place.len, 0)?;
    }
    slice(page, end_at, width)?;
    let end = u8_at(page, end_at)? & 0x7f;
    put(page, end_at, &[end | u8::from(is_new_null) << 7])
}
