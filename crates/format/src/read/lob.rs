//! Reader of off-page columns: a state machine that names the pages it needs.
//!
//! The reference in the record ([`LobRef`]) leads to one of two forms (`lob0lob.h`, `lob0first.h`,
//! `lob0impl.cc` of MySQL 9.7; `btr0cur.cc` of MariaDB 10.11):
//!
//! - before MySQL 8, and in MariaDB, a **chain** of BLOB pages: at 38 the length of the part,
//!   then the next page, then the part;
//! - in MySQL 8 a **first page** with a list of index entries, each naming a data page, which
//!   continues in index pages (`lob_index.rs`).
//!
//! With ROW_FORMAT=COMPRESSED both have a compressed form: a **ZBLOB** is one zlib stream over a chain of pages
//! without lengths (`zblob.rs`), a **ZLOB** has a stream for each part (`zlob.rs`). MySQL from 8.0.13 on writes
//! ZBLOBs for values of up to 128 KiB.

use super::Need;
use super::lob_index::{self, Form, IndexWalk, TRAILER, wrong_kind};
use super::zblob::ZBlob;
use super::zlob::ZLob;
use crate::lob_ref::LobRef;
use crate::page::{DATA, Page, PageFormat, PageKind};
use crate::{Error, PageNo, Result, bytes};

/// Offset of the data on a BLOB page.
const BLOB_DATA: usize = DATA + 8;

/// A reader of one off-page column.
///
/// ```
/// # use innoscan_format::page::{self, PageContext, Scratch};
/// # use innoscan_format::read::{LobReader, Need};
/// # use innoscan_format::{LobRef, PageNo, Result};
/// # fn read(file: &PageContext, lob: LobRef, fetch: fn(PageNo) -> Vec<u8>) -> Result<Vec<u8>> {
/// let (mut value, mut scratch) = (Vec::new(), Scratch::default());
/// let mut reader = LobReader::new(file.format(), lob)?;
/// while let Need::Pages(pages) = reader.need() {
///     // Fetch any number of them, the first foremost; feed them in this order.
///     let first = pages[0];
///     reader.feed(page::open(&fetch(first), file, first, &mut scratch)?, &mut value)?;
/// }
/// # Ok(value)
/// # }
/// ```
#[derive(Debug)]
pub struct LobReader {
    format: PageFormat,
    lob: LobRef,
    /// Pages to be passed, in order; those before `fed` were.
    pages: Vec<PageNo>,
    fed: usize,
    /// Bytes still to be read.
    left: u32,
    /// Pages visited: more than the file has means a cycle.
    seen: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    First,
    Chain,
    ZBlob(Box<ZBlob>),
    Index(Box<IndexWalk>),
    Data(Box<IndexWalk>),
    ZLob(Box<ZLob>),
}

impl LobReader {
    /// Creates a reader of the column that `lob` refers to.
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

