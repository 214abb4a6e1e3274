//! A tablespace: a file of pages, and what its first page says of them.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use innoscan_format::layout::{Layout, MetadataReader};
use innoscan_format::page::sdi::{SdiObject, SdiReader};
use innoscan_format::page::{IndexPage, Need, Page, PageFormat, SpaceHeader};
use innoscan_format::schema::TableDef;
use innoscan_format::{IndexId, PageNo, PageSize};
use innoscan_io::{Direct, EngineKind, File, ReadError, Slab, engine};

use crate::pool::{FileSlot, PageKey, PageRef, Pool, unreadable};
use crate::{Error, Result};

/// Where the first B-tree's root is in a file without SDI, and SDI's in a file with it
/// (`FSP_FIRST_INODE_PAGE_NO + 1`).
const FIRST_ROOT: PageNo = PageNo(3);

/// An opened tablespace.
#[derive(Clone, Debug)]
pub struct Space {
    file: Arc<File>,
    header: SpaceHeader,
}

impl Space {
    /// Opens a tablespace and reads its header. What this version does not read still opens; see
    /// [`SpaceHeader::require_readable`].
    pub fn open(path: &Path, direct: Direct) -> Result<Space> {
        Space::new(File::open(path, direct)?)
    }

    /// The same of a file that is open.
    pub fn new(mut file: File) -> Result<Space> {
        let failed = |file: &File, error| unreadable(PageNo(0), error).in_file(file.path());
        // The page size is not known yet, so this one read cannot go through a pool of pages. What
        // small files have beside it, a definition or a root, is mostly in the same bytes.
        let read = file.read_head(SpaceHeader::MOST_BYTES);
        read.map_err(|error| failed(&file, error))?;
        if !file.head().is_empty() {
            let header = header_of(file.head()).map_err(|error| error.in_file(file.path()))?;
            return Ok(Space { file: Arc::new(file), header });
        }
        let slab = Slab::new(1, SpaceHeader::MOST_BYTES)?;
        let mut frame = slab.take().ok_or_else(|| Error::resources("no frame in a new slab"))?;
        let read_bytes = file.read_now(0, &mut frame).map_err(|error| failed(&file, error))?;
        let header = header_of(&frame[..read_bytes]).map_err(|error| error.in_file(file.path()))?;
        Ok(Space { file: Arc::new(file), header })
    }

    /// Its file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// What its first page says.
    pub fn header(&self) -> &SpaceHeader {
        &self.header
    }

    /// What its pages must be like.
    pub fn format(&self) -> PageFormat {
        self.header.page_format()
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> PageSize {
        self.header.flags.page_size
    }

    /// Pages the file has, the last whole or not; the header may say another number.
    pub fn file_pages(&self) -> u32 {
        let pages = self.file.size_bytes().div_ceil(u64::from(self.page_size().bytes()));
        u32::try_from(pages).unwrap_or(u32::MAX)
    }

    /// A page's bytes as they are in the file, not verified: of the file's head, or else read now.
    pub fn read_page(&self, page_no: PageNo) -> Result<Cow<'_, [u8]>> {
        let start = u64::from(page_no.0) * self.page_size().len() as u64;
        let in_head = usize::try_from(start).ok().and_then(|start| {
            self.file.head().get(start..start.checked_add(self.page_size().len())?)
        });
        if let Some(page) = in_head {
            return Ok(Cow::Borrowed(page));
        }
        let unreadable = |error| unreadable(page_no, error).in_file(self.file.path());
        let slab = Slab::new(1, self.page_size().len())?;
        let mut frame = slab.take().ok_or_else(|| Error::resources("no frame in a new slab"))?;
        let read_bytes = self.file.read_now(start, &mut frame).map_err(unreadable)?;
        if read_bytes < frame.len() {
            return Err(unreadable(ReadError::EndOfFile { at_byte: start + read_bytes as u64 }));
        }
        Ok(Cow::Owned(frame.to_vec()))
    }

    /// The definitions a MySQL 8+ file carries; none in other files.
    pub fn read_sdi(&self) -> Result<Vec<SdiObject>> {
        let Some(root) = self.header.sdi_root else { return Ok(Vec::new()) };
        let in_file = |error: innoscan_format::Error| Error::from(error).in_file(self.file.path());
        let mut reader = SdiReader::new(self.format(), root).map_err(in_file)?;
        while let Need::Pages(&[page_no, ..]) = reader.need() {
            let page = self.read_page(page_no)?;
            reader.feed(page_no, &page).map_err(in_file)?;
        }
        Ok(reader.finish())
    }

    /// Where the clustered index's root is unless a dictionary says otherwise: the root made first,
    /// but for SDI's.
    pub fn first_root(&self) -> PageNo {
        match self.header.sdi_root {
            Some(FIRST_ROOT) => PageNo(FIRST_ROOT.0 + 1),
            _ => FIRST_ROOT,
        }
    }
}

fn header_of(head: &[u8]) -> Result<SpaceHeader> {
    if head.len() < PageSize::MIN.len() {
        let what = format!("it has {} bytes, too few for a tablespace's first page", head.len());
        return Err(innoscan_format::Error::corrupt(what).into());
    }
    Ok(SpaceHeader::parse(head.get(..SpaceHeader::MOST_BYTES).unwrap_or(head))?)
}

/// Reads single pages of one tablespace, each when it is asked for, through a pool of its own:
/// for looking into a file rather than scanning it.
pub struct SpaceReader {
    space: Space,
    pool: Pool,
    slot: FileSlot,
}

/// Pages a [`SpaceReader`] keeps.
const READER_PAGES: usize = 64;

impl SpaceReader {
    /// A reader of a tablespace.
    pub fn new(space: Space) -> Result<SpaceReader> {
        let slab = Slab::new(READER_PAGES, space.page_size().len())?;
        let mut pool = Pool::new(slab, engine::open(EngineKind::Inline, 1)?);
        let slot = pool.add_file(Arc::clone(space.file()));
        Ok(SpaceReader { space, pool, slot })
    }

    /// The tablespace.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// A page's bytes as they are in the file, not verified.
    pub fn read_page(&mut self, page: PageNo) -> Result<PageRef> {
        self.pool.read_now(PageKey { file: self.slot, page })
    }

    /// Reads a page and hands it to `look` verified.
    pub fn with_page<T>(
        &mut self,
        page_no: PageNo,
        look: impl FnOnce(Page<'_>) -> innoscan_format::Result<T>,
    ) -> Result<T> {
        let bytes = self.read_page(page_no)?;
        Page::parse(&bytes, self.space.format(), page_no)
            .and_then(look)
            .map_err(|error| Error::from(error).in_file(self.space.file.path()))
    }

    /// The clustered index with this root: its number, and where its fields are.
    pub fn clustered(&mut self, def: &TableDef, root: PageNo) -> Result<(IndexId, Layout)> {
        let path = self.space.file.path().to_owned();
        let in_file = |error: innoscan_format::Error| Error::from(error).in_file(&path);
        let (index, is_compact) = self.with_page(root, |page| {
            let page = IndexPage::parse(page)?;
            Ok((page.index_id(), page.is_compact()))
        })?;
        let row_format = self.space.header.flags.row_format(is_compact);
        let mut metadata = MetadataReader::new(def, row_format, self.space.format(), root);
        while let Need::Pages(&[page_no, ..]) = metadata.need() {
            let page = self.read_page(page_no)?;
            metadata.feed(page_no, &page).map_err(in_file)?;
        }
        let metadata = metadata.finish();
        Layout::compile(def, row_format, metadata.as_ref())
            .map(|layout| (index, layout))
            .map_err(in_file)
    }
}
