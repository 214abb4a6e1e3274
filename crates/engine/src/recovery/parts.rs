//! The tablespaces of a backup: an incremental backup has only the changed pages of a tablespace, in a file
//! `X.ibd.delta`, and the others are in its base.
//!
//! ```text
//! delta     runs of a page of numbers and at most (page size / 4 - 1) pages
//! numbers   0 "xtra", of the last run "XTRA"   4 number of each page of the run   FFFFFFFF ends them
//! ```
//!
//! (`xtrabackup_apply_delta`, xtrabackup.cc, and `wf_incremental_process`, write_filt.cc, MariaDB 10.11.) Pages are in the
//! order of their numbers, since the file was copied in that order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use innoscan_format::page::system::Doublewrite;
use innoscan_format::page::undo::TRX_SYS_PAGE;
use innoscan_format::{Error as FormatError, Lsn, PageNo, PageSize, SpaceId, bytes};
use innoscan_io::{Direct, File, ReadError};

use crate::{Error, Result};

/// `xtra` and `XTRA` in a page of numbers.
const RUN: u32 = 0x7874_7261;
const LAST_RUN: u32 = 0x5854_5241;

/// The end of the numbers.
const NO_PAGE: u32 = u32::MAX;

/// `FIL_PAGE_OFFSET`, `FIL_PAGE_LSN`, `FIL_PAGE_SPACE_ID`: the bytes of a page that must agree with its place in a delta.
const PAGE_NO_AT: usize = 4;
const LSN_AT: usize = 16;
const SPACE_AT: usize = 34;

/// The files of a backup's tablespaces, by the paths under which the tablespaces are known.
#[derive(Debug, Default)]
pub struct BackupFiles(BTreeMap<PathBuf, Parts>);

/// The files that a tablespace consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The backup, counted from the base, whose log is the first that may change them.
    pub first: usize,
    /// The path of the tablespace in that backup's directory.
    pub named: PathBuf,
    /// The whole file; `None` if the tablespace was created after the base, and all its pages are in deltas.
    pub whole: Option<PathBuf>,
    /// The deltas, oldest first.
    pub deltas: Vec<DeltaFile>,
    /// The tablespace, unless only the redo log of the first backup names it.
    pub space: Option<SpaceId>,
}

/// A delta in a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaFile {
    /// The backup that has it, counted from the base.
    pub backup: usize,
    /// The path of the file.
    pub path: PathBuf,
    /// Bytes of a page in it.
    pub page_bytes: usize,
    /// The LSN above which all its pages are, and the one that none exceeds.
    pub lsns: (Lsn, Lsn),
}

impl BackupFiles {
    /// Adds a tablespace.
    pub fn add(&mut self, path: PathBuf, parts: Parts) {
        self.0.insert(path, parts);
    }

    /// The files of the tablespace at a path.
    pub fn get(&self, path: &Path) -> Option<&Parts> {
        self.0.get(path)
    }

    /// The paths of the tablespaces in a directory.
    pub fn within<'s>(&'s self, directory: &'s Path) -> impl Iterator<Item = &'s PathBuf> {
        self.0.keys().filter(move |path| path.parent() == Some(directory))
    }
}

impl Parts {
    /// The files, at least one.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let deltas = self.deltas.iter().map(|delta| &*delta.path);
        self.whole.as_deref().into_iter().chain(deltas)
    }

    /// Opens the whole file, under the name `path`; without one, a file of no bytes.
    pub(crate) fn open(&self, path: &Path, direct: Direct) -> Result<File> {
        Ok(match &self.whole {
            Some(whole) => File::open_as(whole, path, direct)?,
            None => File::open_as(Path::new("/dev/null"), path, Direct::Off)?,
        })
    }
}

/// The deltas of a tablespace, opened.
#[derive(Debug)]
pub(super) struct Deltas {
    /// The backup, counted from the base, from whose log on the pages are changed that no delta has.
    pub first: usize,
    /// Oldest first.
    deltas: Vec<Delta>,
}

