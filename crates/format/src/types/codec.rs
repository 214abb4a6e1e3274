//! Conversion of a column's stored bytes to values and to text as SQL shows it.

use super::{
    ColumnType, TemporalFormat, bit, decimal, digits, float, integer, members, network, temporal,
    wrong_length,
};
use crate::charset::{Charset, CollationId};
use crate::server::ServerVersion;
use crate::value::{Decimal, Json, Value};
use crate::{Error, Result, bytes};

/// A reader of the stored values of one column. It is created once per column and used for every
/// row.
#[derive(Clone, Debug)]
pub struct Codec {
    pub(super) kind: Kind,
}

/// The parameters of a codec, checked.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Int(integer::Integer),
    Decimal { precision: u8, scale: u8, zerofill: bool },
    Float(float::Real),
    Double(float::Real),
    Bit { bits: u8 },
    Year { digits: u8 },
    Date,
    Time { format: TemporalFormat, fsp: u8 },
    DateTime { format: TemporalFormat, fsp: u8 },
    Timestamp { format: TemporalFormat, fsp: u8 },
    Char { charset: Charset, collation: CollationId, chars: u32 },
    Text { charset: Charset, collation: CollationId },
    Binary { bytes: u32 },
    Bytes,
    Enum(members::Members),
    Set(members::Members),
    Json(ServerVersion),
    Geometry,
    Vector,
    Uuid { always_reversed: bool },
    Inet4,
    Inet6,
}

/// The class of a column's text, by which a sink quotes and escapes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Digits, sign, point and exponent: integers, `DECIMAL`, `FLOAT`, `DOUBLE`, `YEAR`.
    Number,
    /// Digits, dashes, colons, spaces: `DATE`, `TIME`, `DATETIME`, `TIMESTAMP`.
    Temporal,
    /// Text of the column's charset.
    Text,
    /// Bytes without a charset.
    Binary,
    /// `BIT`, whose text form is its bytes.
    Bit,
    /// Text of one member; [`Value::Enum`] has the index.
    Enum,
    /// Texts of members joined by commas; [`Value::Set`] has the mask.
    Set,
    /// MySQL's JSON, as text in utf8mb4.
    Json,
    /// Bytes of a geometry: SRID and WKB.
    Geometry,
    /// Bytes of a vector: floats.
    Vector,
    /// MariaDB's UUID: ASCII text; [`Value::Uuid`] has the bytes in text order.
    Uuid,
    /// MariaDB's `INET4` and `INET6`: ASCII text.
    Inet,
}

impl Class {
    /// Returns whether the server treats the column as a string (`STRING_RESULT`), the criterion of
    /// `OPTIONALLY ENCLOSED BY`: all except numbers and `BIT`.
    pub fn is_string(self) -> bool {
        !matches!(self, Class::Number | Class::Bit)
    }

    /// Returns whether [`Codec::write_text`] writes bytes that need not be text.
    pub fn is_binary(self) -> bool {
        matches!(self, Class::Binary | Class::Bit | Class::Geometry | Class::Vector)
    }
}

