//! Fuzz targets of encrypted pages, and of the files that servers keep keys in.

use innoscan_format::checksum;
use innoscan_format::keys::{DigestName, KeyFilePassword, Keys, keyring_path, transferred_key};
use innoscan_format::page::encryption::CipherMode;
use innoscan_format::page::{PageContext, PageFormat, Scratch, SpaceHeader, open};
use innoscan_format::secret::Secret;
use innoscan_format::{PageNo, PageSize};

use super::{PAGE, SPACE, page_of, sound_page};
use crate::page::{PageWriter, format};

/// The end of the extent descriptors on page 0 with pages of 4 KiB, and with compressed pages of 2 KiB.
const EXTENTS_END: usize = 150 + 88 * 16;
const EXTENTS_END_ZIP: usize = 150 + 88 * 8;

/// Parses a keyring of MySQL in each of its forms.
pub fn keyring(data: &[u8]) {
    _ = Keys::default().add_keyring(data);
    _ = transferred_key(data);
    _ = keyring_path(data);
}

/// Parses a key file of MariaDB, in clear or encrypted.
pub fn key_file(data: &[u8]) {
    let password = Secret::new(b"secret".to_vec());
    for (digest, pbkdf2_iterations) in [(DigestName::Sha1, 0), (DigestName::Sha512, 2)] {
        let password = KeyFilePassword { password: password.clone(), digest, pbkdf2_iterations };
        _ = Keys::default().add_key_file(data, Some(&password));
    }
}

/// Opens an encrypted page of each server in each of its forms, with the key. The first byte chooses the form.
pub fn encrypted_page(data: &[u8]) {
    let Some((&form, data)) = data.split_first() else { return };
    let is_zip = form & 4 != 0;
    let is_mysql = form & 1 != 0;
    let full_crc32 = form & 2 != 0 && !is_mysql && !is_zip;
    let physical_bytes = if is_zip { 2048 } else { PageSize::MIN.bytes() };
    let format = PageFormat { space: SPACE, physical_bytes, is_zip, full_crc32, ..format(64) };
    let mut bytes = page_of(data, format, PAGE);
    mark_encrypted(&mut bytes, format, is_mysql);
    let context = context(format, is_mysql, form);
    if let Ok(page) = open(&bytes, &context, PAGE, &mut Scratch::default()) {
        sound_page(page);
    }
}

/// Makes a page one that is encrypted, with a right checksum where there is one outside.
fn mark_encrypted(bytes: &mut [u8], format: PageFormat, is_mysql: bool) {
    if is_mysql {
        let kind = 15 + u16::from(bytes[25] % 3);
        bytes[24..26].copy_from_slice(&kind.to_be_bytes());
        return;
    }
    let at = if format.full_crc32 { 0 } else { 26 };
    bytes[at..at + 4].copy_from_slice(&1u32.to_be_bytes());
    if format.full_crc32 {
        crate::tablespace::seal_page(bytes, format);
        return;
    }
    let sum = match format.is_zip {
        true => checksum::compressed_crc32(bytes),
        false => checksum::crc32(bytes),
    };
    bytes[30..34].copy_from_slice(&sum.expect("a whole page").to_be_bytes());
}

/// The pages of a file whose page 0 names a key, and that key.
fn context(format: PageFormat, is_mysql: bool, form: u8) -> PageContext {
    let at = if format.is_zip { EXTENTS_END_ZIP } else { EXTENTS_END };
    let zip_flags = if format.is_zip { 2 << 1 } else { 0 };
    let flags = match (is_mysql, format.full_crc32) {
        (true, _) => 0x20E1 | zip_flags,
        (false, true) => 0x13,
        (false, false) => 0xE1 | zip_flags,
    };
    let mut first = PageWriter::new(format, PageNo(0), 8);
    first.u32_at(38, SPACE.0).u32_at(46, format.size_pages).u32_at(54, flags);
    match is_mysql {
        true => first.put(at, b"lCC\0\0\0\x01aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"),
        false => first.put(at + 38, b"\x73\x0E\x0C\x52\x45\x74\x01\x10").u32_at(at + 38 + 28, 1),
    };
    let header = SpaceHeader::parse(&first.seal()).expect("a sound first page");
    let mut keys = Keys::default();
    let list = format!("tablespace:{}={}", SPACE, "5a".repeat(64));
    keys.add_keyring(list.as_bytes()).expect("a list of keys");
    keys.add_key_file(b"1;000102030405060708090a0b0c0d0e0f", None).expect("a key file");
    match form >> 6 {
        0 => {}
        1 => keys.set_mode(CipherMode::Cbc),
        _ => keys.set_mode(CipherMode::Ctr),
    }
    header.page_context().with_encryption(keys.encryption(&header))
}
