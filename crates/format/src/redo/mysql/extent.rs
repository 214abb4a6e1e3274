//! Where a record begins and ends, and where its fields are, by the description of its index (`rem0rec.cc`,
//! MySQL 9.7; the forms of headers: `record.rs`).

use super::description::{Description, Field, FieldLen};
use super::record::CHILD_BYTES;
use crate::bytes::{slice, u8_at, u16_at};
use crate::record::{INSTANT, STATUS_NODE_PTR, STATUS_ORDINARY, VERSION};
use crate::{Error, Result};

/// The bytes of the name of a page's first and last record.
const OWN_DATA_BYTES: usize = 8;

/// The bytes of a record before and from its origin on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub header: usize,
    pub data: usize,
}

impl Extent {
    pub fn total(self) -> usize {
        self.header + self.data
    }
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldPlace {
    /// The offset in the page.
    pub at: usize,
    pub len: usize,
    pub is_null: bool,
    /// The offset of its end in the header of a REDUNDANT record, and how many bytes that has.
    pub end: Option<(usize, usize)>,
}

/// The fields that a record has.
#[derive(Clone, Copy)]
enum Holds {
    First(usize),
    Version(u8),
}

impl Holds {
    fn has(self, place: usize, field: &Field) -> bool {
        match self {
            Holds::First(n) => place < n,
            Holds::Version(version) => field.is_in(version),
        }
    }
}

impl Description {
    /// The extent of the record at an offset.
    pub fn extent(&self, page: &[u8], record: usize) -> Result<Extent> {
        let extent = match self.is_compact {
            true => self.walk(page, record, |_, _| {})?,
            false => Redundant::parse(page, record)?.extent(page)?,
        };
        let start = record.checked_sub(extent.header);
        let is_within = start.is_some_and(|start| slice(page, start, extent.total()).is_ok());
        match is_within {
            true => Ok(extent),
            false => Err(Error::corrupt(format!(
                "the record at offset {record} of {} and {} bytes is not within the page",
                extent.header, extent.data
            ))),
        }
    }

    /// The field with a number, of the record at an offset.
    pub fn field(&self, page: &[u8], record: usize, number: usize) -> Result<FieldPlace> {
        let place = self.places.get(number).copied().unwrap_or(number);
        let mut found = None;
        match self.is_compact {
            true => {
                self.walk(page, record, |at_place, field| {
                    if at_place == place {
                        found = Some(field);
                    }
                })?;
            }
            false => {
                let header = Redundant::parse(page, record)?;
                let has = |field: &Field| field.is_in(header.version.unwrap_or_default());
                let before = self
                    .fields
                    .get(..place)
                    .map_or(place, |before| before.iter().filter(|field| has(field)).count());
                found = Some(header.field(page, before)?);
            }
        }
        found.ok_or_else(|| {
            Error::corrupt(format!("the record at offset {record} has no field {number}"))
        })
    }

    /// Which fields a COMPACT record on a leaf has, and where its null bitmap begins.
    fn holds(&self, page: &[u8], record: usize, info_bits: u8) -> Result<(Holds, usize)> {
        let at = record.saturating_sub(6);
        if info_bits & VERSION != 0 {
            return Ok((Holds::Version(u8_at(page, at)?), at.saturating_sub(1)));
        }
        if info_bits & INSTANT == 0 {
            return Ok((self.first_fields.map_or(Holds::Version(0), Holds::First), at));
        }
        let first = u8_at(page, at)?;
        if first & 0x80 == 0 {
            return Ok((Holds::First(first.into()), at.saturating_sub(1)));
        }
        let second = u8_at(page, at.saturating_sub(1))?;
        let n = usize::from(first & 0x7f) << 8 | usize::from(second);
        Ok((Holds::First(n), at.saturating_sub(2)))
    }

