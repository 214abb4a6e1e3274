//! Tables that another connection has locked by `FLUSH TABLES ... FOR EXPORT`.
//!
//! The server has written a `.cfg` beside each of their files. As long as the same `.cfg` file exists,
//! the lock has not been released: the server removes the file on release, and writes a new one for a
//! new lock.

use std::path::PathBuf;

use innoscan_engine::{Error, FileStamp, Remedy, Result, Table};

/// The evidence that another connection holds tables: their `.cfg` files.
#[derive(Debug)]
pub struct OthersLock {
    notes: Vec<(PathBuf, FileStamp)>,
}

impl OthersLock {
    /// Records the `.cfg` file of each table.
    ///
    /// # Errors
    /// If one is missing: the table is not locked.
    pub fn of(tables: &[Table]) -> Result<OthersLock> {
        let files = tables.iter().flat_map(|table| &table.files);
        let note = |path: PathBuf| match FileStamp::of(&path) {
            Ok(stamp) => Ok((path, stamp)),
            Err(_) => Err(not_held(&path)),
        };
        let notes = files.map(|file| note(file.path.with_extension("cfg")));
        Ok(OthersLock { notes: notes.collect::<Result<_>>()? })
    }

    /// Checks that all tables have been locked since.
    ///
    /// # Errors
    /// If one was released.
    pub fn confirm(&self) -> Result<()> {
        let is_as_it_was = |(path, stamp): &&(PathBuf, FileStamp)| {
            FileStamp::of(path).is_ok_and(|now| now == *stamp)
        };
        match self.notes.iter().find(|note| !is_as_it_was(note)) {
            Some((path, _)) => Err(not_held(path)),
            None => Ok(()),
        }
    }
}

fn not_held(note: &std::path::Path) -> Error {
    Error::refused(
        "its table is not locked by FLUSH TABLES ... FOR EXPORT, or the lock was released meanwhile: the \
         rows read are not kept",
        ["hold it until the dump is complete".into(), Remedy::ChangeLockMode],
    )
    .in_file(note)
}
