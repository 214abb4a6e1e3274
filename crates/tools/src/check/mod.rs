//! The check of a tablespace: every page by itself, then the references between pages.
//!
//! The file is read once, in file order and in large requests. Each page is verified as it arrives
//! (checksum, number, tablespace, LSN, records, directory, heap, order of keys); its references to
//! others are noted and compared at the end: links in both directions, levels, parents and children
//! (`trees`), extents, segments and their lists (`extents`), order from page to page
//! (`order`).
//!
//! Without a table's definition everything is checked except children against parents and
//! the order of keys, for which records must be parsed.
//!
//! Pages of the doublewrite buffer in the system tablespace are counted only: they are copies of any pages, as old as
//! may be.

mod change_buffer;
mod directory;
mod extents;
mod file;
mod order;
mod report;
mod trees;

use std::sync::Arc;

use innoscan_engine::pool::{Pool, RunReader, runs_in_file_order};
use innoscan_engine::space::Space;
use innoscan_engine::{Error, ErrorKind, Result};
use innoscan_format::page::system::{Doublewrite, IBUF_HEADER_PAGE};
use innoscan_format::page::undo::TRX_SYS_PAGE;
use innoscan_format::page::{
    self, ExtentsPage, IndexPage, Page, PageContext, PageKind, Scratch, SpaceHeader,
};
use innoscan_format::{Error as FormatError, PageNo, SpaceId};
use innoscan_io::Kind;

use change_buffer::ChangeBuffer;
pub use directory::{Tablespace, Tablespaces, shared_tablespace, tablespaces_in};
use extents::{Owner, Ownership};
pub use file::Subject;
pub use order::Known;
use order::Orders;
pub use report::{Area, Finding, IndexSummary, Report};
use trees::Trees;

/// The pages of the system tablespace that say something about others.
const FIXED_PAGES: [PageNo; 2] = [IBUF_HEADER_PAGE, TRX_SYS_PAGE];
/// The bytes of one request.
const REQUEST_BYTES: usize = 1 << 20;

/// Checks a tablespace. `pool`'s frames must have the file's page size.
/// `known`: the clustered indexes of the tables that are known. `on_progress` receives the number of
/// pages checked and of all pages.
pub fn check(
    pool: &mut Pool,
    space: &Space,
    known: &[Known<'_>],
    mut on_progress: impl FnMut(u64, u64),
) -> Result<Report> {
    space.require_key()?;
    let page_bytes = pool.page_bytes() as u64;
    if pool.page_bytes() != space.page_bytes() {
        return Err(Error::resources("the pool's frames are not of the file's page size"));
    }
    let size_bytes = space.size_bytes();
    let path = space.file().path();
    let slot = pool.add_file(Arc::clone(space.file()), space.redo().cloned());
    let mut checker = Checker::new(space.header(), space.page_context(), size_bytes, known);
    let pages = size_bytes / page_bytes;
    let before = read_bytes(pool);
    let readable = u32::try_from(pages).unwrap_or(u32::MAX);
    let run_pages = u32::try_from(REQUEST_BYTES / pool.page_bytes()).unwrap_or(1).max(1);
    let mut reader = RunReader::new(slot, Kind::Ahead, runs_in_file_order(readable, run_pages));
    while let Some((page_no, page)) = reader.next(pool) {
        match page {
            Ok(page) => {
                checker.add(page_no, &page).map_err(|error| Error::from(error).in_file(path))?
            }
            Err(error) if error.kind() == ErrorKind::Resources => return Err(error.in_file(path)),
            Err(error) => checker.add_unreadable(page_no, error.to_string()),
        }
        if page_no.0 % 1024 == 0 {
            on_progress(u64::from(page_no.0), pages);
        }
    }
    on_progress(pages, pages);
    let mut report = checker.finish();
    report.read_bytes = read_bytes(pool) - before;
    Ok(report)
}

fn read_bytes(pool: &Pool) -> u64 {
    let counters = pool.counters();
    counters.demand.read_bytes + counters.ahead.read_bytes
}

/// A check in progress: it receives pages in file order, and ends with a report.
pub struct Checker<'t> {
    header: SpaceHeader,
    context: PageContext,
    scratch: Scratch,
    pages: u64,
    report: Report,
    ownership: Ownership,
    trees: Trees,
    orders: Orders<'t>,
    change_buffer: ChangeBuffer,
    /// The doublewrite buffer, in a system tablespace.
    doublewrite: Option<Doublewrite>,
    /// Whether each page of the range of the last extent descriptors is free.
    free: Vec<bool>,
    free_from: u32,
}

