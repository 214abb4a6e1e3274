//! Batches on their way to become a group.

use arrow_array::RecordBatch;

/// The batches of the next group.
#[derive(Debug, Default)]
pub(super) struct NextGroup {
    batches: Vec<RecordBatch>,
    bytes: usize,
    rows: usize,
}

impl NextGroup {
    /// Adds a batch; returns the group if it is full then.
    pub fn add(
        &mut self,
        batch: &RecordBatch,
        bytes_max: usize,
        rows_max: usize,
    ) -> Option<Vec<RecordBatch>> {
        self.bytes += batch.get_array_memory_size();
        self.rows += batch.num_rows();
        self.batches.push(batch.clone());
        (self.bytes >= bytes_max || self.rows >= rows_max).then(|| self.take())
    }

    /// The batches that are left, unless there are none.
    pub fn rest(&mut self) -> Option<Vec<RecordBatch>> {
        (!self.batches.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> Vec<RecordBatch> {
        std::mem::take(self).batches
    }
}
