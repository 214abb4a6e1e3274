//! Records that make a page, or lengthen an undo page.

use crate::bytes::{fill, put, put_u16, slice, u16_at};
use crate::{Error, Result};

use super::TYPE_AT;
use super::directory::{
    DATA, DIRECTION_AT, Format, HEADER, HEAP_TOP_AT, N_HEAP_AT, N_SLOTS_AT, NO_DIRECTION,
    TRAILER_BYTES,
};

/// `FIL_PAGE_INDEX`.
const INDEX: u16 = 17855;
/// `FIL_PAGE_UNDO_LOG`.
const UNDO_LOG: u16 = 2;
/// `PAGE_HEADER_PRIV_END`: the bytes of a page's header that its creation sets.
const CREATED_HEADER_BYTES: usize = 26;
/// `TRX_UNDO_PAGE_FREE`: the offset of the free bytes of an undo page.
const UNDO_FREE_AT: usize = HEADER + 4;
/// `TRX_UNDO_PAGE_HDR + TRX_UNDO_PAGE_HDR_SIZE`: the first record of an undo page.
const UNDO_START: u16 = HEADER as u16 + 18;

/// The records of an empty page with ROW_FORMAT=REDUNDANT: the first and the last of all keys, each
/// with the end of its one field, its header and its name.
const REDUNDANT: [u8; 31] =
    *b"\x08\x01\x00\x00\x03\x00\x74infimum\x00\x09\x01\x00\x08\x03\x00\x00supremum\x00";

/// Those of a page with another format, each with its header and its name.
const DYNAMIC: [u8; 26] = *b"\x01\x00\x02\x00\x0dinfimum\x00\x01\x00\x0b\x00\x00supremum";

/// Makes an empty page with ROW_FORMAT=REDUNDANT.
pub(in crate::redo) fn redundant(page: &mut [u8]) -> Result<()> {
    empty(page, &REDUNDANT, Format::Redundant, 2)
}

/// Makes an empty page with ROW_FORMAT=COMPACT or DYNAMIC.
pub(in crate::redo) fn dynamic(page: &mut [u8]) -> Result<()> {
    empty(page, &DYNAMIC, Format::Dynamic, 0x8002)
}

/// Makes an empty page (`page_create_low`): level, index and segments stay as they are.
fn empty(page: &mut [u8], records: &[u8], format: Format, n_heap: u16) -> Result<()> {
    let supremum_end = DATA + records.len();
    put_u16(page, TYPE_AT, INDEX)?;
    fill(page, HEADER, CREATED_HEADER_BYTES, 0)?;
    put_u16(page, N_SLOTS_AT, 2)?;
    put_u16(page, HEAP_TOP_AT, supremum_end as u16)?;
    put_u16(page, N_HEAP_AT, n_heap)?;
    put(page, DIRECTION_AT, &[NO_DIRECTION])?;
    put(page, DATA, records)?;
    let directory_end = page.len().saturating_sub(TRAILER_BYTES);
    fill(page, supremum_end, directory_end.saturating_sub(supremum_end), 0)?;
    put_u16(page, directory_end.saturating_sub(4), format.supremum() as u16)?;
    put_u16(page, directory_end.saturating_sub(2), format.infimum() as u16)
}

/// Makes an empty undo page (`trx_undo_page_init`).
pub(super) fn undo(page: &mut [u8]) -> Result<()> {
    put_u16(page, TYPE_AT, UNDO_LOG)?;
    put_u16(page, HEADER, 0)?;
    put_u16(page, HEADER + 2, UNDO_START)?;
    put_u16(page, UNDO_FREE_AT, UNDO_START)?;
    // The node of a list: no page before, none after.
    put(page, HEADER + 6, &[0xff, 0xff, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0])
}

/// Appends a record to an undo page, between the offset of the next one and its own.
pub(super) fn append_undo(page: &mut [u8], data: &[u8]) -> Result<()> {
    let free = u16_at(page, UNDO_FREE_AT)?;
    let end = usize::from(free) + data.len() + 4;
    if data.len() <= 2 || free < UNDO_START || end + 2 >= page.len().saturating_sub(TRAILER_BYTES) {
        return Err(Error::corrupt(format!("{} bytes at offset {free} do not fit", data.len())));
    }
    slice(page, free.into(), data.len() + 4)?;
    put_u16(page, UNDO_FREE_AT, end as u16)?;
    put_u16(page, free.into(), end as u16)?;
    put(page, usize::from(free) + 2, data)?;
    put_u16(page, end - 2, free)
}