impl<'t> Checker<'t> {
    /// A check of a file of `size_bytes` bytes.
    pub fn new(
        header: &SpaceHeader,
        context: &PageContext,
        size_bytes: u64,
        known: &[Known<'t>],
    ) -> Checker<'t> {
        let format = header.page_format();
        let page_bytes = u64::from(format.physical_bytes);
        let pages = size_bytes / page_bytes;
        let mut report = Report::new(header, pages);
        // Servers truncate a file's size to 4 KiB, also with smaller pages (`fil_space_extend_must_retry`,
        // MariaDB 10.11).
        let least_bytes = (u64::from(header.size_pages) * page_bytes) & !4095;
        if size_bytes < least_bytes {
            let what = format!("the file is cut short: {pages} of {} pages", header.size_pages);
            report.add(Area::File, None, what);
        }
        if !size_bytes.is_multiple_of(page_bytes) {
            let what = format!("the file ends in {} bytes of a page", size_bytes % page_bytes);
            report.add(Area::File, None, what);
        }
        Checker {
            header: header.clone(),
            context: context.clone(),
            scratch: Scratch::default(),
            pages,
            report,
            ownership: Ownership::new(format),
            trees: Trees::new(pages),
            orders: Orders::new(known),
            change_buffer: ChangeBuffer::default(),
            doublewrite: None,
            free: Vec::new(),
            free_from: 0,
        }
    }

    /// Adds the next page of the file.
    ///
    /// # Errors
    /// This version does not read the form in which the page is stored, so the file cannot be checked.
    pub fn add(&mut self, page_no: PageNo, bytes: &[u8]) -> innoscan_format::Result<()> {
        if self.is_in_doublewrite_block(page_no) {
            *self.report.kinds.entry("DOUBLEWRITE".to_owned()).or_default() += 1;
            return Ok(());
        }
        let harmless = self.is_free(page_no);
        let mut scratch = std::mem::take(&mut self.scratch);
        match page::open(bytes, &self.context, page_no, &mut scratch) {
            Ok(page) => self.add_page(page, harmless),
            Err(error) if !error.is_corrupt() => return Err(error),
            Err(error) => self.add_bad(page_no, error.to_string(), harmless),
        }
        self.scratch = scratch;
        Ok(())
    }

    fn is_in_doublewrite_block(&self, page_no: PageNo) -> bool {
        let Some(doublewrite) = &self.doublewrite else { return false };
        let extent_pages = self.header.page_format().page_size.extent_pages();
        let offset_in = |first: &PageNo| page_no.0.checked_sub(first.0);
        doublewrite.blocks.iter().filter_map(offset_in).any(|offset| offset < extent_pages)
    }

    /// Whether a page in use may be all zeroes: MariaDB never writes the single pages of the doublewrite buffer's
    /// segment, which it allocates to have whole extents after them (`buf_dblwr_t::create`, `buf0dblwr.cc`).
    fn may_be_zeroes(&self, page_no: PageNo) -> bool {
        let segment = self.doublewrite.and_then(|doublewrite| doublewrite.segment);
        let segment = segment.and_then(|addr| self.ownership.segment_at(addr));
        segment.is_some_and(|segment| self.ownership.owner(page_no) == Owner::Segment(segment))
    }

    /// Adds the next page, which could not be read.
    pub fn add_unreadable(&mut self, page_no: PageNo, why: String) {
        self.add_bad(page_no, why, false);
    }

    fn add_bad(&mut self, page_no: PageNo, what: String, harmless: bool) {
        if self.ownership.is_extents_page(page_no) {
            self.ownership.miss_extents();
            self.free.clear();
        }
        self.trees.add_damaged(page_no);
        self.report.damaged_pages.push(page_no);
        let page = Some(page_no);
        self.report.add_finding(Finding { area: Area::Page, page, what, harmless });
    }

