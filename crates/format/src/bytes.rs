//! Checked reads of numbers: InnoDB's big-endian ones, the server's little-endian ones. No other
//! file of this crate slices raw bytes by hand: a wrong length ends here as an [`Error`], not as a
//! panic.

use crate::{Error, Result};

/// Returns the bytes `at .. at + len`, or an error that names the range and the available length.
#[inline]
pub fn slice(bytes: &[u8], at: usize, len: usize) -> Result<&[u8]> {
    at.checked_add(len)
        .and_then(|end| bytes.get(at..end))
        .ok_or_else(|| out_of_range(bytes.len(), at, len))
}

/// Returns `N` bytes from `at` as an array.
#[inline]
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

/// Reads one byte.
#[inline]
pub fn u8_at(bytes: &[u8], at: usize) -> Result<u8> {
    array::<1>(bytes, at).map(|[byte]| byte)
}

/// Reads two bytes, big-endian (`mach_read_from_2`).
#[inline]
pub fn u16_at(bytes: &[u8], at: usize) -> Result<u16> {
    array(bytes, at).map(u16::from_be_bytes)
}

/// Reads three bytes, big-endian (`mach_read_from_3`).
#[inline]
pub fn u24_at(bytes: &[u8], at: usize) -> Result<u32> {
    array::<3>(bytes, at).map(|[a, b, c]| u32::from_be_bytes([0, a, b, c]))
}

/// Reads four bytes, big-endian (`mach_read_from_4`).
#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> Result<u32> {
    array(bytes, at).map(u32::from_be_bytes)
}

/// Reads six bytes, big-endian (`mach_read_from_6`).
#[inline]
pub fn u48_at(bytes: &[u8], at: usize) -> Result<u64> {
    array::<6>(bytes, at).map(|[a, b, c, d, e, f]| u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
}

/// Reads eight bytes, big-endian (`mach_read_from_8`).
#[inline]
pub fn u64_at(bytes: &[u8], at: usize) -> Result<u64> {
    array(bytes, at).map(u64::from_be_bytes)
}

/// Reads two bytes, little-endian: the server's own files and records (`uint2korr`).
#[inline]
pub fn u16_le_at(bytes: &[u8], at: usize) -> Result<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

/// Reads three bytes, little-endian (`uint3korr`).
#[inline]
pub fn u24_le_at(bytes: &[u8], at: usize) -> Result<u32> {
    array::<3>(bytes, at).map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]))
}

/// Reads four bytes, little-endian (`uint4korr`).
#[inline]
pub fn u32_le_at(bytes: &[u8], at: usize) -> Result<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

/// Reads eight bytes, little-endian (`uint8korr`).
pub fn u64_le_at(bytes: &[u8], at: usize) -> Result<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

/// Writes bytes from `at` on.
pub fn put(bytes: &mut [u8], at: usize, new: &[u8]) -> Result<()> {
    let have = bytes.len();
    let place = at.checked_add(new.len()).and_then(|end| bytes.get_mut(at..end));
    place.ok_or_else(|| out_of_range(have, at, new.len()))?.copy_from_slice(new);
    Ok(())
}

/// Writes two bytes, big-endian (`mach_write_to_2`).
pub fn put_u16(bytes: &mut [u8], at: usize, value: u16) -> Result<()> {
    put(bytes, at, &value.to_be_bytes())
}

/// Sets `len` bytes from `at` on.
pub fn fill(bytes: &mut [u8], at: usize, len: usize, value: u8) -> Result<()> {
    let have = bytes.len();
    let place = at.checked_add(len).and_then(|end| bytes.get_mut(at..end));
    place.ok_or_else(|| out_of_range(have, at, len))?.fill(value);
    Ok(())
}

/// Copies `len` bytes from one place to another, which may overlap.
pub fn copy_within(bytes: &mut [u8], from: usize, to: usize, len: usize) -> Result<()> {
    slice(bytes, from, len)?;
    slice(bytes, to, len)?;
    bytes.copy_within(from..from + len, to);
    Ok(())
}
