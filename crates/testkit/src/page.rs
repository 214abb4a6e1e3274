//! Writers of pages in InnoDB's format, for tests of their readers.
//!
//! The writers are simple: a test gives each value's position, and [`PageWriter::seal`] adds the
//! checksums, so that damage reaches the code behind them.

use innoscan_format::page::{self, Page, PageContext, PageFormat};
use innoscan_format::{IndexId, PageNo, PageSize, Result, SpaceId};

use crate::tablespace::seal_page;

/// `FIL_PAGE_INDEX`.
pub const INDEX: u16 = 17855;
/// `FIL_PAGE_SDI`.
pub const SDI: u16 = 17853;
/// `FIL_PAGE_TYPE_BLOB`.
pub const BLOB: u16 = 10;
/// `FIL_PAGE_TYPE_LOB_INDEX`.
pub const LOB_INDEX: u16 = 22;
/// `FIL_PAGE_TYPE_LOB_DATA`.
pub const LOB_DATA: u16 = 23;
/// `FIL_PAGE_TYPE_LOB_FIRST`.
pub const LOB_FIRST: u16 = 24;

/// `FIL_PAGE_TYPE_ZBLOB`.
pub const ZBLOB: u16 = 11;
/// `FIL_PAGE_TYPE_ZLOB_FIRST`.
pub const ZLOB_FIRST: u16 = 25;
/// `FIL_PAGE_TYPE_ZLOB_DATA`.
pub const ZLOB_DATA: u16 = 26;
/// `FIL_PAGE_TYPE_ZLOB_INDEX`.
pub const ZLOB_INDEX: u16 = 27;
/// `FIL_PAGE_TYPE_ZLOB_FRAG`.
pub const ZLOB_FRAGMENT: u16 = 28;

/// Returns the format of a file of 4 KiB pages, without `full_crc32`.
pub fn format(size_pages: u32) -> PageFormat {
    PageFormat {
        space: SpaceId(7),
        page_size: PageSize::MIN,
        physical_bytes: PageSize::MIN.bytes(),
        is_zip: false,
        full_crc32: false,
        sdi: true,
        size_pages,
    }
}

/// Opens a page of a file that stores its pages as they are in memory. Buffers for it are leaked
/// until the program ends.
pub fn open_plain(bytes: &[u8], format: PageFormat, page_no: PageNo) -> Result<Page<'_>> {
    open_stored(bytes, &PageContext::plain(format), page_no)
}

/// Opens a page as its file stores it. Buffers for it are leaked until the program ends.
pub fn open_stored<'a>(
    bytes: &'a [u8],
    context: &PageContext,
    page_no: PageNo,
) -> Result<Page<'a>> {
    page::open(bytes, context, page_no, Box::leak(Box::default()))
}

/// A page being written.
#[derive(Clone, Debug)]
pub struct PageWriter {
    bytes: Vec<u8>,
    format: PageFormat,
}

impl PageWriter {
    /// Creates a page of a type, without neighbours.
    pub fn new(format: PageFormat, page_no: PageNo, kind: u16) -> PageWriter {
        let mut page = PageWriter { bytes: vec![0; format.physical_len()], format };
        page.u32_at(4, page_no.0).u32_at(8, u32::MAX).u32_at(12, u32::MAX);
        page.u32_at(16, 0).u32_at(20, 4711).u16_at(24, kind).u32_at(34, format.space.0);
        page
    }

    /// Creates a writer that changes an existing page.
    pub fn of(format: PageFormat, bytes: &[u8]) -> PageWriter {
        PageWriter { bytes: bytes.to_vec(), format }
    }

    /// Sets the neighbours on the level.
    pub fn links(&mut self, prev: Option<PageNo>, next: Option<PageNo>) -> &mut PageWriter {
        self.u32_at(8, prev.map_or(u32::MAX, |page| page.0));
        self.u32_at(12, next.map_or(u32::MAX, |page| page.0))
    }

