//! Damage to a whole tablespace, reproducible by its seed: the effects of disks, memory, copies and
//! bugs.
//!
//! Damage to the bytes of a page only is found by its checksum. To test the checks behind it, most
//! damage is *sealed*: the page's checksum is recalculated, as if a server had written the page.

use innoscan_format::page::PageFormat;
use innoscan_format::{bytes, checksum};

use crate::damage::Random;

/// The consequence of damage for the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// Every damaged page fails its checksum, has another page's number, or is missing: no row may
    /// be delivered that was not in the sound file, and none may be lost without a report.
    Detectable,
    /// Pages contain wrong values with a correct checksum: rows may differ, but nothing may panic
    /// or run forever.
    Sealed,
}

/// Damages a file of whole pages; returns a description and the consequence.
pub fn damage_file(
    file: &mut Vec<u8>,
    format: PageFormat,
    random: &mut Random,
) -> (String, Consequence) {
    let len = format.physical_len();
    let pages = file.len() / len;
    let page_no = random.below(pages);
    let kind = random.below(14);
    match kind {
        0 => return truncate(file, len, random),
        1 => return swap(file, len, page_no, random.below(pages), false, format),
        2 => return swap(file, len, page_no, random.below(pages), true, format),
        _ => {}
    }
    let Some(page) = file.get_mut(page_no * len..(page_no + 1) * len) else {
        return ("nothing".into(), Consequence::Detectable);
    };
    let (what, seal) = match kind {
        3 => (flip_bits(page, random), false),
        4 => (flip_bits(page, random), true),
        5 => (fill(page, random), false),
        6 | 7 => (change_header(page, page_no, pages, random), true),
        8 => (change_sibling(page, page_no, pages, random), true),
        9 => (change_child(page, page_no, pages, random), true),
        10 | 11 => (change_chain(page, random), true),
        12 => (change_record_header(page, random), true),
        _ => (change_number(page, page_no, pages, random), true),
    };
    if !seal {
        return (format!("page {page_no}: {what}"), Consequence::Detectable);
    }
    seal_page(page, format);
    (format!("page {page_no}: {what}, sealed"), Consequence::Sealed)
}

/// Sets a page's checksum to that of its bytes. (Page compression of MySQL and of MariaDB's older files has the
/// checksum inside what is compressed, and none outside.)
pub fn seal_page(page: &mut [u8], format: PageFormat) {
    let end = page.len() - 8;
    if format.is_zip {
        let sum = checksum::compressed_crc32(page).expect("a whole page");
        put(page, 0, &sum.to_be_bytes());
    } else if format.full_crc32 {
        let is_compressed = page[24] & 0x80 != 0;
        let stored = if is_compressed { usize::from(page[25]) << 8 } else { page.len() };
        let stored = &mut page[..stored.clamp(4, end + 8)];
        let sum = checksum::full_crc32(stored).expect("a whole page");
        put(stored, stored.len() - 4, &sum.to_be_bytes());
    } else {
        let sum = checksum::crc32(page).expect("a whole page");
        put(page, 0, &sum.to_be_bytes());
        put(page, end, &sum.to_be_bytes());
    }
}

fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = page.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

fn truncate(file: &mut Vec<u8>, len: usize, random: &mut Random) -> (String, Consequence) {
    let at = random.below(file.len());
    let at = if random.below(2) == 0 { at / len * len } else { at };
    file.truncate(at);
    (format!("cut to {at} bytes"), Consequence::Detectable)
}

/// Exchanges two pages; sealed, each also gets the other's number.
fn swap(
    file: &mut [u8],
    len: usize,
    one: usize,
    other: usize,
    sealed: bool,
    format: PageFormat,
) -> (String, Consequence) {
    let (first, second) = (one.min(other), one.max(other));
    if first == second {
        return ("nothing".into(), Consequence::Detectable);
    }
    let (before, behind) = file.split_at_mut(second * len);
    before[first * len..(first + 1) * len].swap_with_slice(&mut behind[..len]);
    let what = format!("pages {first} and {second} exchanged");
    if !sealed {
        return (what, Consequence::Detectable);
    }
    for page_no in [first, second] {
        let page = &mut file[page_no * len..(page_no + 1) * len];
        put(page, 4, &(page_no as u32).to_be_bytes());
        seal_page(page, format);
    }
    (format!("{what}, numbered and sealed"), Consequence::Sealed)
}

