//! Reader of the metadata of MariaDB's instant `ALTER TABLE`: it visits the root, the leftmost leaf
//! and the BLOBs of the metadata record. [`crate::layout::InstantMetadata`] describes the bytes.
//!
//! `btr_cur_instant_init_low` (`btr0cur.cc`), MariaDB 10.11.

use super::{LobReader, Need};
use crate::layout::{Field, FieldMap, InstantMetadata, Layout};
use crate::locate::{Ends, Fields, Located};
use crate::page::{IndexPage, OwnedPage, Page, PageFormat};
use crate::record::{Record, STATUS_INSTANT};
use crate::schema::{InstantDefault, RowFormat, TableDef};
use crate::tree::children;
use crate::undo::{self, Unfinished};
use crate::{Error, IndexId, LobRef, PageNo, Result, bytes};

/// A reader of a table's [`InstantMetadata`], if the table has any: a state machine that asks for
/// pages.
#[derive(Debug)]
pub struct MetadataReader<'t> {
    def: &'t TableDef,
    row_format: RowFormat,
    format: PageFormat,
    unfinished: Option<&'t Unfinished>,
    need: Vec<PageNo>,
    found: Option<InstantMetadata>,
    state: State,
}

#[derive(Debug)]
enum State {
    Root,
    Branch { index: IndexId, level: u16, core_null_bytes: usize },
    FieldMap { reader: Box<LobReader>, value: Vec<u8>, leaf: OwnedPage },
    Defaults { lobs: Vec<(usize, Vec<u8>, LobReader)> },
    Done,
}

impl<'t> MetadataReader<'t> {
    /// Creates a reader for the table whose clustered index has its root at `root`.
    pub fn new(
        def: &'t TableDef,
        row_format: RowFormat,
        format: PageFormat,
        root: PageNo,
    ) -> MetadataReader<'t> {
        let need = vec![root];
        let (unfinished, found, state) = (None, None, State::Root);
        MetadataReader { def, row_format, format, unfinished, need, found, state }
    }

    /// Refuses metadata that one of these transactions wrote: an `ALTER TABLE` was under way.
    #[must_use]
    pub fn without(self, unfinished: Option<&'t Unfinished>) -> MetadataReader<'t> {
        MetadataReader { unfinished, ..self }
    }

    /// Returns the next needed pages.
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

    /// Passes the first needed page to the reader.
    pub fn feed(&mut self, page: Page<'_>) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Root => self.take_root(IndexPage::parse(page)?),
            State::Branch { index, level, core_null_bytes } => {
                let page = IndexPage::parse(page)?;
                page.require(index, level)?;
                self.take_index_page(page, core_null_bytes)
            }
            State::FieldMap { mut reader, mut value, leaf } => {
                reader.feed(page, &mut value)?;
                if reader.need() != Need::Done {
                    self.state = State::FieldMap { reader, value, leaf };
                    return Ok(());
                }
                if let Some(found) = &mut self.found {
                    found.field_map = Some(FieldMap::parse(&value)?);
                }
                let record = IndexPage::parse(leaf.as_page())?.first_record()?;
                record.map_or(Ok(()), |record| self.take_defaults(&record, true))
            }
            State::Defaults { mut lobs } => {
                if let Some((_, value, reader)) = lobs.first_mut() {
                    reader.feed(page, value)?;
                }
                self.settle(lobs);
                Ok(())
            }
            State::Done => {
                Err(Error::corrupt(format!("page {} was not requested", page.page_no())))
            }
        }
    }

    /// Returns the metadata; `None` for a table that was never altered instantly.
    pub fn finish(self) -> Option<InstantMetadata> {
        self.found
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

    /// Descends along the left edge of the tree, down to the leaf.
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
            // The root's mark may remain after an instant ALTER that was rolled back.
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
        let key_len = self.key_len(&record)?;
        if let Some(unfinished) = self.unfinished
            && unfinished.contains(bytes::u48_at(record.page(), record.origin() + key_len)?)
        {
            return Err(undo::alter_under_way());
        }
        if !record.is_delete_marked() {
            return self.take_defaults(&record, false);
        }
        let at = record.origin() + key_len + 13;
        let reference = bytes::array::<{ LobRef::LEN }>(record.page(), at)?;
        let lob = LobRef::parse(&reference).map_err(|error| record.locate_error(error))?;
        self.state = State::FieldMap {
            reader: Box::new(LobReader::new(self.format, lob)?),
            value: Vec::new(),
            leaf: leaf.page().to_owned(),
        };
        Ok(())
    }

    /// Returns the bytes of the metadata record's key: its variable-length fields are empty, unless
    /// the record says where they end.
    fn key_len(&self, record: &Record<'_>) -> Result<usize> {
        let layout = Layout::compile(self.def, self.row_format, None)?;
        if !record.is_compact() {
            return Ends::from_record(record)?.end(layout.key_fields.saturating_sub(1));
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
