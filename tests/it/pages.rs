//! Pages made by hand, sound and damaged: what is read from the sound ones, and that no damage
//! makes a reader panic, go in circles or read on without an error it should have seen.

use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located};
use innoscan_format::page::{ExtentsPage, IndexPage, InodePage, PageFormat};
use innoscan_format::read::{LobReader, Need, SdiReader};
use innoscan_format::schema::{Family, RowFormat, ServerVersion, from_create_table};
use innoscan_format::{IndexId, LobRef, PageNo, Result, tree};
use innoscan_testkit::damage::{Random, damage};
use innoscan_testkit::page::{
    BLOB, INDEX, LOB_DATA, LOB_FIRST, LOB_INDEX, PageWriter, RecordWriter, SDI, format, index_page,
    index_page_of_kind, open_plain,
};

use crate::check::{Head, layout_of};

const TREE: IndexId = IndexId(33);

fn layout(sql: &str) -> Layout {
    let server = ServerVersion { family: Family::MySql, number: 80_033 };
    let def = from_create_table(sql, server).unwrap();
    Layout::compile(&def, RowFormat::Dynamic, None).unwrap()
}

fn index(bytes: &[u8], format: PageFormat, page_no: u32) -> Result<IndexPage<'_>> {
    IndexPage::parse(open_plain(bytes, format, PageNo(page_no))?)
}

/// `(id int primary key, v varchar(300), b blob)`: id, transaction, roll pointer, v, b.
fn row(id: u32, v: Option<&[u8]>, b: Option<&[u8]>) -> RecordWriter {
    let mut record = RecordWriter::default();
    let mut lens = Vec::new();
    record.data.extend_from_slice(&(id ^ 0x8000_0000).to_be_bytes());
    record.data.extend_from_slice(&[1; 13]);
    for value in [v, b].into_iter().flatten() {
        if value.len() < 128 {
            lens.push(value.len() as u8);
        } else {
            lens.extend([0x80 | (value.len() >> 8) as u8, value.len() as u8]);
        }
        record.data.extend_from_slice(value);
    }
    let nulls = u8::from(v.is_none()) | u8::from(b.is_none()) << 1;
    record.head = lens.into_iter().rev().chain([nulls]).collect();
    record
}

const TABLE: &str = "CREATE TABLE t (id int NOT NULL, v varchar(300) CHARACTER SET latin1, \
                     b blob, PRIMARY KEY (id)) ENGINE=InnoDB";

#[test]
fn rows_come_back_as_written() {
    let format = format(10);
    let long = [b'x'; 200];
    let rows =
        [row(1, Some(b"one"), None), row(2, None, Some(&long)), row(3, Some(b""), Some(b"c"))];
    let bytes = index_page(format, PageNo(4), (TREE, 0), &rows).seal();
    let page = index(&bytes, format, 4).unwrap();
    page.check_directory().unwrap();
    page.check_heap().unwrap();
    let layout = layout(TABLE);
    let mut fields = Fields::default();
    let mut found = Vec::new();
    for record in page.records() {
        let record = record.unwrap();
        let row = layout.locate(&record, &mut fields).unwrap();
        found.push([row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap()]);
    }
    let ids = [[0x80, 0, 0, 1], [0x80, 0, 0, 2], [0x80, 0, 0, 3]];
    use Located::{Inline, Null};
    assert_eq!(
        found,
        [
            [Inline(&ids[0]), Inline(b"one"), Null],
            [Inline(&ids[1]), Null, Inline(&long)],
            [Inline(&ids[2]), Inline(b""), Inline(b"c")],
        ]
    );
}

