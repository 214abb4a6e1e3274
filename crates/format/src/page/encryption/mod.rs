//! Encrypted pages: which pages are encrypted, and their decryption.
//!
//! Page 0 is never encrypted. It says which key the others need: [`SpaceEncryption`]. With the key comes
//! [`Encryption`], which serves all pages of the tablespace.

mod mariadb;
mod mysql;
mod used_blocks;

use std::sync::Arc;

use super::PageFormat;
use super::verified::Verified;
use crate::{Error, PageNo, Result, bytes};

pub(crate) use self::mariadb::decrypt_text;
pub use self::mariadb::{CipherMode, CryptData, MariaDbCipher};
pub use self::mysql::{MasterKeyName, MySqlCipher, MySqlEncryption, TablespaceKey};

/// Bytes of an AES block.
const BLOCK: usize = 16;

/// What page 0 says about the encryption of the other pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpaceEncryption {
    /// MySQL's `ENCRYPTION='Y'`.
    MySql(MySqlEncryption),
    /// MariaDB's `ENCRYPTED=YES`, or `innodb_encrypt_tables`.
    MariaDb(CryptData),
}

impl SpaceEncryption {
    /// Reads what page 0 has behind the extent descriptors; `at`: their end.
    pub(super) fn read(page: &[u8], at: usize) -> Result<Option<SpaceEncryption>> {
        if let Some(info) = MySqlEncryption::read(page, at)? {
            return Ok(Some(SpaceEncryption::MySql(info)));
        }
        Ok(CryptData::read(page, at)?.map(SpaceEncryption::MariaDb))
    }
}

/// Whether the pages of a file can be decrypted, and by which cipher. The error of a key that is not known, or that
/// is wrong, is that of each encrypted page.
#[derive(Clone, Debug, Default)]
pub enum Encryption {
    /// Page 0 does not say that pages are encrypted.
    #[default]
    None,
    /// By MySQL.
    MySql(Arc<Result<MySqlCipher>>),
    /// By MariaDB.
    MariaDb(Arc<Result<MariaDbCipher>>),
}

impl Encryption {
    /// Returns the error of the key, if the encrypted pages cannot be decrypted.
    pub fn error(&self) -> Option<&Error> {
        match self {
            Encryption::None => None,
            Encryption::MySql(cipher) => cipher.as_ref().as_ref().err(),
            Encryption::MariaDb(cipher) => cipher.as_ref().as_ref().err(),
        }
    }
}

/// Decrypts a page to `room`, if it is encrypted. `is_sound`: whether decrypted bytes are a whole page.
///
/// # Errors
/// The key is missing or wrong, or the encrypted bytes are damaged.
pub(super) fn decrypt(
    raw: &[u8],
    (encryption, format): (&Encryption, PageFormat),
    page_no: PageNo,
    room: &mut Vec<u8>,
    mut is_sound: impl FnMut(&[u8], Verified) -> bool,
) -> Result<Option<Verified>> {
    match encryption {
        // Where page 0 names no key, checksums decide what a page is.
        Encryption::None => Ok(None),
        _ if page_no == PageNo(0) => Ok(None),
        Encryption::MySql(cipher) if mysql::is_encrypted(raw)? => {
            known(cipher)?.decrypt(raw, room, |plain| is_sound(plain, Verified::Nothing))?;
            Ok(Some(Verified::Nothing))
        }
        Encryption::MariaDb(cipher) if mariadb::key_version(raw, format)? != 0 => {
            let is_sound = |plain: &[u8]| is_sound(plain, Verified::Stored);
            known(cipher)?.decrypt(raw, format, page_no, room, is_sound)?;
            Ok(Some(Verified::Stored))
        }
        _ => Ok(None),
    }
}

fn known<C>(cipher: &Result<C>) -> Result<&C> {
    cipher.as_ref().map_err(Error::clone)
}

/// Fills `room` with a page's bytes.
fn copy_to<'r>(room: &'r mut Vec<u8>, raw: &[u8]) -> &'r mut [u8] {
    room.clear();
    room.extend_from_slice(raw);
    room
}

/// Borrows bytes of a page for writing.
fn range_mut(page: &mut [u8], at: usize, len: usize) -> Result<&mut [u8]> {
    let have = page.len();
    at.checked_add(len).and_then(|end| page.get_mut(at..end)).ok_or_else(|| {
        Error::corrupt(format!(
            "{len} encrypted bytes at offset {at} reach past the page's end ({have} bytes)"
        ))
    })
}

/// Sets bytes of a page.
fn put<const N: usize>(page: &mut [u8], at: usize, value: [u8; N]) -> Result<()> {
    range_mut(page, at, N)?.copy_from_slice(&value);
    Ok(())
}

/// The type of a page, `FIL_PAGE_TYPE`.
fn type_of(raw: &[u8]) -> Result<u16> {
    bytes::u16_at(raw, 24)
}
