//! The version of a row that no unfinished transaction wrote.
//!
//! `row_vers_build_for_consistent_read` (`row0vers.cc`), `trx_undo_prev_version_build`
//! (`trx0rec.cc`), MariaDB 10.11 and MySQL 8.0.

use std::borrow::Cow;

use super::{OldValue, SystemColumns, UndoRecord, Unfinished};
use crate::layout::{Field, Layout};
use crate::locate::{Fields, Row, StoredField};
use crate::page::Page;
use crate::record::Record;
use crate::{Error, PageNo, Result, bytes};

/// A page with undo records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UndoPage {
    /// Where it is: [`super::RollPointer::number`].
    pub number: u8,
    /// Its number in that tablespace.
    pub page_no: PageNo,
}

/// The fields of a clustered index's records, for versions of them: undo records have fields that are
/// no columns of the table.
#[derive(Clone, Debug)]
pub struct VersionLayout {
    fields: Layout,
    /// For each column that rows hold, its field.
    columns: Box<[usize]>,
}

impl VersionLayout {
    /// Compiles the layout of versions from that of rows.
    ///
    /// # Errors
    /// A column without a field, which no layout has.
    pub fn new(layout: &Layout) -> Result<VersionLayout> {
        let field_of = |column: usize| {
            let is_it = |field: &Field| usize::from(field.slot) == column;
            let place = layout.fields.iter().position(is_it);
            place.ok_or_else(|| Error::schema(format!("column {column} is in no field")))
        };
        let columns = (0..layout.n_columns()).map(field_of).collect::<Result<_>>()?;
        Ok(VersionLayout { fields: layout.of_fields(), columns })
    }
}

/// A field's value in a version.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value<'d> {
    /// The record is older than the field.
    Absent,
    Null,
    Inline(Cow<'d, [u8]>),
    /// The part in the record, and the reference to the rest.
    External(Cow<'d, [u8]>),
}

/// A reader of a row's version from before unfinished transactions: a state machine that asks for
/// pages.
#[derive(Debug)]
pub struct VersionReader<'d> {
    layout: &'d VersionLayout,
    unfinished: &'d Unfinished,
    values: Vec<Value<'d>>,
    /// What was replaced in off-page columns, the newest change first.
    lob_changes: Vec<Replaced>,
    system: SystemColumns,
    is_delete_marked: bool,
    /// The transaction that wrote the newest version; a row lock keeps out all others.
    writer: u64,
    /// The number of the undo record that was read last.
    number: Option<u64>,
}

/// Bytes that were replaced in an off-page column.
#[derive(Clone, Debug)]
struct Replaced {
    /// The place of the field, or of the column in a finished version.
    place: usize,
    page_no: PageNo,
    offset: usize,
    old: Vec<u8>,
}

/// A row that is on no page.
#[derive(Clone, Debug)]
pub struct Version {
    bytes: Vec<u8>,
    fields: Fields,
    trx_id: u64,
    lob_changes: Vec<Replaced>,
}

impl Version {
    /// Returns the row. `layout` must be that of the table's rows.
    pub fn row<'v>(&'v self, layout: &'v Layout) -> Row<'v, 'v> {
        self.fields.row(&self.bytes, layout)
    }

    /// Takes back the changes in the place of an off-page column, whose newest bytes are `value`; `place`: its place
    /// among the columns of rows, `page_no`: its first page in this version.
    ///
    /// # Errors
    /// A change is not within the column.
    pub fn restore_lob(&self, place: usize, page_no: PageNo, value: &mut [u8]) -> Result<()> {
        let own = |change: &&Replaced| (change.place, change.page_no) == (place, page_no);
        for change in self.lob_changes.iter().filter(own) {
            bytes::put(value, change.offset, &change.old).map_err(|error| {
                error.with_prefix("an undo record's change of an off-page column")
            })?;
        }
        Ok(())
    }

    /// The transaction that wrote it.
    pub fn trx_id(&self) -> u64 {
        self.trx_id
    }
}

