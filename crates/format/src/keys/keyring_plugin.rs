//! The keyring of MySQL's plugin `keyring_file` (`plugin/keyring/common`, MySQL 8.0).
//!
//! ```text
//! 24 Keyring file version:1.0 or 2.0
//!    records: five words (length of the record, of id, type, user, key), id, type, user, key, padding to 8
//!  3 EOF
//! 32 SHA-256 of the records (2.0)
//! ```

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::KeyFileError;
use crate::bytes;
use crate::secret::Secret;

const VERSION: &[u8] = b"Keyring file version:";
/// Bytes of the version.
const HEAD: usize = 24;
const END: &[u8] = b"EOF";
/// Keys are stored XORed with this, repeated (`Key::xor_data`, `keyring_key.cc`).
const PATTERN: &[u8; 24] = b"*305=Ljt0*!@$Hnm(*-9-w;:";

/// How the machine that wrote a keyring stores words.
#[derive(Clone, Copy)]
struct Words {
    len: usize,
    is_big_endian: bool,
}

/// In the order in which the server tries them (`Checker::detect_architecture`).
const WORDS: [Words; 4] = [
    Words { len: 8, is_big_endian: false },
    Words { len: 4, is_big_endian: false },
    Words { len: 8, is_big_endian: true },
    Words { len: 4, is_big_endian: true },
];

/// Whether a file is a keyring of the plugin.
pub(super) fn is_one(file: &[u8]) -> bool {
    file.starts_with(VERSION)
}

/// The keys by their names.
pub(super) fn parse(file: &[u8]) -> Result<Vec<(String, Secret)>, KeyFileError> {
    let records = records(file)?;
    let read = WORDS.iter().find_map(|&words| keys(records, words).ok());
    read.ok_or_else(|| KeyFileError::new("it is a damaged keyring: its records do not add up"))
}

/// The bytes of the records, whose checksum is right.
fn records(file: &[u8]) -> Result<&[u8], KeyFileError> {
    let sum_bytes = match file.get(VERSION.len()..HEAD) {
        Some(b"1.0") => 0,
        Some(b"2.0") => 32,
        _ => return Err(KeyFileError::new("it is a keyring of a version that is not known")),
    };
    let cut_short = || KeyFileError::new("it is a damaged keyring: it is cut short");
    let rest = file.get(HEAD..).unwrap_or_default();
    let (rest, sum) =
        rest.len().checked_sub(sum_bytes).map(|at| rest.split_at(at)).ok_or_else(cut_short)?;
    let records = rest.strip_suffix(END).ok_or_else(cut_short)?;
    if sum_bytes > 0 && Sha256::digest(records).as_slice() != sum {
        return Err(KeyFileError::new("it is a damaged keyring: its checksum is wrong"));
    }
    Ok(records)
}

fn keys(mut records: &[u8], words: Words) -> crate::Result<Vec<(String, Secret)>> {
    let mut keys = Vec::new();
    while !records.is_empty() {
        let word = |number: usize| words.at(records, number);
        let (len, id_len, type_len, user_len, key_len) =
            (word(0)?, word(1)?, word(2)?, word(3)?, word(4)?);
        let record = bytes::slice(records, 0, len)?;
        let id_at = 5 * words.len;
        let key_at = [type_len, user_len]
            .iter()
            .fold(id_at.saturating_add(id_len), |at, len| at.saturating_add(*len));
        let id = bytes::slice(record, id_at, id_len)?;
        let stored = bytes::slice(record, key_at, key_len)?;
        let mut key = Zeroizing::new(stored.to_vec());
        key.iter_mut().zip(PATTERN.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        let key = Secret::new(std::mem::take(&mut *key));
        keys.push((String::from_utf8_lossy(id).into_owned(), key));
        // A record has its words at least, so that each round shortens what is left.
        records = bytes::slice(records, len.max(1), records.len() - len.max(1))?;
    }
    Ok(keys)
}

impl Words {
    /// The word of a number, as a length.
    fn at(self, bytes: &[u8], number: usize) -> crate::Result<usize> {
        let word = bytes::slice(bytes, number * self.len, self.len)?;
        let joined = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        let value = match self.is_big_endian {
            true => word.iter().fold(0, joined),
            false => word.iter().rev().fold(0, joined),
        };
        Ok(usize::try_from(value).unwrap_or(usize::MAX))
    }
}
