//! Batches of encoded rows as the bytes of a file.

use super::batch::{Compression, Encoded};
use crate::Result;

/// The file or stream that a [`ChunkWriter`] writes to.
pub trait ChunkOutput {
    /// Appends bytes; they are `plain_bytes` long before compression.
    ///
    /// # Errors
    /// The output cannot be written.
    fn append(&mut self, bytes: &[u8], plain_bytes: u64) -> Result<()>;
}

/// Makes files of batches: what precedes the rows of a file, the batches, what follows the last one.
///
/// A table's files are written by one writer, one file after the other. A call per batch and file, not
/// per row: it may be dynamic.
pub trait ChunkWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// The output cannot be written.
    fn begin(&mut self, out: &mut dyn ChunkOutput) -> Result<()>;

    /// Adds a batch to the file. A batch may have no rows: the file of an empty table gets one whose
    /// output makes it a file that programs can decompress.
    ///
    /// # Errors
    /// The output cannot be written.
    fn write(&mut self, batch: &Encoded, out: &mut dyn ChunkOutput) -> Result<()>;

    /// Ends the file.
    ///
    /// # Errors
    /// The output cannot be written.
    fn finish(&mut self, out: &mut dyn ChunkOutput) -> Result<()>;
}

/// A file that is a head and then the batches, each compressed by itself; nothing follows them.
#[derive(Debug)]
pub(super) struct Concatenated {
    head: Vec<u8>,
    compression: Compression,
}

impl Concatenated {
    pub fn new(head: &[u8], compression: Compression) -> Concatenated {
        Concatenated { head: head.to_vec(), compression }
    }
}

impl ChunkWriter for Concatenated {
    fn begin(&mut self, out: &mut dyn ChunkOutput) -> Result<()> {
        if self.head.is_empty() {
            return Ok(());
        }
        let mut head = Vec::new();
        self.compression.append(&self.head, &mut head)?;
        out.append(&head, self.head.len() as u64)
    }

    fn write(&mut self, batch: &Encoded, out: &mut dyn ChunkOutput) -> Result<()> {
        out.append(batch.output(), batch.plain_bytes())
    }

    fn finish(&mut self, _out: &mut dyn ChunkOutput) -> Result<()> {
        Ok(())
    }
}
