//! Records in the server's own format (`table->record[0]`), and conversion of their values to
//! InnoDB's format.
//!
//! ```text
//! bits     "not deleted" (not in packed rows); then for each column a NULL bit, if nullable, and the
//!          odd bits of a BIT; from the lowest bit of the first byte
//! columns  in order, without virtual ones; numbers little-endian, CHAR padded, VARCHAR after its
//!          length, for a BLOB its length and the 8 bytes of its position
//! ```
//!
//! In memory those 8 bytes are a pointer. Here they are the offset of the value among the bytes
//! that the row's engine read with the record.
//!
//! Sources: `mysql_prepare_create_table` (sql_table.cc), `Field::pack_length_in_rec` (field.h) and
//! `row_mysql_store_col_in_innobase_format` (row0mysql.cc) of MariaDB 10.11.

use std::ops::Range;

use crate::charset::Charset;
use crate::schema::{Family, TableDef};
use crate::types::{ColumnType, TemporalFormat};
use crate::{Error, Remedy, Result, bytes};

/// Bytes of a BLOB's pointer in the record (`portable_sizeof_char_ptr`).
pub const POINTER_BYTES: usize = 8;

/// A field of the record, as described by its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineField {
    /// Offset of the field in the record.
    pub offset: usize,
    /// Bytes of the field in the record.
    pub len: usize,
    /// Byte index and mask of the field's NULL bit.
    pub null_bit: Option<(usize, u8)>,
}

/// The position of each stored column in a table's records, with its conversion to InnoDB's format.
#[derive(Clone, Debug)]
pub struct RecordLayout {
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    offset: usize,
    len: usize,
    null_bit: Option<(usize, u8)>,
    form: Form,
}

/// The form of a column's bytes in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    AsStored,
    /// Little-endian; in InnoDB big-endian with the sign bit flipped.
    Reversed {
        signed: bool,
    },
    /// Padded with single-byte spaces, which InnoDB removes down to one byte per character.
    PaddedChar {
        chars: usize,
    },
    Varying {
        length_bytes: usize,
    },
    Blob {
        length_bytes: usize,
    },
    /// Uneven bits as the highest ones; they begin at this bit of the record.
    Bit {
        uneven: u8,
        first_bit: usize,
    },
}

/// The location of a value's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Null,
    Record(Range<usize>),
    Blobs(Range<usize>),
    Converted(Range<usize>),
}

/// The values of one row, reused from row to row to save allocations.
#[derive(Clone, Debug, Default)]
pub struct RowValues {
    converted: Vec<u8>,
    places: Vec<Place>,
}

impl RecordLayout {
    /// Creates the layout from a table's definition and its engine's description of the fields.
    /// These are in the order of their offsets, without fields of no bytes; the bits in front may
    /// be a field of their own. Refuses a definition and fields that do not describe the same
    /// record.
    pub fn new(def: &TableDef, fields: &[EngineField]) -> Result<RecordLayout> {
        let mut columns = Vec::new();
        let (bits, n_bits) = first_bits(def);
        let mut fields = fields.iter().peekable();
        // The bits precede the first column. They can have a byte more than the columns need:
        // hidden columns are not in the definition.
        let bits_field = fields.next_if(|first| n_bits > 0 && first.offset == 0);
        let mut offset = match bits_field {
            Some(bits) => bits.len,
            None => fields.peek().map_or(0, |first| first.offset),
        };
        if offset * 8 < n_bits {
            return Err(Error::schema("the engine's file has fewer NULL bits than the definition"));
        }
        for (column, first_bit) in def.columns.iter().zip(bits) {
            if column.compressed {
                return Err(Error::unsupported(
                    format!("the compressed column `{}`", column.name),
                    Remedy::ConvertOnServer("ALTER TABLE ... MODIFY it without COMPRESSED".into()),
                ));
            }
            if !column.is_stored() {
                continue;
            }
            let null_bit = column.nullable.then(|| (first_bit / 8, 1 << (first_bit % 8)));
            let (form, len) = form(&column.ty, first_bit + usize::from(column.nullable))?;
            if len > 0 {
                let said = fields.next();
                let wanted = EngineField { offset, len, null_bit };
                if said != Some(&wanted) {
                    return Err(does_not_fit(&column.name, wanted, said));
                }
            }
            columns.push(Column { name: column.name.clone(), offset, len, null_bit, form });
            offset += len;
        }
        match fields.next() {
            None => Ok(RecordLayout { columns }),
            Some(_) => Err(Error::schema("the engine's file has more columns than the definition")),
        }
    }