    /// Writes bytes.
    pub fn put(&mut self, at: usize, bytes: &[u8]) -> &mut PageWriter {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Writes two bytes, big-endian.
    pub fn u16_at(&mut self, at: usize, number: u16) -> &mut PageWriter {
        self.put(at, &number.to_be_bytes())
    }

    /// Writes four bytes, big-endian.
    pub fn u32_at(&mut self, at: usize, number: u32) -> &mut PageWriter {
        self.put(at, &number.to_be_bytes())
    }

    /// Writes a file address; `None` is the null one.
    pub fn addr_at(&mut self, at: usize, addr: Option<(PageNo, u16)>) -> &mut PageWriter {
        let (page_no, offset) = addr.unwrap_or((PageNo::NULL, 0));
        self.u32_at(at, page_no.0).u16_at(at + 4, offset)
    }

    /// Returns the page with correct checksums.
    pub fn seal(&mut self) -> Vec<u8> {
        let end = self.bytes.len() - 8;
        let lsn: [u8; 4] = self.bytes[20..24].try_into().expect("four bytes");
        if !self.format.is_zip {
            self.put(if self.format.full_crc32 { end } else { end + 4 }, &lsn);
        }
        seal_page(&mut self.bytes, self.format);
        self.bytes.clone()
    }
}

/// A record of COMPACT or DYNAMIC form.
#[derive(Clone, Debug, Default)]
pub struct RecordWriter {
    /// Null bitmap and lengths, which precede the five bytes of header.
    pub head: Vec<u8>,
    /// Data from the origin on.
    pub data: Vec<u8>,
    /// The upper four bits of the info byte.
    pub info_bits: u8,
}

impl RecordWriter {
    /// Creates a record of fixed-length, NOT NULL fields.
    pub fn fixed(data: impl Into<Vec<u8>>) -> RecordWriter {
        RecordWriter { data: data.into(), ..RecordWriter::default() }
    }

    /// Creates a node pointer.
    pub fn pointer(key: &[u8], child: PageNo, leftmost: bool) -> RecordWriter {
        let mut data = key.to_vec();
        data.extend_from_slice(&child.0.to_be_bytes());
        RecordWriter { head: Vec::new(), data, info_bits: if leftmost { 0x10 } else { 0 } }
    }
}

/// Writes a B-tree page of COMPACT or DYNAMIC records, in the given order.
pub fn index_page(
    format: PageFormat,
    page_no: PageNo,
    (index, level): (IndexId, u16),
    records: &[RecordWriter],
) -> PageWriter {
    index_page_of_kind(format, page_no, INDEX, (index, level), records)
}

/// Writes a B-tree page of another page type ([`SDI`]).
pub fn index_page_of_kind(
    format: PageFormat,
    page_no: PageNo,
    kind: u16,
    (index, level): (IndexId, u16),
    records: &[RecordWriter],
) -> PageWriter {
    const INFIMUM: usize = 99;
    const SUPREMUM: usize = 112;
    let mut page = PageWriter::new(format, page_no, kind);
    page.put(INFIMUM, b"infimum\0").put(SUPREMUM, b"supremum");
    let status = u16::from(level > 0);
    // The directory: infimum, the fourth of each four records, supremum.
    let mut slots = vec![INFIMUM];
    let mut owned = 0u8;
    let mut top = SUPREMUM + 8;
    let mut last = INFIMUM;
    page.put(INFIMUM - 5, &[1]).u16_at(INFIMUM - 4, 2);
    for (nth, record) in records.iter().enumerate() {
        let origin = top + record.head.len() + 5;
        owned += 1;
        let owns = owned == 4 && nth + 1 < records.len();
        page.put(top, &record.head);
        page.put(origin - 5, &[record.info_bits | if owns { owned } else { 0 }]);
        page.u16_at(origin - 4, (nth as u16 + 2) << 3 | status);
        page.u16_at(last - 2, (origin as u16).wrapping_sub(last as u16));
        page.put(origin, &record.data);
        if owns {
            slots.push(origin);
            owned = 0;
        }
        top = origin + record.data.len();
        last = origin;
    }
    page.u16_at(last - 2, (SUPREMUM as u16).wrapping_sub(last as u16));
    page.put(SUPREMUM - 5, &[owned + 1]).u16_at(SUPREMUM - 4, 1 << 3 | 3);
    slots.push(SUPREMUM);
    for (nth, slot) in slots.iter().enumerate() {
        let at = format.page_size.len() - 10 - 2 * nth;
        page.u16_at(at, *slot as u16);
    }
    page.u16_at(38, slots.len() as u16).u16_at(40, top as u16);
    page.u16_at(42, 0x8000 | (records.len() as u16 + 2)).u16_at(54, records.len() as u16);
    page.u16_at(64, level).put(66, &index.0.to_be_bytes());
    page
}
