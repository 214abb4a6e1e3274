//! The files in which servers keep the keys of encrypted tablespaces, and how they are found: by their own names, or
//! as the server finds them, by its option files.
//!
//! ```text
//! MySQL      keyring_file_data                                       plugin keyring_file
//!            component_keyring_file.cnf in the directory of plugins  component_keyring_file
//! MariaDB    file_key_management_filename, _filekey, _encryption_algorithm, _digest, _use_pbkdf2
//! ```

use std::path::{Path, PathBuf};

use innoscan_engine::keys::{FoundKeys, Keys};
use innoscan_engine::{Error, Result};
use innoscan_format::keys::{DigestName, KeyFilePassword, keyring_path};
use innoscan_format::page::encryption::CipherMode;
use innoscan_format::secret::Secret;

use crate::option_file::{FileOptions, OptionFiles};

/// The usual directories of plugins.
const PLUGIN_DIRS: [&str; 3] =
    ["/usr/lib/mysql/plugin", "/usr/lib64/mysql/plugin", "/usr/local/mysql/lib/plugin"];
/// The configuration of MySQL's component, in the directory of plugins.
const COMPONENT: &str = "component_keyring_file.cnf";
/// What a password begins with that names the file of the password.
const FILE: &str = "FILE:";
/// The most bytes of a keyring or key file.
const BYTES_MAX: u64 = 16 << 20;

/// Files with keys, as the user names them.
#[derive(Clone, Debug, Default)]
pub struct KeyFiles {
    /// A keyring of MySQL, the configuration of its component, or a list of keys.
    pub keyring: Option<PathBuf>,
    /// A key file of MariaDB, or a list of keys.
    pub key_file: Option<PathBuf>,
    /// The file with the password of the key file.
    pub password_file: Option<PathBuf>,
    /// How a key file was encrypted and how pages are, where the user says so.
    pub algorithms: KeyAlgorithms,
    /// The option files of the server. The usual ones are read only if no file is named.
    pub option_files: OptionFiles,
}

/// How MariaDB's keys are used.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyAlgorithms {
    /// The mode in which pages are encrypted.
    pub mode: Option<CipherMode>,
    /// The digest by which the password of a key file becomes a key.
    pub digest: DigestName,
    /// The number of iterations of PBKDF2; 0: it is not used.
    pub pbkdf2_iterations: u32,
}

impl KeyAlgorithms {
    /// Reads options of the server by their names, without `file-key-management-`.
    ///
    /// # Errors
    /// A value does not exist.
    fn of_options(options: &FileOptions) -> Result<KeyAlgorithms> {
        let mut algorithms = KeyAlgorithms::default();
        let get = |name: &str| options.get(&format!("file-key-management-{name}"));
        if let Some(name) = get("encryption-algorithm") {
            algorithms.mode = Some(mode_of(name)?);
        }
        if let Some(name) = get("digest") {
            algorithms.digest = digest_of(name)?;
        }
        if let Some(iterations) = get("use-pbkdf2") {
            algorithms.pbkdf2_iterations = iterations.trim().parse().map_err(|_| {
                Error::usage("use_pbkdf2 is not a number", "correct the option file")
            })?;
        }
        Ok(algorithms)
    }
}

/// The mode of a name (`file_key_management_encryption_algorithm`).
///
/// # Errors
/// There is none of this name.
pub fn mode_of(name: &str) -> Result<CipherMode> {
    match &*name.trim().to_ascii_lowercase() {
        "aes_cbc" => Ok(CipherMode::Cbc),
        "aes_ctr" => Ok(CipherMode::Ctr),
        _ => Err(Error::usage(
            format!("there is no encryption algorithm `{name}`"),
            "use aes_cbc or aes_ctr",
        )),
    }
}

/// The digest of a name (`file_key_management_digest`).
///
/// # Errors
/// There is none of this name.
pub fn digest_of(name: &str) -> Result<DigestName> {
    Ok(match &*name.trim().to_ascii_lowercase() {
        "sha1" => DigestName::Sha1,
        "sha224" => DigestName::Sha224,
        "sha256" => DigestName::Sha256,
        "sha384" => DigestName::Sha384,
        "sha512" => DigestName::Sha512,
        _ => {
            return Err(Error::usage(
                format!("there is no digest `{name}`"),
                "use sha1, sha224, sha256, sha384 or sha512",
            ));
        }
    })
}

impl KeyFiles {
    /// The keys in these files. Those that the user named are read at once, so that a mistake is found before a long
    /// run; those of the server's option files when a key is needed. `before`: called before the first key is read.
    ///
    /// # Errors
    /// A file that the user named cannot be read, or has no keys.
    pub fn keys(self, before: impl Fn() + Send + 'static) -> Result<Keys> {
        let is_named = self.keyring.is_some() || self.key_file.is_some();
        if is_named {
            before();
        }
        let named = self.named()?;
        Ok(Keys::new(move || {
            before();
            match is_named && self.option_files.only.is_none() {
                true => named,
                false => self.of_server(named),
            }
        }))
    }

