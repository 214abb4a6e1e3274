//! `CHECKSUM TABLE`: the sum, modulo 2^32, of a CRC-32 (zlib's) of every row.
//!
//! The CRC of a row covers, in this order:
//!
//! 1. the null bytes of the server's record: one bit per nullable column, from the lowest bit of
//!    the first byte. In a table without variable-length columns (according to the dictionary: see
//!    `packs_records`) the first bit has another purpose, and is set. Bits after the last are set.
//!    MySQL, and MariaDB to 10.2, set all eight bits of the last byte when none is left over;
//!    MariaDB then treats the columns with these bits as NULL. The hash columns behind MariaDB's
//!    long unique keys, the last of the record, also have null bits where a column of their key may
//!    be NULL. InnoDB leaves these set; MyISAM and Aria store them with the row: set where a column
//!    of the key is NULL. In MyISAM and Aria the uneven bits of a `BIT` follow its null bit.
//! 2. every column: its bytes in the server's record (little-endian integers, a `CHAR` padded to
//!    its maximum length), or its text where the record holds a pointer: `VARCHAR`, `BLOB`, `JSON`,
//!    `GEOMETRY`, `VECTOR`, and for `BIT`.
//!
//! For a NULL, MySQL includes the bytes of the column's default; MariaDB includes nothing.
//!
//! The checksums of some tables cannot be calculated from their files:
//!
//! - MySQL includes virtual columns, and those behind functional indexes;
//! - MySQL 5.7 includes the memory address of a JSON column's bytes;
//! - MariaDB leaves virtual columns out, but includes their null bits without ever setting them:
//!   from the fifth row of a scan on they are uninitialised memory. Observed on 10.2.11 to 11.8.9,
//!   which return different sums for one table of 40 rows;
//! - MariaDB 10.5.23, 10.11.19, 11.4.5 and 11.8.6 do the same with stored generated columns (they
//!   treat them as virtual, `TABLE::use_all_stored_columns`); 10.2.11 and 11.8.9 include them.
//!
//! Sources: `mysql_checksum_table` (sql_table.cc, MySQL 9.7), `handler::calculate_checksum`
//! (handler.cc, MariaDB 10.11); `find_record_length` (default_values.cc, MySQL 9.7) for the null
//! bytes.

use super::{Class, Codec, ColumnType};
use crate::schema::{
    ColumnDef, ColumnDefault, Family, IndexDef, IndexSource, ServerVersion, TableDef,
};
use crate::{Error, Remedy, Result};

/// Calculates the checksum of rows of one table like its server's `CHECKSUM TABLE`.
#[derive(Clone, Debug)]
pub struct RowChecksum {
    /// Null bytes of a row without NULLs; empty when the record has none.
    null_bytes: Vec<u8>,
    columns: Vec<Column>,
    /// Index of the null byte whose columns are treated as NULL.
    all_null_byte: Option<usize>,
    /// Null bits of hash columns that are stored with the row, each with the indexes in a row of
    /// its key's columns.
    hash_bits: Vec<(usize, Vec<usize>)>,
}

#[derive(Clone, Debug)]
struct Column {
    codec: Codec,
    name: String,
    /// Byte index and mask of the column's null bit.
    null_bit: Option<(usize, u8)>,
    /// Position among the null bits of the first of a `BIT`'s uneven bits, and their number.
    uneven_bits: Option<(usize, u8)>,
    /// The bytes included for a NULL.
    null_image: Vec<u8>,
    /// Whether the bytes are included as stored.
    as_stored: bool,
}

