//! Insertion and deletion of one record of an index page, as the server does them on replay
//! (`page0cur.cc`, MySQL 9.7).

use super::description::Description;
use super::extent::Extent;
use super::record::Entry;
use crate::bytes::{put, put_u16, slice, u8_at, u16_at};
use crate::redo::apply::directory::{
    FREE_AT, Format, GARBAGE_AT, IndexBytes, LAST_INSERT_AT, N_RECS_AT,
};
use crate::redo::apply::rows::{Place, note_direction, take_top};
use crate::{Error, Result};

/// An index page to which records are applied, with the description of its index.
pub(super) struct IndexRedo<'p, 'd> {
    pub page: IndexBytes<'p>,
    pub description: &'d Description,
    /// A record that is being made.
    pub record: &'d mut Vec<u8>,
    /// Whether the origins of records stay where they are, as with ROW_FORMAT=COMPRESSED.
    pub keeps_origins: bool,
}

impl<'p, 'd> IndexRedo<'p, 'd> {
    pub fn new(
        page: &'p mut [u8],
        description: &'d Description,
        record: &'d mut Vec<u8>,
    ) -> Result<IndexRedo<'p, 'd>> {
        let format = if description.is_compact { Format::Dynamic } else { Format::Redundant };
        let page = IndexBytes::new(page, format)?;
        Ok(IndexRedo { page, description, record, keeps_origins: false })
    }

    /// The same for the form in memory of a page with ROW_FORMAT=COMPRESSED.
    pub fn of_zip(
        page: &'p mut [u8],
        description: &'d Description,
        record: &'d mut Vec<u8>,
    ) -> Result<IndexRedo<'p, 'd>> {
        Ok(IndexRedo { keeps_origins: true, ..IndexRedo::new(page, description, record)? })
    }

    pub fn extent(&self, record: usize) -> Result<Extent> {
        self.description.extent(self.page.bytes, record)
    }

    /// Inserts an entry behind the record `before`; returns its offset.
    pub fn insert(&mut self, before: usize, entry: &Entry<'_>) -> Result<usize> {
        let header = self.compose(before, entry)?;
        self.place(before, header)
    }

    /// Makes the record of an entry behind the record `before`; returns the bytes of its header.
    pub fn compose(&mut self, before: usize, entry: &Entry<'_>) -> Result<usize> {
        self.page.require_record(before)?;
        let former = self.extent(before)?;
        let extra = self.page.format.extra_bytes();
        let (bits, header, common) = match entry.header {
            Some((bits, header, common)) => (bits, header as usize, common as usize),
            None => {
                let common = former.total().checked_sub(entry.end.len());
                let common =
                    common.ok_or_else(|| Error::corrupt("it is longer than the one before"))?;
                (self.bits(before)?, former.header, common)
            }
        };
        let total = common.saturating_add(entry.end.len());
        if header < extra || header > total || total > self.page.bytes.len() {
            return Err(Error::corrupt(format!("an entry of {total} bytes with {header} before")));
        }
        let start = before.saturating_sub(former.header);
        self.record.clear();
        self.record.extend_from_slice(slice(self.page.bytes, start, common)?);
        self.record.extend_from_slice(entry.end);
        let info = u8_at(self.record, header - extra)?;
        put(self.record, header - extra, &[info & 0x0f | bits & 0xf0])?;
        if self.page.format == Format::Dynamic {
            let status = u8_at(self.record, header - 3)?;
            put(self.record, header - 3, &[status & !7 | bits & 7])?;
        }
        Ok(header)
    }

    /// Info bits, and status bits of a COMPACT record.
    fn bits(&self, record: usize) -> Result<u8> {
        let info = u8_at(self.page.bytes, record - self.page.format.extra_bytes())? & 0xf0;
        Ok(match self.page.format {
            Format::Dynamic => info | u8_at(self.page.bytes, record - 3)? & 7,
            Format::Redundant => info,
        })
    }

    /// Puts the record that was made, with so many bytes of `header`, behind the record `before`; returns
    /// its offset.
    pub fn place(&mut self, before: usize, header: usize) -> Result<usize> {
        let relative = before.checked_sub(self.page.format.infimum());
        let relative = relative.ok_or_else(|| Error::corrupt(format!("no record at {before}")))?;
        let place = Place::behind(&self.page, relative)?;
        let (at, heap_no) = self.take_room(self.record.len(), header)?;
        let extra = self.page.format.extra_bytes();
        let owned = u8_at(self.record, header - extra)?;
        put(self.record, header - extra, &[owned & 0xf0])?;
        let low_bits = u16_at(self.record, header - extra + 1)? & 7;
        put_u16(self.record, header - extra + 1, heap_no << 3 | low_bits)?;
        put(self.page.bytes, at, self.record)?;
        let record = at + header;
        self.page.set_next(record, place.after)?;
        self.page.set_next(place.before, record)?;
        let last_insert = usize::from(u16_at(self.page.bytes, LAST_INSERT_AT)?);
        put_u16(self.page.bytes, LAST_INSERT_AT, record as u16)?;
        note_direction(&mut self.page, &place, last_insert)?;
        let n_recs = u16_at(self.page.bytes, N_RECS_AT)?;
        put_u16(self.page.bytes, N_RECS_AT, n_recs.wrapping_add(1))?;
        self.page.add_owned(place.owner)?;
        Ok(record)
    }

