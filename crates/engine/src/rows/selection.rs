//! A selection of rows and columns.

use crate::Table;
use crate::row_shape::RowShape;
use crate::scan::ScanOptions;

/// Rows and columns of a table that were selected, and how they are read. They can be read any number of
/// times; see [`RowsBuilder::selection`](crate::RowsBuilder::selection).
#[derive(Clone)]
pub struct Selection {
    /// The table, limited to a split if one was selected.
    pub table: Table,
    /// The columns, and whether old versions of rows are shown.
    pub shape: RowShape,
    /// The keys, the condition, and how files are read.
    pub options: ScanOptions,
    /// The most rows.
    pub limit: Option<u64>,
}
