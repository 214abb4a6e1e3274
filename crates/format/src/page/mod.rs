//! A page: the unit InnoDB reads, writes and checks.
//!
//! ```text
//!  0 checksum (full_crc32: encryption key version)     4 page number
//!  8 previous page on the level                       12 next page on the level
//! 16 LSN of the newest change                         24 type
//! 26 flush LSN (page 0 of the system tablespace), or MariaDB's encryption key version
//! 34 tablespace                                       38 what the type says ...
//! size-8 checksum, low half of the LSN (full_crc32: the other way round)
//! ```
//!
//! `fil0fil.h` of MySQL 8.0 and MariaDB 10.11. [`Page::parse`] is the only door: whoever holds a
//! [`Page`] holds bytes whose checksum, page number and tablespace are right.

mod fsp;
mod heap;
mod index;
mod inode;
mod kind;
mod list;
pub mod sdi;
mod space_head;
pub mod undo;
mod xdes;

pub use fsp::{Dialect, FspFlags, SpaceHeader};
pub use index::IndexPage;
pub use inode::{InodePage, Segment};
pub use kind::PageKind;
pub use list::{FileAddr, ListBase, ListNode};
pub use space_head::SpaceHead;
pub use xdes::{Extent, ExtentState, ExtentsPage};

use crate::checksum::{self, Algorithm};
use crate::{Error, Lsn, PageNo, PageSize, Result, SpaceId, bytes};

/// `FIL_PAGE_DATA`: where what the page's type says begins.
pub const DATA: usize = 38;

/// What must be known of a file to parse any of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFormat {
    /// The tablespace each page must name.
    pub space: SpaceId,
    /// Bytes in a page.
    pub page_size: PageSize,
    /// MariaDB's `full_crc32` files: other places for checksum and LSN.
    pub full_crc32: bool,
    /// MySQL 8 files that carry SDI; decides what page type 18 is.
    pub sdi: bool,
    /// Pages in the file: a pointer beyond is damage.
    pub size_pages: u32,
}

impl PageFormat {
    /// Refuses a pointer to nowhere, to the file's first page or past its end.
    pub fn require_inside(&self, page_no: PageNo, what: &str) -> Result<()> {
        if page_no.0 == 0 || page_no.0 >= self.size_pages {
            let number = page_no.non_null().map_or("FIL_NULL".into(), |page| page.to_string());
            return Err(Error::corrupt(format!(
                "{what} points to page {number} of {} pages",
                self.size_pages
            )));
        }
        Ok(())
    }
}

/// What a machine that reads pages asks of its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need<'a> {
    /// These pages, to be fed in this order. It may name other ones after any of them.
    Pages(&'a [PageNo]),
    /// Nothing more.
    Done,
}

/// A verified page.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    bytes: &'a [u8],
    format: PageFormat,
    page_no: PageNo,
    kind: PageKind,
}

