//! InnoDB's variable-length integers (`mach_read_next_compressed` and others, `mach0data.ic`).

use crate::{Result, bytes};

/// A position in the bytes of an undo record, from which its parts are read one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    /// The page, up to the end of the record.
    bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Cursor<'a> {
        Cursor { bytes, at }
    }

    pub fn byte(&mut self) -> Result<u8> {
        let byte = bytes::u8_at(self.bytes, self.at)?;
        self.at += 1;
        Ok(byte)
    }

    /// The next byte, which is not passed.
    pub fn peek(&self) -> Result<u8> {
        bytes::u8_at(self.bytes, self.at)
    }

    pub fn u16(&mut self) -> Result<u16> {
        let word = bytes::u16_at(self.bytes, self.at)?;
        self.at += 2;
        Ok(word)
    }

    pub fn slice(&mut self, len: usize) -> Result<&'a [u8]> {
        let slice = bytes::slice(self.bytes, self.at, len)?;
        self.at += len;
        Ok(slice)
    }

    /// A compressed 32-bit integer. MySQL 8.0.19 and later have short forms for numbers near 2^32,
    /// whose first bytes older servers never write.
    pub fn number(&mut self) -> Result<u32> {
        let (bytes, at) = (self.bytes, self.at);
        let first = bytes::u8_at(bytes, at)?;
        let (len, value) = match first {
            0..=0x7F => (1, u32::from(first)),
            0x80..=0xBF => (2, u32::from(bytes::u16_at(bytes, at)? & 0x3FFF)),
            0xC0..=0xDF => (3, bytes::u24_at(bytes, at)? & 0x1F_FFFF),
            0xE0..=0xEF => (4, bytes::u32_at(bytes, at)? & 0xFFF_FFFF),
            0xF0..=0xF7 => (5, bytes::u32_at(bytes, at + 1)?),
            0xF8..=0xFB => (2, u32::from(bytes::u16_at(bytes, at)? & 0x3FF) | 0xFFFF_FC00),
            0xFC..=0xFD => (3, bytes::u24_at(bytes, at)? & 0x1_FFFF | 0xFFFE_0000),
            0xFE..=0xFF => (4, bytes::u32_at(bytes, at)? & 0xFF_FFFF | 0xFF00_0000),
        };
        self.at += len;
        Ok(value)
    }

    /// A 64-bit integer: the upper half compressed, the lower one in four bytes
    /// (`mach_u64_read_next_compressed`).
    pub fn long(&mut self) -> Result<u64> {
        let high = self.number()?;
        let low = bytes::u32_at(self.bytes, self.at)?;
        self.at += 4;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// A 64-bit integer whose upper half is mostly 0 (`mach_read_next_much_compressed`).
    pub fn small_long(&mut self) -> Result<u64> {
        if self.peek()? != 0xFF {
            return self.number().map(u64::from);
        }
        self.at += 1;
        let high = self.number()?;
        Ok(u64::from(high) << 32 | u64::from(self.number()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> (u32, usize) {
        let mut cursor = Cursor::new(bytes, 0);
        (cursor.number().unwrap(), cursor.at)
    }

    #[test]
    fn every_length_of_a_number() {
        assert_eq!(number(&[0x7F]), (0x7F, 1));
        assert_eq!(number(&[0xBF, 0xFF]), (0x3FFF, 2));
        assert_eq!(number(&[0xDF, 0xFF, 0xFF]), (0x1F_FFFF, 3));
        assert_eq!(number(&[0xEF, 0xFF, 0xFF, 0xFF]), (0xFFF_FFFF, 4));
        assert_eq!(number(&[0xF0, 0xFF, 0xFF, 0xFF, 0xFF]), (u32::MAX, 5));
        assert_eq!(number(&[0xFB, 0xFF]), (u32::MAX, 2));
        assert_eq!(number(&[0xFD, 0xFF, 0xFE]), (u32::MAX - 1, 3));
        assert_eq!(number(&[0xFE, 0xFF, 0xBF, 0xFF]), (0xFFFF_BFFF, 4));
    }

    #[test]
    fn both_forms_of_64_bits() {
        let mut cursor = Cursor::new(&[0x01, 0, 0, 0, 2, 0xFF, 0x01, 0x02, 0x05], 0);
        assert_eq!(cursor.long().unwrap(), 1 << 32 | 2);
        assert_eq!(cursor.small_long().unwrap(), 1 << 32 | 2);
        assert_eq!(cursor.small_long().unwrap(), 5);
        assert!(cursor.small_long().is_err());
    }
}
