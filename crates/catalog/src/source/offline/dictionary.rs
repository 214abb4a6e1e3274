//! The plan of a directory of MySQL 8 or later, by its dictionary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use innoscan_engine::file_head::FileHead;
use innoscan_engine::keys::Keys;
use innoscan_engine::{Error, ErrorKind, Remedy, Result};
use innoscan_format::schema::{TableDef, filename, from_sdi};

use super::heads::{self, Heads};
use super::{Planner, database_directories};
use crate::catalog::{AlreadyRead, TableName, UnderWayTables, sorted_entries, stem};
use crate::ledger::{ItemKind, Listed};
use crate::source::mysql_dictionary::{
    DictionaryTable, DictionaryTableKind, MysqlDictionary, TableLocation,
};
use crate::source::table_files::{TableFiles, is_data_file_of, tables_in};

/// The kinds of objects that a dictionary lists.
const LISTED: [ItemKind; 7] = [
    ItemKind::Database,
    ItemKind::Table,
    ItemKind::View,
    ItemKind::Trigger,
    ItemKind::Function,
    ItemKind::Procedure,
    ItemKind::Event,
];

pub(super) fn plan(planner: &mut Planner<'_>) -> Result<()> {
    let dictionary = match MysqlDictionary::read(
        planner.root,
        planner.catalog.undo_logs()?,
        planner.catalog.keys(),
    ) {
        Ok(dictionary) => dictionary,
        Err(error) => {
            planner.unlisted(&LISTED, &error);
            planner.unlisted(&[ItemKind::User], &error);
            return files_alone(planner);
        }
    };
    for schema in dictionary.schemata() {
        if !planner.enter_database(schema)? {
            continue;
        }
        let is_listed = |table: &&DictionaryTable| {
            table.schema == *schema && table.kind == DictionaryTableKind::Table
        };
        let tables: Vec<&DictionaryTable> = dictionary.tables().filter(is_listed).collect();
        let mut heads = heads_of(planner, &tables)?;
        for listed in tables {
            table(planner, listed, &mut heads)?;
        }
    }
    strays(planner, &dictionary)?;
    let found = dictionary.objects(|database| planner.has_database(database));
    planner.objects(found)
}

/// The heads of the files of those selected tables that have one file each.
fn heads_of(planner: &Planner<'_>, tables: &[&DictionaryTable]) -> Result<Heads> {
    let mut wanted = Vec::new();
    for table in tables {
        let is_alone = table.engine.as_deref() == Some("InnoDB")
            && table.partitions.is_empty()
            && is_in_own_file(&table.location);
        if is_alone && planner.filter.excluded_by(&listed(table))?.is_none() {
            wanted.push(TableName { schema: table.schema.clone(), table: table.name.clone() });
        }
    }
    heads::read(planner, wanted)
}

fn listed(table: &DictionaryTable) -> Listed {
    let mut listed = Listed::table(&table.schema, &table.name, table.engine.clone());
    listed.partitions = table.partitions.iter().map(|part| part.name.clone()).collect();
    listed
}

fn table(planner: &mut Planner<'_>, table: &DictionaryTable, heads: &mut Heads) -> Result<()> {
    let head = heads.remove(&table.name);
    planner.table(listed(table), |planner| open(planner, table, head))
}

fn open(
    planner: &mut Planner<'_>,
    table: &DictionaryTable,
    head: Option<(FileHead, Option<TableDef>)>,
) -> Result<()> {
    let name = TableName { schema: table.schema.clone(), table: table.name.clone() };
    if table.engine.as_deref() != Some("InnoDB") {
        let stem =
            planner.root.join(filename::encode(&name.schema)).join(filename::encode(&name.table));
        return planner.open_other(definition_in_sdi_file(&stem)?, &stem);
    }
    let opened =
        planner.open_innodb(&name, Some(AlreadyRead { frm: None, head, may_be_exported: true }));
    match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(not_found(&table.location, error)),
        opened => opened,
    }
}

