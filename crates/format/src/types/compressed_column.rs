//! Values of MariaDB's compressed columns (`VARCHAR(100) COMPRESSED`).
//!
//! ```text
//! nothing           the empty string
//! 0                 the value
//! 0x80 + n          n bytes: the value's length, n is 1 to 7; then a zlib stream
//! 0x88 + n          the same with a raw deflate stream, the default
//! ```
//!
//! `compress_zlib`, `field_comp.cc`; `Field_longstr::uncompress`, `field.cc`, MariaDB 10.11.

use crate::inflate::{Inflater, inflate_all};
use crate::{Error, Result, bytes};

/// Appends the value that is stored as `stored`, if it has at most `bytes_max` bytes.
///
/// # Errors
/// The stored form is damaged, or the value is longer.
pub fn decompress_column(stored: &[u8], bytes_max: u64, out: &mut Vec<u8>) -> Result<()> {
    let Some((&method, rest)) = stored.split_first() else { return Ok(()) };
    match method >> 4 {
        0 => {
            out.extend_from_slice(rest);
            Ok(())
        }
        8 => {
            let length_bytes = usize::from(method & 7);
            let length = bytes::slice(rest, 0, length_bytes)?;
            let len = length.iter().fold(0, |len, byte| len << 8 | u64::from(*byte));
            if len > bytes_max {
                return Err(Error::corrupt(format!(
                    "a compressed value of {len} bytes, more than {bytes_max}"
                )));
            }
            let stream = rest.get(length_bytes..).unwrap_or_default();
            let inflater = if method & 8 == 0 { Inflater::new() } else { Inflater::raw() };
            inflate_all(inflater, stream, len as usize, out)
        }
        other => Err(Error::corrupt(format!(
            "a value compressed by method {other}, which no server has"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(stored: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        decompress_column(stored, 1000, &mut out).map(|()| out)
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(value(b"").as_deref(), Ok(&b""[..]));
        assert_eq!(value(b"\0short").as_deref(), Ok(&b"short"[..]));
        // 100 times `b`, as raw deflate.
        let raw = [0x89, 100, 0x4b, 0x4a, 0xa2, 0x3d, 0x00, 0x00];
        assert_eq!(value(&raw).as_deref(), Ok(&[b'b'; 100][..]));
    }

    #[test]
    fn damage_is_an_error() {
        assert!(value(&[0x10, 1]).is_err());
        assert!(value(&[0x89]).is_err());
        assert!(value(&[0x8a, 0xff, 0xff, 0]).unwrap_err().to_string().contains("65535"));
        assert!(value(&[0x89, 99, 0x4b, 0x4a, 0xa2, 0x3d, 0x00, 0x00]).is_err());
        assert!(value(&[0x81, 100, 0x4b, 0x4a, 0xa2, 0x3d, 0x00, 0x00]).is_err());
    }
}