impl Codec {
    /// Creates the codec for columns of a type, which prints like `server` (servers differ in
    /// `FLOAT` and `DOUBLE`).
    ///
    /// # Errors
    /// When no server creates such a type, for example a collation without a charset or a `DECIMAL`
    /// of 80 digits.
    pub fn new(ty: &ColumnType, server: ServerVersion) -> Result<Codec> {
        let kind = match ty {
            ColumnType::Int { width, unsigned, zerofill, display_width } => {
                Kind::Int(integer::Integer::new(*width, *unsigned, *zerofill, *display_width))
            }
            &ColumnType::Decimal { precision, scale, zerofill, .. } => {
                if precision == 0 || precision > 65 || scale > precision {
                    return Err(Error::schema(format!(
                        "no server makes a DECIMAL({precision},{scale})"
                    )));
                }
                Kind::Decimal { precision, scale, zerofill }
            }
            ColumnType::Float(real) => Kind::Float(float::Real::float(*real, server)),
            ColumnType::Double(real) => Kind::Double(float::Real::double(*real, server)),
            &ColumnType::Bit { bits } => Kind::Bit { bits: up_to(bits, 64, "bits of a BIT")? },
            &ColumnType::Year { digits } => Kind::Year { digits },
            ColumnType::Date => Kind::Date,
            ColumnType::Time(temporal) => {
                Kind::Time { format: temporal.format, fsp: up_to(temporal.fsp, 6, FSP)? }
            }
            ColumnType::DateTime(temporal) => {
                Kind::DateTime { format: temporal.format, fsp: up_to(temporal.fsp, 6, FSP)? }
            }
            ColumnType::Timestamp(temporal) => {
                Kind::Timestamp { format: temporal.format, fsp: up_to(temporal.fsp, 6, FSP)? }
            }
            &ColumnType::Char { chars, collation } => match collation.charset()? {
                Charset::Binary => Kind::Binary { bytes: chars },
                charset => Kind::Char { charset, collation, chars },
            },
            &(ColumnType::VarChar { collation, .. } | ColumnType::Text { collation, .. }) => {
                match collation.charset()? {
                    Charset::Binary => Kind::Bytes,
                    charset => Kind::Text { charset, collation },
                }
            }
            &ColumnType::Binary { bytes } => Kind::Binary { bytes },
            ColumnType::VarBinary { .. } | ColumnType::Blob { .. } => Kind::Bytes,
            ColumnType::Enum { members, collation } => {
                Kind::Enum(members::Members::new_enum(members, collation.charset()?))
            }
            ColumnType::Set { members, collation } => {
                Kind::Set(members::Members::new_set(members, collation.charset()?))
            }
            ColumnType::Json => Kind::Json(server),
            ColumnType::Geometry(_) => Kind::Geometry,
            ColumnType::Vector { .. } => Kind::Vector,
            ColumnType::Uuid => Kind::Uuid { always_reversed: false },
            ColumnType::UuidReversed => Kind::Uuid { always_reversed: true },
            ColumnType::Inet4 => Kind::Inet4,
            ColumnType::Inet6 => Kind::Inet6,
        };
        Ok(Codec { kind })
    }

    /// Returns the class of the column's text.
    pub fn class(&self) -> Class {
        match &self.kind {
            Kind::Int(_)
            | Kind::Decimal { .. }
            | Kind::Float(_)
            | Kind::Double(_)
            | Kind::Year { .. } => Class::Number,
            Kind::Bit { .. } => Class::Bit,
            Kind::Date | Kind::Time { .. } | Kind::DateTime { .. } | Kind::Timestamp { .. } => {
                Class::Temporal
            }
            Kind::Char { .. } | Kind::Text { .. } => Class::Text,
            Kind::Binary { .. } | Kind::Bytes => Class::Binary,
            Kind::Enum(_) => Class::Enum,
            Kind::Set(_) => Class::Set,
            Kind::Json(_) => Class::Json,
            Kind::Geometry => Class::Geometry,
            Kind::Vector => Class::Vector,
            Kind::Uuid { .. } => Class::Uuid,
            Kind::Inet4 | Kind::Inet6 => Class::Inet,
        }
    }

    /// Returns the charset of the text that [`Codec::write_text`] writes: the column's own; utf8mb4
    /// for JSON; latin1 for numbers, dates and addresses, as on the server; `binary` for bytes.
    pub fn charset(&self) -> Charset {
        match &self.kind {
            Kind::Char { charset, .. } | Kind::Text { charset, .. } => *charset,
            Kind::Enum(members) | Kind::Set(members) => members.charset,
            Kind::Json(_) => Charset::Utf8Mb4,
            _ if self.class().is_binary() => Charset::Binary,
            _ => Charset::Latin1,
        }
    }