impl<'d> VersionReader<'d> {
    /// Creates the reader for a record, delete-marked or not, whose system columns are `system`.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn new(
        layout: &'d VersionLayout,
        record: &Record<'d>,
        system: SystemColumns,
        unfinished: &'d Unfinished,
    ) -> Result<VersionReader<'d>> {
        let mut fields = Fields::default();
        let row = layout.fields.locate(record, &mut fields)?;
        let values = (0..row.len()).map(|place| match row.stored(place) {
            StoredField::Absent => Value::Absent,
            StoredField::Null => Value::Null,
            StoredField::Inline(bytes) => Value::Inline(Cow::Borrowed(bytes)),
            StoredField::External(bytes) => Value::External(Cow::Borrowed(bytes)),
        });
        Ok(VersionReader {
            layout,
            unfinished,
            values: values.collect(),
            lob_changes: Vec::new(),
            system,
            is_delete_marked: record.is_delete_marked(),
            writer: system.trx_id,
            number: None,
        })
    }

    /// Returns the next needed page; `None` when the version is found.
    pub fn need(&self) -> Option<UndoPage> {
        let SystemColumns { trx_id, roll_pointer } = self.system;
        let is_older = roll_pointer.is_insert || !self.unfinished.contains(trx_id);
        (!is_older)
            .then_some(UndoPage { number: roll_pointer.number, page_no: roll_pointer.page_no })
    }

    /// Passes the needed page to the reader.
    ///
    /// # Errors
    /// Damage: the undo record is not one of this row's, or is no older than the one before it.
    /// Changes that this version does not take back.
    pub fn feed(&mut self, page: Page<'_>) -> Result<()> {
        let offset = self.system.roll_pointer.offset;
        let record = UndoRecord::parse(&page, offset, self.layout.fields.key_fields)?;
        let taken = self.take(&record);
        taken.map_err(|error| page.locate_error(error.at_offset(u32::from(offset))))
    }

    fn take(&mut self, record: &UndoRecord<'_>) -> Result<()> {
        // A transaction numbers its changes, so a chain of them ends.
        if self.number.is_some_and(|newer| record.number >= newer) {
            return Err(Error::corrupt(format!(
                "undo record number {} comes before one that is no newer: a cycle",
                record.number
            )));
        }
        self.number = Some(record.number);
        for (field, old) in &record.old {
            let places = self.values.len();
            let value = self.values.get_mut(usize::from(*field)).ok_or_else(|| {
                Error::corrupt(format!("an undo record has field {field} of {places}"))
            })?;
            *value = match *old {
                OldValue::Null => Value::Null,
                OldValue::Inline(bytes) => Value::Inline(Cow::Owned(bytes.to_vec())),
                OldValue::External { prefix, reference } => {
                    Value::External(Cow::Owned([prefix, reference].concat()))
                }
            };
        }
        self.lob_changes.extend(record.lob_changes.iter().map(|change| Replaced {
            place: change.field.into(),
            page_no: change.page_no,
            offset: change.offset as usize,
            old: change.old.to_vec(),
        }));
        self.require_key(record)?;
        self.is_delete_marked = record.is_delete_marked;
        let (trx_id, roll_pointer) = (record.trx_id, record.roll_pointer);
        self.system = SystemColumns { trx_id, roll_pointer };
        if trx_id != self.writer && self.unfinished.contains(trx_id) {
            return Err(Error::corrupt(format!(
                "a row was changed by two unfinished transactions, {} and {trx_id}",
                self.writer
            )));
        }
        Ok(())
    }

    /// Requires that the undo record is one of this row's: its key is that of the older version.
    fn require_key(&self, record: &UndoRecord<'_>) -> Result<()> {
        let mut fields = self.values.iter().zip(&record.key);
        let is_own = fields.all(|(value, key)| match value {
            Value::Inline(bytes) => **bytes == **key,
            _ => false,
        });
        if is_own {
            return Ok(());
        }
        Err(Error::corrupt("the row's roll pointer leads to an undo record with another key"))
    }

    /// Returns the version, once no page is needed; `None` where there was no row.
    ///
    /// # Errors
    /// The version is larger than any record.
    pub fn finish(self) -> Result<Option<Version>> {
        let is_inserted = self.unfinished.contains(self.system.trx_id);
        if is_inserted || self.is_delete_marked {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let stored = |place: &usize| match self.values.get(*place) {
            None | Some(Value::Absent) => StoredField::Absent,
            Some(Value::Null) => StoredField::Null,
            Some(Value::Inline(value)) => StoredField::Inline(value),
            Some(Value::External(value)) => StoredField::External(value),
        };
        let fields = Fields::copied(self.layout.columns.iter().map(stored), &mut bytes)?;
        let columns = &self.layout.columns;
        let of_column = |change: Replaced| {
            let place = columns.iter().position(|&field| field == change.place)?;
            Some(Replaced { place, ..change })
        };
        let lob_changes = self.lob_changes.into_iter().filter_map(of_column).collect();
        Ok(Some(Version { bytes, fields, trx_id: self.system.trx_id, lob_changes }))
    }
}
