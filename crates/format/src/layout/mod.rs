//! The order of a clustered index's fields, compiled once per table.
//!
//! A definition has the columns and the key; InnoDB derives from it the fields of every record
//! ([`clustered`](self), [`shape`](self)), and instant `ALTER TABLE` gives old records other fields
//! than new ones. [`Layout::compile`] works this out and produces flat arrays, so that
//! [`Layout::locate`] handles bytes only.
//!
//! | flavour | mark of a record | missing fields |
//! |---|---|---|
//! | none | nothing | nothing |
//! | MySQL 8.0.12 ADD | bit 0x80: its field count | fields from there on: their defaults |
//! | MySQL 8.0.29 ADD, DROP | bit 0x40: its row version | columns added later; columns dropped later are still there |
//! | MariaDB 10.3 ADD | status 4: its count of added fields | fields from there on |
//! | MariaDB 10.4 ADD, DROP, reorder | as MariaDB 10.3 | as MariaDB 10.3; the metadata record maps fields to columns |
//!
//! `rem/rec.h` of MySQL 9.7; `rem0rec.cc`, `dict0mem.h` of MariaDB 10.11.

mod clustered;
mod instant;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use instant::FieldMap;
pub use instant::InstantMetadata;

use self::clustered::{Clustered, Column, Logical};
use self::shape::Shape;
use crate::schema::{InstantDefault, RowFormat, TableDef};
use crate::{Error, Result};

/// The fields of a clustered index, compiled for finding columns in records.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(crate) compact: bool,
    /// The fields in the order of records.
    pub(crate) fields: Box<[Field]>,
    /// Fields of a node pointer before the child's page number.
    pub(crate) key_fields: usize,
    /// Bytes of the key fields, if constant.
    pub(crate) key_len: Option<usize>,
    /// Bytes of the null bitmap in node pointers, and in rows without instant bits.
    pub(crate) core_null_bytes: usize,
    pub(crate) flavour: Flavour,
    /// Place of `DB_TRX_ID` among the fields; `DB_ROLL_PTR` follows it.
    pub(crate) trx_id_at: usize,
    columns: Box<[Slot]>,
    has_compressed: bool,
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Length in bytes if fixed; else 0, and `variable` is set.
    pub fixed_len: u16,
    /// Index of the column among the layout's columns, or [`Field::NO_SLOT`].
    pub slot: u16,
    pub variable: bool,
    pub big: bool,
    pub nullable: bool,
    pub version_added: u8,
    /// Row version that dropped the column; `u8::MAX`: never.
    pub version_dropped: u8,
}

impl Field {
    /// No column: system columns, prefixes, and dropped columns.
    pub(crate) const NO_SLOT: u16 = u16::MAX;
}

/// The kind of instant `ALTER TABLE` that a table has had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    Plain,
    MySql {
        /// Fields before the first 8.0.12-style ADD; `None` without one.
        first_fields: Option<usize>,
        /// Nullable fields among the first n, for n up to all.
        nullable_before: Box<[u16]>,
        /// Nullable fields in each row version.
        nullable_in_version: Box<[u16]>,
    },
    MariaDb {
        /// Fields before the first instant ALTER.
        core_fields: usize,
        /// Nullable fields among the first n, for n up to all.
        nullable_before: Box<[u16]>,
    },
}

/// A column of the table that rows hold.
#[derive(Clone, Debug)]
struct Slot {
    column: usize,
    name: Box<str>,
    is_compressed: bool,
    default: Option<InstantDefault>,
}

impl Layout {
    /// Compiles the fields of `def`'s clustered index.
    ///
    /// `row_format` is the format according to the file ([`crate::page::FspFlags::row_format`]);
    /// `metadata` is the result of a [`MetadataReader`](crate::read::MetadataReader), for MariaDB.
    pub fn compile(
        def: &TableDef,
        row_format: RowFormat,
        metadata: Option<&InstantMetadata>,
    ) -> Result<Layout> {
        let mut clustered = Clustered::from_def(def)?;
        if let Some(metadata) = metadata {
            metadata.apply(&mut clustered)?;
        }
        let flavour = match metadata {
            Some(metadata) => mariadb(&clustered, metadata)?,
            None => mysql(def, &clustered)?,
        };
        let columns = slots(def, &clustered);
        let fields: Box<[Field]> = clustered
            .fields
            .iter()
            .map(|field| compile_field(field, &clustered.columns, &columns))
            .collect();
        if fields.is_empty() || fields.len() > usize::from(u16::MAX) {
            return Err(Error::schema(format!("impossible number of fields: {}", fields.len())));
        }
        let key = fields.get(..clustered.key_fields).unwrap_or_default();
        let fixed_key = key.iter().all(|field| !field.variable && !field.nullable);
        let key_len = key.iter().map(|field| usize::from(field.fixed_len)).sum();
        let core_null_bytes = match metadata.and_then(|metadata| metadata.core_null_bytes) {
            Some(bytes) => usize::from(bytes),
            None => core_nullable(&clustered, &flavour).div_ceil(8),
        };
        Ok(Layout {
            compact: row_format != RowFormat::Redundant,
            key_fields: clustered.key_fields,
            key_len: fixed_key.then_some(key_len),
            core_null_bytes,
            flavour,
            trx_id_at: clustered.trx_id_at,
            has_compressed: columns.iter().any(|slot| slot.is_compressed),
            columns,
            fields,
        })
    }

