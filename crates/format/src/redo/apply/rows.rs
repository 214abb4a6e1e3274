//! Records of inserted and deleted index entries. They need no definition of the index: they say how
//! many bytes of header and data the entry has in common with its predecessor, and have the rest
//! (`page_apply_insert_dynamic` and the others, `page0cur.cc`, MariaDB 10.11).
//!
//! ```text
//! 4, 5  INSERT_*_REDUNDANT   predecessor, header bits, common header bytes, common data bytes, rest
//! 6     INSERT_HEAP_DYNAMIC  predecessor, bits + 8 x header bytes, common header, common data, rest
//! 7     INSERT_REUSE_DYNAMIC the same, with the shift from the free record after the predecessor
//! 8     DELETE_*_REDUNDANT   predecessor
//! 9     DELETE_*_DYNAMIC     predecessor, header bytes, data bytes
//! ```
//!
//! The predecessor is given relative to the infimum.

use super::directory::{
    DIRECTION_AT, FREE_AT, Format, GARBAGE_AT, HEAP_TOP_AT, IndexBytes, LAST_INSERT_AT, LEVEL_AT,
    N_DIRECTION_AT, N_HEAP_AT, N_RECS_AT, NO_DIRECTION, Owner,
};
use super::{TYPE_AT, number};
use crate::bytes::{copy_within, fill, put, put_u16, slice, u8_at, u16_at};
use crate::{Error, Result};

/// `REC_MAX_N_FIELDS`.
const FIELDS_MAX: usize = 1023;
/// The most bytes of the header of a record with ROW_FORMAT=REDUNDANT.
const HEADER_BYTES_MAX: usize = 6 + 2 * FIELDS_MAX;
/// `REC_STATUS_INSTANT`, and `REC_STATUS_NODE_PTR`.
const STATUS_INSTANT: u8 = 4;
const STATUS_NODE_PTR: u8 = 1;
/// `PAGE_LEFT` and `PAGE_RIGHT`.
const LEFT: u8 = 1;
const RIGHT: u8 = 2;

/// Applies a record of one of the subtypes 4 to 9.
pub(super) fn apply(page: &mut [u8], subtype: u8, body: &[u8]) -> Result<()> {
    let (before, rest) = number(body)?;
    let is_reused = subtype & 1 == 1;
    match subtype {
        4 | 5 => {
            let (bits, rest) = number(rest)?;
            let (common_header, rest) = number(rest)?;
            let (common_data, rest) = number(rest)?;
            let page = IndexBytes::new(page, Format::Redundant)?;
            let header = RedundantHeader { bits, common: common_header };
            insert_redundant(page, is_reused, before, header, common_data, rest)
        }
        6 | 7 => {
            let (shift, rest) = if is_reused { number(rest)? } else { (0, rest) };
            let (bits, rest) = number(rest)?;
            let (common_header, rest) = number(rest)?;
            let (common_data, rest) = number(rest)?;
            let page = IndexBytes::new(page, Format::Dynamic)?;
            let entry = DynamicEntry { bits, common_header, common_data, rest };
            insert_dynamic(page, is_reused.then_some(shift), before, &entry)
        }
        8 => delete(IndexBytes::new(page, Format::Redundant)?, before, None),
        _ => {
            let (header, rest) = number(rest)?;
            let (data, _) = number(rest)?;
            delete(IndexBytes::new(page, Format::Dynamic)?, before, Some((header, data)))
        }
    }
}

/// The place of an entry between its neighbours.
pub(in crate::redo) struct Place {
    pub before: usize,
    pub after: usize,
    pub owner: Owner,
}

impl Place {
    /// The place behind a record, given relative to the infimum.
    pub fn behind(page: &IndexBytes<'_>, before: usize) -> Result<Place> {
        let before = page.format.infimum().saturating_add(before);
        if before == page.format.supremum() {
            return Err(Error::corrupt("its predecessor is the last of all records"));
        }
        page.require_record(before)?;
        let after = page.next(before)?;
        Ok(Place { before, after, owner: page.owner(after)? })
    }
}

/// Bytes of an entry, header and data.
#[derive(Clone, Copy)]
struct Size {
    header: usize,
    data: usize,
}

impl Size {
    fn total(self) -> usize {
        self.header + self.data
    }
}

/// The header of an entry with ROW_FORMAT=REDUNDANT.
struct RedundantHeader {
    bits: usize,
    common: usize,
}

