//! The checksum of a row (`mi_checksum`, mi_checksum.c, MariaDB 10.11; MySQL 5.7 has the same). Tables
//! with `CHECKSUM=1` store the sum over all rows. The checksum differs from that of
//! `CHECKSUM TABLE ... EXTENDED`.

use super::{Field, FieldKind, SumOf};
use crate::server_record::{POINTER_BYTES, length};
use crate::{Result, bytes};

/// Returns the CRC-32 (zlib's) of a record: of all of it, or of its first `null_bytes` (Aria; in
/// MyISAM they are a field) and its fields, of `VARCHAR` and BLOBs only their bytes. `blobs` has
/// the bytes to which the BLOBs' positions refer.
pub fn row_sum<'f>(
    of: SumOf,
    fields: impl Iterator<Item = &'f Field>,
    null_bytes: usize,
    record: &[u8],
    blobs: &[u8],
) -> Result<u32> {
    if of == SumOf::Record {
        return Ok(crc32fast::hash(record));
    }
    let mut sum = crc32fast::Hasher::new();
    sum.update(bytes::slice(record, 0, null_bytes)?);
    for field in fields {
        if let Some((byte, mask)) = field.null_bit.filter(|_| of == SumOf::FieldsWithoutNulls)
            && bytes::u8_at(record, byte)? & mask != 0
        {
            continue;
        }
        sum.update(value(field, record, blobs)?);
    }
    Ok(sum.finalize())
}

/// Returns the bytes of a field that the checksum covers.
fn value<'a>(field: &Field, record: &'a [u8], blobs: &'a [u8]) -> Result<&'a [u8]> {
    let value = bytes::slice(record, field.offset, field.len)?;
    match field.kind {
        FieldKind::Blob => {
            let length_bytes = field.len.saturating_sub(POINTER_BYTES);
            let len = length(value, length_bytes)?;
            let at = u64::from_le_bytes(bytes::array(value, length_bytes)?);
            match len {
                0 => Ok(&[]),
                _ => bytes::slice(blobs, usize::try_from(at).unwrap_or(usize::MAX), len),
            }
        }
        FieldKind::VarChar => {
            let length_bytes = if field.len <= 256 { 1 } else { 2 };
            bytes::slice(value, length_bytes, length(value, length_bytes)?)
        }
        _ => Ok(value),
    }
}
