//! Opening of pages: bytes of a file are verified here only, and those stored in another form are
//! converted to the form in memory.

use super::compression::Form;
use super::encryption::decrypt;
use super::verified::{Verified, encrypted_without_info, require_unencrypted};
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
    stored_as: StoredAs,
}

/// How a file stores a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredAs {
    /// As it is in memory.
    Plain,
    /// Encrypted, and not compressed.
    Encrypted,
    /// Compressed, and maybe encrypted.
    Compressed,
}

impl<'a> Page<'a> {
    /// Returns all bytes of the page, in their in-memory form.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns how the file stores the page.
    pub fn stored_as(&self) -> StoredAs {
        self.stored_as
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
        let Page { bytes, format, page_no, kind, stored_as } = *self;
        OwnedPage { bytes: bytes.into(), format, page_no, kind, stored_as }
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
    stored_as: StoredAs,
}

impl OwnedPage {
    /// Borrows the page.
    pub fn as_page(&self) -> Page<'_> {
        let OwnedPage { bytes, format, page_no, kind, stored_as } = self;
        Page { bytes, format: *format, page_no: *page_no, kind: *kind, stored_as: *stored_as }
    }
}

/// Buffers for pages that are not stored as they are in memory. They serve one page at a time; a
/// reader keeps them for all its pages.
#[derive(Debug, Default)]
pub struct Scratch {
    decrypted: Vec<u8>,
    rest: Decompressed,
}

/// Buffers for compressed pages.
#[derive(Debug, Default)]
struct Decompressed {
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
/// With the place, when the bytes are damaged or of another page, when their key is not known, or when this version
/// does not read the form in which they are stored.
pub fn open<'a>(
    raw: &'a [u8],
    context: &PageContext,
    expected: PageNo,
    scratch: &'a mut Scratch,
) -> Result<Page<'a>> {
    let format = context.format();
    whole(raw, context)
        .and_then(|raw| match is_unwritten(raw)? {
            true => Ok(Page {
                bytes: raw,
                format,
                page_no: expected,
                kind: PageKind::Zeroes,
                stored_as: StoredAs::Plain,
            }),
            false => opened(raw, context, expected, scratch),
        })
        .map_err(|error| context.explain(error).at_page(format.space, expected))
}

/// Decrypts a page with ROW_FORMAT=COMPRESSED to its compressed form, without a checksum of its own; `None` if it is not
/// encrypted.
///
/// # Errors
/// As [`open`].
pub fn decrypted_zip<'a>(
    raw: &[u8],
    context: &PageContext,
    expected: PageNo,
    scratch: &'a mut Scratch,
) -> Result<Option<&'a [u8]>> {
    let format = context.format();
    let Scratch { decrypted, rest } = scratch;
    let is_sound = |plain: &[u8], _| proved_zip(plain, format, expected, rest).is_ok();
    let verified = whole(raw, context)
        .and_then(|raw| decrypt(raw, (context.encryption(), format), expected, decrypted, is_sound))
        .map_err(|error| context.explain(error).at_page(format.space, expected))?;
    Ok(verified.map(|_| &decrypted[..]))
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

/// Opens a page, after it is decrypted if it was encrypted.
fn opened<'a>(
    raw: &'a [u8],
    context: &PageContext,
    expected: PageNo,
    Scratch { decrypted, rest }: &'a mut Scratch,
) -> Result<Page<'a>> {
    let is_sound = |plain: &[u8], verified: Verified| {
        decompressed(plain, verified, context, expected, rest).is_ok()
    };
    match decrypt(raw, (context.encryption(), context.format()), expected, decrypted, is_sound)? {
        None => decompressed(raw, Verified::Nothing, context, expected, rest),
        Some(verified) => {
            let page = decompressed(decrypted, verified, context, expected, rest)?;
            Ok(match page.stored_as {
                StoredAs::Plain => Page { stored_as: StoredAs::Encrypted, ..page },
                _ => page,
            })
        }
    }
}

