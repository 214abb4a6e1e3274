//! Rows as a sum: what `CHECKSUM TABLE` of the server that wrote the file would give.

use innoscan_format as format;
use innoscan_format::schema::TableDef;
use innoscan_format::types::checksum::RowChecksum;

use crate::{Result, RowSink};

/// Counts a table's rows, and sums them.
#[derive(Debug)]
pub struct Checksum {
    rows: Option<RowChecksum>,
}

/// The count and sum of some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many rows.
    pub rows: u64,
    /// Their sum modulo 2^32; 0 where only rows are counted.
    pub sum: u32,
    scratch: Vec<u8>,
}

impl Sum {
    /// Adds other rows of the same table; their order does not matter.
    pub fn add(&mut self, other: &Sum) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl Checksum {
    /// Sums rows. Refuses tables whose sum takes values that are not in the file.
    pub fn new(def: &TableDef) -> format::Result<Checksum> {
        Ok(Checksum { rows: Some(RowChecksum::new(def)?) })
    }

    /// Counts rows alone.
    pub fn count_only() -> Checksum {
        Checksum { rows: None }
    }
}

impl RowSink for Checksum {
    type Batch = Sum;

    fn new_batch(&self) -> Sum {
        Sum::default()
    }

    #[inline]
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Sum) -> Result<()> {
        if let Some(rows) = &self.rows {
            batch.sum = batch.sum.wrapping_add(rows.row(row, &mut batch.scratch)?);
        }
        batch.rows += 1;
        Ok(())
    }
}