fn insert_redundant(
    mut page: IndexBytes<'_>,
    is_reused: bool,
    before: usize,
    header: RedundantHeader,
    common_data: usize,
    rest: &[u8],
) -> Result<()> {
    let place = Place::behind(&page, before)?;
    let fields = (header.bits >> 3) + 1;
    let is_short = header.bits >> 2 & 1 == 1;
    let header_len = 6 + if is_short { fields } else { 2 * fields };
    let common = header.common + 6;
    if fields > FIELDS_MAX || common > header_len {
        return Err(Error::corrupt(format!("{fields} fields with {common} common header bytes")));
    }
    // The header is built apart, so that it can be read before the page is changed.
    let mut buffer = [0; HEADER_BYTES_MAX];
    let (own, data) = split(rest, header_len - common)?;
    put(&mut buffer, 0, own)?;
    let start = place.before.checked_sub(common);
    let start = start.ok_or_else(|| Error::corrupt("more common bytes than before it"))?;
    put(&mut buffer, header_len - common, slice(page.bytes, start, common)?)?;
    let info = ((header.bits & 3) as u8) << 4;
    put(&mut buffer, header_len - 6, &[info])?;
    let size = Size {
        header: header_len,
        data: redundant_data_len(&buffer, header_len, fields, is_short)?,
    };
    if size.data.checked_sub(common_data) != Some(data.len()) {
        return Err(Error::corrupt(format!("{} data bytes do not add up", size.data)));
    }
    require_data(&page, place.before, common_data)?;
    let (at, heap_no) = match is_reused {
        true => {
            let free = free_record(&page)?;
            let free_size = redundant_size(&page, free)?;
            let at = free.checked_sub(free_size.header);
            let at = at.filter(|_| size.total() <= free_size.total());
            let at = at.ok_or_else(|| Error::corrupt("the free record is smaller"))?;
            (at, take_free(&mut page, free, at, size)?)
        }
        false => take_top(&mut page, size.total())?,
    };
    let bits = heap_no << 3 | (fields as u16) >> 7 & 7;
    put_u16(&mut buffer, header_len - 5, bits)?;
    put(&mut buffer, header_len - 3, &[(fields as u8) << 1 | u8::from(is_short)])?;
    put(page.bytes, at, slice(&buffer, 0, header_len)?)?;
    finish(page, &place, at + header_len, common_data, data)
}

/// An entry with ROW_FORMAT=COMPACT or DYNAMIC.
struct DynamicEntry<'b> {
    bits: usize,
    common_header: usize,
    common_data: usize,
    rest: &'b [u8],
}

fn insert_dynamic(
    mut page: IndexBytes<'_>,
    shift: Option<usize>,
    before: usize,
    entry: &DynamicEntry<'_>,
) -> Result<()> {
    let place = Place::behind(&page, before)?;
    let (own, data) = split(entry.rest, entry.bits >> 3)?;
    let size =
        Size { header: 5 + entry.common_header + own.len(), data: entry.common_data + data.len() };
    let is_leaf = u16_at(page.bytes, LEVEL_AT)? == 0;
    let status = match (is_leaf, entry.bits as u8 & STATUS_INSTANT) {
        (true, status) => status,
        (false, 0) => STATUS_NODE_PTR,
        (false, _) => return Err(Error::corrupt("an instant record above the leaves")),
    };
    let start = place.before.checked_sub(5 + entry.common_header);
    let start = start.ok_or_else(|| Error::corrupt("more common bytes than before it"))?;
    slice(page.bytes, start, entry.common_header)?;
    require_data(&page, place.before, entry.common_data)?;
    let (at, heap_no) = match shift {
        Some(shift) => {
            let free = free_record(&page)?;
            let unshifted = free.checked_sub(size.header);
            let at = unshifted.and_then(|at| match shift & 1 {
                1 => at.checked_sub(shift >> 1),
                _ => at.checked_add(shift >> 1),
            });
            let at = at.ok_or_else(|| Error::corrupt("its place is not on the page"))?;
            (at, take_free(&mut page, free, at, size)?)
        }
        None => take_top(&mut page, size.total())?,
    };
    put(page.bytes, at, own)?;
    let common_at = at + own.len();
    copy_within(page.bytes, start, common_at, entry.common_header)?;
    let fixed_at = common_at + entry.common_header;
    put(page.bytes, fixed_at, &[((entry.bits & 3) as u8) << 4])?;
    put_u16(page.bytes, fixed_at + 1, heap_no << 3 | u16::from(status))?;
    page.set_next(fixed_at + 5, place.after)?;
    finish(page, &place, fixed_at + 5, entry.common_data, data)
}

