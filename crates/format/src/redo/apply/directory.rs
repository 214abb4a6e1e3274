//! An index page as its records see it: header fields, the directory of slots, and who owns a record
//! (`page0page.h`, `rem0rec.h`, MariaDB 10.11).

use crate::bytes::{copy_within, put, put_u16, slice, u8_at, u16_at};
use crate::{Error, Result};

/// `PAGE_HEADER`.
pub(in crate::redo) const HEADER: usize = 38;
/// `PAGE_DATA`.
pub(in crate::redo) const DATA: usize = HEADER + 56;
/// `PAGE_N_DIR_SLOTS`.
pub(in crate::redo) const N_SLOTS_AT: usize = HEADER;
/// `PAGE_HEAP_TOP`.
pub(in crate::redo) const HEAP_TOP_AT: usize = HEADER + 2;
/// `PAGE_N_HEAP`, whose highest bit is the format.
pub(in crate::redo) const N_HEAP_AT: usize = HEADER + 4;
/// `PAGE_FREE`.
pub(in crate::redo) const FREE_AT: usize = HEADER + 6;
/// `PAGE_GARBAGE`.
pub(in crate::redo) const GARBAGE_AT: usize = HEADER + 8;
/// `PAGE_LAST_INSERT`.
pub(in crate::redo) const LAST_INSERT_AT: usize = HEADER + 10;
/// `PAGE_DIRECTION_B`, of which three bits are the direction.
pub(in crate::redo) const DIRECTION_AT: usize = HEADER + 13;
/// `PAGE_N_DIRECTION`.
pub(in crate::redo) const N_DIRECTION_AT: usize = HEADER + 14;
/// `PAGE_N_RECS`.
pub(in crate::redo) const N_RECS_AT: usize = HEADER + 16;
/// `PAGE_LEVEL`.
pub(in crate::redo) const LEVEL_AT: usize = HEADER + 26;
/// `PAGE_NO_DIRECTION`.
pub(in crate::redo) const NO_DIRECTION: u8 = 5;
/// `FIL_PAGE_DATA_END`: the bytes behind the directory.
pub(in crate::redo) const TRAILER_BYTES: usize = 8;
/// `PAGE_DIR_SLOT_MAX_N_OWNED`.
const OWNED_MAX: u8 = 8;
/// `PAGE_DIR_SLOT_MIN_N_OWNED`.
const OWNED_MIN: u8 = 4;
/// `REC_NEXT`.
const NEXT_BEFORE: usize = 2;

/// The format of a page's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redo) enum Format {
    Redundant,
    /// COMPACT or DYNAMIC.
    Dynamic,
}

impl Format {
    /// The fixed bytes before a record's origin.
    pub fn extra_bytes(self) -> usize {
        match self {
            Format::Redundant => 6,
            Format::Dynamic => 5,
        }
    }

    pub fn infimum(self) -> usize {
        match self {
            Format::Redundant => 101,
            Format::Dynamic => 99,
        }
    }

    pub fn supremum(self) -> usize {
        match self {
            Format::Redundant => 116,
            Format::Dynamic => 112,
        }
    }

    /// The start of the heap of users' records.
    pub fn heap_start(self) -> usize {
        match self {
            Format::Redundant => 125,
            Format::Dynamic => 120,
        }
    }
}

/// An index page whose header and directory were found possible.
pub(in crate::redo) struct IndexBytes<'p> {
    pub bytes: &'p mut [u8],
    pub format: Format,
}

