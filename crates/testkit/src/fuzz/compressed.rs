//! Fuzz targets of pages that are stored compressed, and of compressed off-page columns. The first byte chooses
//! the form.

use innoscan_format::page::{PageCompression, PageContext, PageFormat, Scratch, open};
use innoscan_format::read::{LobReader, Need};
use innoscan_format::{LobRef, PageNo, PageSize};

use super::{PAGE, SPACE, page_of, sound_page};
use crate::page::{ZBLOB, ZLOB_DATA, ZLOB_FIRST, ZLOB_FRAGMENT, ZLOB_INDEX, format};
use crate::tablespace::seal_page;

/// Opens a page of a ROW_FORMAT=COMPRESSED file with a corrected checksum.
pub fn zip_page(data: &[u8]) {
    let Some((&form, data)) = data.split_first() else { return };
    let page_size = [PageSize::MIN, PageSize::DEFAULT][usize::from(form >> 3 & 1)];
    let format = PageFormat { page_size, ..zip_format(form) };
    let bytes = page_of(data, format, PAGE);
    let mut scratch = Scratch::default();
    if let Ok(page) = open(&bytes, &PageContext::plain(format), PAGE, &mut scratch) {
        assert!(page.bytes().len() <= page_size.len());
        sound_page(page);
    }
}

/// Opens a page that is stored by page compression, in each of its forms.
pub fn compressed_page(data: &[u8]) {
    let Some((&form, data)) = data.split_first() else { return };
    let algorithm = PageCompression::of_mariadb(u32::from(form >> 4));
    let full_crc32 = form & 1 == 1;
    // The size of pages for which servers make holes.
    let page_size = PageSize::DEFAULT;
    let physical_bytes = page_size.bytes();
    let format = PageFormat { space: SPACE, page_size, physical_bytes, full_crc32, ..format(64) };
    let mut bytes = page_of(data, format, PAGE);
    if !full_crc32 {
        // The two forms without a checksum outside.
        let is_mysql = form & 2 == 2;
        bytes[0..4].copy_from_slice(&0xDEAD_BEEF_u32.to_be_bytes());
        bytes[24..26].copy_from_slice(&if is_mysql { 14u16 } else { 34354 }.to_be_bytes());
    }
    let context = PageContext::plain(format).with_compression(algorithm);
    if let Ok(page) = open(&bytes, &context, PAGE, &mut Scratch::default()) {
        sound_page(page);
    }
}

/// Reads a compressed off-page column whose pages are the parts of the data.
pub fn compressed_lob(data: &[u8]) {
    const KINDS: [u16; 5] = [ZBLOB, ZLOB_FIRST, ZLOB_DATA, ZLOB_INDEX, ZLOB_FRAGMENT];
    let Some((&form, data)) = data.split_first() else { return };
    let format = PageFormat { size_pages: 64, ..zip_format(form) };
    let pages: Vec<&[u8]> = data.chunks(format.physical_len()).collect();
    let version = [1, 12, 200][usize::from(form >> 4) % 3];
    let lob = LobRef { space: SPACE, page_no: PageNo(1), version, len: 300_000 };
    let (mut value, Ok(mut reader)) = (Vec::new(), LobReader::new(format, lob)) else { return };
    let mut steps = 0;
    while let Need::Pages(&[page_no, ..]) = reader.need() {
        steps += 1;
        assert!(steps <= 4 * format.size_pages, "a column that does not end");
        let Some(part) = pages.get(page_no.0 as usize - 1) else { return };
        let mut bytes = page_of(part, format, page_no);
        if !KINDS.contains(&u16::from_be_bytes([bytes[24], bytes[25]])) {
            let kind = usize::from(bytes[25]) % KINDS.len();
            bytes[24..26].copy_from_slice(&KINDS[kind].to_be_bytes());
            seal_page(&mut bytes, format);
        }
        let mut scratch = Scratch::default();
        let page = open(&bytes, &PageContext::plain(format), page_no, &mut scratch);
        let Ok(page) = page else { return };
        if reader.feed(page, &mut value).is_err() {
            return;
        }
    }
    assert_eq!(value.len(), lob.len as usize, "a column of another length");
}

fn zip_format(form: u8) -> PageFormat {
    let physical_bytes = 1024 << (form & 3).min(2);
    PageFormat { space: SPACE, physical_bytes, is_zip: true, ..format(64) }
}
