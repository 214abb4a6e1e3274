//! Settling: the records of the log are applied to the bytes of a page.

use std::path::Path;
use std::sync::Arc;

use innoscan_format::page::{
    self, Encryption, PageContext, PageFormat, Scratch, SpaceHeader, StoredAs,
};
use innoscan_format::{Error as FormatError, Lsn, PageNo, SpaceId, bytes};
use innoscan_io::File;

use super::index::{Base, Chain};
use super::parts::Deltas;
use super::redo_log::{PageBytes, RunBuffers};
use super::{IndexedLog, Recovery};
use crate::{Error, Result};

/// `FIL_PAGE_LSN`.
const LSN_AT: usize = 16;
/// `FIL_PAGE_FILE_FLUSH_LSN_OR_KEY_VERSION`.
const KEY_VERSION_AT: usize = 26;

/// More pages than a server adds to a file at a time, for page 0 may lie.
const EXTENSION_PAGES: u32 = 1 << 16;

/// The redo logs of one tablespace, and of an incremental backup its changed pages.
#[derive(Clone, Debug)]
pub struct SpaceRedo {
    recovery: Arc<Recovery>,
    context: PageContext,
    deltas: Arc<Deltas>,
}

/// Buffers for settling, for one page at a time.
#[derive(Debug, Default)]
pub struct Settling {
    pub(super) scratch: Scratch,
    pub(super) run: RunBuffers,
}

/// The log of a tablespace while a page of it is settled.
pub(super) struct PageLog<'l> {
    pub recovery: &'l Recovery,
    pub log: &'l IndexedLog,
    pub context: &'l PageContext,
    pub page_no: PageNo,
}

impl SpaceRedo {
    /// The header of the tablespace at `path`, whose first file is `file`, from its first bytes in `head` (`read_bytes` of them), and how its pages
    /// are settled; `context`: how it stores them, by its header.
    pub(crate) fn open(
        recovery: Arc<Recovery>,
        (path, file): (&Path, &File),
        head: &mut [u8],
        read_bytes: usize,
        context: impl FnOnce(&SpaceHeader) -> PageContext,
    ) -> Result<(SpaceHeader, SpaceRedo)> {
        let (header, deltas) = recovery.open_space(path, file, head, read_bytes)?;
        let context = context(&header);
        Ok((header, SpaceRedo { recovery, context, deltas: Arc::new(deltas) }))
    }

    fn format(&self) -> PageFormat {
        self.context.format()
    }

    /// How the tablespace stores its pages.
    pub(crate) fn context(&self) -> &PageContext {
        &self.context
    }

    /// The logs.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The number of the page behind the last one that a log changes or a delta has.
    pub fn end(&self) -> u32 {
        let logs = &self.recovery.logs[self.deltas.first..];
        let ends = logs.iter().map(|log| log.index.end(self.format().space));
        let end = ends.max().unwrap_or_default();
        if !self.has_deltas() {
            return end;
        }
        let known = end.max(self.deltas.end());
        let most = known.saturating_mul(2).saturating_add(EXTENSION_PAGES);
        known.max(self.format().size_pages.min(most))
    }

    /// Whether pages are in deltas. The file was extended since, then: the pages that no delta has are zeroes.
    pub fn has_deltas(&self) -> bool {
        !self.deltas.is_none()
    }

    /// Whether a log changes a page, or a delta has it or says that the file has it: it may lie behind the end of the
    /// file.
    ///
    /// # Errors
    /// The spilled index of a log cannot be read.
    pub fn has_page(&self, page_no: PageNo) -> Result<bool> {
        if self.has_deltas() && page_no.0 < self.end() {
            return Ok(true);
        }
        for log in self.recovery.logs[self.deltas.first..].iter().rev() {
            if let Some(chain) = log.index.chain(self.format().space, page_no)? {
                return Ok(chain.base != Base::Freed);
            }
        }
        Ok(false)
    }

