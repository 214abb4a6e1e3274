//! MariaDB's instant `ALTER TABLE`: what the file says of it that the definition does not.
//!
//! The clustered index's root, then of type `INSTANT`, counts the fields records had before the
//! first instant ALTER. The first record of the leftmost leaf is no row but the *metadata record*,
//! marked as its level's minimum, which holds the defaults of the added columns. After DROP or
//! reorder (10.4) it is delete-marked as well, and between `DB_ROLL_PTR` and the first user
//! column refers to a BLOB that maps fields to columns:
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
use crate::lob::{LobReader, LobRef};
use crate::locate::{Ends, Fields, Located};
use crate::page::{IndexPage, Need, Page, PageFormat};
use crate::record::{Record, STATUS_INSTANT};
use crate::schema::{InstantDefault, RowFormat, TableDef};
use crate::tree::children;
use crate::{Error, IndexId, PageNo, Result, bytes};

/// What instant ALTERs left in a MariaDB table's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstantMetadata {
    /// Fields records had before the first.
    pub(super) core_fields: u16,
    /// Bytes of those records' null bitmap, where the root says so.
    pub(super) core_null_bytes: Option<u8>,
    /// After DROP or reorder: what each field after `DB_ROLL_PTR` is.
    field_map: Option<Vec<Mapped>>,
    /// What rows from before a column hold, by the column's place in [`TableDef::columns`].
    defaults: Vec<(usize, InstantDefault)>,
}

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mapped {
    /// The column of this number among those that are stored.
    Column(u16),
    /// One that was dropped.
    Dropped { nullable: bool, len: u16 },
}

impl InstantMetadata {
    #[cfg(test)]
    pub(super) fn of_core(core_fields: u16) -> InstantMetadata {
        let defaults = Vec::new();
        InstantMetadata { core_fields, core_null_bytes: None, field_map: None, defaults }
    }

