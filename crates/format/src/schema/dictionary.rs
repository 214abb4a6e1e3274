//! InnoDB's own dictionary: the `SYS_` tables of MySQL 5.x and MariaDB.
//!
//! A `.frm` does not contain foreign keys, tablespaces or index roots; these tables do. They are
//! B-trees in the system tablespace, in ROW_FORMAT=REDUNDANT, and read like any other table:
//!
//! ```text
//! page 7 of ibdata1 ── DictionaryHeader ──> roots of SYS_TABLES, SYS_COLUMNS, SYS_INDEXES
//!   SYS_TABLES   name "db/table" ──> id, space
//!   SYS_INDEXES  table id, id    ──> name, space, root page
//!   SYS_FOREIGN, SYS_FOREIGN_COLS: ordinary tables, whose roots are in SYS_INDEXES
//! ```
//!
//! Names are file names (see [`filename`]): `db/a@0024b#P#p0`. The columns and their order are
//! those of dict0boot.cc and dict0crea.cc, the same in MySQL 5.0-5.7 and MariaDB 10.0-11.8.
//!
//! This module has the definitions of the tables and interprets their rows; the caller walks the
//! trees, adds each row to a [`Dictionary`] and queries it afterwards.

use std::collections::BTreeMap;

use super::{
    ColumnDef, ForeignKeyDef, ForeignKeyRule, IndexDef, IndexKind, IndexPart, IndexSource,
    InstantDefault, Physical, RowFormat, ServerVersion, StoredColumn, StoredSource, TableDef,
    TableOptions, filename,
};
use crate::charset::CollationId;
use crate::page::Page;
use crate::types::{ColumnType, IntWidth};
use crate::{Error, IndexId, PageNo, Result, SpaceId, bytes};

/// The system tablespace's page with the roots (`FSP_DICT_HDR_PAGE_NO`).
pub const HEADER_PAGE: PageNo = PageNo(7);

/// The name of the table of foreign keys.
pub const SYS_FOREIGN: &str = "SYS_FOREIGN";
/// The name of the table of foreign keys' columns.
pub const SYS_FOREIGN_COLS: &str = "SYS_FOREIGN_COLS";

/// The roots of the dictionary's fixed tables (`DICT_HDR_...`, dict0boot.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DictionaryHeader {
    /// Root of `SYS_TABLES`.
    pub tables: PageNo,
    /// Root of `SYS_COLUMNS`.
    pub columns: PageNo,
    /// Root of `SYS_INDEXES`.
    pub indexes: PageNo,
}

impl DictionaryHeader {
    /// Parses [`HEADER_PAGE`] of the system tablespace.
    pub fn parse(page: &Page<'_>) -> Result<DictionaryHeader> {
        const HEADER: usize = 38;
        let root = |at: usize| bytes::u32_at(page.bytes(), HEADER + at).map(PageNo);
        Ok(DictionaryHeader { tables: root(32)?, columns: root(40)?, indexes: root(44)? })
    }
}

/// A table of the dictionary that this module interprets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemTable {
    /// `SYS_TABLES`: a row for each table and partition.
    Tables,
    /// `SYS_COLUMNS`: a row for each column.
    Columns,
    /// `SYS_INDEXES`: a row for each index.
    Indexes,
    /// `SYS_FOREIGN`: a row for each foreign key.
    Foreign,
    /// `SYS_FOREIGN_COLS`: a row for each column of a foreign key.
    ForeignCols,
}

impl SystemTable {
    /// Returns the definition, for compiling a layout with [`RowFormat::Redundant`].
    pub fn def(self) -> TableDef {
        let (name, n_key, columns) = self.columns();
        let server = ServerVersion::from_number(50_700);
        let mut def =
            TableDef::new("", name, server, TableOptions::new("InnoDB", CollationId::BINARY));
        def.columns = columns
            .iter()
            .map(|(name, ty)| {
                let mut column = ColumnDef::new(*name, ty.clone());
                column.nullable = false;
                column
            })
            .collect();
        let parts = (0..n_key)
            .map(|place| IndexPart {
                source: IndexSource::Column(place),
                prefix_chars: None,
                descending: false,
            })
            .collect();
        def.indexes.push(IndexDef::new("PRIMARY", IndexKind::Primary, parts));
        if self == SystemTable::Indexes {
            def.physical = late_last_column(&mut def);
        }
        def.physical.row_format = Some(RowFormat::Redundant);
        def
    }

