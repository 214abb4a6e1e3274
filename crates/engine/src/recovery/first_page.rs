//! Page 0 of a killed server's file: whose the file is, and the form of its pages. The page may never have been written,
//! or its write may not have been finished.

use std::path::Path;

use innoscan_format::page::{self, FspFlags, PageFormat, SpaceHead, SpaceHeader};
use innoscan_format::{Error as FormatError, Lsn, PageNo, SpaceId, bytes};
use innoscan_io::{ALIGNMENT, File, Slab};

use super::index::{Base, Chain};
use super::parts::{Deltas, Parts};
use super::redo_log::RunBuffers;
use super::settle::{newer, replay};
use super::{IndexedLog, Recovery};
use crate::{Error, Result};

/// `FIL_PAGE_LSN`, `FIL_PAGE_SPACE_ID`.
const LSN_AT: usize = 16;
const SPACE_AT: usize = 34;
/// `FSP_HEADER_OFFSET + FSP_SPACE_FLAGS`.
const FLAGS_AT: usize = 54;

impl Recovery {
    /// The tablespace at the canonical `path`, whose first file is `file`: its header, from its first bytes in `head`
    /// (`read_bytes` of them; the rest may hold anything), settled if its first page has records in a log; and its
    /// deltas.
    pub(super) fn open_space(
        &self,
        path: &Path,
        file: &File,
        head: &mut [u8],
        read_bytes: usize,
    ) -> Result<(SpaceHeader, Deltas)> {
        head[read_bytes..].fill(0);
        let parts = self.backup_files.as_ref().and_then(|files| files.get(path));
        let deltas = parts.map_or(Ok(Deltas::none()), Deltas::open)?;
        let page_bytes = match parts.and_then(|parts| parts.deltas.first()) {
            Some(delta) => delta.page_bytes,
            None => self.page_size.len(),
        };
        let page_bytes = page_bytes.min(head.len());
        let first = deltas.read(PageNo(0), &mut head[..page_bytes], false)?;
        let space = self.space_of((path, file), parts, first, head)?;
        // Damage in a page 0 that was never written would make it one of the system tablespace.
        if space == SpaceId::SYSTEM && path.extension().is_some_and(|ending| ending == "ibd") {
            let what = "page 0 is damaged: it says that this is the system tablespace";
            return Err(FormatError::corrupt(what).into());
        }
        if self.newest().files.is_deleted(space) {
            return Err(Error::not_found(
                "its tablespace was dropped, by the redo log",
                "the file is a remainder; a server would delete it",
            ));
        }
        let (newest, older) = self.logs[first..].split_last().ok_or_else(|| {
            Error::from(FormatError::corrupt("the tablespace is newer than all redo logs"))
        })?;
        for log in older {
            // A later log may initialise the page.
            if log.index.chain(space, PageNo(0))?.is_some() {
                self.settled_header(log, space, head)?;
            }
        }
        Ok((self.settled_header(newest, space, head)?, deltas))
    }

    /// The tablespace of a file: by its first page, or, if that was not written or is torn, by the log, or by a copy of
    /// the page in the doublewrite buffer. `first`: the backup that has the page, counted from the base.
    fn space_of(
        &self,
        (path, file): (&Path, &File),
        parts: Option<&Parts>,
        first: usize,
        head: &[u8],
    ) -> Result<SpaceId> {
        let error = match SpaceHead::parse(head) {
            Ok(head) => return Ok(head.space),
            Err(error) => error,
        };
        if path == self.system {
            return Ok(SpaceId::SYSTEM);
        }
        let named = parts.map_or(path, |parts| &parts.named);
        let known = parts.and_then(|parts| parts.space);
        if let Some(space) = known.or_else(|| self.space_at(first, named)) {
            return Ok(space);
        }
        for space in self.doublewrite.spaces_with_first_page() {
            if self.is_space_of_second_page(space, file)? {
                return Ok(space);
            }
        }
        Err(unrecovered(error.with_prefix("page 0 does not say whose the file is")).into())
    }

    /// Whether page 1 of a file says that it belongs to a tablespace of whose page 0 there is a copy.
    fn is_space_of_second_page(&self, space: SpaceId, file: &File) -> Result<bool> {
        let mut copy = vec![0; self.page_size.len()];
        let is_sound = is_first_page_of(space);
        if self.doublewrite.restore(space, PageNo(0), &mut copy, is_sound)?.is_none() {
            return Ok(false);
        }
        let page_bytes = SpaceHeader::parse(&copy)?.page_format().physical_len();
        let slab = Slab::new(1, ALIGNMENT)?;
        let mut frame = slab.take().ok_or_else(|| Error::resources("no frame in a new slab"))?;
        let aligned = page_bytes / ALIGNMENT * ALIGNMENT;
        let Ok(read_bytes) = file.read_now(aligned as u64, &mut frame) else { return Ok(false) };
        let second = frame[..read_bytes].get(page_bytes - aligned..).unwrap_or_default();
        let is_second = bytes::u32_at(second, 4) == Ok(1);
        Ok(is_second && bytes::u32_at(second, SPACE_AT) == Ok(space.0))
    }