#[test]
fn a_chain_that_lies_is_refused() {
    let format = format(10);
    let rows: Vec<RecordWriter> = (0..9).map(|id| row(id, Some(b"v"), None)).collect();
    let sound = index_page(format, PageNo(4), (TREE, 0), &rows);
    let origins: Vec<usize> = {
        let bytes = sound.clone().seal();
        let page = index(&bytes, format, 4).unwrap();
        page.records().map(|record| record.unwrap().origin()).collect()
    };
    let error_of = |page: &mut PageWriter| {
        let bytes = page.seal();
        let page = index(&bytes, format, 4).unwrap();
        let steps = page.records().count();
        assert!(steps <= 10, "{steps} steps");
        page.records().find_map(|record| record.err()).map(|error| error.to_string()).unwrap()
    };
    // Back to the first, on to itself, out of the heap, past the end, one short, one long.
    let back = (origins[0] as u16).wrapping_sub(origins[5] as u16);
    assert!(error_of(sound.clone().u16_at(origins[5] - 2, back)).contains("does not end after"));
    let page_size = format.page_size.bytes() as u16;
    assert!(error_of(sound.clone().u16_at(origins[5] - 2, page_size)).contains("does not end"));
    assert!(error_of(sound.clone().u16_at(origins[5] - 2, 0)).contains("outside the heap"));
    assert!(error_of(sound.clone().u16_at(origins[5] - 2, 3000)).contains("outside the heap"));
    assert!(error_of(sound.clone().u16_at(54, 8)).contains("does not end after"));
    let skip = (112 - origins[7] as i32) as u16;
    let error = error_of(sound.clone().u16_at(origins[7] - 2, skip));
    assert!(error.contains("ends after 8 of the page's 9 records"), "{error}");
    assert!(error.contains("space 7, page 4"), "{error}");
}

#[test]
fn a_branch_points_down_and_nowhere_else() {
    let format = format(10);
    let layout = layout(TABLE);
    let children_of = |children: &[u32]| {
        let records: Vec<RecordWriter> = children
            .iter()
            .enumerate()
            .map(|(nth, child)| {
                // The null bitmap of rows, which node pointers have for nothing.
                let mut record =
                    RecordWriter::pointer(&[0x80, 0, 0, nth as u8], PageNo(*child), nth == 0);
                record.head = vec![0];
                record
            })
            .collect();
        let bytes = index_page(format, PageNo(4), (TREE, 1), &records).seal();
        let mut out = Vec::new();
        tree::children(&index(&bytes, format, 4)?, &layout, &mut out).map(|()| out)
    };
    assert_eq!(children_of(&[5, 9, 6]).unwrap(), [PageNo(5), PageNo(9), PageNo(6)]);
    let error = |children: &[u32]| children_of(children).unwrap_err().to_string();
    assert!(error(&[5, 4]).contains("itself for a child"));
    assert!(error(&[5, 10]).contains("points to page 10 of 10"));
    assert!(error(&[u32::MAX]).contains("FIL_NULL"));
    assert!(error(&[0]).contains("page 0"));
    assert!(error(&[]).contains("without children"));
    let leaf = index_page(format, PageNo(5), (TREE, 0), &[]).seal();
    let leaf = index(&leaf, format, 5).unwrap();
    assert!(leaf.require(TREE, 0).is_ok());
    assert!(leaf.require(TREE, 1).unwrap_err().to_string().contains("level 0"));
    assert!(leaf.require(IndexId(1), 0).unwrap_err().to_string().contains("index 33"));
}

/// Reads a LOB from pages in memory; as many steps as there can be pages.
fn read_lob(pages: &[(u32, Vec<u8>)], format: PageFormat, lob: LobRef) -> Result<Vec<u8>> {
    let mut reader = LobReader::new(format, lob)?;
    let mut value = Vec::new();
    let mut steps = 0;
    while let Need::Pages(&[first, ..]) = reader.need() {
        steps += 1;
        assert!(steps < 1000, "a LOB that does not end");
        let none = vec![0; format.page_size.len()];
        let page = pages.iter().find(|page| page.0 == first.0).map_or(&none, |page| &page.1);
        reader.feed(open_plain(page, format, first)?, &mut value)?;
    }
    Ok(value)
}

fn lob(page_no: u32, version: u32, len: u32) -> LobRef {
    LobRef { space: format(10).space, page_no: PageNo(page_no), version, len }
}

fn blob_page(page_no: u32, part: &[u8], next: u32) -> (u32, Vec<u8>) {
    let mut page = PageWriter::new(format(10), PageNo(page_no), BLOB);
    page.u32_at(38, part.len() as u32).u32_at(42, next).put(46, part);
    (page_no, page.seal())
}

