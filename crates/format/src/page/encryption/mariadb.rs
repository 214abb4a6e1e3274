//! MariaDB's encryption of tablespaces.
//!
//! ```text
//! on page 0, 38 bytes behind the extent descriptors (`fil_space_read_crypt_data`, `fil0crypt.cc`, MariaDB 10.11)
//!   0 magic     6 scheme     7 length of the IV     8 IV     24 least key version     28 key id     32 wish
//! on a page (`fil_space_encrypt`)
//!              full_crc32            others                                  type 37401
//!   key version 0                    26                                      26
//!   checksum    size-4               30                                      30, unused
//!   encrypted   26 to size-4         38 to size-8                            from 42, as many as 38 says
//! ```
//!
//! The key of the pages is the page's IV encrypted by the key of the key service; the IV of a page is its tablespace
//! id, page number and LSN.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use aes::cipher::{BlockCipherEncrypt, BlockModeDecrypt, InnerIvInit, KeyInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256, Block};
use zeroize::Zeroize;

use super::used_blocks::EncryptedBlocks;
use super::{BLOCK, copy_to, put, range_mut, type_of};
use crate::checksum;
use crate::page::compression::full_crc32_stored;
use crate::page::{DATA, PageFormat, PageKind};
use crate::secret::Secret;
use crate::{Error, PageNo, Remedy, Result, bytes};

/// `CRYPT_MAGIC`.
const MAGIC: [u8; 6] = [0x73, 0x0E, 0x0C, 0x52, 0x45, 0x74];
/// `FIL_PAGE_FILE_FLUSH_LSN_OR_KEY_VERSION`.
const KEY_VERSION: usize = 26;
/// `FIL_PAGE_PAGE_COMPRESSED_ENCRYPTED`.
const COMPRESSED_AND_ENCRYPTED: u16 = 37401;
/// The types of pages that are never encrypted outside of `full_crc32` files: `FIL_PAGE_TYPE_FSP_HDR`,
/// `FIL_PAGE_TYPE_XDES`, `FIL_PAGE_RTREE` (`fil_space_encrypt_valid_page_type`).
const NEVER_ENCRYPTED: [u16; 3] = [8, 9, 17854];

/// Returns the version of the key that encrypted a page; 0: the page is not encrypted.
pub(super) fn key_version(raw: &[u8], format: PageFormat) -> Result<u32> {
    if format.full_crc32 {
        return bytes::u32_at(raw, 0);
    }
    match NEVER_ENCRYPTED.contains(&type_of(raw)?) {
        true => Ok(0),
        false => bytes::u32_at(raw, KEY_VERSION),
    }
}

/// What page 0 says about the keys of the other pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CryptData {
    /// The id of the key.
    pub key_id: u32,
    iv: [u8; BLOCK],
}

impl CryptData {
    /// Reads the crypt data of page 0, if there is some; `at`: the end of the extent descriptors.
    pub(super) fn read(page: &[u8], at: usize) -> Result<Option<CryptData>> {
        let at = at + 38;
        if bytes::array::<6>(page, at)? != MAGIC {
            return Ok(None);
        }
        let (scheme, iv_len) = (bytes::u8_at(page, at + 6)?, bytes::u8_at(page, at + 7)?);
        if scheme > 1 || usize::from(iv_len) != BLOCK {
            return Err(Error::corrupt(format!(
                "the encryption scheme {scheme} with an IV of {iv_len} bytes does not exist"
            )));
        }
        Ok(Some(CryptData {
            iv: bytes::array(page, at + 8)?,
            key_id: bytes::u32_at(page, at + 28)?,
        }))
    }

    /// Creates the cipher of the pages from all known versions of the key. `mode`: as the server's option says; if
    /// `None`, the first encrypted page shows it.
    ///
    /// # Errors
    /// A key has a length that AES does not have.
    pub fn cipher<'k>(
        &self,
        versions: impl IntoIterator<Item = (u32, &'k Secret)>,
        mode: Option<CipherMode>,
    ) -> Result<MariaDbCipher> {
        let keys = versions.into_iter().map(|(version, key)| self.page_key(version, key));
        Ok(MariaDbCipher {
            key_id: self.key_id,
            keys: keys.collect::<Result<Vec<PageKey>>>()?,
            mode: mode.map_or_else(OnceLock::new, OnceLock::from),
        })
    }

    /// Creates the error of a tablespace no version of whose key is known.
    #[cold]
    pub fn no_key(&self) -> Error {
        Error::no_key(
            format!("it is encrypted, and its key {} is not known", self.key_id),
            Remedy::GiveKeyFile,
        )
    }

