//! The header of a `.MAI` file: the table's state, and its columns.
//!
//! ```text
//! 0    fe fe 09 ..; options (2), bytes of the whole header (2), of the state (2), of the base (2)
//! 12   offset of the base (2); parts of keys (2), of unique constraints (2); numbers of keys, of
//!      unique constraints, -, of full-text keys (1 each), 22 storage of rows
//! 24   open_count (2), changed (2), LSNs of creation, of the last write of the state, of the start
//!      of redo (7 each); from 49 rows, deleted ... 97 .MAD bytes ... 129 checksum (8 each)
//! base 0 uuid (16) ... 60 record, 64 packed record, 68 minimum, 72 maximum, 76 minimum block (4 each),
//!      80 fields, always stored ones, their bytes, 86 maximum bytes of lengths, 90 options,
//!      92 NULL bytes, 94 those at creation, 96 field offsets, 100 page (2 each), 106 transactional,
//!      108 bytes of "empty" bits (2)
//!      then each key (12) with its parts (18 each), each unique constraint (4) with its parts (18),
//!      each column (20), each column's number in the record's order (2, little-endian)
//! column number, offset, kind, length, length of its filler, byte of the NULL bit, byte of the
//!      "empty" bit (2 each), masks of these bits (1 each), upper half of the offset (2), - (2)
//! ```
//!
//! Sources: `maria_open`, `_ma_state_info_read`, `_ma_base_info_read`, `_ma_columndef_read`
//! (ma_open.c), `MARIA_STATE_INFO` (maria_def.h), MariaDB 10.11.

use crate::myisam::{self, Field, FieldKind, RowFormat, SumOf};
use crate::server_record::EngineField;
use crate::{Error, Remedy, Result, bytes};

const MAGIC: [u8; 3] = [0xfe, 0xfe, 9];

/// `HA_OPTION_...` (include/my_base.h).
const OPTION_CHECKSUM: u16 = 32;
const OPTION_NULL_FIELDS: u16 = 1024;

/// `STATE_CRASHED` and `STATE_CRASHED_ON_REPAIR` (maria_def.h).
const CRASHED: u16 = 2 | 4;

/// `MA_EXTRA_OPTIONS_ENCRYPTED` (maria_def.h).
const ENCRYPTED: u16 = 1;

const BASE_BYTES: usize = 135;
const KEY_BYTES: usize = 12;
const UNIQUE_BYTES: usize = 4;
const SEGMENT_BYTES: usize = 18;
const COLUMN_BYTES: usize = 20;
/// The maximum accepted size of a record: columns' bytes, most of them BLOBs' lengths and pointers.
const MAX_RECORD_BYTES: usize = 1 << 24;

/// The header of a `.MAI` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of times that the table was opened for writing and not closed.
    pub open_count: u16,
    /// Whether the server marked the table as crashed.
    pub crashed: bool,
    /// Whether changes are written to Aria's log first.
    pub transactional: bool,
    /// Storage format of the rows.
    pub storage: Storage,
}

/// The storage format of an Aria table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Records as in MyISAM.
    Records(myisam::Header),
    /// Rows in pages.
    Pages(PageRows),
}

/// The parameters for reading rows in pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRows {
    /// Number of rows, without deleted ones.
    pub rows: u64,
    /// Used bytes of the `.MAD` file.
    pub data_bytes: u64,
    /// Bytes of a page.
    pub page_bytes: usize,
    /// Sum of the rows' checksums, if the table has `CHECKSUM=1`.
    pub sum: Option<u32>,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Bytes of NULL bits in a record.
    pub null_bytes: usize,
    /// Bytes of the bits that mark columns as empty.
    pub empty_bytes: usize,
    /// Bytes of field offsets in a row, which are skipped.
    pub field_offset_bytes: usize,
    /// Whether a row can have lengths of columns.
    pub has_lengths: bool,
    /// Minimum bytes of a row's entry; the row in an entry of this size can be shorter.
    pub min_entry_bytes: usize,
    /// Number of columns that are always stored; they are the first.
    pub n_always_there: usize,
    /// The columns, in the order of rows.
    pub columns: Vec<Column>,
    /// Indexes into `columns`, in the order of the record.
    pub order: Vec<usize>,
}

/// A column of rows in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Position of the column in the record.
    pub field: Field,
    /// Byte index and mask of the bit that marks the column as empty.
    pub empty_bit: Option<(usize, u8)>,
}

