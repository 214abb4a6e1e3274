//! The sink that encodes rows and computes their checksum in one pass.

use super::checksum::{Checksum, Sum};
use super::{Encoded, EncodingSink, RowSink};
use crate::Result;

/// The sink that passes rows to an [`EncodingSink`] and a [`Checksum`].
#[derive(Debug)]
pub struct Summed {
    encoder: EncodingSink,
    checksum: Option<Checksum>,
}

impl Summed {
    /// A sink that encodes rows, and computes their checksum if `checksum` is given.
    pub fn new(encoder: EncodingSink, checksum: Option<Checksum>) -> Summed {
        Summed { encoder, checksum }
    }

    /// The sink that encodes the rows.
    pub fn encoder(&self) -> &EncodingSink {
        &self.encoder
    }
}

impl RowSink for Summed {
    type Batch = (Encoded, Sum);

    fn new_batch(&self) -> (Encoded, Sum) {
        (self.encoder.new_batch(), Sum::default())
    }

    #[inline]
    fn row(&self, row: &[Option<&[u8]>], (encoded, sum): &mut Self::Batch) -> Result<()> {
        let Some(checksum) = &self.checksum else { return self.encoder.row(row, encoded) };
        let before = (sum.rows, sum.sum);
        checksum.row(row, sum)?;
        self.encoder.row(row, encoded).inspect_err(|_| (sum.rows, sum.sum) = before)
    }

    fn is_full(&self, (encoded, _): &Self::Batch) -> bool {
        self.encoder.is_full(encoded)
    }

    fn finish(&self, (encoded, _): &mut Self::Batch) -> Result<()> {
        self.encoder.finish(encoded)
    }
}