    /// Passes the fields of a COMPACT record to `visit`, with their places.
    fn walk(
        &self,
        page: &[u8],
        record: usize,
        mut visit: impl FnMut(usize, FieldPlace),
    ) -> Result<Extent> {
        let info_bits = u8_at(page, record.saturating_sub(5))?;
        let status = u8_at(page, record.saturating_sub(3))? & 7;
        if !matches!(status, STATUS_ORDINARY | STATUS_NODE_PTR) {
            return Ok(Extent { header: 5, data: OWN_DATA_BYTES });
        }
        let is_branch = status == STATUS_NODE_PTR;
        let bits = if is_branch { 0 } else { info_bits };
        let (holds, mut nulls) = self.holds(page, record, bits)?;
        let held =
            || self.fields.iter().enumerate().filter(|(place, field)| holds.has(*place, field));
        let nullable = held().filter(|(_, field)| field.is_nullable).count();
        let mut lens = nulls.saturating_sub(nullable.div_ceil(8));
        let mut mask = 1u8;
        let mut at = record;
        let fields = if is_branch { self.branch_fields } else { usize::MAX };
        for (place, field) in held().take(fields) {
            let mut is_null = false;
            if field.is_nullable {
                if mask == 0 {
                    nulls = nulls.saturating_sub(1);
                    mask = 1;
                }
                is_null = u8_at(page, nulls)? & mask != 0;
                mask <<= 1;
            }
            let len = if is_null { 0 } else { stored_len(page, field.len, &mut lens)? };
            visit(place, FieldPlace { at, len, is_null, end: None });
            at += len;
        }
        if is_branch {
            at += CHILD_BYTES;
        }
        Ok(Extent { header: record.saturating_sub(lens + 1), data: at - record })
    }
}

/// The length of a field; `lens`: where the lengths continue, downwards.
fn stored_len(page: &[u8], len: FieldLen, lens: &mut usize) -> Result<usize> {
    if let FieldLen::Fixed(len) = len {
        return Ok(len.into());
    }
    let first = u8_at(page, *lens)?;
    *lens = lens.saturating_sub(1);
    if len == FieldLen::Short || first & 0x80 == 0 {
        return Ok(first.into());
    }
    let second = u8_at(page, *lens)?;
    *lens = lens.saturating_sub(1);
    Ok(usize::from(first & 0x3f) << 8 | usize::from(second))
}

/// The header of a record with ROW_FORMAT=REDUNDANT.
struct Redundant {
    record: usize,
    fields: usize,
    /// Bytes of the end of a field.
    width: usize,
    version: Option<u8>,
}

impl Redundant {
    fn parse(page: &[u8], record: usize) -> Result<Redundant> {
        let fields = usize::from(u16_at(page, record.saturating_sub(4))? >> 1 & 0x3ff);
        let width = if u8_at(page, record.saturating_sub(3))? & 1 == 1 { 1 } else { 2 };
        let version = match u8_at(page, record.saturating_sub(6))? & VERSION {
            0 => None,
            _ => Some(u8_at(page, record.saturating_sub(7))?),
        };
        match fields {
            0 => Err(Error::corrupt(format!("the record at offset {record} has no fields"))),
            _ => Ok(Redundant { record, fields, width, version }),
        }
    }

    fn fixed_bytes(&self) -> usize {
        6 + usize::from(self.version.is_some())
    }

    fn extent(&self, page: &[u8]) -> Result<Extent> {
        let header = self.fixed_bytes() + self.fields * self.width;
        Ok(Extent { header, data: self.end(page, self.fields - 1)?.0 })
    }

    fn end_at(&self, nth: usize) -> usize {
        self.record.saturating_sub(self.fixed_bytes() + (nth + 1) * self.width)
    }

    /// Where a field ends, and whether it is NULL.
    fn end(&self, page: &[u8], nth: usize) -> Result<(usize, bool)> {
        Ok(match self.width {
            1 => {
                let end = u8_at(page, self.end_at(nth))?;
                (usize::from(end & 0x7f), end & 0x80 != 0)
            }
            _ => {
                let end = u16_at(page, self.end_at(nth))?;
                (usize::from(end & 0x3fff), end & 0x8000 != 0)
            }
        })
    }

    fn field(&self, page: &[u8], nth: usize) -> Result<FieldPlace> {
        if nth >= self.fields {
            return Err(Error::corrupt(format!(
                "the record has {} fields, not {nth}",
                self.fields
            )));
        }
        let start = match nth.checked_sub(1) {
            Some(before) => self.end(page, before)?.0,
            None => 0,
        };
        let (end, is_null) = self.end(page, nth)?;
        let len = end.checked_sub(start);
        let len =
            len.ok_or_else(|| Error::corrupt(format!("field {nth} ends before it begins")))?;
        let end = Some((self.end_at(nth), self.width));
        Ok(FieldPlace { at: self.record + start, len, is_null, end })
    }
}
