//! Column types: one file per family, from stored bytes to the server's text.
//!
//! [`Codec`] is the entry point: created from a [`ColumnType`], it reads the bytes of a column as
//! records hold them (off-page parts fetched, instant defaults filled in).

mod bit;
pub mod checksum;
mod codec;
mod compressed_column;
pub(crate) mod decimal;
mod digits;
mod encode;
mod float;
mod integer;
pub(crate) mod json;
mod members;
mod network;
mod received;
pub mod stored_checksum;
pub(crate) mod temporal;

pub use codec::{Class, Codec};
pub use compressed_column::decompress_column;
pub use integer::Integer;
pub use network::{write_inet4, write_inet6, write_uuid};
pub use received::ReceivedAs;

use crate::Error;
use crate::charset::CollationId;
use crate::server::ServerVersion;

/// Creates an error for a stored value whose length differs from that of its type.
#[cold]
fn wrong_length(what: &str, wanted: usize, found: usize) -> Error {
    Error::corrupt(format!("{what} has {found} bytes in the place of {wanted}"))
}

/// A column's type, with all parameters that determine the meaning and the text of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// `TINYINT` .. `BIGINT` (and `BOOL`).
    Int {
        /// Width: 1, 2, 3, 4 or 8 bytes.
        width: IntWidth,
        /// Whether the column is `UNSIGNED`.
        unsigned: bool,
        /// Whether the column is `ZEROFILL`: printed padded to the display width.
        zerofill: bool,
        /// The number in parentheses of `INT(11)`; `None` where the server stores none.
        display_width: Option<u8>,
    },
    /// `DECIMAL(precision, scale)`.
    Decimal {
        /// Total number of digits, 1..=65.
        precision: u8,
        /// Digits after the point, 0..=38 (30 by definition, 38 in MariaDB 10.2+).
        scale: u8,
        /// Whether the column is `UNSIGNED`.
        unsigned: bool,
        /// Whether the column is `ZEROFILL`.
        zerofill: bool,
    },
    /// `FLOAT`, 4 bytes.
    Float(RealFormat),
    /// `DOUBLE`, 8 bytes.
    Double(RealFormat),
    /// `BIT(bits)`.
    Bit {
        /// Number of bits, 1..=64.
        bits: u8,
    },
    /// `YEAR(4)` or the old `YEAR(2)`.
    Year {
        /// Number of digits, 4 or 2.
        digits: u8,
    },
    /// `DATE`.
    Date,
    /// `TIME(fsp)`.
    Time(Temporal),
    /// `DATETIME(fsp)`.
    DateTime(Temporal),
    /// `TIMESTAMP(fsp)`.
    Timestamp(Temporal),
    /// `CHAR(chars)`.
    Char {
        /// Length in characters.
        chars: u32,
        /// Charset and collation.
        collation: CollationId,
    },
    /// `VARCHAR(chars)`.
    VarChar {
        /// Maximum length in characters.
        chars: u32,
        /// Charset and collation.
        collation: CollationId,
    },
    /// `TINYTEXT`, `TEXT`, `MEDIUMTEXT`, `LONGTEXT`.
    Text {
        /// Bytes of the server's length prefix: 1, 2, 3, 4.
        length_bytes: u8,
        /// Charset and collation.
        collation: CollationId,
    },
    /// `BINARY(bytes)`.
    Binary {
        /// Length in bytes.
        bytes: u32,
    },
    /// `VARBINARY(bytes)`.
    VarBinary {
        /// Maximum length in bytes.
        bytes: u32,
    },
    /// `TINYBLOB`, `BLOB`, `MEDIUMBLOB`, `LONGBLOB`.
    Blob {
        /// Bytes of the server's length prefix: 1, 2, 3, 4.
        length_bytes: u8,
    },
    /// `ENUM(...)`.
    Enum {
        /// The members' bytes in the column's charset, in order; index 1 is the first.
        members: Vec<Vec<u8>>,
        /// Charset and collation.
        collation: CollationId,
    },
    /// `SET(...)`.
    Set {
        /// The members' bytes in the column's charset; bit 0 is the first.
        members: Vec<Vec<u8>>,
        /// Charset and collation.
        collation: CollationId,
    },
    /// MySQL's binary `JSON`. (MariaDB's `JSON` is a `LONGTEXT` with a check.)
    Json,
    /// `GEOMETRY`, `POINT`, ...: 4 bytes of SRID, then WKB.
    Geometry(GeometryKind),
    /// `VECTOR(dimensions)`: 4-byte floats, little-endian.
    Vector {
        /// Maximum number of floats.
        dimensions: u32,
    },
    /// MariaDB `UUID`; see [`ColumnType::uuid_of`].
    Uuid,
    /// MariaDB `UUID` of a table created before 10.9.8, 10.10.6 or 10.11.5: every value is stored
    /// with its parts in reverse order, not only those of versions 1 to 5.
    UuidReversed,
    /// MariaDB `INET4`.
    Inet4,
    /// MariaDB `INET6`.
    Inet6,
}

/// The width of an integer type in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntWidth {
    /// `TINYINT`
    One = 1,
    /// `SMALLINT`
    Two = 2,
    /// `MEDIUMINT`
    Three = 3,
    /// `INT`
    Four = 4,
    /// `BIGINT`
    Eight = 8,
}

/// The print format of a `FLOAT` or `DOUBLE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealFormat {
    /// `(M, D)` of `FLOAT(M, D)`; `None` prints the shortest text.
    pub digits: Option<(u8, u8)>,
    /// Whether the column is `UNSIGNED`.
    pub unsigned: bool,
    /// Whether the column is `ZEROFILL`.
    pub zerofill: bool,
}

/// The parameters of a `TIME`, `DATETIME` or `TIMESTAMP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temporal {
    /// Digits of the fractional seconds, 0..=6.
    pub fsp: u8,
    /// Storage form.
    pub format: TemporalFormat,
}

/// The storage forms of temporal types in all servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporalFormat {
    /// MySQL 5.6+ and MariaDB 10.1+ (`TIME2`, `DATETIME2`, `TIMESTAMP2`).
    New,
    /// Before MySQL 5.6: decimal digits in an integer, no fraction.
    Old,
    /// MariaDB 5.3-10.0 with a fraction (`Field_*_hires`).
    OldHires,
}

/// The subtype of a geometry column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the SQL type of its name")]
pub enum GeometryKind {
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}

impl ColumnType {
    /// Returns the `UUID` type of a table whose `.frm` was written by `server`
    /// (plugin/type_uuid/plugin.cc, MariaDB 10.11).
    pub fn uuid_of(server: ServerVersion) -> ColumnType {
        let new = match server.number {
            0 | 110_201.. => true,
            number => {
                let first_new = match number / 100 {
                    1009 => 8,
                    1010 => 6,
                    1011 => 5,
                    1100 => 3,
                    1101 => 2,
                    _ => return ColumnType::UuidReversed,
                };
                // x.99 is a development tree, which the server treats as old.
                (first_new..99).contains(&(number % 100))
            }
        };
        if new { ColumnType::Uuid } else { ColumnType::UuidReversed }
    }
}

#[cfg(test)]
mod tests;
