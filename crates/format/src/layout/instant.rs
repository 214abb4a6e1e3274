//! Metadata of MariaDB's instant `ALTER TABLE`: the facts that the file adds to the definition.
//!
//! The clustered index's root, then of type `INSTANT`, counts the fields that records had before
//! the first instant ALTER. The first record of the leftmost leaf is no row but the *metadata
//! record*, marked as its level's minimum, which holds the defaults of the added columns. After
//! DROP or reorder (10.4) it is also delete-marked, and refers, between `DB_ROLL_PTR` and the first
//! user column, to a BLOB that maps fields to columns:
//!
//! ```text
//! 0 fields after DB_ROLL_PTR   4 + 2n  the nth: bit 15 dropped, bit 14 was NOT NULL,
//!                                      bits 0-9 column number, or of dropped ones
//!                                      0 variable, 1 variable of more than 255 bytes, 1 + length
//! ```
//!
//! `btr_cur_instant_init_low` (`btr0cur.cc`), `deserialise_columns`, `reconstruct_fields`
//! (`dict0mem.cc`), `field_map_element_t` (`dict0mem.h`), MariaDB 10.11.

use super::clustered::{Clustered, Logical};
use super::shape::Shape;
use super::{Field, Flavour, Layout};
use crate::lob_ref::LobRef;
use crate::schema::InstantDefault;
use crate::{Error, Result, bytes};

/// The metadata that instant ALTERs left in a MariaDB table's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstantMetadata {
    /// Fields that records had before the first instant ALTER.
    pub(crate) core_fields: u16,
    /// Bytes of those records' null bitmap, where the root has them.
    pub(crate) core_null_bytes: Option<u8>,
    /// The meaning of each field after `DB_ROLL_PTR`, after DROP or reorder.
    pub(crate) field_map: Option<FieldMap>,
    /// Defaults of instantly added columns, each with the column's index in [`TableDef::columns`].
    pub(crate) defaults: Vec<(usize, InstantDefault)>,
}

/// The meaning of each field after `DB_ROLL_PTR`, after DROP or reorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldMap(Vec<Mapped>);

/// The column of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mapped {
    /// The column with this number among those that are stored.
    Column(u16),
    /// A dropped column.
    Dropped { nullable: bool, len: u16 },
}

impl InstantMetadata {
    #[cfg(test)]
    pub(super) fn with_core_fields(core_fields: u16) -> InstantMetadata {
        let defaults = Vec::new();
        InstantMetadata { core_fields, core_null_bytes: None, field_map: None, defaults }
    }

    /// Rearranges the fields and assigns the defaults.
    pub(super) fn apply(&self, clustered: &mut Clustered) -> Result<()> {
        if let Some(map) = &self.field_map {
            let first_user = clustered.key_fields + 2;
            let mut old = clustered.fields.split_off(first_user.min(clustered.fields.len()));
            for mapped in &map.0 {
                let field = match *mapped {
                    Mapped::Dropped { nullable, len } => Logical {
                        column: None,
                        prefix: false,
                        shape: Shape::dropped(len),
                        nullable,
                        version_added: 0,
                        version_dropped: None,
                    },
                    Mapped::Column(column) => {
                        let place = old
                            .iter()
                            .position(|field| field.column == Some(usize::from(column)))
                            .ok_or_else(|| {
                                Error::schema(format!(
                                    "the file maps a field to column number {column}, which the \
                                     definition does not have there"
                                ))
                            })?;
                        old.remove(place)
                    }
                };
                clustered.fields.push(field);
            }
            if !old.is_empty() {
                return Err(Error::schema(format!(
                    "the definition has {} columns the file does not map",
                    old.len()
                )));
            }
        }
        for column in &mut clustered.columns {
            let default = self.defaults.iter().find(|default| Some(default.0) == column.source);
            column.default = default.map(|default| default.1.clone());
        }
        Ok(())
    }
}

impl FieldMap {
    /// Parses the BLOB that the metadata record refers to.
    pub fn parse(blob: &[u8]) -> Result<FieldMap> {
        let count = bytes::u32_at(blob, 0)? as usize;
        if blob.len() != 4 + 2 * count {
            return Err(Error::corrupt(format!(
                "instant ALTER TABLE metadata of {} bytes for {count} fields",
                blob.len()
            )));
        }
        let fields = (0..count).map(|nth| {
            let word = bytes::u16_at(blob, 4 + 2 * nth)?;
            let number = word & 0x3FF;
            Ok(if word & 0x8000 != 0 {
                Mapped::Dropped { nullable: word & 0x4000 == 0, len: number }
            } else {
                Mapped::Column(number)
            })
        });
        fields.collect::<Result<_>>().map(FieldMap)
    }
}

impl Layout {
    /// Inserts the field for the reference to the field map, which the metadata record has and rows
    /// do not.
    pub(crate) fn insert_field_map(&mut self) {
        let place = (self.key_fields + 2).min(self.fields.len());
        let mut fields = std::mem::take(&mut self.fields).into_vec();
        fields.insert(
            place,
            Field {
                fixed_len: LobRef::LEN as u16,
                slot: Field::NO_SLOT,
                variable: false,
                big: false,
                nullable: false,
                version_added: 0,
                version_dropped: u8::MAX,
            },
        );
        self.fields = fields.into();
        // The count of core fields remains: the record's own count includes the reference.
        if let Flavour::MariaDb { nullable_before, .. } = &mut self.flavour {
            let mut counts = std::mem::take(nullable_before).into_vec();
            if let Some(&count) = counts.get(place) {
                counts.insert(place, count);
            }
            *nullable_before = counts.into();
        }
    }
}