impl RowChecksum {
    /// Creates the checksum of a table; refuses tables whose server includes data that is not in
    /// the file.
    pub fn new(table: &TableDef) -> Result<RowChecksum> {
        require_stable(table)?;
        // The first bit marks deleted records where rows have a fixed size.
        let mut bits = usize::from(!packs_records(table));
        // A column has at most a null bit and seven uneven ones.
        let hashes = nullable_hashes(table);
        let mut null_bytes = vec![0_u8; bits + table.columns.len() + hashes.len()];
        let keeps_null_bytes = ["MyISAM", "Aria", "Maria"]
            .iter()
            .any(|engine| table.options.engine.eq_ignore_ascii_case(engine));
        if let Some(first) = null_bytes.first_mut().filter(|_| bits > 0) {
            *first |= 1;
        }
        let mut columns = Vec::new();
        for column in table.columns.iter().filter(|column| !column.is_key_hash()) {
            let null_bit = column.nullable.then(|| {
                bits += 1;
                ((bits - 1) / 8, 1 << ((bits - 1) % 8))
            });
            let uneven_bits = match column.ty {
                ColumnType::Bit { bits: width } if keeps_null_bytes && width % 8 > 0 => {
                    bits += usize::from(width % 8);
                    Some((bits - usize::from(width % 8), width % 8))
                }
                _ => None,
            };
            if column.is_stored() {
                columns.push(Column::new(column, null_bit, uneven_bits, table)?);
            }
        }
        let mut hash_bits = Vec::new();
        for key_columns in hashes {
            match keeps_null_bytes {
                true => hash_bits.push((bits, key_columns)),
                false => set_bits(&mut null_bytes, bits, 1, 1),
            }
            bits += 1;
        }
        null_bytes.truncate(bits.div_ceil(8));
        let mut all_null_byte = None;
        if let Some(last) = null_bytes.last_mut() {
            *last |= match bits % 8 {
                0 if sets_all_of_a_full_byte(table.server) => 0xff,
                0 => 0,
                used => !0 << used,
            };
            let is_full = bits % 8 == 0 && sets_all_of_a_full_byte(table.server);
            if is_full && table.server.family == Family::MariaDb {
                all_null_byte = Some(bits / 8 - 1);
            }
        }
        Ok(RowChecksum { null_bytes, columns, all_null_byte, hash_bits })
    }

    /// Returns a row's part of the sum. `row` has the stored columns in SQL order, as records hold
    /// them; `scratch` is overwritten.
    pub fn row(&self, row: &[Option<&[u8]>], scratch: &mut Vec<u8>) -> Result<u32> {
        require_columns(row, self.columns.len())?;
        scratch.clear();
        scratch.extend_from_slice(&self.null_bytes);
        for (column, value) in self.columns.iter().zip(row) {
            if let (Some((byte, mask)), None) = (column.null_bit, value)
                && let Some(byte) = scratch.get_mut(byte)
            {
                *byte |= mask;
            }
            if let (Some((first, n)), Some(value)) = (column.uneven_bits, value) {
                set_bits(scratch, first, value.first().copied().unwrap_or(0), n);
            }
        }
        for (bit, key_columns) in &self.hash_bits {
            if key_columns.iter().any(|&column| matches!(row.get(column), Some(None))) {
                set_bits(scratch, *bit, 1, 1);
            }
        }
        let mut crc = crc32fast::Hasher::new();
        for (column, value) in self.columns.iter().zip(row) {
            let byte = column.null_bit.map(|(byte, _)| byte);
            let value = value.filter(|_| byte.is_none() || byte != self.all_null_byte);
            match value {
                None => scratch.extend_from_slice(&column.null_image),
                Some(stored) if column.as_stored && stored.len() >= LONG_BYTES => {
                    crc.update(scratch);
                    scratch.clear();
                    crc.update(stored);
                }
                Some(stored) if column.as_stored => scratch.extend_from_slice(stored),
                Some(stored) => column
                    .codec
                    .write_record_image(stored, scratch)
                    .map_err(|error| error.at_column(&column.name))?,
            }
        }
        crc.update(scratch);
        Ok(crc.finalize())
    }
}

/// Requires that a row has as many columns as its table stores.
pub(super) fn require_columns(row: &[Option<&[u8]>], stored: usize) -> Result<()> {
    match row.len() == stored {
        true => Ok(()),
        false => Err(Error::schema(format!(
            "a row of {} columns in a table that stores {stored}",
            row.len()
        ))),
    }
}

fn require_stable(table: &TableDef) -> Result<()> {
    let server = table.server;
    let functional = || {
        let mut parts = table.indexes.iter().flat_map(|index| &index.parts);
        parts.any(|part| matches!(part.source, IndexSource::Expression(_)))
    };
    let has_virtual = table.columns.iter().any(|column| !column.is_stored());
    if server.family == Family::MySql && (has_virtual || functional()) {
        return Err(Error::unsupported(
            "the checksum of a table with virtual generated columns (MySQL counts their values, which are \
             not in the file)",
            Remedy::SumStoredColumns,
        ));
    }
    let json = table.columns.iter().any(|column| column.ty == ColumnType::Json);
    if json && server.number < 80_000 {
        return Err(Error::unsupported(
            "the checksum of a table with JSON (MySQL 5.7 sums an address in its memory)",
            Remedy::SumStoredColumns,
        ));
    }
    let unread = |column: &ColumnDef| {
        let stored_generated = column.is_stored() && column.generated.is_some();
        (!column.is_stored() && column.nullable && !column.is_key_hash())
            || (stored_generated && (100_300..110_809).contains(&server.number))
    };
    if server.family == Family::MariaDb && table.columns.iter().any(unread) {
        return Err(Error::unsupported(
            "the checksum of a table with generated columns (MariaDB itself returns varying sums)",
            Remedy::SumStoredColumns,
        ));
    }
    Ok(())
}

