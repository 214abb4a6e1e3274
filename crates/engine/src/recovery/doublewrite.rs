//! The doublewrite buffer of MySQL 8.0.20 and later: files of bare pages, each written before its page is
//! (`buf0dblwr.cc`, MySQL 9.7). A page whose write was not finished is taken from there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_format::{Lsn, PageNo, PageSize, SpaceId, bytes};
use innoscan_io::{Direct, File, ReadError};

use crate::{Error, Result};

/// `FIL_PAGE_OFFSET`, `FIL_PAGE_LSN`, `FIL_PAGE_SPACE_ID`.
const PAGE_NO_AT: usize = 4;
const LSN_AT: usize = 16;
const SPACE_AT: usize = 34;

/// The most copies that are noted: the server's files have some hundred.
const COPIES_MAX: usize = 1 << 20;

/// The copies of pages in the doublewrite buffer.
#[derive(Debug, Default)]
pub(super) struct Doublewrite {
    files: Vec<File>,
    /// Where the copies of a page are.
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
    /// Finds the copies in the files of the directories, as far as a write may have been under way at the end of
    /// the log: of pages newer than the checkpoint.
    ///
    /// # Errors
    /// A directory cannot be listed, or a file cannot be read.
    pub fn open<'d>(
        directories: impl Iterator<Item = &'d PathBuf>,
        page_size: PageSize,
        (checkpoint, end): (Lsn, Lsn),
    ) -> Result<Doublewrite> {
        let mut found = Doublewrite::default();
        let mut bytes = vec![0; page_size.bytes() as usize];
        for directory in directories {
            for path in files_of(directory)? {
                let file = File::open(&path, Direct::Off)?;
                let mut offset = 0;
                while read(&file, offset, &mut bytes)? {
                    let lsn = Lsn(bytes::u64_at(&bytes, LSN_AT)?);
                    let space = SpaceId(bytes::u32_at(&bytes, SPACE_AT)?);
                    let page = PageNo(bytes::u32_at(&bytes, PAGE_NO_AT)?);
                    if (checkpoint..=end).contains(&lsn) && found.copies.len() < COPIES_MAX {
                        let copy = Place { lsn, file: found.files.len(), offset };
                        found.copies.entry((space, page)).or_default().push(copy);
                    }
                    offset += bytes.len() as u64;
                }
                found.files.push(file);
            }
        }
        for copies in found.copies.values_mut() {
            copies.sort_by_key(|copy| std::cmp::Reverse(copy.lsn));
        }
        Ok(found)
    }

    /// Whether there are copies of a page.
    pub fn has(&self, space: SpaceId, page: PageNo) -> bool {
        self.copies.contains_key(&(space, page))
    }

    /// Puts the newest copy of a page that `is_sound` accepts into `bytes`; leaves them as they are if there is
    /// none.
    pub fn restore(
        &self,
        space: SpaceId,
        page: PageNo,
        bytes: &mut [u8],
        mut is_sound: impl FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        let mut copy = vec![0; bytes.len()];
        for place in self.copies.get(&(space, page)).into_iter().flatten() {
            if read(&self.files[place.file], place.offset, &mut copy)? && is_sound(&copy) {
                bytes.copy_from_slice(&copy);
                return Ok(());
            }
        }
        Ok(())
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
