//! Opening a table, and listing a directory.

use std::path::PathBuf;

use innoscan::{DataFiles, KeyFiles, Keys, OptionFiles, Prepared, Result};
use innoscan_catalog::catalog::Catalog;
use innoscan_catalog::ledger::{Filter, ItemKind};
use innoscan_export::listing::Listing;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::to_python;
use crate::remedies;
use crate::running::{Shared, run};
use crate::table::Table;

/// How a table was opened: enough to open it again, in another process.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: PathBuf,
    pub places: Places,
}

/// Where the files and keys are that are not beside the table, and the choice for prepared transactions.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub datadir: Option<PathBuf>,
    pub keyring: Option<PathBuf>,
    pub key_file: Option<PathBuf>,
    pub key_file_password_file: Option<PathBuf>,
    pub defaults_file: Option<PathBuf>,
    pub innodb_directories: Vec<PathBuf>,
    pub incremental: Vec<PathBuf>,
    pub prepared: Prepared,
    pub force: bool,
}

impl Places {
    /// The options of `open`.
    pub fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("datadir", self.datadir.as_deref())?;
        dict.set_item("keyring", self.keyring.as_deref())?;
        dict.set_item("key_file", self.key_file.as_deref())?;
        dict.set_item("key_file_password_file", self.key_file_password_file.as_deref())?;
        dict.set_item("defaults_file", self.defaults_file.as_deref())?;
        dict.set_item("innodb_directories", &self.innodb_directories)?;
        dict.set_item("incremental", &self.incremental)?;
        dict.set_item("prepared", self.prepared.word())?;
        dict.set_item("force", self.force)?;
        Ok(dict)
    }

    fn option_files(&self) -> OptionFiles {
        match &self.defaults_file {
            Some(file) => OptionFiles { only: Some(file.clone()), ..OptionFiles::default() },
            None => OptionFiles { none: true, ..OptionFiles::default() },
        }
    }

    fn files(&self) -> DataFiles {
        DataFiles {
            directories: self.innodb_directories.clone(),
            incrementals: DataFiles::incrementals_of(&self.incremental),
            ..DataFiles::default()
        }
    }

    fn keys(&self) -> Result<Keys> {
        let files = KeyFiles {
            keyring: self.keyring.clone(),
            key_file: self.key_file.clone(),
            password_file: self.key_file_password_file.clone(),
            option_files: self.option_files(),
            ..KeyFiles::default()
        };
        files.keys(|| ())
    }

    fn catalog(&self, datadir: Option<PathBuf>, keys: Keys) -> Catalog {
        let catalog = Catalog::new(datadir).with_force(self.force).with_keys(keys);
        let catalog = catalog.with_prepared(self.prepared);
        catalog.with_files(self.files(), self.option_files())
    }
}

impl Source {
    fn open(&self) -> Result<innoscan::Table> {
        let keys = self.places.keys()?;
        if let (Some(datadir), Some(name)) = (&self.places.datadir, self.path.to_str()) {
            return self.places.catalog(Some(datadir.clone()), keys).table(name);
        }
        let options = innoscan::OpenOptions::default().with(|open| {
            open.keys = keys;
            open.files = self.places.files();
            open.option_files = Some(self.places.option_files());
            open.prepared = self.places.prepared;
            open.force = self.places.force;
        });
        options.open(&self.path)
    }
}

/// Opens a table by the path of its `.ibd` or `.frm` file, with or without the ending, or, with `datadir`, by
/// its name `db.table`.
///
/// The files must be those of a stopped or killed server, a backup or a snapshot; those of a running server are refused
/// unless `force` is true, and may then give old or missing rows. A warning says that rows may be missing or old, or
/// that the server was killed, and as of which LSN it is read. `Table.notes` has the same text.
///
/// keyring: MySQL's keyring, the configuration of its component, or a list of keys.
/// key_file, key_file_password_file: MariaDB's key file or a list of keys, and the file with its password.
/// defaults_file: the server's option file, which says where keys and files are.
/// innodb_directories: directories with tables outside of the data directory.
/// incremental: the incremental backups by mariadb-backup on `datadir`, which is their base, oldest first. None of them
///     is prepared, and nothing is written.
/// prepared: what becomes of prepared transactions that no binary log in the directory has: "commit" shows their
///     changes, "rollback" takes them back, "refuse" reads nothing. Those of XA PREPARE are taken back except with
///     "commit".
#[pyfunction]
#[pyo3(signature = (path, *, datadir=None, keyring=None, key_file=None, key_file_password_file=None,
                    defaults_file=None, innodb_directories=Vec::new(), incremental=Vec::new(),
                    prepared="refuse", force=false))]
