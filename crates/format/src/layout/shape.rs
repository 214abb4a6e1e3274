//! The storage of a column's type in a record: fixed or variable length, and how much.
//!
//! The rules are InnoDB's `get_innobase_type_from_mysql_type`, `dtype_get_fixed_size_low` and
//! `DATA_BIG_COL` (`ha_innodb.cc`, `data0type.ic`, `data0type.h` of MySQL 9.7 and MariaDB 10.11).

use crate::Result;
use crate::schema::Family;
use crate::types::{ColumnType, IntWidth, Temporal, TemporalFormat};

/// `DICT_MAX_FIXED_COL_LEN`: a longer fixed-length column is stored as a variable-length one, so
/// that it can be off-page.
const MAX_FIXED_LEN: u32 = 768;

/// The storage of a column in a record of COMPACT or DYNAMIC form. (REDUNDANT records say where
/// each field ends.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Length in bytes, if fixed.
    pub fixed_len: Option<u16>,
    /// Whether the length takes two bytes when it is 128 or more, or when the column is off-page.
    pub big: bool,
    /// Maximum length in bytes; for LOBs that of their length prefix.
    pub max_len: u32,
    /// Whether the type is a LOB, indexed by prefix only.
    pub lob: bool,
}

impl Shape {
    pub(super) const fn fixed(len: u16) -> Shape {
        Shape { fixed_len: Some(len), big: false, max_len: len as u32, lob: false }
    }

    fn variable(max_len: u32) -> Shape {
        Shape { fixed_len: None, big: max_len > 255, max_len, lob: false }
    }

    fn lob(length_bytes: u8) -> Shape {
        let max_len = u32::MAX >> (32 - 8 * u32::from(length_bytes.clamp(1, 4)));
        Shape { fixed_len: None, big: true, max_len, lob: true }
    }

    fn fixed_or_big(len: u32) -> Shape {
        match u16::try_from(len) {
            // BINARY(0) and CHAR(0) store a length: in a record, a fixed length of 0 means none.
            Ok(short @ 1..) if len <= MAX_FIXED_LEN => Shape::fixed(short),
            _ => Shape::variable(len),
        }
    }

    /// Returns the shape of a compressed column: each value has a byte more, for the method
    /// (`Field_varstring_compressed`, `field.h`, MariaDB 10.11).
    pub(super) fn compressed(self) -> Shape {
        if self.lob { self } else { Shape::variable(self.max_len.saturating_add(1)) }
    }

    /// Returns the shape of a key field that holds the first `bytes` of the column.
    pub(super) fn prefix(self, bytes: u32) -> Shape {
        let short = u16::try_from(bytes).unwrap_or(u16::MAX);
        Shape { fixed_len: self.fixed_len.map(|len| len.min(short)), ..self }
    }

    /// Returns the shape of a column that MariaDB dropped instantly, from its metadata
    /// (`dict_col_t::set_dropped`).
    pub(super) fn dropped(map_len: u16) -> Shape {
        match map_len {
            0 => Shape::variable(255),
            1 => Shape::variable(65535),
            len => Shape::fixed(len - 1),
        }
    }
}

