//! Sealing of a page that was changed in memory: its LSN and checksum, so that [`super::open`] accepts
//! it.

use super::PageFormat;
use crate::bytes::{put, slice};
use crate::{Lsn, Result, checksum};

/// `FIL_PAGE_LSN`.
const LSN_AT: usize = 16;

/// Writes the LSN and the checksum of a page as the file stores it, neither encrypted nor by page
/// compression. `page` has the physical size.
///
/// # Errors
/// The page is shorter than its head.
pub fn seal(page: &mut [u8], format: PageFormat, lsn: Lsn) -> Result<()> {
    put(page, LSN_AT, &lsn.0.to_be_bytes())?;
    if format.is_zip {
        let sum = checksum::compressed_crc32(page)?;
        return put(page, 0, &sum.to_be_bytes());
    }
    let end = page.len();
    let low_half: [u8; 4] = crate::bytes::array(slice(page, LSN_AT + 4, 4)?, 0)?;
    if format.full_crc32 {
        put(page, end.saturating_sub(8), &low_half)?;
        let sum = checksum::full_crc32(page)?;
        return put(page, end.saturating_sub(4), &sum.to_be_bytes());
    }
    put(page, end.saturating_sub(4), &low_half)?;
    let sum = checksum::crc32(page)?.to_be_bytes();
    put(page, 0, &sum)?;
    put(page, end.saturating_sub(8), &sum)
}