    /// Settles the bytes of a page as the file stores it; of one behind the end of the file, zeroes. Bytes
    /// that are damaged are replaced by a copy in the doublewrite buffer; without one they stay as they are, unless the
    /// log does without them.
    ///
    /// # Errors
    /// The log does not fit the page; the page is newer than the log; the log cannot be read; a delta is damaged.
    pub fn settle(&self, page_no: PageNo, page: &mut [u8], buffers: &mut Settling) -> Result<()> {
        let first = self.deltas.read(page_no, page, true)?;
        let recovery = &*self.recovery;
        let logs = recovery.logs[first..].iter();
        let mut logs = logs.map(|log| PageLog { recovery, log, context: &self.context, page_no });
        if let Some(first) = logs.next() {
            let chain = first.chain()?;
            first.restore(chain.as_ref(), page, buffers)?;
            first.require_moment(chain.as_ref(), page, buffers)?;
            first.settle(chain, page, buffers)?;
        }
        logs.try_for_each(|log| log.settle(log.chain()?, page, buffers))
    }
}

impl PageLog<'_> {
    pub fn format(&self) -> PageFormat {
        self.context.format()
    }

    fn chain(&self) -> Result<Option<Chain>> {
        self.log.index.chain(self.format().space, self.page_no)
    }

    /// Applies the records of the page.
    fn settle(&self, chain: Option<Chain>, page: &mut [u8], buffers: &mut Settling) -> Result<()> {
        match chain {
            None | Some(Chain { base: Base::Freed, .. }) => Ok(()),
            Some(chain) => self.apply(&chain, page, buffers),
        }
    }

    /// Requires that a page may have been in the files when the log was written.
    fn require_moment(
        &self,
        chain: Option<&Chain>,
        page: &[u8],
        buffers: &mut Settling,
    ) -> Result<()> {
        let lsn = Lsn(bytes::u64_at(page, LSN_AT)?);
        if lsn > self.log.checkpoint
            && let Some(error) = self.of_another_moment(chain, lsn, buffers)?
            && page::open(page, self.context, self.page_no, &mut buffers.scratch).is_ok()
        {
            return Err(error);
        }
        Ok(())
    }

    /// The error of a page that is newer than the checkpoint, if the log does not have the change that its
    /// LSN names. It is damaged, or the log is of another moment or directory.
    #[cold]
    fn of_another_moment(
        &self,
        chain: Option<&Chain>,
        lsn: Lsn,
        buffers: &mut Settling,
    ) -> Result<Option<Error>> {
        let IndexedLog { index, log, end, .. } = self.log;
        let (space, page_no) = (self.format().space, self.page_no);
        if lsn > *end {
            return Ok(Some(newer(space, page_no, lsn, *end)));
        }
        let chain = match chain {
            Some(Chain { base: Base::Freed | Base::Nothing, .. }) => return Ok(None),
            _ if index.is_cut(space, page_no) => return Ok(None),
            // An index was built without records of its pages.
            _ if lsn < index.complete_from(space) => return Ok(None),
            chain => chain,
        };
        let before = |chain: &Chain| {
            let behind = chain.runs.partition_point(|run| run.mtr < lsn);
            chain.runs[..behind].last().copied()
        };
        let change = chain.and_then(before);
        let may_be = log.may_have_written(lsn, change, &mut buffers.run)?;
        Ok((!may_be).then(|| {
            Error::from(
                FormatError::corrupt(format!(
                    "the page's LSN {lsn} is in the redo log, where the page was not changed: the files \
                     were not copied at one moment, or the log is of another directory"
                ))
                .at_page(space, page_no),
            )
        }))
    }

    fn apply(&self, chain: &Chain, page: &mut [u8], buffers: &mut Settling) -> Result<()> {
        let format = self.format();
        let Some(from) = self.start_of(chain, page, buffers)? else { return Ok(()) };
        if let Some(lsn) =
            replay(self.log, chain, format, self.page_no, page, from, &mut buffers.run)?
        {
            // MariaDB logs a whole compressed form, with the key version that the page had.
            if format.is_zip && !matches!(self.context.encryption(), Encryption::None) {
                self.forget_key(page)?;
            }
            page::seal(page, format, lsn)?;
        }
        Ok(())
    }

    /// Prepares the bytes to which the records of a page are applied; returns from which LSN on they are applied.
    /// `None`: the page is damaged, and the log does not have all of it.
    fn start_of(
        &self,
        chain: &Chain,
        page: &mut [u8],
        buffers: &mut Settling,
    ) -> Result<Option<Lsn>> {
        let log = &self.log.log;
        if chain.base == Base::Nothing {
            page.fill(0);
            return Ok(Some(Lsn(0)));
        }
        let is_zeroes = page.iter().all(|&byte| byte == 0);
        if is_zeroes && log.starts_from_zeroes() {
            return Ok(Some(Lsn(0)));
        }
        // An incremental backup has pages that a later log initialises.
        if is_zeroes && self.recovery.logs.len() == 1 {
            return Err(unwritten(self.format().space, self.page_no));
        }
        if self.to_memory_form(page, buffers)? {
            return Ok(Some(Lsn(bytes::u64_at(page, LSN_AT)?)));
        }
        let from = self.log.index.complete_from(self.format().space);
        let init = log.newest_init(&chain.runs, from, &mut buffers.run)?;
        if let Some(init) = init {
            self.require_newest(Some(chain), page, init, buffers)?;
            page.fill(0);
        }
        Ok(init)
    }

    /// Converts a page as the file stores it to the form that records change; `false`, and the bytes as
    /// they were, if they are damaged.
    fn to_memory_form(&self, page: &mut [u8], buffers: &mut Settling) -> Result<bool> {
        let format = self.format();
        let opened = match page::open(page, self.context, self.page_no, &mut buffers.scratch) {
            Ok(opened) => opened,
            Err(error) if error.is_corrupt() => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let plain = match opened.stored_as() {
            // The log changes the compressed form.
            _ if format.is_zip => {
                let scratch = &mut buffers.scratch;
                match page::decrypted_zip(page, self.context, self.page_no, scratch)? {
                    None => return Ok(true),
                    Some(plain) => plain.to_vec(),
                }
            }
            StoredAs::Plain => return Ok(true),
            StoredAs::Encrypted | StoredAs::Compressed => opened.bytes().to_vec(),
        };
        page.copy_from_slice(&plain);
        self.forget_key(page)?;
        let lsn = Lsn(bytes::u64_at(page, LSN_AT)?);
        page::seal(page, format, lsn)?;
        Ok(true)
    }

    /// Lets a page of MariaDB name no key, so that it is not decrypted again.
    fn forget_key(&self, page: &mut [u8]) -> Result<()> {
        match self.log.log.has_keys_on_pages() {
            true if self.format().full_crc32 => bytes::fill(page, 0, 4, 0)?,
            true => bytes::fill(page, KEY_VERSION_AT, 8, 0)?,
            false => {}
        }
        Ok(())
    }
}