    /// The keys in the files that the user named.
    fn named(&self) -> Result<FoundKeys> {
        let mut found = FoundKeys::default();
        if let Some(mode) = self.algorithms.mode {
            found.keys.set_mode(mode);
        }
        if let Some(path) = &self.keyring {
            add_keyring(&mut found, path)?;
        }
        if let Some(path) = &self.key_file {
            let password = self.password_file.as_ref().map(|path| password_in(path)).transpose()?;
            let password = password.map(|password| self.algorithms.password(password));
            add_key_file(&mut found, path, password.as_ref())?;
        }
        Ok(found)
    }

    /// Adds the keys that the server's own options name. Why some cannot be read is part of the list of searched
    /// files.
    fn of_server(&self, mut found: FoundKeys) -> FoundKeys {
        let options = match self.option_files.read_of_server() {
            Ok(options) => options,
            Err(error) => {
                found.searched.push(error.to_string());
                return found;
            }
        };
        if let Some(path) = options.get("keyring-file-data").filter(|path| !path.is_empty()) {
            let added = add_keyring(&mut found, Path::new(path));
            note(&mut found, added);
        }
        if !self.option_files.none
            && let Some(configuration) = component_of(&options)
        {
            let added = add_keyring(&mut found, &configuration);
            note(&mut found, added);
        }
        if let Some(path) = options.get("file-key-management-filename") {
            let added =
                add_key_file_of(&mut found, &options, Path::new(path), self.algorithms.mode);
            note(&mut found, added);
        }
        found
    }
}

impl KeyAlgorithms {
    fn password(self, password: Secret) -> KeyFilePassword {
        let KeyAlgorithms { digest, pbkdf2_iterations, .. } = self;
        KeyFilePassword { password, digest, pbkdf2_iterations }
    }
}

fn note(found: &mut FoundKeys, added: Result<()>) {
    if let Err(error) = added {
        found.searched.push(error.to_string());
    }
}

/// The configuration of MySQL's component, beside the server's plugins.
fn component_of(options: &FileOptions) -> Option<PathBuf> {
    let own = options.get("plugin-dir").map(PathBuf::from);
    let dirs = own.into_iter().chain(PLUGIN_DIRS.map(PathBuf::from));
    dirs.map(|dir| dir.join(COMPONENT)).find(|path| path.is_file())
}

/// Adds the keys of the key file of a server's options. `mode`: as the user says.
fn add_key_file_of(
    found: &mut FoundKeys,
    options: &FileOptions,
    path: &Path,
    mode: Option<CipherMode>,
) -> Result<()> {
    let algorithms = KeyAlgorithms::of_options(options)?;
    if let Some(mode) = mode.or(algorithms.mode) {
        found.keys.set_mode(mode);
    }
    let password = match options.get("file-key-management-filekey") {
        None | Some("") => None,
        Some(typed) => Some(match typed.strip_prefix(FILE) {
            Some(file) => password_in(Path::new(file))?,
            None => Secret::new(typed.as_bytes().to_vec()),
        }),
    };
    let password = password.map(|password| algorithms.password(password));
    add_key_file(found, path, password.as_ref())
}

/// Adds the keys of a keyring, or of the one that a component's configuration names.
fn add_keyring(found: &mut FoundKeys, path: &Path) -> Result<()> {
    let mut path = path.to_owned();
    let mut file = read(&path)?;
    if let Some(keyring) = keyring_path(file.bytes()) {
        path = PathBuf::from(keyring);
        file = read(&path)?;
    }
    let added = found.keys.add_keyring(file.bytes());
    added.map_err(|error| {
        no_keys(&error.to_string(), "name the keyring of a MySQL server").in_file(&path)
    })?;
    found.searched.push(path.display().to_string());
    Ok(())
}

fn add_key_file(
    found: &mut FoundKeys,
    path: &Path,
    password: Option<&KeyFilePassword>,
) -> Result<()> {
    let file = read(path)?;
    let added = found.keys.add_key_file(file.bytes(), password);
    added.map_err(|error| {
        no_keys(
            &error.to_string(),
            "name the key file of a MariaDB server, with its password if it has one",
        )
        .in_file(path)
    })?;
    found.searched.push(path.display().to_string());
    Ok(())
}

fn no_keys(why: &str, remedy: &'static str) -> Error {
    Error::usage(why.to_owned(), remedy)
}

/// The password in a file, without the line's end.
fn password_in(path: &Path) -> Result<Secret> {
    let file = read(path)?;
    let end = file.bytes().iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'));
    let password = file.bytes().get(..end.map_or(0, |end| end + 1)).unwrap_or_default();
    Ok(Secret::new(password.to_vec()))
}

fn read(path: &Path) -> Result<Secret> {
    let unread = |error| Error::read("cannot read it", error).in_file(path);
    let len = std::fs::metadata(path).map_err(unread)?.len();
    if len > BYTES_MAX {
        return Err(no_keys(
            &format!("it has {len} bytes, too many for keys"),
            "name a file of keys",
        )
        .in_file(path));
    }
    std::fs::read(path).map(Secret::new).map_err(unread)
}
