//! MySQL's encryption of tablespaces.
//!
//! ```text
//! on page 0, behind the extent descriptors (`Encryption::fill_encryption_info`, `os0enc.cc`, MySQL 8.0)
//!   0 magic: lCA (5.7.11), lCB (5.7.12), lCC (8.0.5)
//!   3 id of the master key     7 UUID of the server that made it (lCB, lCC)
//!  43 tablespace key, IV (32 bytes each): AES-256-ECB by the master key     107 CRC-32C of both before that
//! on a page of type 15 (any), 16 (compressed), 17 (R-tree)  (`Encryption::encrypt`)
//!  26 as page compression has it     38 AES-256-CBC by the tablespace key
//! ```
//!
//! A redo log has the same info, and its blocks are encrypted likewise (`redo::mysql`).

use std::sync::atomic::{AtomicBool, Ordering};

use aes::cipher::{BlockCipherDecrypt, BlockModeDecrypt, InnerIvInit, KeyInit};
use aes::{Aes256Dec, Block};
use zeroize::Zeroizing;

use super::{BLOCK, copy_to, put, range_mut, type_of};
use crate::page::DATA;
use crate::secret::Secret;
use crate::{Error, Remedy, Result, bytes};

/// `FIL_PAGE_ENCRYPTED`, `FIL_PAGE_COMPRESSED_AND_ENCRYPTED`, `FIL_PAGE_ENCRYPTED_RTREE`.
const ENCRYPTED: u16 = 15;
const COMPRESSED_AND_ENCRYPTED: u16 = 16;
const ENCRYPTED_RTREE: u16 = 17;
/// `FIL_PAGE_COMPRESSED` and `FIL_PAGE_RTREE`.
const COMPRESSED: u16 = 14;
const RTREE: u16 = 17854;

/// Bytes at the end of the encrypted ones that are encrypted a second time when those are no whole blocks.
const TAIL: usize = 2 * BLOCK;

/// Whether a page is encrypted.
pub(super) fn is_encrypted(raw: &[u8]) -> Result<bool> {
    Ok(matches!(type_of(raw)?, ENCRYPTED | COMPRESSED_AND_ENCRYPTED | ENCRYPTED_RTREE))
}

/// How a master key is named in keyrings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MasterKeyName {
    /// By its whole name.
    Whole(String),
    /// By the end of its name (MySQL 5.7.11, which has a server's number before it).
    End(String),
    /// The key of tablespaces that were made before there was a keyring (`DEFAULT_MASTER_KEY`).
    Default,
}

impl MasterKeyName {
    /// Returns whether a key of a keyring has this name.
    pub fn is(&self, name: &str) -> bool {
        match self {
            MasterKeyName::Whole(whole) => name == whole,
            MasterKeyName::End(end) => name.starts_with(PREFIX) && name.ends_with(end),
            MasterKeyName::Default => false,
        }
    }
}

/// Bytes of the UUID of a server.
const UUID: usize = 36;
/// `Encryption::MASTER_KEY_PREFIX`.
const PREFIX: &str = "INNODBKey-";

/// What page 0 has, or the header of a redo log: the tablespace key, or the log's, encrypted by a master key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MySqlEncryption {
    /// The name of the master key.
    pub master_key: MasterKeyName,
    sealed: [u8; 64],
    crc32: u32,
}

impl MySqlEncryption {
    /// Reads the encryption info at `at` of page 0, or of a block of a log's header, if there is one.
    pub(crate) fn read(page: &[u8], at: usize) -> Result<Option<MySqlEncryption>> {
        let magic = bytes::array::<3>(page, at)?;
        if ![b"lCA", b"lCB", b"lCC"].contains(&&magic) {
            return Ok(None);
        }
        let id = bytes::u32_at(page, at + 3)?;
        let mut next = at + 7;
        // 5.7 may have written ids of 8 bytes.
        if magic != *b"lCC" && bytes::u32_at(page, next)? == 0 {
            next += 4;
        }
        let master_key = match (id, &magic) {
            (0, _) => MasterKeyName::Default,
            (id, b"lCA") => MasterKeyName::End(format!("-{id}")),
            (id, _) => MasterKeyName::Whole(format!("{PREFIX}{}-{id}", uuid(page, next)?)),
        };
        if magic != *b"lCA" {
            next += UUID;
        }
        Ok(Some(MySqlEncryption {
            master_key,
            sealed: bytes::array(page, next)?,
            crc32: bytes::u32_at(page, next + 64)?,
        }))
    }

