//! A tablespace and its tables, as far as they are known: the target of `check` and `inspect`.

use std::borrow::Cow;

use innoscan_engine::pool::{Pool, PoolOptions};
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::{Error, IoOptions, Result, Table, TableFile};
use innoscan_format::layout::Layout;
use innoscan_format::schema::TableDef;
use innoscan_format::{IndexId, PageNo};

use super::{Known, Report, check};
use crate::inspect::{self, InspectOptions};

/// Bytes of memory for the pool of a check.
const POOL_BYTES: usize = 64 << 20;

/// A tablespace, with the clustered indexes that are known.
pub struct Subject<'t> {
    space: Space,
    io: IoOptions,
    known: Vec<Clustered<'t>>,
    /// The tables whose records cannot be parsed although their definitions are known, and why.
    pub not_understood: Vec<(String, Error)>,
}

/// A clustered index.
struct Clustered<'t> {
    /// The table, where several share the tablespace.
    table: Option<String>,
    def: Cow<'t, TableDef>,
    layout: Layout,
    index: IndexId,
}

impl Clustered<'_> {
    fn known(&self) -> Known<'_> {
        let Clustered { table, def, layout, index } = self;
        Known { table: table.as_deref(), def, layout, index: *index }
    }
}

impl<'t> Subject<'t> {
    /// Opens the tablespace of a file that has these tables.
    ///
    /// # Errors
    /// The file cannot be read, or files of the system tablespace are missing.
    pub fn open(
        file: &TableFile,
        tables: impl IntoIterator<Item = &'t Table>,
        io: &IoOptions,
    ) -> Result<Subject<'t>> {
        let space = file.open(io.direct)?;
        space.require_all_files()?;
        let io = io.clone();
        let mut subject = Subject { space, io, known: Vec::new(), not_understood: Vec::new() };
        for table in tables {
            for part in table.files.iter().filter(|part| part.path == file.path) {
                match subject.clustered(table, part) {
                    Ok(clustered) => subject.known.push(clustered),
                    Err(error) => subject.not_understood.push((table.qualified_name(), error)),
                }
            }
        }
        Ok(subject)
    }

    fn clustered(&self, table: &'t Table, part: &TableFile) -> Result<Clustered<'t>> {
        let def = table.def_of(part);
        let root = part.clustered_root.unwrap_or(self.space.first_root());
        let index = SpaceReader::new(self.space.clone())?.clustered(&def, root)?;
        let header = self.space.header();
        let is_shared = header.flags.shared || part.is_system();
        let name = || match &part.partition {
            None => table.qualified_name(),
            Some(partition) => format!("{}, partition {partition}", table.qualified_name()),
        };
        Ok(Clustered { table: is_shared.then(name), def, layout: index.layout, index: index.id })
    }

    fn known(&self) -> Vec<Known<'_>> {
        self.known.iter().map(Clustered::known).collect()
    }

    /// Whether all records of all known tables can be parsed, and a table is known.
    pub fn has_definitions(&self) -> bool {
        !self.known.is_empty() && self.not_understood.is_empty()
    }

    /// Checks every page. `on_progress` receives the number of pages checked and of all pages.
    pub fn check(&self, on_progress: impl FnMut(u64, u64)) -> Result<Report> {
        let page_bytes = self.space.page_bytes();
        let engine = self.io.open_engine(u64::MAX)?;
        let frames = POOL_BYTES / page_bytes;
        let mut pool = Pool::new(frames, page_bytes, engine, PoolOptions::default())?;
        check(&mut pool, &self.space, &self.known(), on_progress)
    }

    /// Describes a page.
    ///
    /// # Errors
    /// The file has no such page, or it cannot be read.
    pub fn inspect(&self, page_no: PageNo, options: InspectOptions) -> Result<String> {
        let pages = self.space.file_pages();
        if page_no.0 >= pages {
            let page_kib = self.space.page_bytes() / 1024;
            return Err(Error::usage(
                format!("there is no page {page_no}: the file has {pages} pages of {page_kib} KiB"),
                format!("give a number from 0 to {}", pages.saturating_sub(1)),
            )
            .in_file(self.space.file().path()));
        }
        let engine = self.io.open_engine(u64::MAX)?;
        let mut reader = SpaceReader::with_engine(self.space.clone(), engine)?;
        let bytes =
            reader.read_page(page_no).map_err(|error| error.in_file(self.space.file().path()))?;
        let (header, context) = (self.space.header(), self.space.page_context());
        Ok(inspect::page(&bytes, header, context, page_no, &self.known(), options))
    }
}
