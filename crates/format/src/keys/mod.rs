//! Keys of encrypted tablespaces, and the files in which servers keep them.
//!
//! No error quotes such a file.

mod cfp;
mod key_file;
mod keyring_component;
mod keyring_list;
mod keyring_plugin;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::page::Encryption;
use crate::page::SpaceHeader;
use crate::page::encryption::{
    CipherMode, CryptData, MariaDbCipher, MasterKeyName, MySqlCipher, MySqlEncryption,
    SpaceEncryption, TablespaceKey,
};
use crate::redo::{LogCipher, LogEncryption};
use crate::secret::Secret;
use crate::{Result, SpaceId};

pub use self::cfp::transferred_key;
use self::key_file::VersionedKey;
pub use self::key_file::{DigestName, KeyFilePassword};
pub use self::keyring_component::keyring_path;

/// All keys that are known.
#[derive(Debug, Default)]
pub struct Keys {
    /// MySQL's master keys, by name.
    masters: Vec<(String, Secret)>,
    /// Keys of single tablespaces of MySQL.
    tablespaces: Vec<(SpaceId, TablespaceKey)>,
    /// MariaDB's keys.
    versions: Vec<VersionedKey>,
    mode: Option<CipherMode>,
}

impl Keys {
    /// Adds the keys of a keyring of MySQL: the file of the plugin `keyring_file` or of the component
    /// `component_keyring_file`, or a list with a line `NAME=HEX` for each master key and a line `tablespace:ID=HEX`
    /// for each key of a tablespace with its initialization vector.
    ///
    /// # Errors
    /// The bytes are none of these.
    pub fn add_keyring(&mut self, file: &[u8]) -> std::result::Result<(), KeyFileError> {
        if keyring_plugin::is_one(file) {
            self.masters.extend(keyring_plugin::parse(file)?);
        } else if keyring_component::is_one(file) {
            self.masters.extend(keyring_component::parse(file)?);
        } else {
            keyring_list::parse(file, &mut self.masters, &mut self.tablespaces)?;
        }
        Ok(())
    }

    /// Adds the keys of a key file of MariaDB's `file_key_management`, or of a list with a line `ID;VERSION;HEX` for
    /// each key. `password`: of an encrypted file.
    ///
    /// # Errors
    /// The bytes are none of these; or they are encrypted, and the password is missing or wrong.
    pub fn add_key_file(
        &mut self,
        file: &[u8],
        password: Option<&KeyFilePassword>,
    ) -> std::result::Result<(), KeyFileError> {
        self.versions.extend(key_file::parse(file, password)?);
        Ok(())
    }

    /// Sets the mode in which MariaDB uses AES. Without it the encrypted pages show it.
    pub fn set_mode(&mut self, mode: CipherMode) {
        self.mode = Some(mode);
    }

    /// Returns how the pages of a tablespace are decrypted.
    pub fn encryption(&self, header: &SpaceHeader) -> Encryption {
        match &header.encryption {
            None => Encryption::None,
            Some(SpaceEncryption::MySql(info)) => {
                Encryption::MySql(Arc::new(self.mysql(info, header.space)))
            }
            Some(SpaceEncryption::MariaDb(info)) => {
                Encryption::MariaDb(Arc::new(self.mariadb(info)))
            }
        }
    }

    /// Returns ciphers of an encrypted redo log of MariaDB, one of which may be right.
    ///
    /// # Errors
    /// The key is not known, or is no key of AES; the log is of the older format.
    pub fn redo_ciphers(&self, info: &LogEncryption) -> Result<Vec<LogCipher>> {
        info.require_supported()?;
        let named = |key: &&VersionedKey| (key.id, key.version) == info.key();
        let modes = match self.mode {
            Some(mode) => vec![mode],
            None => vec![CipherMode::Cbc, CipherMode::Ctr],
        };
        // The last line of a version is the one that a server uses.
        match self.versions.iter().rev().find(named) {
            Some(key) => modes.into_iter().map(|mode| info.cipher(&key.key, mode)).collect(),
            None => Err(info.no_key()),
        }
    }

    /// Returns the cipher of an encrypted redo log of MySQL.
    ///
    /// # Errors
    /// The master key is not known, or is not the one that the log's key was encrypted by.
    pub fn mysql_redo_cipher(&self, info: &MySqlEncryption) -> Result<MySqlCipher> {
        let cipher = self.by_master_key(info).ok_or_else(|| info.no_key())?;
        cipher.map_err(|_| info.wrong_key_of_log())
    }

    fn mysql(&self, info: &MySqlEncryption, space: SpaceId) -> Result<MySqlCipher> {
        let of_space = || self.tablespaces.iter().find(|(id, _)| *id == space);
        let cipher = self.by_master_key(info);
        let cipher = cipher.or_else(|| of_space().map(|(_, key)| MySqlCipher::of_key(key)));
        cipher.unwrap_or_else(|| Err(info.no_key()))
    }

    /// Returns the cipher by the master key; `None` if no key of its name is known.
    fn by_master_key(&self, info: &MySqlEncryption) -> Option<Result<MySqlCipher>> {
        if info.master_key == MasterKeyName::Default {
            return Some(info.cipher_by_default_key());
        }
        let named = self.masters.iter().filter(|(name, _)| info.master_key.is(name));
        // Keyrings of several servers may have keys of the same name before 5.7.12.
        named.map(|(_, key)| info.cipher(key)).reduce(Result::or)
    }

    fn mariadb(&self, info: &CryptData) -> Result<MariaDbCipher> {
        // The last line of a version is the one that a server uses.
        let of_id = self.versions.iter().rev().filter(|key| key.id == info.key_id);
        let mut versions = of_id.map(|key| (key.version, &key.key)).peekable();
        match versions.peek() {
            Some(_) => info.cipher(versions, self.mode),
            None => Err(info.no_key()),
        }
    }
}

/// Why a file has no keys that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFileError(Cow<'static, str>);

impl KeyFileError {
    #[cold]
    fn new(what: impl Into<Cow<'static, str>>) -> KeyFileError {
        KeyFileError(what.into())
    }
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for KeyFileError {}

/// The trimmed lines of a text that are neither empty nor comments, with their numbers from 1.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let trimmed = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    (1..).zip(trimmed).filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"))
}