    /// Appends exactly the bytes that `SELECT` returns without transcoding (a result in charset
    /// `binary`, or `INTO OUTFILE` before escaping), in time zone +00:00.
    ///
    /// On an error `out` may have a part of the text.
    #[inline(always)]
    pub fn write_text(&self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match &self.kind {
            Kind::Int(integer) => integer.write_text(stored, out)?,
            &Kind::Decimal { precision, scale, zerofill } => {
                decimal::write_text(stored, precision, scale, zerofill, out)?;
            }
            Kind::Float(real) => real.write_float(stored, out)?,
            Kind::Double(real) => real.write_double(stored, out)?,
            &Kind::Bit { bits } => out.extend_from_slice(bit::checked(stored, bits)?),
            &Kind::Year { digits } => temporal::write_year(stored, digits, out)?,
            Kind::Date => temporal::date(stored)?.write_text(out),
            &Kind::Time { format, fsp } => temporal::write_time(stored, format, fsp, out)?,
            &Kind::DateTime { format, fsp } => temporal::write_datetime(stored, format, fsp, out)?,
            &Kind::Timestamp { format, fsp } => {
                temporal::write_timestamp(stored, format, fsp, out)?;
            }
            &Kind::Char { charset, .. } => out.extend_from_slice(charset.trim_end(stored)),
            &Kind::Binary { bytes } => out.extend_from_slice(binary(stored, bytes)?),
            Kind::Text { .. } | Kind::Bytes | Kind::Geometry | Kind::Vector => {
                out.extend_from_slice(stored);
            }
            Kind::Enum(members) => out.extend_from_slice(members.enum_text(stored)?),
            Kind::Set(members) => members.write_set(stored, out)?,
            &Kind::Json(server) => Json { stored, server }.write_text(out)?,
            &Kind::Uuid { always_reversed } => {
                network::write_uuid(network::uuid(stored, always_reversed)?, out);
            }
            Kind::Inet4 => network::write_inet4(network::inet4(stored)?, out),
            Kind::Inet6 => network::write_inet6(network::inet6(stored)?, out),
        }
        Ok(())
    }