    /// Creates the cipher of the pages. `master_key`: the key of the name [`MySqlEncryption::master_key`].
    ///
    /// # Errors
    /// It is another key, which the checksum of the tablespace key shows.
    pub fn cipher(&self, master_key: &Secret) -> Result<MySqlCipher> {
        let key = TablespaceKey::unsealed(&self.sealed, master_key);
        match key.filter(|key| crc_fast::crc32_iscsi(key.0.bytes()) == self.crc32) {
            Some(key) => MySqlCipher::new(&key, true),
            None => Err(self.wrong_key()),
        }
    }

    /// Creates the cipher of tablespaces that were made before there was a keyring.
    ///
    /// # Errors
    /// Page 0 is damaged.
    pub fn cipher_by_default_key(&self) -> Result<MySqlCipher> {
        let mut key = b"DefaultMasterKey".to_vec();
        key.resize(32, 0);
        self.cipher(&Secret::new(key))
    }

    /// Creates the error of a tablespace whose master key is not known.
    #[cold]
    pub fn no_key(&self) -> Error {
        Error::no_key(
            format!("it is encrypted, and its master key {} is not known", self.key_text()),
            Remedy::GiveKeyring,
        )
    }

    #[cold]
    fn wrong_key(&self) -> Error {
        Error::wrong_key(
            format!("the master key {} is not the one that encrypted it", self.key_text()),
            Remedy::GiveKeyring,
        )
    }

    /// Creates the error of a redo log that its master key does not open. Unlike page 0, its header has no checksum.
    #[cold]
    pub(crate) fn wrong_key_of_log(&self) -> Error {
        let what = format!(
            "the master key {} is not the one that encrypted it, or that of the log, which it encrypts, is damaged",
            self.key_text()
        );
        Error::wrong_key(what, Remedy::GiveKeyring)
    }

    fn key_text(&self) -> String {
        match &self.master_key {
            MasterKeyName::Whole(name) => name.clone(),
            MasterKeyName::End(end) => format!("{PREFIX}...{end}"),
            MasterKeyName::Default => "of servers without keyring".into(),
        }
    }
}

/// Reads the UUID of a server.
fn uuid(page: &[u8], at: usize) -> Result<String> {
    let uuid = bytes::slice(page, at, UUID)?;
    match uuid.iter().all(|&byte| byte.is_ascii_hexdigit() || byte == b'-') {
        true => Ok(String::from_utf8_lossy(uuid).into_owned()),
        false => Err(Error::corrupt("the encryption info has no UUID of a server")),
    }
}

/// The key of a tablespace, and the initialization vector of its pages: 32 bytes each.
#[derive(Clone, Debug)]
pub struct TablespaceKey(Secret);

impl TablespaceKey {
    /// Takes a key and an initialization vector of 32 bytes each; `None` if there are more or fewer bytes.
    pub fn new(key_and_iv: Secret) -> Option<TablespaceKey> {
        (key_and_iv.bytes().len() == 64).then_some(TablespaceKey(key_and_iv))
    }

    /// Decrypts a key and an initialization vector by AES-256-ECB; `None` if the key has not 32 bytes.
    pub(crate) fn unsealed(sealed: &[u8; 64], by: &Secret) -> Option<TablespaceKey> {
        let cipher = Aes256Dec::new_from_slice(by.bytes()).ok()?;
        let mut plain = Zeroizing::new(sealed.to_vec());
        let (blocks, _) = Block::slice_as_chunks_mut(&mut plain);
        cipher.decrypt_blocks(blocks);
        Some(TablespaceKey(Secret::new(std::mem::take(&mut *plain))))
    }
}

/// The cipher of the pages of a tablespace.
pub struct MySqlCipher {
    cipher: Aes256Dec,
    iv: Zeroizing<[u8; BLOCK]>,
    /// Whether the key is known to be this tablespace's: by its checksum, or by a page.
    is_proven: AtomicBool,
}

impl std::fmt::Debug for MySqlCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MySqlCipher")
    }
}

impl MySqlCipher {
    /// Creates the cipher of a key that is not known to be the tablespace's, from a .cfp file or a list: the first
    /// page that is read proves it.
    ///
    /// # Errors
    /// None with a [`TablespaceKey`].
    pub fn of_key(key: &TablespaceKey) -> Result<MySqlCipher> {
        MySqlCipher::new(key, false)
    }

