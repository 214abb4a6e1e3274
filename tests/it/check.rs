//! `check` finds nothing wrong with what real servers wrote.

use innoscan::check::{Checker, Known, Report};
use innoscan_format::layout::{Layout, MetadataReader};
use innoscan_format::page::sdi::SdiReader;
use innoscan_format::page::{IndexPage, Need, Page, SpaceHeader};
use innoscan_format::schema::{TableDef, from_create_table, from_sdi};
use innoscan_format::{IndexId, PageNo};

use crate::corpus::{self, CorpusTable};

/// The pages of a file in memory.
pub fn page(bytes: &[u8], header: &SpaceHeader, page: PageNo) -> Vec<u8> {
    let len = header.flags.page_size.len();
    bytes[page.0 as usize * len..][..len].to_vec()
}

/// The first root, but for SDI's.
pub fn root_of(header: &SpaceHeader) -> PageNo {
    if header.sdi_root == Some(PageNo(3)) { PageNo(4) } else { PageNo(3) }
}

/// The layout of a file's clustered index.
pub fn layout_of(
    bytes: &[u8],
    header: &SpaceHeader,
    def: &TableDef,
) -> innoscan_format::Result<Layout> {
    let root = root_of(header);
    let root_page = page(bytes, header, root);
    let root_page = IndexPage::parse(Page::parse(&root_page, header.page_format(), root)?)?;
    let row_format = header.flags.row_format(root_page.is_compact());
    let mut reader = MetadataReader::new(def, row_format, header.page_format(), root);
    while let Need::Pages(&[first, ..]) = reader.need() {
        reader.feed(first, &page(bytes, header, first))?;
    }
    Layout::compile(def, row_format, reader.finish().as_ref())
}

/// The clustered index.
pub fn index_of(bytes: &[u8], header: &SpaceHeader) -> IndexId {
    let root = page(bytes, header, root_of(header));
    IndexId(innoscan_format::bytes::u64_at(&root, 66).unwrap())
}

/// The definition of a file's table: its own, where it has one, or else SQL text's.
pub fn def_of(bytes: &[u8], header: &SpaceHeader, table: &CorpusTable) -> Option<TableDef> {
    let Some(root) = header.sdi_root else {
        return from_create_table(&table.create_sql()?, table.server).ok();
    };
    let mut reader = SdiReader::new(header.page_format(), root).ok()?;
    while let Need::Pages(&[first, ..]) = reader.need() {
        reader.feed(first, &page(bytes, header, first)).ok()?;
    }
    let objects = reader.finish();
    from_sdi(&objects.iter().find(|object| object.is_table())?.json).ok()
}

fn check(bytes: &[u8], header: &SpaceHeader, known: Option<Known<'_>>) -> Report {
    let mut checker = Checker::new(header, bytes.len() as u64, known);
    for (page_no, page) in bytes.chunks_exact(header.flags.page_size.len()).enumerate() {
        checker.add(PageNo(page_no as u32), page);
    }
    checker.finish()
}

#[test]
fn what_servers_wrote_is_sound() {
    let mut unsound = Vec::new();
    for table in corpus::tables() {
        let Ok(bytes) = std::fs::read(table.ibd()) else { continue };
        let header = SpaceHeader::parse(&bytes).unwrap();
        if header.require_plain_pages().is_err() || table.is("page_compressed") {
            continue;
        }
        let def = def_of(&bytes, &header, &table);
        let layout = def.as_ref().and_then(|def| layout_of(&bytes, &header, def).ok());
        let known = match (&def, &layout) {
            (Some(def), Some(layout)) => {
                Some(Known { def, layout, index: index_of(&bytes, &header) })
            }
            _ => None,
        };
        let report = check(&bytes, &header, known);
        if !report.is_sound() {
            unsound.push(format!("{}:\n{report}", table.file.display()));
        }
    }
    assert!(unsound.is_empty(), "{} files\n{}", unsound.len(), unsound.join("\n"));
}
