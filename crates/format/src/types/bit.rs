//! `BIT(bits)`: as many bytes as the bits need, big-endian, not an integer to InnoDB.

use super::wrong_length;
use crate::Result;

/// Bytes a `BIT(bits)` takes.
pub(super) fn size_bytes(bits: u8) -> usize {
    usize::from(bits).div_ceil(8)
}

/// The bits as a number.
pub(super) fn number(stored: &[u8], bits: u8) -> Result<u64> {
    Ok(checked(stored, bits)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The bytes, when there are as many as `bits` takes: they are what `SELECT` gives.
pub(super) fn checked(stored: &[u8], bits: u8) -> Result<&[u8]> {
    if stored.len() != size_bytes(bits) {
        return Err(wrong_length("a BIT", size_bytes(bits), stored.len()));
    }
    Ok(stored)
}
