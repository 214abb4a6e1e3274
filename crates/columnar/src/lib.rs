//! Rows of InnoDB tables as Arrow columns: the types that columns become, a sink of a scan that builds

mod batch;
mod column;
mod encoders;
mod files;
mod reader;
mod schema;
mod sink;
mod types;

pub use self::batch::{BatchBuilder, ColumnEncoder};
pub use self::files::ipc::{ArrowContainer, ArrowFiles};
pub use self::files::parquet::{Codec, ParquetFiles, ParquetOptions};
pub use self::files::{FileWriter, GroupOptions};
pub use self::reader::BatchReader;
pub use self::sink::ArrowSink;
pub use self::types::form::Form;
pub use self::types::{InvalidText, TypeOptions, TypeTable, ZeroDates};
