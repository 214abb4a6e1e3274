//! Off-page columns: read by a machine that says which pages it needs and is fed them.
//!
//! The end of the column's bytes in the record is a reference:
//!
//! ```text
//! 0 tablespace   4 page   8 offset of the header, 38 (BLOB), or version (MySQL 8 LOB)
//! 12 flags: 0x80 not owner, 0x40 inherited, 0x20 being written   16 length
//! ```
//!
//! It leads to one of two forms (`lob0lob.h`, `lob0first.h`, `lob0impl.cc` of MySQL 9.7;
//! `btr0cur.cc` of MariaDB 10.11):
//!
//! - before MySQL 8, and in MariaDB, a **chain** of BLOB pages: at 38 the length of the part,
//!   then the next page, then the part;
//! - in MySQL 8 a **first page** with a list of index entries, each naming a data page, which
//!   runs on through index pages ([`index`](self)).

mod index;

use self::index::IndexWalk;
use crate::page::{DATA, Need, Page, PageFormat, PageKind};
use crate::{Error, PageNo, Result, SpaceId, bytes};

/// A reference to an off-page column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LobRef {
    /// The tablespace, as written; servers do not look at it when they read their own.
    pub space: SpaceId,
    /// The first page.
    pub page_no: PageNo,
    /// BLOB: offset of the header on the first page. LOB: the version the row sees.
    pub version: u32,
    /// Bytes there, without those the record holds itself.
    pub len: u32,
}

impl LobRef {
    /// Bytes of a reference (`FIELD_REF_SIZE`).
    pub const LEN: usize = 20;

    /// Reads the reference at the end of a column's bytes.
    pub fn parse(reference: &[u8; LobRef::LEN]) -> Result<LobRef> {
        if reference == &[0; LobRef::LEN] {
            return Err(Error::corrupt(
                "the off-page column was never written: its row's insert did not finish",
            ));
        }
        let flags = bytes::u8_at(reference, 12)?;
        if flags & 0x20 != 0 {
            return Err(Error::corrupt(
                "the off-page column was being written when the server stopped",
            ));
        }
        let (high, len) =
            (bytes::u32_at(reference, 12)? & 0x1FFF_FFFF, bytes::u32_at(reference, 16)?);
        if high != 0 || len == 0 {
            return Err(Error::corrupt(format!(
                "the off-page column's reference gives it {high:#x}{len:08x} bytes"
            )));
        }
        Ok(LobRef {
            space: SpaceId(bytes::u32_at(reference, 0)?),
            page_no: PageNo(bytes::u32_at(reference, 4)?),
            version: bytes::u32_at(reference, 8)?,
            len,
        })
    }
}

/// Where the data of a BLOB page begins.
const BLOB_DATA: usize = DATA + 8;
/// Bytes of a page's trailer.
const TRAILER: usize = 8;

/// Reads one off-page column.
///
/// ```
/// # use innoscan_format::lob::{LobReader, LobRef};
/// # use innoscan_format::page::{Need, PageFormat};
/// # use innoscan_format::{PageNo, Result};
/// # fn read(format: PageFormat, lob: LobRef, fetch: fn(PageNo) -> Vec<u8>) -> Result<Vec<u8>> {
/// let mut value = Vec::new();
/// let mut reader = LobReader::new(format, lob)?;
/// while let Need::Pages(pages) = reader.need() {
///     // Fetch any number of them, the first foremost; feed them in this order.
///     let first = pages[0];
///     reader.feed(first, &fetch(first), &mut value)?;
/// }
/// # Ok(value)
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LobReader {
    format: PageFormat,
    lob: LobRef,
    /// Pages to be fed, in order; those before `fed` were.
    pages: Vec<PageNo>,
    fed: usize,
    /// Bytes still to come.
    left: u32,
    /// Pages seen: more than the file has means a cycle.
    seen: u32,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    First,
    Chain,
    Index(Box<IndexWalk>),
    Data(Box<IndexWalk>),
}

impl LobReader {
    /// Begins to read what `lob` refers to.
    pub fn new(format: PageFormat, lob: LobRef) -> Result<LobReader> {
        format.require_inside(lob.page_no, "an off-page column's reference")?;
        Ok(LobReader {
            format,
            lob,
            pages: vec![lob.page_no],
            fed: 0,
            left: lob.len,
            seen: 0,
            state: State::First,
        })
    }

