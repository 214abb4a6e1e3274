//! Opening a table by the path of its file.

use std::path::{Path, PathBuf};

use innoscan_catalog::Prepared;
use innoscan_catalog::catalog::{Catalog, TableName};
use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::option_file::OptionFiles;
use innoscan_engine::keys::Keys;
use innoscan_format::schema::filename;
use innoscan_io::directory_with;

use crate::{Error, Result, Table};

/// Opens a table by the path of its `.ibd` or `.frm` file, or by that path without its ending.
///
/// The definition comes from the file itself (MySQL 8 and later) or from the `.frm` beside it. For a
/// partitioned table, the path without `#P#...` and ending, such as `data/shop/orders`, opens all
/// partitions; the path of one partition's file opens that partition alone. The same path opens a table that has no
/// file, since its rows are in the system tablespace or in a general tablespace.
///
/// # Errors
/// The table does not exist; the definition is missing or not supported; the file lies in the data
/// directory of a server that is running or was not shut down cleanly.
pub fn open(path: impl AsRef<Path>) -> Result<Table> {
    OpenOptions::default().open(path)
}

/// What tables need that is in none of their directory's files: keys, and the places of other files.
///
/// ```no_run
/// use innoscan::{KeyFiles, OpenOptions};
///
/// # fn main() -> innoscan::Result<()> {
/// let keyring = KeyFiles { keyring: Some("/backup/keyring".into()), ..KeyFiles::default() };
/// let keys = keyring.keys(|| ())?;
/// let options = OpenOptions::default().with(|open| {
///     open.keys = keys;
///     open.files.directories = vec!["/backup/data2".into()];
/// });
/// let table = options.open("/backup/mysql/shop/orders")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The keys of encrypted tables: [`KeyFiles`](crate::KeyFiles) finds them.
    pub keys: Keys,
    /// Where files outside of the data directory are.
    pub files: DataFiles,
    /// The option files of the server, which may say where its files are. `None`: none is read.
    pub option_files: Option<OptionFiles>,
    /// What becomes of prepared transactions whose state the binary log does not tell.
    pub prepared: Prepared,
    /// Whether files of a running server, or of one that was not shut down cleanly, are read: rows may be old,
    /// missing or torn.
    pub force: bool,
}

impl OpenOptions {
    /// The same options with a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut OpenOptions)) -> OpenOptions {
        change(&mut self);
        self
    }

    /// Opens a table like [`open()`].
    ///
    /// # Errors
    /// As of [`open()`]; also [`ErrorKind::NoKey`](crate::ErrorKind::NoKey) and
    /// [`ErrorKind::WrongKey`](crate::ErrorKind::WrongKey).
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Table> {
        let path = path.as_ref();
        let has_ending = path.extension().is_some_and(|ending| ending == "ibd" || ending == "frm");
        if has_ending {
            return self.catalog(None).table(utf8(path)?);
        }
        let with_ending = |ending: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            Some(PathBuf::from(name)).filter(|path| path.is_file())
        };
        match with_ending(".ibd").or_else(|| with_ending(".frm")) {
            Some(found) => self.catalog(None).table(utf8(&found)?),
            None => self.named(path),
        }
    }

    fn catalog(&self, datadir: Option<PathBuf>) -> Catalog {
        let catalog = Catalog::new(datadir).with_keys(self.keys.clone()).with_force(self.force);
        let catalog = catalog.with_prepared(self.prepared);
        let no_file = OptionFiles { none: true, ..OptionFiles::default() };
        catalog.with_files(self.files.clone(), self.option_files.clone().unwrap_or(no_file))
    }

    /// The table named by a path in a database's directory: `data/shop/orders`.
    fn named(&self, path: &Path) -> Result<Table> {
        // A dot is encoded in the names of files: this is `db.table`.
        if path.components().count() == 1 && path.to_string_lossy().contains('.') {
            return self.catalog(None).table(utf8(path)?);
        }
        let missing = || {
            let why = format!("there is no table {}", path.display());
            Error::not_found(why, "give the path of an .ibd file, with or without the ending")
        };
        let dir = directory_with(path);
        let (Some(table), Ok(dir)) = (path.file_name(), std::fs::canonicalize(dir)) else {
            return Err(missing());
        };
        let (Some(root), Some(schema)) = (dir.parent(), dir.file_name()) else {
            return Err(missing());
        };
        let decoded = |name: &std::ffi::OsStr| filename::decode(&name.to_string_lossy());
        let name = TableName { schema: decoded(schema), table: decoded(table) };
        self.catalog(Some(root.to_owned())).named(&name)
    }
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        let why = format!("the path {} is not UTF-8", path.display());
        Error::usage(why, "give a path that is")
    })
}
