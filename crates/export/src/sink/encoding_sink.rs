//! The sink of all outputs that are bytes.

use innoscan_engine::{Result, RowSink};

use super::batch::{BatchPool, Compression, Encoded};
use super::formats::TableEncoder;

/// The default size at which a batch is full.
const FULL_BYTES: usize = 8 << 20;
/// The smallest size at which a batch is full.
const FULL_BYTES_MIN: usize = 64 << 10;

/// The sink of all outputs that are bytes: encodes rows into batches, and compresses each batch.
#[derive(Debug)]
pub struct EncodingSink {
    encoder: TableEncoder,
    compression: Compression,
    full_bytes: usize,
    pool: BatchPool,
}

impl EncodingSink {
    /// A sink that encodes rows with `encoder`.
    pub fn new(encoder: TableEncoder, compression: Compression) -> EncodingSink {
        EncodingSink { encoder, compression, full_bytes: FULL_BYTES, pool: BatchPool::default() }
    }

    /// Limits batches to about this size before compression, for outputs that are cut into small
    /// files.
    #[must_use]
    pub fn with_batch_bytes(mut self, batch_bytes: u64) -> EncodingSink {
        let batch_bytes = usize::try_from(batch_bytes).unwrap_or(usize::MAX);
        self.full_bytes = batch_bytes.clamp(FULL_BYTES_MIN, FULL_BYTES);
        self
    }

    /// Takes back a batch that was written, to be filled again.
    pub fn recycle(&self, batch: Encoded) {
        self.pool.put(batch);
    }
}

impl RowSink for EncodingSink {
    type Batch = Encoded;

    fn new_batch(&self) -> Encoded {
        self.pool.take()
    }

    #[inline]
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> Result<()> {
        let len = batch.bytes.len();
        self.encoder.row(row, batch).map_err(|error| {
            batch.bytes.truncate(len);
            error.into()
        })
    }

    fn is_full(&self, batch: &Encoded) -> bool {
        batch.len_bytes() >= self.full_bytes
    }

    fn finish(&self, batch: &mut Encoded) -> Result<()> {
        self.encoder.finish(batch, self.compression)
    }
}
