//! The form of an index's records, which each compressed page describes, so that it can be unzipped without a
//! table definition.
//!
//! ```text
//! for each field:  0, 1 variable   0x7e, 0x7f variable, two length bytes possible
//!                  2 to 0x7d, or two bytes from 0x80 on: fixed, the length times two; bit 0: NOT NULL
//! then             leaf: the field that begins with DB_TRX_ID, 0 for a secondary index
//!                  branch: the number of nullable columns of the index
//! ```
//!
//! Adjacent fixed NOT NULL columns are one field (`page_zip_fields_encode`, `page0zip.cc`, MySQL 8.0).

use crate::lob_ref::LobRef;
use crate::{Error, Result, bytes};

/// Bytes of DB_TRX_ID and DB_ROLL_PTR.
pub(super) const SYSTEM_COLUMNS: usize = 6 + 7;
/// Bytes of a child page's number.
pub(super) const CHILD: usize = 4;

/// The width of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Fixed(usize),
    /// At most 255 bytes: one length byte.
    Short,
    /// One or two length bytes, the first of which says whether the field is off-page.
    Long,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    width: Width,
    is_nullable: bool,
}

/// The kind of a page's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// Rows of a clustered index; the number of the field that begins with DB_TRX_ID.
    Clustered(usize),
    #[default]
    Secondary,
    /// Node pointers.
    Branch,
}

/// The form of an index's records.
#[derive(Debug, Default)]
pub(super) struct IndexFields {
    fields: Vec<Field>,
    kind: Kind,
    null_bytes: usize,
}

/// The lengths of a record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// Bytes before the record's header: null bitmap and lengths.
    pub extra_bytes: usize,
    pub data_bytes: usize,
}

/// A part of a record's data that is stored apart from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// The offset from the record's origin.
    pub at: usize,
    pub len: usize,
}

impl Hole {
    /// Whether the part is the reference to an off-page column.
    pub fn is_lob_ref(&self) -> bool {
        self.len == LobRef::LEN
    }
}

impl IndexFields {
    /// Decodes the description.
    pub fn decode(&mut self, encoded: &[u8], is_leaf: bool) -> Result<()> {
        self.fields.clear();
        let mut at = 0;
        let mut last = None;
        while at < encoded.len() {
            let first = bytes::u8_at(encoded, at)?;
            let (value, len) = match first {
                0x80.. => (bytes::u16_at(encoded, at)? & 0x7FFF, 2),
                _ => (u16::from(first), 1),
            };
            at += len;
            if let Some(previous) = last.replace((value, len == 2)) {
                self.fields.push(Field::of(previous));
            }
        }
        let Some((last, _)) = last else {
            return Err(Error::corrupt("a compressed page does not describe its index"));
        };
        self.end(usize::from(last), is_leaf)
    }

    /// Takes the number at the end of the description.
    fn end(&mut self, last: usize, is_leaf: bool) -> Result<()> {
        let n_nullable = self.fields.iter().filter(|field| field.is_nullable).count();
        self.kind = match (is_leaf, last) {
            (false, _) => Kind::Branch,
            (true, 0) => Kind::Secondary,
            (true, system) => Kind::Clustered(system),
        };
        let is_sound = match self.kind {
            Kind::Branch => (n_nullable..1024).contains(&last),
            Kind::Secondary => true,
            Kind::Clustered(system) => self.fields.get(system).is_some_and(|field| {
                !field.is_nullable && matches!(field.width, Width::Fixed(SYSTEM_COLUMNS..))
            }),
        };
        if !is_sound {
            return Err(Error::corrupt(format!(
                "a compressed page describes its index by {} fields, {n_nullable} of them nullable, and {last}: \
                 impossible",
                self.fields.len()
            )));
        }
        let n_nullable = if self.kind == Kind::Branch { last } else { n_nullable };
        self.null_bytes = n_nullable.div_ceil(8);
        Ok(())
    }

    pub fn is_secondary(&self) -> bool {
        self.kind == Kind::Secondary
    }

    /// The status bits in a record's header (`REC_STATUS_NODE_PTR`).
    pub fn status(&self) -> u16 {
        u16::from(self.kind == Kind::Branch)
    }

    /// Bytes of the columns that are stored uncompressed for each record.
    pub fn column_bytes(&self) -> usize {
        match self.kind {
            Kind::Clustered(_) => SYSTEM_COLUMNS,
            Kind::Secondary => 0,
            Kind::Branch => CHILD,
        }
    }