/// Opens a page that is not encrypted, after it is decompressed if it was compressed.
fn decompressed<'a>(
    raw: &'a [u8],
    verified: Verified,
    context: &PageContext,
    expected: PageNo,
    rest: &'a mut Decompressed,
) -> Result<Page<'a>> {
    let format = context.format();
    if format.is_zip {
        return proved_zip(raw, format, expected, rest);
    }
    match Form::of(raw, format.full_crc32, context.compression())? {
        Some(form) => {
            rest.page.resize(format.page_size.len(), 0);
            form.decompress(raw, verified, &mut rest.page)?;
            // A compressed `full_crc32` page has no checksum of its own inside.
            let page = proved(&rest.page, Verified::Stored, format, expected)?;
            Ok(Page { stored_as: StoredAs::Compressed, ..page })
        }
        None => proved(raw, verified, format, expected),
    }
}

/// Opens a page of a ROW_FORMAT=COMPRESSED file: B-tree pages are unzipped, the others are stored as they are
/// (`buf_zip_decompress`, `buf0buf.cc`, MySQL 8.0).
fn proved_zip<'a>(
    raw: &'a [u8],
    format: PageFormat,
    expected: PageNo,
    rest: &'a mut Decompressed,
) -> Result<Page<'a>> {
    checksum::verify_compressed(raw).map_err(|error| why_unsound(raw, format, error))?;
    placed(raw, format, expected)?;
    let kind = PageKind::new(bytes::u16_at(raw, 24)?, format.sdi);
    let (bytes, stored_as) = match kind {
        PageKind::Index | PageKind::Sdi => {
            let unzipper = rest.unzipper.get_or_insert_with(|| Box::new(Unzipper::new()));
            (unzipper.unzip(raw, format.page_size.len())?, StoredAs::Compressed)
        }
        _ => (raw, StoredAs::Plain),
    };
    Ok(Page { bytes, format, page_no: expected, kind, stored_as })
}

/// Opens a page that is stored as it is in memory. `verified`: whether a checksum of `full_crc32` is verified already.
fn proved(
    bytes: &[u8],
    verified: Verified,
    format: PageFormat,
    expected: PageNo,
) -> Result<Page<'_>> {
    let kind = PageKind::new(bytes::u16_at(bytes, 24)?, format.sdi);
    match format.full_crc32 {
        true => {
            if verified == Verified::Nothing {
                checksum::verify_full_crc32(bytes)?;
                require_unencrypted(bytes)?;
            }
            require_one_lsn(bytes)?;
        }
        false => {
            checksum::verify(bytes).map_err(|error| why_unsound(bytes, format, error))?;
        }
    }
    placed(bytes, format, expected)?;
    Ok(Page { bytes, format, page_no: expected, kind, stored_as: StoredAs::Plain })
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

/// Requires that a `full_crc32` page has the same LSN at both ends.
fn require_one_lsn(page: &[u8]) -> Result<()> {
    let end = page.len().saturating_sub(8);
    match bytes::u32_at(page, 20)? == bytes::u32_at(page, end)? {
        true => Ok(()),
        false => Err(Error::corrupt("the page's LSN differs between its head and its end")),
    }
}

/// The error of a page without a right checksum in a file whose page 0 names no key: another one, if the page is
/// encrypted nevertheless. MariaDB stores the key version where others store zero, and a checksum of the encrypted
/// bytes behind it.
#[cold]
fn why_unsound(page: &[u8], format: PageFormat, error: Error) -> Error {
    let key_version = bytes::u32_at(page, 26).unwrap_or_default();
    let is_encrypted = (1..1 << 24).contains(&key_version)
        && PageKind::new(bytes::u16_at(page, 24).unwrap_or_default(), false) != PageKind::RTree
        && checksum::is_of_encrypted(page, format.is_zip).unwrap_or_default();
    if is_encrypted { encrypted_without_info(key_version) } else { error }
}
