//! Settling: the records of the log are applied to the bytes of a page.

use std::sync::Arc;

use innoscan_format::page::{
    self, Encryption, PageContext, PageFormat, Scratch, SpaceHeader, StoredAs,
};
use innoscan_format::{Error as FormatError, Lsn, PageNo, SpaceId, bytes};

use super::Recovery;
use super::index::{Base, Chain};
use super::redo_log::{PageBytes, RunBuffers};
use crate::{Error, Result};

/// `FIL_PAGE_LSN`.
const LSN_AT: usize = 16;
/// `FIL_PAGE_FILE_FLUSH_LSN_OR_KEY_VERSION`.
const KEY_VERSION_AT: usize = 26;

/// The redo log of one tablespace.
#[derive(Clone, Debug)]
pub struct SpaceRedo {
    recovery: Arc<Recovery>,
    context: PageContext,
}

/// Buffers for settling, for one page at a time.
#[derive(Debug, Default)]
pub struct Settling {
    scratch: Scratch,
    run: RunBuffers,
}

impl SpaceRedo {
    /// The log of `recovery` for a tablespace that stores its pages as `context` describes.
    pub(crate) fn new(recovery: Arc<Recovery>, context: PageContext) -> SpaceRedo {
        SpaceRedo { recovery, context }
    }

    fn format(&self) -> PageFormat {
        self.context.format()
    }

    /// The log.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The number of the page behind the last one that the log changes.
    pub fn end(&self) -> u32 {
        self.recovery.index.end(self.format().space)
    }

    /// Whether the log changes a page, which may lie behind the end of the file.
    pub fn has_page(&self, page_no: PageNo) -> bool {
        let chain = self.recovery.index.chain(self.format().space, page_no);
        chain.is_some_and(|chain| chain.base != Base::Freed)
    }

    /// Settles the bytes of a page as the file stores it; of one behind the end of the file, zeroes. Bytes
    /// that are damaged stay as they are, unless the log does without them.
    ///
    /// # Errors
    /// The log does not fit the page; the page is newer than the log; the log cannot be read.
    pub fn settle(&self, page_no: PageNo, page: &mut [u8], buffers: &mut Settling) -> Result<()> {
        if self.recovery.doublewrite.has(self.format().space, page_no) {
            self.restore(page_no, page, &mut buffers.scratch)?;
        }
        let chain = self.recovery.index.chain(self.format().space, page_no);
        let lsn = Lsn(bytes::u64_at(page, LSN_AT)?);
        if lsn > self.recovery.checkpoint
            && let Some(error) = self.of_another_moment(page_no, lsn, chain, buffers)?
            && page::open(page, &self.context, page_no, &mut buffers.scratch).is_ok()
        {
            return Err(error);
        }
        match chain {
            None | Some(Chain { base: Base::Freed, .. }) => Ok(()),
            Some(chain) => self.apply(page_no, chain, page, buffers),
        }
    }

    /// Takes a page whose write was not finished from the doublewrite buffer.
    #[cold]
    fn restore(&self, page_no: PageNo, page: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let is_zeroes = page.iter().all(|&byte| byte == 0);
        if !is_zeroes && page::open(page, &self.context, page_no, scratch).is_ok() {
            return Ok(());
        }
        let is_sound = |copy: &[u8]| page::open(copy, &self.context, page_no, scratch).is_ok();
        self.recovery.doublewrite.restore(self.format().space, page_no, page, is_sound)
    }

