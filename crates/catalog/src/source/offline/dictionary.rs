//! The plan of a directory of MySQL 8 or later, by its dictionary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use innoscan_engine::file_head::FileHead;
use innoscan_engine::{Error, Result};
use innoscan_format::schema::{TableDef, filename, from_sdi};

use super::heads::{self, Heads};
use super::{Planner, database_directories};
use crate::catalog::{AlreadyRead, TableName, sorted_entries, stem};
use crate::ledger::{ItemKind, Listed};
use crate::source::mysql_dictionary::{
    DictionaryTable, DictionaryTableKind, MysqlDictionary, TableLocation,
};
use crate::source::table_files::{TableFiles, tables_in};

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
    let dictionary = match MysqlDictionary::read(planner.root, planner.catalog.keys()) {
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
        let is_in_own_file = table.engine.as_deref() == Some("InnoDB")
            && table.partitions.is_empty()
            && require_own_file(&table.location).is_ok();
        if is_in_own_file && planner.filter.excluded_by(&listed(table))?.is_none() {
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
    let parts = table.partitions.iter().map(|part| &part.location);
    let locations: Vec<&TableLocation> = match &table.partitions[..] {
        [] => vec![&table.location],
        _ => parts.collect(),
    };
    locations.into_iter().try_for_each(require_own_file)?;
    planner.open_innodb(&name, Some(AlreadyRead { frm: None, head, may_be_exported: true }))
}

/// Refuses rows that share a file with other tables, or lie outside the directory.
fn require_own_file(location: &TableLocation) -> Result<()> {
    let (where_, remedy) = match location {
        TableLocation::FilePerTable { .. } | TableLocation::NoTablespace => {
            return match location.data_directory_file() {
                None => Ok(()),
                Some(file) => Err(Error::refused(
                    format!("its rows lie outside the data directory, at {}", file.display()),
                    "name that .ibd file",
                )),
            };
        }
        TableLocation::General { tablespace, .. } => {
            (format!("in the general tablespace `{tablespace}`"), "innodb_file_per_table")
        }
        TableLocation::System => ("in the system tablespace".to_owned(), "innodb_file_per_table"),
    };
    Err(Error::refused(
        format!("its rows are {where_}, which is not read yet"),
        format!("on the server, ALTER TABLE ... TABLESPACE {remedy}, or dump it there"),
    ))
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
    let Some(sdi) = sorted_entries(dir)?.into_iter().find(is_of_table) else {
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

/// Enters data files that are not in the dictionary.
fn strays(planner: &mut Planner<'_>, dictionary: &MysqlDictionary) -> Result<()> {
    let known: BTreeSet<(String, String)> = dictionary
        .tables()
        .map(|table| (table.schema.to_lowercase(), table.name.to_lowercase()))
        .collect();
    for (schema, dir) in database_directories(planner.root)? {
        if !planner.has_database(&schema) {
            continue;
        }
        // A directory that cannot be listed fails each of its tables elsewhere.
        let Ok(entries) = sorted_entries(&dir) else { continue };
        for TableFiles { name, .. } in tables_in(&schema, &entries)? {
            if known.contains(&(name.schema.to_lowercase(), name.table.to_lowercase())) {
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

/// The tables by the files in the directories, where the dictionary cannot be read.
fn files_alone(planner: &mut Planner<'_>) -> Result<()> {
    for (schema, dir) in database_directories(planner.root)? {
        if !planner.enter_database(&schema)? {
            continue;
        }
        for TableFiles { name, .. } in tables_in(&schema, &sorted_entries(&dir)?)? {
            let listed = Listed::table(&name.schema, &name.table, None);
            planner.table(listed, |planner| planner.open_innodb(&name, None))?;
        }
    }
    Ok(())
}
