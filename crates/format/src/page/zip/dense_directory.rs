//! The dense directory: two bytes for each record in the heap, backwards from the page's end; first the records
//! in key order, then the freed ones in the order of their list.
//!
//! ```text
//! 0x8000 delete-marked   0x4000 the last of its group in the sparse directory   0x3FFF origin
//! ```

use super::{HEADER, HEAP_START, Header, RECORD_HEADER};
use crate::{Error, Result, bytes};

/// A record in key order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub origin: usize,
    pub is_deleted: bool,
    /// Whether a slot of the sparse directory points to the record.
    pub is_owner: bool,
}

/// The dense directory of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct DenseDirectory<'a> {
    raw: &'a [u8],
    header: Header,
}

impl<'a> DenseDirectory<'a> {
    pub fn parse(raw: &'a [u8], header: &Header) -> Result<DenseDirectory<'a>> {
        let directory = DenseDirectory { raw, header: *header };
        if directory.start() <= HEADER {
            return Err(Error::corrupt(format!(
                "a directory of {} records does not fit a page of {} bytes",
                header.n_dense,
                raw.len()
            )));
        }
        Ok(directory)
    }

    /// The offset of the directory's last entry in the file's page; 0 where it does not fit.
    pub fn start(&self) -> usize {
        self.raw.len().saturating_sub(2 * self.header.n_dense)
    }

    fn entry(&self, number: usize) -> Result<Entry> {
        let raw = bytes::u16_at(self.raw, self.raw.len().saturating_sub(2 * (number + 1)))?;
        let origin = usize::from(raw & 0x3FFF);
        if origin < HEAP_START + RECORD_HEADER || origin > self.header.heap_top {
            return Err(Error::corrupt(format!(
                "the dense directory leads to {origin}, outside the heap, which ends at {}",
                self.header.heap_top
            )));
        }
        Ok(Entry { origin, is_deleted: raw & 0x8000 != 0, is_owner: raw & 0x4000 != 0 })
    }

    /// The records on the page, in key order.
    pub fn records(&self) -> impl Iterator<Item = Result<Entry>> + '_ {
        (0..self.header.n_recs).map(|number| self.entry(number))
    }

    /// The origins of the freed records, in the order of their list.
    pub fn freed(&self) -> impl Iterator<Item = Result<usize>> + '_ {
        (self.header.n_recs..self.header.n_dense).map(|number| {
            let entry = self.entry(number)?;
            match entry.is_deleted || entry.is_owner {
                true => Err(Error::corrupt("the dense directory marks a freed record")),
                false => Ok(entry.origin),
            }
        })
    }
}
