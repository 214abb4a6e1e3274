//! The system tablespace, which alone can consist of several files (`innodb_data_file_path`).

use std::path::{Path, PathBuf};

use innoscan_io::{Direct, File};

use crate::Result;
use crate::keys::Keys;
use crate::space::Space;

/// The files of a system tablespace, in the order of their pages. Pages are numbered through all files, and only the
/// first file begins with a header (`srv0start.cc`, `fsp0sysspace.cc`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemTablespace {
    files: Vec<PathBuf>,
}

impl SystemTablespace {
    /// The tablespace of these files.
    pub fn new(first: PathBuf, others: impl IntoIterator<Item = PathBuf>) -> SystemTablespace {
        SystemTablespace { files: std::iter::once(first).chain(others).collect() }
    }

    /// The files, at least one.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The file with the header, which gives the tablespace its name in messages.
    pub fn first(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Opens the files as one tablespace.
    ///
    /// # Errors
    /// One of them cannot be opened, or the first has no valid header.
    pub fn open(&self, direct: Direct, keys: &Keys) -> Result<Space> {
        Space::new(self.open_files(direct, keys)?, keys)
    }

    pub(crate) fn open_files(&self, direct: Direct, keys: &Keys) -> Result<File> {
        match &*self.files {
            [only] => keys.open_file(only, direct),
            files => Ok(File::open_joined(files, direct)?),
        }
    }
}