/// The error of a table whose file is not found, with the place that the dictionary names.
fn not_found(location: &TableLocation, error: Error) -> Error {
    let why = match (location, location.data_directory_file()) {
        (_, Some(file)) => {
            format!("its rows lie outside the data directory, at {}", file.display())
        }
        (TableLocation::General { tablespace, file: Some(file) }, _) => {
            let file = file.display();
            format!(
                "its rows are in the general tablespace `{tablespace}`, whose file {file} is not found"
            )
        }
        _ => return error,
    };
    Error::refused(why, Remedy::NameDirectories)
}

/// Whether the rows are in a file beside those of the database.
fn is_in_own_file(location: &TableLocation) -> bool {
    matches!(location, TableLocation::FilePerTable { .. })
        && location.data_directory_file().is_none()
}

/// The definition of a table of an engine other than InnoDB: `NAME_ID.sdi` beside its files
/// (`sdi_file.cc`, MySQL 8.0).
fn definition_in_sdi_file(table: &Path) -> Result<TableDef> {
    let wanted = format!("{}_", table.file_name().unwrap_or_default().to_string_lossy());
    let is_of_table = |path: &PathBuf| {
        let stem = stem(path);
        let id = stem.strip_prefix(&wanted);
        path.extension().is_some_and(|extension| extension == "sdi")
            && id.is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let dir = table.parent().unwrap_or(Path::new("."));
    let Some(sdi) = sorted_entries(dir, &Keys::default())?.into_iter().find(is_of_table) else {
        return Err(Error::refused(
            "the .sdi file with its definition is missing",
            "restore it beside the table's other files",
        )
        .in_file(table));
    };
    let json =
        std::fs::read(&sdi).map_err(|error| Error::read("reading it", error).in_file(&sdi))?;
    from_sdi(&json).map_err(|error| Error::from(error).in_file(&sdi))
}

/// Enters data files that are not in the dictionary, and that the server would not remove or rename when it starts.
fn strays(planner: &mut Planner<'_>, dictionary: &MysqlDictionary) -> Result<()> {
    let known: BTreeSet<(String, String)> = dictionary
        .tables()
        .map(|table| (table.schema.to_lowercase(), table.name.to_lowercase()))
        .collect();
    for (schema, dir) in database_directories(planner.root, planner.catalog.keys())? {
        if !planner.has_database(&schema) {
            continue;
        }
        // A directory that cannot be listed fails each of its tables elsewhere.
        let Ok(entries) = sorted_entries(&dir, planner.catalog.keys()) else { continue };
        for TableFiles { name, .. } in tables_in(&schema, &entries, &UnderWayTables::default())? {
            if known.contains(&(name.schema.to_lowercase(), name.table.to_lowercase())) {
                continue;
            }
            if is_left_over(planner, dictionary, &entries, &name.table) {
                continue;
            }
            planner.table(Listed::table(&name.schema, &name.table, None), |_| {
                Err(Error::refused(
                    "the server's dictionary does not know the files of its rows",
                    "take them away, or name the .ibd file to dump it by itself",
                ))
            })?;
        }
    }
    Ok(())
}

/// Whether a killed server would remove or rename all files of this name when it starts.
fn is_left_over(
    planner: &Planner<'_>,
    dictionary: &MysqlDictionary,
    entries: &[PathBuf],
    name: &str,
) -> bool {
    let files: Vec<&PathBuf> = entries.iter().filter(|path| is_data_file_of(path, name)).collect();
    let removed = || dictionary.removed_files();
    // What cannot be read is entered as what the dictionary does not know.
    planner.catalog.are_left_over(&files, removed).unwrap_or(false)
}

/// The tables by the files in the directories, where the dictionary cannot be read.
fn files_alone(planner: &mut Planner<'_>) -> Result<()> {
    for (schema, dir) in database_directories(planner.root, planner.catalog.keys())? {
        if !planner.enter_database(&schema)? {
            continue;
        }
        let entries = sorted_entries(&dir, planner.catalog.keys())?;
        for TableFiles { name, .. } in tables_in(&schema, &entries, &UnderWayTables::default())? {
            let listed = Listed::table(&name.schema, &name.table, None);
            planner.table(listed, |planner| planner.open_innodb(&name, None))?;
        }
    }
    Ok(())
}