    /// Creates the layout of an internal tree of InnoDB: fixed-length fields, then LOB fields.
    pub(crate) fn internal(fixed_lens: &[u16], key_fields: usize, lobs: usize) -> Layout {
        let field = |slot: usize, fixed_len: u16, variable: bool| Field {
            fixed_len,
            slot: slot as u16,
            variable,
            big: variable,
            nullable: false,
            version_added: 0,
            version_dropped: u8::MAX,
        };
        let mut fields: Vec<Field> = Vec::new();
        for &len in fixed_lens {
            fields.push(field(fields.len(), len, false));
        }
        for _ in 0..lobs {
            fields.push(field(fields.len(), 0, true));
        }
        let columns = (0..fields.len())
            .map(|column| Slot {
                column,
                name: Box::default(),
                is_compressed: false,
                default: None,
            })
            .collect();
        let key_len = fixed_lens.iter().take(key_fields).map(|&len| usize::from(len)).sum();
        Layout {
            compact: true,
            fields: fields.into(),
            key_fields,
            key_len: Some(key_len),
            core_null_bytes: 0,
            flavour: Flavour::Plain,
            trx_id_at: key_fields,
            columns,
            has_compressed: false,
        }
    }

    /// Returns a layout of the same records in which each field is a column, in the order of the
    /// fields: with the system columns, prefixes and dropped columns, and without defaults.
    pub(crate) fn of_fields(&self) -> Layout {
        let mut layout = self.clone();
        for (place, field) in layout.fields.iter_mut().enumerate() {
            field.slot = place as u16;
        }
        let slot =
            |column| Slot { column, name: Box::default(), is_compressed: false, default: None };
        layout.columns = (0..layout.fields.len()).map(slot).collect();
        layout.has_compressed = false;
        layout
    }

    /// Returns the columns that rows hold, in SQL order, as indexes into [`TableDef::columns`].
    /// [`crate::locate::Row::get`] takes an index into this list.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.columns.iter().map(|slot| slot.column)
    }

    /// Returns the number of columns that rows hold.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns the name of the column at `place` among [`Layout::columns`].
    pub fn column_name(&self, place: usize) -> &str {
        self.columns.get(place).map(|slot| &*slot.name).unwrap_or_default()
    }

    /// Returns whether the values of the column at `place` are stored compressed
    /// ([`crate::types::decompress_column`]).
    pub fn is_compressed(&self, place: usize) -> bool {
        self.columns.get(place).is_some_and(|slot| slot.is_compressed)
    }

    /// Returns whether any column's values are.
    pub fn has_compressed(&self) -> bool {
        self.has_compressed
    }

    /// Returns the key's fields in key order: the index of each among [`Layout::columns`], and its
    /// bytes if their number is fixed. The index is `None` for a prefix and for `DB_ROW_ID`.
    pub fn key_parts(&self) -> impl ExactSizeIterator<Item = (Option<usize>, Option<usize>)> + '_ {
        self.fields.iter().take(self.key_fields).map(|field| {
            let place = (field.slot != Field::NO_SLOT).then_some(usize::from(field.slot));
            let len = (!field.variable).then_some(usize::from(field.fixed_len));
            (place, len)
        })
    }

    /// Returns whether records are in COMPACT or DYNAMIC form.
    pub fn is_compact(&self) -> bool {
        self.compact
    }

    /// Returns the default of an instantly added column: its value in rows from before it.
    pub(crate) fn default_of(&self, place: usize) -> Option<&InstantDefault> {
        self.columns.get(place).and_then(|slot| slot.default.as_ref())
    }
}

