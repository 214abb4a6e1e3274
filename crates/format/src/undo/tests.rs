//! Undo records that real servers wrote: `tests/data/undo`.

use super::{UndoLogPage, UndoRecord};
use crate::page::undo::{UndoLog, UndoState};
use crate::page::{Page, PageContext, PageFormat, Scratch, open};
use crate::{PageNo, PageSize, SpaceId, bytes};

const FILES: [(&[u8], bool); 2] = [
    (include_bytes!("../../../../tests/data/undo/mariadb-10.11.pages"), true),
    (include_bytes!("../../../../tests/data/undo/mysql-8.0.33.pages"), false),
];

fn with_page(bytes: &[u8], full_crc32: bool, look: impl FnOnce(Page<'_>)) {
    let format = PageFormat {
        space: SpaceId(bytes::u32_at(bytes, 34).unwrap()),
        page_size: PageSize::MIN,
        physical_bytes: PageSize::MIN.bytes(),
        is_zip: false,
        full_crc32,
        sdi: false,
        size_pages: u32::MAX,
    };
    let page_no = PageNo(bytes::u32_at(bytes, 4).unwrap());
    let mut scratch = Scratch::default();
    look(open(bytes, &PageContext::plain(format), page_no, &mut scratch).unwrap());
}

/// The offsets of the records of a page's newest undo log.
fn offsets(page: &Page<'_>) -> Vec<u16> {
    let mut at = bytes::u16_at(page.bytes(), 40).unwrap();
    let free = bytes::u16_at(page.bytes(), 42).unwrap();
    let mut offsets = Vec::new();
    while at < free {
        offsets.push(at);
        at = bytes::u16_at(page.bytes(), usize::from(at)).unwrap();
    }
    offsets
}

#[test]
fn every_record_is_an_update_or_an_insert() {
    for (file, full_crc32) in FILES {
        let (mut updates, mut inserts) = (0, 0);
        for page in file.chunks(PageSize::MIN.len()) {
            with_page(page, full_crc32, |page| {
                assert!(UndoLogPage::parse(&page).unwrap().emptied.is_empty());
                let mut newest = None;
                for offset in offsets(&page) {
                    let record = match UndoRecord::parse(&page, offset, 1) {
                        Ok(record) => record,
                        Err(error) => {
                            assert!(error.to_string().contains("type 11"), "{error}");
                            inserts += 1;
                            continue;
                        }
                    };
                    assert!(newest.is_none_or(|newest| record.number > newest), "{record:?}");
                    newest = Some(record.number);
                    // An INT of 1 to 140, with its sign turned.
                    assert!(matches!(record.key[..], [[0x80, 0, 0, 1..=140]]), "{record:?}");
                    assert!(record.old.iter().all(|(field, _)| *field < 6), "{record:?}");
                    updates += 1;
                }
            });
        }
        assert!(updates > 10 && inserts > 0, "{updates} updates, {inserts} inserts");
    }
}

#[test]
fn the_first_page_names_the_transaction() {
    for (file, full_crc32) in FILES {
        with_page(&file[..PageSize::MIN.len()], full_crc32, |page| {
            let log = UndoLog::parse(&page).unwrap();
            assert_eq!((log.state, log.has_all_changes), (UndoState::Active, full_crc32));
            assert!(log.trx_id > 0);
        });
    }
}

#[test]
fn an_offset_between_records_is_damage() {
    let (file, full_crc32) = FILES[0];
    with_page(&file[..PageSize::MIN.len()], full_crc32, |page| {
        let starts = offsets(&page);
        for offset in 0..PageSize::MIN.len() as u16 {
            let is_record = UndoRecord::parse(&page, offset, 1).is_ok();
            assert!(!is_record || starts.contains(&offset), "{offset}");
        }
    });
}
