//! Full scans of InnoDB tables from their files.

pub mod ahead;
mod auto_increment;
pub mod bench;
pub mod catalog;
pub mod check;
pub mod datadir;
pub mod devices;
mod dictionary;
pub mod dump;
mod error;
pub mod explain;
mod exported;
mod file_order;
mod file_stamp;
pub mod inspect;
pub mod key_ranges;
pub mod pool;
pub mod scan;
mod simulate;
pub mod sink;
mod small_tree;
pub mod space;
pub mod stats;
mod table;
mod undo;
pub mod walk;
mod wanted;
pub mod warm;

pub use error::{Error, Result};
pub use file_stamp::FileStamp;
pub use innoscan_format::PageNo;
pub use innoscan_format::schema::{Family, ServerVersion, TableDef};
pub use innoscan_format::types::Class;
pub use innoscan_io::{Device, Direct, EngineKind, KindCounters, Submissions, byte_unit, duration};
pub use table::{FileCopy, Notes, Table, TableFile};
pub use wanted::Wanted;