    /// Locates the values of a row. `blobs` has the bytes to which the BLOBs' positions refer.
    pub fn read(&self, record: &[u8], blobs: &[u8], values: &mut RowValues) -> Result<()> {
        values.converted.clear();
        values.places.clear();
        for column in &self.columns {
            let place = column
                .place(record, blobs, &mut values.converted)
                .map_err(|error| error.at_column(&column.name))?;
            values.places.push(place);
        }
        Ok(())
    }
}

impl RowValues {
    /// Returns the values of the row that was read last: its stored columns in the definition's
    /// order, in InnoDB's format. `record` and `blobs` are those of [`RecordLayout::read`].
    pub fn row<'a>(&'a self, record: &'a [u8], blobs: &'a [u8]) -> Vec<Option<&'a [u8]>> {
        let value = |place: &Place| match place {
            Place::Null => None,
            Place::Record(range) => record.get(range.clone()),
            Place::Blobs(range) => blobs.get(range.clone()),
            Place::Converted(range) => self.converted.get(range.clone()),
        };
        self.places.iter().map(value).collect()
    }
}

#[cold]
fn does_not_fit(name: &str, wanted: EngineField, said: Option<&EngineField>) -> Error {
    let place = |field: &EngineField| format!("{} bytes from {}", field.len, field.offset);
    Error::schema(format!(
        "the .frm file has {} for column `{name}`, the engine's file {}: they are not of one table",
        place(&wanted),
        said.map_or_else(|| "nothing".to_owned(), place),
    ))
}

/// Returns the first bit of each column (that of NULL if it has one, then its uneven bits), and the
/// total number of bits. MySQL 5.7 counts virtual columns after all others.
fn first_bits(def: &TableDef) -> (Vec<usize>, usize) {
    let mut bits = vec![0; def.columns.len()];
    let mut next = usize::from(def.packs_records == Some(false));
    let virtual_last = def.server.family == Family::MySql;
    let passes: &[bool] = if virtual_last { &[true, false] } else { &[true] };
    for &stored in passes {
        for (column, bit) in def.columns.iter().zip(&mut bits) {
            if virtual_last && column.is_stored() != stored {
                continue;
            }
            *bit = next;
            next += usize::from(column.nullable);
            if let ColumnType::Bit { bits } = column.ty {
                next += usize::from(bits % 8);
            }
        }
    }
    (bits, next)
}