impl<'p> IndexBytes<'p> {
    /// Checks that the page is an index page of this format.
    pub fn new(bytes: &'p mut [u8], format: Format) -> Result<IndexBytes<'p>> {
        let page = IndexBytes { bytes, format };
        let kind = u16_at(page.bytes, super::TYPE_AT)?;
        let is_dynamic = page.n_heap()? & 0x8000 != 0;
        // FIL_PAGE_INDEX, FIL_PAGE_RTREE, FIL_PAGE_SDI and FIL_PAGE_TYPE_INSTANT.
        if !matches!(kind, 17855 | 17854 | 17853 | 18) || is_dynamic != (format == Format::Dynamic)
        {
            return Err(Error::corrupt(format!("the page (type {kind}) is of another kind")));
        }
        let slots = page.slots()?;
        let heap = usize::from(page.n_heap()? & 0x7fff);
        if slots < 2 || heap < slots || page.last_slot()? < page.heap_top()? {
            return Err(Error::corrupt(format!("{slots} slots and {heap} records cannot be")));
        }
        let ends = (page.slot(slots - 1)?, page.slot(0)?);
        if ends != (format.supremum(), format.infimum()) || page.next_raw(format.supremum())? != 0 {
            return Err(Error::corrupt("the page's directory is damaged"));
        }
        Ok(page)
    }

    pub fn n_heap(&self) -> Result<u16> {
        u16_at(self.bytes, N_HEAP_AT)
    }

    pub fn slots(&self) -> Result<usize> {
        u16_at(self.bytes, N_SLOTS_AT).map(usize::from)
    }

    /// The end of the heap.
    pub fn heap_top(&self) -> Result<usize> {
        let top = usize::from(u16_at(self.bytes, HEAP_TOP_AT)?);
        match top >= self.format.heap_start() {
            true => Ok(top),
            false => Err(Error::corrupt(format!("the end of its records, {top}, is impossible"))),
        }
    }

    /// The offset of a slot, counted from the one of the infimum.
    fn slot_at(&self, slot: usize) -> Result<usize> {
        let from_end = TRAILER_BYTES + 2 * (slot + 1);
        let at = self.bytes.len().checked_sub(from_end).filter(|&at| at >= DATA);
        at.ok_or_else(|| Error::corrupt(format!("the directory has no room for slot {slot}")))
    }

    /// The offset of the last slot, where the directory begins.
    pub fn last_slot(&self) -> Result<usize> {
        self.slot_at(self.slots()?.saturating_sub(1))
    }

    pub fn slot(&self, slot: usize) -> Result<usize> {
        u16_at(self.bytes, self.slot_at(slot)?).map(usize::from)
    }

    pub fn set_slot(&mut self, slot: usize, record: usize) -> Result<()> {
        let at = self.slot_at(slot)?;
        put_u16(self.bytes, at, record as u16)
    }

    /// Requires that a record may begin at an offset: one of a user, or one of the page's own.
    pub fn require_record(&self, record: usize) -> Result<()> {
        let is_own = record == self.format.infimum() || record == self.format.supremum();
        let least = self.format.heap_start() + self.format.extra_bytes();
        if is_own || (least..=self.heap_top()?).contains(&record) {
            return Ok(());
        }
        Err(Error::corrupt(format!("there is no record at offset {record}")))
    }

    fn next_raw(&self, record: usize) -> Result<u16> {
        u16_at(self.bytes, record.saturating_sub(NEXT_BEFORE))
    }

    /// The successor of a record.
    pub fn next(&self, record: usize) -> Result<usize> {
        let raw = self.next_raw(record)?;
        let next = match self.format {
            Format::Redundant => raw,
            Format::Dynamic => (record as u16).wrapping_add(raw),
        };
        self.require_record(next.into())?;
        Ok(next.into())
    }

    /// The successor of a free record; 0 if it is the last.
    pub fn next_free(&self, record: usize) -> Result<usize> {
        match self.next_raw(record)? {
            0 => Ok(0),
            _ => self.next(record),
        }
    }

    pub fn set_next(&mut self, record: usize, next: usize) -> Result<()> {
        let raw = match self.format {
            Format::Redundant => next as u16,
            Format::Dynamic => (next as u16).wrapping_sub(record as u16),
        };
        put_u16(self.bytes, record.saturating_sub(NEXT_BEFORE), raw)
    }

    /// Ends the list of free records with this one.
    pub fn set_no_next(&mut self, record: usize) -> Result<()> {
        put_u16(self.bytes, record.saturating_sub(NEXT_BEFORE), 0)
    }

    pub fn heap_no(&self, record: usize) -> Result<u16> {
        let before = match self.format {
            Format::Redundant => 5,
            Format::Dynamic => 4,
        };
        Ok(u16_at(self.bytes, record.saturating_sub(before))? >> 3)
    }

    /// The records that a record owns: itself and those before it, to the owner before it.
    fn owned(&self, record: usize) -> Result<u8> {
        Ok(u8_at(self.bytes, record.saturating_sub(self.format.extra_bytes()))? & 0x0f)
    }

    pub fn set_owned(&mut self, record: usize, owned: u8) -> Result<()> {
        let at = record.saturating_sub(self.format.extra_bytes());
        let rest = u8_at(self.bytes, at)? & 0xf0;
        put(self.bytes, at, &[rest | owned & 0x0f])
    }

    /// The owner of a record, and its slot.
    pub fn owner(&self, record: usize) -> Result<Owner> {
        let mut owner = record;
        let mut steps = 0;
        while self.owned(owner)? == 0 {
            steps += 1;
            if steps > usize::from(OWNED_MAX) {
                return Err(Error::corrupt("no record of its list has a slot"));
            }
            owner = self.next(owner)?;
        }
        let owned = self.owned(owner)?;
        let end = self.bytes.len().saturating_sub(TRAILER_BYTES);
        let start = self.last_slot()?;
        let directory = slice(self.bytes, start, end.saturating_sub(start))?;
        let wanted = (owner as u16).to_be_bytes();
        let place = directory.chunks_exact(2).position(|slot| slot == wanted);
        match place.map(|place| self.slots().map(|slots| slots.saturating_sub(1 + place))) {
            Some(slot) if owned <= OWNED_MAX => Ok(Owner { record: owner, slot: slot?, owned }),
            _ => Err(Error::corrupt(format!("the record at offset {owner} has no slot"))),
        }
    }

    /// Lets an owner have one record more; a slot with too many is split.
    pub fn add_owned(&mut self, owner: Owner) -> Result<()> {
        self.set_owned(owner.record, owner.owned + 1)?;
        match owner.owned == OWNED_MAX {
            true => self.split(owner.slot),
            false => Ok(()),
        }
    }

    /// Splits a slot of nine records into one of four and one of five (`page_dir_split_slot`).
    fn split(&mut self, slot: usize) -> Result<()> {
        let before = slot.checked_sub(1).ok_or_else(|| Error::corrupt("the infimum has slot 0"))?;
        let mut middle = self.slot(before)?;
        for _ in 0..OWNED_MIN {
            middle = self.next(middle)?;
        }
        let slots = self.slots()?;
        let (last, new_last) = (self.slot_at(slots - 1)?, self.slot_at(slots)?);
        let moved = self.slot_at(slot)? + 2 - last;
        if new_last < self.heap_top()? {
            return Err(Error::corrupt("the directory has no room for another slot"));
        }
        copy_within(self.bytes, last, new_last, moved)?;
        self.set_slot(slot, middle)?;
        put_u16(self.bytes, N_SLOTS_AT, slots as u16 + 1)?;
        self.set_owned(middle, OWNED_MIN)?;
        let upper = self.slot(slot + 1)?;
        self.set_owned(upper, OWNED_MAX + 1 - OWNED_MIN)
    }

    /// Takes one record from its owner; `record` is that record, `before` its predecessor.
    pub fn remove_owned(&mut self, owner: Owner, record: usize, before: usize) -> Result<Owner> {
        let mut owner = owner;
        if owner.record == record {
            owner.record = before;
            self.set_slot(owner.slot, before)?;
        }
        owner.owned -= 1;
        self.set_owned(owner.record, owner.owned)?;
        Ok(owner)
    }

    /// Gives a slot that has too few records one of the next slot, or merges it with that
    /// (`page_dir_balance_slot`).
    pub fn balance(&mut self, owner: Owner) -> Result<()> {
        let slots = self.slots()?;
        if owner.owned >= OWNED_MIN || owner.slot == 0 || owner.slot + 1 >= slots {
            return Ok(());
        }
        let upper = self.slot(owner.slot + 1)?;
        self.require_record(upper)?;
        let upper_owned = self.owned(upper)?;
        if upper_owned > OWNED_MIN {
            let given = self.next(owner.record)?;
            self.set_owned(owner.record, 0)?;
            self.set_owned(given, OWNED_MIN)?;
            self.set_slot(owner.slot, given)?;
            return self.set_owned(upper, upper_owned - 1);
        }
        self.set_owned(owner.record, 0)?;
        self.set_owned(upper, upper_owned + OWNED_MIN - 1)?;
        let last = self.last_slot()?;
        let moved = self.slot_at(owner.slot)? - last;
        copy_within(self.bytes, last, last + 2, moved)?;
        put_u16(self.bytes, last, 0)?;
        put_u16(self.bytes, N_SLOTS_AT, slots as u16 - 1)
    }
}

/// The owner of a record.
#[derive(Clone, Copy, Debug)]
pub(in crate::redo) struct Owner {
    pub record: usize,
    pub slot: usize,
    pub owned: u8,
}
