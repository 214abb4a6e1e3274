//! Printing of column types (`Field_*::sql_type`, field.cc).

use super::names::push_quoted;
use crate::charset::{Charset, CollationId};
use crate::schema::{Family, ServerVersion};
use crate::types::{ColumnType, GeometryKind, IntWidth, RealFormat, Temporal, TemporalFormat};

/// Appends a type without charset and collation, which are appended separately.
pub(super) fn push_type(out: &mut String, ty: &ColumnType, server: ServerVersion) {
    match ty {
        ColumnType::Int { width, unsigned, zerofill, display_width } => {
            push_int(out, *width, *unsigned, *zerofill, *display_width, server);
        }
        ColumnType::Decimal { precision, scale, unsigned, zerofill } => {
            *out += &format!("decimal({precision},{scale})");
            push_sign(out, *unsigned, *zerofill);
        }
        ColumnType::Float(format) => push_real(out, "float", *format),
        ColumnType::Double(format) => push_real(out, "double", *format),
        ColumnType::Bit { bits } => *out += &format!("bit({bits})"),
        ColumnType::Year { .. } if without_display_widths(server) => *out += "year",
        ColumnType::Year { digits } => *out += &format!("year({digits})"),
        ColumnType::Date => *out += "date",
        ColumnType::Time(temporal) => push_temporal(out, "time", *temporal, server),
        ColumnType::DateTime(temporal) => push_temporal(out, "datetime", *temporal, server),
        ColumnType::Timestamp(temporal) => push_temporal(out, "timestamp", *temporal, server),
        ColumnType::Char { chars, .. } => *out += &format!("char({chars})"),
        ColumnType::VarChar { chars, .. } => *out += &format!("varchar({chars})"),
        ColumnType::Binary { bytes } => *out += &format!("binary({bytes})"),
        ColumnType::VarBinary { bytes } => *out += &format!("varbinary({bytes})"),
        ColumnType::Text { length_bytes, .. } => push_sized(out, *length_bytes, "text"),
        ColumnType::Blob { length_bytes } => push_sized(out, *length_bytes, "blob"),
        ColumnType::Enum { members, collation } => {
            push_members(out, "enum", members, *collation, server);
        }
        ColumnType::Set { members, collation } => {
            push_members(out, "set", members, *collation, server);
        }
        ColumnType::Json => *out += "json",
        ColumnType::Geometry(kind) => *out += geometry(*kind, server),
        ColumnType::Vector { dimensions } => *out += &format!("vector({dimensions})"),
        ColumnType::Uuid | ColumnType::UuidReversed => *out += "uuid",
        ColumnType::Inet4 => *out += "inet4",
        ColumnType::Inet6 => *out += "inet6",
    }
}

/// Returns whether the server prints integers without display widths (since MySQL 8.0.19).
fn without_display_widths(server: ServerVersion) -> bool {
    server.family == Family::MySql && server.number >= 80_019
}

fn push_int(
    out: &mut String,
    width: IntWidth,
    unsigned: bool,
    zerofill: bool,
    display_width: Option<u8>,
    server: ServerVersion,
) {
    *out += match width {
        IntWidth::One => "tinyint",
        IntWidth::Two => "smallint",
        IntWidth::Three => "mediumint",
        IntWidth::Four => "int",
        IntWidth::Eight => "bigint",
    };
    // TINYINT(1) remains, since it means BOOL to clients.
    let is_bool = width == IntWidth::One && display_width == Some(1) && !unsigned;
    if let Some(digits) = display_width
        && (zerofill || is_bool || !without_display_widths(server))
    {
        *out += &format!("({digits})");
    }
    push_sign(out, unsigned, zerofill);
}

fn push_sign(out: &mut String, unsigned: bool, zerofill: bool) {
    if unsigned {
        *out += " unsigned";
    }
    if zerofill {
        *out += " zerofill";
    }
}

fn push_real(out: &mut String, name: &str, format: RealFormat) {
    *out += name;
    if let Some((length, decimals)) = format.digits {
        *out += &format!("({length},{decimals})");
    }
    push_sign(out, format.unsigned, format.zerofill);
}

/// Appends a temporal type. MariaDB marks those that are still stored in the forms of its version
/// 5.3 (MDEV-19906).
fn push_temporal(out: &mut String, name: &str, temporal: Temporal, server: ServerVersion) {
    *out += name;
    if temporal.fsp > 0 {
        *out += &format!("({})", temporal.fsp);
    }
    let old = temporal.format != TemporalFormat::New;
    let first_to_say = match server.number {
        0..100_200 => 100_141,
        100_200..100_300 => 100_226,
        100_300..100_400 => 100_317,
        100_400..100_500 => 100_407,
        _ => 0,
    };
    if old && server.family == Family::MariaDb && server.number >= first_to_say {
        *out += " /* mariadb-5.3 */";
    }
}

fn push_sized(out: &mut String, length_bytes: u8, name: &str) {
    *out += match length_bytes {
        1 => "tiny",
        2 => "",
        3 => "medium",
        _ => "long",
    };
    *out += name;
}

/// Returns the name of a geometry type. MySQL 8.0.11 renamed the last.
fn geometry(kind: GeometryKind, server: ServerVersion) -> &'static str {
    match kind {
        GeometryKind::Geometry => "geometry",
        GeometryKind::Point => "point",
        GeometryKind::LineString => "linestring",
        GeometryKind::Polygon => "polygon",
        GeometryKind::MultiPoint => "multipoint",
        GeometryKind::MultiLineString => "multilinestring",
        GeometryKind::MultiPolygon => "multipolygon",
        GeometryKind::GeometryCollection
            if server.family == Family::MySql && server.number >= 80_011 =>
        {
            "geomcollection"
        }
        GeometryKind::GeometryCollection => "geometrycollection",
    }
}

fn push_members(
    out: &mut String,
    name: &str,
    members: &[Vec<u8>],
    collation: CollationId,
    server: ServerVersion,
) {
    *out += name;
    out.push('(');
    for (place, member) in members.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        push_quoted(out, &member_text(member, collation, server));
    }
    out.push(')');
}

/// Returns a member in the server's own UTF-8, of at most three bytes per character: characters
/// outside it become question marks, and MySQL drops a character cut off at the end (`my_convert`,
/// ctype.cc).
fn member_text(member: &[u8], collation: CollationId, server: ServerVersion) -> String {
    let mut utf8 = Vec::new();
    match collation.charset() {
        Ok(Charset::Utf8Mb3 | Charset::Utf8Mb4) | Err(_) => {
            for chunk in member.utf8_chunks() {
                utf8.extend_from_slice(chunk.valid().as_bytes());
                let cut_off = std::str::from_utf8(chunk.invalid())
                    .is_err_and(|error| error.error_len().is_none());
                let lost = if cut_off && server.family == Family::MySql {
                    0
                } else {
                    chunk.invalid().len()
                };
                utf8.extend(std::iter::repeat_n(b'?', lost));
            }
        }
        Ok(charset) => {
            charset.decode(member, &mut utf8);
        }
    }
    let sayable = |character| match character {
        '\u{10000}'.. | char::REPLACEMENT_CHARACTER => '?',
        other => other,
    };
    String::from_utf8_lossy(&utf8).chars().map(sayable).collect()
}
