//! Checksums of a table's rows: the result of `CHECKSUM TABLE` on the server that wrote the file, and one of the
//! stored columns alone.

use innoscan_format as format;
use innoscan_format::schema::TableDef;
use innoscan_format::types::checksum::RowChecksum;
use innoscan_format::types::stored_checksum::StoredChecksum;

use crate::{Result, RowSink};

/// What a checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumKind {
    /// What `CHECKSUM TABLE` covers on the server that wrote the file.
    Table,
    /// The stored columns: see [`StoredChecksum`].
    StoredColumns,
}

/// The checksum of a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableChecksum {
    /// What it covers.
    pub kind: ChecksumKind,
    /// The sum of the rows' checksums modulo 2^32.
    pub sum: u32,
}

impl TableChecksum {
    /// The sum, if it is of this kind.
    pub fn of_kind(self, kind: ChecksumKind) -> Option<u32> {
        (self.kind == kind).then_some(self.sum)
    }
}

/// The sink that counts a table's rows and computes their checksum.
#[derive(Debug)]
pub struct Checksum {
    rows: RowSums,
}

#[derive(Debug)]
enum RowSums {
    None,
    Table(RowChecksum),
    StoredColumns(StoredChecksum),
}

/// The number of some rows, and their checksum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The number of rows.
    pub rows: u64,
    /// The sum of the rows' checksums modulo 2^32; 0 if rows are only counted.
    pub sum: u32,
    scratch: Vec<u8>,
}

impl Sum {
    /// Adds the sum of other rows of the same table, in any order.
    pub fn add(&mut self, other: &Sum) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl Checksum {
    /// A sink for the checksum of a table that `CHECKSUM TABLE` gives.
    ///
    /// # Errors
    /// The checksum includes values that are not in the file.
    pub fn new(def: &TableDef) -> format::Result<Checksum> {
        Checksum::of_kind(def, ChecksumKind::Table)
    }

    /// A sink for a checksum of a table.
    ///
    /// # Errors
    /// The checksum includes values that are not in the file.
    pub fn of_kind(def: &TableDef, kind: ChecksumKind) -> format::Result<Checksum> {
        let rows = match kind {
            ChecksumKind::Table => RowSums::Table(RowChecksum::new(def)?),
            ChecksumKind::StoredColumns => RowSums::StoredColumns(StoredChecksum::new(def)?),
        };
        Ok(Checksum { rows })
    }

    /// A sink for the checksum that a manifest has: of `CHECKSUM TABLE`, or of the stored columns where that includes
    /// values that are not in the file.
    ///
    /// # Errors
    /// A column is of a type that no server creates.
    pub fn of_manifest(def: &TableDef) -> format::Result<Checksum> {
        Checksum::new(def).or_else(|_| Checksum::of_kind(def, ChecksumKind::StoredColumns))
    }

    /// What the checksum covers; `None` if rows are only counted.
    pub fn kind(&self) -> Option<ChecksumKind> {
        match self.rows {
            RowSums::None => None,
            RowSums::Table(_) => Some(ChecksumKind::Table),
            RowSums::StoredColumns(_) => Some(ChecksumKind::StoredColumns),
        }
    }

    /// A sink that only counts rows.
    pub fn count_only() -> Checksum {
        Checksum { rows: RowSums::None }
    }
}

impl RowSink for Checksum {
    type Batch = Sum;

    fn new_batch(&self) -> Sum {
        Sum::default()
    }

    #[inline]
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Sum) -> Result<()> {
        let sum = match &self.rows {
            RowSums::None => 0,
            RowSums::Table(rows) => rows.row(row, &mut batch.scratch)?,
            RowSums::StoredColumns(rows) => rows.row(row, &mut batch.scratch)?,
        };
        batch.sum = batch.sum.wrapping_add(sum);
        batch.rows += 1;
        Ok(())
    }
}
