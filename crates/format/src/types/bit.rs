//! `BIT(bits)`: as many bytes as the bits need, big-endian; InnoDB does not treat it as an integer.

use super::wrong_length;
use crate::Result;

/// Returns the bytes of a `BIT(bits)`.
pub(super) fn size_bytes(bits: u8) -> usize {
    usize::from(bits).div_ceil(8)
}

/// Returns the bits as a number.
pub(super) fn number(stored: &[u8], bits: u8) -> Result<u64> {
    Ok(checked(stored, bits)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// Returns the stored bytes, after checking that their number fits `bits`; `SELECT` returns the
/// same bytes.
pub(super) fn checked(stored: &[u8], bits: u8) -> Result<&[u8]> {
    if stored.len() != size_bytes(bits) {
        return Err(wrong_length("a BIT", size_bytes(bits), stored.len()));
    }
    Ok(stored)
}
