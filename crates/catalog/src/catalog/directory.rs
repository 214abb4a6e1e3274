//! A data directory that was checked, with the facts that its server keeps outside of its tables.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use innoscan_engine::keys::Keys;
use innoscan_engine::{Error, Result};
use innoscan_format::schema::dictionary::{Dictionary, dictionary_name};
use innoscan_format::schema::filename;
use innoscan_format::schema::tablespaces::TablespacesTable;
use innoscan_format::{IndexId, SpaceId};

use super::TableName;
use super::known::Known;
use super::under_way::UnderWay;
use crate::auto_increment::{self, Counters};
use crate::data_files::DataFiles;
use crate::datadir::{DataDir, Trust};
use crate::dictionary;
use crate::undo::listed_tablespaces;

/// A data directory that was checked, and its dictionary.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    pub datadir: DataDir,
    /// The dictionary of servers with `.frm` files.
    pub dictionary: Known<Dictionary>,
    /// The `AUTO_INCREMENT` counters of servers with SDI.
    pub counters: Known<Counters>,
    /// The tablespaces that the dictionary of a killed server with SDI lists.
    pub listed: Known<ListedSpaces>,
    /// What a killed MariaDB server had not finished.
    pub under_way: Known<UnderWay>,
}

/// The tablespaces that a dictionary lists.
#[derive(Debug, Default)]
pub(super) struct ListedSpaces {
    pub ids: HashSet<SpaceId>,
    by_name: HashMap<String, SpaceId>,
}

impl ListedSpaces {
    /// The name of a tablespace.
    pub fn name_of(&self, space: SpaceId) -> Option<&str> {
        let mut named = self.by_name.iter().filter(|(_, known)| **known == space);
        named.next().map(|(name, _)| &**name)
    }
}

impl Directory {
    /// Checks a directory and reads its dictionary.
    pub fn open(root: &Path, files: &DataFiles, trust: Trust, keys: &Keys) -> Result<Directory> {
        let datadir = DataDir::open(root, files, trust, keys)?;
        let dictionary = dictionary_of(&datadir, trust, keys);
        let datadir = match datadir.emptied() {
            [] => datadir,
            tables => {
                let indexes = emptied_indexes(&dictionary, tables)
                    .map_err(|error| error.in_file(datadir.root()))?;
                datadir.with_emptied(indexes)
            }
        };
        Ok(Directory {
            under_way: match datadir.is_crashed() {
                true => Known::of(UnderWay::read(datadir.root(), dictionary.get())),
                false => Known::Nothing,
            },
            dictionary,
            counters: counters_of(&datadir, trust, keys),
            listed: listed_spaces(&datadir, keys),
            datadir,
        })
    }

    /// The tablespace that the dictionary of a killed server has for a table of its own file, whose file's name is or
    /// should be `stem`.
    pub fn space_of(&self, name: &TableName, stem: &str) -> Option<SpaceId> {
        if !self.datadir.is_crashed() {
            return None;
        }
        if let Some(listed) = self.listed.get() {
            let mut file = filename::decode_table(stem);
            // A table that was rebuilt may not have its file's name yet.
            file.table.clone_from(&name.table);
            return listed.by_name.get(&file.tablespace(&name.schema)).copied();
        }
        let name = self.dictionary_name(&name.schema, &name.table, stem);
        self.dictionary.get()?.table(&name).map(|table| table.space)
    }

    /// The name in InnoDB's dictionary of a table or partition whose file's name is `stem`.
    pub fn dictionary_name(&self, schema: &str, table: &str, stem: &str) -> String {
        let under_way = self.under_way.get().and_then(|found| found.name(schema, table));
        match under_way {
            Some(name) => dictionary_name(schema, name),
            // A table that was rebuilt may not have its file's name yet.
            None if stem.starts_with("#sql") => dictionary_name(schema, &filename::encode(table)),
            None => dictionary_name(schema, stem),
        }
    }

    /// The file with the definition of a table, which by its name is in `frm`.
    pub fn definition<'p>(&'p self, frm: &'p Path, schema: &str, table: &str) -> &'p Path {
        let under_way = self.under_way.get();
        under_way.and_then(|found| found.definition(schema, table)).unwrap_or(frm)
    }
}

/// The dictionary of servers with `.frm` files, which keep foreign keys only in the system tablespace. A
/// running server writes to that, so it is not read when the server's tables are merely exported.
fn dictionary_of(datadir: &DataDir, trust: Trust, keys: &Keys) -> Known<Dictionary> {
    let is_sdi_era = datadir.root().join("mysql.ibd").is_file();
    match datadir.system_tablespace() {
        Some(system) if trust != Trust::Exported && !is_sdi_era => {
            Known::of(dictionary::read(system, datadir.undo_logs(), datadir.is_crashed(), keys))
        }
        _ => Known::Nothing,
    }
}

/// The clustered indexes of tables by their ids.
///
/// # Errors
/// The dictionary cannot be read.
fn emptied_indexes(dictionary: &Known<Dictionary>, tables: &[u64]) -> Result<HashSet<IndexId>> {
    let dictionary = match dictionary {
        Known::Read(dictionary) => dictionary,
        Known::Unreadable(error) => return Err(Error::from(error.reason())),
        Known::Nothing => {
            let why =
                "tables were empty before unfinished transactions, and no dictionary says which";
            return Err(innoscan_format::Error::schema(why).into());
        }
    };
    let known = dictionary.names().filter_map(|name| dictionary.table(name));
    let emptied = known.filter(|table| tables.contains(&table.id));
    Ok(emptied.filter_map(|table| table.clustered().map(|index| index.id)).collect())
}

/// The `AUTO_INCREMENT` counters, which a running server writes, and which are not read then.
fn counters_of(datadir: &DataDir, trust: Trust, keys: &Keys) -> Known<Counters> {
    let mysql = datadir.root().join("mysql.ibd");
    match trust != Trust::Exported && mysql.is_file() {
        true => Known::of(auto_increment::read_counters(&mysql, keys)),
        false => Known::Nothing,
    }
}

/// The tablespaces that the dictionary of a killed server lists, if it has `mysql.ibd`.
fn listed_spaces(datadir: &DataDir, keys: &Keys) -> Known<ListedSpaces> {
    let mysql_ibd = datadir.root().join("mysql.ibd");
    if !datadir.is_crashed() || !mysql_ibd.is_file() {
        return Known::Nothing;
    }
    let undo_logs = datadir.undo_logs();
    let listed = listed_tablespaces(&mysql_ibd, undo_logs, keys, TablespacesTable::space);
    Known::of(listed.map(|listed| ListedSpaces {
        ids: listed.iter().map(|listed| listed.space).collect(),
        by_name: listed.into_iter().map(|listed| (listed.name, listed.space)).collect(),
    }))
}
