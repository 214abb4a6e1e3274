//! Page checksums: which ones each server writes, and which it accepts.
//!
//! ```text
//! all but full_crc32      0 checksum        ...        size-8 checksum   size-4 low half of LSN
//! MariaDB full_crc32      0 key version     ...        size-8 low half of LSN   size-4 checksum
//! ```
//!
//! Servers without `innodb_checksum_algorithm=strict_*` accept a page that satisfies any algorithm,
//! since the setting may have changed during the file's life (`buf0checksum.cc`, `checksum.cc` of
//! MySQL 8; `buf0buf.cc` `buf_page_is_corrupted` of MariaDB).

use std::fmt;

use crc_fast::crc32_iscsi;
use zlib_rs::adler32::adler32;

use crate::bytes;
use crate::{Error, Result};

/// The checksum algorithms a page can satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// CRC-32C of the page except its checksums, LSN copy, flush LSN and space id.
    Crc32,
    /// [`Algorithm::Crc32`] with each 8 bytes reversed: written by mistake on big-endian machines.
    Crc32BigEndian,
    /// `ut_fold_binary`, one formula at each end of the page: the default before MySQL 5.7.
    InnoDb,
    /// `0xDEADBEEF` in place of both checksums.
    None,
    /// MariaDB 10.5: CRC-32C of the whole page except its last 4 bytes.
    FullCrc32,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Crc32 => "crc32",
            Algorithm::Crc32BigEndian => "crc32 (big-endian)",
            Algorithm::InnoDb => "innodb",
            Algorithm::None => "none",
            Algorithm::FullCrc32 => "full_crc32",
        })
    }
}

/// `BUF_NO_CHECKSUM_MAGIC`: stored in place of a checksum that was not calculated
/// (`buf0checksum.h`).
pub const NO_CHECKSUM_MAGIC: u32 = 0xDEAD_BEEF;

/// `FIL_PAGE_FILE_FLUSH_LSN`: the old algorithms skip the bytes from here to [`DATA`].
const FLUSH_LSN: usize = 26;
/// `FIL_PAGE_DATA`.
const DATA: usize = 38;

/// Verifies a whole page of a file without `full_crc32`; returns the algorithm that the page
/// satisfies.
pub fn verify(page: &[u8]) -> Result<Algorithm> {
    let trailer = page.len().saturating_sub(8);
    let header_sum = bytes::u32_at(page, 0)?;
    let trailer_sum = bytes::u32_at(page, trailer)?;
    if bytes::u32_at(page, 20)? != bytes::u32_at(page, trailer + 4)? {
        return Err(Error::corrupt(format!(
            "the page's LSN differs between its head and its end ({:#x}, {:#x}): a torn write",
            bytes::u32_at(page, 20)?,
            bytes::u32_at(page, trailer + 4)?
        )));
    }
    // Only an empty page has zeroes in all three (`BlockReporter::is_corrupted`, MySQL 8.0), and it is not verified.
    if header_sum == 0 && trailer_sum == 0 && bytes::u64_at(page, 16)? == 0 {
        let what = "the page's checksums and LSN are zeroes, and the rest is not: a torn write";
        return Err(Error::corrupt(what));
    }
    if header_sum == trailer_sum {
        if header_sum == NO_CHECKSUM_MAGIC {
            return Ok(Algorithm::None);
        }
        if header_sum == crc32(page)? {
            return Ok(Algorithm::Crc32);
        }
        if header_sum == crc32_big_endian(page)? {
            return Ok(Algorithm::Crc32BigEndian);
        }
    }
    // Versions before 4.0 stored the LSN's high half in place of the trailer's checksum, and none
    // in the header; servers still accept both.
    let header_ok = |sum: u32| -> Result<bool> {
        Ok(sum == 0 || sum == NO_CHECKSUM_MAGIC || sum == innodb_header(page)?)
    };
    let trailer_ok = |sum: u32| -> Result<bool> {
        Ok(sum == bytes::u32_at(page, 16)? || sum == innodb_trailer(page)?)
    };
    if trailer_ok(trailer_sum)? && header_ok(header_sum)? {
        return Ok(Algorithm::InnoDb);
    }
    Err(Error::corrupt(format!(
        "checksum mismatch: stored {header_sum:#010x} and {trailer_sum:#010x}, calculated crc32 \
         {:#010x}, innodb {:#010x} and {:#010x}",
        crc32(page)?,
        innodb_header(page)?,
        innodb_trailer(page)?
    )))
}

