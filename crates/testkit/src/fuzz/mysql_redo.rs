//! The redo log of MySQL 8.0.30 and later, and its records on pages.

use innoscan_format::Lsn;
use innoscan_format::redo::HEAD_BYTES;
use innoscan_format::redo::mysql::{
    Descriptions, Input, Kind, LogFile, PageChanges, ZipPage, group_bytes, run_bytes,
};

use super::REDO_PAGE_BYTES;

/// Reads the head of a file of the log, and the records behind it.
pub fn mysql_log(data: &[u8]) {
    let Some((head, records)) = data.split_at_checked(HEAD_BYTES) else { return };
    _ = LogFile::parse(head, data.len() as u64);
    _ = LogFile::encryption(head);
    read(records);
}

fn read(records: &[u8]) {
    _ = group_bytes(records);
    let mut input = Input::new(records);
    while let Ok(record) = input.record() {
        _ = record.kind();
    }
}

/// Applies records to a page, which is the first [`REDO_PAGE_BYTES`], or with ROW_FORMAT=COMPRESSED half of them.
pub fn mysql_page(data: &[u8]) {
    let Some((page, records)) = data.split_at_checked(REDO_PAGE_BYTES) else { return };
    let Ok(first) = Input::new(records).record() else { return };
    let Kind::Page { .. } = first.kind() else { return };
    let (space, page_no) = first.page;
    let run = match run_bytes(records) {
        Ok(Some(len)) => &records[..len],
        _ => records,
    };
    let mut descriptions = Descriptions::default();
    let mut bytes = page.to_vec();
    let mut changes = PageChanges::new(&mut bytes, space, page_no, None, &mut descriptions);
    _ = changes.apply(run, Lsn(1));
    let mut zip = ZipPage::default();
    zip.begin(REDO_PAGE_BYTES);
    let mut bytes = page[..REDO_PAGE_BYTES / 2].to_vec();
    let mut changes =
        PageChanges::new(&mut bytes, space, page_no, Some(&mut zip), &mut descriptions);
    _ = changes.apply(run, Lsn(1));
    _ = zip.finish(&mut bytes);
}
