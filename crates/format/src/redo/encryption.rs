//! The encryption of the redo log of MariaDB 10.8 and later (`innodb_encrypt_log`); that of MySQL: `mysql/encryption.rs`.
//!
//! ```text
//! header    48 key id (1)   52 key version   56 message (16)   72 nonce of older formats (4)
//! key       the message, encrypted by the key of the key service
//! ```
//!
//! Types and lengths of records are never encrypted. In the newer format (`log_t::FORMAT_ENC_11`) all that follows the
//! lengths of the records of a mini-transaction, page ids included, is one text; the IV is the nonce, and type and length
//! of the first record. In the older one (`log_t::FORMAT_ENC_10_8`) the body of each record is encrypted by itself, and
//! page ids and names are not: nothing in it shows that a key is wrong, and it is not decrypted.
//!
//! (`log_crypt_write_header`, `log_decrypt_mtr`, log0crypt.cc; `recv_sys_t::parse_tail`, log0recv.cc, MariaDB 10.11.)

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256, Block};
use zeroize::Zeroize;

use super::record::extent;
use crate::page::encryption::{CipherMode, decrypt_text};
use crate::secret::Secret;
use crate::{Error, Remedy, Result, bytes};

/// `LOG_HEADER_CREATOR_END`.
pub(super) const INFO_AT: usize = 48;

/// `LOG_DEFAULT_ENCRYPTION_KEY`.
const KEY_ID: u32 = 1;

/// Bytes of a nonce behind the end marker of a mini-transaction.
pub(super) const NONCE_BYTES: usize = 8;

/// What the header of an encrypted log says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEncryption {
    key_version: u32,
    message: [u8; 16],
    unit: Unit,
}

/// What is encrypted as one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// The change of a page in a record.
    Record,
    /// The records of a mini-transaction.
    MiniTransaction,
}

impl LogEncryption {
    pub(super) fn read(head: &[u8], unit: Unit) -> Result<LogEncryption> {
        let key_id = bytes::u32_at(head, INFO_AT)?;
        if key_id != KEY_ID {
            return Err(Error::corrupt(format!("no server encrypts its redo log by key {key_id}")));
        }
        Ok(LogEncryption {
            key_version: bytes::u32_at(head, INFO_AT + 4)?,
            message: bytes::array(head, INFO_AT + 8)?,
            unit,
        })
    }

    /// The id of the key, and its version.
    pub fn key(&self) -> (u32, u32) {
        (KEY_ID, self.key_version)
    }

    /// Requires the format that is decrypted.
    ///
    /// # Errors
    /// It is the older one.
    pub fn require_supported(&self) -> Result<()> {
        match self.unit {
            Unit::MiniTransaction => Ok(()),
            Unit::Record => Err(Error::unsupported(
                "an encrypted redo log of the older format, as MariaDB 11.4.5 writes it, with changes after its checkpoint",
                "start the server on this directory (or a copy), and shut it down cleanly",
            )),
        }
    }

    /// Creates a cipher from the key.
    ///
    /// # Errors
    /// The key has a length that AES does not have.
    pub fn cipher(&self, key: &Secret, mode: CipherMode) -> Result<LogCipher> {
        let mut log_key = Block::from(self.message);
        let key = key.bytes();
        let encrypted = match key.len() {
            16 => Aes128::new_from_slice(key).map(|key| key.encrypt_block(&mut log_key)),
            24 => Aes192::new_from_slice(key).map(|key| key.encrypt_block(&mut log_key)),
            _ => Aes256::new_from_slice(key).map(|key| key.encrypt_block(&mut log_key)),
        };
        encrypted.map_err(|_| {
            let what = format!("key {KEY_ID} has {} bits", key.len() * 8);
            Error::wrong_key(what, Remedy::GiveKeyFile)
        })?;
        let cipher = Aes128::new(&log_key);
        log_key.as_mut_slice().zeroize();
        Ok(LogCipher { cipher, mode })
    }

    /// Creates the error of a log whose key is not known.
    #[cold]
    pub fn no_key(&self) -> Error {
        let version = self.key_version;
        let what = format!(
            "the redo log is encrypted, and version {version} of its key {KEY_ID} is not known"
        );
        Error::no_key(what, Remedy::GiveKeyFile)
    }

    /// Creates the error of a log that its key does not decrypt.
    #[cold]
    pub fn wrong_key(&self) -> Error {
        let what = format!(
            "the redo log does not decrypt: version {} of key {KEY_ID} is wrong, or the algorithm",
            self.key_version
        );
        Error::wrong_key(what, Remedy::GiveKeyFile)
    }
}

/// The cipher of a redo log.
pub struct LogCipher {
    cipher: Aes128,
    mode: CipherMode,
}

impl std::fmt::Debug for LogCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogCipher")
    }
}

impl LogCipher {
    /// Decrypts the records of a mini-transaction in place. With a wrong key they are others, with the same types and
    /// lengths.
    ///
    /// # Errors
    /// A record contradicts the format.
    pub fn decrypt(&self, records: &mut [u8], nonce: [u8; NONCE_BYTES]) -> Result<()> {
        self.decrypt_all(records, nonce)
            .ok_or_else(|| Error::corrupt("a record of an encrypted mini-transaction is cut"))
    }

