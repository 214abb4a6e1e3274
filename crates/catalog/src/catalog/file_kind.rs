//! Kinds of InnoDB files by their names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use innoscan_format::schema::filename;

/// The kind of an `.ibd` file, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A whole table.
    Table,
    /// A partition of the named table.
    Partition(String),
    /// A part of a FULLTEXT index.
    FullText,
    /// A leftover of an interrupted ALTER TABLE.
    LeftOver,
}

impl FileKind {
    /// The kind of a path; `None` for other files than `.ibd`.
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

/// The name of the database in a directory of this name.
pub fn database_of(directory: &OsStr) -> String {
    filename::decode(&directory.to_string_lossy())
}

/// The directory of a database's files, within the server's directory.
pub fn directory_of(root: &Path, database: &str) -> PathBuf {
    root.join(filename::encode(database))
}

/// Whether a file belongs to a FULLTEXT index: `FTS_0000000000000437_BEING_DELETED` and others
/// (`fts0fts.cc`).
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
