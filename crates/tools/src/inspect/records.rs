//! The records and the directory of a B-tree page.

use std::fmt::Write;

use innoscan_format::bytes;
use innoscan_format::locate::{Fields, Located};
use innoscan_format::page::IndexPage;
use innoscan_format::record::Record;
use innoscan_format::tree::node_pointer;
use innoscan_format::types::{Class, Codec};

use super::hex;
use crate::check::Known;

/// The most bytes shown of a record that cannot be parsed.
const UNKNOWN_BYTES: usize = 32;
/// The most bytes shown of a column's value.
const VALUE_BYTES: usize = 64;

/// Writes a page's records in key order, then the freed ones and the directory.
pub(super) fn write(out: &mut String, page: &IndexPage<'_>, known: Option<&Known<'_>>) {
    let mut fields = Fields::default();
    for (place, record) in page.records().enumerate() {
        match record {
            Ok(record) if page.is_leaf() => leaf_record(out, &record, known, &mut fields),
            Ok(record) => branch_record(out, page, &record, place, known),
            Err(error) => _ = writeln!(out, "  ! {error}"),
        }
    }
    if let Err(error) = page.check_heap() {
        _ = writeln!(out, "  ! {error}");
    }
    directory(out, page);
}

fn head(out: &mut String, record: &Record<'_>) {
    _ = write!(out, "  heap_no {} at {}", record.heap_no(), record.origin());
    if record.is_compact() {
        _ = write!(out, ", status {}", record.status());
    }
    if record.info_bits() != 0 {
        _ = write!(out, ", info {:#04x}", record.info_bits());
    }
    if record.is_delete_marked() {
        *out += " delete-marked";
    }
    if record.is_min_rec() {
        *out += " min-rec";
    }
}

fn leaf_record(
    out: &mut String,
    record: &Record<'_>,
    known: Option<&Known<'_>>,
    fields: &mut Fields,
) {
    head(out, record);
    let Some(known) = known.filter(|_| !record.is_metadata()) else {
        unknown(out, record);
        return;
    };
    out.push('\n');
    let row = match known.layout.locate(record, fields) {
        Ok(row) => row,
        Err(error) => {
            _ = writeln!(out, "    ! {error}");
            return;
        }
    };
    for (place, column) in known.layout.columns().enumerate() {
        let Some(column) = known.def.columns.get(column) else { continue };
        let codec = Codec::new(&column.ty, known.def.server);
        _ = write!(out, "    {} = ", column.name);
        match (row.get(place), codec) {
            (Ok(Located::Null), _) => *out += "NULL",
            (Ok(Located::Inline(data)), Ok(codec)) => value(out, &codec, data),
            (Ok(Located::Default(data)), Ok(codec)) => {
                value(out, &codec, data);
                *out += " (default, not in the record)";
            }
            (Ok(Located::External { prefix, lob }), _) => {
                _ = write!(
                    out,
                    "off-page: {} bytes here, {} from page {} on (version {})",
                    prefix.len(),
                    lob.len,
                    lob.page_no,
                    lob.version
                );
            }
            (Ok(Located::Inline(data) | Located::Default(data)), Err(_)) => {
                _ = write!(out, "0x{}", hex(data.get(..VALUE_BYTES).unwrap_or(data)));
            }
            (Err(error), _) => _ = write!(out, "! {error}"),
        }
        out.push('\n');
    }
}

/// A value as the server prints it, text in quotes, shortened if long.
fn value(out: &mut String, codec: &Codec, data: &[u8]) {
    let mut text = Vec::new();
    if matches!(codec.class(), Class::Binary | Class::Bit | Class::Geometry | Class::Vector) {
        _ = write!(out, "0x{}", hex(data.get(..VALUE_BYTES).unwrap_or(data)));
    } else if let Err(error) = codec.write_utf8(data, &mut text) {
        _ = write!(out, "! {error}");
        return;
    } else {
        let text = String::from_utf8_lossy(&text);
        let cut: String = text.chars().take(VALUE_BYTES).collect();
        match codec.class() {
            Class::Number => *out += &cut,
            _ => _ = write!(out, "{cut:?}"),
        }
    }
    if data.len() > VALUE_BYTES {
        _ = write!(out, "... ({} bytes)", data.len());
    }
}

fn branch_record(
    out: &mut String,
    page: &IndexPage<'_>,
    record: &Record<'_>,
    place: usize,
    known: Option<&Known<'_>>,
) {
    head(out, record);
    let Some(known) = known else {
        unknown(out, record);
        return;
    };
    match node_pointer(page, known.layout, record, place) {
        Ok(pointer) => {
            let key = pointer.key;
            let key = hex(key.get(..VALUE_BYTES).unwrap_or(key));
            _ = writeln!(out, ": key 0x{key}, child page {}", pointer.child);
        }
        Err(error) => _ = writeln!(out, "\n    ! {error}"),
    }
}

/// The bytes from a record's origin, whose end is not known.
fn unknown(out: &mut String, record: &Record<'_>) {
    let data = record.page().get(record.origin()..).unwrap_or_default();
    let data = data.get(..UNKNOWN_BYTES).unwrap_or(data);
    _ = writeln!(out, ": {} ...", hex(data));
}

fn directory(out: &mut String, page: &IndexPage<'_>) {
    let bytes = page.page().bytes();
    let slots = bytes::u16_at(bytes, 38).unwrap_or_default();
    *out += "directory\n ";
    for slot in 0..usize::from(slots) {
        let at = bytes.len().saturating_sub(10 + 2 * slot);
        let Ok(origin) = bytes::u16_at(bytes, at) else { break };
        _ = write!(out, " {origin}");
    }
    out.push('\n');
    if let Err(error) = page.check_directory() {
        _ = writeln!(out, "  ! {error}");
    }
}
