//! A page as text: every field by InnoDB's name for it, and records with their columns if the table is
//! known.
//!
//! Damaged pages are shown too: contradictions to the format are reported in place, on lines that start
//! with `!`, and the rest follows. The text is stable, so that two of them can be compared.

mod fields;
mod records;

use std::fmt::Write;

use innoscan_format::page::{
    self, ExtentState, ExtentsPage, IndexPage, InodePage, Page, PageContext, PageKind, Scratch,
    SpaceHeader, checksum_algorithm,
};
use innoscan_format::{PageNo, bytes};

use crate::check::Known;
use fields::{Field, Form};

/// Bytes on a line of hexadecimal.
const LINE_BYTES: usize = 16;
/// The most lines of hexadecimal, unless all bytes are requested.
const LINES: usize = 16;

/// The amount of a page that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InspectOptions {
    /// Whether all bytes are added in hexadecimal.
    pub hex: bool,
}

/// Describes the bytes at `page_no` of a file.
pub fn page(
    bytes: &[u8],
    header: &SpaceHeader,
    context: &PageContext,
    page_no: PageNo,
    known: &[Known<'_>],
    options: InspectOptions,
) -> String {
    let mut out = String::new();
    let stored = PageKind::new(bytes::u16_at(bytes, 24).unwrap_or_default(), header.flags.sdi);
    let zeroes = bytes.iter().all(|&byte| byte == 0);
    let stored = if zeroes { PageKind::Zeroes } else { stored };
    let mut scratch = Scratch::default();
    let opened = page::open(bytes, context, page_no, &mut scratch);
    let (kind, content) =
        opened.as_ref().map_or((stored, bytes), |page| (page.kind(), page.bytes()));
    _ = write!(out, "page {page_no} of space {}: {kind}", header.space);
    _ = match (kind == stored, content.len() == bytes.len()) {
        (true, true) => writeln!(out),
        (true, false) => writeln!(out, ", unzipped from {} bytes", bytes.len()),
        (false, _) => writeln!(out, ", stored as {stored}"),
    };
    if zeroes {
        return out;
    }
    if let Err(error) = &opened {
        _ = writeln!(out, "! {error}");
    }
    let checksum = match opened {
        // A page that is compressed as a whole has no checksum inside.
        Ok(_) if kind != stored && header.page_format().full_crc32 => "of the stored page".into(),
        _ => checksum_name(if kind == stored { bytes } else { content }, header),
    };
    fil_header(&mut out, content, header, kind, &checksum);
    if let Some((name, of_kind, end)) = fields::of_kind(kind) {
        _ = writeln!(out, "{name}");
        write_fields(&mut out, content, 0, of_kind);
        match opened {
            Ok(page) => body(&mut out, page, known),
            Err(_) => write_hex(&mut out, content, end, LINES),
        }
    } else {
        out += "bytes\n";
        write_hex(&mut out, content, 38, LINES);
    }
    if options.hex {
        out += "all bytes\n";
        write_hex(&mut out, content, 0, usize::MAX);
    }
    out
}

/// The name of the checksum algorithm that a page satisfies.
fn checksum_name(bytes: &[u8], header: &SpaceHeader) -> String {
    match checksum_algorithm(bytes, header.page_format()) {
        Ok(algorithm) => format!("{algorithm}"),
        Err(_) => "no algorithm matches".into(),
    }
}

/// The header and the trailer, which all pages have, but those of ROW_FORMAT=COMPRESSED have no trailer.
fn fil_header(
    out: &mut String,
    bytes: &[u8],
    header: &SpaceHeader,
    kind: PageKind,
    checksum: &str,
) {
    let full_crc32 = header.page_format().full_crc32;
    let first = fields::value(bytes, 0, Form::Hex32);
    if full_crc32 {
        line(out, 0, "FIL_PAGE_FCRC32_KEY_VERSION", &first);
    } else {
        line(out, 0, "FIL_PAGE_SPACE_OR_CHKSUM", &format!("{first} ({checksum})"));
    }
    let first = kind == PageKind::FspHeader && header.flags.sdi;
    let fields = if first { fields::FIL_HEADER_OF_FIRST } else { fields::FIL_HEADER };
    write_fields(out, bytes, 0, fields);
    let number = fields::value(bytes, 24, Form::U16);
    line(out, 24, "FIL_PAGE_TYPE", &format!("{number} ({kind})"));
    write_fields(out, bytes, 0, fields::FIL_HEADER_END);
    if header.page_format().is_zip {
        return;
    }
    let end = bytes.len().saturating_sub(8);
    let (low, high) =
        (fields::value(bytes, end, Form::Hex32), fields::value(bytes, end + 4, Form::Hex32));
    if full_crc32 {
        line(out, end, "FIL_PAGE_FCRC32_END_LSN", &low);
        line(out, end + 4, "FIL_PAGE_FCRC32_CHECKSUM", &format!("{high} ({checksum})"));
    } else {
        line(out, end, "FIL_PAGE_END_LSN_OLD_CHKSUM", &format!("{low} {high}"));
    }
}

/// The content of a sound page after its header.
fn body(out: &mut String, page: Page<'_>, known: &[Known<'_>]) {
    match page.kind() {
        PageKind::FspHeader | PageKind::Xdes => extents(out, page),
        PageKind::Inode => segments(out, page),
        PageKind::Index | PageKind::Instant | PageKind::Sdi => match IndexPage::parse(page) {
            Ok(index) => {
                *out += "records\n";
                let of_table = known.iter().find(|known| known.index == index.index_id());
                records::write(out, &index, of_table);
            }
            Err(error) => _ = writeln!(out, "! {error}"),
        },
        PageKind::Blob | PageKind::SdiBlob => {
            *out += "data\n";
            write_hex(out, page.bytes(), 46, LINES);
        }
        PageKind::LobData => {
            *out += "data\n";
            write_hex(out, page.bytes(), 49, LINES);
        }
        PageKind::LobFirst => {
            lob_entries(out, page.bytes(), 96, 10);
            *out += "data\n";
            write_hex(out, page.bytes(), 96 + 10 * fields::LOB_ENTRY_LEN, LINES);
        }
        PageKind::LobIndex => {
            let room = page.bytes().len().saturating_sub(39 + 8);
            lob_entries(out, page.bytes(), 39, room / fields::LOB_ENTRY_LEN);
        }
        _ => write_hex(out, page.bytes(), 94, LINES),
    }
}

