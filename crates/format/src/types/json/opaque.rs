//! Values of SQL types inside JSON: decimals, dates and times, and bytes in base64.

use super::{Dialect, write_quoted};
use crate::types::{decimal, temporal};
use crate::value::{DateTime, Time};
use crate::{Result, base64, bytes};

// Type numbers of `enum_field_types`.
const TIMESTAMP: u8 = 7;
const DATE: u8 = 10;
const TIME: u8 = 11;
const DATETIME: u8 = 12;
const NEW_DECIMAL: u8 = 246;
const VAR_STRING: u8 = 253;

/// Prints a value by the type of the column from which it was created.
pub(super) fn write(
    field_type: u8,
    value: &[u8],
    dialect: Dialect,
    out: &mut Vec<u8>,
) -> Result<()> {
    match field_type {
        NEW_DECIMAL => {
            let precision = bytes::u8_at(value, 0)?;
            let scale = bytes::u8_at(value, 1)?;
            let stored = value.get(2..).unwrap_or_default();
            decimal::write_text(stored, precision, scale, false, out)?;
        }
        DATE => {
            out.push(b'"');
            packed_datetime(packed(value)?).date.write_text(out);
            out.push(b'"');
        }
        TIME => {
            out.push(b'"');
            packed_time(packed(value)?).write_text(out);
            out.push(b'"');
        }
        DATETIME | TIMESTAMP => {
            out.push(b'"');
            packed_datetime(packed(value)?).write_text(out);
            out.push(b'"');
        }
        VAR_STRING if dialect.varchar_is_string => write_quoted(value, out),
        _ => {
            let mut text = format!("base64:type{field_type}:").into_bytes();
            write_base64(value, &mut text);
            if dialect.escapes_base64 {
                write_quoted(&text, out);
            } else {
                out.push(b'"');
                out.extend_from_slice(&text);
                out.push(b'"');
            }
        }
    }
    Ok(())
}

/// Reads eight bytes, little-endian: the whole part shifted by 24 bits, and microseconds.
fn packed(value: &[u8]) -> Result<i64> {
    bytes::array(value, 0).map(i64::from_le_bytes)
}

/// Decodes a date and time (`TIME_from_longlong_datetime_packed`).
fn packed_datetime(packed: i64) -> DateTime {
    let parts = packed.unsigned_abs();
    let (whole, micros) = (parts >> 24, (parts & 0xff_ffff) as u32);
    temporal::packed_datetime(whole, micros, 6)
}

/// Decodes a time (`TIME_from_longlong_time_packed`).
fn packed_time(packed: i64) -> Time {
    let parts = packed.unsigned_abs();
    let (whole, micros) = (parts >> 24, (parts & 0xff_ffff) as u32);
    Time {
        negative: packed < 0,
        hours: (whole >> 12 & 0x3ff) as u16,
        minutes: (whole >> 6 & 63) as u8,
        seconds: (whole & 63) as u8,
        micros: micros % 1_000_000,
        fsp: 6,
    }
}

/// Appends base64 with a line break after each 76 characters except the last, like the server's
/// `base64_encode`.
fn write_base64(value: &[u8], out: &mut Vec<u8>) {
    const BYTES_PER_LINE: usize = 76 / 4 * 3;
    for (nth, line) in value.chunks(BYTES_PER_LINE).enumerate() {
        if nth > 0 {
            out.push(b'\n');
        }
        base64::append(line, out);
    }
}