    /// The key of the pages: the IV of page 0, encrypted (`crypt_data_scheme_get_key`, `encryption.cc`).
    fn page_key(&self, version: u32, key: &Secret) -> Result<PageKey> {
        let mut page_key = Block::from(self.iv);
        let bytes = key.bytes();
        let encrypted = match bytes.len() {
            16 => Aes128::new_from_slice(bytes).map(|key| key.encrypt_block(&mut page_key)),
            24 => Aes192::new_from_slice(bytes).map(|key| key.encrypt_block(&mut page_key)),
            _ => Aes256::new_from_slice(bytes).map(|key| key.encrypt_block(&mut page_key)),
        };
        encrypted.map_err(|_| {
            let (id, bits) = (self.key_id, bytes.len() * 8);
            Error::wrong_key(format!("key {id} has {bits} bits"), Remedy::GiveKeyFile)
        })?;
        let cipher = Aes128::new(&page_key);
        page_key.as_mut_slice().zeroize();
        Ok(PageKey { version, cipher, is_proven: AtomicBool::new(false) })
    }
}

/// The mode in which AES is used (`file_key_management_encryption_algorithm`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherMode {
    /// `aes_cbc`, the default.
    Cbc,
    /// `aes_ctr`.
    Ctr,
}

/// The key of a tablespace's pages, from one version of the key of the key service.
struct PageKey {
    version: u32,
    cipher: Aes128,
    /// Whether a page showed that the key is right.
    is_proven: AtomicBool,
}

/// The cipher of the pages of a tablespace.
pub struct MariaDbCipher {
    key_id: u32,
    keys: Vec<PageKey>,
    /// Unknown until the first encrypted page shows it.
    mode: OnceLock<CipherMode>,
}

impl std::fmt::Debug for MariaDbCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MariaDbCipher(key {})", self.key_id)
    }
}

impl MariaDbCipher {
    /// Decrypts a page to `room`, in the form in which it was before encryption.
    pub(super) fn decrypt(
        &self,
        raw: &[u8],
        format: PageFormat,
        page_no: PageNo,
        room: &mut Vec<u8>,
        mut is_sound: impl FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        let range = EncryptedRange::of(raw, format)?;
        verify_stored(raw, format)?;
        let key = self.key(key_version(raw, format)?)?;
        let iv = iv(raw, format, page_no)?;
        let is_proven = key.is_proven.load(Ordering::Relaxed);
        let modes = match self.mode.get() {
            Some(&mode) if is_proven => return range.decrypt(raw, key, mode, iv, room),
            Some(&mode) => vec![mode],
            None => vec![CipherMode::Cbc, CipherMode::Ctr],
        };
        for mode in modes {
            if range.decrypt(raw, key, mode, iv, room).is_ok() && is_sound(room) {
                key.is_proven.store(true, Ordering::Relaxed);
                self.mode.get_or_init(|| mode);
                return Ok(());
            }
        }
        Err(self.wrong_key(key.version))
    }

    fn key(&self, version: u32) -> Result<&PageKey> {
        self.keys.iter().find(|key| key.version == version).ok_or_else(|| {
            let what = format!(
                "it is encrypted, and version {version} of its key {} is not known",
                self.key_id
            );
            Error::no_key(what, Remedy::GiveKeyFile)
        })
    }

    #[cold]
    fn wrong_key(&self, version: u32) -> Error {
        let id = self.key_id;
        let mode = match self.mode.get() {
            Some(CipherMode::Cbc) => ", or the algorithm is not aes_cbc",
            Some(CipherMode::Ctr) => ", or the algorithm is not aes_ctr",
            None => "",
        };
        let what = format!("it does not decrypt: version {version} of key {id} is wrong{mode}");
        Error::wrong_key(what, Remedy::GiveKeyFile)
    }
}

/// The bytes of a page that are encrypted.
struct EncryptedRange {
    at: usize,
    len: usize,
    /// Whether the file is of `full_crc32`.
    full_crc32: bool,
}

impl EncryptedRange {
    fn of(raw: &[u8], format: PageFormat) -> Result<EncryptedRange> {
        let (at, end) = match (format.full_crc32, type_of(raw)?) {
            (true, _) => (KEY_VERSION, full_crc32_stored(raw)?.len().saturating_sub(4)),
            (false, COMPRESSED_AND_ENCRYPTED) => {
                (DATA + 4, DATA + 4 + usize::from(bytes::u16_at(raw, DATA)?))
            }
            (false, _) => (DATA, raw.len().saturating_sub(8)),
        };
        let len = end.saturating_sub(at);
        Ok(EncryptedRange { at, len, full_crc32: format.full_crc32 })
    }

