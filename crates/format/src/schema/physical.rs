//! How the clustered index stores the columns, when the definition says more than their order.

use super::RowFormat;
use crate::types::ColumnType;
use crate::{IndexId, PageNo, SpaceId};

/// What a definition says of its table's storage. Everything is optional: a `.frm` says nothing,
/// an SDI says all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Physical {
    /// The tablespace, where the definition names it.
    pub space: Option<SpaceId>,
    /// The clustered index.
    pub clustered: Option<(IndexId, PageNo)>,
    /// InnoDB's number of the table (`se_private_id`), by which MySQL 8 keeps its counters.
    pub table_id: Option<u64>,
    /// How often DDL changed the table (`version`); counters of another version do not hold.
    pub table_version: u64,
    /// The records' format; `None` means the FSP flags decide.
    pub row_format: Option<RowFormat>,
    /// MySQL 8.0.12-8.0.28 instant ADD: how many columns (but virtual ones) the table had before the
    /// first (`instant_col` of the table's `se_private_data`).
    pub instant_columns: Option<u16>,
    /// MySQL 8.0.29+: the newest row version (0: none).
    pub row_version: u8,
    /// Columns the clustered index stores or once stored, in the order of the dictionary: those of
    /// the table that are stored, a hidden `FTS_DOC_ID`, and those dropped by 8.0.29+ instant
    /// DROP; without `DB_ROW_ID`, `DB_TRX_ID` and `DB_ROLL_PTR`. Empty: the columns of the table,
    /// in their order, and no more.
    pub stored: Vec<StoredColumn>,
    /// What differs from the above in each partition (or subpartition), in their order.
    pub partitions: Vec<PartitionPhysical>,
}

impl Physical {
    /// What holds for one partition's file. `name` is as in [`PartitionPhysical::name`]; an
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

/// How one partition is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionPhysical {
    /// The partition's name; with subpartitions, the subpartition's.
    pub name: String,
    /// Its tablespace, where the definition names it.
    pub space: Option<SpaceId>,
    /// Its clustered index.
    pub clustered: Option<(IndexId, PageNo)>,
    /// InnoDB's number of the partition.
    pub table_id: Option<u64>,
    /// [`Physical::table_version`] of the partition.
    pub table_version: u64,
    /// [`Physical::instant_columns`] of the partition: one that was added after an instant ADD has
    /// all the columns of that time in all its rows.
    pub instant_columns: Option<u16>,
}

/// A column as MySQL 8's dictionary says it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredColumn {
    /// Which column it is, or was.
    pub source: StoredSource,
    /// `physical_pos` as the dictionary holds it: its place among the clustered index's fields. Where
    /// the key holds a prefix of the column, bit 15 is set and the upper 16 bits are the prefix's
    /// place (`dict_col_t::phy_pos`, MySQL 8.0.32).
    pub physical_pos: Option<u32>,
    /// `version_added`; 0: there from the start.
    pub version_added: u8,
    /// `version_dropped`.
    pub version_dropped: Option<u8>,
    /// What rows from before it was added hold.
    pub default: Option<InstantDefault>,
}

/// Which column a stored column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredSource {
    /// One of the table's columns, by its place.
    Column(usize),
    /// One SQL never sees: the `FTS_DOC_ID` of a table with a full-text index.
    Hidden {
        /// Its type.
        ty: ColumnType,
        /// Whether it can be NULL.
        nullable: bool,
    },
    /// One that was dropped instantly; its bytes are still in old records.
    Dropped {
        /// Its type.
        ty: ColumnType,
        /// Whether it could be NULL.
        nullable: bool,
    },
}

/// The value of a column in rows older than the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstantDefault {
    /// NULL.
    Null,
    /// Bytes as InnoDB stores them in a record.
    Bytes(Vec<u8>),
}