fn extents(out: &mut String, page: Page<'_>) {
    let Ok(extents) = ExtentsPage::parse(page) else { return };
    *out += "extent descriptors\n";
    for extent in extents.extents() {
        let extent = match extent {
            Ok(extent) if extent.state == ExtentState::NotInited => continue,
            Ok(extent) => extent,
            Err(error) => {
                _ = writeln!(out, "  ! {error}");
                continue;
            }
        };
        _ = writeln!(
            out,
            "  at {}: pages {}..{}, {:?}, segment {}, {} free, prev {}, next {}",
            extent.addr.offset,
            extent.first,
            u64::from(extent.first.0) + u64::from(extent.pages) - 1,
            extent.state,
            extent.segment,
            extent.n_free(),
            fields::addr_text(extent.node.prev),
            fields::addr_text(extent.node.next)
        );
    }
}

fn segments(out: &mut String, page: Page<'_>) {
    *out += "segments\n";
    match InodePage::parse(page).and_then(|inodes| inodes.segments()) {
        Ok(segments) => {
            for segment in segments {
                let fragments: Vec<String> =
                    segment.fragments.iter().map(PageNo::to_string).collect();
                _ = writeln!(
                    out,
                    "  at {}: FSEG_ID {}, FSEG_NOT_FULL_N_USED {}, FREE {}, NOT_FULL {}, FULL {}, \
                     fragments [{}]",
                    segment.addr.offset,
                    segment.id,
                    segment.not_full_n_used,
                    segment.free.len,
                    segment.not_full.len,
                    segment.full.len,
                    fragments.join(" ")
                );
            }
        }
        Err(error) => _ = writeln!(out, "  ! {error}"),
    }
}

/// The entries of a LOB's index, without those never used.
fn lob_entries(out: &mut String, page: &[u8], start: usize, count: usize) {
    for number in 0..count {
        let at = start + number * fields::LOB_ENTRY_LEN;
        let Some(entry) = page.get(at..at + fields::LOB_ENTRY_LEN) else { return };
        if entry.iter().all(|&byte| byte == 0) {
            continue;
        }
        _ = writeln!(out, "index entry {number}");
        write_fields(out, page, at, fields::LOB_ENTRY);
    }
}

fn write_fields(out: &mut String, page: &[u8], from: usize, fields: &[Field]) {
    for &(at, name, form) in fields {
        line(out, from + at, name, &fields::value(page, from + at, form));
    }
}

fn line(out: &mut String, at: usize, name: &str, value: &str) {
    _ = writeln!(out, "{at:6}  {name:<28} {value}");
}

/// Lines of bytes in hexadecimal and as text, at most `lines` that are not all zeroes.
fn write_hex(out: &mut String, page: &[u8], from: usize, lines: usize) {
    let mut written = 0;
    for at in (from..page.len()).step_by(LINE_BYTES) {
        let bytes = page.get(at..(at + LINE_BYTES).min(page.len())).unwrap_or_default();
        if bytes.iter().all(|&byte| byte == 0) {
            continue;
        }
        if written == lines {
            *out += "   ...\n";
            return;
        }
        written += 1;
        let text: String = bytes
            .iter()
            .map(|&byte| if (0x20..0x7f).contains(&byte) { byte as char } else { '.' })
            .collect();
        _ = writeln!(out, "{at:6}  {:<32}  {text}", hex(bytes));
    }
}

/// Bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        _ = write!(text, "{byte:02x}");
    }
    text
}
