//! The checksum of a table's rows: the result of `CHECKSUM TABLE` on the server that wrote the file.

use innoscan_format as format;
use innoscan_format::schema::TableDef;
use innoscan_format::types::checksum::RowChecksum;

use super::RowSink;

/// The sink that counts a table's rows and computes their checksum.
#[derive(Debug)]
pub struct Checksum {
    rows: Option<RowChecksum>,
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
    /// A sink for the checksum of a table.
    ///
    /// # Errors
    /// The checksum includes values that are not in the file.
    pub fn new(def: &TableDef) -> format::Result<Checksum> {
        Ok(Checksum { rows: Some(RowChecksum::new(def)?) })
    }

    /// A sink that only counts rows.
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
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Sum) -> crate::Result<()> {
        if let Some(rows) = &self.rows {
            batch.sum = batch.sum.wrapping_add(rows.row(row, &mut batch.scratch)?);
        }
        batch.rows += 1;
        Ok(())
    }
}