/// Verifies a whole page of a `full_crc32` file that is neither encrypted nor compressed.
pub fn verify_full_crc32(page: &[u8]) -> Result<Algorithm> {
    let end = page.len().saturating_sub(4);
    let stored = bytes::u32_at(page, end)?;
    let calculated = full_crc32(page)?;
    if stored != calculated {
        return Err(Error::corrupt(format!(
            "checksum mismatch: stored {stored:#010x}, calculated full_crc32 {calculated:#010x}"
        )));
    }
    Ok(Algorithm::FullCrc32)
}

/// Verifies a page of a ROW_FORMAT=COMPRESSED file as it is stored; returns the algorithm that it satisfies.
/// Neither the LSN nor bytes 26 to 33 are covered, and there is nothing at the end
/// (`BlockReporter::calc_zip_checksum`, `checksum.cc`, MySQL 8.0).
pub fn verify_compressed(page: &[u8]) -> Result<Algorithm> {
    let stored = bytes::u32_at(page, 0)?;
    let crc32 = compressed_crc32(page)?;
    if stored == crc32 {
        return Ok(Algorithm::Crc32);
    }
    // Adler-32, begun with 0 in place of 1.
    let adler = compressed_parts(page)?.into_iter().fold(0, adler32);
    if stored == adler {
        return Ok(Algorithm::InnoDb);
    }
    if stored == NO_CHECKSUM_MAGIC {
        return Ok(Algorithm::None);
    }
    Err(Error::corrupt(format!(
        "checksum mismatch: stored {stored:#010x}, calculated crc32 {crc32:#010x}, innodb {adler:#010x}"
    )))
}

/// Calculates the checksum of a page of a ROW_FORMAT=COMPRESSED file with `innodb_checksum_algorithm=crc32`.
pub fn compressed_crc32(page: &[u8]) -> Result<u32> {
    Ok(compressed_parts(page)?.into_iter().fold(0, |sum, part| sum ^ crc32_iscsi(part)))
}

/// Returns whether bytes 30 to 33 are a checksum of the page as it is stored: what MariaDB writes over an encrypted
/// page without `full_crc32` (`fil_space_verify_crypt_checksum`, `fil0crypt.cc`, MariaDB 10.11).
pub fn is_of_encrypted(page: &[u8], is_zip: bool) -> Result<bool> {
    let stored = bytes::u32_at(page, 30)?;
    Ok(stored == NO_CHECKSUM_MAGIC
        || match is_zip {
            true => stored == compressed_crc32(page)?,
            false => stored == crc32(page)? || stored == innodb_header(page)?,
        })
}

/// The ranges of a compressed page that its checksum covers.
fn compressed_parts(page: &[u8]) -> Result<[&[u8]; 3]> {
    let body = bytes::slice(page, FLUSH_LSN + 8, page.len().saturating_sub(FLUSH_LSN + 8))?;
    Ok([bytes::slice(page, 4, 12)?, bytes::slice(page, 24, 2)?, body])
}

/// Calculates the checksum that both ends of a page hold with `innodb_checksum_algorithm=crc32`.
pub fn crc32(page: &[u8]) -> Result<u32> {
    let (head, body) = parts(page)?;
    Ok(crc32_iscsi(head) ^ crc32_iscsi(body))
}

/// Calculates the checksum in the last 4 bytes of a `full_crc32` page.
pub fn full_crc32(page: &[u8]) -> Result<u32> {
    Ok(crc32_iscsi(bytes::slice(page, 0, page.len().saturating_sub(4))?))
}

/// Calculates the header's checksum with `innodb_checksum_algorithm=innodb`
/// (`buf_calc_page_new_checksum`).
pub fn innodb_header(page: &[u8]) -> Result<u32> {
    let (head, body) = parts(page)?;
    Ok(fold(head).wrapping_add(fold(body)))
}

/// Calculates the trailer's checksum with `innodb_checksum_algorithm=innodb`
/// (`buf_calc_page_old_checksum`). It covers the header's checksum, which must be calculated first.
pub fn innodb_trailer(page: &[u8]) -> Result<u32> {
    Ok(fold(bytes::slice(page, 0, FLUSH_LSN)?))
}

