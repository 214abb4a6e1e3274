//! The heap of a page in memory, put together from the parts of its compressed form.

use super::dense_directory::DenseDirectory;
use super::fields::{Hole, IndexFields, Shape};
use super::{HEADER, HEAP_START, Header, RECORD_HEADER};
use crate::lob_ref::LobRef;
use crate::{Error, Result, bytes};

pub(super) const INFIMUM: usize = HEADER + RECORD_HEADER;
pub(super) const SUPREMUM: usize = INFIMUM + 8 + RECORD_HEADER;
/// The infimum and supremum records: number of owned records, heap number and status, next, text.
const SYSTEM_RECORDS: [u8; 26] = *b"\x01\x00\x02\x00\x00infimum\0\x00\x00\x0b\x00\x00supremum";

/// The most records that one slot of the sparse directory can own, by the bits for their number.
const OWNED_MAX: u8 = 15;

/// The heap of a page that is being unzipped.
#[derive(Debug, Default)]
pub(super) struct Heap {
    pub page: Vec<u8>,
    header: Header,
    /// The origins of all records, ascending: the order of their heap numbers, from 2 on.
    origins: Vec<usize>,
    /// The number of records whose data the stream or the log had.
    known: usize,
    /// Those of the record that was measured last.
    pub holes: Vec<Hole>,
}

/// A cursor that copies the stream into the page.
struct Copying<'s> {
    stream: &'s [u8],
    /// The offset in the page.
    out: usize,
}

impl Copying<'_> {
    /// Copies up to `end`, or as much as there is.
    fn copy_until(&mut self, page: &mut [u8], end: usize) -> Result<()> {
        let wanted = end.checked_sub(self.out).ok_or_else(overlap)?;
        let len = wanted.min(self.stream.len());
        let (copied, rest) = self.stream.split_at_checked(len).unwrap_or_default();
        put(page, self.out, copied)?;
        self.stream = rest;
        self.out += len;
        Ok(())
    }
}

fn overlap() -> Error {
    Error::corrupt("the records of a compressed page overlap")
}

fn put(page: &mut [u8], at: usize, from: &[u8]) -> Result<()> {
    let to = at.checked_add(from.len()).and_then(|end| page.get_mut(at..end));
    to.ok_or_else(|| Error::corrupt("a record reaches out of its page"))?.copy_from_slice(from);
    Ok(())
}

fn put_u16(page: &mut [u8], at: usize, value: usize) -> Result<()> {
    put(page, at, &(value as u16).to_be_bytes())
}

impl Heap {
    /// Begins a page with its header, its system records and its sorted origins.
    pub fn begin(
        &mut self,
        header_bytes: &[u8],
        header: Header,
        directory: &DenseDirectory<'_>,
    ) -> Result<()> {
        self.page.clear();
        self.page.extend_from_slice(header_bytes);
        self.page.extend_from_slice(&SYSTEM_RECORDS);
        self.page.resize(header.page_bytes, 0);
        self.header = header;
        self.known = 0;
        self.origins.clear();
        for entry in directory.records() {
            self.origins.push(entry?.origin);
        }
        for origin in directory.freed() {
            self.origins.push(origin?);
        }
        self.origins.sort_unstable();
        match self.origins.is_sorted_by(|one, other| one < other) {
            true => Ok(()),
            false => Err(Error::corrupt("the dense directory names a record twice")),
        }
    }

    /// Lays out the heap as it was when the page was last compressed.
    pub fn lay_out(&mut self, stream: &[u8], fields: &IndexFields) -> Result<()> {
        let mut copying = Copying { stream, out: HEAP_START };
        for place in 0..self.origins.len() {
            let origin = self.origin(place)?;
            let start = origin - RECORD_HEADER;
            copying.copy_until(&mut self.page, start)?;
            let is_whole = copying.out == start;
            if is_whole {
                self.set_heap_no(place, fields)?;
                self.known = place + 1;
            }
            // The records behind the end of the stream are only in the log.
            if !is_whole || copying.stream.is_empty() {
                return Ok(());
            }
            copying.out = origin;
            // The data of a secondary index's record is copied with what precedes the next record.
            if !fields.is_secondary() {
                self.copy_record(&mut copying, origin, fields)?;
            }
        }
        copying.copy_until(&mut self.page, self.header.heap_top)?;
        match copying.stream.is_empty() {
            true => Ok(()),
            false => Err(Error::corrupt(
                "the compressed stream has more bytes than the heap of its page",
            )),
        }
    }

