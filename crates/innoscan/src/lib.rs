//! Reads every row of an InnoDB table from its files, without a server.
//!
//! ```
//! # fn main() -> innoscan::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/orders/orders.ibd");
//! # let mut printed = Vec::new();
//! let table = innoscan::open(path)?; // "/backup/mysql/shop/orders.ibd"
//! for row in table.rows().columns(["id", "customer", "total", "note"]).key(1..3).read()? {
//!     let row = row?;
//!     let id = row.get(0)?; // Some(Value::UInt(1))
//!     let customer = row.utf8(1)?.unwrap_or_default();
//!     let total = row.utf8(2)?.unwrap_or_default();
//!     println!("{id:?} {customer} {total} {:?}", row.utf8(3)?);
//! #   printed.push(format!("{id:?} {customer} {total} {:?}", row.utf8(3)?));
//! }
//! # assert_eq!(
//! #     printed,
//! #     ["Some(UInt(1)) Ada 19.90 None", "Some(UInt(2)) Grace 250.00 Some(\"call first\")"]
//! # );
//! # Ok(())
//! # }
//! ```
//!
//! The files may be those of MySQL 5.6 to 9, Percona Server, and MariaDB 10 and 11: of a stopped server,
//! a physical backup or a snapshot. The files of a running server are refused. Every page's checksum is
//! verified. Damage is an [`Error`] that names file, page and record; an unsupported feature is an
//! [`Error`] that names the feature.
//!
//! # Rows, pulled
//!
//! [`open()`] finds a [`Table`]: its definition and its files (all partitions of a partitioned table).
//! [`Table::rows`] reads the table as an iterator of [`Row`]s: some [columns](RowsBuilder::columns) or all
//! those of `SELECT *`, the rows of some [keys](RowsBuilder::key) or those that satisfy a
//! [condition](RowsBuilder::condition). A row has [`Value`]s, which keep distinctions of SQL that most
//! type systems lack (zero dates, `TIME` of 838 hours, 65 digits), and their text.
//!
//! [`Table::splits`] divides a table into parts to be read by several threads or processes.
//!
//! # Rows, pushed
//!
//! [`scan()`] passes each row as located bytes to a [`RowSink`] on all cores, with no copy: for
//! columnar formats, sums, searches. A [`RowShape`] lists the rows and columns that SQL shows; a
//! [`Codec`] reads their bytes.
//!
//! # Stability
//!
//! The items on this page are the library. Modules that are not listed here are public only for the
//! programs of this workspace, and change without notice.

// Modules for this workspace's own programs; not part of the stable interface.
#[doc(hidden)]
pub mod ahead;
mod auto_increment;
mod backup;
#[doc(hidden)]
pub mod bench;
#[doc(hidden)]
pub mod catalog;
#[doc(hidden)]
pub mod check;
mod clustered_index;
#[doc(hidden)]
pub mod condition;
mod counted;
#[doc(hidden)]
pub mod datadir;
#[doc(hidden)]
pub mod devices;
mod dictionary;
#[doc(hidden)]
pub mod dump;
mod error;
#[doc(hidden)]
pub mod explain;
mod exported;
mod file_head;
mod file_order;
mod file_stamp;
mod given_definition;
#[doc(hidden)]
pub mod inspect;
mod io_options;
mod key_ranges;
mod leaf_span;
#[doc(hidden)]
pub mod ledger;
#[doc(hidden)]
pub mod listing;
mod open;
mod page_status;
#[doc(hidden)]
pub mod phases;
#[doc(hidden)]
pub mod pool;
mod remedy;
mod row_shape;
mod rows;
#[doc(hidden)]
pub mod scan;
mod side_by_side;
mod simulate;
#[doc(hidden)]
pub mod sink;
mod small_tree;
#[doc(hidden)]
pub mod source;
#[doc(hidden)]
pub mod space;
mod space_reader;
mod splits;
#[doc(hidden)]
pub mod stats;
mod step;
mod table;
#[doc(hidden)]
pub mod tablespaces;
mod undo;
#[doc(hidden)]
pub mod verify;
#[doc(hidden)]
pub mod walk;
mod wanted;
#[doc(hidden)]
pub mod warm;

// The interface: tables, rows and splits,
pub use error::{Error, ErrorKind, Result};
pub use open::open;
pub use remedy::{Reason, Remedies, Remedy};
pub use row_shape::{LeftOut, LeftOutReason, RowColumn, RowShape};
pub use rows::{IntoKey, IntoKeyRange, Key, KeyRange, KeyValue, Row, Rows, RowsBuilder};
pub use splits::Split;
pub use table::{FileCopy, Notes, Table, TableFile};
// how they are read,
#[doc(inline)]
pub use ahead::ReadAheadPolicy;
#[doc(inline)]
pub use condition::RowCondition;
pub use io_options::IoOptions;
#[doc(inline)]
pub use scan::{
    Damage, Hooks, LeafId, Lost, OnCorrupt, PlanOptions, Progress, ProgressFn, RowOptions,
    RowOrder, ScanOptions, ScanOutcome, scan,
};
#[doc(inline)]
pub use sink::RowSink;
// and the words of the crates below, so that one dependency is enough.
#[doc(inline)]
pub use innoscan_format::charset::{Charset, CollationId};
#[doc(inline)]
pub use innoscan_format::schema::{
    ColumnDef, ColumnDefault, Family, Generated, IndexDef, IndexKind, IndexPart, IndexSource,
    RowPeriod, ServerVersion, TableDef,
};
#[doc(inline)]
pub use innoscan_format::types::{
    Class, Codec, ColumnType, GeometryKind, IntWidth, RealFormat, Temporal, TemporalFormat,
};
#[doc(inline)]
pub use innoscan_format::value::{Date, DateTime, Decimal, Json, Time, Timestamp, Value};
#[doc(inline)]
pub use innoscan_format::{
    Error as FormatError, Lsn, PageNo, Place, Remedy as FormatRemedy, SpaceId,
};
#[doc(inline)]
pub use innoscan_io::{Device, Direct, EngineKind};

#[doc(hidden)]
pub use counted::counted;
#[doc(hidden)]
pub use file_stamp::FileStamp;
#[doc(hidden)]
pub use innoscan_format::types::ReceivedAs;
#[doc(hidden)]
pub use innoscan_io::{KindCounters, Submissions, byte_unit, duration};
#[doc(hidden)]
pub use wanted::{Exclusion, TableSelection};
