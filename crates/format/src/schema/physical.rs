//! Storage of the columns in the clustered index, for definitions that contain more than their
//! order.

use super::RowFormat;
use crate::types::ColumnType;
use crate::{IndexId, PageNo, SpaceId};

/// The storage of a table according to its definition. Everything is optional: a `.frm` has nothing
/// of it, an SDI everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Physical {
    /// Tablespace id, if in the definition.
    pub space: Option<SpaceId>,
    /// Index id and root page of the clustered index.
    pub clustered: Option<(IndexId, PageNo)>,
    /// InnoDB's table id (`se_private_id`), by which MySQL 8 stores its counters.
    pub table_id: Option<u64>,
    /// Number of DDL changes of the table (`version`); counters of another version are outdated.
    pub table_version: u64,
    /// Record format; `None` means that the FSP flags decide.
    pub row_format: Option<RowFormat>,
    /// MySQL 8.0.12-8.0.28 instant ADD: the number of columns (without virtual ones) before the
    /// first ADD (`instant_col` of the table's `se_private_data`).
    pub instant_columns: Option<u16>,
    /// MySQL 8.0.29+: the newest row version (0: none).
    pub row_version: u8,
    /// Columns that the clustered index stores or has stored, in the order of the dictionary: the
    /// stored ones of the table, a hidden `FTS_DOC_ID`, and those dropped by 8.0.29+ instant DROP;
    /// without `DB_ROW_ID`, `DB_TRX_ID` and `DB_ROLL_PTR`. Empty: exactly the columns of the table,
    /// in their order.
    pub stored: Vec<StoredColumn>,
    /// Differences from the above in each partition (or subpartition), in their order.
    pub partitions: Vec<PartitionPhysical>,
}

impl Physical {
    /// Returns the storage of one partition's file. `name` is as in [`PartitionPhysical::name`]; an
    /// unknown one changes nothing.
    #[must_use]
    pub fn of_partition(&self, name: &str) -> Physical {
        let mut physical = Physical { partitions: Vec::new(), ..self.clone() };
        let partition = self.partitions.iter().find(|partition| partition.name == name);
        if let Some(partition) = partition {
            physical.space = partition.space;
            physical.clustered = partition.clustered;
            physical.table_id = partition.table_id;
            physical.table_version = partition.table_version;
            physical.instant_columns = partition.instant_columns;
        }
        physical
    }
}

/// The storage of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionPhysical {
    /// Name of the partition; with subpartitions, of the subpartition.
    pub name: String,
    /// Tablespace id, if in the definition.
    pub space: Option<SpaceId>,
    /// Index id and root page of the partition's clustered index.
    pub clustered: Option<(IndexId, PageNo)>,
    /// InnoDB's table id of the partition.
    pub table_id: Option<u64>,
    /// [`Physical::table_version`] of the partition.
    pub table_version: u64,
    /// [`Physical::instant_columns`] of the partition: one that was added after an instant ADD has
    /// all the columns of that time in all its rows.
    pub instant_columns: Option<u16>,
}

/// A stored column according to MySQL 8's dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredColumn {
    /// The present or former column.
    pub source: StoredSource,
    /// `physical_pos` as the dictionary stores it: the column's position among the clustered
    /// index's fields. Where the key holds a prefix of the column, bit 15 is set and the upper 16
    /// bits are the prefix's position (`dict_col_t::phy_pos`, MySQL 8.0.32).
    pub physical_pos: Option<u32>,
    /// `version_added`; 0: present from the start.
    pub version_added: u8,
    /// `version_dropped`, if the column was dropped.
    pub version_dropped: Option<u8>,
    /// Default of an instantly added column: its value in older rows.
    pub default: Option<InstantDefault>,
}

/// The origin of a stored column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredSource {
    /// One of the table's columns, by its index.
    Column(usize),
    /// A column hidden from SQL: the `FTS_DOC_ID` of a table with a full-text index.
    Hidden {
        /// Type of the column.
        ty: ColumnType,
        /// Whether the column can be NULL.
        nullable: bool,
    },
    /// An instantly dropped column, whose bytes are still in old records.
    Dropped {
        /// Type of the column.
        ty: ColumnType,
        /// Whether the column could be NULL.
        nullable: bool,
    },
}

/// The value of a column in rows older than the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstantDefault {
    /// The value NULL.
    Null,
    /// Bytes as InnoDB stores them in a record.
    Bytes(Vec<u8>),
}