    fn add_page(&mut self, page: Page<'_>, free: bool) {
        let page_no = page.page_no();
        let kind = page.kind();
        *self.report.kinds.entry(kind.to_string()).or_default() += 1;
        if self.report.newest.is_none_or(|(lsn, _)| lsn < page.lsn()) && kind != PageKind::Zeroes {
            self.report.newest = Some((page.lsn(), page_no));
        }
        let outcome = if self.ownership.is_extents_page(page_no) {
            self.add_extents(page)
        } else if self.header.space == SpaceId::SYSTEM && FIXED_PAGES.contains(&page_no) {
            self.add_fixed(page)
        } else if free || self.is_free(page_no) {
            self.report.free_pages += 1;
            Ok(())
        } else if kind == PageKind::Inode {
            self.ownership.add_segments(page)
        } else if trees::is_tree(kind) {
            self.add_index(page)
        } else if kind == PageKind::Zeroes
            && page_no < self.header.free_limit
            && !self.free.is_empty()
            && !self.may_be_zeroes(page_no)
        {
            Err(FormatError::corrupt("the page is all zeroes, but in use"))
        } else {
            self.change_buffer.add_unused(&page)
        };
        if let Err(error) = outcome {
            self.report.add(Area::Page, Some(page_no), error.to_string());
        }
    }

    /// Adds a page that says something about other pages of the system tablespace.
    fn add_fixed(&mut self, page: Page<'_>) -> innoscan_format::Result<()> {
        match page.page_no() {
            IBUF_HEADER_PAGE => self.change_buffer.add_header(&page)?,
            _ => self.doublewrite = Doublewrite::read(&page)?,
        }
        Ok(())
    }

    fn add_extents(&mut self, page: Page<'_>) -> innoscan_format::Result<()> {
        self.free.clear();
        self.free_from = page.page_no().0;
        if page.kind() == PageKind::Zeroes && page.page_no() >= self.header.free_limit {
            return Ok(());
        }
        let added = self.ownership.add_extents(page, self.pages);
        if added.is_err() {
            self.ownership.miss_extents();
            return added;
        }
        for extent in ExtentsPage::parse(page)?.extents() {
            let extent = extent?;
            self.free.extend((0..extent.pages).map(|nth| extent.is_free(nth)));
        }
        Ok(())
    }

    /// Whether extent descriptors mark a page as free; `false` if there are none.
    fn is_free(&self, page: PageNo) -> bool {
        if page >= self.header.free_limit {
            return true;
        }
        let nth = page.0.checked_sub(self.free_from);
        nth.and_then(|nth| self.free.get(nth as usize)).is_some_and(|&free| free)
    }

    fn add_index(&mut self, page: Page<'_>) -> innoscan_format::Result<()> {
        let page_no = page.page_no();
        let index = match IndexPage::parse(page) {
            Ok(index) => index,
            Err(error) => {
                self.trees.add_damaged(page_no);
                self.report.add(Area::Records, Some(page_no), error.to_string());
                return Ok(());
            }
        };
        self.trees.add(&index);
        if let Err(error) = index.check_directory().and_then(|()| index.check_heap()) {
            self.report.add(Area::Records, Some(page_no), error.to_string());
            return Ok(());
        }
        if index.is_leaf() {
            let (mut records, mut delete_marked) = (0, 0);
            for record in index.records() {
                let record = record?;
                records += u64::from(!record.is_metadata());
                delete_marked += u64::from(record.is_delete_marked() && !record.is_metadata());
            }
            self.trees.count(index.index_id(), records, delete_marked);
            self.change_buffer.add_index(&index, records)?;
        } else {
            self.change_buffer.add_index(&index, 0)?;
        }
        self.orders.add(&index, &mut self.trees, &mut self.report);
        Ok(())
    }

    /// Ends the check after all pages were added, and returns the report.
    pub fn finish(mut self) -> Report {
        self.ownership.check(&self.header, &mut self.report);
        self.orders.finish(&mut self.trees, &mut self.report);
        for (page, records) in self.change_buffer.free_pages(&mut self.report) {
            self.trees.take_free(page, records);
        }
        self.trees.finish(&self.ownership, self.change_buffer.segment, &mut self.report);
        self.report
    }
}