    /// Copies the data of a record, whose null bitmap and lengths are on the page, around its holes.
    fn copy_record(
        &mut self,
        copying: &mut Copying<'_>,
        origin: usize,
        fields: &IndexFields,
    ) -> Result<()> {
        let end = origin + self.measure(origin, fields)?.data_bytes;
        for hole in &self.holes {
            copying.copy_until(&mut self.page, origin + hole.at)?;
            if copying.out != origin + hole.at {
                return Err(stream_too_short());
            }
            copying.out += hole.len;
        }
        copying.copy_until(&mut self.page, end)?;
        if copying.out != end { Err(stream_too_short()) } else { Ok(()) }
    }

    /// Applies the log of changes since the page was last compressed; returns the bytes of the log.
    pub fn apply_log(&mut self, log: &[u8], fields: &IndexFields) -> Result<usize> {
        let mut at = 0;
        loop {
            let first = log_byte(log, at)?;
            if first == 0 {
                return Ok(at);
            }
            at += 1;
            let mut value = usize::from(first);
            if first & 0x80 != 0 {
                value = (value & 0x7F) << 8 | usize::from(log_byte(log, at)?);
                at += 1;
            }
            let place = (value >> 1).checked_sub(1).filter(|place| *place < self.origins.len());
            let place = place.filter(|place| *place <= self.known).ok_or_else(|| {
                Error::corrupt(format!(
                    "the log of a compressed page changes record {} of {}",
                    value >> 1,
                    self.origins.len()
                ))
            })?;
            at += match value & 1 {
                1 => self.clear(place, fields)?,
                _ => self.replace(place, log.get(at..).unwrap_or_default(), fields)?,
            };
        }
    }

    /// Clears a record's data.
    fn clear(&mut self, place: usize, fields: &IndexFields) -> Result<usize> {
        if place == self.known {
            return Err(Error::corrupt(
                "the log of a compressed page clears a record that it does not have",
            ));
        }
        let origin = self.origin(place)?;
        let shape = self.measure(origin, fields)?;
        let data = self.page.get_mut(origin..origin + shape.data_bytes);
        data.ok_or_else(|| Error::corrupt("a record reaches out of its page"))?.fill(0);
        Ok(0)
    }

    /// Replaces or adds a record by one of the log; returns its bytes there.
    fn replace(&mut self, place: usize, log: &[u8], fields: &IndexFields) -> Result<usize> {
        self.known = self.known.max(place + 1);
        self.set_heap_no(place, fields)?;
        let origin = self.origin(place)?;
        let shape = fields.measure(|at| log.get(at).copied(), &mut self.holes)?;
        let extra = bytes::slice(log, 0, shape.extra_bytes)?;
        let extra_at = (origin - RECORD_HEADER).checked_sub(shape.extra_bytes);
        let extra_at = extra_at.filter(|at| *at >= HEAP_START).ok_or_else(overlap)?;
        // The log has the bytes before the header in the order in which they are read.
        let room = self.page.get_mut(extra_at..extra_at + extra.len()).unwrap_or_default();
        room.iter_mut().rev().zip(extra).for_each(|(to, from)| *to = *from);
        let (mut from, mut out) = (shape.extra_bytes, 0);
        let end = Hole { at: shape.data_bytes, len: 0 };
        for hole in self.holes.iter().chain([&end]) {
            let len = hole.at - out;
            put(&mut self.page, origin + out, bytes::slice(log, from, len)?)?;
            from += len;
            out = hole.at + hole.len;
        }
        Ok(from)
    }

    /// Fills the holes of all records with what is stored for them uncompressed. `columns`: the bytes between
    /// the end of the log and the dense directory.
    pub fn fill_columns(
        &mut self,
        columns: &[u8],
        fields: &IndexFields,
        directory: &DenseDirectory<'_>,
    ) -> Result<()> {
        if self.known < self.origins.len() {
            return Err(Error::corrupt(format!(
                "the stream and the log of a compressed page have {} of its {} records",
                self.known,
                self.origins.len()
            )));
        }
        if fields.is_secondary() {
            return Ok(());
        }
        let mut freed = directory.freed().collect::<Result<Vec<usize>>>()?;
        freed.sort_unstable();
        let n_dense = self.origins.len();
        let no_room =
            || Error::corrupt("the log of a compressed page overlaps the columns behind it");
        let mut column_at = columns.len();
        let mut lob_at =
            columns.len().checked_sub(n_dense * fields.column_bytes()).ok_or_else(no_room)?;
        for place in 0..n_dense {
            let origin = self.origin(place)?;
            self.measure(origin, fields)?;
            let is_freed = freed.binary_search(&origin).is_ok();
            for hole in &self.holes {
                let is_lob = hole.is_lob_ref();
                if is_lob && is_freed {
                    put(&mut self.page, origin + hole.at, &[0; LobRef::LEN])?;
                    continue;
                }
                let at = if is_lob { &mut lob_at } else { &mut column_at };
                *at = at.checked_sub(hole.len).ok_or_else(no_room)?;
                put(&mut self.page, origin + hole.at, bytes::slice(columns, *at, hole.len)?)?;
            }
        }
        // The zero that ends the log stands before them.
        if lob_at == 0 { Err(no_room()) } else { Ok(()) }
    }

