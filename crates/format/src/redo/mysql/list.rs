//! Changes of many records of an index page at once (`page0page.cc`, `btr0btr.cc`, MySQL 9.7).

use super::compressed::{Input, whole};
use super::entry::IndexRedo;
use crate::bytes::{put, put_u16, slice, u16_at, u64_at};
use crate::redo::apply::create;
use crate::redo::apply::directory::{
    DIRECTION_AT, Format, HEADER, IndexBytes, LAST_INSERT_AT, LEVEL_AT, N_DIRECTION_AT, N_RECS_AT,
    N_SLOTS_AT, NO_DIRECTION,
};
use crate::{Error, Result};

/// `FIL_PAGE_TYPE`.
const TYPE_AT: usize = 24;
/// `PAGE_MAX_TRX_ID`.
const MAX_TRX_ID_AT: usize = HEADER + 18;

/// Makes an empty index page of a type.
pub(super) fn create(page: &mut [u8], kind: u16, is_compact: bool) -> Result<()> {
    match is_compact {
        true => create::dynamic(page)?,
        false => create::redundant(page)?,
    }
    put_u16(page, TYPE_AT, kind)
}

impl IndexRedo<'_, '_> {
    /// Deletes a record and all behind it: the chain is cut.
    pub fn delete_list_end(&mut self, first: usize) -> Result<()> {
        self.require_user(first)?;
        let supremum = self.page.format.supremum();
        let before = self.before(first)?;
        let owner = self.page.owner(first)?;
        let n_recs = usize::from(u16_at(self.page.bytes, N_RECS_AT)?);
        let (mut last, mut record) = (first, first);
        let (mut deleted, mut len, mut of_owner) = (0, 0, 0);
        let mut is_owned = owner.record != first;
        while record != supremum {
            if deleted == n_recs {
                return Err(Error::corrupt(format!("the page has more than its {n_recs} records")));
            }
            len += self.extent(record)?.total();
            deleted += 1;
            last = record;
            record = self.page.next(record)?;
            if is_owned {
                of_owner += 1;
                is_owned = record != owner.record;
            }
        }
        let owned = owner.owned.checked_sub(of_owner);
        let owned = owned.ok_or_else(|| Error::corrupt("more records than their owner says"))?;
        put_u16(self.page.bytes, LAST_INSERT_AT, 0)?;
        self.page.set_slot(owner.slot, supremum)?;
        self.page.set_owned(supremum, owned)?;
        put_u16(self.page.bytes, N_SLOTS_AT, owner.slot as u16 + 1)?;
        self.page.set_next(before, supremum)?;
        self.add_free(first, last, len)?;
        put_u16(self.page.bytes, N_RECS_AT, (n_recs - deleted) as u16)
    }

    /// Deletes all records from `first` to the one before `end`, one by one, and passes each to `deleted`.
    pub fn delete_between(
        &mut self,
        first: usize,
        end: usize,
        mut deleted: impl FnMut(usize),
    ) -> Result<()> {
        let mut record = first;
        for _ in 0..=u16_at(self.page.bytes, N_RECS_AT)? {
            if record == end {
                return Ok(());
            }
            let next = self.page.next(record)?;
            self.delete(record)?;
            deleted(record);
            record = next;
        }
        Err(Error::corrupt(format!("the record at offset {end} is not in the list")))
    }

    /// Deletes all records before another one.
    pub fn delete_list_start(&mut self, end: usize, deleted: impl FnMut(usize)) -> Result<()> {
        self.require_user(end)?;
        let first = self.page.next(self.page.format.infimum())?;
        self.delete_between(first, end, deleted)
    }

    /// Inserts entries, each behind the last record.
    pub fn copy_list(&mut self, entries: &[u8]) -> Result<()> {
        let mut last = self.before(self.page.format.supremum())?;
        let mut entries = Input::new(entries);
        while !entries.is_at_end() {
            let entry = whole(entries.entry())?;
            last = self.insert(last, &entry)?;
        }
        put_u16(self.page.bytes, LAST_INSERT_AT, 0)?;
        put(self.page.bytes, DIRECTION_AT, &[NO_DIRECTION])?;
        put_u16(self.page.bytes, N_DIRECTION_AT, 0)
    }

    /// Makes the page anew with its records in order, so that no room between them is free.
    pub fn reorganize(&mut self) -> Result<()> {
        let mut old = self.page.bytes.to_vec();
        let is_compact = self.page.format == Format::Dynamic;
        create(self.page.bytes, u16_at(&old, TYPE_AT)?, is_compact)?;
        let supremum = self.page.format.supremum();
        let mut last = self.page.format.infimum();
        let n_recs = u16_at(&old, N_RECS_AT)?;
        let old = IndexBytes::new(&mut old, self.page.format)?;
        let mut record = old.next(last)?;
        for _ in 0..n_recs {
            if record == supremum {
                return Err(Error::corrupt(format!(
                    "the page has fewer than its {n_recs} records"
                )));
            }
            let extent = self.description.extent(old.bytes, record)?;
            self.take_record(old.bytes, record, extent)?;
            last = self.place(last, extent.header)?;
            record = old.next(record)?;
        }
        if record != supremum {
            return Err(Error::corrupt(format!("the page has more than its {n_recs} records")));
        }
        if u16_at(self.page.bytes, LEVEL_AT)? == 0 && u64_at(old.bytes, MAX_TRX_ID_AT)? != 0 {
            let max_trx_id = slice(old.bytes, MAX_TRX_ID_AT, 8)?;
            put(self.page.bytes, MAX_TRX_ID_AT, max_trx_id)?;
        }
        Ok(())
    }
}
