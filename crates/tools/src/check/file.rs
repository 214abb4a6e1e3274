//! A tablespace file and its table, if known: the target of `check` and `inspect`.

use std::borrow::Cow;
use std::path::Path;

use innoscan_engine::keys::Keys;
use innoscan_engine::pool::{Pool, PoolOptions};
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::{Error, IoOptions, Result, Table};
use innoscan_format::layout::Layout;
use innoscan_format::schema::TableDef;
use innoscan_format::{IndexId, PageNo};

use super::{Known, Report, check};
use crate::inspect::{self, InspectOptions};

/// Bytes of memory for the pool of a check.
const POOL_BYTES: usize = 64 << 20;
/// A tablespace, with its clustered index if that is known.
pub struct Subject<'t> {
    space: Space,
    io: IoOptions,
    known: Option<(Cow<'t, TableDef>, Layout, IndexId)>,
    /// The reason why the table's records cannot be parsed although its definition is known.
    pub not_understood: Option<Error>,
}

impl<'t> Subject<'t> {
    /// Opens a file of `table`, or a file whose table is not known.
    pub fn open(
        path: &Path,
        table: Option<&'t Table>,
        io: &IoOptions,
        keys: &Keys,
    ) -> Result<Subject<'t>> {
        let space = Space::open(path, io.direct, keys)?;
        let mut subject = Subject { space, io: io.clone(), known: None, not_understood: None };
        let Some(table) = table else { return Ok(subject) };
        let file = table.files.iter().find(|file| file.path == path);
        let def = file.map_or(Cow::Borrowed(&table.def), |file| table.def_of(file));
        let root = file.and_then(|file| file.clustered_root);
        let root = root.unwrap_or(subject.space.first_root());
        match SpaceReader::new(subject.space.clone())?.clustered(&def, root) {
            Ok(index) => subject.known = Some((def, index.layout, index.id)),
            Err(error) => subject.not_understood = Some(error),
        }
        Ok(subject)
    }

    fn known(&self) -> Option<Known<'_>> {
        let (def, layout, index) = self.known.as_ref()?;
        Some(Known { def, layout, index: *index })
    }

    /// Checks every page. `on_progress` receives the number of pages checked and of all pages.
    pub fn check(&self, on_progress: impl FnMut(u64, u64)) -> Result<Report> {
        let page_bytes = self.space.page_bytes();
        let engine = self.io.open_engine(u64::MAX)?;
        let frames = POOL_BYTES / page_bytes;
        let mut pool = Pool::new(frames, page_bytes, engine, PoolOptions::default())?;
        check(&mut pool, &self.space, self.known(), on_progress)
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
        Ok(inspect::page(&bytes, header, context, page_no, self.known().as_ref(), options))
    }
}
