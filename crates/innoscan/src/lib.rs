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
//! The items on this page are the library. The crates below it (`innoscan-engine`, `innoscan-catalog`
//! and others) change without notice.

mod open;
#[cfg(test)]
mod tests;

// The interface: tables, rows and splits,
#[doc(inline)]
pub use innoscan_catalog::Prepared;
#[doc(inline)]
pub use innoscan_catalog::data_files::DataFiles;
pub use innoscan_catalog::key_files::{KeyAlgorithms, KeyFiles};
#[doc(inline)]
pub use innoscan_catalog::option_file::OptionFiles;
#[doc(inline)]
pub use innoscan_catalog::system_files::{DataFilePath, SystemFiles};
#[doc(inline)]
pub use innoscan_engine::keys::Keys;
#[doc(inline)]
pub use innoscan_engine::{
    Error, ErrorKind, FileCopy, IntoKey, IntoKeyRange, Key, KeyRange, KeyValue, LeftOut,
    LeftOutReason, Notes, Reason, Remedies, Remedy, Result, Row, RowColumn, RowShape, Rows,
    RowsBuilder, ScanThread, Selection, Split, Table, TableFile,
};
pub use open::{OpenOptions, open};
// how they are read,
#[doc(inline)]
pub use innoscan_engine::{
    Damage, FileStamp, Hooks, IoOptions, LeafId, Lost, OnCorrupt, PlanOptions, Progress,
    ProgressFn, ReadAheadPolicy, RowCondition, RowOptions, RowOrder, RowSink, ScanOptions,
    ScanOutcome, scan,
};
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
