//! The files of the partitions of a table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_engine::keys::Keys;
use innoscan_engine::{Error, Remedy, Result};
use innoscan_format::schema::{Partitioning, TableDef, filename};
use innoscan_io::directory_with;

use super::{sorted_entries, stem};

/// The partitions in their order, each with the one of `files` that is its own.
pub(super) fn partition_paths(
    files: Vec<PathBuf>,
    partitioning: &Partitioning,
) -> Vec<(String, Option<PathBuf>)> {
    // Servers differ in the case of `#p#` and of the names after it.
    let mut by_name: HashMap<String, PathBuf> = HashMap::new();
    for path in files {
        let file = filename::decode_table(&stem(&path));
        if let Some(partition) = &file.partition {
            by_name.insert(partition_key(partition, file.subpartition.as_deref()), path);
        }
    }
    let mut paths = Vec::new();
    for partition in &partitioning.partitions {
        let subpartitions: Vec<Option<&str>> = match &partition.subpartitions[..] {
            [] => vec![None],
            names => names.iter().map(|name| Some(&**name)).collect(),
        };
        for subpartition in subpartitions {
            let found = by_name.remove(&partition_key(&partition.name, subpartition));
            paths.push((subpartition.unwrap_or(&partition.name).to_owned(), found));
        }
    }
    paths
}

/// The error of a partition whose file is not there.
pub(super) fn no_partition(name: &str, def: &TableDef, beside: &Path) -> Error {
    Error::refused(
        format!("the file of partition `{name}` of `{}` is missing", def.name),
        [
            "restore it beside the others, or name the partitions' .ibd files one by one".into(),
            Remedy::NameDirectories,
        ],
    )
    .in_file(directory_with(beside))
}

/// The end of the name of a file that MySQL makes for a partition that it changes (`dict_name::TMP_POSTFIX`,
/// dict0dd.h, MySQL 8.0).
const BEING_MADE: &str = "#tmp";

/// The `.ibd` files of a table's partitions, in the order of their names, but for those that were being made.
pub(super) fn partition_files(dir: &Path, table: &str, keys: &Keys) -> Result<Vec<PathBuf>> {
    let mut files = sorted_entries(dir, keys)?;
    files.retain(|path| {
        let file = filename::decode_table(&stem(path));
        let is_ibd = path.extension().is_some_and(|extension| extension == "ibd");
        is_ibd && file.partition.is_some() && file.table == table
    });
    // What an `ALTER TABLE` was making, of which nothing may have been written, comes last.
    files.sort_by_key(|path| stem(path).ends_with(BEING_MADE));
    Ok(files)
}

fn partition_key(partition: &str, subpartition: Option<&str>) -> String {
    format!("{}\0{}", partition, subpartition.unwrap_or_default()).to_lowercase()
}