    /// Measures a record and finds its holes, in order. `extra`: the byte at this distance before the record's
    /// header, from the nearest on.
    pub fn measure(
        &self,
        extra: impl Fn(usize) -> Option<u8>,
        holes: &mut Vec<Hole>,
    ) -> Result<Shape> {
        holes.clear();
        let extra = |at: usize| {
            extra(at).ok_or_else(|| Error::corrupt("a record's lengths reach out of its page"))
        };
        let mut shape = Shape { extra_bytes: self.null_bytes, data_bytes: 0 };
        let mut nullable = 0;
        for (number, field) in self.fields.iter().enumerate() {
            if field.is_nullable {
                let bit = nullable;
                nullable += 1;
                if extra(bit / 8)? >> (bit % 8) & 1 == 1 {
                    continue;
                }
            }
            if self.kind == Kind::Clustered(number) {
                holes.push(Hole { at: shape.data_bytes, len: SYSTEM_COLUMNS });
            }
            let (len, is_external) = match field.width {
                Width::Fixed(len) => (len, false),
                _ => {
                    let first = extra(shape.extra_bytes)?;
                    shape.extra_bytes += 1;
                    if field.width == Width::Long && first & 0x80 != 0 {
                        let second = extra(shape.extra_bytes)?;
                        shape.extra_bytes += 1;
                        (usize::from(first & 0x3F) << 8 | usize::from(second), first & 0x40 != 0)
                    } else {
                        (usize::from(first), false)
                    }
                }
            };
            shape.data_bytes += len;
            if is_external {
                let short = || Error::corrupt("an off-page column is shorter than its reference");
                let at = (len >= LobRef::LEN).then(|| shape.data_bytes - LobRef::LEN);
                holes.push(Hole { at: at.ok_or_else(short)?, len: LobRef::LEN });
            }
        }
        if self.kind == Kind::Branch {
            holes.push(Hole { at: shape.data_bytes, len: CHILD });
            shape.data_bytes += CHILD;
        }
        Ok(shape)
    }
}

impl Field {
    fn of((value, is_long): (u16, bool)) -> Field {
        let width = match value {
            _ if is_long => Width::Fixed(usize::from(value >> 1)),
            0 | 1 => Width::Short,
            0x7E | 0x7F => Width::Long,
            _ => Width::Fixed(usize::from(value >> 1)),
        };
        Field { width, is_nullable: value & 1 == 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `int key; system columns and a fixed one; varchar; nullable int; CHAR(20); two LOBs`, as MySQL 8.0.33
    /// wrote it.
    const ENCODED: [u8; 8] = [0x09, 0x1b, 0x00, 0x08, 0x29, 0x7e, 0x7e, 0x01];

    fn measured(fields: &IndexFields, extra: &[u8]) -> (Shape, Vec<Hole>) {
        let mut holes = Vec::new();
        let shape = fields.measure(|at| extra.get(at).copied(), &mut holes).unwrap();
        (shape, holes)
    }

    #[test]
    fn a_record_is_measured_by_its_null_bitmap_and_lengths() {
        let mut fields = IndexFields::default();
        fields.decode(&ENCODED, true).unwrap();
        // The varchar has 5 bytes, the int is NULL, the first LOB is off-page, the second has 3 bytes.
        let (shape, holes) = measured(&fields, &[0b0010, 5, 0xC0, 20, 3]);
        assert_eq!((shape.extra_bytes, shape.data_bytes), (5, 4 + 13 + 5 + 20 + 20 + 3));
        assert_eq!(holes, [Hole { at: 4, len: 13 }, Hole { at: 42, len: 20 }]);
        // All nullable columns are NULL.
        let (shape, holes) = measured(&fields, &[0b1111]);
        assert_eq!((shape.extra_bytes, shape.data_bytes), (1, 4 + 13 + 20));
        assert_eq!(holes.len(), 1);
    }

    #[test]
    fn a_node_pointer_ends_with_its_child() {
        let mut fields = IndexFields::default();
        fields.decode(&[0x09, 0x01, 0x09], false).unwrap();
        // Nine nullable columns of the index make two bytes of bitmap.
        let (shape, holes) = measured(&fields, &[0, 0, 7]);
        assert_eq!((shape.extra_bytes, shape.data_bytes), (3, 4 + 7 + 4));
        assert_eq!(holes, [Hole { at: 11, len: 4 }]);
    }

    #[test]
    fn impossible_descriptions_are_refused() {
        let mut fields = IndexFields::default();
        for (encoded, is_leaf) in [
            (&[][..], true),
            (&[0x80], true),
            // DB_TRX_ID in a field that does not exist, is too short, or is variable.
            (&[0x09, 0x1b, 0x02], true),
            (&[0x09, 0x09, 0x01], true),
            (&[0x09, 0x01, 0x01], true),
            // Fewer nullable columns in the index than in its key.
            (&[0x00, 0x00, 0x01], false),
        ] {
            assert!(fields.decode(encoded, is_leaf).is_err(), "{encoded:x?}");
        }
        fields.decode(&ENCODED, true).unwrap();
        let mut holes = Vec::new();
        assert!(fields.measure(|_| None, &mut holes).is_err());
        assert!(fields.measure(|at| [0, 1, 0xC0, 19].get(at).copied(), &mut holes).is_err());
    }
}
