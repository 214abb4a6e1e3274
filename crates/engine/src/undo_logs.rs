//! The undo logs of a directory with unfinished transactions, and rows as they were before those.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use innoscan_format::IndexId;
use innoscan_format::layout::Layout;
use innoscan_format::page::Page;
use innoscan_format::record::Record;
use innoscan_format::undo::{
    SystemColumns, UndoPage, Unfinished, Version, VersionLayout, VersionReader,
};
use innoscan_io::Direct;

use crate::keys::Keys;
use crate::space::Space;
use crate::space_reader::SpaceReader;
use crate::system_tablespace::SystemTablespace;
use crate::{Error, Result};

/// A tablespace with undo logs.
#[derive(Clone, Debug)]
pub struct UndoTablespace {
    place: UndoPlace,
    keys: Keys,
}

/// The files of a tablespace with undo logs.
#[derive(Clone, Debug)]
enum UndoPlace {
    File(PathBuf),
    System(Arc<SystemTablespace>),
}

impl UndoTablespace {
    /// A tablespace of its own.
    pub fn new(path: PathBuf, keys: &Keys) -> UndoTablespace {
        UndoTablespace { place: UndoPlace::File(path), keys: keys.clone() }
    }

    /// The system tablespace.
    pub fn system(system: Arc<SystemTablespace>, keys: &Keys) -> UndoTablespace {
        UndoTablespace { place: UndoPlace::System(system), keys: keys.clone() }
    }

    /// Opens it.
    ///
    /// # Errors
    /// It cannot be opened, or has no valid header.
    pub fn open(&self, direct: Direct) -> Result<Space> {
        match &self.place {
            UndoPlace::File(path) => Space::open(path, direct, &self.keys),
            UndoPlace::System(system) => system.open(direct, &self.keys),
        }
    }
}

/// The unfinished transactions of a directory whose changes are taken back in memory, and the
/// tablespaces with their undo logs.
#[derive(Debug)]
pub struct UndoLogs {
    unfinished: Unfinished,
    tablespaces: Vec<UndoTablespace>,
    /// For each number in roll pointers, its tablespace.
    places: HashMap<u8, usize>,
    /// Clustered indexes that were empty before these transactions.
    emptied: HashSet<IndexId>,
}

impl UndoLogs {
    /// The undo logs of transactions. `places`: for each number in roll pointers, the index of its tablespace.
    pub fn new(
        unfinished: Unfinished,
        tablespaces: Vec<UndoTablespace>,
        places: HashMap<u8, usize>,
    ) -> UndoLogs {
        UndoLogs { unfinished, tablespaces, places, emptied: HashSet::new() }
    }

    /// The same undo logs, with the clustered indexes that were empty before the transactions.
    #[must_use]
    pub fn with_emptied(&self, emptied: HashSet<IndexId>) -> UndoLogs {
        let UndoLogs { unfinished, tablespaces, places, .. } = self;
        let logs = UndoLogs::new(unfinished.clone(), tablespaces.clone(), places.clone());
        UndoLogs { emptied, ..logs }
    }

    /// Whether a clustered index was empty before the transactions.
    pub fn was_empty(&self, index: IndexId) -> bool {
        self.emptied.contains(&index)
    }

    /// The transactions.
    pub fn unfinished(&self) -> &Unfinished {
        &self.unfinished
    }

    /// The tablespaces.
    pub(crate) fn tablespaces(&self) -> &[UndoTablespace] {
        &self.tablespaces
    }

    /// The index of the tablespace that roll pointers give this number.
    pub(crate) fn place_of(&self, number: u8) -> Result<usize> {
        let place = self.places.get(&number).copied();
        place.filter(|place| *place < self.tablespaces.len()).ok_or_else(|| {
            let what =
                format!("a roll pointer leads to undo number {number}, which does not exist");
            innoscan_format::Error::corrupt(what).into()
        })
    }
}

/// A reader of undo pages on the caller's thread, for small trees and small tables.
pub struct UndoReader {
    logs: Arc<UndoLogs>,
    readers: Vec<Option<SpaceReader>>,
}

impl UndoReader {
    /// A reader that opens each tablespace when a page of it is needed.
    pub fn new(logs: Arc<UndoLogs>) -> UndoReader {
        let readers = logs.tablespaces.iter().map(|_| None).collect();
        UndoReader { logs, readers }
    }

    /// Passes an undo page to `look`.
    pub(crate) fn with_page<T>(
        &mut self,
        wanted: UndoPage,
        look: impl FnOnce(Page<'_>) -> innoscan_format::Result<T>,
    ) -> Result<T> {
        let place = self.logs.place_of(wanted.number)?;
        let reader = match &mut self.readers[place] {
            Some(reader) => reader,
            none => none.insert(SpaceReader::new(self.logs.tablespaces[place].open(Direct::Off)?)?),
        };
        let inside = reader.space().format().require_inside(wanted.page_no, "a roll pointer");
        inside.map_err(|error| Error::from(error).in_file(reader.space().file().path()))?;
        reader.with_page(wanted.page_no, look)
    }
}

/// The versions of one tree's rows.
#[derive(Debug)]
pub struct Versions {
    logs: Arc<UndoLogs>,
    layout: VersionLayout,
}

impl Versions {
    /// The versions of rows of this layout.
    ///
    /// # Errors
    /// None in practice: those of [`VersionLayout::new`].
    pub fn new(logs: Arc<UndoLogs>, layout: &Layout) -> Result<Versions> {
        Ok(Versions { logs, layout: VersionLayout::new(layout)? })
    }

    /// The undo logs.
    pub(crate) fn logs(&self) -> &Arc<UndoLogs> {
        &self.logs
    }

    /// Whether a record was written by an unfinished transaction.
    #[inline]
    pub fn is_unfinished(&self, system: &SystemColumns) -> bool {
        self.logs.unfinished.contains(system.trx_id)
    }

    /// The row that a record was before all unfinished transactions; `None` where there was none. `fetch`
    /// passes an undo page to a reader of versions.
    ///
    /// # Errors
    /// Those of `fetch`, and damage.
    pub(crate) fn before<'d>(
        &'d self,
        record: &Record<'d>,
        system: SystemColumns,
        mut fetch: impl FnMut(UndoPage, &mut VersionReader<'d>) -> Result<()>,
    ) -> Result<Option<Version>> {
        let mut reader = VersionReader::new(&self.layout, record, system, &self.logs.unfinished)?;
        while let Some(page) = reader.need() {
            fetch(page, &mut reader)?;
        }
        Ok(reader.finish()?)
    }
}