/// Returns the form of a type in the record, and its bytes. `first_uneven` is the first of a
/// `BIT`'s uneven bits.
fn form(ty: &ColumnType, first_uneven: usize) -> Result<(Form, usize)> {
    let reversed = |signed, len| (Form::Reversed { signed }, len);
    let as_stored = |len| (Form::AsStored, len);
    let varying = |len: usize| {
        let length_bytes = if len < 256 { 1 } else { 2 };
        (Form::Varying { length_bytes }, len + length_bytes)
    };
    let blob = |length_bytes: u8| {
        let length_bytes = usize::from(length_bytes);
        (Form::Blob { length_bytes }, length_bytes + POINTER_BYTES)
    };
    Ok(match ty {
        ColumnType::Int { width, unsigned, .. } => reversed(!unsigned, *width as usize),
        ColumnType::Decimal { precision, scale, .. } => {
            as_stored(crate::types::decimal::size_bytes(*precision, *scale))
        }
        ColumnType::Float(_) => as_stored(4),
        ColumnType::Double(_) => as_stored(8),
        ColumnType::Bit { bits } => {
            let form = Form::Bit { uneven: bits % 8, first_bit: first_uneven };
            (form, usize::from(bits / 8))
        }
        ColumnType::Year { .. } => as_stored(1),
        ColumnType::Date => reversed(true, 3),
        ColumnType::Time(temporal) => {
            let len = crate::types::temporal::time_bytes(temporal.format, temporal.fsp);
            if is_old(temporal.format) { reversed(true, len) } else { as_stored(len) }
        }
        ColumnType::DateTime(temporal) => {
            let len = crate::types::temporal::datetime_bytes(temporal.format, temporal.fsp);
            if is_old(temporal.format) { reversed(true, len) } else { as_stored(len) }
        }
        ColumnType::Timestamp(temporal) => {
            let len = crate::types::temporal::timestamp_bytes(temporal.format, temporal.fsp);
            if is_old(temporal.format) { reversed(false, len) } else { as_stored(len) }
        }
        ColumnType::Char { chars, collation } => {
            let charset = collation.charset()?;
            let chars = *chars as usize;
            let form = match (charset, charset.min_len(), charset.max_len()) {
                (Charset::Binary, ..) => Form::AsStored,
                (_, 1, 2..) => Form::PaddedChar { chars },
                _ => Form::AsStored,
            };
            (form, chars * charset.max_len())
        }
        ColumnType::VarChar { chars, collation } => {
            varying(*chars as usize * collation.charset()?.max_len())
        }
        ColumnType::Binary { bytes } => as_stored(*bytes as usize),
        ColumnType::VarBinary { bytes } => varying(*bytes as usize),
        ColumnType::Vector { dimensions } => varying(*dimensions as usize * 4),
        ColumnType::Text { length_bytes, .. } | ColumnType::Blob { length_bytes } => {
            blob(*length_bytes)
        }
        ColumnType::Json | ColumnType::Geometry(_) => blob(4),
        ColumnType::Enum { members, .. } => {
            reversed(false, if members.len() < 256 { 1 } else { 2 })
        }
        ColumnType::Set { members, .. } => match members.len().div_ceil(8) {
            len @ 0..=4 => reversed(false, len.max(1)),
            _ => reversed(false, 8),
        },
        ColumnType::Uuid | ColumnType::UuidReversed | ColumnType::Inet6 => as_stored(16),
        ColumnType::Inet4 => as_stored(4),
    })
}

/// Returns the bytes of a column in the record; `None` when no server has such a type.
pub(crate) fn field_len(ty: &ColumnType) -> Option<usize> {
    form(ty, 0).ok().map(|(_, len)| len)
}

/// Returns whether InnoDB stores the bytes in reverse order, and if so whether the sign bit is
/// flipped.
pub(crate) fn is_reversed(ty: &ColumnType) -> Option<bool> {
    match form(ty, 0).ok()?.0 {
        Form::Reversed { signed } => Some(signed),
        _ => None,
    }
}

/// Returns the bytes as big-endian, with the sign bit of InnoDB.
pub(crate) fn reversed(field: &[u8], signed: bool) -> Vec<u8> {
    let mut stored = Vec::new();
    write_reversed(field, signed, &mut stored);
    stored
}

fn write_reversed(field: &[u8], signed: bool, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend(field.iter().rev());
    if let Some(first) = out.get_mut(start).filter(|_| signed) {
        *first ^= 0x80;
    }
}

fn is_old(format: TemporalFormat) -> bool {
    format == TemporalFormat::Old
}

impl Column {
    fn place(&self, record: &[u8], blobs: &[u8], converted: &mut Vec<u8>) -> Result<Place> {
        if let Some((byte, mask)) = self.null_bit
            && bytes::u8_at(record, byte)? & mask != 0
        {
            return Ok(Place::Null);
        }
        let field = bytes::slice(record, self.offset, self.len)?;
        let start = converted.len();
        match self.form {
            Form::AsStored => return Ok(Place::Record(self.offset..self.offset + self.len)),
            Form::Reversed { signed } => write_reversed(field, signed, converted),
            Form::PaddedChar { chars } => {
                let trimmed = Charset::Latin1.trim_end(field).len().max(chars.min(self.len));
                return Ok(Place::Record(self.offset..self.offset + trimmed));
            }
            Form::Varying { length_bytes } => {
                let len = length(field, length_bytes)?;
                let start = self.offset + length_bytes;
                if len > self.len - length_bytes {
                    return Err(Error::corrupt(format!(
                        "a value of {len} bytes in a column of at most {}",
                        self.len - length_bytes
                    )));
                }
                return Ok(Place::Record(start..start + len));
            }
            Form::Blob { length_bytes } => {
                let len = length(field, length_bytes)?;
                let at = u64::from_le_bytes(bytes::array(field, length_bytes)?);
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                // An empty value need not have a position.
                let at = if len == 0 { 0 } else { at };
                bytes::slice(blobs, at, len)?;
                return Ok(Place::Blobs(at..at + len));
            }
            Form::Bit { uneven, first_bit } => {
                if uneven > 0 {
                    let low = bytes::u8_at(record, first_bit / 8)?;
                    let high = match first_bit % 8 + usize::from(uneven) {
                        0..=8 => 0,
                        _ => bytes::u8_at(record, first_bit / 8 + 1)?,
                    };
                    let bits = u16::from_le_bytes([low, high]) >> (first_bit % 8);
                    converted.push((bits & ((1 << uneven) - 1)) as u8);
                }
                converted.extend_from_slice(field);
            }
        }
        Ok(Place::Converted(start..converted.len()))
    }
}

