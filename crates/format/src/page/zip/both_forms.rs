//! A page that is changed in both of its forms, as the server does while it recovers (`page_zip_write_rec`,
//! `page_zip_available`, `page_zip_dir_insert`, `page_zip_dir_delete`, `page0zip.cc`, MySQL 8.0).
//!
//! The stream stays as it is. A record that is inserted or changed goes to the log of the compressed form, and what
//! stands uncompressed behind that follows from the form in memory: [`BothForms::store`] writes it anew.

use super::fields::Hole;
use super::heap::Heap;
use super::{HEADER, Header, RECORD_HEADER, Unzipper};
use crate::bytes::{fill, put, put_u16, slice, u8_at, u16_at};
use crate::lob_ref::LobRef;
use crate::{Error, Result};

/// `PAGE_FREE`.
const FREE_AT: usize = super::DATA + 6;
/// Bytes of an entry of the dense directory.
const ENTRY: usize = 2;
/// The most records whose place in the heap takes one byte of the log.
const SHORT_PLACES: usize = 64;
/// `REC_INFO_DELETED_FLAG`, and the bits for the number of owned records.
const DELETED: u8 = 0x20;
const OWNED: u8 = 0x0F;

/// A B-tree page with ROW_FORMAT=COMPRESSED in both forms.
#[derive(Debug)]
pub(crate) struct BothForms {
    unzipper: Box<Unzipper>,
    /// The end of the log of the compressed form.
    log_end: usize,
    /// References to off-page columns of records that are not free.
    lob_refs: usize,
}

impl BothForms {
    pub fn new() -> BothForms {
        BothForms { unzipper: Box::new(Unzipper::new()), log_end: 0, lob_refs: 0 }
    }

    /// Unzips a page.
    ///
    /// # Errors
    /// The page is damaged.
    pub fn open(&mut self, raw: &[u8], page_bytes: usize) -> Result<()> {
        self.unzipper.unzip(raw, page_bytes)?;
        self.log_end = self.unzipper.log_end;
        self.lob_refs = 0;
        let places = Places::of(&self.unzipper.heap)?;
        for &record in &places.records {
            self.lob_refs += self.lob_refs_of(record)?;
        }
        Ok(())
    }

    /// The form in memory.
    pub fn page(&mut self) -> &mut [u8] {
        &mut self.unzipper.heap.page
    }

    fn lob_refs_of(&mut self, record: usize) -> Result<usize> {
        let Unzipper { heap, fields, .. } = &mut *self.unzipper;
        heap.measure(record, fields)?;
        Ok(lob_refs(&heap.holes))
    }

    /// Whether the compressed form has room for a new record of so many bytes (`page_zip_available`).
    pub fn has_room(&self, raw: &[u8], record_bytes: usize) -> Result<bool> {
        let page = &self.unzipper.heap.page;
        let n_dense = Header::parse(page, page.len())?.n_dense;
        let of_each = ENTRY + self.unzipper.fields.column_bytes();
        let trailer = n_dense * of_each + self.lob_refs * LobRef::LEN;
        // Its entry in the directory, and its place in the heap instead of its header.
        let record = ENTRY + 2 + record_bytes.saturating_sub(RECORD_HEADER);
        Ok(self.log_end + record + trailer < raw.len())
    }

    /// Appends a record of the form in memory, which is new or was changed, to the log.
    pub fn log(&mut self, raw: &mut [u8], record: usize, is_new: bool) -> Result<()> {
        let Unzipper { heap, fields, .. } = &mut *self.unzipper;
        let shape = heap.measure(record, fields)?;
        let place = usize::from(u16_at(&heap.page, record.saturating_sub(4))? >> 3);
        let place = place.checked_sub(1).ok_or_else(|| Error::corrupt("it is the page's own"))?;
        let mut entry = Vec::with_capacity(2 + shape.extra_bytes + shape.data_bytes);
        if place >= SHORT_PLACES {
            entry.push(0x80 | (place >> 7) as u8);
        }
        entry.push((place << 1) as u8);
        let extra_at = record.saturating_sub(RECORD_HEADER + shape.extra_bytes);
        entry.extend(slice(&heap.page, extra_at, shape.extra_bytes)?.iter().rev());
        let mut at = 0;
        for hole in &heap.holes {
            entry.extend_from_slice(slice(&heap.page, record + at, hole.at - at)?);
            at = hole.at + hole.len;
        }
        entry.extend_from_slice(slice(&heap.page, record + at, shape.data_bytes - at)?);
        put(raw, self.log_end, &entry)?;
        self.log_end += entry.len();
        if is_new {
            self.lob_refs += lob_refs(&heap.holes);
        }
        Ok(())
    }

