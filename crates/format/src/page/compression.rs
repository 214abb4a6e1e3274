//! Page compression: a page stored as the result of a compression algorithm, with a hole in the file after it.
//!
//! ```text
//! MySQL (type 14)      26 version 1, 2   27 algorithm   28 type   30 length   32 compressed length   38 stream
//!                      of the page from 38 on; its header is not compressed
//! MariaDB (34354)      0 0xDEADBEEF   26 algorithm (8 bytes)   38 compressed length   40 stream of the whole page
//!         (37401)      0 0xDEADBEEF   26 key version, 0 if not encrypted   38 compressed length   40 algorithm
//!                      42 stream of the whole page
//! MariaDB full_crc32   24 the type: 0x8000, and the stored size / 256   26 stream of the whole page
//!                      size-5 low byte of the stream's end, and 5   size-4 checksum of what is stored
//! ```
//!
//! `Compression::deserialize`, `os/file.cc`, MySQL 8.0; `fil_page_decompress`, `fil0pagecompress.cc`,
//! `buf_page_full_crc32_size`, `buf0buf.h`, MariaDB 10.11.

use bzip2::Decompress;
use lzma_rust2::{Action, XzStream};
use zlib_rs::{Inflate, InflateFlush, Status};

use super::DATA;
use super::verified::{Verified, require_unencrypted};
use crate::checksum::{self, NO_CHECKSUM_MAGIC};
use crate::{Error, Result, bytes};

/// `FIL_PAGE_TYPE`.
const TYPE: usize = 24;
/// `FIL_PAGE_COMP_ALGO` and the fields in its place: the start of a `full_crc32` stream.
const ALGORITHM: usize = 26;
/// MySQL's page type for page compression (`FIL_PAGE_COMPRESSED`).
const MYSQL: u16 = 14;
/// MariaDB's page type for page compression (`FIL_PAGE_PAGE_COMPRESSED`).
const MARIADB: u16 = 34354;
/// MariaDB's page type for page compression of pages that may be encrypted
/// (`FIL_PAGE_PAGE_COMPRESSED_ENCRYPTED`).
const MARIADB_ENCRYPTED: u16 = 37401;
/// The bit of the type by which `full_crc32` marks a compressed page (`FIL_PAGE_COMPRESS_FCRC32_MARKER`).
const FULL_CRC32_MARK: u16 = 0x8000;

/// The most memory for a stream of lzma, in KiB: the dictionary of its highest level, and some for the decoder.
const LZMA_KIB_MAX: u32 = 80 << 10;

/// The algorithms of page compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCompression {
    /// zlib, with its header.
    Zlib,
    /// An LZ4 block.
    Lz4,
    /// LZO1X.
    Lzo,
    /// lzma, in an .xz container without check.
    Lzma,
    /// bzip2.
    Bzip2,
    /// Raw Snappy.
    Snappy,
}

/// The form in which a page is stored compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    MySql,
    MariaDb,
    /// Compressed by MariaDB, and encrypted before or not.
    MariaDbEncrypted,
    FullCrc32(PageCompression),
}

impl PageCompression {
    /// Returns MariaDB's algorithm by its number (`PAGE_*_ALGORITHM`, `fsp0types.h`); 0 is none.
    pub fn of_mariadb(number: u32) -> Option<PageCompression> {
        Some(match number {
            1 => PageCompression::Zlib,
            2 => PageCompression::Lz4,
            3 => PageCompression::Lzo,
            4 => PageCompression::Lzma,
            5 => PageCompression::Bzip2,
            6 => PageCompression::Snappy,
            _ => return None,
        })
    }

    /// Decompresses a stream to exactly the bytes of `page`. What follows the stream is ignored by the
    /// algorithms whose streams show their end.
    fn decompress(self, stream: &[u8], page: &mut [u8]) -> Result<()> {
        let len = page.len();
        let (name, given) = match self {
            PageCompression::Zlib => ("zlib", unzip(stream, page)),
            PageCompression::Lz4 => {
                ("lz4", lz4_flex::block::decompress_into(stream, page).map_err(text))
            }
            PageCompression::Lzo => {
                ("lzo", lzokay::decompress::decompress(stream, page).map_err(text))
            }
            PageCompression::Lzma => ("lzma", unxz(stream, page)),
            PageCompression::Bzip2 => ("bzip2", bunzip2(stream, page)),
            PageCompression::Snappy => {
                ("snappy", snap::raw::Decoder::new().decompress(stream, page).map_err(text))
            }
        };
        let why = match given {
            Ok(given) if given == len => return Ok(()),
            Ok(given) => format!("{given} bytes, where {len} are expected"),
            Err(why) => why,
        };
        Err(Error::corrupt(format!("the compressed page ({name}) does not decompress: {why}")))
    }
}

#[cold]
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn unzip(stream: &[u8], page: &mut [u8]) -> std::result::Result<usize, String> {
    let mut inflate = Inflate::new(true, 15);
    match inflate.decompress(stream, page, InflateFlush::Finish) {
        Ok(Status::StreamEnd) => Ok(inflate.total_out() as usize),
        Ok(_) => Err("it does not end where it should".into()),
        Err(error) => Err(error.as_str().into()),
    }
}

fn unxz(stream: &[u8], page: &mut [u8]) -> std::result::Result<usize, String> {
    let mut state = XzStream::new_mem_limit(false, LZMA_KIB_MAX);
    let mut given = 0;
    loop {
        let rest = stream.get(state.total_in() as usize..).unwrap_or_default();
        let room = page.get_mut(given..).unwrap_or_default();
        let result = state.process(rest, room, Action::Finish).map_err(text)?;
        given += result.bytes_produced;
        let has_ended = result.status == lzma_rust2::Status::StreamEnd;
        if has_ended || result.bytes_produced + result.bytes_consumed == 0 {
            return Ok(given);
        }
    }
}