    /// What it needs next. All pages it can name are named, so that they can be fetched at once;
    /// feed them one by one in this order, and ask again whenever the list is used up.
    pub fn need(&self) -> Need<'_> {
        match self.pages.get(self.fed..) {
            Some(pages) if !pages.is_empty() && self.left > 0 => Need::Pages(pages),
            _ => Need::Done,
        }
    }

    /// Takes the next needed page, whole, and appends to `out` what of the column it completes.
    pub fn feed(&mut self, page_no: PageNo, page: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if self.pages.get(self.fed) != Some(&page_no) || self.left == 0 {
            return Err(Error::corrupt(format!("page {page_no} was not asked for")));
        }
        self.fed += 1;
        self.seen += 1;
        if self.seen > self.format.size_pages {
            return Err(Error::corrupt("an off-page column has more pages than its file: a cycle")
                .at_page(self.format.space, page_no));
        }
        let page = Page::parse(page, self.format, page_no)?;
        self.take(page, out).map_err(|error| page.locate_error(error))
    }

    fn take(&mut self, page: Page<'_>, out: &mut Vec<u8>) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Chain) {
            State::First => match page.kind() {
                PageKind::Blob | PageKind::SdiBlob => {
                    if self.lob.version as usize != DATA {
                        return Err(Error::corrupt(format!(
                            "a BLOB's header is said to be at {}, not {DATA}",
                            self.lob.version
                        )));
                    }
                    self.take_chained(page, out)
                }
                PageKind::LobFirst => {
                    let walk = IndexWalk::begin(page, self.lob)?;
                    self.walk(Box::new(walk), page, out)
                }
                kind => Err(wrong_kind(kind)),
            },
            State::Chain => match page.kind() {
                PageKind::Blob | PageKind::SdiBlob => self.take_chained(page, out),
                kind => Err(wrong_kind(kind)),
            },
            State::Index(walk) => self.walk(walk, page, out),
            State::Data(walk) => self.take_data(walk, page, out),
        }
    }

    fn take_chained(&mut self, page: Page<'_>, out: &mut Vec<u8>) -> Result<()> {
        let len = bytes::u32_at(page.bytes(), DATA)?;
        let next = PageNo(bytes::u32_at(page.bytes(), DATA + 4)?);
        let room = page.bytes().len() - BLOB_DATA - TRAILER;
        if len == 0 || len as usize > room || len > self.left {
            return Err(Error::corrupt(format!(
                "a BLOB's part of {len} bytes, where {} are left and a page has room for {room}",
                self.left
            )));
        }
        out.extend_from_slice(bytes::slice(page.bytes(), BLOB_DATA, len as usize)?);
        self.left -= len;
        if self.left > 0 {
            self.format.require_inside(next, "a BLOB page with more to come")?;
            self.pages = vec![next];
            self.fed = 0;
        } else if let Some(next) = next.non_null() {
            return Err(Error::corrupt(format!(
                "the BLOB is whole, yet runs on to page {next}: its length is wrong"
            )));
        }
        Ok(())
    }

    /// Goes on through the index with one more page of it.
    fn walk(&mut self, mut walk: Box<IndexWalk>, page: Page<'_>, out: &mut Vec<u8>) -> Result<()> {
        if let Some(missing) = walk.advance(page)? {
            self.format.require_inside(missing, "an index entry of a LOB")?;
            self.pages = vec![missing];
            self.fed = 0;
            self.state = State::Index(walk);
            return Ok(());
        }
        self.pages.clear();
        self.fed = 0;
        for part in walk.parts() {
            if part.page_no != self.lob.page_no {
                self.format.require_inside(part.page_no, "an index entry of a LOB")?;
                self.pages.push(part.page_no);
            }
        }
        let at_hand = (page.page_no() == self.lob.page_no).then_some(page.bytes());
        self.take_first_parts(&mut walk, at_hand, out)?;
        self.state = State::Data(walk);
        Ok(())
    }

    fn take_data(
        &mut self,
        mut walk: Box<IndexWalk>,
        page: Page<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if page.kind() != PageKind::LobData {
            return Err(wrong_kind(page.kind()));
        }
        if let Some(part) = walk.next_part() {
            let data = index::data_of(page.bytes(), part.len)?;
            self.append(data, out)?;
        }
        self.take_first_parts(&mut walk, None, out)?;
        self.state = State::Data(walk);
        Ok(())
    }

    /// Appends the parts that are on the first page, up to the next one elsewhere.
    fn take_first_parts(
        &mut self,
        walk: &mut IndexWalk,
        at_hand: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        while let Some(data) = walk.first_page_part(at_hand)? {
            self.append(data, out)?;
        }
        Ok(())
    }

    fn append(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let wanted = data.len().min(self.left as usize);
        out.extend_from_slice(bytes::slice(data, 0, wanted)?);
        self.left -= wanted as u32;
        Ok(())
    }
}

fn wrong_kind(kind: PageKind) -> Error {
    Error::corrupt(format!("a page of kind {kind} where an off-page column's should be"))
}
