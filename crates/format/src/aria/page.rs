//! Pages of a `.MAD` file: bitmaps, head pages and tail pages, and their checksums.
//!
//! Sources: ma_blockrec.h, `get_record_position` and `_ma_scan_block_record` (ma_blockrec.c),
//! `_ma_bitmap_init` (ma_bitmap.c), `maria_page_crc_check` (ma_pagecrc.c), MariaDB 10.11.

use crate::{Error, Result, bytes};

/// Bytes of the checksum at the end of each page (`PAGE_SUFFIX_SIZE`).
pub(super) const SUFFIX_BYTES: usize = 4;
/// Bytes before a blob page's data (`FULL_PAGE_HEADER_SIZE`).
pub(super) const BLOB_HEADER_BYTES: usize = 8;
/// Bytes before a head or tail page's rows (`PAGE_HEADER_SIZE`).
const HEADER_BYTES: usize = 12;
const TYPE_AT: usize = 7;
const ENTRIES_AT: usize = 8;
const ENTRY_BYTES: usize = 4;

/// The value in place of a checksum on a page without one (`MARIA_NO_CRC_NORMAL_PAGE`).
const NO_CHECKSUM: u32 = 0xffff_ffff;
/// The value in place of a checksum on a bitmap page without one.
const NO_CHECKSUM_OF_BITMAP: u32 = 0xffff_fffe;

/// The maximum number that a bitmap has for a head page; 1 is the minimum.
const BITMAP_ENTRY_HEAD: u8 = 4;

/// The type of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageType {
    /// Unused.
    Unallocated,
    /// First parts of rows.
    Head,
    /// Last parts of rows, and of BLOBs.
    Tail,
    /// A part of one row.
    Blob,
}

/// Returns the type of a page other than a bitmap page, which has no type.
pub fn page_type(page: &[u8]) -> Result<PageType> {
    Ok(match bytes::u8_at(page, TYPE_AT)? & 7 {
        0 => PageType::Unallocated,
        1 => PageType::Head,
        2 => PageType::Tail,
        3 => PageType::Blob,
        other => return Err(Error::corrupt(format!("unknown page type {other}"))),
    })
}

/// Refuses a page whose checksum does not match its bytes. Pages of tables with `PAGE_CHECKSUM=0`
/// have none.
pub fn require_checksum(page: &[u8], page_no: u64, is_bitmap: bool) -> Result<()> {
    let data_bytes = page.len().saturating_sub(SUFFIX_BYTES);
    let said = bytes::u32_le_at(page, data_bytes)?;
    let none = if is_bitmap { NO_CHECKSUM_OF_BITMAP } else { NO_CHECKSUM };
    if said == none {
        return Ok(());
    }
    let data = bytes::slice(page, 0, data_bytes)?;
    let mut sum = crc32fast::Hasher::new_with_initial(page_no as u32);
    sum.update(data);
    let sum = sum.finalize().min(NO_CHECKSUM_OF_BITMAP - 1);
    // A bitmap page that was never written is all zeros.
    if sum == said || is_bitmap && page.iter().all(|byte| *byte == 0) {
        return Ok(());
    }
    Err(Error::corrupt(format!("checksum mismatch: stored {said:08x}, calculated {sum:08x}")))
}

/// A bitmap page: the types of the pages after it.
#[derive(Clone, Copy, Debug)]
pub struct Bitmap<'a> {
    page: &'a [u8],
}

impl<'a> Bitmap<'a> {
    /// Returns the distance in pages between bitmap pages, for pages of `page_bytes`.
    pub fn step(page_bytes: usize) -> u64 {
        (page_bytes.saturating_sub(SUFFIX_BYTES) / 6 * 16 + 1) as u64
    }

    /// Creates the bitmap of a page whose checksum is verified.
    pub fn new(page: &'a [u8]) -> Bitmap<'a> {
        Bitmap { page }
    }

    /// Returns whether the `n`th page after the bitmap's is a head page. `n` begins at 0.
    pub fn is_head(self, n: u64) -> bool {
        let bit = 3 * n as usize;
        let low = self.page.get(bit / 8).copied().unwrap_or(0);
        let high = self.page.get(bit / 8 + 1).copied().unwrap_or(0);
        let number = (u16::from_le_bytes([low, high]) >> (bit % 8)) as u8 & 7;
        (1..=BITMAP_ENTRY_HEAD).contains(&number)
    }
}

/// Returns the number of entries on a head or tail page, including free ones.
pub fn entries(page: &[u8]) -> Result<u8> {
    bytes::u8_at(page, ENTRIES_AT)
}

/// Returns the bytes of an entry of a head or tail page; `None` if it is free.
pub fn entry(page: &[u8], number: u8) -> Result<Option<&[u8]>> {
    let n_entries = entries(page)?;
    if number >= n_entries {
        return Err(Error::corrupt(format!("a page of {n_entries} entries has no entry {number}")));
    }
    let directory_end = page.len().saturating_sub(SUFFIX_BYTES);
    let directory = directory_end.saturating_sub(ENTRY_BYTES * usize::from(n_entries));
    let at = directory_end.saturating_sub(ENTRY_BYTES * (usize::from(number) + 1));
    let start = usize::from(bytes::u16_le_at(page, at)?);
    let len = usize::from(bytes::u16_le_at(page, at + 2)?);
    if start == 0 {
        return Ok(None);
    }
    if start < HEADER_BYTES || start + len > directory {
        return Err(Error::corrupt(format!("entry {number} has {len} bytes from {start}")));
    }
    bytes::slice(page, start, len).map(Some)
}
