//! Files named one by one, as the shell expands `*.ibd`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use innoscan_catalog::catalog::{Catalog, FileKind, TableName};
use innoscan_engine::{Error, Result, Table, counted};
use innoscan_io::directory_with;

/// A table named on the command line, or the error from opening it.
pub(super) struct Source {
    pub named: String,
    pub table: Result<Table>,
}

/// The tables of the sources, each once: the files of all partitions are one table, and files of
/// FULLTEXT indexes are skipped. Notes skipped files and, unless `quiet`, combined partitions.
pub(super) fn tables(catalog: &Catalog, sources: &[String], quiet: bool) -> Vec<Source> {
    let mut found = Vec::new();
    let mut partitions: BTreeMap<(PathBuf, String), Vec<&String>> = BTreeMap::new();
    let mut passed_over = 0;
    for source in sources {
        let path = Path::new(source);
        match FileKind::of(path).filter(|_| sources.len() > 1 && path.is_file()) {
            Some(FileKind::FullText | FileKind::LeftOver) => passed_over += 1,
            Some(FileKind::Partition(table)) => {
                let directory = directory_with(path).to_owned();
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
                        "innoscan: note: {table}: {} partition files are read as one table",
                        files.len()
                    );
                }
                found.push(Source { named: table, table: read });
            }
        }
    }
    if passed_over > 0 {
        note!(
            "innoscan: note: not dumped: {}, by name parts of FULLTEXT indexes or leftovers of an \
             ALTER TABLE",
            counted(passed_over, "file")
        );
    }
    found
}

/// A partitioned table, found by the directory of its files.
fn whole_table(catalog: &Catalog, directory: &Path, table: &str) -> Result<Table> {
    let failed = |error| Error::read("cannot open", error).in_file(directory);
    let place = std::fs::canonicalize(directory).map_err(failed)?;
    let (Some(root), Some(schema)) = (place.parent(), place.file_name()) else {
        return Err(Error::refused(
            "the file is not in a database directory",
            "name one of its files",
        ));
    };
    let schema = innoscan_catalog::catalog::database_of(schema);
    catalog.in_directory(root).named(&TableName { schema, table: table.to_owned() })
}

/// The error for a directory without anything to dump.
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
                innoscan_catalog::catalog::database_of(name)
            ),
        ),
        _ => Error::refused(
            "there is nothing to dump",
            "see --databases, --tables-list and --ignore-table",
        ),
    }
}
