//! Index descriptions: what a record of an index page says of the index, so that redo needs no
//! dictionary (`mtr0log.cc`, MySQL 9.7).
//!
//! ```text
//! 1   version, 1
//! 1   flags: 1 COMPACT or DYNAMIC, 2 row versions, 4 instant columns of MySQL 8.0.12
//! 2   fields                                             (with 1 or 2)
//! 2   fields before the first instant ADD COLUMN         (with 1 and 4)
//! 2   fields that make a key unique; fewer than all: the clustered index      (with 1)
//! 2 each: bit 15 NOT NULL, then the length, 0 or 7FFF: variable, up to 255 bytes or more   (with 1)
//! 2   number of fields below                             (with 2)
//!     field 2, physical position 2 (bits 15, 14: versions follow), version of ADD 1, of DROP 1
//! ```

use super::compressed::{Input, Read, Stop, whole};
use crate::{Error, Result};

const COMPACT: u8 = 1;
const VERSIONED: u8 = 2;
const INSTANT: u8 = 4;
/// More fields than an index has (`REC_MAX_N_FIELDS`).
const FIELDS_MAX: usize = 1023;
/// The descriptions that are kept: pages of one index have two, leaves and branch pages.
const KEPT: usize = 8;

/// The description of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Description {
    pub is_compact: bool,
    /// The fields in the order in which records store them; none with ROW_FORMAT=REDUNDANT, whose records
    /// say themselves how long they are.
    pub fields: Vec<Field>,
    /// Where `fields` has each field, by its number in the index.
    pub places: Vec<usize>,
    /// The fields of a record of a branch page, without the page number.
    pub branch_fields: usize,
    /// The fields of a record from before the first instant ADD COLUMN of MySQL 8.0.12, if there was one.
    pub first_fields: Option<usize>,
    pub is_clustered: bool,
}

/// A field of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub is_nullable: bool,
    pub len: FieldLen,
    /// The row version that first had the field.
    pub added: u8,
    /// The row version that first had it no more.
    pub dropped: u8,
}

/// The length of a field that is not NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldLen {
    Fixed(u16),
    /// One byte has it.
    Short,
    /// One or two bytes have it.
    Long,
}

/// `UINT8_UNDEFINED`: the field was not dropped.
const NEVER: u8 = u8::MAX;

impl<'a> Input<'a> {
    /// Reads over a description; returns its bytes.
    pub(super) fn description(&mut self) -> Read<&'a [u8]> {
        let start = self.at();
        let version = self.u8()?;
        if version != 1 {
            return Err(Stop::lie(format!("version {version} of its index description")));
        }
        let flags = self.u8()?;
        if flags & !(COMPACT | VERSIONED | INSTANT) != 0 {
            return Err(Stop::lie(format!("flags {flags:#x} of its index description")));
        }
        if flags & (COMPACT | VERSIONED) != 0 {
            let fields = usize::from(self.u16()?);
            if fields > FIELDS_MAX {
                return Err(Stop::lie(format!("{fields} fields in its index description")));
            }
            if flags & COMPACT != 0 {
                self.take(if flags & INSTANT != 0 { 4 } else { 2 })?;
                self.take(2 * fields)?;
            }
        }
        if flags & VERSIONED != 0 {
            for _ in 0..self.u16()? {
                self.take(2)?;
                let place = self.u16()?;
                self.take(usize::from(place >> 15) + usize::from(place >> 14 & 1))?;
            }
        }
        Ok(self.since(start))
    }
}

impl Description {
    fn parse(bytes: &[u8]) -> Result<Description> {
        let mut input = Input::new(bytes);
        let mut read = || Description::read(&mut input);
        whole(read())
    }

    fn read(input: &mut Input<'_>) -> Read<Description> {
        let _version = input.u8()?;
        let flags = input.u8()?;
        let is_compact = flags & COMPACT != 0;
        let n = if flags & (COMPACT | VERSIONED) != 0 { input.u16()? } else { 0 };
        let n = usize::from(n);
        let first_fields = match is_compact && flags & INSTANT != 0 {
            true => Some(usize::from(input.u16()?)),
            false => None,
        };
        let unique = if is_compact { usize::from(input.u16()?) } else { 0 };
        let mut fields = Vec::with_capacity(n.min(FIELDS_MAX));
        if is_compact {
            for _ in 0..n {
                fields.push(Field::parse(input.u16()?));
            }
        }
        let mut places: Vec<usize> = (0..n).collect();
        if flags & VERSIONED != 0 {
            read_versions(input, &mut fields, &mut places)?;
        }
        if unique > n || first_fields.is_some_and(|first| first > n) {
            return Err(Stop::lie("more key fields than fields in its index description"));
        }
        let is_clustered = unique != n || flags & (VERSIONED | INSTANT) != 0;
        let branch_fields = if is_clustered { unique } else { n };
        Ok(Description { is_compact, fields, places, branch_fields, first_fields, is_clustered })
    }
}

impl Field {
    fn parse(word: u16) -> Field {
        let len = match word & 0x7fff {
            0 => FieldLen::Short,
            0x7fff => FieldLen::Long,
            len => FieldLen::Fixed(len),
        };
        Field { is_nullable: word & 0x8000 == 0, len, added: 0, dropped: NEVER }
    }

