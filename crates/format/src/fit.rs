//! Checks of a table definition against the pages of the clustered index, before rows are read with
//! it.
//!
//! A record contains little about its own structure: most pages can also be read with another
//! table's definition, giving rows that never existed. But the records of a page, together with the
//! freed ones, fill its heap:
//!
//! ```text
//! infimum, supremum | record | record | freed | record | ... heap top
//! ```
//!
//! `PAGE_GARBAGE` counts the bytes of freed records, and the bytes left over where a smaller record
//! replaced one. With the right definition no record extends into the next, and the records' bytes
//! and the garbage add up to the heap exactly (`page_validate`, `page0page.cc`;
//! `page_mem_alloc_free`, `page_cur_insert_rec_low`; MySQL 8.0, MariaDB 10.11). A record's bytes
//! are those that `rec_get_offsets` finds, with its header.
//!
//! One field behind the last column is in no definition: when a full-text index is dropped, the
//! hidden `FTS_DOC_ID` remains, 8 bytes that are another number in each record.
//!
//! Definitions that give every record the same bytes cannot be distinguished this way: `INT` and
//! `INT UNSIGNED`, `VARCHAR(10)` and `VARCHAR(20)`, columns of the same type in another order.

use crate::layout::{Flavour, Layout};
use crate::locate::{Ends, Extent, Fields};
use crate::page::IndexPage;
use crate::record::Record;
use crate::{Error, Result, bytes};

/// The beginning of every error that reports a misfit.
pub const MISFIT: &str = "the definition does not fit the file";

/// Bits of `DB_TRX_ID` that servers can have used: 2^46 transactions are 2000 years of a thousand
/// per second.
const TRX_ID_BITS: u32 = 46;

impl Layout {
    /// Checks that the records of a page of the clustered index, leaf or branch, fill the page
    /// according to the definition. A page whose lists of records are damaged passes unchecked.
    ///
    /// # Errors
    /// Damage, with the place of the first record that contradicts the definition.
    pub fn check_fit(&self, page: &IndexPage<'_>, fields: &mut Fields) -> Result<()> {
        if page.check_heap().is_err() {
            return Ok(());
        }
        self.fit(page, fields).map_err(|error| page.page().locate_error(error.with_prefix(MISFIT)))
    }

    fn fit(&self, page: &IndexPage<'_>, fields: &mut Fields) -> Result<()> {
        let mut placed = Vec::with_capacity(usize::from(page.n_recs()));
        let mut has_metadata = false;
        for record in page.records() {
            let record = record?;
            if page.is_leaf() && record.is_metadata() {
                // MariaDB's metadata record, with fields of its own.
                has_metadata = true;
                continue;
            }
            let extent = match page.is_leaf() {
                true => self.leaf_extent(&record, fields),
                false => self.pointer_extent(&record),
            };
            placed.push((record, extent.map_err(|error| record.locate_error(error))?));
        }
        placed.sort_unstable_by_key(|(record, _)| record.origin());
        let check = |placed: &[Placed<'_>]| {
            check_neighbours(page, placed)?;
            if has_metadata { Ok(()) } else { check_sum(page, placed) }
        };
        check(&placed).or_else(|error| {
            match page.is_leaf() && self.compact && have_doc_ids(&mut placed) {
                true => check(&placed).map_err(|_| error),
                false => Err(error),
            }
        })
    }

    fn leaf_extent(&self, record: &Record<'_>, fields: &mut Fields) -> Result<Extent> {
        let extent = self.extent(record, fields)?;
        if self.flavour != Flavour::Plain {
            return Ok(extent);
        }
        let key_len = if self.compact {
            self.check_null_bits(record)?;
            let mut key_len = 0;
            self.for_each_key_field(record, |start, len| {
                key_len = start + len;
                Ok(())
            })?;
            key_len
        } else {
            let ends = Ends::from_record(record)?;
            self.check_fixed_lens(&ends)?;
            ends.end(self.key_fields.wrapping_sub(1))?
        };
        check_system_columns(record, record.origin() + key_len)?;
        Ok(extent)
    }

    /// Checks that the bits of the null bitmap that belong to no column are zero.
    fn check_null_bits(&self, record: &Record<'_>) -> Result<()> {
        let nullable = self.fields.iter().filter(|field| field.nullable).count();
        if nullable % 8 == 0 {
            return Ok(());
        }
        let last = bytes::u8_at(record.page(), record.origin().wrapping_sub(6 + nullable / 8))?;
        match last >> (nullable % 8) {
            0 => Ok(()),
            _ => Err(Error::corrupt(format!(
                "the record's null bitmap has more bits than the {nullable} of the columns that \
                 can be NULL"
            ))),
        }
    }

