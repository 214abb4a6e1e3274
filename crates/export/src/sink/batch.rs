//! Batches of encoded rows, which are used again, and the compression of output.

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use flate2::write::GzEncoder;
use innoscan_engine::{Error, Losses, Result};
use zstd::bulk::Compressor;

/// The compression of output. Every batch becomes a zstd frame or a gzip member of its own, on the
/// decode worker that made it; a file may consist of several frames or members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// zstd, at a level from 1 to 22.
    Zstd {
        /// A higher level is slower, and its output smaller; 3 is zstd's own default.
        level: i32,
    },
    /// gzip, at a level from 1 to 9.
    Gzip {
        /// A higher level is slower, and its output smaller; 6 is gzip's own default.
        level: u32,
    },
}

impl Compression {
    /// The suffix of file names: `.zst`, `.gz` or nothing.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Zstd { .. } => ".zst",
            Compression::Gzip { .. } => ".gz",
        }
    }

    /// Appends `plain` to `out`, compressed as a frame or member of its own.
    pub(crate) fn append(self, plain: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let failed = |error| Error::write("compressing", error);
        match self {
            Compression::None => out.extend_from_slice(plain),
            Compression::Zstd { level } => {
                let start = out.len();
                out.resize(start + zstd::zstd_safe::compress_bound(plain.len()), 0);
                let room = &mut out[start..];
                let len = zstd_compress(plain, room, level).map_err(failed)?;
                out.truncate(start + len);
            }
            Compression::Gzip { level } => {
                let mut encoder = GzEncoder::new(out, flate2::Compression::new(level));
                encoder.write_all(plain).and_then(|()| encoder.try_finish()).map_err(failed)?;
            }
        }
        Ok(())
    }
}

thread_local! {
    /// This thread's zstd context: creating one takes longer than compressing a small table.
    static ZSTD: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses `plain` into `room` as one frame; returns its length.
fn zstd_compress(plain: &[u8], room: &mut [u8], level: i32) -> std::io::Result<usize> {
    ZSTD.with_borrow_mut(|context| {
        let context = match context {
            Some(context) => context,
            None => context.insert(Compressor::new(level)?),
        };
        context.set_compression_level(level)?;
        context.compress_to_buffer(plain, room)
    })
}

/// A batch of rows as output bytes.
#[derive(Debug, Default)]
pub struct Encoded {
    /// The rows' bytes, not compressed.
    pub(super) bytes: Vec<u8>,
    /// The number of rows.
    pub(super) rows: u64,
    /// The same bytes compressed, once the batch is finished.
    compressed: Option<Vec<u8>>,
    /// The offset in `bytes` of the `INSERT` statement that is not complete yet.
    pub(super) statement: Option<usize>,
    /// What the batch does not hold of the rows' values.
    pub(super) losses: Losses,
    /// The rows as columns, in formats that have columns; then there are no bytes.
    #[cfg(feature = "columnar")]
    pub(super) columns: Box<super::columns::Columns>,
    /// A buffer for one value.
    pub(super) scratch: Vec<u8>,
}

impl Encoded {
    /// A batch without rows for the file of an empty table. Its output is an empty frame or member:
    /// programs do not decompress a file of no bytes.
    pub(crate) fn without_rows(compression: Compression) -> Result<Encoded> {
        let mut compressed = Vec::new();
        compression.append(b"", &mut compressed)?;
        Ok(Encoded { compressed: Some(compressed), ..Encoded::default() })
    }

    /// The bytes to write: compressed, once the batch is finished.
    pub fn output(&self) -> &[u8] {
        self.compressed.as_deref().unwrap_or(&self.bytes)
    }

    /// The number of rows in the batch.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What the batch does not hold of the rows' values.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// The size of the rows in bytes before compression.
    pub fn plain_bytes(&self) -> u64 {
        self.len_bytes() as u64
    }

    /// The size of the rows that were added, in bytes before compression.
    pub(super) fn len_bytes(&self) -> usize {
        #[cfg(feature = "columnar")]
        if self.columns.stored_bytes > 0 {
            return self.columns.stored_bytes;
        }
        self.bytes.len()
    }

    /// Compresses the rows.
    pub(super) fn compress(&mut self, compression: Compression) -> Result<()> {
        if compression != Compression::None && !self.bytes.is_empty() {
            let mut compressed = std::mem::take(&mut self.scratch);
            compressed.clear();
            compression.append(&self.bytes, &mut compressed)?;
            self.compressed = Some(compressed);
        }
        Ok(())
    }

    /// Empties the batch, and keeps its memory.
    fn clear(&mut self) {
        if let Some(compressed) = self.compressed.take() {
            self.scratch = compressed;
        }
        self.bytes.clear();
        self.scratch.clear();
        self.rows = 0;
        self.losses = Losses::default();
        #[cfg(feature = "columnar")]
        self.columns.clear();
        self.statement = None;
    }

    /// The size of its buffers in bytes.
    fn capacity(&self) -> usize {
        self.bytes.capacity() + self.scratch.capacity()
    }
}

/// Used batches, which are filled again.
#[derive(Debug, Default)]
pub(super) struct BatchPool(Mutex<Vec<Encoded>>);

impl BatchPool {
    /// The maximum number of batches that are kept.
    const KEPT_MAX: usize = 16;
    /// The maximum size of a batch that is kept, in bytes: one that held a large value is freed.
    const KEPT_BYTES_MAX: usize = 16 << 20;

    pub fn take(&self) -> Encoded {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub fn put(&self, mut batch: Encoded) {
        batch.clear();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::KEPT_MAX && batch.capacity() <= Self::KEPT_BYTES_MAX {
            kept.push(batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn frames_and_members_one_after_the_other_are_one_file() {
        for compression in [Compression::Zstd { level: 3 }, Compression::Gzip { level: 6 }] {
            let mut file = Vec::new();
            for part in [&b"first,"[..], b"", b"second"] {
                compression.append(part, &mut file).unwrap();
            }
            let mut plain = Vec::new();
            match compression {
                Compression::Zstd { .. } => plain = zstd::decode_all(&file[..]).unwrap(),
                _ => {
                    flate2::read::MultiGzDecoder::new(&file[..]).read_to_end(&mut plain).unwrap();
                }
            }
            assert_eq!(plain, b"first,second");
        }
    }

    #[test]
    fn a_used_batch_comes_back_empty() {
        let pool = BatchPool::default();
        let mut batch = pool.take();
        batch.bytes.extend_from_slice(b"rows");
        batch.rows = 2;
        batch.compress(Compression::Zstd { level: 1 }).unwrap();
        assert_ne!(batch.output(), b"rows");
        pool.put(batch);
        let batch = pool.take();
        assert_eq!((batch.output(), batch.rows()), (&b""[..], 0));
        assert!(batch.capacity() > 0);
    }
}