    fn columns(self) -> (&'static str, usize, Vec<(&'static str, ColumnType)>) {
        let name = ColumnType::VarBinary { bytes: 65535 };
        let id = ColumnType::Binary { bytes: 8 };
        let int = four_byte_int();
        match self {
            SystemTable::Tables => (
                "SYS_TABLES",
                1,
                vec![
                    ("NAME", name.clone()),
                    ("ID", id.clone()),
                    ("N_COLS", int.clone()),
                    ("TYPE", int.clone()),
                    ("MIX_ID", id),
                    ("MIX_LEN", int.clone()),
                    ("CLUSTER_NAME", name),
                    ("SPACE", int),
                ],
            ),
            SystemTable::Columns => (
                "SYS_COLUMNS",
                2,
                vec![
                    ("TABLE_ID", id),
                    ("POS", int.clone()),
                    ("NAME", name),
                    ("MTYPE", int.clone()),
                    ("PRTYPE", int.clone()),
                    ("LEN", int.clone()),
                    ("PREC", int),
                ],
            ),
            SystemTable::Indexes => (
                "SYS_INDEXES",
                2,
                vec![
                    ("TABLE_ID", id.clone()),
                    ("ID", id),
                    ("NAME", name),
                    ("N_FIELDS", int.clone()),
                    ("TYPE", int.clone()),
                    ("SPACE", int.clone()),
                    ("PAGE_NO", int.clone()),
                    ("MERGE_THRESHOLD", int),
                ],
            ),
            SystemTable::Foreign => (
                SYS_FOREIGN,
                1,
                vec![
                    ("ID", name.clone()),
                    ("FOR_NAME", name.clone()),
                    ("REF_NAME", name),
                    ("N_COLS", int),
                ],
            ),
            SystemTable::ForeignCols => (
                SYS_FOREIGN_COLS,
                2,
                vec![
                    ("ID", name.clone()),
                    ("POS", int),
                    ("FOR_COL_NAME", name.clone()),
                    ("REF_COL_NAME", name),
                ],
            ),
        }
    }
}

fn four_byte_int() -> ColumnType {
    ColumnType::Int { width: IntWidth::Four, unsigned: true, zerofill: false, display_width: None }
}

/// Returns the storage of a table whose last column is missing in old rows, like after an instant
/// ADD: MySQL 5.7 and MariaDB 10.2 added `MERGE_THRESHOLD` to existing tables.
fn late_last_column(def: &mut TableDef) -> Physical {
    let last = def.columns.len().saturating_sub(1);
    if let Some(column) = def.columns.last_mut() {
        column.nullable = true;
    }
    let stored = (0..def.columns.len())
        .map(|place| StoredColumn {
            source: StoredSource::Column(place),
            physical_pos: None,
            version_added: 0,
            version_dropped: None,
            default: (place == last).then_some(InstantDefault::Null),
        })
        .collect();
    Physical { instant_columns: u16::try_from(last).ok(), stored, ..Physical::default() }
}

/// A row of a system table: its columns in the order of [`SystemTable::def`], as stored.
pub type Row<'a> = [Option<&'a [u8]>];

/// A table or partition of InnoDB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DictionaryTable {
    /// InnoDB's table id.
    pub id: u64,
    /// Tablespace id; 0 is the system tablespace.
    pub space: SpaceId,
    /// Whether `ALTER TABLE ... DISCARD TABLESPACE` removed the file.
    pub is_discarded: bool,
    /// The transaction that changed the table, its indexes, or, where these were read, its columns last
    /// (`dict_load_table_low`, `dict_load_index_low`, `dict_load_column_low`, dict0load.cc, MariaDB 10.11).
    pub trx_id: u64,
    /// The indexes, in the order of their ids; the clustered one is first.
    pub indexes: Vec<DictionaryIndex>,
}

