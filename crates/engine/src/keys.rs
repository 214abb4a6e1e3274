//! Keys of encrypted tablespaces, searched when the first such tablespace is opened; and what else is
//! needed besides the bytes of a file to read its pages: the redo logs of killed servers, and where the pages are
//! that an incremental backup does not have.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use innoscan_format::keys::{self as format, transferred_key};
use innoscan_format::page::SpaceHeader;
use innoscan_format::page::encryption::{Encryption, MySqlCipher, MySqlEncryption, TablespaceKey};
use innoscan_format::redo::{LogCipher, LogEncryption};
use innoscan_format::secret::Secret;
use innoscan_format::{Cause, Error as FormatError};
use innoscan_io::{Direct, File};

use crate::Result;
use crate::recovery::{BackupFiles, IndexMemory, Recovery};

/// The keys of encrypted tablespaces, or none; and the redo logs of the directories that were found to
/// be those of killed servers. Clones share both.
#[derive(Clone, Default)]
pub struct Keys {
    found: Option<Arc<LazyLock<FoundKeys, Search>>>,
    recoveries: Arc<Mutex<Vec<Arc<Recovery>>>>,
    index_memory: IndexMemory,
    /// The key of the only tablespace that is opened with these keys, from its .cfp file.
    transferred: Option<Arc<TablespaceKey>>,
}

type Search = Box<dyn FnOnce() -> FoundKeys + Send>;

/// What a search for keys found.
#[derive(Debug, Default)]
pub struct FoundKeys {
    /// The keys.
    pub keys: format::Keys,
    /// Where keys were searched, with the reason for each file that could not be read.
    pub searched: Vec<String>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

impl Keys {
    /// The keys that `search` finds, which is called at most once, when a key is needed.
    pub fn new(search: impl FnOnce() -> FoundKeys + Send + 'static) -> Keys {
        let found = LazyLock::new(Box::new(search) as Search);
        Keys { found: Some(Arc::new(found)), ..Keys::default() }
    }

    /// The keys, and for the tablespace at `path` the one in the .cfp file that is beside it only while it is locked
    /// for export.
    #[must_use]
    pub fn with_transferred(&self, path: &Path) -> Keys {
        Keys { transferred: transferred(path).map(Arc::new), ..self.clone() }
    }

    /// The keys, and the memory for the index of a redo log.
    #[must_use]
    pub fn with_index_memory(self, index_memory: IndexMemory) -> Keys {
        Keys { index_memory, ..self }
    }

    /// The memory for the index of a redo log.
    pub fn index_memory(&self) -> &IndexMemory {
        &self.index_memory
    }

    /// Lets all files of a killed server's directory be read through its redo log, also by those who have
    /// a clone of these keys.
    pub fn add_recovery(&self, recovery: Arc<Recovery>) {
        let mut known = self.recoveries.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|other| other.root() != recovery.root());
        known.push(recovery);
    }