impl Deltas {
    /// Those of a tablespace whose file is at its path.
    pub fn none() -> Deltas {
        Deltas { first: 0, deltas: Vec::new() }
    }

    /// Opens the deltas of a tablespace, and reads which pages they have.
    ///
    /// # Errors
    /// One of them is no delta, was cut short, or cannot be read.
    pub fn open(parts: &Parts) -> Result<Deltas> {
        let open = |file: &DeltaFile| {
            let copies = doublewrite(parts, file.page_bytes)?;
            Delta::open(file, parts.space, copies).map_err(|error| error.in_file(&file.path))
        };
        let deltas = parts.deltas.iter().map(open).collect::<Result<_>>()?;
        Ok(Deltas { first: parts.first, deltas })
    }

    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        self.deltas.is_empty()
    }

    /// The number of the page behind the last one.
    pub fn end(&self) -> u32 {
        let lasts = self.deltas.iter().filter_map(|delta| delta.pages.last());
        lasts.max().map_or(0, |last| last.saturating_add(1))
    }

    /// Replaces the bytes of a page by the newest that a delta has; returns the backup that has them.
    /// `is_certain`: all deltas are first searched for pages that are not where they should be.
    pub fn read(&self, page: PageNo, page_bytes: &mut [u8], is_certain: bool) -> Result<usize> {
        if is_certain {
            self.deltas.iter().try_for_each(Delta::require_agreement)?;
        }
        for delta in self.deltas.iter().rev() {
            if let Some(nth) = delta.place_of(page) {
                let read = delta.read(nth, page_bytes);
                read.map_err(|error| error.in_file(delta.file.path()))?;
                return Ok(delta.backup);
            }
        }
        Ok(self.first)
    }
}

/// A delta, opened.
#[derive(Debug)]
struct Delta {
    backup: usize,
    file: File,
    page_bytes: usize,
    space: Option<SpaceId>,
    lsns: (Lsn, Lsn),
    /// Pages of the doublewrite buffer, which have copies of others.
    copies: Vec<Range<u32>>,
    /// The numbers of its pages, in their order.
    pages: Vec<u32>,
    /// What is wrong with its pages, once that was searched for.
    disagreement: OnceLock<Option<String>>,
}

impl Delta {
    fn open(delta: &DeltaFile, space: Option<SpaceId>, copies: Vec<Range<u32>>) -> Result<Delta> {
        let DeltaFile { backup, path, page_bytes, lsns } = delta;
        let mut opened = Delta {
            backup: *backup,
            file: File::open(path, Direct::Off)?,
            page_bytes: *page_bytes,
            space,
            lsns: *lsns,
            copies,
            pages: Vec::new(),
            disagreement: OnceLock::new(),
        };
        let mut numbers = vec![0; *page_bytes];
        let mut at = 0;
        loop {
            opened.fill(at, &mut numbers)?;
            let kind = bytes::u32_at(&numbers, 0)?;
            if !matches!(kind, RUN | LAST_RUN) {
                return Err(damaged(
                    "it is no file of changed pages: a page of numbers does not begin with xtra",
                ));
            }
            let before = opened.pages.len();
            for number in numbers[4..].chunks_exact(4) {
                let number = bytes::u32_at(number, 0)?;
                if number == NO_PAGE {
                    break;
                }
                if opened.pages.last().is_some_and(|last| *last >= number) {
                    return Err(damaged(&format!(
                        "its pages are not in the order of their numbers, at page {number}"
                    )));
                }
                opened.pages.push(number);
            }
            let run = opened.pages.len() - before;
            at += ((run + 1) * page_bytes) as u64;
            if kind == LAST_RUN {
                break;
            }
            if run != opened.run_pages() {
                return Err(damaged("a run of pages ends too early"));
            }
        }
        if opened.file.size_bytes() != at {
            let has = opened.file.size_bytes();
            return Err(damaged(&format!(
                "by its page numbers it has {at} bytes, and the file has {has}"
            )));
        }
        Ok(opened)
    }