impl DictionaryTable {
    /// Returns the clustered index, which holds the rows.
    pub fn clustered(&self) -> Option<&DictionaryIndex> {
        self.indexes.iter().find(|index| index.clustered)
    }
}

/// An index of InnoDB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DictionaryIndex {
    /// Index id, as on the index's pages.
    pub id: IndexId,
    /// Index name; an index whose creation did not finish begins with a byte FF.
    pub name: String,
    /// Whether the index is clustered, and holds the rows.
    pub clustered: bool,
    /// Tablespace id of the index.
    pub space: SpaceId,
    /// Root page; `None` for a full-text index, which has no tree.
    pub root: Option<PageNo>,
}

/// The dictionary, collected from the rows of the system tables.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    tables: BTreeMap<String, TableRow>,
    indexes: BTreeMap<u64, Vec<DictionaryIndex>>,
    /// The newest transaction that changed a column of a table, or made or dropped an index.
    part_trx_ids: BTreeMap<u64, u64>,
    /// Foreign keys by their ids, in the order in which they print.
    foreign: BTreeMap<Vec<u8>, Foreign>,
}

#[derive(Clone, Debug)]
struct TableRow {
    id: u64,
    space: SpaceId,
    is_discarded: bool,
    trx_id: u64,
}

#[derive(Clone, Debug, Default)]
struct Foreign {
    child: String,
    parent: String,
    rules: u8,
    n_columns: u32,
    columns: BTreeMap<u32, (String, String)>,
}

impl Dictionary {
    /// Creates an empty dictionary.
    pub fn new() -> Dictionary {
        Dictionary::default()
    }

    /// Adds a row of a system table, which the transaction `trx_id` wrote.
    pub fn add(&mut self, table: SystemTable, row: &Row<'_>, trx_id: u64) -> Result<()> {
        match table {
            SystemTable::Tables => {
                let space = SpaceId(number(row, 7)?);
                // In rows of tables in ROW_FORMAT=REDUNDANT of old servers MIX_LEN is arbitrary
                // (DICT_N_COLS_COMPACT, DICT_TF2_DISCARDED, dict0mem.h).
                let has_flags = number(row, 2)? >> 31 != 0;
                let is_discarded = has_flags && number(row, 5)? & 32 != 0;
                let found = TableRow { id: id(row, 1)?, space, is_discarded, trx_id };
                self.tables.insert(name(row, 0)?, found);
            }
            SystemTable::Columns => self.note_change(id(row, 0)?, trx_id),
            SystemTable::Indexes => {
                let index = DictionaryIndex {
                    id: IndexId(id(row, 1)?),
                    name: name(row, 2)?,
                    // DICT_CLUSTERED
                    clustered: number(row, 4)? & 1 != 0,
                    space: SpaceId(number(row, 5)?),
                    root: PageNo(number(row, 6)?).non_null(),
                };
                self.note_index(id(row, 0)?, &index.name, trx_id);
                self.indexes.entry(id(row, 0)?).or_default().push(index);
            }
            SystemTable::Foreign => {
                let foreign = self.foreign.entry(cell(row, 0)?.to_vec()).or_default();
                let n_columns = number(row, 3)?;
                foreign.child = name(row, 1)?;
                foreign.parent = name(row, 2)?;
                foreign.n_columns = n_columns & 0x3ff;
                foreign.rules = (n_columns >> 24) as u8;
            }
            SystemTable::ForeignCols => {
                let foreign = self.foreign.entry(cell(row, 0)?.to_vec()).or_default();
                foreign.columns.insert(number(row, 1)?, (name(row, 2)?, name(row, 3)?));
            }
        }
        Ok(())
    }

    /// Adds a row of a system table that the transaction `trx_id` deleted.
    pub fn add_deleted(&mut self, table: SystemTable, row: &Row<'_>, trx_id: u64) -> Result<()> {
        if table == SystemTable::Indexes {
            self.note_index(id(row, 0)?, &name(row, 2)?, trx_id);
        }
        Ok(())
    }

    /// Notes that a transaction made or dropped an index, other than one whose creation did not finish.
    fn note_index(&mut self, table: u64, index: &str, trx_id: u64) {
        // A byte FF is no text.
        if !index.starts_with(char::REPLACEMENT_CHARACTER) {
            self.note_change(table, trx_id);
        }
    }

