//! What is verified of a page's bytes before they are opened.

use crate::{Error, Remedy, Result, bytes};

/// What is verified of the bytes that decryption gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verified {
    /// Nothing.
    Nothing,
    /// The checksum of the stored bytes, which covers the encrypted ones.
    Stored,
}

/// Requires that a `full_crc32` page is not encrypted, in a file whose page 0 names no key.
pub(super) fn require_unencrypted(raw: &[u8]) -> Result<()> {
    match bytes::u32_at(raw, 0)? {
        0 => Ok(()),
        version => Err(encrypted_without_info(version)),
    }
}

/// Creates the error of an encrypted page in a file whose page 0 names no key. Its checksum shows that it is whole.
#[cold]
pub(super) fn encrypted_without_info(version: u32) -> Error {
    Error::unsupported(
        format!(
            "a page that is encrypted (key version {version}) in a file whose page 0 names no key"
        ),
        Remedy::ConvertOnServer("ALTER TABLE it without encryption".into()),
    )
}
