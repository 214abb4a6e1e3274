//! Records as they are stored on a page, and the chain that links them in key order.
//!
//! A record's *origin* is its first data byte; its header lies before it, read backwards:
//!
//! ```text
//! COMPACT, DYNAMIC                               REDUNDANT
//! -2 next record, relative to this               -2 next record, offset in the page
//! -4 13 bits heap_no, 3 bits status              -4 10 bits field count, 1 bit: 1-byte offsets
//! -5 4 info bits, 4 bits owned records           -5 13 bits heap_no
//! -6 (row version or field count,)               -6 4 info bits, 4 bits owned records
//!    null bitmap, lengths ...                    -7 (row version,) field ends ...
//! ```
//!
//! Info bits: 0x10 leftmost record of its level, 0x20 delete-marked, and in MySQL 8 0x40 a row
//! version follows, 0x80 a field count follows. `rem0rec.cc`, `rem/rec.h` of MySQL 9.7;
//! `rem0rec.h` of MariaDB 10.11.

use crate::page::IndexPage;
use crate::{Error, Result, bytes};

/// `REC_INFO_MIN_REC_FLAG`.
pub const MIN_REC: u8 = 0x10;
/// `REC_INFO_DELETED_FLAG`.
pub const DELETED: u8 = 0x20;
/// `REC_INFO_VERSION_FLAG`, MySQL 8.0.29.
pub const VERSION: u8 = 0x40;
/// `REC_INFO_INSTANT_FLAG`, MySQL 8.0.12.
pub const INSTANT: u8 = 0x80;

/// `REC_STATUS_ORDINARY`.
pub const STATUS_ORDINARY: u8 = 0;
/// `REC_STATUS_NODE_PTR`.
pub const STATUS_NODE_PTR: u8 = 1;
/// `REC_STATUS_INSTANT`, MariaDB 10.3.
pub const STATUS_INSTANT: u8 = 4;

/// A record of a page, whose header is within bounds.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    page: &'a [u8],
    origin: u16,
    heap_no: u16,
    info_bits: u8,
    status: u8,
    compact: bool,
    limit: u16,
}

impl<'a> Record<'a> {
    /// Returns the end of the page's heap: no record extends further.
    pub(crate) fn limit(&self) -> usize {
        self.limit as usize
    }

    /// Returns the whole page that the record is on.
    pub fn page(&self) -> &'a [u8] {
        self.page
    }

    /// Returns the byte offset of the record's first data byte.
    pub fn origin(&self) -> usize {
        self.origin as usize
    }

    /// Returns the record's number in the page's heap.
    pub fn heap_no(&self) -> u16 {
        self.heap_no
    }

    /// Returns the info bits: the upper four bits of the info byte.
    pub fn info_bits(&self) -> u8 {
        self.info_bits
    }

    /// Returns the status (`REC_STATUS_*`) of a COMPACT or DYNAMIC record; always ordinary for
    /// REDUNDANT.
    pub fn status(&self) -> u8 {
        self.status
    }

    /// Returns whether the record is in COMPACT or DYNAMIC form.
    pub fn is_compact(&self) -> bool {
        self.compact
    }

    /// Returns whether the record is deleted but not yet purged, and thus no row. (The bit means
    /// something else in MariaDB's metadata record; see [`Record::is_metadata`].)
    pub fn is_delete_marked(&self) -> bool {
        self.info_bits & DELETED != 0
    }

    /// Returns whether this is the leftmost record of its level; on a leaf, MariaDB's instant
    /// metadata, which is no row.
    pub fn is_min_rec(&self) -> bool {
        self.info_bits & MIN_REC != 0
    }

    /// Returns whether a leaf's record is MariaDB's metadata pseudo-record.
    pub fn is_metadata(&self) -> bool {
        self.is_min_rec()
    }

    /// Returns whether a leaf's record is a row.
    #[inline]
    pub fn is_row(&self) -> bool {
        self.info_bits & (MIN_REC | DELETED) == 0
    }

    /// Returns the number of fields in a REDUNDANT record.
    pub(crate) fn n_fields_redundant(&self) -> Result<usize> {
        let word = bytes::u16_at(self.page, self.origin().saturating_sub(4))?;
        Ok((word >> 1 & 0x3FF) as usize)
    }

    /// Returns whether a REDUNDANT record's field ends take one byte each.
    pub(crate) fn has_short_ends(&self) -> Result<bool> {
        Ok(bytes::u8_at(self.page, self.origin().saturating_sub(3))? & 1 == 1)
    }

    /// Adds this record to an error that has none.
    #[cold]
    pub fn locate_error(&self, error: Error) -> Error {
        error.at_record(self.heap_no).at_offset(u32::from(self.origin))
    }
}

