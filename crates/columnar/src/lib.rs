//! Rows of InnoDB tables as Arrow columns: the types that columns become, a sink of a scan that builds
//! record batches, a reader of them, and Parquet and Arrow files.

mod batch;
mod column;
mod encoders;
mod files;
mod push_down;
mod reader;
mod schema;
mod sink;
mod types;

pub use self::batch::{BatchBuilder, ColumnEncoder};
pub use self::files::ipc::{ArrowContainer, ArrowOptions};
pub use self::files::parquet::{Codec, ParquetOptions};
pub use self::files::{FileKind, FileWriter, GroupOptions};
pub use self::push_down::{Comparable, PushDown};
pub use self::reader::BatchReader;
pub use self::sink::ArrowSink;
pub use self::types::form::Form;
pub use self::types::{InvalidText, TypeOptions, TypeTable, ZeroDates};