    fn decrypt_all(&self, records: &mut [u8], nonce: [u8; NONCE_BYTES]) -> Option<()> {
        let mut iv = [0; 16];
        iv[..NONCE_BYTES].copy_from_slice(&nonce);
        let (first, _) = extent(records, 0)?;
        iv.get_mut(NONCE_BYTES..NONCE_BYTES + first)?.copy_from_slice(records.get(..first)?);
        let (mut text, mut places, mut at) = (Vec::with_capacity(records.len()), Vec::new(), 0);
        while at < records.len() {
            let (rest, end) = extent(records, at)?;
            text.extend_from_slice(records.get(rest..end)?);
            places.push(rest..end);
            at = end;
        }
        decrypt_text(&self.cipher, self.mode, iv, &mut text);
        let mut text = &text[..];
        for place in places {
            let (plain, others) = text.split_at_checked(place.len())?;
            records.get_mut(place)?.copy_from_slice(plain);
            text = others;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redo::{FileOperation, Record, Records};

    /// What a server of MariaDB 10.11.19 wrote at `CREATE TABLE d.t`: message of the log, records, nonce; with `aes_cbc`,
    /// and with `aes_ctr`.
    const CREATED: [[&str; 3]; 2] = [
        [
            "3766ce356d318b50b1c596b039870a19",
            "8b6a7f01fd65e060ca36351b12e18cb25f1eb284fcb59c91b6af43b5799938074fc374da32c3c5a0e1c319a47fc3a6ad\
         b0c353ebf7c37a1818c3174cfbc3988fecc3cfed61c3f39aa93489ff42eb34dc3b0b1b126c08b2eb784677779d0e59ee\
         359dcae3d2c9b22d2e3545762cd7f835107b00264534c529b41ab7572ecf386437e4d3820ae7c3a18858d3144bf83451\
         0f1340",
            "000000000000af58",
        ],
        [
            "93cdd394a0c043b50a7fbb9720b1a0a3",
            "8ba64c81b4dc0862ab5de0f7123275b2078cb299a4b52857be5f04b5e7bb3f4a85c3408db7c38caaf2c31c14d7c377bc\
         53c3fb4707c38781e7c307d4bbc38b9ea0c3217996c352b7783435a6fff634b43d731612bb76b2c20e46bdcb5c03f118\
         3538916ca8deb25d6235fc60132b4b35d3ade901d834927f5e1fb7cc100298670e84d321dd8bc3f4fb19d307fce634d7\
         08d2c9",
            "000000000000aef0",
        ],
    ];

    fn bytes(digits: &str) -> Vec<u8> {
        Secret::from_hex(digits.as_bytes()).unwrap().bytes().to_vec()
    }

    /// The name of the file that the first record creates, by a key and an algorithm.
    fn created(nth: usize, key: &str, mode: CipherMode) -> Option<Vec<u8>> {
        let [message, records, nonce] = CREATED[nth].map(bytes);
        let mut head = vec![0; 128];
        head[INFO_AT + 3] = 1;
        head[INFO_AT + 7] = 1;
        head[INFO_AT + 8..INFO_AT + 24].copy_from_slice(&message);
        let info = LogEncryption::read(&head, Unit::MiniTransaction).unwrap();
        assert_eq!(info.key(), (1, 1));
        let cipher = info.cipher(&Secret::new(bytes(key)), mode).unwrap();
        let mut plain = records;
        cipher.decrypt(&mut plain, nonce.try_into().unwrap()).unwrap();
        match Records::new(&plain).next_record() {
            Ok(Some(Record::File(record))) => match record.operation {
                FileOperation::Create(name) => Some(name.to_vec()),
                _ => None,
            },
            _ => None,
        }
    }

    #[test]
    fn mini_transactions_of_a_server_are_decrypted() {
        let key = "770A8A65DA156D24EE2A093277530142";
        let expected = Some(b"./d/t.ibd".to_vec());
        assert_eq!(created(0, key, CipherMode::Cbc), expected);
        assert_eq!(created(1, key, CipherMode::Ctr), expected);
        assert_ne!(created(0, key, CipherMode::Ctr), expected);
        assert_ne!(created(1, key, CipherMode::Cbc), expected);
        assert_ne!(created(0, "870A8A65DA156D24EE2A093277530142", CipherMode::Cbc), expected);
    }

    #[test]
    fn records_that_are_cut_are_refused() {
        let info = LogEncryption { key_version: 1, message: [0; 16], unit: Unit::MiniTransaction };
        let cipher = info.cipher(&Secret::new(vec![0; 16]), CipherMode::Cbc).unwrap();
        for mut records in [vec![0x3f, 1], vec![0x30], vec![0x30, 0xf0, 0xff, 0xff, 0xff, 0xff]] {
            assert!(cipher.decrypt(&mut records, [0; 8]).is_err());
        }
        assert!(info.cipher(&Secret::new(vec![0; 15]), CipherMode::Cbc).is_err());
        let older = LogEncryption { unit: Unit::Record, ..info };
        assert!(older.require_supported().is_err());
        assert!(LogEncryption::read(&[0; 128], Unit::MiniTransaction).is_err());
    }
}