#[expect(clippy::too_many_arguments, reason = "named arguments of Python")]
pub fn open(
    py: Python<'_>,
    path: PathBuf,
    datadir: Option<PathBuf>,
    keyring: Option<PathBuf>,
    key_file: Option<PathBuf>,
    key_file_password_file: Option<PathBuf>,
    defaults_file: Option<PathBuf>,
    innodb_directories: Vec<PathBuf>,
    incremental: Vec<PathBuf>,
    prepared: &str,
    force: bool,
) -> PyResult<Table> {
    let places = Places {
        datadir,
        keyring,
        key_file,
        key_file_password_file,
        defaults_file,
        innodb_directories,
        incremental,
        prepared: prepared_of(prepared)?,
        force,
    };
    let source = Source { path, places };
    let table = run(py, &Shared::default(), None, || source.open())?;
    for note in &table.notes.rows {
        warn(py, note)?;
    }
    Ok(Table::new(source, table))
}

/// The names of all tables of a data directory or backup, `db.table`, those of the server's own databases not
/// among them. A table that cannot be read gives a warning that says why. The arguments are those of `open`.
#[pyfunction]
#[pyo3(signature = (datadir, *, keyring=None, key_file=None, key_file_password_file=None, defaults_file=None,
                    innodb_directories=Vec::new(), incremental=Vec::new(), prepared="refuse", force=false))]
#[expect(clippy::too_many_arguments, reason = "named arguments of Python")]
pub fn catalog(
    py: Python<'_>,
    datadir: PathBuf,
    keyring: Option<PathBuf>,
    key_file: Option<PathBuf>,
    key_file_password_file: Option<PathBuf>,
    defaults_file: Option<PathBuf>,
    innodb_directories: Vec<PathBuf>,
    incremental: Vec<PathBuf>,
    prepared: &str,
    force: bool,
) -> PyResult<Vec<String>> {
    let places = Places {
        datadir: None,
        keyring,
        key_file,
        key_file_password_file,
        defaults_file,
        innodb_directories,
        incremental,
        prepared: prepared_of(prepared)?,
        force,
    };
    let listing = run(py, &Shared::default(), None, || {
        let keys = places.keys()?;
        Listing::of(&datadir, &Filter::all(), |root| places.catalog(root, keys.clone()))
    })?;
    for unlisted in &listing.unlisted {
        warn(py, &remedies::reason(unlisted))?;
    }
    let mut names = Vec::new();
    for object in listing.objects.iter().filter(|object| !object.is_system) {
        let item = &object.listed.item;
        if item.kind != ItemKind::Table {
            continue;
        }
        let name = format!("{}.{}", item.database, item.name);
        match &object.error {
            Some(reason) => {
                warn(py, &format!("{name} cannot be read: {}", remedies::reason(reason)))?;
            }
            None => names.push(name),
        }
    }
    Ok(names)
}

/// The choice for prepared transactions.
fn prepared_of(word: &str) -> PyResult<Prepared> {
    word.parse().map_err(|why| PyValueError::new_err(format!("prepared is {why}")))
}

/// Gives a warning of the class `innoscan.InnoscanWarning`, at the line that called this module.
pub fn warn(py: Python<'_>, what: &str) -> PyResult<()> {
    let class = py.import("innoscan.errors")?.getattr("InnoscanWarning")?;
    py.import("warnings")?.call_method1("warn", (what, class, 1))?;
    Ok(())
}

/// The error of a result, as Python's.
pub fn raised<T>(py: Python<'_>, result: Result<T>) -> PyResult<T> {
    result.map_err(|error| to_python(py, &error))
}
