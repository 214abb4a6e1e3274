//! Checks of a B-tree page's heap as a whole: every place in it is either a record on the chain or
//! a freed record, never both.
//!
//! `page_simple_validate_new` and `page_validate` (`page0page.cc`, MySQL 8.0).

use super::{DATA, IndexPage};
use crate::{Error, Result, bytes};

impl IndexPage<'_> {
    /// Returns the offset of the first freed record, 0 when there is none.
    pub fn free_head(&self) -> u16 {
        bytes::u16_at(self.page().bytes(), DATA + 6).unwrap_or_default()
    }

    /// Returns the bytes in freed records.
    pub fn garbage_bytes(&self) -> u16 {
        bytes::u16_at(self.page().bytes(), DATA + 8).unwrap_or_default()
    }

    /// Checks that the records on the chain and the freed ones fill the heap, each place once, and
    /// that the header's totals are possible.
    pub fn check_heap(&self) -> Result<()> {
        let mut places = vec![false; usize::from(self.n_heap())];
        let mut taken = 2u16;
        for record in self.records() {
            let record = record?;
            take(&mut places, record.heap_no())
                .map_err(|error| self.page().locate_error(record.locate_error(error)))?;
            taken += 1;
        }
        self.check_freed(&mut places, &mut taken)
            .map_err(|error| self.page().locate_error(error))?;
        if taken != self.n_heap() {
            return Err(self.page().corrupt(format!(
                "{taken} records are on the chain or freed, the heap holds {}",
                self.n_heap()
            )));
        }
        let user_bytes = self.heap_top().saturating_sub(self.supremum_end());
        if usize::from(self.garbage_bytes()) > user_bytes {
            return Err(self.page().corrupt(format!(
                "{} bytes of freed records in a heap of {user_bytes}",
                self.garbage_bytes()
            )));
        }
        Ok(())
    }

    fn check_freed(&self, places: &mut [bool], taken: &mut u16) -> Result<()> {
        let page = self.page().bytes();
        let header = if self.is_compact() { 5 } else { 6 };
        let mut at = usize::from(self.free_head());
        while at != 0 {
            if at < self.supremum_end() + header || at > self.heap_top() {
                return Err(Error::corrupt(format!(
                    "the list of freed records leads to {at}, outside the heap"
                )));
            }
            let heap_no = bytes::u16_at(page, at - header + 1)? >> 3;
            take(places, heap_no).map_err(|error| error.at_offset(at as u32))?;
            *taken += 1;
            let next = bytes::u16_at(page, at - 2)?;
            at = match (self.is_compact(), next) {
                (_, 0) => 0,
                (true, relative) => (at + usize::from(relative)) & (page.len() - 1) & 0xFFFF,
                (false, absolute) => usize::from(absolute),
            };
        }
        Ok(())
    }
}

/// Marks a place in the heap as taken. Each can be taken once, so no list can be a cycle.
fn take(places: &mut [bool], heap_no: u16) -> Result<()> {
    match places.get_mut(usize::from(heap_no)) {
        Some(place) if heap_no >= 2 && !*place => {
            *place = true;
            Ok(())
        }
        Some(_) => Err(Error::corrupt(format!("two records have heap_no {heap_no}"))),
        None => Err(Error::corrupt(format!(
            "a record has heap_no {heap_no} in a heap of {}",
            places.len()
        ))),
    }
}