    fn note_change(&mut self, table: u64, trx_id: u64) {
        let newest = self.part_trx_ids.entry(table).or_default();
        *newest = (*newest).max(trx_id);
    }

    /// Finds a table of InnoDB by the name in the dictionary: `db/table`, `db/t#P#p0`,
    /// `SYS_FOREIGN`.
    pub fn table(&self, name: &str) -> Option<DictionaryTable> {
        let row = self.tables.get(name)?;
        let mut indexes = self.indexes.get(&row.id).cloned().unwrap_or_default();
        indexes.sort_by_key(|index| index.id);
        let TableRow { id, space, is_discarded, trx_id } = *row;
        let trx_id = self.part_trx_ids.get(&id).copied().unwrap_or_default().max(trx_id);
        Some(DictionaryTable { id, space, is_discarded, trx_id, indexes })
    }

    /// Iterates over the names of all tables and partitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// Whether the table of this name in the dictionary has foreign keys.
    pub fn has_foreign_keys(&self, name: &str) -> bool {
        self.foreign.values().any(|foreign| foreign.child == name)
    }

    /// Returns the foreign keys of a table, in the order in which they print. `schema` and `table`
    /// are SQL names.
    pub fn foreign_keys(&self, schema: &str, table: &str) -> Result<Vec<ForeignKeyDef>> {
        let child = format!("{}/{}", filename::encode(schema), filename::encode(table));
        self.foreign
            .iter()
            .filter(|(_, foreign)| foreign.child == child)
            .map(|(id, foreign)| foreign.define(id))
            .collect()
    }
}

/// Returns the name of a table in the dictionary: `db/table`, encoded as file names.
pub fn dictionary_name(schema: &str, table_file_stem: &str) -> String {
    format!("{}/{table_file_stem}", filename::encode(schema))
}

/// Bits of `dict_foreign_t::type` (dict0mem.h). RESTRICT, the default of a key, has no bit.
const DELETE_CASCADE: u8 = 1;
const DELETE_SET_NULL: u8 = 2;
const UPDATE_CASCADE: u8 = 4;
const UPDATE_SET_NULL: u8 = 8;
const DELETE_NO_ACTION: u8 = 16;
const UPDATE_NO_ACTION: u8 = 32;

impl Foreign {
    fn define(&self, id: &[u8]) -> Result<ForeignKeyDef> {
        let name = constraint_name(id);
        if self.columns.len() != self.n_columns as usize || self.columns.is_empty() {
            return Err(Error::corrupt(format!(
                "the dictionary has {} columns of foreign key {name}, which has {}",
                self.columns.len(),
                self.n_columns
            )));
        }
        let (parent_schema, parent_table) = split_name(&self.parent)?;
        let (schema, _) = split_name(&self.child)?;
        let rule = |cascade: u8, set_null: u8, no_action: u8| match self.rules {
            rules if rules & cascade != 0 => ForeignKeyRule::Cascade,
            rules if rules & set_null != 0 => ForeignKeyRule::SetNull,
            rules if rules & no_action != 0 => ForeignKeyRule::NoAction,
            _ => ForeignKeyRule::Default,
        };
        Ok(ForeignKeyDef {
            name,
            columns: self.columns.values().map(|(column, _)| column.clone()).collect(),
            parent_schema: match parent_schema == schema {
                true => String::new(),
                false => filename::decode(parent_schema),
            },
            parent_table: filename::decode(parent_table),
            parent_columns: self.columns.values().map(|(_, column)| column.clone()).collect(),
            on_delete: rule(DELETE_CASCADE, DELETE_SET_NULL, DELETE_NO_ACTION),
            on_update: rule(UPDATE_CASCADE, UPDATE_SET_NULL, UPDATE_NO_ACTION),
            parent_not_unique: false,
        })
    }
}

/// Returns the name in a foreign key's id: `db/name`; in MariaDB 12.1 and later `db/table`, a byte
/// FF, `name`.
fn constraint_name(id: &[u8]) -> String {
    let separator = match id.contains(&0xff) {
        true => 0xff,
        false => b'/',
    };
    let name = id.splitn(2, |byte| *byte == separator).last().unwrap_or(id);
    String::from_utf8_lossy(name).into_owned()
}

