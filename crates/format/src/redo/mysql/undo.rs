//! Changes of undo pages (`trx0undo.cc`, `trx0rec.cc`, MySQL 9.7).
//!
//! ```text
//! 38   2 type   2 start of the newest log's records   2 free from here on   12 list node
//! 56   2 state   2 newest log's header   26 segment and list of pages      (the first page of a segment)
//! log header   0 transaction (8)   8 its number (8)   16 has delete marks (2)   18 start (2)
//!              20 flags (1)   21 dictionary (1)   22 table (8)   30 next log (2)   32 log before (2)
//!              34 list node (12)
//! ```

use crate::bytes::{fill, put, put_u16, slice, u16_at};
use crate::{Error, Result};

/// `FIL_PAGE_TYPE`.
const TYPE_AT: usize = 24;
/// `FIL_PAGE_UNDO_LOG`.
const UNDO_LOG: u16 = 2;
/// `TRX_UNDO_PAGE_HDR`: the type, then start and end of what is used.
const KIND_AT: usize = 38;
const START_AT: usize = KIND_AT + 2;
const FREE_AT: usize = KIND_AT + 4;
/// `TRX_UNDO_SEG_HDR`: the state, then the newest log.
const STATE_AT: usize = KIND_AT + 18;
const LAST_LOG_AT: usize = STATE_AT + 2;
/// `TRX_UNDO_SEG_HDR + TRX_UNDO_SEG_HDR_SIZE`: the first log of a segment.
const FIRST_LOG_AT: usize = STATE_AT + 30;
/// `TRX_UNDO_LOG_OLD_HDR_SIZE`.
const LOG_HEADER_BYTES: usize = 46;
/// `TRX_UNDO_ACTIVE`.
const ACTIVE: u16 = 1;
/// `FIL_PAGE_DATA_END`.
const TRAILER_BYTES: usize = 8;

/// Makes an empty undo page; its list node stays.
pub(super) fn init(page: &mut [u8], kind: u32) -> Result<()> {
    put_u16(page, TYPE_AT, UNDO_LOG)?;
    put_u16(page, KIND_AT, kind as u16)?;
    put_u16(page, START_AT, STATE_AT as u16)?;
    put_u16(page, FREE_AT, STATE_AT as u16)
}

fn free_at(page: &[u8]) -> Result<usize> {
    let free = usize::from(u16_at(page, FREE_AT)?);
    let end = page.len().saturating_sub(TRAILER_BYTES);
    match u16_at(page, TYPE_AT)? == UNDO_LOG && (STATE_AT..=end).contains(&free) {
        true => Ok(free),
        false => Err(Error::corrupt(format!("the page is no undo page, or is full up to {free}"))),
    }
}

/// Appends a record, between the offset of the next one and its own.
pub(super) fn append(page: &mut [u8], data: &[u8]) -> Result<()> {
    let free = free_at(page)?;
    let end = free + data.len() + 4;
    if end > page.len().saturating_sub(TRAILER_BYTES) {
        return Err(Error::corrupt(format!("{} bytes at offset {free} do not fit", data.len())));
    }
    put_u16(page, free, end as u16)?;
    put(page, free + 2, data)?;
    put_u16(page, end - 2, free as u16)?;
    put_u16(page, FREE_AT, end as u16)
}

/// Erases what is left of a record that did not fit.
pub(super) fn erase_end(page: &mut [u8]) -> Result<()> {
    let free = free_at(page)?;
    let end = page.len().saturating_sub(TRAILER_BYTES);
    fill(page, free, end.saturating_sub(free), 0xff)
}

/// Adds the header of a log behind what is used.
pub(super) fn create_log(page: &mut [u8], trx_id: u64) -> Result<()> {
    let at = free_at(page)?;
    let before = usize::from(u16_at(page, LAST_LOG_AT)?);
    slice(page, at, LOG_HEADER_BYTES + TRAILER_BYTES)?;
    if before != 0 {
        slice(page, before, LOG_HEADER_BYTES)?;
        put_u16(page, before + 30, at as u16)?;
    }
    put_u16(page, LAST_LOG_AT, at as u16)?;
    put_u16(page, at + 16, 1)?;
    put_u16(page, at + 30, 0)?;
    put_u16(page, at + 32, before as u16)?;
    begin_log(page, at, trx_id)
}

/// Uses the only log of a segment again, for another transaction.
pub(super) fn reuse_log(page: &mut [u8], trx_id: u64) -> Result<()> {
    free_at(page)?;
    begin_log(page, FIRST_LOG_AT, trx_id)
}

fn begin_log(page: &mut [u8], at: usize, trx_id: u64) -> Result<()> {
    let start = (at + LOG_HEADER_BYTES) as u16;
    put_u16(page, START_AT, start)?;
    put_u16(page, FREE_AT, start)?;
    put_u16(page, STATE_AT, ACTIVE)?;
    put(page, at, &trx_id.to_be_bytes())?;
    put_u16(page, at + 18, start)?;
    put(page, at + 20, &[0, 0])
}