/// Splits bytes behind `at`.
fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8])> {
    bytes
        .split_at_checked(at)
        .ok_or_else(|| Error::corrupt(format!("a header of {at} bytes in {} bytes", bytes.len())))
}

/// Requires that a record may have so many bytes of data.
fn require_data(page: &IndexBytes<'_>, record: usize, data: usize) -> Result<()> {
    match record.saturating_add(data) <= page.heap_top()? {
        true => Ok(()),
        false => Err(Error::corrupt(format!("its predecessor has fewer than {data} bytes"))),
    }
}

/// The first of the free records.
fn free_record(page: &IndexBytes<'_>) -> Result<usize> {
    let free = usize::from(u16_at(page.bytes, FREE_AT)?);
    let least = page.format.heap_start() + page.format.extra_bytes();
    match (least..=page.heap_top()?).contains(&free) {
        true => Ok(free),
        false => Err(Error::corrupt(format!("there is no free record at offset {free}"))),
    }
}

/// Takes the first free record from its list, for an entry of `size` at `at`; returns its number.
fn take_free(page: &mut IndexBytes<'_>, free: usize, at: usize, size: Size) -> Result<u16> {
    let garbage = usize::from(u16_at(page.bytes, GARBAGE_AT)?);
    let is_within = at >= page.format.heap_start() && at + size.total() <= page.heap_top()?;
    let left = garbage.checked_sub(size.total()).filter(|_| is_within);
    let left = left.ok_or_else(|| {
        Error::corrupt(format!("{} bytes at offset {at} are not free", size.total()))
    })?;
    let next = page.next_free(free)?;
    put_u16(page.bytes, FREE_AT, next as u16)?;
    put_u16(page.bytes, GARBAGE_AT, left as u16)?;
    page.heap_no(free)
}

/// Takes room at the end of the heap; returns its offset, and the number of the new record.
pub(in crate::redo) fn take_top(page: &mut IndexBytes<'_>, len: usize) -> Result<(usize, u16)> {
    let top = page.heap_top()?;
    let n_heap = page.n_heap()?;
    let heap_no = n_heap & 0x7fff;
    let new_top = top + len;
    if new_top > page.last_slot()? || usize::from(heap_no) >= page.bytes.len() / 5 {
        return Err(Error::corrupt(format!("the page has no room for {len} bytes")));
    }
    put_u16(page.bytes, N_HEAP_AT, n_heap + 1)?;
    put_u16(page.bytes, HEAP_TOP_AT, new_top as u16)?;
    Ok((top, heap_no))
}

/// Writes the data of an entry whose header is written, and links the entry.
fn finish(
    mut page: IndexBytes<'_>,
    place: &Place,
    record: usize,
    common_data: usize,
    data: &[u8],
) -> Result<()> {
    let last_insert = usize::from(u16_at(page.bytes, LAST_INSERT_AT)?);
    put_u16(page.bytes, LAST_INSERT_AT, record as u16)?;
    page.set_next(place.before, record)?;
    copy_within(page.bytes, place.before, record, common_data)?;
    put(page.bytes, record + common_data, data)?;
    // FIL_PAGE_RTREE
    if u8_at(page.bytes, TYPE_AT + 1)? != 0xbe {
        note_direction(&mut page, place, last_insert)?;
    }
    let n_recs = u16_at(page.bytes, N_RECS_AT)?;
    put_u16(page.bytes, N_RECS_AT, n_recs.wrapping_add(1))?;
    page.add_owned(place.owner)
}

/// Notes whether entries come in ascending or descending order.
pub(in crate::redo) fn note_direction(
    page: &mut IndexBytes<'_>,
    place: &Place,
    last_insert: usize,
) -> Result<()> {
    let byte = u8_at(page.bytes, DIRECTION_AT)?;
    let former = byte & 7;
    let direction = match last_insert {
        0 => NO_DIRECTION,
        last if last == place.before && former != LEFT => RIGHT,
        last if last == place.after && former != RIGHT => LEFT,
        _ => NO_DIRECTION,
    };
    let in_order = match direction {
        NO_DIRECTION => 0,
        _ => u16_at(page.bytes, N_DIRECTION_AT)?.wrapping_add(1),
    };
    put(page.bytes, DIRECTION_AT, &[byte & !7 | direction])?;
    put_u16(page.bytes, N_DIRECTION_AT, in_order)
}

