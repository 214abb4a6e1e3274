//! Packed records, the form of DYNAMIC rows.
//!
//! ```text
//! bits    one for each field that is neither Normal nor VarChar, in order, from the lowest bit of
//!         the first byte: the field's value is packed
//! fields  Normal: as it is. VarChar: its length (as a key's: 1 byte, or 255 and 2 big-endian ones;
//!         1 byte where the field has room for 255) and its bytes. Others, by their bit:
//!           SkipZero      0 as it is    1 nothing: zeros
//!           Skip..Space   0 as it is    1 its length, its bytes; spaces make up the rest
//!           Blob          0 length, bytes    1 nothing: empty
//! sum     a byte, where the table has checksums
//! ```
//!
//! Aria's DYNAMIC rows have the record's NULL bits between bits and fields.
//!
//! Source: `_mi_rec_unpack` (mi_dynrec.c), `_ma_rec_unpack` (ma_dynrec.c), MariaDB 10.11.

use super::{Field, FieldKind, Header};
use crate::server_record::{POINTER_BYTES, length};
use crate::{Error, Result, bytes};

/// Unpacks a record. The position of a BLOB is its offset in `packed`. Returns the byte of the
/// checksum, if the table has checksums.
pub fn unpack(packed: &[u8], header: &Header, record: &mut Vec<u8>) -> Result<Option<u8>> {
    let bits = bytes::slice(packed, 0, header.pack_bits_bytes)?;
    let mut rest = Rest { packed, at: header.pack_bits_bytes };
    record.clear();
    record.extend_from_slice(rest.take(header.null_bytes)?);
    let mut bit = 0;
    for field in &header.fields {
        let is_packed = match field.kind {
            FieldKind::Normal | FieldKind::VarChar => false,
            _ => {
                bit += 1;
                bytes::u8_at(bits, (bit - 1) / 8)? >> ((bit - 1) % 8) & 1 == 1
            }
        };
        rest.unpack(field, is_packed, record)?;
    }
    let sum = if header.sum.is_some() { rest.take(1)?.first().copied() } else { None };
    if rest.at != packed.len() {
        return Err(Error::corrupt(format!(
            "a packed row of {} bytes ends after {}",
            packed.len(),
            rest.at
        )));
    }
    Ok(sum)
}

/// The packed bytes that are still to be read.
struct Rest<'a> {
    packed: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken = bytes::slice(self.packed, self.at, len)?;
        self.at += len;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<usize> {
        let byte = bytes::u8_at(self.packed, self.at)?;
        self.at += 1;
        Ok(usize::from(byte))
    }

    /// Appends the field's bytes to the record.
    fn unpack(&mut self, field: &Field, is_packed: bool, record: &mut Vec<u8>) -> Result<()> {
        let end = record.len() + field.len;
        match (field.kind, is_packed) {
            (FieldKind::VarChar, _) => self.unpack_varchar(field, record)?,
            (FieldKind::SkipZero | FieldKind::Blob, true) => {}
            (FieldKind::Blob, false) => {
                let length_bytes = field
                    .len
                    .checked_sub(POINTER_BYTES)
                    .ok_or_else(|| Error::corrupt("a BLOB's field has no length"))?;
                let prefix = self.take(length_bytes)?;
                let len = length(prefix, length_bytes)?;
                record.extend_from_slice(prefix);
                record.extend_from_slice(&(self.at as u64).to_le_bytes());
                self.take(len)?;
            }
            (FieldKind::SkipEndSpace, true) => {
                let len = self.space_free_len(field)?;
                record.extend_from_slice(self.take(len)?);
                record.resize(end, b' ');
            }
            (FieldKind::SkipPreSpace, true) => {
                let len = self.space_free_len(field)?;
                record.resize(end - len, b' ');
                record.extend_from_slice(self.take(len)?);
            }
            (_, false) | (FieldKind::Normal, true) => {
                record.extend_from_slice(self.take(field.len)?);
            }
        }
        record.resize(end, 0);
        Ok(())
    }

    fn unpack_varchar(&mut self, field: &Field, record: &mut Vec<u8>) -> Result<()> {
        // HA_VARCHAR_PACKLENGTH
        let length_bytes = if field.len <= 256 { 1 } else { 2 };
        let mut len = self.byte()?;
        if length_bytes == 2 && len == 255 {
            len = usize::from(bytes::u16_at(self.take(2)?, 0)?);
        }
        if len + length_bytes > field.len {
            return Err(too_long(len, field.len));
        }
        let prefix = (len as u16).to_le_bytes();
        record.extend_from_slice(bytes::slice(&prefix, 0, length_bytes)?);
        record.extend_from_slice(self.take(len)?);
        Ok(())
    }

    /// Reads the length of a value stored without spaces, which is less than the field's.
    fn space_free_len(&mut self, field: &Field) -> Result<usize> {
        let mut len = self.byte()?;
        if field.len > 255 && len & 128 != 0 {
            len = (len & 127) + (self.byte()? << 7);
        }
        if len >= field.len {
            return Err(too_long(len, field.len));
        }
        Ok(len)
    }
}

#[cold]
fn too_long(len: usize, field_len: usize) -> Error {
    Error::corrupt(format!("a value of {len} bytes in a field of {field_len}"))
}