    /// Checks the lengths of fixed-length fields in a REDUNDANT record, which has the length of
    /// each field.
    fn check_fixed_lens(&self, ends: &Ends<'_>) -> Result<()> {
        for (nth, field) in self.fields.iter().enumerate().filter(|(_, field)| !field.variable) {
            let fixed_len = usize::from(field.fixed_len);
            match ends.inline_len(nth)? {
                Some(len) if len != fixed_len => {
                    return Err(Error::corrupt(format!(
                        "field {} of the record has {len} bytes, its column {fixed_len}",
                        nth + 1
                    ))
                    .at_column(self.column_name(usize::from(field.slot))));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn pointer_extent(&self, record: &Record<'_>) -> Result<Extent> {
        if !self.compact {
            let ends = Ends::from_record(record)?;
            if ends.n_fields != self.key_fields + 1 || ends.inline_len(self.key_fields)? != Some(4)
            {
                return Err(Error::corrupt(format!(
                    "a node pointer of {} fields, where the key has {}",
                    ends.n_fields, self.key_fields
                )));
            }
            return ends.extent(record);
        }
        let mut key_len = 0;
        let mut len_bytes = 0;
        let mut fields = self.fields.iter();
        self.for_each_key_field(record, |start, len| {
            key_len = start + len;
            let field = fields.next().filter(|field| field.variable);
            len_bytes += field.map_or(0, |field| if field.big && len > 127 { 2 } else { 1 });
            Ok(())
        })?;
        let start = record.origin().wrapping_sub(5 + self.core_null_bytes + len_bytes);
        Ok(Extent { start, end: record.origin() + key_len + 4 })
    }
}

/// Checks the system columns after the key: the transaction that wrote the row, and the place of
/// its undo record, which lies within a page (`trx_undo_decode_roll_ptr`, `trx0undo.ic`).
fn check_system_columns(record: &Record<'_>, at: usize) -> Result<()> {
    let page = record.page();
    let trx_id =
        u64::from(bytes::u16_at(page, at)?) << 32 | u64::from(bytes::u32_at(page, at + 2)?);
    let undo_offset = usize::from(bytes::u16_at(page, at + 11)?);
    if trx_id >> TRX_ID_BITS != 0 || undo_offset >= page.len() {
        return Err(Error::corrupt(format!(
            "the bytes after the key are not system columns: transaction {trx_id:#x}, offset \
             {undo_offset} in an undo page"
        )));
    }
    Ok(())
}

/// Returns whether each record is followed by 8 bytes with a number that is small and that no other
/// record has; if so, they are added to the records.
fn have_doc_ids(placed: &mut [Placed<'_>]) -> bool {
    let mut ids = Vec::with_capacity(placed.len());
    for (record, extent) in placed.iter_mut() {
        ids.extend(bytes::u64_at(record.page(), extent.end));
        extent.end += 8;
    }
    ids.sort_unstable();
    let are_distinct = ids.windows(2).all(|pair| pair.first() != pair.last());
    let are_small = ids.iter().all(|id| (1..1 << 40).contains(id));
    ids.len() == placed.len() && are_distinct && are_small
}

type Placed<'r> = (Record<'r>, Extent);

fn check_neighbours(page: &IndexPage<'_>, placed: &[Placed<'_>]) -> Result<()> {
    let is_dense = page.garbage_bytes() == 0 && placed.len() + 2 == usize::from(page.n_heap());
    let mut free_from = page.supremum_end();
    for (place, (record, extent)) in placed.iter().enumerate() {
        if extent.start < free_from {
            return Err(record.locate_error(Error::corrupt(format!(
                "the record at {} begins at byte {}, and the bytes before it end at {free_from}",
                record.origin(),
                extent.start
            ))));
        }
        let next = placed.get(place + 1).map_or(page.heap_top(), |(_, next)| next.start);
        if extent.end > next || is_dense && extent.end != next {
            return Err(record.locate_error(Error::corrupt(format!(
                "the record at {} ends at byte {} by the definition, and the next begins at {next}",
                record.origin(),
                extent.end
            ))));
        }
        free_from = extent.end;
    }
    Ok(())
}

fn check_sum(page: &IndexPage<'_>, placed: &[Placed<'_>]) -> Result<()> {
    let heap = page.heap_top().saturating_sub(page.supremum_end());
    let used = heap.saturating_sub(usize::from(page.garbage_bytes()));
    let sum: usize = placed.iter().map(|(_, extent)| extent.end - extent.start).sum();
    match sum == used {
        true => Ok(()),
        false => Err(Error::corrupt(format!(
            "the page's {} records take {sum} bytes by the definition, and are {used}",
            placed.len()
        ))),
    }
}
