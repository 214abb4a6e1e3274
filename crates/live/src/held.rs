//! Tables that somebody else holds by `FLUSH TABLES ... FOR EXPORT`, from another connection.
//!
//! The server has put a `.cfg` beside each of their files. As long as that very file is there they
//! have been held all the while: whoever lets go has it taken away, and who locks anew has another
//! one made.

use std::path::PathBuf;

use innoscan::{Error, FileStamp, Remedy, Result, Table};

/// What tells that tables are held.
#[derive(Debug)]
pub struct HeldByOthers {
    notes: Vec<(PathBuf, FileStamp)>,
}

impl HeldByOthers {
    /// Looks at what is beside each table's files.
    ///
    /// # Errors
    /// When there is nothing: the table is not held.
    pub fn of(tables: &[Table]) -> Result<HeldByOthers> {
        let files = tables.iter().flat_map(|table| &table.files);
        let note = |path: PathBuf| match FileStamp::of(&path) {
            Ok(stamp) => Ok((path, stamp)),
            Err(_) => Err(not_held(&path)),
        };
        let notes = files.map(|file| note(file.path.with_extension("cfg")));
        Ok(HeldByOthers { notes: notes.collect::<Result<_>>()? })
    }

    /// Whether they have been held since.
    ///
    /// # Errors
    /// When one was let go of.
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
        "its table is not held by FLUSH TABLES ... FOR EXPORT, or was let go of meanwhile: what was \
         read is not kept",
        ["hold it until the dump is complete".into(), Remedy::ChangeLockMode],
    )
    .in_file(note)
}
