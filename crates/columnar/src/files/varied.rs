//! Columns whose values are nearly all different: a dictionary of them costs time and space.

use std::collections::HashSet;

use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// The values that are compared.
const SAMPLE_ROWS: usize = 64 << 10;

/// Whether more than three quarters of a column's values differ, among the first of these rows.
pub(super) fn is_varied(rows: &[RecordBatch], place: usize) -> bool {
    let mut sampled = 0;
    let arrays: Vec<_> = rows
        .iter()
        .take_while(|batch| {
            let is_wanted = sampled < SAMPLE_ROWS;
            sampled += batch.num_rows();
            is_wanted
        })
        .map(|batch| batch.column(place).to_data())
        .collect();
    let mut seen = HashSet::new();
    let mut values = 0;
    for array in &arrays {
        match array.data_type() {
            DataType::Utf8 | DataType::Binary => {
                let bytes = &array.buffers()[1];
                let ends = &array.buffer::<i32>(0)[..=array.len()];
                seen.extend(ends.windows(2).map(|end| &bytes[end[0] as usize..end[1] as usize]));
            }
            ty => {
                let Some(width_bytes) = ty.primitive_width() else { return false };
                let bytes = &array.buffers()[0][array.offset() * width_bytes..];
                seen.extend(bytes.chunks_exact(width_bytes).take(array.len()));
            }
        }
        values += array.len();
    }
    seen.len() > values / 4 * 3
}
