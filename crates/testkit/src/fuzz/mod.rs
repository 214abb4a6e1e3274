//! Fuzz targets, shared by fuzzers and seeded tests: no bytes may make a reader panic or run
//! forever.

use innoscan_format::charset::CollationId;
use innoscan_format::locate::Fields;
use innoscan_format::page::{
    ExtentsPage, IndexPage, InodePage, Page, PageContext, PageFormat, Scratch, SpaceHeader, open,
};
use innoscan_format::schema::{
    Family, RowFormat, ServerVersion, from_create_table, from_frm, from_sdi, server_of_text,
};
use innoscan_format::types::{Codec, ColumnType};
use innoscan_format::{PageNo, SpaceId, layout::Layout, tree};

use crate::page::{PageWriter, format as plain_format};

mod compressed;
mod encrypted;
mod mysql_redo;
mod redo;
mod undo;

pub use compressed::{compressed_lob, compressed_page, zip_page};
pub use encrypted::{encrypted_page, key_file, keyring};
pub use mysql_redo::{mysql_log, mysql_page};
pub use redo::{REDO_PAGE_BYTES, redo_log, redo_page};
pub use undo::undo_record;

const SPACE: SpaceId = SpaceId(7);
const PAGE: PageNo = PageNo(5);

const SERVERS: [ServerVersion; 3] = [
    ServerVersion { family: Family::MySql, number: 50_624 },
    ServerVersion { family: Family::MySql, number: 80_033 },
    ServerVersion { family: Family::MariaDb, number: 101_119 },
];

/// Parses SQL text, and prints the result if that succeeds.
pub fn create_table(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    _ = server_of_text(&text);
    for server in SERVERS {
        if let Ok(def) = from_create_table(&text, server) {
            _ = def.to_create_table();
        }
    }
}

/// Parses a `.frm` file.
pub fn frm(data: &[u8]) {
    if let Ok(def) = from_frm(data, "db", "table") {
        _ = def.to_create_table();
    }
}

/// Parses an SDI document.
pub fn sdi(data: &[u8]) {
    if let Ok(def) = from_sdi(data) {
        _ = def.to_create_table();
        _ = Layout::compile(&def, RowFormat::Dynamic, None);
    }
}

/// Parses the beginning of a file.
pub fn space_header(data: &[u8]) {
    if let Ok(header) = SpaceHeader::parse(data) {
        _ = header.require_readable();
    }
}

/// Reads a page of 4 KiB with a corrected checksum, according to its type, and the records of a
/// table if it is a B-tree page.
pub fn page(data: &[u8]) {
    for full_crc32 in [false, true] {
        let format = PageFormat { space: SPACE, full_crc32, ..plain_format(64) };
        let bytes = page_of(data, format, PAGE);
        let mut scratch = Scratch::default();
        if let Ok(page) = open(&bytes, &PageContext::plain(format), PAGE, &mut scratch) {
            sound_page(page);
        }
    }
}

/// A page of these bytes with number, tablespace and checksum.
fn page_of(data: &[u8], format: PageFormat, page_no: PageNo) -> Vec<u8> {
    let mut bytes = data[..data.len().min(format.physical_len())].to_vec();
    bytes.resize(format.physical_len(), 0);
    PageWriter::of(format, &bytes).u32_at(4, page_no.0).u32_at(34, SPACE.0).seal()
}

fn sound_page(page: Page<'_>) {
    if let Ok(extents) = ExtentsPage::parse(page) {
        _ = extents.extents().count();
    }
    if let Ok(inodes) = InodePage::parse(page) {
        _ = inodes.segments();
    }
    let Ok(index) = IndexPage::parse(page) else { return };
    _ = (index.check_directory(), index.check_heap());
    let sql = "CREATE TABLE t (a int, b varchar(300), c blob, d char(9), PRIMARY KEY (a, b))";
    let Ok(def) = from_create_table(sql, SERVERS[1]) else { return };
    let row_format = if index.is_compact() { RowFormat::Dynamic } else { RowFormat::Redundant };
    let Ok(layout) = Layout::compile(&def, row_format, None) else { return };
    if !index.is_leaf() {
        _ = tree::children(&index, &layout, &mut Vec::new());
        return;
    }
    let mut fields = Fields::default();
    for record in index.records().map_while(Result::ok) {
        if let Ok(row) = layout.locate(&record, &mut fields) {
            for place in 0..row.len() {
                _ = row.get(place);
            }
        }
    }
}

/// Reads a DDL log of MariaDB.
pub fn ddl_log(data: &[u8]) {
    _ = innoscan_format::ddl_log::unfinished(data);
}

/// Reads a value of the JSON type.
pub fn json(data: &[u8]) {
    if let Ok(codec) = Codec::new(&ColumnType::Json, SERVERS[1]) {
        _ = codec.write_text(data, &mut Vec::new());
    }
}

/// Decodes text of each charset: the first byte is the collation's number.
pub fn text(data: &[u8]) {
    let Some((&number, text)) = data.split_first() else { return };
    if let Ok(charset) = CollationId(u16::from(number)).charset() {
        let mut utf8 = Vec::new();
        charset.decode(text, &mut utf8);
        assert!(std::str::from_utf8(&utf8).is_ok(), "{charset:?} decodes to no UTF-8");
    }
}

/// A target: takes bytes and returns nothing.
pub type Target = fn(&[u8]);

/// Every target with its name.
pub const TARGETS: [(&str, Target); 19] = [
    ("create_table", create_table),
    ("frm", frm),
    ("sdi", sdi),
    ("space_header", space_header),
    ("page", page),
    ("zip_page", zip_page),
    ("compressed_page", compressed_page),
    ("compressed_lob", compressed_lob),
    ("encrypted_page", encrypted_page),
    ("undo_record", undo_record),
    ("keyring", keyring),
    ("key_file", key_file),
    ("redo_log", redo_log),
    ("redo_page", redo_page),
    ("mysql_log", mysql_log),
    ("mysql_page", mysql_page),
    ("ddl_log", ddl_log),
    ("json", json),
    ("text", text),
];