    /// Returns the text and the number that [`Codec::write_utf8`] gives: the stored bytes where they are
    /// that text, otherwise what it writes to `scratch`, which is overwritten.
    #[inline]
    pub fn utf8<'a>(&self, stored: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<(&'a [u8], u64)> {
        if let Some(text) = self.stored_utf8(stored) {
            return Ok((text, 0));
        }
        scratch.clear();
        let replaced = self.write_utf8(stored, scratch)?;
        Ok((scratch, replaced))
    }

    #[inline]
    fn stored_utf8<'a>(&self, stored: &'a [u8]) -> Option<&'a [u8]> {
        let (charset, text) = match &self.kind {
            Kind::Text { charset, .. } => (*charset, stored),
            Kind::Char { charset, .. } => (*charset, charset.trim_end(stored)),
            _ => return None,
        };
        charset.is_utf8(text).then_some(text)
    }

    /// Appends the text as valid UTF-8, for outputs that must be text; returns the number of
    /// characters that had no meaning in the column's charset and became U+FFFD.
    ///
    /// Bytes without a charset are written as upper-case hexadecimal digits, a `BIT` as the decimal
    /// number of its bits.
    #[inline]
    pub fn write_utf8(&self, stored: &[u8], out: &mut Vec<u8>) -> Result<u64> {
        match &self.kind {
            &Kind::Char { charset, .. } => Ok(charset.decode(charset.trim_end(stored), out)),
            &Kind::Text { charset, .. } => Ok(charset.decode(stored, out)),
            Kind::Enum(members) => Ok(members.charset.decode(members.enum_text(stored)?, out)),
            Kind::Set(members) => {
                let mut text = Vec::new();
                members.write_set(stored, &mut text)?;
                Ok(members.charset.decode(&text, out))
            }
            &Kind::Bit { bits } => {
                let mut text = itoa::Buffer::new();
                out.extend_from_slice(text.format(bit::number(stored, bits)?).as_bytes());
                Ok(0)
            }
            &Kind::Binary { bytes } => {
                digits::write_hex(binary(stored, bytes)?, out);
                Ok(0)
            }
            Kind::Bytes | Kind::Geometry | Kind::Vector => {
                digits::write_hex(stored, out);
                Ok(0)
            }
            &Kind::Json(server) => {
                let start = out.len();
                Json { stored, server }.write_text(out)?;
                // A sound document is already UTF-8.
                let written = out.get(start..).unwrap_or_default();
                if std::str::from_utf8(written).is_ok() {
                    return Ok(0);
                }
                let text = out.split_off(start);
                Ok(Charset::Utf8Mb4.decode(&text, out))
            }
            _ => self.write_text(stored, out).map(|()| 0),
        }
    }

    /// Returns the value, without loss.
    pub fn value<'a>(&self, stored: &'a [u8]) -> Result<Value<'a>> {
        Ok(match &self.kind {
            Kind::Int(integer) => integer.value(stored)?,
            &Kind::Decimal { precision, scale, .. } => decimal::value(stored, precision, scale)?,
            Kind::Float(_) => Value::Float(float::float(stored)?),
            Kind::Double(_) => Value::Double(float::double(stored)?),
            &Kind::Bit { bits } => Value::Bit(bit::number(stored, bits)?),
            Kind::Year { .. } => Value::Year(temporal::year(stored)?),
            Kind::Date => Value::Date(temporal::date(stored)?),
            &Kind::Time { format, fsp } => Value::Time(temporal::time(stored, format, fsp)?),
            &Kind::DateTime { format, fsp } => {
                Value::DateTime(temporal::datetime(stored, format, fsp)?)
            }
            &Kind::Timestamp { format, fsp } => {
                Value::Timestamp(temporal::timestamp(stored, format, fsp)?)
            }
            &Kind::Char { charset, collation, .. } => {
                Value::Text(charset.trim_end(stored), collation)
            }
            &Kind::Text { collation, .. } => Value::Text(stored, collation),
            &Kind::Binary { bytes } => Value::Bytes(binary(stored, bytes)?),
            Kind::Bytes => Value::Bytes(stored),
            Kind::Enum(members) => Value::Enum(members.index(stored)?),
            Kind::Set(members) => Value::Set(members.mask(stored)?),
            &Kind::Json(server) => Value::Json(Json { stored, server }),
            Kind::Geometry => Value::Geometry(stored),
            Kind::Vector => Value::Vector(stored),
            &Kind::Uuid { always_reversed } => Value::Uuid(network::uuid(stored, always_reversed)?),
            Kind::Inet4 => Value::Inet4(network::inet4(stored)?),
            Kind::Inet6 => Value::Inet6(network::inet6(stored)?),
        })
    }

    /// Returns the reader of a column of integers; `None` for other types.
    pub fn integer(&self) -> Option<integer::Integer> {
        match self.kind {
            Kind::Int(integer) => Some(integer),
            _ => None,
        }
    }

    /// Returns a `DATETIME` or `TIMESTAMP` as microseconds since 1970-01-01 00:00:00, of its own time zone
    /// or of UTC; `None` for a date that no calendar has, and for other types.
    #[inline]
    pub fn micros_since_1970(&self, stored: &[u8]) -> Result<Option<i64>> {
        match self.kind {
            Kind::DateTime { format, fsp } => temporal::datetime_micros(stored, format, fsp),
            Kind::Timestamp { format, fsp } => {
                Ok(temporal::timestamp(stored, format, fsp)?.micros_since_1970())
            }
            _ => Ok(None),
        }
    }

    /// Returns a `DECIMAL` as [`Codec::value`] does, without checking its digits: its methods do. `None`
    /// for other types.
    #[inline]
    pub fn unchecked_decimal<'a>(&self, stored: &'a [u8]) -> Option<Decimal<'a>> {
        match self.kind {
            Kind::Decimal { precision, scale, .. } => Some(Decimal { stored, precision, scale }),
            _ => None,
        }
    }

    /// Returns whether [`Codec::write_record_image`] writes the stored bytes unchanged.
    pub(super) fn is_stored_as_record_image(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Int(_)
                | Kind::Year { .. }
                | Kind::Date
                | Kind::Time { format: TemporalFormat::Old, .. }
                | Kind::DateTime { format: TemporalFormat::Old, .. }
                | Kind::Timestamp { format: TemporalFormat::Old, .. }
                | Kind::Enum(_)
                | Kind::Set(_)
                | Kind::Char { .. }
                | Kind::Json(_)
        )
    }

    /// Appends the column's bytes in the server's own record (`Field::ptr`, `pack_length()` bytes),
    /// which `CHECKSUM TABLE` covers. For types whose record form is a pointer or lies among the
    /// null bits (`VARCHAR`, `BLOB`, `JSON`, `GEOMETRY`, `VECTOR`, `BIT`), appends the bytes of
    /// `val_str`.
    pub fn write_record_image(&self, stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match &self.kind {
            Kind::Int(integer) => integer.write_record_image(stored, out)?,
            Kind::Year { .. } => integer::write_reversed(stored, 1, false, out)?,
            Kind::Date => integer::write_reversed(stored, 3, true, out)?,
            Kind::Time { format: TemporalFormat::Old, .. } => {
                integer::write_reversed(stored, 3, true, out)?;
            }
            Kind::DateTime { format: TemporalFormat::Old, .. } => {
                integer::write_reversed(stored, 8, true, out)?;
            }
            Kind::Timestamp { format: TemporalFormat::Old, .. } => {
                integer::write_reversed(stored, 4, false, out)?;
            }
            Kind::Enum(members) | Kind::Set(members) => {
                integer::write_reversed(stored, members.size_bytes(), false, out)?;
            }
            &Kind::Char { charset, chars, .. } => {
                write_padded_char(stored, charset, chars, out)?;
            }
            &Kind::Json(server) => Json { stored, server }.write_text(out)?,
            Kind::Decimal { .. }
            | Kind::Float(_)
            | Kind::Double(_)
            | Kind::Bit { .. }
            | Kind::Time { .. }
            | Kind::DateTime { .. }
            | Kind::Timestamp { .. }
            | Kind::Text { .. }
            | Kind::Binary { .. }
            | Kind::Bytes
            | Kind::Geometry
            | Kind::Vector
            | Kind::Uuid { .. }
            | Kind::Inet4
            | Kind::Inet6 => out.extend_from_slice(stored),
        }
        Ok(())
    }
}

