//! The key file of MariaDB's `file_key_management` (`parser.cc`, MariaDB 10.11): lines `ID;HEX`, in clear or as
//! `openssl enc` encrypts them.

use aes::Aes256Dec;
use aes::cipher::{BlockModeDecrypt, KeyIvInit};
use pbkdf2::hmac::EagerHash;
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha1::digest::Output;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

use super::{KeyFileError, lines};
use crate::secret::Secret;

/// What an encrypted file begins with, before a salt of 8 bytes.
const SALTED: &[u8] = b"Salted__";
/// Bytes of an AES-256 key and an initialization vector.
const KEY_AND_IV: usize = 32 + 16;
/// The version of all keys of the community server.
const VERSION: u32 = 1;

/// The digest by which a password becomes a key (`file_key_management_digest`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "names of digests")]
pub enum DigestName {
    #[default]
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// The password of an encrypted key file, and how it becomes a key.
#[derive(Clone, Debug)]
pub struct KeyFilePassword {
    /// `file_key_management_filekey`, or the content of the file that it names.
    pub password: Secret,
    /// `file_key_management_digest`, since MariaDB 12.0.1.
    pub digest: DigestName,
    /// `file_key_management_use_pbkdf2`, since MariaDB 12.0.1: the number of iterations; 0: another function is used.
    pub pbkdf2_iterations: u32,
}

/// A key of MariaDB.
#[derive(Debug)]
pub(super) struct VersionedKey {
    pub id: u32,
    pub version: u32,
    pub key: Secret,
}

/// The keys of a file.
pub(super) fn parse(
    file: &[u8],
    password: Option<&KeyFilePassword>,
) -> Result<Vec<VersionedKey>, KeyFileError> {
    let Some(salted) = file.strip_prefix(SALTED) else { return keys(file) };
    let password = password.ok_or_else(|| {
        KeyFileError::new(
            "it is encrypted, and its password (file_key_management_filekey) is not given",
        )
    })?;
    let wrong = || {
        KeyFileError::new(
            "it does not decrypt: its password (file_key_management_filekey) or digest is wrong, or it is damaged",
        )
    };
    let plain = decrypted(salted, password).ok_or_else(wrong)?;
    // A wrong password leaves a right padding once in 256 times.
    keys(&plain).map_err(|_| wrong())
}

fn keys(text: &[u8]) -> Result<Vec<VersionedKey>, KeyFileError> {
    lines(text)
        .map(|(number, line)| {
            key(line).ok_or_else(|| {
                KeyFileError::new(format!(
                    "line {number} is not ID;KEY or ID;VERSION;KEY with a key of 32, 48 or 64 hexadecimal digits"
                ))
            })
        })
        .collect()
}

/// A line `ID;HEX` or `ID;VERSION;HEX`. What follows the digits is ignored, as the server does.
fn key(line: &[u8]) -> Option<VersionedKey> {
    let number = |text: &[u8]| str::from_utf8(text.trim_ascii()).ok()?.parse::<u32>().ok();
    let digits = |text: &[u8]| {
        let text = text.trim_ascii_start();
        let end = text.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(text.len());
        text.get(..end)
            .filter(|digits| matches!(digits.len(), 32 | 48 | 64))
            .and_then(Secret::from_hex)
    };
    let mut fields = line.splitn(3, |&byte| byte == b';');
    let (id, second) = (number(fields.next()?)?, fields.next()?);
    let (version, key) = match digits(second) {
        Some(key) => (VERSION, key),
        None => (number(second)?, digits(fields.next()?)?),
    };
    (id != 0).then_some(VersionedKey { id, version, key })
}

/// Decrypts a file as `openssl enc -aes-256-cbc` encrypts it, without its first 8 bytes.
fn decrypted(salted: &[u8], password: &KeyFilePassword) -> Option<Zeroizing<Vec<u8>>> {
    let (salt, encrypted) = salted.split_first_chunk::<8>()?;
    let key_and_iv = key_and_iv(password, salt);
    let (key, iv) = key_and_iv.split_at_checked(32)?;
    let mut plain = Zeroizing::new(encrypted.to_vec());
    let (blocks, []) = aes::Block::slice_as_chunks_mut(&mut plain) else { return None };
    cbc::Decryptor::<Aes256Dec>::new_from_slices(key, iv).ok()?.decrypt_blocks(blocks);
    // PKCS#7: as many bytes as their value says.
    let padding = usize::from(*plain.last()?);
    let end = plain.len().checked_sub(padding).filter(|_| (1..=16).contains(&padding))?;
    let is_right = plain.get(end..)?.iter().all(|&byte| usize::from(byte) == padding);
    plain.truncate(end);
    is_right.then_some(plain)
}

/// The key and initialization vector of a password.
fn key_and_iv(password: &KeyFilePassword, salt: &[u8; 8]) -> Zeroizing<[u8; KEY_AND_IV]> {
    match password.digest {
        DigestName::Sha1 => derived::<Sha1>(password, salt),
        DigestName::Sha224 => derived::<Sha224>(password, salt),
        DigestName::Sha256 => derived::<Sha256>(password, salt),
        DigestName::Sha384 => derived::<Sha384>(password, salt),
        DigestName::Sha512 => derived::<Sha512>(password, salt),
    }
}

fn derived<D: EagerHash>(
    password: &KeyFilePassword,
    salt: &[u8; 8],
) -> Zeroizing<[u8; KEY_AND_IV]> {
    let mut derived = Zeroizing::new([0; KEY_AND_IV]);
    let bytes = password.password.bytes();
    if password.pbkdf2_iterations > 0 {
        pbkdf2_hmac::<D>(bytes, salt, password.pbkdf2_iterations, &mut *derived);
        return derived;
    }
    // EVP_BytesToKey with one round: each digest is of the one before it, the password and the salt.
    let mut before: Option<Output<D>> = None;
    for part in derived.chunks_mut(<D as sha1::Digest>::output_size()) {
        let mut hash = D::new();
        if let Some(before) = &before {
            hash.update(before);
        }
        hash.update(bytes);
        hash.update(salt);
        let digest = hash.finalize();
        part.iter_mut().zip(&digest).for_each(|(byte, digest)| *byte = *digest);
        before = Some(digest);
    }
    derived
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = b"# keys\n\n 1;000102030405060708090a0b0c0d0e0f # the first\n4294967295;AABBCCDDEEFF00112233445566778899AABBCCDDEEFF0011\n";

    fn of(text: &[u8]) -> Vec<(u32, u32, usize)> {
        let keys = parse(text, None).unwrap();
        keys.iter().map(|key| (key.id, key.version, key.key.bytes().len())).collect()
    }

    #[test]
    fn lines_of_both_kinds_are_read() {
        assert_eq!(of(PLAIN), [(1, 1, 16), (u32::MAX, 1, 24)]);
        let hex = "ab".repeat(32);
        assert_eq!(of(format!("7;3;{hex}").as_bytes()), [(7, 3, 32)]);
        for wrong in ["0;".to_owned() + &hex, format!("x;{hex}"), "1;abc".into(), "1".into()] {
            let error = parse(format!("\n{wrong}").as_bytes(), None).unwrap_err().to_string();
            assert!(error.starts_with("line 2 is not ID;KEY"), "{error}");
            assert!(!error.contains("abab"), "{error}");
        }
    }

    /// The first line of [`PLAIN`] by `openssl enc -aes-256-cbc -pass pass:secret` and these options.
    const BY_OPENSSL: [(DigestName, u32, &str); 3] = [
        // -md sha1
        (
            DigestName::Sha1,
            0,
            "53616c7465645f5f9e9e2ace0a201a9ccd82bad26ec47a730aec0f2eca4df0413298f7f20c5bee78\
         0b8e43e6cf11d0561c3577c555c437cb6e34721873aee256",
        ),
        // -md sha256
        (
            DigestName::Sha256,
            0,
            "53616c7465645f5f39e699b53040e989446f77d47f2bb303fd57deeaef624b640d27072ee014c5e6\
         8879e11b3f56c19686c006fdac93841436d5721891c33140",
        ),
        // -md sha512 -pbkdf2 -iter 1000
        (
            DigestName::Sha512,
            1000,
            "53616c7465645f5f7c7cca63c81cb78c11e7418e2320ae531bf7664c165bdeb8c92a63caa5be238d\
         b5297935d0022d04dac91bfc06103fcd865e11f810d41305",
        ),
    ];

    #[test]
    fn files_that_openssl_encrypted_are_read() {
        for (digest, pbkdf2_iterations, digits) in BY_OPENSSL {
            let file = Secret::from_hex(digits.as_bytes()).unwrap();
            let by = |password: &[u8], digest, pbkdf2_iterations| {
                let password = Secret::new(password.to_vec());
                let password = KeyFilePassword { password, digest, pbkdf2_iterations };
                parse(file.bytes(), Some(&password))
            };
            let keys = by(b"secret", digest, pbkdf2_iterations).unwrap();
            assert_eq!((keys[0].id, keys[0].key.bytes()), (1, &(0..16).collect::<Vec<u8>>()[..]));
            for wrong in [
                by(b"secrets", digest, pbkdf2_iterations),
                by(b"secret", DigestName::Sha384, pbkdf2_iterations),
                by(b"secret", digest, pbkdf2_iterations + 1),
                parse(file.bytes(), None),
            ] {
                assert!(wrong.unwrap_err().to_string().contains("password"), "{digest:?}");
            }
        }
    }
}