    /// The error of a page that is newer than the checkpoint, if the log does not have the change that its
    /// LSN names. It is damaged, or the log is of another moment or directory.
    #[cold]
    fn of_another_moment(
        &self,
        page_no: PageNo,
        lsn: Lsn,
        chain: Option<Chain>,
        buffers: &mut Settling,
    ) -> Result<Option<Error>> {
        let Recovery { index, log, end, .. } = &*self.recovery;
        let space = self.format().space;
        if lsn > *end {
            return Ok(Some(newer(space, page_no, lsn, *end)));
        }
        let chain = match chain {
            Some(Chain { base: Base::Freed | Base::Nothing, .. }) => return Ok(None),
            _ if index.is_cut(space, page_no) => return Ok(None),
            chain => chain,
        };
        let before =
            |chain| index.runs(space, page_no, chain).take_while(|run| run.mtr < lsn).last();
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

    fn apply(
        &self,
        page_no: PageNo,
        chain: Chain,
        page: &mut [u8],
        buffers: &mut Settling,
    ) -> Result<()> {
        let format = self.format();
        let Some(from) = self.start_of(page_no, chain, page, buffers)? else { return Ok(()) };
        if let Some(lsn) = replay(&self.recovery, format, page_no, page, from, &mut buffers.run)? {
            page::seal(page, format, lsn)?;
        }
        Ok(())
    }

    /// Prepares the bytes to which the records of a page are applied; returns from which LSN on they are applied.
    /// `None`: the page is damaged, and the log does not have all of it.
    fn start_of(
        &self,
        page_no: PageNo,
        chain: Chain,
        page: &mut [u8],
        buffers: &mut Settling,
    ) -> Result<Option<Lsn>> {
        let Recovery { index, log, .. } = &*self.recovery;
        if chain.base == Base::Nothing {
            page.fill(0);
            return Ok(Some(Lsn(0)));
        }
        if log.has_init_records() && page.iter().all(|&byte| byte == 0) {
            return Ok(Some(Lsn(0)));
        }
        if self.to_memory_form(page_no, page, buffers)? {
            return Ok(Some(Lsn(bytes::u64_at(page, LSN_AT)?)));
        }
        let runs = index.runs(self.format().space, page_no, chain);
        let init = log.newest_init(runs, &mut buffers.run)?;
        if init.is_some() {
            page.fill(0);
        }
        Ok(init)
    }

    /// Converts a page as the file stores it to the form that records change; `false`, and the bytes as
    /// they were, if they are damaged.
    fn to_memory_form(
        &self,
        page_no: PageNo,
        page: &mut [u8],
        buffers: &mut Settling,
    ) -> Result<bool> {
        let format = self.format();
        let opened = match page::open(page, &self.context, page_no, &mut buffers.scratch) {
            Ok(opened) => opened,
            Err(error) if error.is_corrupt() => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        match opened.stored_as() {
            StoredAs::Plain => return Ok(true),
            // Its records change the compressed bytes themselves.
            StoredAs::Compressed
                if format.is_zip && matches!(self.context.encryption(), Encryption::None) =>
            {
                return Ok(true);
            }
            _ if format.is_zip => {
                return Err(Error::from(FormatError::unsupported(
                    "an encrypted table with ROW_FORMAT=COMPRESSED whose pages have changes in the \
                     redo log",
                    "start the server on a copy of the directory, and shut it down cleanly",
                )));
            }
            StoredAs::Encrypted | StoredAs::Compressed => {}
        }
        let plain = opened.bytes().to_vec();
        page.copy_from_slice(&plain);
        // A page that names no key is not decrypted again.
        match format.full_crc32 {
            true => bytes::fill(page, 0, 4, 0)?,
            false => bytes::fill(page, KEY_VERSION_AT, 8, 0)?,
        }
        let lsn = Lsn(bytes::u64_at(page, LSN_AT)?);
        page::seal(page, format, lsn)?;
        Ok(true)
    }
}

/// Applies the records of a page that begin at an LSN or behind it; returns the LSN of the newest one's end.
fn replay(
    recovery: &Recovery,
    format: PageFormat,
    page_no: PageNo,
    page: &mut [u8],
    from: Lsn,
    buffers: &mut RunBuffers,
) -> Result<Option<Lsn>> {
    let (space, is_zip) = (format.space, format.is_zip);
    let Some(chain) = recovery.index.chain(space, page_no) else { return Ok(None) };
    let mut page = PageBytes { space, page_no, is_zip, bytes: page };
    let mut newest = None;
    for run in recovery.index.runs(space, page_no, chain).filter(|run| run.mtr >= from) {
        recovery.log.apply(run, &mut page, buffers)?;
        newest = Some(run.at);
    }
    newest.map(|at| recovery.log.end_of_mini_transaction(at, buffers)).transpose()
}

/// Settles page 0 of a tablespace, from which the form of all its pages is known, and parses it.
/// `page_bytes`: the server's page size.
pub(super) fn header(
    recovery: &Recovery,
    space: SpaceId,
    head: &mut [u8],
    page_bytes: usize,
) -> Result<SpaceHeader> {
    let chain = recovery.index.chain(space, PageNo(0));
    let mut buffers = RunBuffers::default();
    let is_unwritten = head[..page_bytes].iter().all(|&byte| byte == 0);
    let base = chain.map(|chain| match chain.base {
        Base::File if is_unwritten && recovery.log.has_init_records() => Base::Nothing,
        base => base,
    });
    let header = match base {
        None | Some(Base::Freed) => SpaceHeader::parse(head)?,
        Some(Base::Nothing) => {
            head.fill(0);
            let page = &mut head[..page_bytes];
            let mut format = unknown_format(recovery, space);
            let lsn = replay(recovery, format, PageNo(0), page, Lsn(0), &mut buffers)?;
            let flags = bytes::u32_at(page, 54)?;
            let candidates = page::FspFlags::candidates(flags);
            let flags = candidates.first().copied().ok_or_else(|| {
                FormatError::corrupt(format!(
                    "{flags:#x} are no tablespace flags any server writes"
                ))
            })?;
            format = SpaceHeader::format_of(flags, space);
            page::seal(&mut head[..format.physical_len()], format, lsn.unwrap_or(Lsn(0)))?;
            SpaceHeader::parse(head)?
        }
        Some(Base::File) => {
            let header = SpaceHeader::parse(head)?;
            let format = header.page_format();
            let page = &mut head[..format.physical_len()];
            let from = Lsn(bytes::u64_at(page, LSN_AT)?);
            match replay(recovery, format, PageNo(0), page, from, &mut buffers)? {
                None => header,
                Some(lsn) => {
                    page::seal(page, format, lsn)?;
                    SpaceHeader::parse(head)?
                }
            }
        }
    };
    let lsn = Lsn(bytes::u64_at(head, LSN_AT)?);
    match lsn > recovery.end {
        true => Err(newer(space, PageNo(0), lsn, recovery.end)),
        false => Ok(header),
    }
}

/// The format of page 0 before its flags are known: that of a plain tablespace.
fn unknown_format(recovery: &Recovery, space: SpaceId) -> PageFormat {
    PageFormat {
        space,
        page_size: recovery.page_size,
        physical_bytes: recovery.page_size.bytes(),
        is_zip: false,
        full_crc32: true,
        sdi: false,
        size_pages: u32::MAX,
    }
}

#[cold]
fn newer(space: SpaceId, page_no: PageNo, lsn: Lsn, end: Lsn) -> Error {
    Error::from(
        FormatError::corrupt(format!(
            "the page's LSN {lsn} is newer than the end of the redo log, {end}: the files were not \
             copied at one moment, or the log is damaged or of another directory"
        ))
        .at_page(space, page_no),
    )
}