    /// Pages of a run, without its page of numbers.
    fn run_pages(&self) -> usize {
        self.page_bytes / 4 - 1
    }

    /// Which of its pages has a number.
    fn place_of(&self, page: PageNo) -> Option<usize> {
        self.pages.binary_search(&page.0).ok()
    }

    fn offset_of(&self, nth: usize) -> u64 {
        let pages = nth + nth / self.run_pages() + 1;
        pages as u64 * self.page_bytes as u64
    }

    /// Reads a page.
    fn read(&self, nth: usize, page: &mut [u8]) -> Result<()> {
        if page.len() != self.page_bytes {
            let (is, has) = (page.len(), self.page_bytes);
            return Err(damaged(&format!(
                "its .meta says that pages have {has} bytes, and they have {is}"
            )));
        }
        self.fill(self.offset_of(nth), page)?;
        match self.disagreement_of(nth, page)? {
            None => Ok(()),
            Some(why) => Err(damaged(&why)),
        }
    }

    /// What is wrong with the page that begins with these bytes, if it is another one than its place says.
    fn disagreement_of(&self, nth: usize, page: &[u8]) -> Result<Option<String>> {
        let (number, space) = (bytes::u32_at(page, PAGE_NO_AT)?, bytes::u32_at(page, SPACE_AT)?);
        let named = self.pages[nth];
        if self.copies.iter().any(|copies| copies.contains(&named)) {
            return Ok(None);
        }
        let is_of_space = self.space.is_none_or(|wanted| wanted == SpaceId(space));
        if number != named || !is_of_space {
            return Ok(Some(format!(
                "where page {named} should be, there is page {number} of tablespace {space}"
            )));
        }
        let (lsn, (since, end)) = (Lsn(bytes::u64_at(page, LSN_AT)?), self.lsns);
        Ok((lsn <= since || lsn > end).then(|| {
            format!(
                "page {named} has LSN {lsn}, and the incremental backup has what changed from {since} to {end}: its \
                 files are not those of one backup"
            )
        }))
    }

    /// Requires that each page is the one that the page of numbers says: else a page might be taken from an older
    /// backup though this one has it.
    fn require_agreement(&self) -> Result<()> {
        let search = || {
            let mut head = [0; SPACE_AT + 4];
            for nth in 0..self.pages.len() {
                let read = self.fill(self.offset_of(nth), &mut head);
                match read.and_then(|()| self.disagreement_of(nth, &head)) {
                    Ok(None) => {}
                    Ok(Some(why)) => return Some(why),
                    Err(error) => return Some(error.to_string()),
                }
            }
            None
        };
        match self.disagreement.get_or_init(search) {
            None => Ok(()),
            Some(why) => Err(damaged(why).in_file(self.file.path())),
        }
    }

    fn fill(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        match self.file.read_at(at, bytes) {
            Ok(read_bytes) if read_bytes == bytes.len() => Ok(()),
            Ok(_) | Err(ReadError::EndOfFile { .. }) => {
                Err(damaged(&format!("it was cut short: it ends within the page at byte {at}")))
            }
            Err(ReadError::Device { errno, .. }) => {
                let source = std::io::Error::from_raw_os_error(errno);
                Err(Error::read("reading changed pages", source))
            }
        }
    }
}

/// The pages of the doublewrite buffer in the system tablespace, whose place never changes.
fn doublewrite(parts: &Parts, page_bytes: usize) -> Result<Vec<Range<u32>>> {
    let (Some(whole), Some(SpaceId::SYSTEM)) = (&parts.whole, parts.space) else {
        return Ok(Vec::new());
    };
    let file = File::open(whole, Direct::Off)?;
    let mut page = vec![0; page_bytes];
    let read = file.read_at(u64::from(TRX_SYS_PAGE.0) * page_bytes as u64, &mut page);
    if read != Ok(page_bytes) {
        return Ok(Vec::new());
    }
    let pages = u32::try_from(page_bytes).ok().and_then(|bytes| PageSize::new(bytes).ok());
    let (Some(size), Some(found)) = (pages, Doublewrite::parse(&page)?) else {
        return Ok(Vec::new());
    };
    let range = |first: PageNo| first.0..first.0.saturating_add(size.extent_pages());
    Ok(found.blocks.into_iter().map(range).collect())
}

