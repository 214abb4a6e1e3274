//! The doublewrite buffer: bare pages, each written there before it is written to its place. A page whose write was not
//! finished is taken from there.
//!
//! MySQL 8.0.20 and later has files of its own for it, `#ib_<page size>_<n>.dblwr` (`buf0dblwr.cc`, MySQL 9.7); MariaDB
//! has two extents of the system tablespace, which page 5 names (`buf_dblwr_t::init_or_load_pages`, buf0dblwr.cc, MariaDB
//! 10.11). A copy takes the room of a page of the server's size, also one of a smaller page with ROW_FORMAT=COMPRESSED,
//! and is stored as the page is in its file: encrypted, compressed.
//!
//! Only copies that are not older than the checkpoint count (`buf_dblwr_t::recover`): what changed their page later is
//! in the log. An older one may lack changes that the log no longer has.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use innoscan_format::page::system;
use innoscan_format::page::undo::TRX_SYS_PAGE;
use innoscan_format::{Lsn, PageNo, PageSize, SpaceId, bytes};
use innoscan_io::{Direct, File, ReadError};

use crate::{Error, Result};

/// `FIL_PAGE_OFFSET`, `FIL_PAGE_LSN`, `FIL_PAGE_SPACE_ID`.
const PAGE_NO_AT: usize = 4;
const LSN_AT: usize = 16;
const SPACE_AT: usize = 34;

/// The most copies that are noted: the servers' buffers have some hundred.
const COPIES_MAX: usize = 1 << 20;

/// The sizes of pages.
const PAGE_KIB: [u32; 5] = [16, 4, 8, 32, 64];

/// The copies of pages in the doublewrite buffer.
#[derive(Debug)]
pub(super) struct Doublewrite {
    page_size: PageSize,
    /// From the checkpoint to the end of the log.
    lsns: (Lsn, Lsn),
    files: Vec<File>,
    /// Where the copies of a page are, the newest first.
    copies: HashMap<(SpaceId, PageNo), Vec<Place>>,
}

/// The place of a copy.
#[derive(Clone, Copy, Debug)]
struct Place {
    lsn: Lsn,
    file: usize,
    offset: u64,
}

impl Doublewrite {
    /// Finds the copies in the doublewrite files of directories (MySQL); `lsns`: the checkpoint and the end of the log.
    ///
    /// # Errors
    /// A directory cannot be listed, or a file cannot be read.
    pub fn of_files<'d>(
        directories: impl Iterator<Item = &'d PathBuf>,
        page_size: PageSize,
        lsns: (Lsn, Lsn),
    ) -> Result<Doublewrite> {
        let mut found = Doublewrite::empty(page_size, lsns);
        for directory in directories {
            for path in files_of(directory)? {
                let file = File::open(&path, Direct::Off)?;
                let end = file.size_bytes();
                found.add(file, std::iter::once(0..end))?;
            }
        }
        Ok(found.sorted())
    }

    /// Finds the copies in two extents of the system tablespace, whose files are `system` (MariaDB); `lsns`: the
    /// checkpoint and the end of the log.
    ///
    /// # Errors
    /// The tablespace cannot be read.
    pub fn of_system(
        system: &[PathBuf],
        page_size: PageSize,
        lsns: (Lsn, Lsn),
    ) -> Result<Doublewrite> {
        let mut found = Doublewrite::empty(page_size, lsns);
        let file = File::open_joined(system, Direct::Off)?;
        let Some(blocks) = blocks_of(&file, page_size)? else { return Ok(found) };
        let place = |page: PageNo| u64::from(page.0) * u64::from(page_size.bytes());
        let extent = |first: PageNo| {
            place(first)..place(PageNo(first.0.saturating_add(page_size.extent_pages())))
        };
        found.add(file, blocks.map(extent).into_iter())?;
        Ok(found.sorted())
    }

    /// A doublewrite buffer without copies.
    pub fn empty(page_size: PageSize, lsns: (Lsn, Lsn)) -> Doublewrite {
        Doublewrite { page_size, lsns, files: Vec::new(), copies: HashMap::new() }
    }

    /// Notes the copies in some ranges of a file.
    fn add(&mut self, file: File, ranges: impl Iterator<Item = Range<u64>>) -> Result<()> {
        let mut bytes = vec![0; self.page_size.len()];
        let (checkpoint, end) = self.lsns;
        for range in ranges {
            for offset in range.step_by(bytes.len()) {
                if !read(&file, offset, &mut bytes)? {
                    break;
                }
                let lsn = Lsn(bytes::u64_at(&bytes, LSN_AT)?);
                let space = SpaceId(bytes::u32_at(&bytes, SPACE_AT)?);
                let page = PageNo(bytes::u32_at(&bytes, PAGE_NO_AT)?);
                if (checkpoint..=end).contains(&lsn) && self.copies.len() < COPIES_MAX {
                    let copy = Place { lsn, file: self.files.len(), offset };
                    self.copies.entry((space, page)).or_default().push(copy);
                }
            }
        }
        self.files.push(file);
        Ok(())
    }

    fn sorted(mut self) -> Doublewrite {
        for copies in self.copies.values_mut() {
            copies.sort_by_key(|copy| std::cmp::Reverse(copy.lsn));
        }
        self
    }

    /// Whether there are copies of a page.
    pub fn has(&self, space: SpaceId, page: PageNo) -> bool {
        self.copies.contains_key(&(space, page))
    }

    /// The tablespaces of whose first page there are copies.
    pub fn spaces_with_first_page(&self) -> impl Iterator<Item = SpaceId> + '_ {
        self.copies.keys().filter(|(_, page)| page.0 == 0).map(|(space, _)| *space)
    }

    /// Puts the newest copy of a page that `is_sound` accepts into `bytes`, and returns its LSN; leaves them as
    /// they are if there is none.
    pub fn restore(
        &self,
        space: SpaceId,
        page: PageNo,
        bytes: &mut [u8],
        mut is_sound: impl FnMut(&[u8]) -> bool,
    ) -> Result<Option<Lsn>> {
        let mut copy = vec![0; bytes.len()];
        for place in self.copies.get(&(space, page)).into_iter().flatten() {
            if read(&self.files[place.file], place.offset, &mut copy)? && is_sound(&copy) {
                bytes.copy_from_slice(&copy);
                return Ok(Some(place.lsn));
            }
        }
        Ok(None)
    }
}