fn bunzip2(stream: &[u8], page: &mut [u8]) -> std::result::Result<usize, String> {
    let mut state = Decompress::new(false);
    match state.decompress(stream, page) {
        Ok(bzip2::Status::StreamEnd) => Ok(state.total_out() as usize),
        Ok(_) => Err("it does not end where it should".into()),
        Err(error) => Err(error.to_string()),
    }
}

impl Form {
    /// Returns the form of a page; `None` for one that is stored as it is. `of_file`: the algorithm in the flags
    /// of a `full_crc32` file. A page type alone could be damaged, so the other fields are compared too.
    pub fn of(
        raw: &[u8],
        full_crc32: bool,
        of_file: Option<PageCompression>,
    ) -> Result<Option<Form>> {
        let kind = bytes::u16_at(raw, TYPE)?;
        if full_crc32 {
            return Ok(of_file.filter(|_| kind & FULL_CRC32_MARK != 0).map(Form::FullCrc32));
        }
        Ok(match kind {
            MYSQL => (matches!(bytes::u8_at(raw, 26)?, 1 | 2)
                && matches!(bytes::u8_at(raw, 27)?, 1 | 2)
                && bytes::u16_at(raw, 32)? > 0)
                .then_some(Form::MySql),
            MARIADB | MARIADB_ENCRYPTED if bytes::u32_at(raw, 0)? != NO_CHECKSUM_MAGIC => None,
            MARIADB => Some(Form::MariaDb),
            MARIADB_ENCRYPTED => Some(Form::MariaDbEncrypted),
            _ => None,
        })
    }

    /// Decompresses a page to `page`, which has its size in memory. Where the stored form has a checksum of its
    /// own, it is verified, unless it was already.
    pub fn decompress(self, raw: &[u8], verified: Verified, page: &mut [u8]) -> Result<()> {
        match self {
            Form::MySql => decompress_mysql(raw, page),
            Form::MariaDb => decompress_mariadb(raw, bytes::u64_at(raw, ALGORITHM)?, 2, page),
            Form::MariaDbEncrypted => {
                decompress_mariadb(raw, u64::from(bytes::u16_at(raw, DATA + 2)?), 4, page)
            }
            Form::FullCrc32(algorithm) => {
                let stored = full_crc32_stored(raw)?;
                if verified == Verified::Nothing {
                    checksum::verify_full_crc32(stored)?;
                    require_unencrypted(raw)?;
                }
                let end = full_crc32_stream_end(algorithm, stored)?;
                let len = end.checked_sub(ALGORITHM).ok_or_else(|| {
                    Error::corrupt("the compressed page has no room for what it holds")
                })?;
                algorithm.decompress(bytes::slice(stored, ALGORITHM, len)?, page)
            }
        }
    }
}

/// Decompresses a page by the algorithm of a number; `stream_at`: where the stream begins after its length.
fn decompress_mariadb(raw: &[u8], number: u64, stream_at: usize, page: &mut [u8]) -> Result<()> {
    let algorithm = u32::try_from(number).ok().and_then(PageCompression::of_mariadb);
    let algorithm = algorithm.ok_or_else(|| unknown_algorithm(number))?;
    let len = usize::from(bytes::u16_at(raw, DATA)?);
    algorithm.decompress(bytes::slice(raw, DATA + stream_at, len)?, page)
}

#[cold]
fn unknown_algorithm(number: u64) -> Error {
    Error::corrupt(format!("the page is compressed by algorithm {number}, which does not exist"))
}

fn decompress_mysql(raw: &[u8], page: &mut [u8]) -> Result<()> {
    let algorithm = match bytes::u8_at(raw, 27)? {
        1 => PageCompression::Zlib,
        2 => PageCompression::Lz4,
        other => return Err(unknown_algorithm(u64::from(other))),
    };
    let kind = bytes::slice(raw, 28, 2)?;
    let (len, stream_len) = (bytes::u16_at(raw, 30)?, bytes::u16_at(raw, 32)?);
    let stream = bytes::slice(raw, DATA, usize::from(stream_len))?;
    let split = page.split_at_mut_checked(DATA).filter(|(_, body)| body.len() == usize::from(len));
    let Some((head, body)) = split else {
        return Err(Error::corrupt(format!("the compressed page is said to hold {len} bytes")));
    };
    algorithm.decompress(stream, body)?;
    // No checksum covers the bytes between the type and the tablespace id.
    let fields = [bytes::slice(raw, 0, TYPE)?, kind, &[0; 8], bytes::slice(raw, 34, 4)?];
    head.copy_from_slice(&fields.concat());
    Ok(())
}

/// The bytes that a `full_crc32` page has in the file: fewer than the page if it is compressed.
pub(super) fn full_crc32_stored(raw: &[u8]) -> Result<&[u8]> {
    match bytes::u16_at(raw, TYPE)? {
        kind if kind & FULL_CRC32_MARK != 0 => bytes::slice(raw, 0, usize::from(kind & 0xFF) << 8),
        _ => Ok(raw),
    }
}

/// The end of a `full_crc32` page's stream, from the start of the page; with the algorithms that need it, its low
/// byte stands before the checksum.
fn full_crc32_stream_end(algorithm: PageCompression, stored: &[u8]) -> Result<usize> {
    let end = stored.len().saturating_sub(5);
    let shows_end =
        matches!(algorithm, PageCompression::Zlib | PageCompression::Lzma | PageCompression::Bzip2);
    if shows_end {
        return Ok(end + 1);
    }
    Ok(match usize::from(bytes::u8_at(stored, end)?) {
        0 => end,
        low => end.saturating_sub(256 - low),
    })
}
