//! Opening a table by the path of its file.

use std::path::Path;

use innoscan_catalog::catalog::{Catalog, TableName};
use innoscan_engine::keys::Keys;
use innoscan_format::schema::filename;

use crate::{Error, Result, Table};

/// Opens a table by the path of its `.ibd` or `.frm` file, or by that path without its ending.
///
/// The definition comes from the file itself (MySQL 8 and later) or from the `.frm` beside it. For a
/// partitioned table, the path without `#P#...` and ending, such as `data/shop/orders`, opens all
/// partitions; the path of one partition's file opens that partition alone.
///
/// # Errors
/// The table does not exist; the definition is missing or not supported; the file lies in the data
/// directory of a server that is running or was not shut down cleanly.
pub fn open(path: impl AsRef<Path>) -> Result<Table> {
    open_with_keys(path, &Keys::default())
}

/// Opens a table like [`open`], with keys for an encrypted one: [`KeyFiles`](crate::KeyFiles) finds them.
///
/// # Errors
/// As of [`open`]; also [`ErrorKind::NoKey`](crate::ErrorKind::NoKey) and
/// [`ErrorKind::WrongKey`](crate::ErrorKind::WrongKey).
pub fn open_with_keys(path: impl AsRef<Path>, keys: &Keys) -> Result<Table> {
    let path = path.as_ref();
    let has_ending = path.extension().is_some_and(|ending| ending == "ibd" || ending == "frm");
    let catalog = Catalog::new(None).with_keys(keys.clone());
    if has_ending {
        return catalog.table(utf8(path)?);
    }
    let with_ending = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        Some(std::path::PathBuf::from(name)).filter(|path| path.is_file())
    };
    match with_ending(".ibd").or_else(|| with_ending(".frm")) {
        Some(found) => catalog.table(utf8(&found)?),
        None => named(path, keys),
    }
}

/// The table named by a path in a database's directory: `data/shop/orders`.
fn named(path: &Path, keys: &Keys) -> Result<Table> {
    let missing = || {
        let why = format!("there is no table {}", path.display());
        Error::not_found(why, "give the path of an .ibd file, with or without the ending")
    };
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(table), Ok(dir)) = (path.file_name(), std::fs::canonicalize(dir)) else {
        return Err(missing());
    };
    let (Some(root), Some(schema)) = (dir.parent(), dir.file_name()) else { return Err(missing()) };
    let decoded = |name: &std::ffi::OsStr| filename::decode(&name.to_string_lossy());
    let name = TableName { schema: decoded(schema), table: decoded(table) };
    Catalog::new(Some(root.to_owned())).with_keys(keys.clone()).named(&name)
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        let why = format!("the path {} is not UTF-8", path.display());
        Error::usage(why, "give a path that is")
    })
}