    /// Rearranges the fields and hands out the defaults.
    pub(super) fn apply(&self, clustered: &mut Clustered) -> Result<()> {
        if let Some(map) = &self.field_map {
            let first_user = clustered.key_fields + 2;
            let mut old = clustered.fields.split_off(first_user.min(clustered.fields.len()));
            for mapped in map {
                let field = match *mapped {
                    Mapped::Dropped { nullable, len } => Logical {
                        column: None,
                        prefix: false,
                        shape: Shape::of_dropped(len),
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

/// Reads a table's [`InstantMetadata`], if it has any: a machine that asks for pages.
#[derive(Clone, Debug)]
pub struct MetadataReader<'t> {
    def: &'t TableDef,
    row_format: RowFormat,
    format: PageFormat,
    need: Vec<PageNo>,
    found: Option<InstantMetadata>,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Root,
    Branch { index: IndexId, level: u16, core_null_bytes: usize },
    FieldMap { reader: Box<LobReader>, value: Vec<u8>, leaf: Box<[u8]>, leaf_no: PageNo },
    Defaults { lobs: Vec<(usize, Vec<u8>, LobReader)> },
    Done,
}

impl<'t> MetadataReader<'t> {
    /// For the table whose clustered index has its root at `root`.
    pub fn new(
        def: &'t TableDef,
        row_format: RowFormat,
        format: PageFormat,
        root: PageNo,
    ) -> MetadataReader<'t> {
        let need = vec![root];
        MetadataReader { def, row_format, format, need, found: None, state: State::Root }
    }

    /// What it needs next.
    pub fn need(&self) -> Need<'_> {
        match &self.state {
            State::Done => Need::Done,
            State::FieldMap { reader, .. } => reader.need(),
            State::Defaults { lobs } => {
                lobs.first().map_or(Need::Done, |(_, _, reader)| reader.need())
            }
            State::Root | State::Branch { .. } => Need::Pages(&self.need),
        }
    }

    /// Takes the first needed page, whole.
    pub fn feed(&mut self, page_no: PageNo, page: &[u8]) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Root => self.take_root(self.index_page(page_no, page)?),
            State::Branch { index, level, core_null_bytes } => {
                let page = self.index_page(page_no, page)?;
                page.require(index, level)?;
                self.take_index_page(page, core_null_bytes)
            }
            State::FieldMap { mut reader, mut value, leaf, leaf_no } => {
                reader.feed(page_no, page, &mut value)?;
                if reader.need() != Need::Done {
                    self.state = State::FieldMap { reader, value, leaf, leaf_no };
                    return Ok(());
                }
                if let Some(found) = &mut self.found {
                    found.field_map = Some(parse_field_map(&value)?);
                }
                let leaf = self.index_page(leaf_no, &leaf)?;
                let record = leaf.first_record()?;
                record.map_or(Ok(()), |record| self.take_defaults(&record, true))
            }
            State::Defaults { mut lobs } => {
                if let Some((_, value, reader)) = lobs.first_mut() {
                    reader.feed(page_no, page, value)?;
                }
                self.settle(lobs);
                Ok(())
            }
            State::Done => Err(Error::corrupt(format!("page {page_no} was not asked for"))),
        }
    }

    /// What was found; `None` for a table never altered instantly.
    pub fn finish(self) -> Option<InstantMetadata> {
        self.found
    }

    fn index_page<'a>(&self, page_no: PageNo, page: &'a [u8]) -> Result<IndexPage<'a>> {
        IndexPage::parse(Page::parse(page, self.format, page_no)?)
    }

    fn take_root(&mut self, root: IndexPage<'_>) -> Result<()> {
        let Some((core_fields, core_null_bytes)) = root.instant_core() else { return Ok(()) };
        let layout = Layout::compile(self.def, self.row_format, None)?;
        self.found = Some(InstantMetadata {
            core_fields,
            core_null_bytes,
            field_map: None,
            defaults: Vec::new(),
        });
        let nullable = |field: &&Field| field.nullable;
        let core = layout.fields.iter().take(usize::from(core_fields));
        let null_bytes = match core_null_bytes {
            Some(bytes) => usize::from(bytes),
            None => core.filter(nullable).count().div_ceil(8),
        };
        self.take_index_page(root, null_bytes)
    }

    /// Goes down the left edge; ends at the leaf.
    fn take_index_page(&mut self, page: IndexPage<'_>, core_null_bytes: usize) -> Result<()> {
        if page.is_leaf() {
            return self.take_leaf(page).map_err(|error| page.page().locate_error(error));
        }
        let mut layout = Layout::compile(self.def, self.row_format, None)?;
        layout.core_null_bytes = core_null_bytes;
        self.need.clear();
        children(&page, &layout, &mut self.need)?;
        self.need.truncate(1);
        let level = page.level() - 1;
        self.state = State::Branch { index: page.index_id(), level, core_null_bytes };
        Ok(())
    }

    fn take_leaf(&mut self, leaf: IndexPage<'_>) -> Result<()> {
        let record = leaf.first_record()?.filter(|record| record.is_metadata());
        let Some(record) = record else {
            // The root's mark may outlive an instant ALTER that was rolled back.
            let layout = Layout::compile(self.def, self.row_format, None)?;
            let core = self.found.take().map_or(0, |found| usize::from(found.core_fields));
            if core == layout.fields.len() {
                return Ok(());
            }
            return Err(Error::corrupt("the record of instant ALTER TABLE metadata is missing"));
        };
        if record.is_compact() && record.status() != STATUS_INSTANT {
            return Err(record.locate_error(Error::corrupt("this is no metadata record")));
        }
        if !record.is_delete_marked() {
            return self.take_defaults(&record, false);
        }
        let at = record.origin() + self.key_len(&record)? + 13;
        let reference = bytes::array::<{ LobRef::LEN }>(record.page(), at)?;
        let lob = LobRef::parse(&reference).map_err(|error| record.locate_error(error))?;
        self.state = State::FieldMap {
            reader: Box::new(LobReader::new(self.format, lob)?),
            value: Vec::new(),
            leaf: record.page().into(),
            leaf_no: leaf.page_no(),
        };
        Ok(())
    }

    /// Bytes of the metadata record's key: its variable fields are empty, unless the record says
    /// where they end.
    fn key_len(&self, record: &Record<'_>) -> Result<usize> {
        let layout = Layout::compile(self.def, self.row_format, None)?;
        if !record.is_compact() {
            return Ends::of(record)?.end(layout.key_fields.saturating_sub(1));
        }
        let key = layout.fields.iter().take(layout.key_fields);
        Ok(key.map(|field| usize::from(field.fixed_len)).sum())
    }

    fn take_defaults(&mut self, record: &Record<'_>, has_map: bool) -> Result<()> {
        let Some(found) = &self.found else { return Ok(()) };
        let mut layout = Layout::compile(self.def, self.row_format, Some(found))?;
        let mut first_added = usize::from(found.core_fields);
        if has_map {
            layout.insert_field_map();
            first_added += 1;
        }
        let added: Vec<u16> = layout.fields.iter().skip(first_added).map(|f| f.slot).collect();
        let mut fields = Fields::default();
        let row = layout.locate(record, &mut fields)?;
        let (mut defaults, mut lobs) = (Vec::new(), Vec::new());
        for (place, column) in layout.columns().enumerate() {
            if !added.contains(&(place as u16)) {
                continue;
            }
            let value = row.get(place).map_err(|error| record.locate_error(error))?;
            match value {
                Located::Null => defaults.push((column, InstantDefault::Null)),
                Located::Inline(value) | Located::Default(value) => {
                    defaults.push((column, InstantDefault::Bytes(value.to_vec())));
                }
                Located::External { prefix, lob } => {
                    lobs.push((column, prefix.to_vec(), LobReader::new(self.format, lob)?));
                }
            }
        }
        if let Some(found) = &mut self.found {
            found.defaults = defaults;
        }
        self.settle(lobs);
        Ok(())
    }

    /// Moves the finished LOBs to the defaults.
    fn settle(&mut self, mut lobs: Vec<(usize, Vec<u8>, LobReader)>) {
        while lobs.first().is_some_and(|(_, _, reader)| reader.need() == Need::Done) {
            let (column, value, _) = lobs.remove(0);
            if let Some(found) = &mut self.found {
                found.defaults.push((column, InstantDefault::Bytes(value)));
            }
        }
        self.state = if lobs.is_empty() { State::Done } else { State::Defaults { lobs } };
    }
}

impl Layout {
    /// Makes room for the reference to the field map, which the metadata record has and rows have
    /// not.
    fn insert_field_map(&mut self) {
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
        // The core fields' count stays: that of the record includes the reference.
        if let Flavour::MariaDb { nullable_before, .. } = &mut self.flavour {
            let mut counts = std::mem::take(nullable_before).into_vec();
            if let Some(&count) = counts.get(place) {
                counts.insert(place, count);
            }
            *nullable_before = counts.into();
        }
    }
}

fn parse_field_map(blob: &[u8]) -> Result<Vec<Mapped>> {
    let count = bytes::u32_at(blob, 0)? as usize;
    if blob.len() != 4 + 2 * count {
        return Err(Error::corrupt(format!(
            "instant ALTER TABLE metadata of {} bytes for {count} fields",
            blob.len()
        )));
    }
    (0..count)
        .map(|nth| {
            let word = bytes::u16_at(blob, 4 + 2 * nth)?;
            let number = word & 0x3FF;
            Ok(if word & 0x8000 != 0 {
                Mapped::Dropped { nullable: word & 0x4000 == 0, len: number }
            } else {
                Mapped::Column(number)
            })
        })
        .collect()
}
