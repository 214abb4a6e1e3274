//! `check` finds nothing wrong with what real servers wrote.

use std::ops::Deref;

use innoscan_format::keys::Keys;
use innoscan_format::layout::Layout;
use innoscan_format::page::{IndexPage, PageContext, PageFormat, Scratch, SpaceHeader, open};
use innoscan_format::read::{MetadataReader, Need, SdiReader};
use innoscan_format::schema::{TableDef, from_create_table, from_sdi};
use innoscan_format::{IndexId, PageNo};
use innoscan_testkit::page::{self, open_stored};
use innoscan_testkit::tablespace::seal_page;
use innoscan_tools::check::{Checker, Known, Report};

use crate::corpus::{self, CorpusTable};

/// The header of a file in memory, with the keys of its pages.
pub struct Head {
    header: SpaceHeader,
    context: PageContext,
}

impl Head {
    pub fn parse(bytes: &[u8], keys: &Keys) -> innoscan_format::Result<Head> {
        let header = SpaceHeader::parse(bytes)?;
        let context = header.page_context().with_encryption(keys.encryption(&header));
        Ok(Head { header, context })
    }

    pub fn page_context(&self) -> &PageContext {
        &self.context
    }
}

impl Deref for Head {
    type Target = SpaceHeader;

    fn deref(&self) -> &SpaceHeader {
        &self.header
    }
}

/// The pages of a file in memory.
pub fn page(bytes: &[u8], header: &Head, page: PageNo) -> Vec<u8> {
    let len = header.page_context().physical_bytes();
    bytes[page.0 as usize * len..][..len].to_vec()
}

/// The first root, but for SDI's.
pub fn root_of(header: &Head) -> PageNo {
    if header.sdi_root == Some(PageNo(3)) { PageNo(4) } else { PageNo(3) }
}

/// The layout of a file's clustered index.
pub fn layout_of(bytes: &[u8], header: &Head, def: &TableDef) -> innoscan_format::Result<Layout> {
    let root = root_of(header);
    let root_page = page(bytes, header, root);
    let root_page = IndexPage::parse(open_stored(&root_page, header.page_context(), root)?)?;
    let row_format = header.flags.row_format(root_page.is_compact());
    let mut reader = MetadataReader::new(def, row_format, header.page_format(), root);
    while let Need::Pages(&[first, ..]) = reader.need() {
        let page = page(bytes, header, first);
        reader.feed(open_stored(&page, header.page_context(), first)?)?;
    }
    Layout::compile(def, row_format, reader.finish().as_ref())
}

/// The clustered index.
pub fn index_of(bytes: &[u8], header: &Head) -> IndexId {
    let root = root_of(header);
    let page = page(bytes, header, root);
    let mut scratch = Scratch::default();
    let page = open(&page, header.page_context(), root, &mut scratch).unwrap();
    IndexPage::parse(page).unwrap().index_id()
}

/// The definition of a file's table: its own, where it has one, or else SQL text's.
pub fn def_of(bytes: &[u8], header: &Head, table: &CorpusTable) -> Option<TableDef> {
    let Some(root) = header.sdi_root else {
        return from_create_table(&table.create_sql()?, table.version()).ok();
    };
    let mut reader = SdiReader::new(header.page_format(), root).ok()?;
    while let Need::Pages(&[first, ..]) = reader.need() {
        let bytes = page(bytes, header, first);
        reader.feed(open_stored(&bytes, header.page_context(), first).ok()?).ok()?;
    }
    let objects = reader.finish();
    from_sdi(&objects.iter().find(|object| object.is_table())?.json).ok()
}