    /// Links the records in key order and the freed ones in theirs, and writes the sparse directory.
    pub fn link(&mut self, directory: &DenseDirectory<'_>) -> Result<&[u8]> {
        let header = self.header;
        // `REC_INFO_MIN_REC_FLAG`: the first record of a level.
        let mut info_bits = if header.is_leaf || header.has_prev { 0 } else { 0x10 };
        let (mut slot, mut before, mut owned) = (0, INFIMUM, 1u8);
        self.put_slot(&mut slot, INFIMUM)?;
        for entry in directory.records() {
            let entry = entry?;
            self.put_next(before, entry.origin)?;
            let mut n_owned = 0;
            if entry.is_owner {
                self.put_slot(&mut slot, entry.origin)?;
                n_owned = owned;
                owned = 0;
            }
            owned += 1;
            if owned > OWNED_MAX {
                return Err(Error::corrupt("too many records between two slots of the directory"));
            }
            let deleted = if entry.is_deleted { 0x20 } else { 0 };
            put(&mut self.page, entry.origin - RECORD_HEADER, &[info_bits | deleted | n_owned])?;
            info_bits = 0;
            before = entry.origin;
        }
        self.put_next(before, SUPREMUM)?;
        put(&mut self.page, SUPREMUM - RECORD_HEADER, &[owned])?;
        self.put_slot(&mut slot, SUPREMUM)?;
        if slot != header.n_dir_slots {
            return Err(Error::corrupt(format!(
                "the dense directory makes {slot} directory slots, the page's header says {}",
                header.n_dir_slots
            )));
        }
        let mut freed = directory.freed().peekable();
        while let Some(origin) = freed.next() {
            let origin = origin?;
            put(&mut self.page, origin - RECORD_HEADER, &[0])?;
            match freed.peek() {
                Some(Ok(next)) => self.put_next(origin, *next)?,
                _ => put_u16(&mut self.page, origin - 2, 0)?,
            }
        }
        Ok(&self.page)
    }

    /// Writes a record's pointer to the next, which is relative.
    fn put_next(&mut self, origin: usize, next: usize) -> Result<()> {
        put_u16(&mut self.page, origin - 2, next.wrapping_sub(origin))
    }

    fn put_slot(&mut self, slot: &mut usize, origin: usize) -> Result<()> {
        let header = self.header;
        let at = header.page_bytes.saturating_sub(10 + 2 * *slot);
        if at < header.slots_start() {
            return Err(Error::corrupt(format!(
                "the dense directory makes more directory slots than {}, as the page's header says",
                header.n_dir_slots
            )));
        }
        *slot += 1;
        put_u16(&mut self.page, at, origin)
    }

    fn origin(&self, place: usize) -> Result<usize> {
        self.origins.get(place).copied().ok_or_else(overlap)
    }

    /// Writes heap number and status of the record at this place in the heap.
    fn set_heap_no(&mut self, place: usize, fields: &IndexFields) -> Result<()> {
        let origin = self.origin(place)?;
        put_u16(&mut self.page, origin - 4, (place + 2) << 3 | usize::from(fields.status()))
    }

    /// Measures the record at `origin`, and finds its holes.
    pub fn measure(&mut self, origin: usize, fields: &IndexFields) -> Result<Shape> {
        let page = &self.page;
        let end = origin.saturating_sub(RECORD_HEADER);
        let before = page.get(HEAP_START..end).unwrap_or_default();
        fields.measure(|at| before.iter().nth_back(at).copied(), &mut self.holes)
    }

    /// The record that a record points to; 0 for none.
    pub fn next(&self, origin: usize) -> Result<usize> {
        let next = bytes::u16_at(&self.page, origin.saturating_sub(2))?;
        Ok(if next == 0 { 0 } else { usize::from((origin as u16).wrapping_add(next)) })
    }

    /// The records from `first` to the one before `end`, of which there are `count`.
    pub fn chain(&self, first: usize, end: usize, count: usize) -> Result<Vec<usize>> {
        let mut records = Vec::with_capacity(count);
        let mut record = first;
        while record != end && records.len() < count {
            records.push(record);
            record = self.next(record)?;
        }
        match record == end && records.len() == count {
            true => Ok(records),
            false => Err(Error::corrupt(format!("a list of a page has not its {count} records"))),
        }
    }
}

#[cold]
fn stream_too_short() -> Error {
    Error::corrupt("the compressed stream of a page ends within a record")
}

fn log_byte(log: &[u8], at: usize) -> Result<u8> {
    let byte = log.get(at).copied();
    byte.ok_or_else(|| Error::corrupt("the log of a compressed page has no end"))
}