    /// Decrypts these bytes of a page, and removes what shows that they were encrypted (`fil_space_decrypt`).
    fn decrypt(
        &self,
        raw: &[u8],
        key: &PageKey,
        mode: CipherMode,
        iv: [u8; BLOCK],
        room: &mut Vec<u8>,
    ) -> Result<()> {
        let kind = PageKind::new(type_of(raw)?, false);
        if mode == CipherMode::Cbc && self.full_crc32 && kind == PageKind::Index {
            return self.decrypt_index(raw, key, iv, room);
        }
        let page = copy_to(room, raw);
        let encrypted = range_mut(page, self.at, self.len)?;
        decrypt_text(&key.cipher, mode, iv, encrypted);
        match self.full_crc32 {
            true => put(page, 0, [0; 4]),
            false => put(page, KEY_VERSION, [0; 8]),
        }
    }

    /// Decrypts a page of a B-tree without its free space, on which no checksum depends in `full_crc32` files.
    fn decrypt_index(
        &self,
        raw: &[u8],
        key: &PageKey,
        iv: [u8; BLOCK],
        room: &mut Vec<u8>,
    ) -> Result<()> {
        room.resize(raw.len(), 0);
        let short = || Error::corrupt("the page is cut short");
        let (head, encrypted) = raw.split_at_checked(self.at).ok_or_else(short)?;
        let (encrypted, trailer) = encrypted.split_at_checked(self.len).ok_or_else(short)?;
        let (blocks, rest) = Block::slice_as_chunks(encrypted);
        let rest_at = self.at + self.len - rest.len();
        range_mut(room, 0, self.at)?.copy_from_slice(head);
        EncryptedBlocks { cipher: &key.cipher, iv, blocks }.decrypt_used(room, self.at)?;
        let room_for_rest = range_mut(room, rest_at, rest.len())?;
        room_for_rest.copy_from_slice(rest);
        decrypt_rest(&key.cipher, iv, room_for_rest);
        range_mut(room, self.at + self.len, trailer.len())?.copy_from_slice(trailer);
        put(room, 0, [0; 4])
    }
}

/// Decrypts a text as `file_key_management` does.
pub(crate) fn decrypt_text(
    cipher: &Aes128,
    mode: CipherMode,
    iv: [u8; BLOCK],
    encrypted: &mut [u8],
) {
    match mode {
        CipherMode::Cbc => decrypt_cbc(cipher, iv, encrypted),
        CipherMode::Ctr => {
            let core = ctr::CtrCore::inner_iv_init(cipher, &iv.into());
            ctr::Ctr128BE::from_core(core).apply_keystream(encrypted);
        }
    }
}

/// Whole blocks are chained; what is left is covered by the encrypted IV (`MyCTX_nopad`, `my_crypt.cc`).
fn decrypt_cbc(cipher: &Aes128, iv: [u8; BLOCK], encrypted: &mut [u8]) {
    let (blocks, rest) = Block::slice_as_chunks_mut(encrypted);
    cbc::Decryptor::inner_iv_init(cipher, &iv.into()).decrypt_blocks(blocks);
    decrypt_rest(cipher, iv, rest);
}

fn decrypt_rest(cipher: &Aes128, iv: [u8; BLOCK], rest: &mut [u8]) {
    let mut mask = Block::from(iv);
    cipher.encrypt_block(&mut mask);
    rest.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
}

/// The IV of a page: tablespace, page number and LSN, little-endian (`do_crypt`, `encryption.cc`).
fn iv(raw: &[u8], format: PageFormat, page_no: PageNo) -> Result<[u8; BLOCK]> {
    let mut iv = [0; BLOCK];
    put(&mut iv, 0, format.space.0.to_le_bytes())?;
    put(&mut iv, 4, page_no.0.to_le_bytes())?;
    put(&mut iv, 8, bytes::u64_at(raw, 16)?.to_le_bytes())?;
    Ok(iv)
}

/// Verifies the checksum of the encrypted bytes. A compressed page outside of `full_crc32` has none
/// (`fil_space_verify_crypt_checksum`).
fn verify_stored(raw: &[u8], format: PageFormat) -> Result<()> {
    if format.full_crc32 {
        return checksum::verify_full_crc32(full_crc32_stored(raw)?).map(drop);
    }
    if type_of(raw)? == COMPRESSED_AND_ENCRYPTED || checksum::is_of_encrypted(raw, format.is_zip)? {
        return Ok(());
    }
    let stored = bytes::u32_at(raw, KEY_VERSION + 4)?;
    Err(Error::corrupt(format!("checksum mismatch of the encrypted page: stored {stored:#010x}")))
}
