//! The named fields of each kind of page, as tables: offset, form, and InnoDB's own name.
//!
//! `fil0types.h`, `page0types.h`, `fsp0fsp.h`, `lob0first.h`, `lob0pages.h` of MySQL 9.7;
//! `fil0fil.h`, `btr0cur.cc` of MariaDB 10.11.

use innoscan_format::page::{FileAddr, ListBase, ListNode, PageKind};
use innoscan_format::{PageNo, bytes};

/// The form of a field's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    U8,
    U16,
    U32,
    U48,
    U64,
    Hex32,
    Page,
    /// The number of records in the heap, and whether they are of the compact kind.
    HeapCount,
    /// The direction of inserts.
    Direction,
    /// A place in the file, 6 bytes.
    Addr,
    /// A list's base node, 16 bytes.
    List,
    /// A list's node, 12 bytes.
    Node,
    /// A segment header, 10 bytes.
    Segment,
}

/// A field: its offset, its name, its form.
pub(super) type Field = (usize, &'static str, Form);

/// The fields at the start of every page; `full_crc32` pages have another first field.
pub(super) const FIL_HEADER: &[Field] = &[
    (4, "FIL_PAGE_OFFSET", Form::U32),
    (8, "FIL_PAGE_PREV", Form::Page),
    (12, "FIL_PAGE_NEXT", Form::Page),
    (16, "FIL_PAGE_LSN", Form::U64),
];
/// The fields at the start of page 0, which has no neighbours; MySQL 8 keeps versions there.
pub(super) const FIL_HEADER_OF_FIRST: &[Field] = &[
    (4, "FIL_PAGE_OFFSET", Form::U32),
    (8, "FIL_PAGE_SRV_VERSION", Form::U32),
    (12, "FIL_PAGE_SPACE_VERSION", Form::U32),
    (16, "FIL_PAGE_LSN", Form::U64),
];
/// The fields after the type at the start of every page.
pub(super) const FIL_HEADER_END: &[Field] =
    &[(26, "FIL_PAGE_FILE_FLUSH_LSN", Form::U64), (34, "FIL_PAGE_SPACE_ID", Form::U32)];

const FSP_HEADER: &[Field] = &[
    (38, "FSP_SPACE_ID", Form::U32),
    (42, "FSP_NOT_USED", Form::U32),
    (46, "FSP_SIZE", Form::U32),
    (50, "FSP_FREE_LIMIT", Form::U32),
    (54, "FSP_SPACE_FLAGS", Form::Hex32),
    (58, "FSP_FRAG_N_USED", Form::U32),
    (62, "FSP_FREE", Form::List),
    (78, "FSP_FREE_FRAG", Form::List),
    (94, "FSP_FULL_FRAG", Form::List),
    (110, "FSP_SEG_ID", Form::U64),
    (118, "FSP_SEG_INODES_FULL", Form::List),
    (134, "FSP_SEG_INODES_FREE", Form::List),
];
const INODE: &[Field] = &[(38, "FSEG_INODE_PAGE_NODE", Form::Node)];
const PAGE_HEADER: &[Field] = &[
    (38, "PAGE_N_DIR_SLOTS", Form::U16),
    (40, "PAGE_HEAP_TOP", Form::U16),
    (42, "PAGE_N_HEAP", Form::HeapCount),
    (44, "PAGE_FREE", Form::U16),
    (46, "PAGE_GARBAGE", Form::U16),
    (48, "PAGE_LAST_INSERT", Form::U16),
    (50, "PAGE_DIRECTION", Form::Direction),
    (52, "PAGE_N_DIRECTION", Form::U16),
    (54, "PAGE_N_RECS", Form::U16),
    (56, "PAGE_MAX_TRX_ID", Form::U64),
    (64, "PAGE_LEVEL", Form::U16),
    (66, "PAGE_INDEX_ID", Form::U64),
    (74, "PAGE_BTR_SEG_LEAF", Form::Segment),
    (84, "PAGE_BTR_SEG_TOP", Form::Segment),
];
const BLOB: &[Field] =
    &[(38, "BTR_BLOB_HDR_PART_LEN", Form::U32), (42, "BTR_BLOB_HDR_NEXT_PAGE_NO", Form::Page)];
const LOB_FIRST: &[Field] = &[
    (38, "OFFSET_VERSION", Form::U8),
    (39, "OFFSET_FLAGS", Form::U8),
    (40, "OFFSET_LOB_VERSION", Form::U32),
    (44, "OFFSET_LAST_TRX_ID", Form::U48),
    (50, "OFFSET_LAST_UNDO_NO", Form::U32),
    (54, "OFFSET_DATA_LEN", Form::U32),
    (58, "OFFSET_TRX_ID", Form::U48),
    (64, "OFFSET_INDEX_LIST", Form::List),
    (80, "OFFSET_INDEX_FREE_NODES", Form::List),
];
const LOB_DATA: &[Field] = &[
    (38, "OFFSET_VERSION", Form::U8),
    (39, "OFFSET_DATA_LEN", Form::U32),
    (43, "OFFSET_TRX_ID", Form::U48),
];
const LOB_INDEX: &[Field] = &[(38, "OFFSET_VERSION", Form::U8)];

/// The fields of an entry of a LOB's index.
pub(super) const LOB_ENTRY: &[Field] = &[
    (0, "OFFSET_PREV", Form::Addr),
    (6, "OFFSET_NEXT", Form::Addr),
    (12, "OFFSET_VERSIONS", Form::List),
    (28, "OFFSET_TRXID", Form::U48),
    (34, "OFFSET_TRXID_MODIFIER", Form::U48),
    (40, "OFFSET_TRX_UNDO_NO", Form::U32),
    (44, "OFFSET_TRX_UNDO_NO_MODIFIER", Form::U32),
    (48, "OFFSET_PAGE_NO", Form::Page),
    (52, "OFFSET_DATA_LEN", Form::U16),
    (56, "OFFSET_LOB_VERSION", Form::U32),
];
/// The bytes of an entry.
pub(super) const LOB_ENTRY_LEN: usize = 60;

/// The fields of a kind of page after the common header: its name, the fields, and their end.
pub(super) fn of_kind(kind: PageKind) -> Option<(&'static str, &'static [Field], usize)> {
    Some(match kind {
        PageKind::FspHeader => ("FSP header", FSP_HEADER, 150),
        PageKind::Xdes => ("FSP header (unused)", &[], 150),
        PageKind::Inode => ("INODE page", INODE, 50),
        PageKind::Index | PageKind::Instant | PageKind::Sdi | PageKind::RTree => {
            ("index header", PAGE_HEADER, 94)
        }
        PageKind::Blob | PageKind::SdiBlob => ("BLOB header", BLOB, 46),
        PageKind::LobFirst => ("LOB first page", LOB_FIRST, 96),
        PageKind::LobData => ("LOB data page", LOB_DATA, 49),
        PageKind::LobIndex => ("LOB index page", LOB_INDEX, 39),
        _ => return None,
    })
}

/// The value of a field as text; `?` if the page is too short.
pub(super) fn value(page: &[u8], at: usize, form: Form) -> String {
    let read = || -> innoscan_format::Result<String> {
        Ok(match form {
            Form::U8 => bytes::u8_at(page, at)?.to_string(),
            Form::U16 => bytes::u16_at(page, at)?.to_string(),
            Form::U32 => bytes::u32_at(page, at)?.to_string(),
            Form::U48 => bytes::u48_at(page, at)?.to_string(),
            Form::U64 => bytes::u64_at(page, at)?.to_string(),
            Form::Hex32 => format!("{:#010x}", bytes::u32_at(page, at)?),
            Form::HeapCount => {
                let word = bytes::u16_at(page, at)?;
                let kind = if word & 0x8000 == 0 { "redundant" } else { "compact" };
                format!("{} ({kind})", word & 0x7FFF)
            }
            Form::Direction => direction(bytes::u16_at(page, at)?),
            Form::Page => page_text(PageNo(bytes::u32_at(page, at)?)),
            Form::Addr => addr_text(FileAddr::read(page, at)?),
            Form::List => {
                let list = ListBase::read(page, at)?;
                let (first, last) = (addr_text(list.first), addr_text(list.last));
                format!("{} nodes, first {first}, last {last}", list.len)
            }
            Form::Node => {
                let node = ListNode::read(page, at)?;
                format!("prev {}, next {}", addr_text(node.prev), addr_text(node.next))
            }
            Form::Segment => {
                let space = bytes::u32_at(page, at)?;
                format!("space {space}, inode {}", addr_text(FileAddr::read(page, at + 4)?))
            }
        })
    };
    read().unwrap_or_else(|_| "?".into())
}

/// The name of a `PAGE_DIRECTION`; in MariaDB's instant roots the upper 13 bits count core fields.
fn direction(word: u16) -> String {
    const NAMES: [&str; 6] =
        ["none", "PAGE_LEFT", "PAGE_RIGHT", "PAGE_SAME_REC", "PAGE_SAME_PAGE", "PAGE_NO_DIRECTION"];
    let name = NAMES.get(usize::from(word & 7)).unwrap_or(&"unknown");
    match word >> 3 {
        0 => format!("{word} ({name})"),
        core_fields => format!("{} ({name}), {core_fields} core fields", word & 7),
    }
}

fn page_text(page: PageNo) -> String {
    page.non_null().map_or("FIL_NULL".into(), |page| page.to_string())
}

pub(super) fn addr_text(addr: Option<FileAddr>) -> String {
    addr.map_or("null".into(), |addr| format!("({}, {})", addr.page_no, addr.offset))
}
