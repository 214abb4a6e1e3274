//! Lossless values: the meaning of a column's bytes, before any output format.
//!
//! A [`Value`] keeps distinctions of SQL that most type systems lack: zero dates and dates with a
//! zero month, times of 838 hours, `ENUM` index 0, decimals of 65 digits, text in its own charset.
//! Nothing is rounded, clipped or transcoded.

use crate::charset::CollationId;
use crate::server::ServerVersion;

/// The value of a stored column.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A `DECIMAL`.
    Decimal(Decimal<'a>),
    /// A `FLOAT`.
    Float(f32),
    /// A `DOUBLE`.
    Double(f64),
    /// A `BIT(bits)` as a number.
    Bit(u64),
    /// A `YEAR`: 0, or 1901..=2155.
    Year(u16),
    /// A `DATE`.
    Date(Date),
    /// A `TIME`.
    Time(Time),
    /// A `DATETIME`.
    DateTime(DateTime),
    /// A `TIMESTAMP`.
    Timestamp(Timestamp),
    /// `CHAR` (without padding), `VARCHAR` or `TEXT`, in its charset.
    Text(&'a [u8], CollationId),
    /// `BINARY`, `VARBINARY` or `BLOB`.
    Bytes(&'a [u8]),
    /// An `ENUM`'s index; 0 is the empty string that stands for a refused value.
    Enum(u16),
    /// A `SET`'s mask; bit 0 is the first member.
    Set(u64),
    /// MySQL's binary `JSON`.
    Json(Json<'a>),
    /// A geometry: 4 bytes of SRID, little-endian, then WKB.
    Geometry(&'a [u8]),
    /// A `VECTOR`: 4-byte floats, little-endian.
    Vector(&'a [u8]),
    /// A `UUID`, with its bytes in the order of its text.
    Uuid([u8; 16]),
    /// An `INET4` address.
    Inet4([u8; 4]),
    /// An `INET6` address.
    Inet6([u8; 16]),
}

/// A `DECIMAL` in the server's binary form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal<'a> {
    /// The bytes as stored.
    pub stored: &'a [u8],
    /// Total number of digits.
    pub precision: u8,
    /// Digits after the decimal point.
    pub scale: u8,
}

/// A `DATE`. Any part may be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "names say it")]
pub struct Date {
    pub year: u16,
    pub month: u8,
    pub day: u8,
}

/// A `TIME`: a signed duration up to 838:59:59.999999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Whether the time is negative.
    pub negative: bool,
    /// Hours, 0..=838 (bytes allow up to 1023).
    pub hours: u16,
    /// Minutes, 0..=59 (bytes allow up to 63).
    pub minutes: u8,
    /// Seconds, 0..=59 (bytes allow up to 63).
    pub seconds: u8,
    /// Microseconds.
    pub micros: u32,
    /// Digits of the fraction to print.
    pub fsp: u8,
}

/// A `DATETIME`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateTime {
    /// The date part; all zeroes for the zero date.
    pub date: Date,
    /// Hours, 0..=23 (bytes allow up to 31).
    pub hours: u8,
    /// Minutes, 0..=59 (bytes allow up to 63).
    pub minutes: u8,
    /// Seconds, 0..=59 (bytes allow up to 63).
    pub seconds: u8,
    /// Microseconds.
    pub micros: u32,
    /// Digits of the fraction to print.
    pub fsp: u8,
}

/// A `TIMESTAMP`: an instant, or the zero date where both numbers are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamp {
    /// Seconds since 1970-01-01 00:00:00 UTC.
    pub seconds: u32,
    /// Microseconds.
    pub micros: u32,
    /// Digits of the fraction to print.
    pub fsp: u8,
}

/// A MySQL binary JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<'a> {
    /// The bytes as stored; empty stands for `null`, as on the server.
    pub stored: &'a [u8],
    /// The server, since servers print some values differently.
    pub(crate) server: ServerVersion,
}