    /// Settles page 0 of a tablespace, from which the form of all its pages is known, and parses it.
    fn settled_header(
        &self,
        log: &IndexedLog,
        space: SpaceId,
        head: &mut [u8],
    ) -> Result<SpaceHeader> {
        let page_bytes = self.page_size.len().min(head.len());
        let chain = log.index.chain(space, PageNo(0))?;
        let base = chain.as_ref().map(|chain| chain.base);
        let is_made = base == Some(Base::Nothing);
        if !is_made && self.parse(head).is_err() {
            let page = &mut head[..page_bytes];
            self.doublewrite.restore(space, PageNo(0), page, is_first_page_of(space))?;
        }
        let header = match &chain {
            None | Some(Chain { base: Base::Freed, .. }) => {
                self.parse(head).map_err(unrecovered)?
            }
            Some(chain) if is_made => self.initialised((log, chain), space, head, Lsn(0))?,
            Some(chain) => match (self.parse(head), self.init_of((log, chain), head)?) {
                (Ok(header), _) => replayed((log, chain), header, head)?,
                (Err(_), Some(from)) => self.initialised((log, chain), space, head, from)?,
                (Err(error), None) => return Err(unrecovered(error).into()),
            },
        };
        let lsn = Lsn(bytes::u64_at(head, LSN_AT)?);
        match lsn > log.end {
            true => Err(newer(space, PageNo(0), lsn, log.end)),
            false => Ok(header),
        }
    }

    /// Parses page 0 of a file of the server, all of whose pages have one size.
    fn parse(&self, head: &[u8]) -> innoscan_format::Result<SpaceHeader> {
        let header = SpaceHeader::parse(head)?;
        match header.flags.page_size == self.page_size {
            true => Ok(header),
            false => Err(FormatError::corrupt(format!(
                "page 0 is one of {} bytes, not of {} as the server's pages are",
                header.flags.page_size, self.page_size
            ))
            .at_page(header.space, PageNo(0))),
        }
    }

    /// From which record on the log has all of page 0, in a log that does not drop those before it.
    fn init_of(&self, (log, chain): (&IndexedLog, &Chain), head: &[u8]) -> Result<Option<Lsn>> {
        let page_bytes = self.page_size.len().min(head.len());
        if log.log.starts_from_zeroes() && is_zeroes(&head[..page_bytes]) {
            return Ok(Some(Lsn(0)));
        }
        // All changes of page 0 have records.
        log.log.newest_init(&chain.runs, Lsn(0), &mut RunBuffers::default())
    }

    /// Makes page 0 from the records of the log alone, from an LSN on.
    fn initialised(
        &self,
        (log, chain): (&IndexedLog, &Chain),
        space: SpaceId,
        head: &mut [u8],
        from: Lsn,
    ) -> Result<SpaceHeader> {
        head.fill(0);
        let page_bytes = self.page_size.len().min(head.len());
        let page = &mut head[..page_bytes];
        let (format, mut buffers) = (self.unknown_format(space), RunBuffers::default());
        let lsn = replay(log, chain, format, PageNo(0), page, from, &mut buffers)?;
        let flags = bytes::u32_at(page, FLAGS_AT)?;
        let candidates = FspFlags::candidates(flags);
        let flags = candidates.first().copied().ok_or_else(|| {
            FormatError::corrupt(format!("{flags:#x} are no tablespace flags any server writes"))
        })?;
        let format = SpaceHeader::format_of(flags, space);
        page::seal(&mut head[..format.physical_len()], format, lsn.unwrap_or(Lsn(0)))?;
        Ok(SpaceHeader::parse(head)?)
    }

    /// The format of page 0 before its flags are known: that of a plain tablespace.
    fn unknown_format(&self, space: SpaceId) -> PageFormat {
        PageFormat {
            space,
            page_size: self.page_size,
            physical_bytes: self.page_size.bytes(),
            is_zip: false,
            full_crc32: true,
            sdi: false,
            size_pages: u32::MAX,
        }
    }
}

/// Applies the records of a log to a sound page 0.
fn replayed(
    (log, chain): (&IndexedLog, &Chain),
    header: SpaceHeader,
    head: &mut [u8],
) -> Result<SpaceHeader> {
    let format = header.page_format();
    let page = &mut head[..format.physical_len()];
    let from = Lsn(bytes::u64_at(page, LSN_AT)?);
    match replay(log, chain, format, PageNo(0), page, from, &mut RunBuffers::default())? {
        None => Ok(header),
        Some(lsn) => {
            page::seal(page, format, lsn)?;
            Ok(SpaceHeader::parse(head)?)
        }
    }
}

/// Whether bytes are page 0 of a tablespace.
fn is_first_page_of(space: SpaceId) -> impl FnMut(&[u8]) -> bool {
    move |copy| SpaceHeader::parse(copy).is_ok_and(|header| header.space == space)
}

/// The error of a page 0 that neither the log nor the doublewrite buffer has.
fn unrecovered(error: FormatError) -> FormatError {
    error.with_prefix(page::UNRECOVERED)
}

fn is_zeroes(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}