fn damaged(why: &str) -> Error {
    FormatError::corrupt(why.to_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_BYTES: usize = 1024;

    /// A delta of these pages.
    fn delta(pages: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let runs: Vec<&[u32]> = pages.chunks(PAGE_BYTES / 4 - 1).collect();
        for (nth, run) in runs.iter().enumerate() {
            let kind = if nth + 1 == runs.len() { LAST_RUN } else { RUN };
            let numbers = [&[kind], *run, &[NO_PAGE]].concat();
            let mut head: Vec<u8> =
                numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
            head.resize(head.len().max(PAGE_BYTES), 0xff);
            bytes.extend(&head[..PAGE_BYTES]);
            for page in *run {
                let mut page_bytes = vec![*page as u8; PAGE_BYTES];
                page_bytes[PAGE_NO_AT..8].copy_from_slice(&page.to_be_bytes());
                page_bytes[LSN_AT..24].copy_from_slice(&9_u64.to_be_bytes());
                page_bytes[SPACE_AT..38].copy_from_slice(&7_u32.to_be_bytes());
                bytes.extend(page_bytes);
            }
        }
        bytes
    }

    fn deltas(bytes: &[u8]) -> Result<Deltas> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let path = file.path().to_owned();
        let lsns = (Lsn(0), Lsn(u64::MAX));
        let delta = DeltaFile { backup: 1, path, page_bytes: PAGE_BYTES, lsns };
        Deltas::open(&Parts {
            first: 0,
            named: PathBuf::new(),
            whole: None,
            deltas: vec![delta],
            space: Some(SpaceId(7)),
        })
    }

    #[test]
    fn pages_of_all_runs_are_found() {
        let numbers: Vec<u32> = (0..600).map(|nth| nth * 3).collect();
        let opened = deltas(&delta(&numbers)).unwrap();
        let mut page = vec![0; PAGE_BYTES];
        for number in [0, 3, 762, 765, 768, 1797] {
            assert_eq!(opened.read(PageNo(number), &mut page, true).unwrap(), 1);
            assert_eq!((page[9], bytes::u32_at(&page, 4)), (number as u8, Ok(number)));
        }
        assert_eq!(opened.read(PageNo(4), &mut page, true).unwrap(), 0);
        assert_eq!(opened.end(), 1798);
    }

    #[test]
    fn damage_of_the_numbers_is_found() {
        let sound = delta(&[1, 4, 9]);
        let opened = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = sound.clone();
            change(&mut bytes);
            let mut page = vec![0; PAGE_BYTES];
            deltas(&bytes).and_then(|opened| opened.read(PageNo(9), &mut page, true))
        };
        assert_eq!(opened(&|_| {}).unwrap(), 1);
        let assert_found = |what: &str, change: &dyn Fn(&mut Vec<u8>)| {
            let error = opened(change).unwrap_err().to_string();
            assert!(error.contains(what), "{what}: {error}");
        };
        assert_found("no file of changed pages", &|bytes| bytes[0] ^= 1);
        assert_found("not in the order", &|bytes| bytes[5] ^= 1);
        assert_found("there is page 4", &|bytes| bytes[11] ^= 1);
        assert_found("bytes, and the file has", &|bytes| bytes.truncate(3 * PAGE_BYTES));
        assert_found("cut short", &|bytes| bytes.truncate(100));
        assert_found("bytes, and the file has", &|bytes| bytes[16..20].fill(0x10));
    }
}