#[test]
fn a_blob_chain_is_read_and_its_lies_are_refused() {
    let format = format(10);
    let sound = [blob_page(5, b"abc", 7), blob_page(7, b"de", u32::MAX)];
    assert_eq!(read_lob(&sound, format, lob(5, 38, 5)).unwrap(), b"abcde");
    let error =
        |pages: &[(u32, Vec<u8>)], lob| read_lob(pages, format, lob).unwrap_err().to_string();
    assert!(error(&sound, lob(5, 38, 6)).contains("FIL_NULL"));
    assert!(error(&sound, lob(5, 38, 4)).contains("2 bytes, where 1 are left"));
    assert!(error(&sound, lob(5, 38, 3)).contains("its length is wrong"));
    assert!(error(&sound, lob(5, 1, 5)).contains("header"));
    assert!(error(&sound, lob(10, 38, 5)).contains("points to page 10 of 10"));
    assert!(error(&sound, lob(6, 38, 5)).contains("kind zeroes"));
    let cycle = [blob_page(5, b"a", 7), blob_page(7, b"b", 5)];
    assert!(error(&cycle, lob(5, 38, 1 << 20)).contains("a cycle"));
    let empty = [blob_page(5, b"", 7)];
    assert!(error(&empty, lob(5, 38, 5)).contains("part of 0 bytes"));
}

/// An entry of a LOB's index: next, older versions, data page, length, version.
struct Entry {
    at: usize,
    next: Option<(PageNo, u16)>,
    older: Option<(PageNo, u16)>,
    page_no: u32,
    len: u16,
    version: u32,
}

fn put_entry(page: &mut PageWriter, entry: &Entry) {
    page.addr_at(entry.at, None).addr_at(entry.at + 6, entry.next);
    page.u32_at(entry.at + 12, u32::from(entry.older.is_some()));
    page.addr_at(entry.at + 16, entry.older).addr_at(entry.at + 22, entry.older);
    page.u32_at(entry.at + 48, entry.page_no).u16_at(entry.at + 52, entry.len);
    page.u32_at(entry.at + 56, entry.version);
}

/// Page 5, "abc", then page 6, "DEF" in version 1 and "ghi" (page 8) in version 2, then page 9,
/// "jk", whose entry is on the index page 7.
fn lob_pages() -> Vec<(u32, Vec<u8>)> {
    let format = format(10);
    let mut first = PageWriter::new(format, PageNo(5), LOB_FIRST);
    first.u32_at(40, 2).u32_at(54, 3).put(696, b"abc");
    first.u32_at(64, 3).addr_at(68, Some((PageNo(5), 96))).addr_at(74, Some((PageNo(7), 39)));
    let here = |at: u16| Some((PageNo(5), at));
    let there = Some((PageNo(7), 39));
    let entries = [
        Entry { at: 96, next: here(156), older: None, page_no: 5, len: 3, version: 1 },
        Entry { at: 156, next: there, older: here(216), page_no: 8, len: 3, version: 2 },
        Entry { at: 216, next: None, older: None, page_no: 6, len: 3, version: 1 },
    ];
    for entry in &entries {
        put_entry(&mut first, entry);
    }
    let mut index = PageWriter::new(format, PageNo(7), LOB_INDEX);
    put_entry(
        &mut index,
        &Entry { at: 39, next: None, older: None, page_no: 9, len: 2, version: 1 },
    );
    let data = |page_no: u32, data: &[u8]| {
        let mut page = PageWriter::new(format, PageNo(page_no), LOB_DATA);
        page.u32_at(39, data.len() as u32).put(49, data);
        (page_no, page.seal())
    };
    vec![(5, first.seal()), data(6, b"DEF"), (7, index.seal()), data(8, b"ghi"), data(9, b"jk")]
}