impl Header {
    /// Returns the bytes of the whole header, from its first 24 bytes.
    pub fn size_bytes(start: &[u8]) -> Result<usize> {
        if bytes::array::<3>(start, 0)? != MAGIC {
            return Err(Error::corrupt("not a .MAI file: wrong magic number"));
        }
        bytes::u16_at(start, 6).map(usize::from)
    }

    /// Parses the header: the first [`Header::size_bytes`] of the file. Refuses tables that
    /// `aria_pack` compressed, encrypted ones, and those without rows of their own.
    pub fn parse(file: &[u8]) -> Result<Header> {
        let file = bytes::slice(file, 0, Header::size_bytes(file)?)?;
        let base_at = usize::from(bytes::u16_at(file, 12)?);
        let base = bytes::slice(file, base_at, BASE_BYTES)?;
        if bytes::u16_at(base, 90)? & ENCRYPTED != 0 {
            return Err(Error::unsupported("an encrypted Aria table", Remedy::DumpFromServer));
        }
        let parts = Parts { file, base, columns_at: columns_at(file, base_at)? };
        let storage = match bytes::u8_at(file, 22)? {
            0 => Storage::Records(parts.records(RowFormat::Fixed)?),
            1 => Storage::Records(parts.records(RowFormat::Dynamic)?),
            2 => {
                return Err(Error::unsupported(
                    "a table that aria_pack compressed",
                    "unpack it (aria_chk --unpack), or dump it from its server",
                ));
            }
            3 => Storage::Pages(parts.pages()?),
            other => {
                return Err(Error::unsupported(
                    format!("an Aria table with rows of kind {other}"),
                    Remedy::DumpFromServer,
                ));
            }
        };
        Ok(Header {
            open_count: bytes::u16_at(file, 24)?,
            crashed: bytes::u16_at(file, 26)? & CRASHED != 0,
            transactional: bytes::u8_at(base, 106)? != 0,
            storage,
        })
    }

    /// Returns the number of rows, without deleted ones.
    pub fn rows(&self) -> u64 {
        match &self.storage {
            Storage::Records(records) => records.rows,
            Storage::Pages(pages) => pages.rows,
        }
    }

    /// Returns the used bytes of the `.MAD` file.
    pub fn data_bytes(&self) -> u64 {
        match &self.storage {
            Storage::Records(records) => records.data_bytes,
            Storage::Pages(pages) => pages.data_bytes,
        }
    }

    /// Returns the fields for [`crate::server_record::RecordLayout`], which compares them with a
    /// definition.
    pub fn engine_fields(&self) -> Vec<EngineField> {
        let (null_bytes, fields): (usize, Vec<Field>) = match &self.storage {
            Storage::Records(records) => (records.null_bytes, records.fields.clone()),
            Storage::Pages(pages) => {
                (pages.null_bytes, pages.columns.iter().map(|column| column.field).collect())
            }
        };
        let bits = EngineField { offset: 0, len: null_bytes, null_bit: None };
        let of =
            |&Field { offset, len, null_bit, .. }: &Field| EngineField { offset, len, null_bit };
        let mut fields: Vec<EngineField> = fields.iter().map(of).collect();
        fields.extend((null_bytes > 0).then_some(bits));
        fields.sort_by_key(|field| field.offset);
        fields
    }
}

/// Returns the offset of the columns, after the keys.
fn columns_at(file: &[u8], base_at: usize) -> Result<usize> {
    let mut at = base_at + usize::from(bytes::u16_at(file, 10)?).max(BASE_BYTES);
    for _ in 0..bytes::u8_at(file, 18)? {
        at += KEY_BYTES + usize::from(bytes::u8_at(file, at)?) * SEGMENT_BYTES;
    }
    for _ in 0..bytes::u8_at(file, 19)? {
        at += UNIQUE_BYTES + usize::from(bytes::u16_at(file, at)?) * SEGMENT_BYTES;
    }
    Ok(at)
}

/// The sections of a header.
struct Parts<'a> {
    file: &'a [u8],
    base: &'a [u8],
    columns_at: usize,
}

