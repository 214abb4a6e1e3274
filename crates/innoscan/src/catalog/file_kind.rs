//! What a file of InnoDB is, by its name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use innoscan_format::schema::filename;

/// What an `.ibd` file is, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// All of a table.
    Table,
    /// A partition of this table.
    Partition(String),
    /// A part of a FULLTEXT index.
    FullText,
    /// Left over from an ALTER TABLE that was cut short.
    LeftOver,
}

impl FileKind {
    /// The kind of a path; `None`: it is no `.ibd` file.
    pub fn of(path: &Path) -> Option<FileKind> {
        path.extension().filter(|extension| *extension == "ibd")?;
        let stem = path.file_stem()?.to_string_lossy();
        let file = filename::decode_table(&stem);
        Some(match file.partition {
            _ if is_fulltext(&stem) => FileKind::FullText,
            _ if stem.starts_with("#sql") => FileKind::LeftOver,
            Some(_) => FileKind::Partition(file.table),
            None => FileKind::Table,
        })
    }
}

/// The database whose directory has this name.
pub fn database_of(directory: &OsStr) -> String {
    filename::decode(&directory.to_string_lossy())
}

/// The directory that a database's files are in, below its server's.
pub fn directory_of(root: &Path, database: &str) -> PathBuf {
    root.join(filename::encode(database))
}

/// `FTS_0000000000000437_BEING_DELETED` and its kin (`fts0fts.cc`).
pub(crate) fn is_fulltext(stem: &str) -> bool {
    let Some(rest) = stem.get(..4).filter(|head| head.eq_ignore_ascii_case("fts_")) else {
        return false;
    };
    let id = stem.get(rest.len()..rest.len() + 16);
    id.is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_names() {
        for (name, kind) in [
            ("orders.ibd", Some(FileKind::Table)),
            ("d/parts#P#p0.ibd", Some(FileKind::Partition("parts".to_owned()))),
            ("FTS_0000000000000437_BEING_DELETED.ibd", Some(FileKind::FullText)),
            ("fts_notes.ibd", Some(FileKind::Table)),
            ("#sql-ib12.ibd", Some(FileKind::LeftOver)),
            ("orders.frm", None),
        ] {
            assert_eq!(FileKind::of(Path::new(name)), kind, "{name}");
        }
    }
}