fn split_name(name: &str) -> Result<(&str, &str)> {
    name.split_once('/')
        .ok_or_else(|| Error::corrupt(format!("the dictionary's name {name} has no database")))
}

fn cell<'a>(row: &Row<'a>, column: usize) -> Result<&'a [u8]> {
    row.get(column)
        .copied()
        .flatten()
        .ok_or_else(|| Error::corrupt(format!("column {column} of a dictionary row is missing")))
}

fn name(row: &Row<'_>, column: usize) -> Result<String> {
    Ok(String::from_utf8_lossy(cell(row, column)?).into_owned())
}

fn number(row: &Row<'_>, column: usize) -> Result<u32> {
    bytes::u32_at(cell(row, column)?, 0)
}

fn id(row: &Row<'_>, column: usize) -> Result<u64> {
    bytes::u64_at(cell(row, column)?, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(dictionary: &mut Dictionary, id: &[u8], child: &str, parent: &str, rules: u32) {
        let n_columns = (rules << 24 | 1).to_be_bytes();
        let row: &Row =
            &[Some(id), Some(child.as_bytes()), Some(parent.as_bytes()), Some(&n_columns)];
        dictionary.add(SystemTable::Foreign, row, 1).unwrap();
        let row: &Row = &[Some(id), Some(&[0, 0, 0, 0]), Some(b"pb"), Some(b"b")];
        dictionary.add(SystemTable::ForeignCols, row, 1).unwrap();
    }

    #[test]
    fn foreign_keys_by_table() {
        let mut dictionary = Dictionary::new();
        foreign(&mut dictionary, b"d/second", "d/fk@0020x", "d/p", 16 | 4);
        foreign(&mut dictionary, b"d/first", "d/fk@0020x", "e@0024/p", 2);
        foreign(&mut dictionary, b"d/fk@0020x\xffthird", "d/fk@0020x", "d/p", 0);
        foreign(&mut dictionary, b"d/other", "d/y", "d/p", 0);
        let keys = dictionary.foreign_keys("d", "fk x").unwrap();
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["first", "third", "second"]);
        assert_eq!(keys[0].parent_schema, "e$");
        assert_eq!(keys[0].on_delete, ForeignKeyRule::SetNull);
        assert_eq!(keys[2].parent_schema, "");
        assert_eq!(keys[2].on_delete, ForeignKeyRule::NoAction);
        assert_eq!(keys[2].on_update, ForeignKeyRule::Cascade);
        assert_eq!(keys[2].columns, ["pb"]);
        assert_eq!(keys[2].parent_columns, ["b"]);
    }

    #[test]
    fn roots_by_table() {
        let mut dictionary = Dictionary::new();
        let id = 18_u64.to_be_bytes();
        let number = |value: u32| value.to_be_bytes();
        let row: &Row = &[
            Some(b"d/t#P#p0"),
            Some(&id),
            Some(&number(3)),
            Some(&number(1)),
            Some(&id),
            Some(&number(80)),
            Some(b""),
            Some(&number(7)),
        ];
        dictionary.add(SystemTable::Tables, row, 1).unwrap();
        for (index, kind, root) in [(21_u64, 0, u32::MAX), (20, 3, 3)] {
            let row: &Row = &[
                Some(&id),
                Some(&index.to_be_bytes()),
                Some(b"PRIMARY"),
                Some(&number(1)),
                Some(&number(kind)),
                Some(&number(7)),
                Some(&number(root)),
                None,
            ];
            dictionary.add(SystemTable::Indexes, row, 1).unwrap();
        }
        let table = dictionary.table("d/t#P#p0").unwrap();
        assert_eq!((table.id, table.space), (18, SpaceId(7)));
        let clustered = table.clustered().unwrap();
        assert_eq!((clustered.id, clustered.root), (IndexId(20), Some(PageNo(3))));
        assert_eq!(table.indexes[1].root, None);
        assert!(dictionary.table("d/t").is_none());
    }
}