/// Returns the shape of a type defined by a server of `family`.
pub(super) fn shape_of(ty: &ColumnType, family: Family) -> Result<Shape> {
    Ok(match ty {
        ColumnType::Int { width, .. } => Shape::fixed(int_len(*width)),
        ColumnType::Decimal { precision, scale, .. } => {
            Shape::fixed(decimal_len(precision.saturating_sub(*scale)) + decimal_len(*scale))
        }
        ColumnType::Float(_) => Shape::fixed(4),
        ColumnType::Double(_) => Shape::fixed(8),
        ColumnType::Bit { bits } => Shape::fixed(u16::from(bits.div_ceil(8))),
        ColumnType::Year { .. } => Shape::fixed(1),
        ColumnType::Date => Shape::fixed(3),
        ColumnType::Time(temporal) => Shape::fixed(time_len(*temporal)),
        ColumnType::DateTime(temporal) => Shape::fixed(datetime_len(*temporal)),
        ColumnType::Timestamp(temporal) => Shape::fixed(timestamp_len(*temporal)),
        ColumnType::Char { chars, collation } => {
            let charset = collation.charset()?;
            let bytes = bytes_of(*chars, charset.max_len());
            if charset.min_len() == charset.max_len() {
                Shape::fixed_or_big(bytes)
            } else {
                Shape::variable(bytes)
            }
        }
        ColumnType::VarChar { chars, collation } => {
            Shape::variable(bytes_of(*chars, collation.charset()?.max_len()))
        }
        ColumnType::Binary { bytes } => Shape::fixed_or_big(*bytes),
        ColumnType::VarBinary { bytes } => Shape::variable(*bytes),
        ColumnType::Text { length_bytes, .. } | ColumnType::Blob { length_bytes } => {
            Shape::lob(*length_bytes)
        }
        ColumnType::Enum { members, .. } => Shape::fixed(if members.len() < 256 { 1 } else { 2 }),
        ColumnType::Set { members, .. } => Shape::fixed(match members.len().div_ceil(8) {
            0 => 1,
            bytes @ 1..=4 => bytes as u16,
            _ => 8,
        }),
        ColumnType::Json | ColumnType::Geometry(_) => Shape::lob(4),
        // A LOB in MySQL 9, a VARBINARY in MariaDB 11.7 (`Field_vector`).
        ColumnType::Vector { dimensions } => match family {
            Family::MySql => Shape::lob(4),
            Family::MariaDb => Shape::variable(dimensions.saturating_mul(4)),
        },
        ColumnType::Uuid | ColumnType::UuidReversed | ColumnType::Inet6 => Shape::fixed(16),
        ColumnType::Inet4 => Shape::fixed(4),
    })
}

fn bytes_of(chars: u32, max_len: usize) -> u32 {
    chars.saturating_mul(max_len as u32)
}

/// Returns the bytes of a key part of `chars` characters (bytes, for binary types).
pub(super) fn prefix_bytes(ty: &ColumnType, chars: u32) -> Result<u32> {
    Ok(match ty {
        ColumnType::Char { collation, .. }
        | ColumnType::VarChar { collation, .. }
        | ColumnType::Text { collation, .. } => bytes_of(chars, collation.charset()?.max_len()),
        _ => chars,
    })
}

fn int_len(width: IntWidth) -> u16 {
    width as u16
}

/// Returns the bytes of `digits` decimal digits: 4 for each 9 digits, and as few as possible for
/// the rest (`decimal.cc`, `dig2bytes`).
fn decimal_len(digits: u8) -> u16 {
    let rest = match digits % 9 {
        0 => 0,
        1 | 2 => 1,
        3 | 4 => 2,
        5 | 6 => 3,
        _ => 4,
    };
    u16::from(digits / 9) * 4 + rest
}

fn fraction_len(fsp: u8) -> u16 {
    u16::from(fsp.div_ceil(2))
}

/// Selects a length by the digits of the fraction (`Type_handler_time::m_hires_bytes` and the like,
/// `sql_type.cc`, MariaDB 10.11).
fn hires_len(fsp: u8, lens: [u16; 7]) -> u16 {
    lens.get(fsp as usize).copied().unwrap_or_default()
}

fn time_len(temporal: Temporal) -> u16 {
    match temporal.format {
        TemporalFormat::New => 3 + fraction_len(temporal.fsp),
        TemporalFormat::Old => 3,
        TemporalFormat::OldHires => hires_len(temporal.fsp, [3, 4, 4, 5, 5, 5, 6]),
    }
}

fn datetime_len(temporal: Temporal) -> u16 {
    match temporal.format {
        TemporalFormat::New => 5 + fraction_len(temporal.fsp),
        TemporalFormat::Old => 8,
        TemporalFormat::OldHires => hires_len(temporal.fsp, [5, 6, 6, 7, 7, 7, 8]),
    }
}

fn timestamp_len(temporal: Temporal) -> u16 {
    match temporal.format {
        TemporalFormat::New => 4 + fraction_len(temporal.fsp),
        TemporalFormat::Old => 4,
        TemporalFormat::OldHires => 4 + hires_len(temporal.fsp, [0, 1, 1, 2, 2, 3, 3]),
    }
}
