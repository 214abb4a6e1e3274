//! Opening of pages: bytes of a file are verified here only, and those stored in another form are
//! converted to the form in memory.

use super::{PageContext, PageFormat, PageKind};
use crate::checksum::{self, Algorithm};
use crate::{Error, Lsn, PageNo, Remedy, Result, SpaceId, bytes};

/// A verified page in its in-memory form. Only [`open`] creates one.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    bytes: &'a [u8],
    format: PageFormat,
    page_no: PageNo,
    kind: PageKind,
}

impl<'a> Page<'a> {
    /// Returns all bytes of the page, in their in-memory form.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the properties of the file's pages.
    pub fn format(&self) -> PageFormat {
        self.format
    }

    /// Returns the page number.
    pub fn page_no(&self) -> PageNo {
        self.page_no
    }

    /// Returns the page type.
    pub fn kind(&self) -> PageKind {
        self.kind
    }

    /// Returns the previous page of the level, for kinds with levels.
    pub fn prev(&self) -> Option<PageNo> {
        unverified_links(self.bytes).0
    }

    /// Returns the next page of the level, for kinds with levels.
    pub fn next(&self) -> Option<PageNo> {
        unverified_links(self.bytes).1
    }

    /// Returns the LSN at the end of the newest change.
    pub fn lsn(&self) -> Lsn {
        Lsn(bytes::u64_at(self.bytes, 16).unwrap_or_default())
    }

    /// Returns an owned copy.
    pub fn to_owned(&self) -> OwnedPage {
        let Page { bytes, format, page_no, kind } = *self;
        OwnedPage { bytes: bytes.into(), format, page_no, kind }
    }

    /// Adds this page to an error that has no place.
    pub fn locate_error(&self, error: Error) -> Error {
        error.at_page(self.format.space, self.page_no)
    }

    /// Creates an error for damage on this page.
    pub(crate) fn corrupt(&self, what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
        self.locate_error(Error::corrupt(what))
    }
}

/// An owned copy of a verified page.
#[derive(Clone, Debug)]
pub struct OwnedPage {
    bytes: Box<[u8]>,
    format: PageFormat,
    page_no: PageNo,
    kind: PageKind,
}

impl OwnedPage {
    /// Borrows the page.
    pub fn as_page(&self) -> Page<'_> {
        let OwnedPage { bytes, format, page_no, kind } = self;
        Page { bytes, format: *format, page_no: *page_no, kind: *kind }
    }
}

/// Buffer for pages that are not stored as they are in memory. It serves one page at a time; a
/// reader keeps one for all its pages.
#[derive(Debug, Default)]
pub struct Scratch {
    // No field is needed yet: files with transformed pages are refused.
    _page: (),
}

/// Opens a page: the only conversion from the bytes of a file to a [`Page`].
///
/// `raw` are the bytes of page `expected`, stored as `context` describes. Bytes stored in another
/// form are converted in `scratch`; checksum, page number and tablespace prove that the result is
/// the whole page `expected`. A page of zeroes, which extends a file, opens as
/// [`PageKind::Zeroes`].
///
/// # Errors
/// With the place, when the bytes are damaged or of another page, or when this version does not
/// read the form in which they are stored.
pub fn open<'a>(
    raw: &'a [u8],
    context: &PageContext,
    expected: PageNo,
    scratch: &'a mut Scratch,
) -> Result<Page<'a>> {
    let logical = transform(raw, context, scratch);
    logical
        .and_then(|bytes| proved(bytes, context.format(), expected))
        .map_err(|error| error.at_page(context.format().space, expected))
}

/// Converts a page's bytes to their in-memory form.
fn transform<'a>(
    raw: &'a [u8],
    context: &PageContext,
    _scratch: &'a mut Scratch,
) -> Result<&'a [u8]> {
    if raw.len() != context.physical_bytes() {
        return Err(Error::corrupt(format!(
            "the page is cut short: {} of {} bytes",
            raw.len(),
            context.physical_bytes()
        )));
    }
    if !context.is_plain() {
        return Err(compressed_refusal(context.physical_bytes()));
    }
    Ok(raw)
}

fn proved(bytes: &[u8], format: PageFormat, expected: PageNo) -> Result<Page<'_>> {
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
        return Err(Error::corrupt(format!("the page says it belongs to space {space}")));
    }
    kind.require_readable()?;
    Ok(Page { bytes, format, page_no, kind })
}

/// Creates the refusal of a file whose pages are compressed as a whole.
pub(super) fn compressed_refusal(physical_bytes: usize) -> Error {
    Error::unsupported(
        format!("ROW_FORMAT=COMPRESSED (KEY_BLOCK_SIZE={})", physical_bytes / 1024),
        Remedy::ConvertOnServer("ALTER TABLE ... ROW_FORMAT=DYNAMIC".into()),
    )
}

/// Returns the previous and next page of a page's level, from the header of unverified bytes: a
/// hint for read-ahead.
pub fn unverified_links(bytes: &[u8]) -> (Option<PageNo>, Option<PageNo>) {
    let link = |at: usize| PageNo(bytes::u32_at(bytes, at).unwrap_or(u32::MAX)).non_null();
    (link(8), link(12))
}

/// Returns the checksum algorithm that a page satisfies, for `inspect`.
pub fn checksum_algorithm(bytes: &[u8], full_crc32: bool) -> Result<Algorithm> {
    if full_crc32 { checksum::verify_full_crc32(bytes) } else { checksum::verify(bytes) }
}

fn verify(page: &[u8], format: PageFormat, kind: PageKind) -> Result<()> {
    if format.full_crc32 {
        // The type's top bit means that the page is stored compressed. Where the file's flags do
        // not announce that (files where they do are refused before), it is damage.
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
        // MariaDB to 10.4 stores the key version of an encrypted page where others store zero, and
        // a checksum of the encrypted bytes elsewhere.
        match bytes::u32_at(page, 26) {
            Ok(key_version) if key_version != 0 && kind != PageKind::RTree => {
                encrypted_by_key(page, key_version).unwrap_or(error)
            }
            _ => error,
        }
    })?;
    Ok(())
}

/// Returns whether a page without a checksum is stored compressed, judged by its other fields:
/// MySQL's has version, algorithm and compressed length behind the type (`FIL_PAGE_VERSION`,
/// `fil0types.h`), MariaDB's the magic number in place of a checksum. A damaged type has none of
/// them.
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

/// Creates the refusal of a page that MariaDB encrypted, if its post-encryption checksum confirms
/// that it did.
fn encrypted_by_key(page: &[u8], key_version: u32) -> Option<Error> {
    let stored = bytes::u32_at(page, 30).ok()?;
    let calculated = checksum::crc32(page).ok()?;
    let known = stored == calculated
        || stored == checksum::innodb_header(page).ok()?
        || stored == checksum::NO_CHECKSUM_MAGIC;
    (known && key_version < 1 << 24).then(|| PageKind::Encrypted.refusal())
}
