//! Integer types: `TINYINT` .. `BIGINT`.
//!
//! InnoDB stores them big-endian; signed ones with the sign bit flipped, so that bytes compare like
//! numbers (`row_mysql_store_col_in_innobase_format`, row0mysql.cc).
//!
//! ```text
//! INT -2 :  7f ff ff fe        INT UNSIGNED 2 :  00 00 00 02
//! ```

use super::{IntWidth, digits, wrong_length};
use crate::value::Value;
use crate::{Error, Result};

/// A reader of integers of one width and signedness.
#[derive(Clone, Copy, Debug)]
pub struct Integer {
    width: IntWidth,
    unsigned: bool,
    /// Digits to which `ZEROFILL` pads; 0 without it.
    zerofill_width: u8,
}

impl Integer {
    pub(super) fn new(
        width: IntWidth,
        unsigned: bool,
        zerofill: bool,
        display_width: Option<u8>,
    ) -> Integer {
        let default_width = match width {
            IntWidth::One => 3,
            IntWidth::Two => 5,
            IntWidth::Three => 8,
            IntWidth::Four => 10,
            IntWidth::Eight => 20,
        };
        let zerofill_width = if zerofill { display_width.unwrap_or(default_width) } else { 0 };
        Integer { width, unsigned: unsigned || zerofill, zerofill_width }
    }

    /// Returns the bytes of a value.
    pub(super) fn width_bytes(self) -> usize {
        self.width as usize
    }

    /// Returns whether the type is signed, with its sign bit flipped.
    pub fn is_signed(self) -> bool {
        !self.unsigned
    }

    #[inline]
    pub(super) fn write_text(self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let number = match self.unsigned {
            true => self.unsigned(stored)?,
            false => {
                let number = self.signed(stored)?;
                if number < 0 {
                    out.push(b'-');
                }
                number.unsigned_abs()
            }
        };
        if self.zerofill_width > 0 {
            let len = number.checked_ilog10().unwrap_or(0) as usize + 1;
            let pad = usize::from(self.zerofill_width).saturating_sub(len);
            out.resize(out.len() + pad, b'0');
        }
        digits::write_number(number, out);
        Ok(())
    }

    pub(super) fn value(self, stored: &[u8]) -> Result<Value<'static>> {
        Ok(if self.unsigned {
            Value::UInt(self.unsigned(stored)?)
        } else {
            Value::Int(self.signed(stored)?)
        })
    }

    /// Appends the server's record form: little-endian, two's complement.
    pub(super) fn write_record_image(self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        write_reversed(stored, self.width_bytes(), !self.unsigned, out)
    }

    /// Reads a number of an unsigned type.
    #[inline]
    pub fn unsigned(self, stored: &[u8]) -> Result<u64> {
        unsigned(stored, self.width as usize)
    }

    /// Reads a number of a signed type.
    #[inline]
    pub fn signed(self, stored: &[u8]) -> Result<i64> {
        signed(stored, self.width as usize)
    }
}

/// Reads a plain big-endian number of `len` bytes, at most 8.
#[inline]
pub(super) fn unsigned(stored: &[u8], len: usize) -> Result<u64> {
    let number = match *stored {
        [a] if len == 1 => u64::from(a),
        [a, b] if len == 2 => u64::from(u16::from_be_bytes([a, b])),
        [a, b, c] if len == 3 => u64::from(u32::from_be_bytes([0, a, b, c])),
        [a, b, c, d] if len == 4 => u64::from(u32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e] if len == 5 => u64::from_be_bytes([0, 0, 0, a, b, c, d, e]),
        [a, b, c, d, e, f] if len == 6 => u64::from_be_bytes([0, 0, a, b, c, d, e, f]),
        [a, b, c, d, e, f, g] if len == 7 => u64::from_be_bytes([0, a, b, c, d, e, f, g]),
        [a, b, c, d, e, f, g, h] if len == 8 => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => return Err(wrong_length("an integer", len, stored.len())),
    };
    Ok(number)
}

/// Reads a big-endian number of `len` bytes (1, 2, 3, 4 or 8) with its sign bit flipped.
#[inline]
pub(super) fn signed(stored: &[u8], len: usize) -> Result<i64> {
    let shift = 64 - 8 * len as u32;
    let sign = 1_u64 << 63;
    Ok((((unsigned(stored, len)? << shift) ^ sign) as i64) >> shift)
}

/// Appends a stored number of `len` bytes in the server's record form: little-endian, with the sign
/// bit flipped back.
pub(super) fn write_reversed(
    stored: &[u8],
    len: usize,
    flipped: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    if stored.len() != len {
        return Err(wrong_length("an integer", len, stored.len()));
    }
    out.extend(stored.iter().rev());
    if let Some(last) = out.last_mut().filter(|_| flipped && len > 0) {
        *last ^= 0x80;
    }
    Ok(())
}

/// Converts a width in bytes.
impl TryFrom<u8> for IntWidth {
    type Error = Error;

    fn try_from(bytes: u8) -> Result<IntWidth> {
        Ok(match bytes {
            1 => IntWidth::One,
            2 => IntWidth::Two,
            3 => IntWidth::Three,
            4 => IntWidth::Four,
            8 => IntWidth::Eight,
            _ => return Err(Error::schema(format!("no integer type has {bytes} bytes"))),
        })
    }
}