    /// Clears what stands uncompressed of a record that was freed (`page_zip_clear_rec`).
    pub fn clear(&mut self, record: usize) -> Result<()> {
        let lob_refs = self.lob_refs_of(record)?;
        self.lob_refs = self.lob_refs.saturating_sub(lob_refs);
        let Heap { page, holes, .. } = &mut self.unzipper.heap;
        put(page, record.saturating_sub(RECORD_HEADER), &[0])?;
        holes.iter().try_for_each(|hole| fill(page, record + hole.at, hole.len, 0))
    }

    /// Writes to the compressed form what is not in its stream and its log.
    ///
    /// # Errors
    /// The form in memory is damaged, or there is no room.
    pub fn store(&mut self, raw: &mut [u8]) -> Result<()> {
        let Unzipper { heap, fields, .. } = &mut *self.unzipper;
        let places = Places::of(heap)?;
        let n_dense = places.records.len() + places.freed.len();
        put(raw, 0, slice(&heap.page, 0, HEADER)?)?;
        let no_room = || Error::corrupt("its compressed form has no room");
        let directory_at = raw.len().checked_sub(ENTRY * n_dense).ok_or_else(no_room)?;
        let columns_at = directory_at.checked_sub(fields.column_bytes() * n_dense);
        let mut lob_at = columns_at.ok_or_else(no_room)?;
        let mut column_at = directory_at;
        let is_in_order = places.records.iter().map(|&record| (record, false));
        let mut all: Vec<_> = is_in_order.chain(places.freed.iter().map(|&r| (r, true))).collect();
        all.sort_unstable();
        for (record, is_freed) in all.into_iter().filter(|_| !fields.is_secondary()) {
            heap.measure(record, fields)?;
            for hole in &heap.holes {
                let at = match hole.is_lob_ref() {
                    true if is_freed => continue,
                    true => &mut lob_at,
                    false => &mut column_at,
                };
                *at = at.checked_sub(hole.len).ok_or_else(no_room)?;
                put(raw, *at, slice(&heap.page, record + hole.at, hole.len)?)?;
            }
        }
        // The zero that ends the log stands before them.
        let rest = lob_at.checked_sub(self.log_end).filter(|&rest| rest > 0).ok_or_else(no_room)?;
        fill(raw, self.log_end, rest, 0)?;
        let mut at = raw.len();
        for &record in &places.records {
            let info = u8_at(&heap.page, record.saturating_sub(RECORD_HEADER))?;
            let deleted = if info & DELETED != 0 { 0x8000 } else { 0 };
            let owner = if info & OWNED != 0 { 0x4000 } else { 0 };
            at -= ENTRY;
            put_u16(raw, at, record as u16 | deleted | owner)?;
        }
        for &record in &places.freed {
            at -= ENTRY;
            put_u16(raw, at, record as u16)?;
        }
        Ok(())
    }
}

/// How many of a record's holes are references to off-page columns.
fn lob_refs(holes: &[Hole]) -> usize {
    holes.iter().filter(|hole| hole.is_lob_ref()).count()
}

/// The origins of the records of a page in memory: those in key order, and the freed ones in the order of their list.
struct Places {
    records: Vec<usize>,
    freed: Vec<usize>,
}

impl Places {
    fn of(heap: &Heap) -> Result<Places> {
        let header = Header::parse(&heap.page, heap.page.len())?;
        let first = heap.next(super::heap::INFIMUM)?;
        let records = heap.chain(first, super::heap::SUPREMUM, header.n_recs)?;
        let free = usize::from(u16_at(&heap.page, FREE_AT)?);
        let freed = heap.chain(free, 0, header.n_dense - header.n_recs)?;
        Ok(Places { records, freed })
    }
}
