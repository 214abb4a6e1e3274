//! The encryption of the log (`innodb_redo_log_encrypt`).
//!
//! ```text
//! header   1024 + 48 encryption info, as on page 0 of a tablespace
//! block    0 header, in clear (bit 15 of the length: encrypted)   12 AES-256-CBC by the log's key, up to 512
//! ```
//!
//! The checksum of a block is of its plain bytes, without that bit, and is encrypted with them. A block is encrypted if the
//! option was set when it was written, which may change while the server runs; the key stays. The info is in the file that
//! has the newest checkpoint: it is written there when the option is set for the first time and when the master key is
//! changed, and goes with the checkpoint to the next file. Behind that, files have none.
//!
//! (`log_encryption_read`, `log_encryption_write_low`, log0encryption.cc; `Encryption::encrypt_log_block`, os0enc.cc,
//! MySQL 8.0.33.)

use super::super::block::{BLOCK_BYTES, HEADER_BYTES, has_epoch, has_number};
use crate::bytes::{slice, u8_at};
use crate::page::encryption::{MySqlCipher, MySqlEncryption};
use crate::{Lsn, Result};

/// `LOG_ENCRYPTION`: offset of a block of a file's header.
const INFO_BLOCK_AT: usize = 2 * BLOCK_BYTES as usize;
/// `LOG_HEADER_ENCRYPTION_INFO_OFFSET`.
const INFO_AT: usize = 48;
/// `LOG_BLOCK_HDR_DATA_LEN`.
const LEN_AT: usize = 4;
/// The bit of the first byte of a block's length that says that the block is encrypted.
const ENCRYPTED: u8 = 0x80;

/// Reads the encryption info in the head of a file of the log, if there is one.
///
/// # Errors
/// The info contradicts the format.
pub(super) fn info(head: &[u8]) -> Result<Option<MySqlEncryption>> {
    MySqlEncryption::read(slice(head, INFO_BLOCK_AT, BLOCK_BYTES as usize)?, INFO_AT)
}

/// A block of the log that is encrypted.
#[derive(Debug)]
pub struct EncryptedBlock<'b>(&'b mut [u8]);

