//! Checked reads of numbers: InnoDB's big-endian ones, the server's little-endian ones. No other file of this crate slices raw bytes by
//! hand: a lying length ends here as an [`Error`], not as a panic.

use crate::{Error, Result};

/// Bytes `at .. at + len`, or damage that says what was asked of how much.
pub fn slice(bytes: &[u8], at: usize, len: usize) -> Result<&[u8]> {
    at.checked_add(len)
        .and_then(|end| bytes.get(at..end))
        .ok_or_else(|| out_of_range(bytes.len(), at, len))
}

/// `N` bytes from `at` as an array.
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .ok_or_else(|| out_of_range(bytes.len(), at, N))
}

#[cold]
fn out_of_range(have: usize, at: usize, len: usize) -> Error {
    Error::corrupt(format!("{len} bytes at offset {at} reach past the end ({have} bytes)"))
}

/// One byte.
pub fn u8_at(bytes: &[u8], at: usize) -> Result<u8> {
    array::<1>(bytes, at).map(|[byte]| byte)
}

/// Two bytes, big-endian (`mach_read_from_2`).
pub fn u16_at(bytes: &[u8], at: usize) -> Result<u16> {
    array(bytes, at).map(u16::from_be_bytes)
}

/// Three bytes, big-endian (`mach_read_from_3`).
pub fn u24_at(bytes: &[u8], at: usize) -> Result<u32> {
    array::<3>(bytes, at).map(|[a, b, c]| u32::from_be_bytes([0, a, b, c]))
}

/// Four bytes, big-endian (`mach_read_from_4`).
pub fn u32_at(bytes: &[u8], at: usize) -> Result<u32> {
    array(bytes, at).map(u32::from_be_bytes)
}

/// Six bytes, big-endian (`mach_read_from_6`).
pub fn u48_at(bytes: &[u8], at: usize) -> Result<u64> {
    array::<6>(bytes, at).map(|[a, b, c, d, e, f]| u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
}

/// Eight bytes, big-endian (`mach_read_from_8`).
pub fn u64_at(bytes: &[u8], at: usize) -> Result<u64> {
    array(bytes, at).map(u64::from_be_bytes)
}

/// Two bytes, little-endian: the server's own files and records (`uint2korr`).
pub fn u16_le_at(bytes: &[u8], at: usize) -> Result<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

/// Three bytes, little-endian (`uint3korr`).
pub fn u24_le_at(bytes: &[u8], at: usize) -> Result<u32> {
    array::<3>(bytes, at).map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]))
}

/// Four bytes, little-endian (`uint4korr`).
pub fn u32_le_at(bytes: &[u8], at: usize) -> Result<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}