fn flip_bits(page: &mut [u8], random: &mut Random) -> String {
    let count = 1 + random.below(8);
    let mut places = Vec::new();
    for _ in 0..count {
        // Half of all flips are in the headers.
        let end = if random.below(2) == 0 { 160 } else { page.len() };
        let (at, bit) = (random.below(end), random.below(8));
        page[at] ^= 1 << bit;
        places.push(format!("{at}.{bit}"));
    }
    format!("bits {} flipped", places.join(" "))
}

fn fill(page: &mut [u8], random: &mut Random) -> String {
    let byte = [0, 0xFF, 0x5A][random.below(3)];
    let from = random.below(page.len());
    let from = if random.below(2) == 0 { 0 } else { from / 512 * 512 };
    for place in &mut page[from..] {
        *place = byte;
    }
    format!("filled with {byte:#04x} from {from}")
}

/// Returns a number for a damaged field: an edge case, the page itself, another page, or any
/// number.
fn odd_number(page_no: usize, pages: usize, random: &mut Random) -> u32 {
    match random.below(7) {
        0 => 0,
        1 => u32::MAX,
        2 => page_no as u32,
        3 => pages as u32,
        4 => random.below(pages) as u32,
        5 => 1 << random.below(32),
        _ => random.below(1 << 31) as u32,
    }
}

/// Changes a field of the page header, 2 bytes.
fn change_header(page: &mut [u8], page_no: usize, pages: usize, random: &mut Random) -> String {
    let at = 24 + 2 * random.below(36);
    let value = odd_number(page_no, pages, random) as u16;
    put(page, at, &value.to_be_bytes());
    format!("{value} at {at}")
}

fn change_sibling(page: &mut [u8], page_no: usize, pages: usize, random: &mut Random) -> String {
    let at = [8, 12][random.below(2)];
    let value = odd_number(page_no, pages, random);
    put(page, at, &value.to_be_bytes());
    format!("sibling at {at} is {value}")
}

/// Changes a number in a branch page's heap that could be a child's.
fn change_child(page: &mut [u8], page_no: usize, pages: usize, random: &mut Random) -> String {
    let heap_top = usize::from(bytes::u16_at(page, 40).unwrap_or_default()).min(page.len());
    let could_be_child = |at: &usize| {
        bytes::u32_at(page, *at).is_ok_and(|number| number > 2 && (number as usize) < pages)
    };
    let places: Vec<usize> = (99..heap_top.saturating_sub(4)).filter(could_be_child).collect();
    let Some(&at) = places.get(random.below(places.len())) else { return "no child".into() };
    let value = odd_number(page_no, pages, random);
    put(page, at, &value.to_be_bytes());
    format!("child at {at} is {value}")
}

/// Returns the origins of records, as far as the chain can be followed.
fn origins(page: &[u8]) -> Vec<usize> {
    let compact = bytes::u16_at(page, 42).unwrap_or_default() & 0x8000 != 0;
    let mut at = if compact { 99 } else { 101 };
    let mut origins = vec![at];
    while origins.len() < 1000 {
        let next = usize::from(bytes::u16_at(page, at - 2).unwrap_or_default());
        at = if compact { (at + next) & (page.len() - 1) } else { next };
        if at < 100 || at + 20 > page.len() {
            break;
        }
        origins.push(at);
    }
    origins
}

/// Changes a record's pointer to the next: to itself, to another record, nearby, or anywhere.
fn change_chain(page: &mut [u8], random: &mut Random) -> String {
    let compact = bytes::u16_at(page, 42).unwrap_or_default() & 0x8000 != 0;
    let origins = origins(page);
    let from = origins[random.below(origins.len())];
    let to = match random.below(4) {
        0 => from,
        1 => origins[random.below(origins.len())],
        2 => from + random.below(64),
        _ => random.below(page.len()),
    };
    let word = if compact { to.wrapping_sub(from) as u16 } else { to as u16 };
    put(page, from - 2, &word.to_be_bytes());
    format!("the record at {from} is followed by {to}")
}

/// Changes a byte before a record's origin: lengths, null bits, heap number, status, owned records.
fn change_record_header(page: &mut [u8], random: &mut Random) -> String {
    let origins = origins(page);
    let origin = origins[random.below(origins.len())];
    let at = origin - 3 - random.below(14);
    let value = [0, 0xFF, 0x80, 0x7F, 0xC0, random.below(256) as u8][random.below(6)];
    put(page, at, &[value]);
    format!("{value:#04x} at {at}, before the record at {origin}")
}

/// Changes any 4 bytes.
fn change_number(page: &mut [u8], page_no: usize, pages: usize, random: &mut Random) -> String {
    let at = random.below(page.len() - 4);
    let value = odd_number(page_no, pages, random);
    put(page, at, &value.to_be_bytes());
    format!("{value} at {at}")
}
