//! A table's rows as an iterator.
//!
//! [`Table::rows`] returns the builder, [`RowsBuilder::read`] starts to read: a thread scans and sends
//! batches of rows over a bounded channel, and [`Rows`] yields the rows one by one. (The push model of
//! the same scan, without a copy of the rows, is [`scan`](crate::scan::scan) with the caller's own sink.)
//!
//! **Memory.** In addition to [`RowsBuilder::memory_bytes`] for pages: at most some batches per thread
//! of about [1 MiB](batch::FULL_BYTES) each. A row is never cut, so a batch with a large off-page value
//! is as large as that value.

mod batch;
mod iter;
mod key;
mod row;
mod scan_thread;
mod selection;

use std::sync::Arc;

pub use self::iter::Rows;
pub use self::key::{IntoKey, IntoKeyRange, Key, KeyRange, KeyValue};
pub use self::row::Row;
pub use self::scan_thread::ScanThread;
pub use self::selection::Selection;
use crate::ahead::ReadAheadPolicy;
use crate::condition::RowCondition;
use crate::row_shape::{Purpose, RowShape, stored_columns};
use crate::scan::{OnCorrupt, RowOrder, ScanOptions};
use crate::{Result, Split, Table};

/// A builder that selects which rows and columns of a table to read, and how; see [`Table::rows`].
#[derive(Clone)]
#[must_use = "nothing is read before `read`"]
pub struct RowsBuilder<'t> {
    table: &'t Table,
    columns: Option<Vec<String>>,
    with_invisible: bool,
    with_history: bool,
    keys: Vec<KeyRange>,
    condition: Option<String>,
    limit: Option<u64>,
    split: Option<Split>,
    options: ScanOptions,
}

impl Table {
    /// A builder that reads, by default, all rows of the table with the columns of `SELECT *`, in the order
    /// of the clustered index.
    ///
    /// ```
    /// # fn main() -> innoscan::Result<()> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/orders/orders.ibd");
    /// let table = innoscan::open(path)?;
    /// let orders = table.rows().key(10..).condition("state = 'paid' AND total > 5").limit(2).read()?;
    /// assert_eq!(orders.count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rows(&self) -> RowsBuilder<'_> {
        RowsBuilder {
            table: self,
            columns: None,
            with_invisible: false,
            with_history: false,
            keys: Vec::new(),
            condition: None,
            limit: None,
            split: None,
            options: ScanOptions::default(),
        }
    }
}

impl RowsBuilder<'_> {
    /// Selects columns, in this order. Off-page values of other columns are not read from the file.
    /// `INVISIBLE` columns can be named, and the implicit `row_start` and `row_end` of a
    /// system-versioned table.
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Adds `INVISIBLE` columns, at their places among the others. No effect where columns are named.
    pub fn with_invisible(mut self, with_invisible: bool) -> Self {
        self.with_invisible = with_invisible;
        self
    }

    /// Adds the old versions of rows that a MariaDB system-versioned table keeps, like
    /// `FOR SYSTEM_TIME ALL`.
    pub fn with_history(mut self, with_history: bool) -> Self {
        self.with_history = with_history;
        self
    }

    /// Selects the rows of one key or of a range of keys: `key(42)`, `key(1..100)`, `key(("de", 7))`. A key
    /// with fewer values than the primary key has columns stands for all keys that begin with it. Several
    /// calls select the rows of any of the ranges. Only pages that can hold such rows are read.
    ///
    /// [`Rows`] reports with the first row if the table has no primary key, if the order of its keys is not
    /// known, or if a value cannot be one of its column.
    pub fn key(mut self, range: impl IntoKeyRange) -> Self {
        self.keys.push(range.into_key_range());
        self
    }

    /// Selects the rows that satisfy a condition in SQL: columns compared with values by `=`, `<>`, `<`,
    /// `<=`, `>`, `>=`, `<=>`, `BETWEEN`, `IN`, `IS NULL`, joined by `AND`. Comparisons of primary-key
    /// columns limit which pages are read, unless [`key`](Self::key) does.
    pub fn condition(mut self, sql: impl Into<String>) -> Self {
        self.condition = Some(sql.into());
        self
    }

    /// Limits the number of rows. Read-ahead then starts slowly, and is logical unless another policy is named:
    /// a few rows of a large table are read with less than 4 MiB.
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Selects the rows of one split; see [`Table::splits`].
    pub fn split(mut self, split: &Split) -> Self {
        self.split = Some(split.clone());
        self
    }

    /// Sets the memory for pages, in bytes; 768 MiB by default. A small table takes only what it needs.
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.options.plan.memory_bytes = bytes;
        self
    }

    /// Sets the number of decode threads; 0, the default: one per core.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.plan.threads = threads;
        self
    }

    /// Sets the read-ahead policy; by default the cheapest for the device.
    pub fn read_ahead(mut self, policy: ReadAheadPolicy) -> Self {
        self.options.plan.policy = Some(policy);
        self
    }

    /// Sets the order of the rows; [`RowOrder::Key`] by default.
    pub fn order(mut self, order: RowOrder) -> Self {
        self.options.rows.order = order;
        self
    }

    /// Sets the reaction to damage: by default it ends the rows with an error. After [`OnCorrupt::Skip`],
    /// [`Rows::outcome`] lists what was lost.
    pub fn on_corrupt(mut self, on_corrupt: OnCorrupt) -> Self {
        self.options.rows.on_corrupt = on_corrupt;
        self
    }

    /// Sets all options of the scan, replacing those set before. This builder's keys and condition replace
    /// the condition in the options.
    #[doc(hidden)]
    pub fn options(mut self, options: ScanOptions) -> Self {
        self.options = options;
        self
    }

    /// The columns and rows that [`read`](Self::read) would yield.
    ///
    /// # Errors
    /// A named column does not exist in the table, or its values are in no file.
    pub fn shape(&self) -> Result<RowShape> {
        let def = &self.table.def;
        let shape = match &self.columns {
            Some(names) => RowShape::named(def, names)?,
            None => {
                let purpose = Purpose::Select { include_invisible: self.with_invisible };
                RowShape::new(def, &stored_columns(def), purpose)?
            }
        };
        Ok(if self.with_history { shape.with_history() } else { shape })
    }

    /// Starts the scan and returns the iterator over its rows.
    ///
    /// # Errors
    /// Those of [`selection`](Self::selection); the thread cannot be started. The iterator reports all other
    /// errors.
    pub fn read(self) -> Result<Rows> {
        Rows::start(self.selection()?)
    }

    /// The rows and columns that [`read`](Self::read) would yield, to be read by other means.
    ///
    /// # Errors
    /// Those of [`shape`](Self::shape); the condition cannot be parsed; the split belongs to another table,
    /// or to a file that was written to since.
    pub fn selection(self) -> Result<Selection> {
        let shape = self.shape()?;
        let condition = self.condition.as_deref().map(RowCondition::parse_where).transpose()?;
        let mut options = self.options;
        options.rows.condition = match self.keys.is_empty() {
            true => condition,
            false => {
                let ranges = self.keys.into_iter().map(KeyRange::into_literals).collect();
                Some(RowCondition::within(ranges, condition.as_ref()))
            }
        }
        .map(Arc::new);
        if self.limit.is_some() {
            options.plan.slow_start = true;
            options.plan.policy.get_or_insert(ReadAheadPolicy::Logical);
        }
        let table = match &self.split {
            None => self.table.clone(),
            Some(split) => self.table.of_split(split)?,
        };
        Ok(Selection { table, shape, options, limit: self.limit })
    }
}
