//! Opening of pages: bytes of a file are verified here only, and those stored in another form are
//! converted to the form in memory.

use super::compression::Form;
use super::kind::encrypted;
use super::zip::Unzipper;
use super::{PageContext, PageFormat, PageKind};
use crate::checksum::{self, Algorithm};
use crate::{Error, Lsn, PageNo, Result, SpaceId, bytes};

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

    /// Returns whether the page was decompressed, given the bytes that the file has of it.
    pub fn is_decompressed(&self, stored: &[u8]) -> bool {
        !std::ptr::eq(self.bytes.as_ptr(), stored.as_ptr())
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
    unzipper: Option<Box<Unzipper>>,
    page: Vec<u8>,
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
    let format = context.format();
    whole(raw, context)
        .and_then(|raw| match format.is_zip {
            true => proved_zip(raw, format, expected, scratch),
            false => match Form::of(raw, format.full_crc32, context.compression())? {
                Some(form) => proved_compressed(raw, form, format, expected, scratch),
                None => proved(raw, format, expected),
            },
        })
        .map_err(|error| error.at_page(format.space, expected))
}

/// Requires all bytes of a page.
fn whole<'a>(raw: &'a [u8], context: &PageContext) -> Result<&'a [u8]> {
    if raw.len() != context.physical_bytes() {
        return Err(Error::corrupt(format!(
            "the page is cut short: {} of {} bytes",
            raw.len(),
            context.physical_bytes()
        )));
    }
    Ok(raw)
}

/// Opens a page that is stored by page compression.
fn proved_compressed<'a>(
    raw: &[u8],
    form: Form,
    format: PageFormat,
    expected: PageNo,
    scratch: &'a mut Scratch,
) -> Result<Page<'a>> {
    scratch.page.resize(format.page_size.len(), 0);
    form.decompress(raw, &mut scratch.page)?;
    let page = &scratch.page;
    if !format.full_crc32 {
        return proved(page, format, expected);
    }
    // A `full_crc32` page has no checksum of its own inside.
    let kind = PageKind::new(bytes::u16_at(page, 24)?, format.sdi);
    require_one_lsn(page)?;
    placed(page, format, expected)?;
    Ok(Page { bytes: page, format, page_no: expected, kind })
}

/// Opens a page of a ROW_FORMAT=COMPRESSED file: B-tree pages are unzipped, the others are stored as they are
/// (`buf_zip_decompress`, `buf0buf.cc`, MySQL 8.0).
fn proved_zip<'a>(
    raw: &'a [u8],
    format: PageFormat,
    expected: PageNo,
    scratch: &'a mut Scratch,
) -> Result<Page<'a>> {
    if is_unwritten(raw)? {
        return Ok(Page { bytes: raw, format, page_no: expected, kind: PageKind::Zeroes });
    }
    let kind = PageKind::new(bytes::u16_at(raw, 24)?, format.sdi);
    // An encrypted page has its checksum inside.
    if matches!(kind, PageKind::Encrypted | PageKind::EncryptedRTree) {
        return Err(encrypted());
    }
    checksum::verify_compressed(raw)
        .map_err(|error| encrypted_by_key(raw, format).unwrap_or(error))?;
    placed(raw, format, expected)?;
    kind.require_readable()?;
    let bytes = match kind {
        PageKind::Index | PageKind::Sdi => {
            let unzipper = scratch.unzipper.get_or_insert_with(|| Box::new(Unzipper::new()));
            unzipper.unzip(raw, format.page_size.len())?
        }
        _ => raw,
    };
    Ok(Page { bytes, format, page_no: expected, kind })
}

fn proved(bytes: &[u8], format: PageFormat, expected: PageNo) -> Result<Page<'_>> {
    if is_unwritten(bytes)? {
        return Ok(Page { bytes, format, page_no: expected, kind: PageKind::Zeroes });
    }
    let kind = PageKind::new(bytes::u16_at(bytes, 24)?, format.sdi);
    verify(bytes, format, kind)?;
    placed(bytes, format, expected)?;
    kind.require_readable()?;
    Ok(Page { bytes, format, page_no: expected, kind })
}

/// Whether a page is all zeroes.
fn is_unwritten(bytes: &[u8]) -> Result<bool> {
    Ok(bytes::u64_at(bytes, 16)? == 0 && bytes.iter().all(|&byte| byte == 0))
}

/// Requires that a page says that it is page `expected` of its tablespace.
fn placed(bytes: &[u8], format: PageFormat, expected: PageNo) -> Result<()> {
    let page_no = PageNo(bytes::u32_at(bytes, 4)?);
    if page_no != expected {
        return Err(Error::corrupt(format!("the page says it is page {page_no}")));
    }
    let space = SpaceId(bytes::u32_at(bytes, 34)?);
    if space != format.space {
        return Err(Error::corrupt(format!("the page says it belongs to space {space}")));
    }
    Ok(())
}

/// Returns the previous and next page of a page's level, from the header of unverified bytes: a
/// hint for read-ahead.
pub fn unverified_links(bytes: &[u8]) -> (Option<PageNo>, Option<PageNo>) {
    let link = |at: usize| PageNo(bytes::u32_at(bytes, at).unwrap_or(u32::MAX)).non_null();
    (link(8), link(12))
}

/// Returns the checksum algorithm that a page satisfies, for `inspect`.
pub fn checksum_algorithm(bytes: &[u8], format: PageFormat) -> Result<Algorithm> {
    match (format.is_zip, format.full_crc32) {
        (true, _) => checksum::verify_compressed(bytes),
        (false, true) => checksum::verify_full_crc32(bytes),
        (false, false) => checksum::verify(bytes),
    }
}

fn verify(page: &[u8], format: PageFormat, kind: PageKind) -> Result<()> {
    if format.full_crc32 {
        checksum::verify_full_crc32(page)?;
        if bytes::u32_at(page, 0)? != 0 {
            return Err(encrypted());
        }
        return require_one_lsn(page);
    }
    if kind == PageKind::CompressedAndEncrypted
        && bytes::u32_at(page, 0)? == checksum::NO_CHECKSUM_MAGIC
    {
        return Err(encrypted());
    }
    match checksum::verify(page) {
        Ok(_) => Ok(()),
        Err(error) if kind == PageKind::RTree => Err(error),
        Err(error) => Err(encrypted_by_key(page, format).unwrap_or(error)),
    }
}

/// Requires that a `full_crc32` page has the same LSN at both ends.
fn require_one_lsn(page: &[u8]) -> Result<()> {
    let end = page.len().saturating_sub(8);
    match bytes::u32_at(page, 20)? == bytes::u32_at(page, end)? {
        true => Ok(()),
        false => Err(Error::corrupt("the page's LSN differs between its head and its end")),
    }
}

/// Creates the refusal of a page that MariaDB encrypted, if its post-encryption checksum confirms that it did:
/// MariaDB to 10.4, and later without `full_crc32`, stores the key version where others store zero, and a checksum
/// of the encrypted bytes behind it.
fn encrypted_by_key(page: &[u8], format: PageFormat) -> Option<Error> {
    let key_version = bytes::u32_at(page, 26).ok()?;
    let stored = bytes::u32_at(page, 30).ok()?;
    let is_known = stored == checksum::NO_CHECKSUM_MAGIC
        || match format.is_zip {
            true => stored == checksum::compressed_crc32(page).ok()?,
            false => {
                stored == checksum::crc32(page).ok()?
                    || stored == checksum::innodb_header(page).ok()?
            }
        };
    (is_known && (1..1 << 24).contains(&key_version)).then(encrypted)
}
