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
    /// The records' format; `None` means the FSP flags decide.
    pub row_format: Option<RowFormat>,
    /// MySQL 8.0.12-8.0.28 instant ADD: how many columns the table had before the first
    /// (`instant_col` of the table's `se_private_data`).
    pub instant_columns: Option<u16>,
    /// MySQL 8.0.29+: the newest row version (0: none).
    pub row_version: u8,
    /// Columns the clustered index stores or once stored (dropped by 8.0.29+ instant DROP), in the
    /// order of the dictionary. Empty: the columns of the table, in their order, and no more.
    pub stored: Vec<StoredColumn>,
}

/// A column as MySQL 8's dictionary says it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredColumn {
    /// Which column it is, or was.
    pub source: StoredSource,
    /// `physical_pos`: its place among the clustered index's fields.
    pub physical_pos: Option<u16>,
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
