//! Row sinks: outputs of a scan, called on its decode workers with the located bytes of each row.
//!
//! [`RowSink`](innoscan_engine::RowSink) is the interface. An [`EncodingSink`] writes rows as bytes in an output [`Format`], in
//! batches; [`summed`] computes checksums beside.
//!
//! A new output format is one file, with the format's [`RowEncoder`], and two lines: the file's `mod`
//! below, and an entry in the list in `formats.rs`.

mod batch;
mod chunk_writer;
#[cfg(feature = "columnar")]
pub mod columnar;
#[cfg(feature = "columnar")]
mod columns;
pub mod csv;
mod encoder;
mod encoding_sink;
mod escape;
mod formats;
mod layout;
pub mod ndjson;
pub mod outfile;
mod real;
pub mod selected;
mod selected_rows;
pub mod shell_tsv;
pub mod sql;
pub mod summed;
#[cfg(test)]
mod tests;

pub use self::batch::Compression;
pub use self::batch::Encoded;
pub use self::chunk_writer::ChunkOutput;
pub use self::chunk_writer::ChunkWriter;
pub use self::encoder::RowEncoder;
pub use self::encoding_sink::EncodingSink;
pub use self::formats::Format;
pub use self::formats::TableEncoder;
pub use self::layout::Layout;
pub use self::selected_rows::SelectedRows;