/// The page size of a server by its doublewrite buffer, for a system tablespace whose page 0 is torn. `system`: its
/// files; `directories`: those of the server. `None` if there is no doublewrite buffer, or more than one size fits.
///
/// # Errors
/// A directory or file cannot be read.
pub fn page_size_of<'d>(
    system: &[PathBuf],
    directories: impl Iterator<Item = &'d PathBuf>,
) -> Result<Option<PageSize>> {
    let file = File::open_joined(system, Direct::Off)?;
    let mut names = Vec::new();
    for directory in directories.filter(|directory| directory.is_dir()) {
        names.extend(files_of(directory)?);
    }
    let is_named = |bytes: u32| {
        let start = format!("#ib_{bytes}_");
        names
            .iter()
            .any(|path| path.file_name().unwrap_or_default().to_string_lossy().starts_with(&start))
    };
    let mut found = None;
    for kib in PAGE_KIB {
        let page_size = PageSize::new(kib << 10)?;
        if !is_named(page_size.bytes()) && blocks_of(&file, page_size)?.is_none() {
            continue;
        }
        if found.is_some() {
            return Ok(None);
        }
        found = Some(page_size);
    }
    Ok(found)
}

/// The first pages of the two extents in a system tablespace, by its page 5, which need not be sound itself.
fn blocks_of(file: &File, page_size: PageSize) -> Result<Option<[PageNo; 2]>> {
    let mut page = vec![0; page_size.len()];
    let offset = u64::from(TRX_SYS_PAGE.0) * u64::from(page_size.bytes());
    match read(file, offset, &mut page)? {
        true => Ok(system::Doublewrite::blocks_of(&page)?),
        false => Ok(None),
    }
}

/// The doublewrite files of a directory; those that end in `.bdblwr` have no pages.
fn files_of(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory)
        .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
        .map_err(|error| {
            Error::read("cannot list the doublewrite buffer", error).in_file(directory)
        })?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let is_doublewrite = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("#ib_") && name.ends_with(".dblwr")
    };
    Ok(paths.filter(is_doublewrite).collect())
}

/// Reads a whole page; `false` at the end of the file.
fn read(file: &File, offset: u64, bytes: &mut [u8]) -> Result<bool> {
    match file.read_at(offset, bytes) {
        Ok(read_bytes) => Ok(read_bytes == bytes.len()),
        Err(ReadError::EndOfFile { .. }) => Ok(false),
        Err(ReadError::Device { errno, .. }) => {
            let source = std::io::Error::from_raw_os_error(errno);
            Err(Error::read("reading the doublewrite buffer", source).in_file(file.path()))
        }
    }
}
