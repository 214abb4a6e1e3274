//! Files of record batches. Groups of batches are encoded on several threads, and written in order.

mod groups;
pub(crate) mod ipc;
pub(crate) mod parquet;
mod varied;

use std::fmt::Debug;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use innoscan_engine::cores::cores;
use innoscan_engine::{Losses, Result};
use innoscan_format::schema::TableDef;

use crate::types::TypeTable;

/// Takes the next bytes of a file.
pub type Write<'w> = dyn FnMut(&[u8]) -> Result<()> + 'w;

/// Writes the batches of a table as files, one after the other.
pub trait FileWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// The output cannot be written.
    fn begin(&mut self, out: &mut Write<'_>) -> Result<()>;

    /// Adds rows to the file. They may be written later, at the latest by [`FileWriter::finish`].
    ///
    /// # Errors
    /// The rows cannot be encoded, or the output cannot be written.
    fn write(&mut self, batch: &RecordBatch, out: &mut Write<'_>) -> Result<()>;

    /// Ends the file. `losses` are those of its rows.
    ///
    /// # Errors
    /// As those of [`FileWriter::write`].
    fn finish(&mut self, losses: Losses, out: &mut Write<'_>) -> Result<()>;
}

/// A kind of files: what is always so, and its options.
pub trait FileKind: Clone + Debug + Default + PartialEq + Eq + Send + Sync + 'static {
    /// The name of the kind, which file names end in.
    const NAME: &'static str;

    /// The default types of columns.
    const TYPES: TypeTable;

    /// The writer of a table's files, whose batches have `schema`.
    fn writer(
        &self,
        def: &TableDef,
        schema: &SchemaRef,
        types: TypeTable,
        groups: GroupOptions,
    ) -> Box<dyn FileWriter>;
}

/// How rows are grouped and encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupOptions {
    /// The most bytes of a group in memory, before it is encoded.
    pub group_bytes: usize,
    /// The threads that encode groups.
    pub threads: usize,
}

impl GroupOptions {
    /// The most bytes of a group.
    pub const GROUP_BYTES_MAX: usize = 64 << 20;
    /// The fewest bytes of a group, where memory allows. Readers are slow with small groups, so fewer
    /// threads encode instead.
    const ENOUGH_BYTES: usize = 16 << 20;

    /// The options for a number of threads that share memory with a scan: groups take at most a third of
    /// it.
    pub fn within(memory_bytes: u64, threads: usize) -> GroupOptions {
        let share_bytes = usize::try_from(memory_bytes).unwrap_or(usize::MAX) / 3;
        let threads_max = (share_bytes / GroupOptions::ENOUGH_BYTES).saturating_sub(1);
        let threads = threads.min(threads_max).max(1);
        let group_bytes = (share_bytes / (threads + 1)).clamp(1, GroupOptions::GROUP_BYTES_MAX);
        GroupOptions { group_bytes, threads }
    }

    /// The memory of all groups at once: one per thread, and one that is being filled.
    pub fn memory_bytes(&self) -> u64 {
        self.group_bytes as u64 * (self.threads as u64 + 1)
    }
}

impl Default for GroupOptions {
    fn default() -> GroupOptions {
        GroupOptions { group_bytes: GroupOptions::GROUP_BYTES_MAX, threads: cores() }
    }
}