    /// Takes room for a record of `len` bytes, so many of them `header`: the first free one's, if that is large enough,
    /// else the end of the heap. Returns its offset, and the number of the new record.
    fn take_room(&mut self, len: usize, header: usize) -> Result<(usize, u16)> {
        let free = usize::from(u16_at(self.page.bytes, FREE_AT)?);
        if free != 0 {
            self.page.require_record(free)?;
            let extent = self.extent(free)?;
            let unused = match self.keeps_origins {
                true => extent.header.checked_sub(header),
                false => Some(0),
            };
            if let Some(unused) = unused.filter(|unused| extent.total() >= len + unused) {
                return self.take_free(free, extent, unused, len);
            }
        }
        take_top(&mut self.page, len)
    }

    /// Takes the first free record; `unused`: so many bytes at its start stay unused.
    fn take_free(
        &mut self,
        free: usize,
        extent: Extent,
        unused: usize,
        len: usize,
    ) -> Result<(usize, u16)> {
        let start = free - extent.header;
        let garbage = usize::from(u16_at(self.page.bytes, GARBAGE_AT)?);
        let is_within = start >= self.page.format.heap_start()
            && start + extent.total() <= self.page.heap_top()?;
        let left = garbage.checked_sub(len).filter(|_| is_within);
        let left = left
            .ok_or_else(|| Error::corrupt(format!("{len} bytes at offset {start} are not free")))?;
        let next = self.page.next_free(free)?;
        put_u16(self.page.bytes, FREE_AT, next as u16)?;
        put_u16(self.page.bytes, GARBAGE_AT, left as u16)?;
        Ok((start + unused, self.page.heap_no(free)?))
    }

    /// Requires that a record is a user's.
    pub fn require_user(&self, record: usize) -> Result<()> {
        self.page.require_record(record)?;
        match record == self.page.format.infimum() || record == self.page.format.supremum() {
            true => Err(Error::corrupt(format!("the record at offset {record} is the page's own"))),
            false => Ok(()),
        }
    }

    /// The record before another one.
    pub fn before(&self, record: usize) -> Result<usize> {
        let owner = self.page.owner(record)?;
        let slot =
            owner.slot.checked_sub(1).ok_or_else(|| Error::corrupt("nothing is before it"))?;
        let mut before = self.page.slot(slot)?;
        self.page.require_record(before)?;
        for _ in 0..owner.owned {
            let next = self.page.next(before)?;
            if next == record {
                return Ok(before);
            }
            before = next;
        }
        Err(Error::corrupt(format!("the record at offset {record} is not in its list")))
    }

    /// Deletes a record: its room is free, its bytes stay.
    pub fn delete(&mut self, record: usize) -> Result<()> {
        self.require_user(record)?;
        let extent = self.extent(record)?;
        let before = self.before(record)?;
        let after = self.page.next(record)?;
        let owner = self.page.owner(record)?;
        let n_recs = u16_at(self.page.bytes, N_RECS_AT)?.checked_sub(1);
        let n_recs = n_recs.ok_or_else(|| Error::corrupt("the page has no records"))?;
        put_u16(self.page.bytes, LAST_INSERT_AT, 0)?;
        self.page.set_next(before, after)?;
        let owner = self.page.remove_owned(owner, record, before)?;
        self.add_free(record, record, extent.total())?;
        put_u16(self.page.bytes, N_RECS_AT, n_recs)?;
        self.page.balance(owner)
    }

    /// Puts a chain of records, from `first` to `last`, before the free ones; `len`: their bytes.
    pub fn add_free(&mut self, first: usize, last: usize, len: usize) -> Result<()> {
        match usize::from(u16_at(self.page.bytes, FREE_AT)?) {
            0 => self.page.set_no_next(last)?,
            next => self.page.set_next(last, next)?,
        }
        put_u16(self.page.bytes, FREE_AT, first as u16)?;
        let garbage = usize::from(u16_at(self.page.bytes, GARBAGE_AT)?);
        put_u16(self.page.bytes, GARBAGE_AT, (garbage + len) as u16)
    }

    /// Copies bytes of the page itself to the record that is made.
    pub fn take_record(&mut self, old: &[u8], record: usize, extent: Extent) -> Result<()> {
        let start = record.saturating_sub(extent.header);
        self.record.clear();
        self.record.extend_from_slice(slice(old, start, extent.total())?);
        Ok(())
    }
}