    /// The redo log through which the file at `path` is read, and the file's canonical path; `None` if
    /// the file is none of a killed server's.
    pub fn recovery_of(&self, path: &Path) -> Option<(Arc<Recovery>, PathBuf)> {
        let known = self.recoveries.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return None;
        }
        // A tablespace of an incremental backup has no file of its name.
        let canonical = || {
            let directory = std::fs::canonicalize(path.parent()?).ok()?;
            Some(directory.join(path.file_name()?))
        };
        let path = std::fs::canonicalize(path).ok().or_else(canonical)?;
        let recovery = known.iter().find(|recovery| recovery.has_file(&path))?;
        Some((Arc::clone(recovery), path))
    }

    /// What `read` makes of the files of a backup's tablespaces, and of the canonical path, if the file at `path` is in
    /// such a backup.
    fn in_backup<T>(&self, path: &Path, read: impl FnOnce(&BackupFiles, &Path) -> T) -> Option<T> {
        let (recovery, path) = self.recovery_of(path)?;
        let files = recovery.backup_files().filter(|_| path.starts_with(recovery.root()));
        files.map(|files| read(files, &path))
    }

    /// Opens the file of a tablespace; in a backup whose tablespaces consist of several files, the first of them.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open_file(&self, path: &Path, direct: Direct) -> Result<File> {
        let opened = self.in_backup(path, |files, canonical| {
            files.get(canonical).map(|parts| parts.open(path, direct))
        });
        opened.flatten().unwrap_or_else(|| Ok(File::open(path, direct)?))
    }

    /// Whether there is a tablespace at a path.
    pub fn is_file(&self, path: &Path) -> bool {
        let in_backup = self.in_backup(path, |files, path| files.get(path).is_some());
        in_backup.unwrap_or_else(|| path.is_file())
    }

    /// The files that the tablespace at a path consists of.
    pub fn files_of(&self, path: &Path) -> Vec<PathBuf> {
        let in_backup = self.in_backup(path, |files, path| {
            files.get(path).map(|parts| parts.files().map(Path::to_owned).collect())
        });
        in_backup.flatten().unwrap_or_else(|| vec![path.to_owned()])
    }

    /// The entries of a directory, with the tablespaces that a backup has there instead of its own files.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn entries(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(directory)?;
        let entries = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        // The name does not matter: the directory is the backup's or not.
        let found = self.in_backup(&directory.join("any"), |files, any| {
            let tablespaces = files.within(any.parent().unwrap_or(any));
            tablespaces
                .filter_map(|path| path.file_name())
                .map(|name| directory.join(name))
                .collect()
        });
        let Some(found) = found else { return Ok(entries) };
        let found: Vec<PathBuf> = found;
        let is_own = |path: &PathBuf| path.is_dir() || !is_of_backup(path);
        Ok(entries.into_iter().filter(is_own).chain(found).collect())
    }

    /// How the pages of the tablespace at `path` are decrypted.
    pub(crate) fn encryption(&self, header: &SpaceHeader, path: &Path) -> Encryption {
        if header.encryption.is_none() {
            return Encryption::None;
        }
        let none = FoundKeys::default();
        let found = self.found.as_ref().map_or(&none, |found| &***found);
        let encryption = found.keys.encryption(header);
        let Some(error) = encryption.error() else { return encryption };
        match encryption {
            Encryption::MariaDb(_) => Encryption::MariaDb(Arc::new(Err(found.explain(error)))),
            _ => Encryption::MySql(Arc::new(match self.transferred_to(path) {
                Some(key) => MySqlCipher::of_key(&key),
                None => Err(found.explain(error)),
            })),
        }
    }

    /// Ciphers of an encrypted redo log of MariaDB, one of which may be right.
    ///
    /// # Errors
    /// The key is not known, or is no key of AES.
    pub fn redo_ciphers(&self, info: &LogEncryption) -> Result<Vec<LogCipher>> {
        let none = FoundKeys::default();
        let found = self.found.as_ref().map_or(&none, |found| &***found);
        Ok(found.keys.redo_ciphers(info).map_err(|error| found.explain(&error))?)
    }

    /// The cipher of an encrypted redo log of MySQL.
    ///
    /// # Errors
    /// The master key is not known, or is another one.
    pub fn mysql_redo_cipher(
        &self,
        info: &MySqlEncryption,
    ) -> innoscan_format::Result<MySqlCipher> {
        let none = FoundKeys::default();
        let found = self.found.as_ref().map_or(&none, |found| &***found);
        found.keys.mysql_redo_cipher(info).map_err(|error| found.explain(&error))
    }

    fn transferred_to(&self, path: &Path) -> Option<Arc<TablespaceKey>> {
        self.transferred.clone().or_else(|| transferred(path).map(Arc::new))
    }
}

impl FoundKeys {
    /// The error of a key, with the places where it was searched.
    fn explain(&self, error: &FormatError) -> FormatError {
        match error.cause() {
            Cause::NoKey { what, remedy } if !self.searched.is_empty() => {
                let searched = self.searched.join(", ");
                FormatError::no_key(format!("{what} (searched: {searched})"), remedy.clone())
            }
            _ => error.clone(),
        }
    }
}

/// Whether a file in a backup is of a tablespace, by its name.
fn is_of_backup(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let endings = [".ibd", ".delta", ".meta", ".new", ".ren", ".del"];
    let is_undo = |rest: &str| rest.len() == 3 && rest.bytes().all(|byte| byte.is_ascii_digit());
    endings.iter().any(|ending| name.ends_with(ending))
        || name.strip_prefix("undo").is_some_and(is_undo)
}

/// The key in the .cfp file beside a tablespace. One that cannot be read is as good as none: the error of the missing
/// key tells the user what to do.
fn transferred(path: &Path) -> Option<TablespaceKey> {
    let file = Secret::new(std::fs::read(path.with_extension("cfp")).ok()?);
    transferred_key(file.bytes()).ok()
}