/// Returns the hash columns that have a null bit, each as the indexes in a row of those columns of
/// its long unique key that may be NULL.
fn nullable_hashes(table: &TableDef) -> Vec<Vec<usize>> {
    let place = |number: usize| {
        let before = table.columns.iter().take(number);
        let column = table.columns.get(number)?;
        (column.nullable && column.is_stored())
            .then(|| before.filter(|column| column.is_stored()).count())
    };
    let places = |index: &IndexDef| -> Vec<usize> {
        let columns = index.parts.iter().filter_map(|part| match part.source {
            IndexSource::Column(number) => place(number),
            IndexSource::Expression(_) => None,
        });
        columns.collect()
    };
    table.long_unique_keys().map(places).filter(|places| !places.is_empty()).collect()
}

/// Returns whether the server sets all bits of the last null byte when no bit is left over
/// (`null_mask`).
fn sets_all_of_a_full_byte(server: ServerVersion) -> bool {
    server.family == Family::MySql || server.number < 100_300
}

/// Writes the lowest `n` bits of a byte at bit position `first`.
fn set_bits(bytes: &mut [u8], first: usize, bits: u8, n: u8) {
    for step in (0..usize::from(n)).filter(|step| bits >> step & 1 == 1) {
        if let Some(byte) = bytes.get_mut((first + step) / 8) {
            *byte |= 1 << ((first + step) % 8);
        }
    }
}

/// Values of this size or more are not copied first.
const LONG_BYTES: usize = 1024;

impl Column {
    fn new(
        column: &ColumnDef,
        null_bit: Option<(usize, u8)>,
        uneven_bits: Option<(usize, u8)>,
        table: &TableDef,
    ) -> Result<Column> {
        let codec = Codec::new(&column.ty, table.server)?;
        let mut null_image = Vec::new();
        if column.nullable && table.server.family == Family::MySql {
            write_default_image(column, &codec, &mut null_image)?;
        }
        let as_stored = codec.is_stored_as_record_image();
        let name = column.name.clone();
        Ok(Column { codec, name, null_bit, uneven_bits, null_image, as_stored })
    }
}

/// Appends the default's bytes in the server's record.
fn write_default_image(column: &ColumnDef, codec: &Codec, out: &mut Vec<u8>) -> Result<()> {
    let text = match &column.default {
        ColumnDefault::Quoted(text) => text,
        ColumnDefault::Verbatim(text) if codec.class() == Class::Bit => text,
        // Only a number is in the record; expressions and times are not.
        ColumnDefault::Verbatim(text) if text.parse::<f64>().is_ok() => text,
        _ => return codec.write_reset_image(out),
    };
    let mut stored = Vec::new();
    codec.encode(text, &mut stored).map_err(|_| {
        Error::schema(format!("the default `{text}` of column `{}` is not understood", column.name))
    })?;
    codec.write_record_image(&stored, out)
}

/// Returns `HA_OPTION_PACK_RECORD`: the table has a `VARCHAR` or a `BLOB`, or was created with
/// `ROW_FORMAT=DYNAMIC` (`mysql_prepare_create_table` and `mysql_create_table_no_lock`,
/// sql_table.cc). The dictionary's value has precedence: MySQL 8.0.12 does not update it when an
/// instant `ADD COLUMN` adds the first such column.
fn packs_records(table: &TableDef) -> bool {
    if let Some(packs) = table.packs_records {
        return packs;
    }
    let row_format = table.options.row_format.as_deref().unwrap_or_default();
    if row_format.eq_ignore_ascii_case("DYNAMIC") {
        return true;
    }
    table.columns.iter().any(|column| match column.ty {
        ColumnType::VarChar { .. } | ColumnType::VarBinary { .. } => !column.compressed,
        ColumnType::Text { .. }
        | ColumnType::Blob { .. }
        | ColumnType::Json
        | ColumnType::Geometry(_)
        | ColumnType::Vector { .. } => true,
        _ => false,
    })
}