impl<'b> EncryptedBlock<'b> {
    /// The block of an LSN, if it is encrypted; `None` also if these bytes are none, or of another lap.
    pub fn of(bytes: &'b mut [u8], lsn: Lsn) -> Option<EncryptedBlock<'b>> {
        let is_encrypted = u8_at(bytes, LEN_AT).is_ok_and(|len| len & ENCRYPTED != 0);
        let is_one = bytes.len() == BLOCK_BYTES as usize
            && has_number(bytes, lsn)
            && has_epoch(bytes, lsn)
            && is_encrypted;
        is_one.then_some(EncryptedBlock(bytes))
    }

    /// Decrypts the block in place. It has its checksum then, unless it is damaged.
    pub fn decrypt(self, cipher: &MySqlCipher) {
        if let Some((header, data)) = self.0.split_first_chunk_mut::<{ HEADER_BYTES as usize }>() {
            header[LEN_AT] &= !ENCRYPTED;
            cipher.decrypt_bytes(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;
    use crate::redo::Block;
    use crate::secret::Secret;
    use crate::{Cause, Error};

    /// The encryption info of the log of a server of MySQL 8.0.33, its master key, and the first encrypted block.
    const INFO: &str = "6c43430000000132313437326636662d653838612d313166312d386436352d3032666330303030303030310dc78c91c04cfa\
         47d531a335af8abdd92ce134588239579e92c38029b162f0b3f7787e8129d00e573d9018a1cc35813dca5609bd1f299737da\
         b483ef0adfd69a415de8f6";
    const MASTER_KEY: &str = "B5221EF80E24457A93E6F8086C20396CEB7E16C8A811CC0B57E2117FE202C19D";
    const BLOCK_LSN: Lsn = Lsn(19_314_688);
    const BLOCK: &str = "0000935d8200007e00000001781c015bcb9ad18df74932973999368c9695e2c288bf1ca8b3208838bf0d4d341f62f0cb3cfd\
         8b0bfc6bd1eeaf4c11f05b56f9140f878cb404e77026a7ab3752c27a68642b4d6c15ab085c280d71f96bd139c1d892085fb2\
         e618b31e5c761997893553962f6deff79fa18b3258a1a4662dc9819c6c0c18575aea75747bf7d08b545359fd9f2eab561db2\
         8072c8a01db812b0abe36ccee3c3c2c51a92bc9f20cd8b89cd1fa8b428b7bded6a9b994af7ee00cd049dd8ad3d66b0bf336b\
         7fd3e12bf52166892925fd8389aafdcb5f6550a9876d327158ff4f320b20cd7054f70d510495fcc6338031bff6c21c803e3d\
         7be84291a0758a99cc522e8ba1c0156d116a460045bf4b154feeb36790e47a3497393556ace14804fb56194345ec8204231a\
         3a3b86b0747ff4fc5f9d894e46a5425ca460c79135966e720bc05639c339dbdb22eea0525968fff8b448c509f1ae1ffdcfba\
         5eeeb5c6ab1f6886a3fe93c98f7aab59b140c0c2d519af13df4a1b5a846ea2c7b3aeacf3b0e8f57781afa90b21b7ad6a42ae\
         61d22ef9fe4c8226a2ec56bf68fb9da4b503cb114262ab97a057cd13a6a32a68af9b85c2dda9d3d435ae15182290823f0944\
         f6cfcfabac1fc0eac8425c22f3fa44fc62462e9c15b118bbd1e8cc2e8e1a15e852260dc3a6ce984b07a50bd41f950b6c5c1e\
         3f45c49ab5510dc3d858e15f";

    fn bytes(digits: &str) -> Vec<u8> {
        Secret::from_hex(digits.as_bytes()).unwrap().bytes().to_vec()
    }

    /// The head of a file of the log.
    fn head() -> Vec<u8> {
        let mut head = vec![0; 2048];
        let info = bytes(INFO);
        head[INFO_BLOCK_AT + INFO_AT..][..info.len()].copy_from_slice(&info);
        head
    }

    /// The cipher of the log by a master key.
    fn cipher(head: &[u8], key: &str) -> Result<MySqlCipher> {
        let mut keys = Keys::default();
        let name = "INNODBKey-21472f6f-e88a-11f1-8d65-02fc00000001-1";
        keys.add_keyring(format!("{name}={key}\n").as_bytes()).unwrap();
        keys.mysql_redo_cipher(&info(head)?.unwrap())
    }

    fn decrypted(mut block: Vec<u8>, cipher: &MySqlCipher) -> Vec<u8> {
        EncryptedBlock::of(&mut block, BLOCK_LSN).unwrap().decrypt(cipher);
        block
    }

    #[test]
    fn a_block_of_a_server_is_decrypted_and_proves_it() {
        let cipher = cipher(&head(), MASTER_KEY).unwrap();
        let mut plain = decrypted(bytes(BLOCK), &cipher);
        let block = Block::parse(&plain, BLOCK_LSN).unwrap();
        assert!(block.is_whole && block.data.len() == 496);
        assert!(EncryptedBlock::of(&mut plain, BLOCK_LSN).is_none());
        for at in [2, 12, 300, 511] {
            let mut damaged = bytes(BLOCK);
            damaged[at] ^= 1;
            if let Some(block) = EncryptedBlock::of(&mut damaged, BLOCK_LSN) {
                block.decrypt(&cipher);
            }
            assert_eq!(Block::parse(&damaged, BLOCK_LSN), None, "{at}");
        }
        // Of another lap, or cut.
        assert!(EncryptedBlock::of(&mut bytes(BLOCK), Lsn(BLOCK_LSN.0 + (512 << 30))).is_none());
        assert!(EncryptedBlock::of(&mut bytes(BLOCK)[..511], BLOCK_LSN).is_none());
    }

    #[test]
    fn a_wrong_key_is_told_from_a_missing_one_and_from_damage() {
        let error = |head: &[u8], key: &str| cipher(head, key).err().unwrap();
        let is_wrong = |error: &Error| matches!(error.cause(), Cause::WrongKey { .. });
        assert!(is_wrong(&error(&head(), &"5A".repeat(32))));
        let damaged = |at: usize| {
            let mut head = head();
            head[INFO_BLOCK_AT + INFO_AT + at] ^= 1;
            head
        };
        assert!(is_wrong(&error(&damaged(50), MASTER_KEY)));
        assert!(matches!(error(&damaged(5), MASTER_KEY).cause(), Cause::NoKey { .. }));
        let mut head = head();
        assert_eq!(info(&[0; 2048]), Ok(None));
        head[INFO_BLOCK_AT + INFO_AT + 10] = b'x';
        assert!(info(&head).unwrap_err().is_corrupt());
        assert!(info(&head[..1200]).is_err());
    }
}
