//! Files that are named one by one, as a shell's `*.ibd` names them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use innoscan::catalog::{Catalog, FileKind, TableName};
use innoscan::{Error, Result, Table, counted};

/// A table that was named, or why it cannot be read.
pub(super) struct Source {
    pub named: String,
    pub table: Result<Table>,
}

/// The tables of the sources, each once: files of its partitions stand for one table, and files of
/// its FULLTEXT indexes for none. What was passed over is noted, and unless `quiet` what was put
/// together.
pub(super) fn tables(catalog: &Catalog, sources: &[String], quiet: bool) -> Vec<Source> {
    let mut found = Vec::new();
    let mut partitions: BTreeMap<(PathBuf, String), Vec<&String>> = BTreeMap::new();
    let mut passed_over = 0;
    for source in sources {
        let path = Path::new(source);
        match FileKind::of(path).filter(|_| sources.len() > 1 && path.is_file()) {
            Some(FileKind::FullText | FileKind::LeftOver) => passed_over += 1,
            Some(FileKind::Partition(table)) => {
                let directory = path.parent().unwrap_or(Path::new("")).to_owned();
                partitions.entry((directory, table)).or_default().push(source);
            }
            _ => found.push(Source { named: source.clone(), table: catalog.table(source) }),
        }
    }
    for ((directory, table), files) in partitions {
        match (&files[..], whole_table(catalog, &directory, &table)) {
            ([one], _) => {
                found.push(Source { named: (*one).clone(), table: catalog.table(one) });
            }
            (_, read) => {
                if !quiet {
                    note!(
                        "innoscan: note: {table}: {} files of its partitions are one table",
                        files.len()
                    );
                }
                found.push(Source { named: table, table: read });
            }
        }
    }
    if passed_over > 0 {
        note!(
            "innoscan: note: not dumped: {}, by their names parts of FULLTEXT indexes or left over \
             from an ALTER TABLE",
            counted(passed_over, "file")
        );
    }
    found
}

/// A table of partitions by the directory its files are in.
fn whole_table(catalog: &Catalog, directory: &Path, table: &str) -> Result<Table> {
    let failed = |error| Error::read("looking for it", error).in_file(directory);
    let place = if directory == Path::new("") { Path::new(".") } else { directory };
    let place = std::fs::canonicalize(place).map_err(failed)?;
    let (Some(root), Some(schema)) = (place.parent(), place.file_name()) else {
        return Err(Error::refused(
            "the file is in no database's directory",
            "name one of its files",
        ));
    };
    let schema = innoscan::catalog::database_of(schema);
    catalog.in_directory(root).named(&TableName { schema, table: table.to_owned() })
}

/// Why there is nothing to dump in a directory.
pub(super) fn nothing_in(directory: &Path) -> Error {
    let place = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let has_tables = std::fs::read_dir(&place).into_iter().flatten().flatten().any(|entry| {
        entry.path().extension().is_some_and(|extension| extension == "ibd" || extension == "frm")
    });
    match (place.parent(), place.file_name()) {
        (Some(root), Some(name)) if has_tables => Error::refused(
            format!("{} is the directory of one database", directory.display()),
            format!(
                "name the data directory: innoscan dump {} -B {}",
                root.display(),
                innoscan::catalog::database_of(name)
            ),
        ),
        _ => Error::refused(
            "there is nothing to dump",
            "see --databases, --tables-list and --ignore-table",
        ),
    }
}
