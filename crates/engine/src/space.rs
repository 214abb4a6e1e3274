//! A tablespace: a file of pages, and the header on its first page.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use innoscan_format::page::{self, PageContext, PageFormat, Scratch, SpaceHeader};
use innoscan_format::read::{Need, SdiObject, SdiReader};
use innoscan_format::undo::Unfinished;
use innoscan_format::{PageNo, PageSize, SpaceId};
use innoscan_io::{ALIGNMENT, Direct, File, Slab};

use crate::keys::Keys;
use crate::pool::unreadable;
use crate::recovery::{Recovery, Settling, SpaceRedo};
use crate::{Error, Remedy, Result};

/// The page of the first B-tree's root in a file without SDI, or of SDI's root in a file with it
/// (`FSP_FIRST_INODE_PAGE_NO + 1`).
const FIRST_ROOT: PageNo = PageNo(3);

/// An opened tablespace.
#[derive(Clone, Debug)]
pub struct Space {
    file: Arc<File>,
    header: SpaceHeader,
    context: PageContext,
    /// The redo log through which pages are read, for the file of a killed server.
    redo: Option<SpaceRedo>,
}

impl Space {
    /// Opens a tablespace and reads its header. Unsupported tablespaces can be opened too; see
    /// [`Space::require_readable`].
    pub fn open(path: &Path, direct: Direct, keys: &Keys) -> Result<Space> {
        Space::new(keys.open_file(path, direct)?, keys)
    }

    /// Reads the header of an open file.
    pub fn new(mut file: File, keys: &Keys) -> Result<Space> {
        if let Some((recovery, path)) = keys.recovery_of(file.path()) {
            return Space::recovered(file, keys, recovery, &path);
        }
        let failed = |file: &File, error| unreadable(PageNo(0), error).in_file(file.path());
        // The page size is not known yet, so this read cannot go through a pool of pages. In small files
        // the definition or a root is mostly within the same bytes.
        let read = file.read_head(SpaceHeader::MOST_BYTES);
        read.map_err(|error| failed(&file, error))?;
        if !file.head().is_empty() {
            let header = header_of(file.head()).map_err(|error| error.in_file(file.path()))?;
            return Ok(Space::with_header(file, header, keys));
        }
        let slab = Slab::new(1, SpaceHeader::MOST_BYTES)?;
        let mut frame = slab.take().ok_or_else(|| Error::resources("no frame in a new slab"))?;
        let read_bytes = file.read_now(0, &mut frame).map_err(|error| failed(&file, error))?;
        let header = header_of(&frame[..read_bytes]).map_err(|error| error.in_file(file.path()))?;
        Ok(Space::with_header(file, header, keys))
    }

    /// Reads the header of a file of a killed server, at the canonical `path`, through the redo log.
    fn recovered(file: File, keys: &Keys, recovery: Arc<Recovery>, path: &Path) -> Result<Space> {
        let slab = Slab::new(1, SpaceHeader::MOST_BYTES)?;
        let mut frame = slab.take().ok_or_else(|| Error::resources("no frame in a new slab"))?;
        let read_bytes = file
            .read_now(0, &mut frame)
            .map_err(|error| unreadable(PageNo(0), error).in_file(file.path()))?;
        let context = |header: &SpaceHeader| {
            let encryption = keys.encryption(header, file.path());
            header.page_context().with_encryption(encryption).of_killed_server()
        };
        let (header, redo) =
            SpaceRedo::open(recovery, (path, &file), &mut frame, read_bytes, context)
                .map_err(|error| error.in_file(file.path()))?;
        let context = redo.context().clone();
        Ok(Space { file: Arc::new(file), header, context, redo: Some(redo) })
    }

    fn with_header(file: File, header: SpaceHeader, keys: &Keys) -> Space {
        let encryption = keys.encryption(&header, file.path());
        let context = header.page_context().with_encryption(encryption);
        Space { file: Arc::new(file), header, context, redo: None }
    }

    /// The redo log through which pages are read, for the file of a killed server.
    pub fn redo(&self) -> Option<&SpaceRedo> {
        self.redo.as_ref()
    }

    /// The tablespace's file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The header on the first page.
    pub fn header(&self) -> &SpaceHeader {
        &self.header
    }

    /// Requires that a table can be read from the tablespace: that it is of a kind that this version reads, that its
    /// key is known, and, where several tables share it, that the root of this one is known.
    pub fn require_readable(&self, root: Option<PageNo>) -> Result<()> {
        let readable = self.header.require_readable();
        readable.map_err(|error| Error::from(error).in_file(self.file.path()))?;
        self.require_key()?;
        self.require_all_files()?;
        let refused = |what: &str, remedy: Remedy| {
            Err(Error::refused(what, remedy).in_file(self.file.path()))
        };
        match root {
            None if self.is_system() => {
                refused("it is the system tablespace", Remedy::NameInDirectory)
            }
            None if self.header.flags.shared => refused(
                "it is a general tablespace, which several tables may share",
                Remedy::NameInDirectory,
            ),
            _ => Ok(()),
        }
    }

    fn is_system(&self) -> bool {
        self.header.space == SpaceId::SYSTEM
    }

    /// Requires all files of the system tablespace (`innodb_data_file_path`).
    pub fn require_all_files(&self) -> Result<()> {
        let (pages, file_pages) = (self.header.size_pages, self.file_pages());
        match self.is_system() && pages > file_pages {
            false => Ok(()),
            true => Err(Error::refused(
                format!(
                    "the system tablespace has {pages} pages, and {file_pages} are in the files that were found: it has \
                     more files (innodb_data_file_path of its server), or was cut short"
                ),
                Remedy::NameSystemFiles,
            )
            .in_file(self.file.path())),
        }
    }

