//! The header of a `.MYI` file: the table's state, and its columns.
//!
//! ```text
//! 0    fe fe 07 01; options (2), bytes of the whole header (2), of the state (2), of the base (2)
//! 12   offset of the base (2); parts of keys (2), of unique constraints (2)
//! 18   numbers of keys, of unique constraints, language, key block sizes, full-text keys, -; 1 each
//! 24   open_count (2), changed, sort key; rows, deleted, blocks, first deleted; .MYI and .MYD bytes
//!      (8 each, from 28) ... 100 checksum (8)
//! base 0 offset of the keys ... 44 record, 48 packed record, 52 minimum, 56 maximum (4 each),
//!      64 fields (4), 76 bytes of pack bits (2), 78 blobs (2)
//!      then each key (12) with its parts (18 each), each unique constraint (4) with its parts (18),
//!      each field: type (2), length (2), NULL bit's mask, NULL bit's byte (2)
//! ```
//!
//! Sources: `mi_open`, `mi_state_info_read`, `mi_n_base_info_read`, `mi_recinfo_read` (mi_open.c,
//! MariaDB 10.11; MySQL 5.7 has the same).

use crate::server_record::EngineField;
use crate::{Error, Result, bytes};

const MAGIC: [u8; 4] = [0xfe, 0xfe, 7, 1];

/// `HA_OPTION_...` (include/my_base.h).
const OPTION_PACK_RECORD: u16 = 1;
const OPTION_COMPRESS_RECORD: u16 = 4;
const OPTION_CHECKSUM: u16 = 32;
const OPTION_NULL_FIELDS: u16 = 1024;

/// `STATE_CRASHED` and `STATE_CRASHED_ON_REPAIR` (myisamdef.h).
const CRASHED: u8 = 2 | 4;

const BASE_BYTES: usize = 100;
const KEY_BYTES: usize = 12;
const UNIQUE_BYTES: usize = 4;
const SEGMENT_BYTES: usize = 18;
const FIELD_BYTES: usize = 7;
/// The servers' own limit on columns is 4096.
const MAX_FIELDS: u32 = 4200;

/// The header of a `.MYI` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Storage format of the rows.
    pub row_format: RowFormat,
    /// The number of times that the table was opened for writing and not closed.
    pub open_count: u16,
    /// Whether the server marked the table as crashed.
    pub crashed: bool,
    /// Number of rows, without deleted ones.
    pub rows: u64,
    /// Used bytes of the `.MYD` file.
    pub data_bytes: u64,
    /// Sum of the rows' checksums, if the table has `CHECKSUM=1`.
    pub sum: Option<u32>,
    /// Coverage of a row's checksum.
    pub sum_of: SumOf,
    /// Bytes of an unpacked record.
    pub record_bytes: usize,
    /// Bytes of a record in a FIXED table's file.
    pub stored_record_bytes: usize,
    /// Maximum bytes of a packed record.
    pub max_packed_bytes: u64,
    /// Bytes of the bits before a packed record.
    pub pack_bits_bytes: usize,
    /// Bytes of NULL bits before the record that are no field: in Aria, never in MyISAM.
    pub null_bytes: usize,
    /// The fields in the order of the record, without names.
    pub fields: Vec<Field>,
}

/// The part of a record that its checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumOf {
    /// The whole record.
    Record,
    /// The fields that are not NULL.
    FieldsWithoutNulls,
    /// All fields.
    Fields,
}

/// The storage format of a MyISAM table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// Records of one length.
    Fixed,
    /// Packed records in blocks.
    Dynamic,
}

/// A field of a MyISAM record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Packing of the field.
    pub kind: FieldKind,
    /// Offset of the field in the record.
    pub offset: usize,
    /// Bytes of the field in the record.
    pub len: usize,
    /// Byte index and mask of the field's NULL bit.
    pub null_bit: Option<(usize, u8)>,
}

/// The packing of a field (`en_fieldtype`, include/my_base.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Not packed.
    Normal,
    /// Stored without trailing spaces.
    SkipEndSpace,
    /// Stored without leading spaces.
    SkipPreSpace,
    /// Not stored when it is all zeros.
    SkipZero,
    /// A BLOB: length and bytes.
    Blob,
    /// A `VARCHAR`: length and bytes.
    VarChar,
}

impl FieldKind {
    /// Converts the number in the files of MyISAM and Aria.
    pub fn from_number(number: u16) -> Result<FieldKind> {
        Ok(match number {
            0 => FieldKind::Normal,
            1 => FieldKind::SkipEndSpace,
            2 => FieldKind::SkipPreSpace,
            3 => FieldKind::SkipZero,
            4 => FieldKind::Blob,
            8 => FieldKind::VarChar,
            other => return Err(Error::corrupt(format!("unknown field kind {other}"))),
        })
    }
}