/// Reads a little-endian length of `length_bytes` bytes.
pub(crate) fn length(bytes: &[u8], length_bytes: usize) -> Result<usize> {
    Ok(match length_bytes {
        1 => usize::from(bytes::u8_at(bytes, 0)?),
        2 => usize::from(bytes::u16_le_at(bytes, 0)?),
        3 => bytes::u24_le_at(bytes, 0)? as usize,
        4 => bytes::u32_le_at(bytes, 0)? as usize,
        _ => return Err(Error::corrupt(format!("a length cannot have {length_bytes} bytes"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charset::CollationId;
    use crate::schema::{ColumnDef, ServerVersion, TableOptions};
    use crate::types::IntWidth;

    #[test]
    fn bytes_of_decimals() {
        for (precision, scale, bytes) in
            [(10, 2, 5), (65, 30, 30), (9, 9, 4), (1, 0, 1), (18, 9, 8)]
        {
            let ty = ColumnType::Decimal { precision, scale, unsigned: false, zerofill: false };
            assert_eq!(field_len(&ty), Some(bytes));
        }
    }

    fn table(columns: Vec<ColumnDef>) -> TableDef {
        let options = TableOptions::new("MyISAM", CollationId::BINARY);
        let server = ServerVersion::from_number(101_119);
        let mut def = TableDef::new("d", "t", server, options);
        def.packs_records = Some(true);
        def.columns = columns;
        def
    }

    #[test]
    fn bits_blobs_and_numbers_of_a_record() {
        let int = ColumnType::Int {
            width: IntWidth::Two,
            unsigned: false,
            zerofill: false,
            display_width: None,
        };
        let def = table(vec![
            ColumnDef::new("a", int),
            ColumnDef::new("b", ColumnType::Bit { bits: 15 }),
            ColumnDef::new("c", ColumnType::Blob { length_bytes: 2 }),
        ]);
        let field = |offset, len, null_bit| EngineField { offset, len, null_bit };
        let fields = [
            field(0, 2, None),
            field(2, 2, Some((0, 1))),
            field(4, 1, Some((0, 2))),
            field(5, 10, Some((1, 2))),
        ];
        let layout = RecordLayout::new(&def, &fields).unwrap();
        let mut values = RowValues::default();
        // 7 uneven bits from the third bit on; the BLOB's 2 bytes are from byte 3 on
        let record = [0b1111_1100, 0b0000_0001, 0xfe, 0xff, 0x42, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        layout.read(&record, b"...xy", &mut values).unwrap();
        let row = values.row(&record, b"...xy");
        assert_eq!(row, [Some(&[0x7f, 0xfe][..]), Some(&[0x7f, 0x42]), Some(b"xy")]);
        assert!(layout.read(&record, b"...x", &mut values).unwrap_err().is_corrupt());
        let record = [0b0000_0011, 0b0000_0010, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        layout.read(&record, b"", &mut values).unwrap();
        assert_eq!(values.row(&record, b""), [None, None, None]);
        // fields of another table
        assert!(RecordLayout::new(&def, &fields[..3]).is_err());
        assert!(RecordLayout::new(&table(Vec::new()), &fields).is_err());
    }
}