fn compile_field(field: &Logical, columns: &[Column], slots: &[Slot]) -> Field {
    let source = field.column.filter(|_| !field.prefix && field.version_dropped.is_none());
    let source = source.and_then(|place| columns.get(place)).and_then(|column| column.source);
    let slot = source.and_then(|source| slots.iter().position(|slot| slot.column == source));
    let Shape { fixed_len, big, .. } = field.shape;
    Field {
        fixed_len: fixed_len.unwrap_or_default(),
        slot: slot.map_or(Field::NO_SLOT, |slot| slot as u16),
        variable: fixed_len.is_none(),
        big,
        nullable: field.nullable,
        version_added: field.version_added,
        version_dropped: field.version_dropped.unwrap_or(u8::MAX),
    }
}

fn slots(def: &TableDef, clustered: &Clustered) -> Box<[Slot]> {
    let mut slots: Vec<Slot> = Vec::new();
    for (place, column_def) in def.columns.iter().enumerate() {
        let stored = clustered
            .columns
            .iter()
            .find(|column| column.source == Some(place) && column.version_dropped.is_none());
        if let Some(column) = stored {
            slots.push(Slot {
                column: place,
                name: column_def.name.as_str().into(),
                is_compressed: column_def.compressed,
                default: column.default.clone(),
            });
        }
    }
    slots.into()
}

/// Counts the nullable fields among the first 0, 1, ... up to all.
fn nullable_before(fields: &[Logical], counts: impl Fn(&Logical) -> bool) -> Box<[u16]> {
    let mut sums = vec![0u16];
    let mut sum = 0u16;
    for field in fields {
        sum += u16::from(field.nullable && counts(field));
        sums.push(sum);
    }
    sums.into()
}

fn mysql(def: &TableDef, clustered: &Clustered) -> Result<Flavour> {
    let physical = &def.physical;
    let newest = clustered
        .columns
        .iter()
        .flat_map(|column| [column.version_added, column.version_dropped.unwrap_or(0)])
        .fold(physical.row_version, u8::max);
    if newest == u8::MAX {
        return Err(Error::schema("255 is no row version"));
    }
    if newest == 0 && physical.instant_columns.is_none() {
        return Ok(Flavour::Plain);
    }
    let exists = |field: &Logical, version: u8| {
        field.version_added <= version
            && field.version_dropped.is_none_or(|dropped| dropped > version)
    };
    let nullable_in_version = (0..=newest)
        .map(|version| {
            let nullable = |field: &&Logical| field.nullable && exists(field, version);
            clustered.fields.iter().filter(nullable).count() as u16
        })
        .collect();
    let first_fields = physical
        .instant_columns
        .map(|columns| usize::from(columns) + clustered.extra_fields)
        .filter(|&fields| fields <= clustered.fields.len());
    if first_fields.is_none() && physical.instant_columns.is_some() {
        return Err(Error::schema("more columns before the first instant ADD than there are"));
    }
    Ok(Flavour::MySql {
        first_fields,
        // Columns of row versions come after all those that an older record can count.
        nullable_before: nullable_before(&clustered.fields, |field| field.version_added == 0),
        nullable_in_version,
    })
}

fn mariadb(clustered: &Clustered, metadata: &InstantMetadata) -> Result<Flavour> {
    let core_fields = usize::from(metadata.core_fields);
    if core_fields < clustered.key_fields + 2 || core_fields > clustered.fields.len() {
        return Err(Error::schema(format!(
            "the table's file counts {core_fields} core fields, its definition {} fields",
            clustered.fields.len()
        )));
    }
    let nullable_before = nullable_before(&clustered.fields, |_| true);
    Ok(Flavour::MariaDb { core_fields, nullable_before })
}

/// Counts the nullable fields of rows without instant bits.
fn core_nullable(clustered: &Clustered, flavour: &Flavour) -> usize {
    let nth = |counts: &[u16], n: usize| counts.get(n).copied().map_or(0, usize::from);
    match flavour {
        Flavour::Plain => clustered.fields.iter().filter(|field| field.nullable).count(),
        Flavour::MySql { first_fields: Some(first), nullable_before, .. } => {
            nth(nullable_before, *first)
        }
        Flavour::MySql { nullable_in_version, .. } => nth(nullable_in_version, 0),
        Flavour::MariaDb { core_fields, nullable_before } => nth(nullable_before, *core_fields),
    }
}