    /// Returns the next needed pages: all that are known, so that they can be fetched together.
    /// Pass them one by one in this order, and call this again when all were passed.
    pub fn need(&self) -> Need<'_> {
        match self.pages.get(self.fed..) {
            Some(pages) if !pages.is_empty() && self.left > 0 => Need::Pages(pages),
            _ => Need::Done,
        }
    }

    /// Passes the next needed page to the reader, which appends to `out` the bytes of the column
    /// that this page completes.
    pub fn feed(&mut self, page: Page<'_>, out: &mut Vec<u8>) -> Result<()> {
        let page_no = page.page_no();
        if self.pages.get(self.fed) != Some(&page_no) || self.left == 0 {
            return Err(Error::corrupt(format!("page {page_no} was not requested")));
        }
        self.fed += 1;
        self.seen += 1;
        if self.seen > self.format.size_pages {
            return Err(Error::corrupt("an off-page column has more pages than its file: a cycle")
                .at_page(self.format.space, page_no));
        }
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
                PageKind::ZBlob | PageKind::SdiZBlob => {
                    self.take_zblob(Box::new(ZBlob::new(self.lob)), page, out)
                }
                PageKind::LobFirst => self.begin_walk(Form::Lob, page, out),
                PageKind::ZLobFirst => self.begin_walk(Form::ZLob, page, out),
                kind => Err(wrong_kind(kind)),
            },
            State::Chain => match page.kind() {
                PageKind::Blob | PageKind::SdiBlob => self.take_chained(page, out),
                kind => Err(wrong_kind(kind)),
            },
            State::ZBlob(zblob) => match page.kind() {
                PageKind::ZBlob2 | PageKind::SdiZBlob => self.take_zblob(zblob, page, out),
                kind => Err(wrong_kind(kind)),
            },
            State::Index(walk) => self.walk(walk, page, out),
            State::Data(walk) => self.take_data(walk, page, out),
            State::ZLob(mut zlob) => {
                zlob.take(page)?;
                self.take_streams(zlob, out)
            }
        }
    }

    fn take_zblob(
        &mut self,
        mut zblob: Box<ZBlob>,
        page: Page<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let next = zblob.take(page, self.left as usize, out)?;
        self.left -= (out.len() - start) as u32;
        if self.left > 0 {
            self.require(next, "a ZBLOB page with more to come")?;
        }
        self.state = State::ZBlob(zblob);
        Ok(())
    }

    /// Requests one page, which `what` names.
    fn require(&mut self, page_no: PageNo, what: &str) -> Result<()> {
        self.format.require_inside(page_no, what)?;
        self.pages.clear();
        self.pages.push(page_no);
        self.fed = 0;
        Ok(())
    }

    fn begin_walk(&mut self, form: Form, page: Page<'_>, out: &mut Vec<u8>) -> Result<()> {
        let walk = IndexWalk::start(page, self.lob, form)?;
        self.walk(Box::new(walk), page, out)
    }

    /// Takes the streams of a ZLOB that are complete, and requests the next page.
    fn take_streams(&mut self, mut zlob: Box<ZLob>, out: &mut Vec<u8>) -> Result<()> {
        let needed = zlob.advance(&mut self.left, out)?;
        if let Some(page_no) = needed {
            self.require(page_no, "a ZLOB page with more to come")?;
        }
        self.state = State::ZLob(zlob);
        Ok(())
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
            self.require(next, "a BLOB page with more to come")?;
        } else if let Some(next) = next.non_null() {
            return Err(Error::corrupt(format!(
                "the BLOB is whole, yet runs on to page {next}: its length is wrong"
            )));
        }
        Ok(())
    }

    /// Continues the walk through the index with one more of its pages.
    fn walk(&mut self, mut walk: Box<IndexWalk>, page: Page<'_>, out: &mut Vec<u8>) -> Result<()> {
        if let Some(missing) = walk.advance(page)? {
            self.require(missing, "an index entry of a LOB")?;
            self.state = State::Index(walk);
            return Ok(());
        }
        if walk.form() == Form::ZLob {
            return self.take_streams(Box::new(ZLob::new(*walk)), out);
        }
        self.pages.clear();
        self.fed = 0;
        for part in walk.parts() {
            if part.page_no != self.lob.page_no {
                self.format.require_inside(part.page_no, "an index entry of a LOB")?;
                self.pages.push(part.page_no);
            }
        }
        let first_page = (page.page_no() == self.lob.page_no).then_some(page.bytes());
        self.take_first_parts(&mut walk, first_page, out)?;
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
            let data = lob_index::data_of(page.bytes(), part.len)?;
            self.append(data, out)?;
        }
        self.take_first_parts(&mut walk, None, out)?;
        self.state = State::Data(walk);
        Ok(())
    }

    /// Appends the parts that are on the first page, up to the next part on another page.
    fn take_first_parts(
        &mut self,
        walk: &mut IndexWalk,
        first_page: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        while let Some(data) = walk.first_page_part(first_page)? {
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