const FSP: &str = "digits of a fraction of a second";

fn up_to(number: u8, max: u8, what: &str) -> Result<u8> {
    if number > max {
        return Err(Error::schema(format!("{number} {what} are more than {max}")));
    }
    Ok(number)
}

/// Returns the bytes of a `BINARY(bytes)`, all of which are stored, including trailing zeros.
fn binary(stored: &[u8], bytes: u32) -> Result<&[u8]> {
    if stored.len() != bytes as usize {
        return Err(wrong_length("a BINARY", bytes as usize, stored.len()));
    }
    Ok(stored)
}

/// Appends a `CHAR` as in the server's record: padded to its maximum length in bytes.
fn write_padded_char(stored: &[u8], charset: Charset, chars: u32, out: &mut Vec<u8>) -> Result<()> {
    let full = chars as usize * charset.max_len();
    let missing =
        full.checked_sub(stored.len()).ok_or_else(|| wrong_length("a CHAR", full, stored.len()))?;
    out.extend_from_slice(stored);
    let pad = charset.space();
    for _ in 0..missing / pad.len() {
        out.extend_from_slice(pad);
    }
    // Sound data is never short of a part of a space.
    out.extend_from_slice(bytes::slice(pad, 0, missing % pad.len())?);
    Ok(())
}