#[test]
fn a_lob_is_read_in_the_version_of_its_row() {
    let format = format(10);
    let pages = lob_pages();
    assert_eq!(read_lob(&pages, format, lob(5, 2, 8)).unwrap(), b"abcghijk");
    assert_eq!(read_lob(&pages, format, lob(5, 1, 8)).unwrap(), b"abcDEFjk");
    assert_eq!(read_lob(&pages, format, lob(5, 2, 4)).unwrap(), b"abcg");
    let error = read_lob(&pages, format, lob(5, 2, 9)).unwrap_err().to_string();
    assert!(error.contains("gives it 9 bytes, its index 8"), "{error}");
}

#[test]
fn a_lob_index_that_goes_in_circles_is_refused() {
    let format = format(10);
    let mut pages = lob_pages();
    // The entry on the index page leads to itself; nothing but the budget stops it.
    let mut index = PageWriter::new(format, PageNo(7), LOB_INDEX);
    let next = Some((PageNo(7), 39));
    put_entry(
        &mut index,
        &Entry { at: 39, next, older: None, page_no: u32::MAX, len: 0, version: 1 },
    );
    pages[2].1 = index.seal();
    let error = read_lob(&pages, format, lob(5, 2, 8)).unwrap_err().to_string();
    assert!(error.contains("a cycle"), "{error}");
}

fn sdi_pages() -> Vec<(u32, Vec<u8>)> {
    let format = format(10);
    let json = br#"{"dd_object": 1}"#;
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zlib, json).unwrap();
    let zlib = zlib.finish().unwrap();
    let leaf = |page_no: u32, id: u64| {
        let mut record = RecordWriter::fixed(1u32.to_be_bytes());
        record.data.extend_from_slice(&id.to_be_bytes());
        record.data.extend_from_slice(&[0; 13]);
        record.data.extend_from_slice(&(json.len() as u32).to_be_bytes());
        record.data.extend_from_slice(&(zlib.len() as u32).to_be_bytes());
        record.data.extend_from_slice(&zlib);
        record.head = vec![zlib.len() as u8];
        let page = index_page_of_kind(format, PageNo(page_no), SDI, (TREE, 0), &[record]).seal();
        (page_no, page)
    };
    let key = |id: u64| [&1u32.to_be_bytes()[..], &id.to_be_bytes()].concat();
    let pointers = [
        RecordWriter::pointer(&key(1), PageNo(4), true),
        RecordWriter::pointer(&key(2), PageNo(6), false),
    ];
    let root = index_page_of_kind(format, PageNo(3), SDI, (TREE, 1), &pointers).seal();
    vec![(3, root), leaf(4, 1), leaf(6, 2)]
}

fn read_sdi(pages: &[(u32, Vec<u8>)]) -> Result<Vec<(u64, Vec<u8>)>> {
    let format = format(10);
    let mut reader = SdiReader::new(format, PageNo(3))?;
    let mut steps = 0;
    while let Need::Pages(&[first, ..]) = reader.need() {
        steps += 1;
        assert!(steps < 1000, "an SDI tree that does not end");
        let none = vec![0; format.page_size.len()];
        let page = pages.iter().find(|page| page.0 == first.0).map_or(&none, |page| &page.1);
        reader.feed(open_plain(page, format, first)?)?;
    }
    Ok(reader.finish().into_iter().map(|object| (object.id, object.json)).collect())
}

#[test]
fn sdi_is_read_from_all_leaves() {
    let json = br#"{"dd_object": 1}"#.to_vec();
    assert_eq!(read_sdi(&sdi_pages()).unwrap(), [(1, json.clone()), (2, json)]);
}

/// All that can be read from one page, errors and all.
fn exercise(bytes: &[u8], format: PageFormat, page_no: u32, layouts: &[Layout]) {
    let Ok(page) = open_plain(bytes, format, PageNo(page_no)) else { return };
    if let Ok(inode) = InodePage::parse(page) {
        let _ = inode.segments();
    }
    if let Ok(extents) = ExtentsPage::parse(page) {
        assert!(extents.extents().count() <= 4096);
    }
    let Ok(page) = IndexPage::parse(page) else { return };
    let _ = page.check_directory();
    let _ = page.check_heap();
    let mut fields = Fields::default();
    for layout in layouts {
        let mut children = Vec::new();
        let _ = tree::children(&page, layout, &mut children);
        assert!(children.len() <= usize::from(page.n_recs()));
        let mut records = 0;
        for record in page.records() {
            records += 1;
            let Ok(record) = record else { break };
            let Ok(row) = layout.locate(&record, &mut fields) else { continue };
            for place in 0..row.len() {
                if let Ok(Located::Inline(value)) = row.get(place) {
                    assert!(value.len() < page.page().bytes().len());
                }
            }
        }
        assert!(records <= usize::from(page.n_recs()) + 1);
    }
}