impl Header {
    /// Returns the bytes of the whole header, from its first 24 bytes.
    pub fn size_bytes(start: &[u8]) -> Result<usize> {
        if bytes::array::<4>(start, 0)? != MAGIC {
            return Err(Error::corrupt("not a .MYI file: wrong magic number"));
        }
        bytes::u16_at(start, 6).map(usize::from)
    }

    /// Parses the header: the first [`Header::size_bytes`] of the file. Refuses tables that
    /// `myisampack` compressed.
    pub fn parse(file: &[u8]) -> Result<Header> {
        let file = bytes::slice(file, 0, Header::size_bytes(file)?)?;
        let options = bytes::u16_at(file, 4)?;
        if options & OPTION_COMPRESS_RECORD != 0 {
            return Err(Error::unsupported(
                "a table that myisampack compressed",
                "unpack it (myisamchk --unpack), or read it on its server",
            ));
        }
        let base_at = usize::from(bytes::u16_at(file, 12)?);
        let base = bytes::slice(file, base_at, BASE_BYTES)?;
        let row_format = match options & OPTION_PACK_RECORD {
            0 => RowFormat::Fixed,
            _ => RowFormat::Dynamic,
        };
        let has_sum = options & OPTION_CHECKSUM != 0;
        let header = Header {
            row_format,
            open_count: bytes::u16_at(file, 24)?,
            crashed: bytes::u8_at(file, 26)? & CRASHED != 0,
            rows: bytes::u64_at(file, 28)?,
            data_bytes: bytes::u64_at(file, 68)?,
            sum: if has_sum { Some(bytes::u64_at(file, 100)? as u32) } else { None },
            sum_of: match row_format {
                _ if options & OPTION_NULL_FIELDS != 0 => SumOf::FieldsWithoutNulls,
                RowFormat::Fixed => SumOf::Record,
                RowFormat::Dynamic => SumOf::Fields,
            },
            record_bytes: bytes::u32_at(base, 44)? as usize,
            stored_record_bytes: bytes::u32_at(base, 48)? as usize,
            max_packed_bytes: u64::from(bytes::u32_at(base, 56)?),
            pack_bits_bytes: usize::from(bytes::u16_at(base, 76)?),
            null_bytes: 0,
            fields: fields(file, base_at)?,
        };
        header.require_fit()
    }

    /// Returns the fields for [`crate::server_record::RecordLayout`], which compares them with a
    /// definition.
    pub fn engine_fields(&self) -> Vec<EngineField> {
        let field =
            |&Field { offset, len, null_bit, .. }: &Field| EngineField { offset, len, null_bit };
        self.fields.iter().map(field).collect()
    }

    /// Refuses contradictory lengths, and fields that are not adjacent.
    pub(crate) fn require_fit(self) -> Result<Header> {
        let mut fields_len = self.null_bytes;
        for field in &self.fields {
            if field.offset != fields_len {
                return Err(Error::corrupt(format!(
                    "a field begins at byte {} of a record, not {fields_len}",
                    field.offset
                )));
            }
            fields_len += field.len;
        }
        if fields_len > self.record_bytes || self.record_bytes > (1 << 24) {
            return Err(Error::corrupt(format!(
                "fields of {fields_len} bytes in records of {}",
                self.record_bytes
            )));
        }
        if self.stored_record_bytes < fields_len && self.row_format == RowFormat::Fixed
            || self.stored_record_bytes > (1 << 24)
            || self.stored_record_bytes == 0
        {
            return Err(Error::corrupt(format!(
                "fields of {fields_len} bytes in {} bytes of the .MYD file",
                self.stored_record_bytes
            )));
        }
        Ok(self)
    }
}

fn fields(file: &[u8], base_at: usize) -> Result<Vec<Field>> {
    let mut at = base_at + usize::from(bytes::u16_at(file, 10)?).max(BASE_BYTES);
    for _ in 0..bytes::u8_at(file, 18)? {
        at += KEY_BYTES + usize::from(bytes::u8_at(file, at)?) * SEGMENT_BYTES;
    }
    for _ in 0..bytes::u8_at(file, 19)? {
        at += UNIQUE_BYTES + usize::from(bytes::u16_at(file, at)?) * SEGMENT_BYTES;
    }
    let n_fields = bytes::u32_at(file, base_at + 64)?;
    if n_fields > MAX_FIELDS {
        return Err(Error::corrupt(format!("{n_fields} fields are more than a table can have")));
    }
    let mut fields = Vec::new();
    let mut offset = 0;
    for _ in 0..n_fields {
        let entry = bytes::slice(file, at, FIELD_BYTES)?;
        let mask = bytes::u8_at(entry, 4)?;
        let null_byte = usize::from(bytes::u16_at(entry, 5)?);
        let len = usize::from(bytes::u16_at(entry, 2)?);
        fields.push(Field {
            kind: FieldKind::from_number(bytes::u16_at(entry, 0)?)?,
            offset,
            len,
            null_bit: (mask != 0).then_some((null_byte, mask)),
        });
        offset += len;
        at += FIELD_BYTES;
    }
    Ok(fields)
}