    /// Requires the key of a tablespace whose pages are all encrypted. (Those of MariaDB may be or not, each by
    /// itself.)
    pub fn require_key(&self) -> Result<()> {
        match self.context.encryption().error() {
            Some(error) if self.header.flags.encrypted => {
                Err(Error::from(error.clone()).in_file(self.file.path()))
            }
            _ => Ok(()),
        }
    }

    /// The format of the pages once they are opened.
    pub fn format(&self) -> PageFormat {
        self.context.format()
    }

    /// The form in which the file stores pages.
    pub fn page_context(&self) -> &PageContext {
        &self.context
    }

    /// The size of a page in memory.
    pub fn page_size(&self) -> PageSize {
        self.header.flags.page_size
    }

    /// The bytes of a page in the file.
    pub fn page_bytes(&self) -> usize {
        self.context.physical_bytes()
    }

    /// Pages of the file, including an incomplete last one and those that only the redo log has; the header may
    /// have another number.
    pub fn file_pages(&self) -> u32 {
        let pages = self.file.size_bytes().div_ceil(self.context.physical_bytes() as u64);
        let with_redo = self.redo.as_ref().map_or(0, SpaceRedo::end);
        u32::try_from(pages).unwrap_or(u32::MAX).max(with_redo)
    }

    /// The bytes of the file; of a backup whose tablespaces consist of several files, those after its preparation.
    pub fn size_bytes(&self) -> u64 {
        let with_deltas = self.redo.as_ref().filter(|redo| redo.has_deltas());
        let pages = with_deltas.map_or(0, |_| u64::from(self.file_pages()));
        self.file.size_bytes().max(pages * self.context.physical_bytes() as u64)
    }

    /// A page's bytes as they are in the file (of a killed server: settled), not verified: from the file's
    /// head, or else read now.
    pub fn read_page(&self, page_no: PageNo) -> Result<Cow<'_, [u8]>> {
        let page_bytes = self.context.physical_bytes();
        let start = u64::from(page_no.0) * page_bytes as u64;
        let in_head = usize::try_from(start)
            .ok()
            .and_then(|start| self.file.head().get(start..start.checked_add(page_bytes)?));
        if let Some(page) = in_head {
            return Ok(Cow::Borrowed(page));
        }
        let unreadable = |error| unreadable(page_no, error).in_file(self.file.path());
        let frame_bytes = page_bytes.max(ALIGNMENT);
        let slab = Slab::new(1, frame_bytes)?;
        let mut frame = slab.take().ok_or_else(|| Error::resources("no frame in a new slab"))?;
        let aligned = start - start % frame_bytes as u64;
        let read_bytes = self.file.read_now(aligned, &mut frame).map_err(unreadable)?;
        let first = (start - aligned) as usize;
        if let Some(redo) = &self.redo {
            let is_whole = first + page_bytes <= read_bytes;
            if is_whole || redo.has_page(page_no)? {
                let mut page = vec![0; page_bytes];
                if is_whole {
                    page.copy_from_slice(&frame[first..first + page_bytes]);
                }
                redo.settle(page_no, &mut page, &mut Settling::default())
                    .map_err(|error| error.in_file(self.file.path()))?;
                return Ok(Cow::Owned(page));
            }
        }
        match frame[..read_bytes].get(first..first + page_bytes) {
            Some(page) => Ok(Cow::Owned(page.to_vec())),
            None => Err(unreadable(self.file.end_before(aligned + read_bytes as u64))),
        }
    }

    /// The definitions in a file of MySQL 8 and later; none in other files.
    pub fn read_sdi(&self) -> Result<Vec<SdiObject>> {
        Ok(self.feed_sdi(|reader| reader)?.map_or_else(Vec::new, SdiReader::finish))
    }

    /// Whether one of these transactions wrote or deleted a definition: an `ALTER TABLE` was under way.
    ///
    /// # Errors
    /// Those of [`Space::read_sdi`].
    pub fn has_unfinished_sdi(&self, unfinished: &Unfinished) -> Result<bool> {
        let reader = self.feed_sdi(|reader| reader.noting(unfinished))?;
        Ok(reader.is_some_and(|reader| reader.has_unfinished()))
    }

    /// Feeds a reader of SDI, which `set` sets; `None` without SDI.
    fn feed_sdi<'u>(
        &self,
        set: impl FnOnce(SdiReader<'u>) -> SdiReader<'u>,
    ) -> Result<Option<SdiReader<'u>>> {
        let Some(root) = self.header.sdi_root else { return Ok(None) };
        let in_file = |error: innoscan_format::Error| Error::from(error).in_file(self.file.path());
        let reader = SdiReader::new(self.format(), root).map_err(in_file)?;
        let mut reader = set(reader);
        let mut scratch = Scratch::default();
        while let Need::Pages(&[page_no, ..]) = reader.need() {
            let bytes = self.read_page(page_no)?;
            let page = page::open(&bytes, &self.context, page_no, &mut scratch);
            page.and_then(|page| reader.feed(page)).map_err(in_file)?;
        }
        Ok(Some(reader))
    }

    /// The page of the clustered index's root, unless a dictionary names another: the first root that
    /// was created, not counting SDI's.
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
