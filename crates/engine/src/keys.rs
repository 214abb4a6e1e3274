//! Keys of encrypted tablespaces, searched when the first such tablespace is opened.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use innoscan_format::keys::{self as format, transferred_key};
use innoscan_format::page::SpaceHeader;
use innoscan_format::page::encryption::{Encryption, MySqlCipher, TablespaceKey};
use innoscan_format::secret::Secret;
use innoscan_format::{Cause, Error as FormatError};

/// The keys of encrypted tablespaces, or none.
#[derive(Clone, Default)]
pub struct Keys {
    found: Option<Arc<LazyLock<FoundKeys, Search>>>,
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
        Keys { found: Some(Arc::new(found)), transferred: None }
    }

    /// The keys, and for the tablespace at `path` the one in the .cfp file that is beside it only while it is locked
    /// for export.
    #[must_use]
    pub fn with_transferred(&self, path: &Path) -> Keys {
        Keys { transferred: transferred(path).map(Arc::new), ..self.clone() }
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

/// The key in the .cfp file beside a tablespace. One that cannot be read is as good as none: the error of the missing
/// key tells the user what to do.
fn transferred(path: &Path) -> Option<TablespaceKey> {
    let file = Secret::new(std::fs::read(path.with_extension("cfp")).ok()?);
    transferred_key(file.bytes()).ok()
}
