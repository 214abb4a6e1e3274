//! Row sinks: outputs of a scan, called on its decode workers with the located bytes of each row.
//!
//! [`RowSink`] is the interface. An [`EncodingSink`] writes rows as bytes in an output [`Format`], in
//! batches; [`checksum`] and [`summed`] compute checksums.
//!
//! A new output format is one file, with the format's [`RowEncoder`], and two lines: the file's `mod`
//! below, and an entry in the list in `formats.rs`.

mod batch;
pub mod checksum;
mod chunk_writer;
pub mod csv;
mod encoder;
mod encoding_sink;
mod escape;
mod formats;
mod layout;
pub mod ndjson;
pub mod outfile;
mod quoted_name;
mod real;
mod row_sink;
pub mod selected;
mod selected_rows;
pub mod shell_tsv;
pub mod sql;
pub mod summed;
#[cfg(test)]
mod tests;

pub use self::batch::{Compression, Encoded};
pub use self::chunk_writer::{ChunkOutput, ChunkWriter};
pub use self::encoder::RowEncoder;
pub use self::encoding_sink::EncodingSink;
pub use self::formats::{Format, TableEncoder};
pub use self::layout::Layout;
pub use self::quoted_name::quoted_name;
pub use self::row_sink::RowSink;
pub use self::selected_rows::SelectedRows;
pub use crate::row_shape::{LeftOut, LeftOutReason};