/// Deletes the record behind another one. `sizes`: bytes of its header besides the fixed ones and of
/// its data, where the record itself does not say.
fn delete(mut page: IndexBytes<'_>, before: usize, sizes: Option<(usize, usize)>) -> Result<()> {
    let before = page.format.infimum().saturating_add(before);
    page.require_record(before)?;
    let record = page.next(before)?;
    if record == page.format.supremum() || record == page.format.infimum() {
        return Err(Error::corrupt("its predecessor is the last record"));
    }
    let size = match sizes {
        Some((header, data)) => Size { header: header + 5, data },
        None => redundant_size(&page, record)?,
    };
    let after = page.next(record)?;
    let start = record.checked_sub(size.header).filter(|&at| at >= page.format.heap_start());
    let end = record.saturating_add(size.data);
    let start = start.filter(|_| end <= page.heap_top().unwrap_or_default());
    let start = start.ok_or_else(|| {
        Error::corrupt(format!("a record of {} bytes at offset {record}", size.total()))
    })?;
    let owner = page.owner(record)?;
    let n_recs = u16_at(page.bytes, N_RECS_AT)?.checked_sub(1);
    let n_recs = n_recs.ok_or_else(|| Error::corrupt("the page has no records"))?;
    let owner = page.remove_owned(owner, record, before)?;
    page.set_next(before, after)?;
    free(&mut page, record, start, end)?;
    put_u16(page.bytes, LAST_INSERT_AT, 0)?;
    put_u16(page.bytes, N_RECS_AT, n_recs)?;
    page.balance(owner)
}

/// Makes the room of a deleted record free (`page_mem_free`): the last of the heap is given back, another
/// one heads the list of free records. Its bytes become zeroes.
fn free(page: &mut IndexBytes<'_>, record: usize, start: usize, end: usize) -> Result<()> {
    let n_heap = page.n_heap()?;
    let garbage = usize::from(u16_at(page.bytes, GARBAGE_AT)?);
    let is_last = page.heap_no(record)? == (n_heap & 0x7fff).wrapping_sub(1);
    if is_last {
        let saved = page.heap_top()?.saturating_sub(end);
        put_u16(page.bytes, HEAP_TOP_AT, start as u16)?;
        put_u16(page.bytes, N_HEAP_AT, n_heap - 1)?;
        put_u16(page.bytes, GARBAGE_AT, garbage.wrapping_sub(saved) as u16)?;
        return fill(page.bytes, start, end - start, 0);
    }
    let next = usize::from(u16_at(page.bytes, FREE_AT)?);
    put_u16(page.bytes, FREE_AT, record as u16)?;
    put_u16(page.bytes, GARBAGE_AT, garbage.wrapping_add(end - start) as u16)?;
    match next {
        0 => page.set_no_next(record)?,
        _ => page.set_next(record, next)?,
    }
    fill(page.bytes, record, end - record, 0)
}

/// The size of a record with ROW_FORMAT=REDUNDANT, by its own header.
fn redundant_size(page: &IndexBytes<'_>, record: usize) -> Result<Size> {
    let fields = usize::from(u16_at(page.bytes, record.saturating_sub(4))? >> 1 & 0x3ff);
    let is_short = u8_at(page.bytes, record.saturating_sub(3))? & 1 == 1;
    let header = 6 + if is_short { fields } else { 2 * fields };
    let start = record.checked_sub(header).filter(|&at| at >= page.format.heap_start());
    let data = match start {
        Some(_) if fields > 0 => redundant_data_len(page.bytes, record, fields, is_short)?,
        _ => return Err(Error::corrupt(format!("a record of {fields} fields at offset {record}"))),
    };
    match record + data <= page.heap_top()? {
        true => Ok(Size { header, data }),
        false => Err(Error::corrupt(format!("a record of {data} bytes at offset {record}"))),
    }
}

/// The data bytes of a record with ROW_FORMAT=REDUNDANT: the end of its last field, without the bits
/// that say NULL and off-page. `origin`: the offset of the data.
fn redundant_data_len(bytes: &[u8], origin: usize, fields: usize, is_short: bool) -> Result<usize> {
    let before = 6 + if is_short { fields } else { 2 * fields };
    let at = origin.checked_sub(before);
    let at = at.ok_or_else(|| Error::corrupt(format!("a header of {before} bytes")))?;
    Ok(usize::from(match is_short {
        true => u16::from(u8_at(bytes, at)? & 0x7f),
        false => u16_at(bytes, at)? & 0x3fff,
    }))
}
