//! Reads the rows of InnoDB tables from their files: the buffer pool, read-ahead, the walk in key order,
//! the decode workers, and what a caller receives.
//!
//! The crate [`innoscan`](https://docs.rs/innoscan) is the interface for other programs. This crate's
//! own interface serves the crates of its workspace, and changes without notice.

pub mod ahead;
pub mod checksum_sink;
pub mod clustered_index;
pub mod condition;
pub mod cores;
mod counted;
pub mod devices;
mod error;
pub mod file_head;
pub mod file_order;
mod file_stamp;
pub mod given_definition;
pub mod index_size;
mod io_options;
mod key_ranges;
pub mod keys;
pub mod leaf_span;
mod losses;
mod page_status;
pub mod pool;
pub mod recovery;
mod remedy;
pub mod row_shape;
mod row_sink;
mod rows;
pub mod scan;
pub mod side_by_side;
pub mod simulate;
pub mod small_tree;
pub mod space;
pub mod space_reader;
mod spill;
mod splits;
pub mod stats;
mod step;
pub mod system_tablespace;
mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod undo_logs;
pub mod walk;

pub use ahead::ReadAheadPolicy;
pub use condition::RowCondition;
pub use counted::counted;
pub use error::{Error, ErrorKind, Result};
pub use file_stamp::FileStamp;
pub use io_options::IoOptions;
pub use losses::Losses;
pub use remedy::{Reason, Remedies, Remedy};
pub use row_shape::{LeftOut, LeftOutReason, RowColumn, RowShape};
pub use row_sink::RowSink;
pub use rows::{
    IntoKey, IntoKeyRange, Key, KeyRange, KeyValue, Row, Rows, RowsBuilder, ScanThread, Selection,
};
pub use scan::{
    Damage, Hooks, LeafId, Lost, OnCorrupt, PlanOptions, Progress, ProgressFn, RowOptions,
    RowOrder, ScanOptions, ScanOutcome, scan,
};
pub use splits::Split;
pub use table::{FileCopy, Notes, Table, TableFile};