impl<'a> IndexPage<'a> {
    /// Iterates over the user records in key order, including delete-marked ones.
    pub fn records(&self) -> Records<'a> {
        Records { page: *self, at: self.infimum(), seen: 0, ended: false }
    }

    /// Returns the first record, if any.
    pub fn first_record(&self) -> Result<Option<Record<'a>>> {
        self.records().next().transpose()
    }
}

/// An iterator over a page's user records in key order. It ends after the first error; it yields as
/// many records as the page's header says, or an error.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    page: IndexPage<'a>,
    at: usize,
    seen: u16,
    ended: bool,
}

impl<'a> Records<'a> {
    /// Returns the record after the one at `self.at`; `None` at the supremum.
    ///
    /// This and what it calls are inlined, and errors are made elsewhere: it is called for each row.
    #[inline(always)]
    fn step(&self) -> Result<Option<Record<'a>>> {
        let page = self.page.page().bytes();
        let word = bytes::u16_at(page, self.at - 2)?;
        let compact = self.page.is_compact();
        let origin = if compact && word != 0 {
            // Relative and signed: the next record may lie before this one.
            (self.at + word as usize) & (page.len() - 1) & 0xFFFF
        } else {
            word as usize
        };
        if origin == self.page.supremum() {
            return self.end();
        }
        if self.seen >= self.page.n_recs() {
            return Err(self.endless());
        }
        let header = if compact { 5 } else { 6 };
        if origin < self.page.supremum_end() + header || origin > self.page.heap_top() {
            return Err(self.outside_heap(origin));
        }
        self.read(page, origin, compact).map(Some)
    }

    #[inline(always)]
    fn read(&self, page: &'a [u8], origin: usize, compact: bool) -> Result<Record<'a>> {
        let header = bytes::u32_at(page, origin - 6)?;
        let (info_byte, heap_word, status) = match compact {
            true => (header >> 16, header, header as u8 & 7),
            false => (header >> 24, header >> 8, STATUS_ORDINARY),
        };
        let record = Record {
            page,
            origin: origin as u16,
            heap_no: heap_word as u16 >> 3,
            info_bits: info_byte as u8 & 0xF0,
            status,
            compact,
            limit: self.page.heap_top() as u16,
        };
        let leaf = self.page.is_leaf();
        let right_kind = match status {
            STATUS_ORDINARY => leaf || !compact,
            STATUS_INSTANT => leaf,
            STATUS_NODE_PTR => !leaf,
            _ => false,
        };
        if record.is_min_rec() && (self.seen > 0 || self.page.prev().is_some()) {
            return Err(record.locate_error(not_first()));
        }
        if !right_kind || record.heap_no < 2 || record.heap_no >= self.page.n_heap() {
            return Err(self.wrong_kind(&record));
        }
        Ok(record)
    }

    #[inline(always)]
    fn end(&self) -> Result<Option<Record<'a>>> {
        if self.seen != self.page.n_recs() { Err(self.ends_early()) } else { Ok(None) }
    }

    #[cold]
    fn endless(&self) -> Error {
        Error::corrupt(format!(
            "the chain of records does not end after the page's {} records",
            self.page.n_recs()
        ))
    }

    #[cold]
    fn ends_early(&self) -> Error {
        Error::corrupt(format!(
            "the chain of records ends after {} of the page's {} records",
            self.seen,
            self.page.n_recs()
        ))
    }

    #[cold]
    fn outside_heap(&self, origin: usize) -> Error {
        Error::corrupt(format!(
            "the record after the one at {} is said to be at {origin}, outside the heap",
            self.at
        ))
    }

    #[cold]
    fn wrong_kind(&self, record: &Record<'_>) -> Error {
        record.locate_error(Error::corrupt(format!(
            "a record of status {} and heap_no {} of {} on level {}",
            record.status,
            record.heap_no,
            self.page.n_heap(),
            self.page.level()
        )))
    }

    #[cold]
    fn locate_error(&self, error: Error) -> Error {
        self.page.page().locate_error(error.at_offset(self.at as u32))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Result<Record<'a>>> {
        if self.ended {
            return None;
        }
        match self.step() {
            Ok(Some(record)) => {
                self.at = record.origin();
                self.seen += 1;
                Some(Ok(record))
            }
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(self.locate_error(error)))
            }
        }
    }
}

#[cold]
fn not_first() -> Error {
    Error::corrupt("a record is marked as its level's first, but is not")
}
