//! Reading of a record's bytes, among them integers of variable length (`mach0data.h`, MySQL 9.7).
//!
//! ```text
//! 0xxxxxxx   7 bits     10xxxxxx +1 byte   14 bits     110xxxxx +2   21 bits     1110xxxx +3   28 bits
//! 11110000 +4   32 bits     111110xx +1, 1111110x +2, 11111110 +3: all higher bits are ones
//! ```
//!
//! Of 64 bits, the upper half is compressed and the lower half plain; "much compressed" are both, the
//! upper one only if it is not 0, behind a byte FF.

use crate::{Error, Result};

/// The end of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The bytes end within the record.
    Cut,
    /// The bytes are no record that a server writes.
    Lie(Error),
}

impl Stop {
    pub(super) fn lie(what: impl Into<std::borrow::Cow<'static, str>>) -> Stop {
        Stop::Lie(Error::corrupt(what))
    }
}

/// What reading of a part of a record gives.
pub type Read<T> = std::result::Result<T, Stop>;

/// Bytes that are read from their start on.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Reads `bytes`.
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes, at: 0 }
    }

    /// The number of bytes that were read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether all bytes were read.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) fn take(&mut self, len: usize) -> Read<&'a [u8]> {
        let end = self.at.checked_add(len).ok_or(Stop::Cut)?;
        let taken = self.bytes.get(self.at..end).ok_or(Stop::Cut)?;
        self.at = end;
        Ok(taken)
    }

    /// The bytes that were read since `start`.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.take(N)?.first_chunk::<N>().copied().ok_or(Stop::Cut)
    }

    pub(super) fn u8(&mut self) -> Read<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Read<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Read<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A compressed number of 32 bits.
    pub(super) fn compressed(&mut self) -> Read<u32> {
        let first = self.u8()?;
        let (high, more) = match first {
            0..0x80 => return Ok(first.into()),
            0x80..0xc0 => (u32::from(first & 0x3f), 1),
            0xc0..0xe0 => (u32::from(first & 0x1f), 2),
            0xe0..0xf0 => (u32::from(first & 0x0f), 3),
            0xf0 => (0, 4),
            0xf8..0xfc => (u32::MAX << 2 | u32::from(first & 3), 1),
            0xfc..0xfe => (u32::MAX << 1 | u32::from(first & 1), 2),
            0xfe => (u32::MAX, 3),
            _ => return Err(Stop::lie(format!("byte {first:#x} begins no number"))),
        };
        Ok(self.take(more)?.iter().fold(high, |value, &byte| value << 8 | u32::from(byte)))
    }

    /// A number of 64 bits with a compressed upper half.
    pub(super) fn compressed_u64(&mut self) -> Read<u64> {
        let high = self.compressed()?;
        Ok(u64::from(high) << 32 | u64::from(self.u32()?))
    }

    /// A "much compressed" number of 64 bits.
    pub(super) fn much_compressed(&mut self) -> Read<u64> {
        let high = match self.bytes.get(self.at).ok_or(Stop::Cut)? {
            0xff => {
                self.at += 1;
                self.compressed()?
            }
            _ => 0,
        };
        Ok(u64::from(high) << 32 | u64::from(self.compressed()?))
    }
}

/// Makes an error of a record that was found whole before.
pub(super) fn whole<T>(read: Read<T>) -> Result<T> {
    read.map_err(|stop| match stop {
        Stop::Cut => Error::corrupt("it is cut"),
        Stop::Lie(error) => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_lengths() {
        let number = |bytes: &[u8]| Input::new(bytes).compressed();
        assert_eq!(number(&[0x7f]), Ok(0x7f));
        assert_eq!(number(&[0x80, 0x80]), Ok(0x80));
        assert_eq!(number(&[0xbf, 0xff]), Ok(0x3fff));
        assert_eq!(number(&[0xc0, 0x40, 0]), Ok(0x4000));
        assert_eq!(number(&[0xe0, 0x20, 0, 0]), Ok(0x20_0000));
        assert_eq!(number(&[0xf0, 0x10, 0, 0, 0]), Ok(0x1000_0000));
        assert_eq!(number(&[0xfb, 0xff]), Ok(u32::MAX));
        assert_eq!(number(&[0xf8, 0]), Ok(0xffff_fc00));
        assert_eq!(number(&[0xfc, 0, 0]), Ok(0xfffe_0000));
        assert_eq!(number(&[0xfe, 1, 2, 3]), Ok(0xff01_0203));
        assert_eq!(number(&[0xf0, 0x10, 0, 0]), Err(Stop::Cut));
        assert!(matches!(number(&[0xff]), Err(Stop::Lie(_))));
        assert!(matches!(number(&[0xf4, 0, 0, 0, 0]), Err(Stop::Lie(_))));
        assert_eq!(Input::new(&[1, 0, 0, 0, 2]).compressed_u64(), Ok(0x1_0000_0002));
        assert_eq!(Input::new(&[0x85, 0x40]).much_compressed(), Ok(0x540));
        assert_eq!(Input::new(&[0xff, 1, 2]).much_compressed(), Ok(0x1_0000_0002));
    }
}