impl Parts<'_> {
    fn base_u16(&self, at: usize) -> Result<usize> {
        bytes::u16_at(self.base, at).map(usize::from)
    }

    fn base_u32(&self, at: usize) -> Result<usize> {
        bytes::u32_at(self.base, at).map(|number| number as usize)
    }

    fn options(&self) -> Result<u16> {
        bytes::u16_at(self.file, 4)
    }

    fn sum(&self) -> Result<Option<u32>> {
        match self.options()? & OPTION_CHECKSUM {
            0 => Ok(None),
            _ => bytes::u64_at(self.file, 129).map(|sum| Some(sum as u32)),
        }
    }

    fn columns(&self) -> Result<Vec<Column>> {
        let n_columns = self.base_u16(80)?;
        let mut columns = Vec::new();
        for number in 0..n_columns {
            let entry =
                bytes::slice(self.file, self.columns_at + number * COLUMN_BYTES, COLUMN_BYTES)?;
            let two = |at| bytes::u16_at(entry, at).map(usize::from);
            let bit = |byte_at, mask_at| {
                let mask = bytes::u8_at(entry, mask_at)?;
                Ok((mask != 0).then_some((two(byte_at)?, mask)))
            };
            columns.push(Column {
                field: Field {
                    kind: FieldKind::from_number(bytes::u16_at(entry, 4)?)?,
                    offset: two(2)? | two(16)? << 16,
                    len: two(6)?,
                    null_bit: bit(10, 14)?,
                },
                empty_bit: bit(12, 15)?,
            });
        }
        Ok(columns)
    }

    /// Returns the values as a header of MyISAM.
    fn records(&self, row_format: RowFormat) -> Result<myisam::Header> {
        let has_nulls = self.options()? & OPTION_NULL_FIELDS != 0;
        let header = myisam::Header {
            row_format,
            open_count: 0,
            crashed: false,
            rows: bytes::u64_at(self.file, 49)?,
            data_bytes: bytes::u64_at(self.file, 97)?,
            sum: self.sum()?,
            sum_of: match row_format {
                RowFormat::Fixed if !has_nulls => SumOf::Record,
                _ => SumOf::FieldsWithoutNulls,
            },
            record_bytes: self.base_u32(60)?,
            stored_record_bytes: self.base_u32(64)?,
            max_packed_bytes: u64::from(bytes::u32_at(self.base, 72)?),
            pack_bits_bytes: self.base_u16(108)?,
            null_bytes: self.base_u16(92)?,
            fields: self.columns()?.iter().map(|column| column.field).collect(),
        };
        header.require_fit()
    }

    fn pages(&self) -> Result<PageRows> {
        let columns = self.columns()?;
        let order_at = self.columns_at + columns.len() * COLUMN_BYTES;
        let mut order = Vec::new();
        for number in 0..columns.len() {
            order.push(usize::from(bytes::u16_le_at(self.file, order_at + 2 * number)?));
        }
        let rows = PageRows {
            rows: bytes::u64_at(self.file, 49)?,
            data_bytes: bytes::u64_at(self.file, 97)?,
            page_bytes: self.base_u16(100)?,
            sum: self.sum()?,
            record_bytes: self.base_u32(60)?,
            null_bytes: self.base_u16(92)?,
            empty_bytes: self.base_u16(108)?,
            field_offset_bytes: 2 * self.base_u16(96)?,
            has_lengths: self.base_u16(86)? > 0,
            min_entry_bytes: self.base_u32(76)?,
            n_always_there: self.base_u16(82)?,
            columns,
            order,
        };
        if self.base_u16(94)? != rows.null_bytes {
            return Err(Error::unsupported(
                "an Aria table to which columns were added without being rebuilt",
                "rebuild it on its server (ALTER TABLE ... FORCE)",
            ));
        }
        rows.require_fit()
    }
}

impl PageRows {
    fn require_fit(self) -> Result<PageRows> {
        let wrong = |what: String| Err(Error::corrupt(what));
        if !(1024..=32768).contains(&self.page_bytes) || !self.page_bytes.is_power_of_two() {
            return wrong(format!("impossible page size of {} bytes", self.page_bytes));
        }
        if self.record_bytes > MAX_RECORD_BYTES || self.null_bytes > self.record_bytes {
            return wrong(format!("impossible record size of {} bytes", self.record_bytes));
        }
        let mut end = self.null_bytes;
        for &place in &self.order {
            let Some(Column { field, .. }) = self.columns.get(place) else {
                return wrong(format!("column {place} does not exist"));
            };
            if field.offset != end {
                return wrong(format!(
                    "a column begins at byte {} of a record, not {end}",
                    field.offset
                ));
            }
            end += field.len;
        }
        if end > self.record_bytes || self.n_always_there > self.columns.len() {
            return wrong(format!("columns of {end} bytes in records of {}", self.record_bytes));
        }
        Ok(self)
    }
}