    /// Whether records of a row version have the field.
    pub fn is_in(&self, version: u8) -> bool {
        self.added <= version && version < self.dropped
    }
}

/// Reads the fields that were added, dropped or moved, and puts all into their physical order.
fn read_versions(input: &mut Input<'_>, fields: &mut [Field], places: &mut [usize]) -> Read<()> {
    let n = places.len();
    let mut is_taken = vec![false; n];
    let mut is_listed = vec![false; n];
    for _ in 0..input.u16()? {
        let number = usize::from(input.u16()?);
        let word = input.u16()?;
        let added = if word & 0x8000 != 0 { input.u8()? } else { 0 };
        let dropped = if word & 0x4000 != 0 { input.u8()? } else { NEVER };
        let place = usize::from(word & 0x3fff);
        let (Some(to), Some(taken)) = (places.get_mut(number), is_taken.get_mut(place)) else {
            return Err(Stop::lie(format!("field {number} of {n} at {place}")));
        };
        if *taken || is_listed.get(number) == Some(&true) {
            return Err(Stop::lie(format!("field {number} at {place} is there twice")));
        }
        (*to, *taken) = (place, true);
        if let Some(listed) = is_listed.get_mut(number) {
            *listed = true;
        }
        if let Some(field) = fields.get_mut(number) {
            (field.added, field.dropped) = (added, dropped);
        }
    }
    // The others fill the places that are left, in their order.
    let mut free = (0..n).filter(|&place| is_taken.get(place) == Some(&false));
    for (to, listed) in places.iter_mut().zip(is_listed) {
        if !listed {
            *to = free.next().ok_or_else(|| Stop::lie("more fields than places"))?;
        }
    }
    if !fields.is_empty() {
        let by_number = fields.to_vec();
        for (field, &place) in by_number.into_iter().zip(places.iter()) {
            if let Some(slot) = fields.get_mut(place) {
                *slot = field;
            }
        }
    }
    Ok(())
}

/// Index descriptions by their bytes: most records have that of the record before.
#[derive(Debug, Default)]
pub struct Descriptions {
    /// The one used last comes first.
    known: Vec<(Vec<u8>, Description)>,
}

impl Descriptions {
    /// The description with these bytes.
    pub(super) fn get(&mut self, bytes: &[u8]) -> Result<&Description> {
        match self.known.iter().position(|(known, _)| known == bytes) {
            Some(at) => self.known.swap(0, at),
            None => {
                let parsed = Description::parse(bytes)?;
                self.known.truncate(KEPT - 1);
                self.known.insert(0, (bytes.to_vec(), parsed));
            }
        }
        let first = self.known.first().map(|(_, description)| description);
        first.ok_or_else(|| Error::corrupt("it has no index description"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By MySQL 8.0.33, of a table (id INT PRIMARY KEY, k INT, v VARCHAR(500), c CHAR(30), b LONGBLOB) after
    /// ADD COLUMN i1 INT FIRST and DROP COLUMN c, both instant.
    const ALTERED: [u8; 34] = [
        1, 3, 0, 8, 0, 1, 0x80, 4, 0x80, 6, 0x80, 7, 0, 4, 0, 4, 0x7f, 0xff, 0x7f, 0xff, 0, 0, 0,
        2, 0, 3, 0x80, 7, 1, 0, 7, 0x40, 5, 2,
    ];

    #[test]
    fn fields_come_in_their_physical_order() {
        let behind = [&ALTERED[..], &[1, 2, 3]].concat();
        assert_eq!(Input::new(&behind).description(), Ok(&ALTERED[..]));
        assert_eq!(Input::new(&ALTERED[..33]).description(), Err(Stop::Cut));
        let mut known = Descriptions::default();
        let description = known.get(&ALTERED).unwrap();
        assert_eq!(description.places, [0, 1, 2, 7, 3, 4, 6, 5]);
        assert!(description.is_compact && description.is_clustered);
        assert_eq!(description.branch_fields, 1);
        let field = |place: usize| description.fields[place];
        assert_eq!(
            field(0),
            Field { is_nullable: false, len: FieldLen::Fixed(4), added: 0, dropped: NEVER }
        );
        assert_eq!(
            field(5),
            Field { is_nullable: true, len: FieldLen::Short, added: 0, dropped: 2 }
        );
        assert_eq!(
            field(6),
            Field { is_nullable: true, len: FieldLen::Long, added: 0, dropped: NEVER }
        );
        assert_eq!(
            field(7),
            Field { is_nullable: true, len: FieldLen::Fixed(4), added: 1, dropped: NEVER }
        );
        assert!(field(5).is_in(1) && !field(5).is_in(2) && !field(7).is_in(0));
    }

    #[test]
    fn a_description_that_lies_is_an_error() {
        let mut known = Descriptions::default();
        // A field's place is there twice, or is behind the last.
        for (at, value) in [(32, 7), (27, 8), (25, 7)] {
            let mut lie = ALTERED;
            lie[at] = value;
            assert!(known.get(&lie).is_err(), "{at}");
        }
        assert!(matches!(Input::new(&[2, 1]).description(), Err(Stop::Lie(_))));
        assert!(matches!(Input::new(&[1, 9]).description(), Err(Stop::Lie(_))));
    }
}