/// Applies the records of a page that begin at an LSN or behind it; returns the LSN of the newest one's end.
pub(super) fn replay(
    log: &IndexedLog,
    chain: &Chain,
    format: PageFormat,
    page_no: PageNo,
    page: &mut [u8],
    from: Lsn,
    buffers: &mut RunBuffers,
) -> Result<Option<Lsn>> {
    let mut page = PageBytes { format, page_no, bytes: page };
    let runs = &chain.runs[chain.runs.partition_point(|run| run.mtr < from)..];
    log.log.apply_all(runs, &mut page, buffers)?;
    let newest = runs.last().map(|run| run.at);
    newest.map(|at| log.log.end_of_mini_transaction(at, buffers)).transpose()
}

/// The error of a page that is newer than the log.
#[cold]
pub(super) fn newer(space: SpaceId, page_no: PageNo, lsn: Lsn, end: Lsn) -> Error {
    Error::from(
        FormatError::corrupt(format!(
            "the page's LSN {lsn} is newer than the end of the redo log, {end}: the files were not \
             copied at one moment, or the log is damaged or of another directory"
        ))
        .at_page(space, page_no),
    )
}

/// The error of a page of zeroes that the log changes, and does not initialise.
#[cold]
fn unwritten(space: SpaceId, page_no: PageNo) -> Error {
    let error = FormatError::corrupt("all bytes of the page are zero, and the redo log changes it");
    Error::from(error.with_prefix(page::UNRECOVERED).at_page(space, page_no))
}