/// The two ranges of a page that the old algorithms cover.
fn parts(page: &[u8]) -> Result<(&[u8], &[u8])> {
    let head = bytes::slice(page, 4, FLUSH_LSN - 4)?;
    let body = bytes::slice(page, DATA, page.len().saturating_sub(DATA + 8))?;
    Ok((head, body))
}

/// `ut_fold_binary` in 32 bits, to which the servers truncate their 64-bit result (`ut0rnd.h`).
fn fold(bytes: &[u8]) -> u32 {
    const MASK: u32 = 1_463_735_687;
    const MASK2: u32 = 1_653_893_711;
    bytes.iter().fold(0u32, |fold, &byte| {
        let byte = u32::from(byte);
        let mixed = (fold ^ byte ^ MASK2).wrapping_shl(8).wrapping_add(fold);
        (mixed ^ MASK).wrapping_add(byte)
    })
}

/// The words are aligned to 8 bytes of the page: they begin at offsets 8 and 40.
fn crc32_big_endian(page: &[u8]) -> Result<u32> {
    let (head, body) = parts(page)?;
    Ok(crc32_of_swapped_words(head, 4) ^ crc32_of_swapped_words(body, 2))
}

fn crc32_of_swapped_words(bytes: &[u8], unaligned: usize) -> u32 {
    let mut swapped = bytes.to_vec();
    if let Some(words) = swapped.get_mut(unaligned..) {
        words.as_chunks_mut::<8>().0.iter_mut().for_each(|word| word.reverse());
    }
    crc32_iscsi(&swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(fill: impl Fn(usize) -> u8) -> Vec<u8> {
        let mut page: Vec<u8> = (0..4096).map(fill).collect();
        page[4092..].copy_from_slice(&[1, 2, 3, 4]);
        page[20..24].copy_from_slice(&[1, 2, 3, 4]);
        page
    }

    fn put(page: &mut [u8], at: usize, sum: u32) {
        page[at..at + 4].copy_from_slice(&sum.to_be_bytes());
    }

    #[test]
    fn zeroes_are_no_checksum_of_a_page_that_is_not_empty() {
        let mut torn = vec![0; 4096];
        torn[2000] = 7;
        assert!(verify(&torn).unwrap_err().to_string().contains("a torn write"));
    }

    #[test]
    fn each_algorithm_is_known_by_its_sums() {
        let mut crc = page(|at| (at * 7) as u8);
        let sum = crc32(&crc).unwrap();
        put(&mut crc, 0, sum);
        put(&mut crc, 4088, sum);
        assert_eq!(verify(&crc), Ok(Algorithm::Crc32));

        let sum = crc32_big_endian(&crc).unwrap();
        put(&mut crc, 0, sum);
        put(&mut crc, 4088, sum);
        assert_eq!(verify(&crc), Ok(Algorithm::Crc32BigEndian));

        let sum = innodb_header(&crc).unwrap();
        put(&mut crc, 0, sum);
        let sum = innodb_trailer(&crc).unwrap();
        put(&mut crc, 4088, sum);
        assert_eq!(verify(&crc), Ok(Algorithm::InnoDb));

        put(&mut crc, 0, NO_CHECKSUM_MAGIC);
        put(&mut crc, 4088, NO_CHECKSUM_MAGIC);
        assert_eq!(verify(&crc), Ok(Algorithm::None));

        let sum = full_crc32(&crc).unwrap();
        put(&mut crc, 4092, sum);
        assert_eq!(verify_full_crc32(&crc), Ok(Algorithm::FullCrc32));
    }

    #[test]
    fn a_flipped_bit_and_a_torn_page_are_refused() {
        let mut crc = page(|at| at as u8);
        let sum = crc32(&crc).unwrap();
        put(&mut crc, 0, sum);
        put(&mut crc, 4088, sum);
        let mut flipped = crc.clone();
        flipped[1000] ^= 4;
        assert!(verify(&flipped).unwrap_err().to_string().contains("checksum mismatch"));
        crc[4095] ^= 1;
        assert!(verify(&crc).unwrap_err().to_string().contains("torn"));
        assert!(verify(&[]).is_err());
        assert!(verify_full_crc32(&[1, 2, 3]).is_err());
    }
}