impl<'a> Page<'a> {
    /// Proves that `bytes` are the whole page `expected` of the file `format` speaks of.
    ///
    /// A page of zeroes is what a file is extended with: it parses, as [`PageKind::Zeroes`].
    pub fn parse(bytes: &'a [u8], format: PageFormat, expected: PageNo) -> Result<Page<'a>> {
        Page::parse_inner(bytes, format, expected)
            .map_err(|error| error.at_page(format.space, expected))
    }

    fn parse_inner(bytes: &'a [u8], format: PageFormat, expected: PageNo) -> Result<Page<'a>> {
        if bytes.len() != format.page_size.len() {
            return Err(Error::corrupt(format!(
                "the page is cut short: {} of {} bytes",
                bytes.len(),
                format.page_size
            )));
        }
        if bytes::u64_at(bytes, 16)? == 0 && bytes.iter().all(|&byte| byte == 0) {
            return Ok(Page { bytes, format, page_no: expected, kind: PageKind::Zeroes });
        }
        let kind = PageKind::new(bytes::u16_at(bytes, 24)?, format.sdi);
        verify(bytes, format, kind)?;
        let page_no = PageNo(bytes::u32_at(bytes, 4)?);
        if page_no != expected {
            return Err(Error::corrupt(format!("the page says it is page {page_no}")));
        }
        let space = SpaceId(bytes::u32_at(bytes, 34)?);
        if space != format.space {
            return Err(Error::corrupt(format!("the page says it is of space {space}")));
        }
        kind.require_readable()?;
        Ok(Page { bytes, format, page_no, kind })
    }

    /// The whole page.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Of the file.
    pub fn format(&self) -> PageFormat {
        self.format
    }

    /// Where it is in the file.
    pub fn page_no(&self) -> PageNo {
        self.page_no
    }

    /// What it holds.
    pub fn kind(&self) -> PageKind {
        self.kind
    }

    /// The previous page of its level, where the kind has levels.
    pub fn prev(&self) -> Option<PageNo> {
        unverified_links(self.bytes).0
    }

    /// The next page of its level, where the kind has levels.
    pub fn next(&self) -> Option<PageNo> {
        unverified_links(self.bytes).1
    }

    /// The end of the newest change.
    pub fn lsn(&self) -> Lsn {
        Lsn(bytes::u64_at(self.bytes, 16).unwrap_or_default())
    }

    /// Adds this page to an error that has no place.
    pub fn locate_error(&self, error: Error) -> Error {
        error.at_page(self.format.space, self.page_no)
    }

    /// Damage found on this page.
    pub(crate) fn corrupt(&self, what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
        self.locate_error(Error::corrupt(what))
    }
}

/// The pages before and after one on its level, as its header names them, of bytes that nothing is
/// known of: a hint, for read-ahead.
pub fn unverified_links(bytes: &[u8]) -> (Option<PageNo>, Option<PageNo>) {
    let link = |at: usize| PageNo(bytes::u32_at(bytes, at).unwrap_or(u32::MAX)).non_null();
    (link(8), link(12))
}

/// Says which checksum algorithm a page satisfies; what `inspect` prints.
pub fn checksum_algorithm(bytes: &[u8], full_crc32: bool) -> Result<Algorithm> {
    if full_crc32 { checksum::verify_full_crc32(bytes) } else { checksum::verify(bytes) }
}

fn verify(page: &[u8], format: PageFormat, kind: PageKind) -> Result<()> {
    if format.full_crc32 {
        // The type's top bit says that the page is stored compressed, but where the file's flags
        // say nothing of that (the others are refused before), it is damage.
        checksum::verify_full_crc32(page)?;
        if bytes::u32_at(page, 0)? != 0 {
            return Err(PageKind::Encrypted.refusal());
        }
        let end = page.len().saturating_sub(8);
        if bytes::u32_at(page, 20)? != bytes::u32_at(page, end)? {
            return Err(Error::corrupt("the page's LSN differs between its head and its end"));
        }
        return Ok(());
    }
    if is_page_compressed(page, kind)? {
        return Err(kind.refusal());
    }
    checksum::verify(page).map_err(|error| {
        // MariaDB to 10.4 keeps the key version of an encrypted page where others keep zero, and a
        // checksum of the encrypted bytes elsewhere.
        match bytes::u32_at(page, 26) {
            Ok(key_version) if key_version != 0 && kind != PageKind::RTree => {
                encrypted_by_key(page, key_version).unwrap_or(error)
            }
            _ => error,
        }
    })?;
    Ok(())
}

/// Whether a page is stored compressed, without a checksum, by what else it says: MySQL's has
/// version, algorithm and compressed length behind the type (`FIL_PAGE_VERSION`, `fil0types.h`),
/// MariaDB's the magic number in place of a checksum. A damaged type says none of it.
fn is_page_compressed(page: &[u8], kind: PageKind) -> Result<bool> {
    const MYSQL: u16 = 14;
    Ok(match (kind, bytes::u16_at(page, 24)?) {
        (PageKind::PageCompressed, MYSQL) => {
            matches!(bytes::u8_at(page, 26)?, 1 | 2)
                && matches!(bytes::u8_at(page, 27)?, 1 | 2)
                && bytes::u16_at(page, 32)? > 0
        }
        (PageKind::PageCompressed | PageKind::CompressedAndEncrypted, _) => {
            bytes::u32_at(page, 0)? == checksum::NO_CHECKSUM_MAGIC
        }
        _ => false,
    })
}

/// The refusal of a page MariaDB encrypted, when its post-encryption checksum says it is one.
fn encrypted_by_key(page: &[u8], key_version: u32) -> Option<Error> {
    let stored = bytes::u32_at(page, 30).ok()?;
    let calculated = checksum::crc32(page).ok()?;
    let known = stored == calculated
        || stored == checksum::innodb_header(page).ok()?
        || stored == checksum::NO_CHECKSUM_MAGIC;
    (known && key_version < 1 << 24).then(|| PageKind::Encrypted.refusal())
}