    fn new(TablespaceKey(secret): &TablespaceKey, is_proven: bool) -> Result<MySqlCipher> {
        let cipher = Aes256Dec::new_from_slice(bytes::slice(secret.bytes(), 0, 32)?)
            .map_err(|error| Error::corrupt(error.to_string()))?;
        Ok(MySqlCipher {
            cipher,
            iv: Zeroizing::new(bytes::array(secret.bytes(), 32)?),
            is_proven: AtomicBool::new(is_proven),
        })
    }

    /// Decrypts a page to `room`, in the form in which it was before encryption.
    pub(super) fn decrypt(
        &self,
        raw: &[u8],
        room: &mut Vec<u8>,
        mut is_sound: impl FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        let is_proven = self.is_proven.load(Ordering::Relaxed);
        let known_len = encrypted_len(raw)?;
        if let (true, Some(len)) = (is_proven, known_len) {
            return self.decrypt_range(raw, len, room);
        }
        let lens = match known_len {
            Some(len) => vec![len],
            None => possible_lens(raw)?,
        };
        for len in lens {
            if self.decrypt_range(raw, len, room).is_ok() && is_sound(room) {
                self.is_proven.store(true, Ordering::Relaxed);
                return Ok(());
            }
        }
        match is_proven {
            true => Err(Error::corrupt("the page does not decrypt to a whole page")),
            false => Err(Error::wrong_key(
                "the page does not decrypt: it is damaged, or the key is another tablespace's",
                Remedy::GiveKeyring,
            )),
        }
    }

    /// Decrypts `len` bytes from the end of the header on.
    fn decrypt_range(&self, raw: &[u8], len: usize, room: &mut Vec<u8>) -> Result<()> {
        let page = copy_to(room, raw);
        self.decrypt_bytes(range_mut(page, DATA, len)?);
        restore_type(page)
    }

    /// Decrypts bytes in place, which need not be whole blocks.
    pub(crate) fn decrypt_bytes(&self, encrypted: &mut [u8]) {
        let len = encrypted.len();
        let whole = len - len % BLOCK;
        if whole != len {
            let tail = len.checked_sub(TAIL).and_then(|at| encrypted.get_mut(at..));
            self.decrypt_blocks(tail.unwrap_or_default());
        }
        self.decrypt_blocks(encrypted.get_mut(..whole).unwrap_or_default());
    }

    fn decrypt_blocks(&self, encrypted: &mut [u8]) {
        let (blocks, _) = Block::slice_as_chunks_mut(encrypted);
        cbc::Decryptor::inner_iv_init(&self.cipher, (&*self.iv).into()).decrypt_blocks(blocks);
    }
}

/// How many bytes of a page are encrypted: all, but of a compressed page those that it was compressed to. `None` for
/// a compressed page of version 1, whose length the file does not say.
fn encrypted_len(raw: &[u8]) -> Result<Option<usize>> {
    if type_of(raw)? != COMPRESSED_AND_ENCRYPTED {
        return Ok(Some(raw.len().saturating_sub(DATA)));
    }
    let compressed = usize::from(bytes::u16_at(raw, 32)?);
    Ok((bytes::u8_at(raw, 26)? != 1).then_some(compressed.max(TAIL)))
}

/// How many bytes of a compressed page of version 1 may be encrypted: the length was rounded up to the blocks of the
/// file system that the server wrote to.
fn possible_lens(raw: &[u8]) -> Result<Vec<usize>> {
    let all = raw.len().saturating_sub(DATA);
    let compressed = usize::from(bytes::u16_at(raw, 32)?);
    let mut lens: Vec<usize> = [4096, 512, 1024, 2048, 8192, 16384]
        .map(|block| (DATA + compressed).next_multiple_of(block).saturating_sub(DATA).min(all))
        .into();
    lens.dedup();
    Ok(lens)
}

/// Sets the type that the page had before it was encrypted.
fn restore_type(page: &mut [u8]) -> Result<()> {
    let kind = match type_of(page)? {
        COMPRESSED_AND_ENCRYPTED => COMPRESSED,
        ENCRYPTED_RTREE => RTREE,
        _ => {
            let original = bytes::u16_at(page, 28)?;
            put(page, 28, [0; 2])?;
            original
        }
    };
    put(page, 24, kind.to_be_bytes())
}