#[test]
fn no_damage_makes_a_page_reader_panic_or_hang() {
    let format = format(10);
    let layouts = [
        layout(TABLE),
        layout("CREATE TABLE t (a varchar(20) NOT NULL, b char(255), c int, PRIMARY KEY (a, c))"),
        Layout::compile(
            &from_create_table(
                "CREATE TABLE t (id int PRIMARY KEY, v varchar(300), b blob)",
                ServerVersion { family: Family::MySql, number: 50_624 },
            )
            .unwrap(),
            RowFormat::Redundant,
            None,
        )
        .unwrap(),
    ];
    let rows: Vec<RecordWriter> =
        (0..40).map(|id| row(id, Some(&[b'v'; 40][..id as usize]), Some(b"blob"))).collect();
    let leaf = index_page(format, PageNo(4), (TREE, 0), &rows).seal();
    let pointers: Vec<RecordWriter> = (0..60u8)
        .map(|nth| RecordWriter::pointer(&[0x80, 0, 0, nth], PageNo(5), nth == 0))
        .collect();
    let branch = index_page(format, PageNo(4), (TREE, 1), &pointers).seal();
    let blank = PageWriter::new(format, PageNo(4), INDEX).seal();
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let sound = [&leaf, &branch, &blank][random.below(3)];
        let mut bytes = sound.clone();
        damage(&mut bytes, &mut random);
        // Once as it is, which the checksum refuses, and once sealed.
        assert!(open_plain(&bytes, format, PageNo(4)).is_err() || bytes == *sound, "seed {seed}");
        exercise(&PageWriter::of(format, &bytes).seal(), format, 4, &layouts);
    }
}

#[test]
fn no_damage_makes_a_machine_panic_or_hang() {
    let format = format(10);
    let (lob_pages, sdi_pages) = (lob_pages(), sdi_pages());
    let chain = [blob_page(5, &[b'a'; 3000], 7), blob_page(7, &[b'b'; 3000], u32::MAX)];
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let sound = [&lob_pages[..], &sdi_pages, &chain][random.below(3)];
        let mut pages = sound.to_vec();
        let page = random.below(pages.len());
        damage(&mut pages[page].1, &mut random);
        pages[page].1 = PageWriter::of(format, &pages[page].1).seal();
        let _ = read_lob(&pages, format, lob(5, 38, 6000));
        let _ = read_sdi(&pages);
        for version in [1, 2] {
            if let Ok(value) = read_lob(&pages, format, lob(5, version, 8)) {
                assert_eq!(value.len(), 8, "seed {seed}");
            }
        }
    }
}

#[test]
fn no_damage_to_real_pages_makes_a_reader_panic_or_hang() {
    for (nth, table) in crate::corpus::tables().iter().enumerate() {
        let Ok(bytes) = std::fs::read(table.ibd()) else { continue };
        let Ok(header) = Head::parse(&bytes, &table.page_keys()) else { continue };
        if header.require_readable().is_err() || header.encryption.is_some() {
            continue;
        }
        let def = table.create_sql().and_then(|sql| from_create_table(&sql, table.version()).ok());
        let layout = def.and_then(|def| layout_of(&bytes, &header, &def).ok());
        let Some(layout) = layout else { continue };
        let (format, layouts) = (header.page_format(), [layout]);
        let len = format.physical_len();
        let mut random = Random::new(nth as u64);
        for _ in 0..20 {
            let page_no = random.below(bytes.len() / len);
            let mut page = bytes[page_no * len..][..len].to_vec();
            damage(&mut page, &mut random);
            let page = PageWriter::of(format, &page).seal();
            exercise(&page, format, page_no as u32, &layouts);
        }
    }
}