fn check(bytes: &[u8], header: &Head, known: &[Known<'_>]) -> Report {
    let mut checker = Checker::new(header, header.page_context(), bytes.len() as u64, known);
    for (page_no, page) in bytes.chunks_exact(header.page_context().physical_bytes()).enumerate() {
        checker.add(PageNo(page_no as u32), page).unwrap();
    }
    checker.finish()
}

#[test]
fn what_servers_wrote_is_sound() {
    let mut unsound = Vec::new();
    for table in corpus::tables() {
        let Ok(bytes) = std::fs::read(table.ibd()) else { continue };
        let header = Head::parse(&bytes, &table.page_keys()).unwrap();
        let def = def_of(&bytes, &header, &table);
        let layout = def.as_ref().and_then(|def| layout_of(&bytes, &header, def).ok());
        let known = match (&def, &layout) {
            (Some(def), Some(layout)) => {
                Some(Known { table: None, def, layout, index: index_of(&bytes, &header) })
            }
            _ => None,
        };
        let report = check(&bytes, &header, known.as_slice());
        if !report.is_sound() {
            unsound.push(format!("{}:\n{report}", table.file().display()));
        }
    }
    assert!(unsound.is_empty(), "{} files\n{}", unsound.len(), unsound.join("\n"));
}

/// A damaged file's findings, as `area page`.
fn findings(change: impl FnOnce(&mut Vec<u8>)) -> Vec<String> {
    let (mut bytes, def) = crate::damage::sound("mariadb-10.11", 101_119);
    let header = Head::parse(&bytes, &Keys::default()).unwrap();
    let layout = layout_of(&bytes, &header, &def).unwrap();
    let index = index_of(&bytes, &header);
    change(&mut bytes);
    let header = Head::parse(&bytes, &Keys::default()).unwrap_or(header);
    let report =
        check(&bytes, &header, &[Known { table: None, def: &def, layout: &layout, index }]);
    let page = |page: Option<PageNo>| page.map_or("-".into(), |page| page.to_string());
    let findings = report.findings.iter();
    findings.map(|finding| format!("{} {}", finding.area, page(finding.page))).collect()
}

const PAGE: usize = 4096;

/// Puts bytes on a page and seals it.
fn put(bytes: &mut [u8], page: usize, at: usize, value: &[u8]) {
    let page = &mut bytes[page * PAGE..][..PAGE];
    page[at..at + value.len()].copy_from_slice(value);
    seal_page(page, PageFormat { full_crc32: true, ..page::format(1) });
}

fn u32_on(bytes: &[u8], page: usize, at: usize) -> u32 {
    innoscan_format::bytes::u32_at(bytes, page * PAGE + at).unwrap()
}

/// The clustered index's leaf after its first, a page with neighbours on both sides.
fn second_leaf(bytes: &[u8]) -> usize {
    let root_index = &bytes[3 * PAGE + 66..][..8];
    let is_first = |page: &usize| {
        let page = &bytes[page * PAGE..][..PAGE];
        page[24..26] == 17855_u16.to_be_bytes()
            && page[8..12] == [0xFF; 4]
            && page[64..66] == [0, 0]
            && &page[66..74] == root_index
    };
    let first = (4..bytes.len() / PAGE).find(is_first).unwrap();
    u32_on(bytes, first, 12) as usize
}

#[test]
fn damage_is_found_where_it_is() {
    assert_eq!(findings(|_| ()), [""; 0]);
    let leaf = second_leaf(&crate::damage::sound("mariadb-10.11", 101_119).0);
    let on_leaf = |area: &str| format!("{area} {leaf}");
    // A flipped bit.
    assert_eq!(findings(|bytes| bytes[leaf * PAGE + 2000] ^= 4), [on_leaf("page")]);
    // A page of an index that says it is on another level.
    let level = findings(|bytes| put(bytes, leaf, 64, &[0, 1]));
    assert!(level.iter().any(|finding| finding.starts_with("links")), "{level:?}");
    // Links: to itself, and to nothing.
    let circle = findings(|bytes| put(bytes, leaf, 12, &(leaf as u32).to_be_bytes()));
    assert!(circle.contains(&on_leaf("links")) && circle.contains(&on_leaf("tree")), "{circle:?}");
    let end = findings(|bytes| put(bytes, leaf, 12, &[0xFF; 4]));
    assert!(end.contains(&on_leaf("tree")), "{end:?}");
    // Fewer records than the chain has.
    assert_eq!(findings(|bytes| put(bytes, leaf, 54, &[0, 1])), [on_leaf("records")]);
    // Freed bytes that no heap can hold.
    assert_eq!(findings(|bytes| put(bytes, leaf, 46, &[0xFF, 0])), [on_leaf("records")]);
    // Extents: a list that says it is longer, an extent of another state.
    assert_eq!(findings(|bytes| put(bytes, 0, 78, &[0, 0, 0, 9])), ["extents -"]);
    let state = findings(|bytes| put(bytes, 0, 150 + 20, &[0, 0, 0, 1]));
    assert!(state.contains(&"extents 0".to_owned()), "{state:?}");
    // A segment that counts other pages.
    assert_eq!(findings(|bytes| put(bytes, 2, 50 + 8, &[0, 0, 0, 77])), ["segments 2"]);
}

#[test]
fn keys_out_of_order_are_found() {
    let leaf = second_leaf(&crate::damage::sound("mariadb-10.11", 101_119).0);
    // Two leaves in each other's place, numbered, linked and sealed as if they belonged there.
    let exchanged = findings(|bytes| {
        let other = u32_on(bytes, leaf, 12) as usize;
        for at in [38..74, 94..PAGE - 8] {
            let one = bytes[leaf * PAGE..][at.clone()].to_vec();
            let two = bytes[other * PAGE..][at.clone()].to_vec();
            put(bytes, leaf, at.start, &two);
            put(bytes, other, at.start, &one);
        }
    });
    assert!(exchanged.contains(&format!("order {leaf}")), "{exchanged:?}");
}

#[test]
fn short_files_are_found() {
    let cut = findings(|bytes| bytes.truncate(bytes.len() - PAGE - 100));
    assert!(cut.contains(&"file -".to_owned()), "{cut:?}");
}
